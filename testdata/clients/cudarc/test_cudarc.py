"""The tests of cudarc, each in a process of its own."""

import os
import subprocess

import pytest

PROGRAM = os.environ["CUDARC_TESTS"]
LISTED = subprocess.run([PROGRAM, "--list"], capture_output=True, text=True, check=True).stdout
NAMES = [line.removesuffix(": test") for line in LISTED.splitlines() if line.endswith(": test")]


@pytest.mark.parametrize("name", NAMES)
def test(name):
    ran = subprocess.run([PROGRAM, "--exact", name, "--test-threads=1"], capture_output=True, text=True, timeout=250)
    if "1 ignored" in ran.stdout:
        pytest.skip("cudarc ignores it")
    assert ran.returncode == 0 and "1 passed" in ran.stdout, ran.stdout[-1000:]
