"""The plugin of pytest, in a session of its own under gemu exec. Its client calls the driver by ctypes."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

import pytest

CLIENT = '''
import ctypes, pytest

PTX = b""".version 7.8
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p)
{
	.reg .u32 %r<3>; .reg .u64 %rd<3>; .reg .pred %p;
	ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
	ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p, %r2, 0; @%p bra END;
	add.u32 %r2, %r2, %r2; st.global.u32 [%rd1], %r2;
END:	ret;
}
"""

def launch(threads, initialised=True):
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, kernel, buffer = (ctypes.c_void_p() for _ in range(4))
    assert cuda.cuInit(0) == 0 and cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module), PTX) == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"twice") == 0
    assert cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(256)) == 0
    if initialised:
        assert cuda.cuMemsetD8_v2(buffer, ctypes.c_ubyte(1), ctypes.c_size_t(256)) == 0
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(buffer))
    assert cuda.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, None, arguments, None) == 0

def test_good(): launch(64)
def test_bad(): launch(65)  # does not look at the result
def test_without_launch(): pass
@pytest.mark.gemu_allow("out-of-bounds*")
def test_allowed(): launch(66)
def test_uninitialised(): launch(64, initialised=False)
def test_own_failure(): launch(65); assert False
'''

gemu = shutil.which("gemu", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ.get("PATH", "")]))
pytestmark = pytest.mark.skipif(sys.platform != "linux" or gemu is None, reason="needs Linux and the command gemu")


def run(tmp_path, *arguments, prefix=()):
    test = tmp_path / "test_client.py"
    test.write_text(CLIENT)
    junit = tmp_path / "junit.xml"
    command = [*prefix, sys.executable, "-m", "pytest", "-p", "gemu_pytest", "-p", "no:cacheprovider", f"--junitxml={junit}", "-q", *arguments, str(test)]
    if _installed():
        del command[command.index("gemu_pytest") - 1 : command.index("gemu_pytest") + 1]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    outcomes, launches = {}, {}
    if junit.exists():
        for case in xml.etree.ElementTree.parse(junit).iter("testcase"):
            name = case.get("name")
            outcomes[name] = "failed" if case.find("failure") is not None else "passed"
            launches[name] = sum(int(p.get("value")) for p in case.iter("property") if p.get("name") == "gemu_launches")
    return done, outcomes, launches


def _installed():
    """Whether pytest finds the plugin by itself."""
    from importlib.metadata import distribution

    return any(e.group == "pytest11" for e in distribution("gemu").entry_points)


UNDER = [gemu, "exec", "--findings-status", "0", "--"]


def test_launches_and_traps(tmp_path):
    done, outcomes, launches = run(tmp_path, prefix=UNDER)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes == {
        "test_good": "passed", "test_bad": "failed", "test_without_launch": "passed", "test_allowed": "passed", "test_uninitialised": "passed", "test_own_failure": "failed",
    }, done.stdout
    assert launches["test_good"] == launches["test_uninitialised"] == launches["test_bad"] == 1 and launches["test_without_launch"] == 0
    assert "error: launch: trap: out-of-bounds global load" in done.stdout and "assert False" in done.stdout
    assert done.stdout.count("also in earlier tests; values, addresses and threads are those of the first time") == 1, done.stdout
    assert re.search(r"^gemu: 5 launches, 2 errors$", done.stdout, re.M), done.stdout


def test_sanitizers(tmp_path):
    done, outcomes, _ = run(tmp_path, "--gemu-sanitize", "init", prefix=UNDER)
    assert [name for name, outcome in outcomes.items() if outcome == "failed"] == ["test_bad", "test_uninitialised", "test_own_failure"], done.stdout
    assert "error: init:" in done.stdout and "sanitizers: init" in done.stdout

    done, outcomes, _ = run(tmp_path, "--gemu-sanitize", "init", "--gemu-keep-going", prefix=UNDER)
    assert [name for name, outcome in outcomes.items() if outcome == "failed"] == ["test_own_failure"], done.stdout


@pytest.mark.parametrize("tests, arguments, status, summary", [
    ("allowed or good", [], 0, "2 launches of 1 kernel, 1 failed: 0 errors, 0 notices, 1 suppressed"),
    ("bad", [], 3, "1 launch of 1 kernel, 1 failed: 1 error"),
    ("bad or allowed", [], 3, "2 launches of 1 kernel, 2 failed: 1 error"),  # the same place: a part is not allowed
    ("bad", ["--gemu-keep-going"], 0, "1 launch of 1 kernel, 1 failed: 0 errors, 0 notices, 1 suppressed"),
    ("uninitialised", ["--gemu-keep-going", "--gemu-sanitize", "init"], 0, "1 launch of 1 kernel: 0 errors, 0 notices, 1 suppressed"),
])
def test_status_of_gemu_exec(tmp_path, tests, arguments, status, summary):
    done, _, _ = run(tmp_path, "-k", tests, *arguments, prefix=[gemu, "exec", "--on-fault", "continue", "--"])
    assert done.returncode == status and summary in done.stderr, done.stdout + done.stderr


def test_without_gemu_exec(tmp_path, monkeypatch):
    monkeypatch.delenv("GEMU_REPORT", raising=False)
    done, _, _ = run(tmp_path, "--gemu-sanitize", "all")
    assert done.returncode == 4 and "gemu exec -- python -m pytest --gemu-sanitize all" in done.stderr
    done, _, _ = run(tmp_path, "--gemu-sanitize", "race,rac", prefix=UNDER)
    assert done.returncode == 4 and "there is no sanitizer 'rac'; want some of race, init" in done.stderr, done.stdout + done.stderr
    done, outcomes, _ = run(tmp_path, "-k", "without_launch")
    assert done.returncode == 0 and outcomes == {"test_without_launch": "passed"}
