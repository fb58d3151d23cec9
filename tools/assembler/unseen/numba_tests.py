"""Runs tests of numba-cuda on the CUDA driver that LD_LIBRARY_PATH names, and writes down the PTX
of each kernel that they compile, for two of several GPUs.

    numba_tests.py OUT [MODULE ...]    modules of tests, as cudapy.test_atomics; without, all

Each line of its output names a file of PTX. What the tests say is in OUT/tests.log, with a line
"ran N tests" for each module that has come to its end.
"""

import contextlib
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import unittest

ARCHES = "75", "80", "89", "90a", "100a", "120a"


def captured(compile_ir, out):
    """compile_ir of numba.cuda.cudadrv.nvvm, which writes its output for some GPUs."""
    seen = set()

    def compile_all(irs, **options):
        made = compile_ir(irs, **options)
        text = irs if isinstance(irs, str) else "".join(irs)
        digest = hashlib.sha256((text + repr(sorted(options.items()))).encode()).hexdigest()[:12]
        if digest not in seen and "gen-lto" not in options:
            seen.add(digest)
            pick = int(digest, 16) % len(ARCHES)
            for arch in {ARCHES[pick], ARCHES[pick - 1]}:  # two of them, alternating
                path = out / f"{digest}_{arch}.ptx"
                with contextlib.suppress(Exception):  # the IR may be for the present GPU only
                    if not path.exists():
                        path.write_bytes(compile_ir(irs, **options | {"arch": f"compute_{arch}"}).strip(b"\0\n "))
                    print(path, file=sys.__stdout__, flush=True)
        return made

    return compile_all


def late(*_):
    raise TimeoutError("the test takes too long")


def run(out, module):
    """Runs a module of tests."""
    from numba.cuda.cudadrv import nvvm

    nvvm.compile_ir = captured(nvvm.compile_ir, out)
    signal.signal(signal.SIGALRM, late)

    class Result(unittest.TextTestResult):
        def startTest(self, test):
            signal.alarm(20)
            super().startTest(test)

        def stopTest(self, test):
            signal.alarm(0)
            super().stopTest(test)

    suite = unittest.defaultTestLoader.loadTestsFromName("numba.cuda.tests." + module)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(suite)
    print(f"{module}: ran {result.testsRun} tests: {len(result.failures)} fail, {len(result.errors)} end by an error, {len(result.skipped)} are skipped", file=sys.stderr)


def main(out, *modules):
    if os.environ.get("ONE"):
        return run(pathlib.Path(out), modules[0])
    import numba_cuda

    root = pathlib.Path(next(iter(numba_cuda.__path__))) / "numba/cuda/tests"
    every = sorted(".".join(p.relative_to(root).with_suffix("").parts) for d in ("cudapy", "nrt", "doc_examples") for p in (root / d).rglob("test_*.py"))
    with open(pathlib.Path(out) / "tests.log", "w") as log:
        for module in modules or every:
            # A module of tests by itself: some change the environment of the rest, or end the process.
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run([sys.executable, "-W", "ignore", __file__, out, module], env=os.environ | {"ONE": "1"}, stderr=log, stdin=subprocess.DEVNULL, timeout=400)


if __name__ == "__main__":
    main(*sys.argv[1:])
