"""The examples of docs/python.md and of the package's README run, with the output that the page shows."""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    """The blocks of Python code of a page, each with its line and the output that follows, or None."""
    text = page.read_text(encoding="utf-8")
    for m in re.finditer(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", text, re.S | re.M):
        yield text[: m.start()].count("\n") + 1, m.group(1), m.group(2)


@pytest.mark.parametrize("name", ["docs/python.md", "python/README.md"])
def test_examples(name, monkeypatch):
    page = ROOT / name
    monkeypatch.chdir(ROOT)
    found = list(blocks(page))
    assert found
    names = {}
    for line, code, want in found:
        if "load_cuda" in code and not any(map(shutil.which, ["nvcc", "clang-19"])):
            pytest.skip("no compiler of CUDA C++ on the path")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * line + code, str(page), "exec"), names)
        assert want is None or out.getvalue() == want, f"{name}:{line}"
