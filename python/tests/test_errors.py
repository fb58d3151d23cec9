"""Errors: traps, findings, invalid PTX, interrupts, threads, fork; a missing library. The interpreter must survive all of them."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gemu
from conftest import PTX


@pytest.mark.parametrize("mode", ["vector", "affine", "check"])
def test_trap(module, x, y, mode):
    with pytest.raises(gemu.Trap) as e:
        module.saxpy[4, 32](104, 2.0, x, y, mode=mode)
    trap = e.value
    assert isinstance(trap, RuntimeError) and trap.fault == "out-of-bounds access" and trap.number == 700
    assert (trap.file, trap.line, trap.kernel, trap.instruction) == ("tests.ptx", 14, "saxpy", "ld.global.f32")
    assert (trap.cta, trap.warp, trap.thread) == ((3, 0, 0), 0, (4, 0, 0))
    assert trap.lanes == [4, 5, 6, 7] and trap.active == list(range(8)) and trap.bytes == 4
    assert "buffer argument 2 (x)" in str(trap) and trap.text.strip() == "ld.global.f32 %f1, [%rd0];"


def test_read_only_array(module, x, y):
    y.flags.writeable = False
    module.saxpy[1, 32](10, 2.0, y, np.zeros(10, np.float32))
    with pytest.raises(gemu.Trap, match="read-only memory"):
        module.saxpy[1, 32](10, 2.0, x, y)
    assert (y == 1).all()
    with pytest.raises(gemu.Trap, match="read-only memory"):
        module.saxpy[1, 32](1, 2.0, x, memoryview(b"\0\0\0\0"))


def test_race(module):
    out = np.zeros(1, np.uint32)
    with pytest.raises(gemu.SanitizerError) as e:
        module.race[1, 64](out, sanitize=["race"])
    finding = e.value.findings[0]
    assert finding.tool == "race" and finding.severity == "error" and finding.memory.space == "shared" and finding.memory.name == "tile"
    lines = {1 + PTX.splitlines().index(t) for t in ("\tst.shared.u32 [%r1], %r0;", "\tld.shared.u32 %r3, [tile];")}
    assert {finding.line, finding.other.line} == lines and finding.file == "tests.ptx" and "shared.u32" in finding.text
    assert "tests.ptx:2" in str(e.value) and e.value.result.warp_instructions > 0
    result = module.race[1, 64](out, sanitize="race", findings="return")
    assert result.findings[0] == finding  # the other is in global memory, at another address
    assert module.saxpy[1, 1](0, 1.0, out, out, sanitize="all").findings == []
    with gemu.options(sanitize="race"), pytest.raises(gemu.SanitizerError):
        module.race[1, 64](out)


def test_findings_before_a_trap(module):
    with pytest.raises(gemu.Trap) as e:
        module.race[1, 64](None, sanitize="race")
    assert e.value.findings and e.value.findings[0].tool == "race"
    with pytest.raises(gemu.Trap) as e:
        module.race[1, 64](None)
    assert e.value.findings == []


def test_step_limit(module):
    with pytest.raises(gemu.Trap) as e:
        module.endless[1, 1](np.zeros(1, np.uint32), steps=1000)
    assert "step limit" in e.value.fault


def test_ptx_errors():
    with pytest.raises(gemu.PTXError) as e:
        gemu.load_ptx(".version 7.8\n.target sm_80\n.visible .entry k() { foo; bar; }", "wrong.ptx")
    assert (e.value.file, e.value.line, e.value.problems) == ("wrong.ptx", 3, 2) and "foo" in e.value.reason
    with pytest.raises(gemu.PTXError):
        gemu.load_ptx("hello")
    with pytest.raises(ValueError):
        gemu.load_ptx("")
    later = gemu.load_ptx(
        ".version 9.3\n.target sm_100\n.address_size 64\n.visible .entry later()\n{ .reg .b32 %r<5>; .reg .b64 %d;\n"
        "  fabric.try_get.async.shared::cta.mbarrier::complete_tx::bytes.mbarrier::report::fabric.relaxed.sys.b128 [%r0], [%r1, %d], %r2, [%r3];\n  ret;\n}\n"
    )
    with pytest.raises(gemu.UnsupportedPTX) as e:
        later.later[1, 1]()
    assert e.value.line == 6 and isinstance(e.value, NotImplementedError) and "fabric" in e.value.reason
    with pytest.raises(OSError):
        gemu.load("missing.ptx")
    with pytest.raises(ValueError, match="nothing is compiled"):
        gemu.load("missing.ptx", arguments=["-DN=1"])


def test_interrupt(module):
    """Ctrl-C stops a kernel in the main thread, and the next launch runs."""
    begin = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        module.endless[1, 1](np.zeros(1, np.uint32), steps=1 << 60, record=True)
    timer.join()
    assert time.monotonic() - begin < 20
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    result = module.saxpy[1, 4](4, 1.0, x, y)
    assert (y == 1).all()
    gc.collect()
    # Numbers of outcomes follow each other. That of the stopped launch, with its recording, is freed.
    outcome = result._reports._outcome
    assert gemu._library.lib.gemu_forget(outcome - 1) != 0 and gemu._library.lib.gemu_forget(outcome) == 0


def test_threads(module, x):
    failures = []

    def work():
        try:
            a = np.zeros(100, np.float32)
            for _ in range(20):
                module.saxpy[4, 32](100, 1.0, x, a)
                with pytest.raises(gemu.Trap) as e:
                    module.saxpy[4, 32](104, 1.0, x, a.copy())
                assert e.value.lanes == [4, 5, 6, 7]
            assert (a == 20 * x).all()
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fork(module, x, y):
    module.saxpy[4, 32](100, 1.0, x, y)
    keep = gemu.zeros(4)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            module.saxpy[4, 32](100, 1.0, x, y)
        except gemu.Error as e:
            keep.free()
            gc.collect()
            status = 0 if "spawn" in str(e) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and not keep.freed


def python(code, **environment):
    """Runs Python, and returns its status, output and errors."""
    p = subprocess.run([sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
    return p.returncode, p.stdout, p.stderr


def test_missing_library(tmp_path):
    status, out, err = python("import gemu", GEMU_LIBRARY=str(tmp_path / "libgemu.so"))
    assert status == 1 and "needs the shared library libgemu" in err and str(tmp_path) in err and "GEMU_LIBRARY=PREFIX/lib/libgemu.so" in err
    (tmp_path / "wrong.so").write_text("no library")
    status, out, err = python("import gemu", GEMU_LIBRARY=str(tmp_path / "wrong.so"))
    assert status == 1 and "cannot be loaded" in err


@pytest.mark.parametrize("call", ["gemu.zeros(3)", "gemu.load_ptx('.version 7.8')"])
def test_wrong_variable_of_the_environment(call):
    code = f"import gemu\ntry:\n  {call}\nexcept gemu.CallError as e:\n  print(e, e.reason == str(e), e.number != 0)"
    status, out, err = python(code, GEMU_MODE="fast")
    assert status == 0 and out.startswith("GEMU_MODE") and "fast" in out and out.endswith(" True True\n")


def test_version():
    """The version of the package is that of the command."""
    import re
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    version = (root / "internal/version/version.txt").read_text().strip()
    project = re.search(r'^version = "(.*)"', (root / "python/pyproject.toml").read_text(), re.M)
    assert gemu.__version__ == project.group(1) == version


def python_with_tests(code):
    """Runs Python, which can import from the tests."""
    return python(code, PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])]))


def test_buffer_freed_during_a_run():
    """Memory that kernels can reach stays in the process. In a child: a fault would end the interpreter."""
    code = """
