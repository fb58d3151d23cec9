"""The type hints of the package are consistent, for mypy; and the package says that it has hints."""

import subprocess
import sys
from pathlib import Path

import pytest

import gemu

pytest.importorskip("mypy")

SOURCE = Path(__file__).resolve().parents[1] / "src/gemu"


def test_hints():
    assert (Path(gemu.__file__).parent / "py.typed").exists()
    done = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", "/dev/null", str(SOURCE)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