import numpy as np, gemu
from conftest import PTX
m = gemu.load_ptx(PTX)
b = gemu.zeros(1 << 20, np.uint64)
address = b.address
with m.store[1, 1].start(address, 7) as run:
    run.next(3)
    b.free()
    assert b.freed
    del b
    run.finish()
del run
try:
    m.store[1, 1](address, 5)
except gemu.Trap as e:
    print(e.fault)
"""
    assert python_with_tests(code) == (0, "use after free\n", "")


INTERRUPTED = """
import os, signal, threading, time, numpy as np, gemu
from conftest import PTX
gemu._interrupt._GRACE = 0.1
m = gemu.load_ptx(PTX); x = np.zeros(1, np.uint32); y = np.zeros(1, np.float32)
threading.Thread(target=lambda: m.endless[1, 1](x, steps=1 << 60), daemon=True).start()
while x[0] == 0:
    time.sleep(0.01)
def interrupt():
    for _ in range(5):
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)
    os._exit(9)
threading.Thread(target=interrupt, daemon=True).start()
try:
    CALL
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("interrupted")
"""


def test_interrupt_at_the_end_of_a_call():
    """A handler that raises an exception just after the wait of the main thread: the wait does not begin again."""
    code = """
import threading, types, gemu
from gemu import _interrupt
waits = threading.Event()
class Lock:
    def __init__(self):
        self.lock = threading.Lock()
    def acquire(self, timeout=-1):
        if timeout >= 0:
            waits.set()
        if self.lock.acquire(timeout=timeout) and timeout >= 0:
            raise KeyboardInterrupt
    def release(self):
        self.lock.release()
    def __enter__(self):
        self.lock.acquire()
    def __exit__(self, *_):
        self.lock.release()
_interrupt.threading = types.SimpleNamespace(**{**vars(threading), "Lock": Lock})
undone = []
try:
    _interrupt.run(lambda call: waits.wait() and 7, undone.append)
except KeyboardInterrupt:
    print("interrupted", undone)
"""
    assert python_with_tests(code) == (0, "interrupted [7]\n", "")


@pytest.mark.parametrize("call", ["m.saxpy[1, 1](1, 1.0, x, x)", "gemu.zeros(3).free()", "m.variables['weights'].get()", "m.saxpy[1, 1].start(1, 1.0, y, y)"])
def test_interrupt_behind_another_thread(call):
    """Ctrl-C stops the main thread while it waits for the launch of another thread."""
    assert python_with_tests(INTERRUPTED.replace("CALL", call)) == (0, "interrupted\n", "")


def test_end_of_the_process(tmp_path):
    """Modules, buffers and a running daemon thread do not disturb the end of the interpreter."""
    code = """
import threading, numpy as np, gemu
from conftest import PTX
m = gemu.load_ptx(PTX); b = gemu.zeros(3)
x = np.zeros(1, np.uint32)
m.saxpy[1, 1](0, 1.0, x, x)
threading.Thread(target=lambda: m.endless[1, 1](x, steps=1 << 60), daemon=True).start()
print("end")
"""
    assert python_with_tests(code) == (0, "end\n", "")


def test_declarations_of_functions():
    """The functions and structures that the package declares are those of gemu.h."""
    import ctypes
    import re
    from pathlib import Path

    from gemu import _library, _run

    text = (Path(__file__).resolve().parents[2] / "cmd/libgemu/gemu.h").read_text()
    assert _library.ABI_VERSION == int(re.search(r"#define GEMU_ABI_VERSION (\d+)", text).group(1))
    text = re.sub(r"//[^\n]*", "", text)
    for name, arguments in _library._FUNCTIONS.items():
        declared = re.search(rf"\b{name}\(([^)]*)\)", text).group(1)
        kinds = [] if declared == "void" else [kind_of(d) for d in declared.split(",")]
        assert kinds == [kind_of_ctypes(a) for a in arguments], name
    for name, structure in {"gemu_counts": _library.Counts, "gemu_launch_params": _library.LaunchParams, "gemu_error": _library.LastError, "gemu_value": _run._Value, "gemu_event": _run._Event, "gemu_access": _run._Access, "gemu_step": _run._Step}.items():
        body = re.search(rf"typedef struct {{([^{{}}]*)}} {name};", text).group(1)
        members = re.findall(r"(\w+)(?:\[\d\])?\s*(?=[,;])", body)
        assert members == [m for m, *_ in structure._fields_], name
        assert ctypes.sizeof(structure) % 8 == 0


def kind_of(declaration):
    """The size of an argument as C declares it."""
    if "*" in declaration:
        return "pointer"
    return {"uint32_t": "u4", "uint64_t": "u8", "size_t": "u8"}.get(declaration.split()[0], "u8")


def kind_of_ctypes(t):
    import ctypes

    if t in (ctypes.c_char_p, ctypes.c_void_p) or issubclass(t, ctypes._Pointer):
        return "pointer"
    return f"u{ctypes.sizeof(t)}"
