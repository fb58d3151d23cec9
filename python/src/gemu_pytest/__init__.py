"""A plugin of pytest: launches of CUDA kernels by test, and tests that fail by findings of gemu.

It works with every client of gemu's driver in the process of the tests (Numba, CuPy, Triton, …), under ``gemu exec``::

    gemu exec -- python -m pytest --gemu-sanitize all

A test fails if one of its launches fails, or if a sanitizer finds an error in them, whether or not the test notices. The marker
``gemu_allow`` names findings that a test expects, by patterns of their kinds::

    @pytest.mark.gemu_allow("out-of-bounds access")
    def test_bounds(): ...

The plugin does nothing in a process without gemu's driver. docs/exec.md describes it.
"""

from __future__ import annotations

import collections
import ctypes
import fnmatch
import json
import os
from typing import Any, Dict, Generator, List, Optional, Tuple

import pytest

__all__ = ["Driver"]

_KEY = pytest.StashKey["_Watch"]()
_TOOLS = ("race", "init", "bounds", "sync", "leak")
_NVIDIAS_TOOLS = ("racecheck", "initcheck", "memcheck", "synccheck")  # names of compute-sanitizer


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gemu", "CUDA kernels on gemu")
    group.addoption("--gemu-sanitize", metavar="TOOLS", help=f"Look for faults that do not stop kernels: some of {', '.join(_TOOLS)}, or all. Needs gemu exec.")
    group.addoption("--gemu-keep-going", action="store_true", help="Do not fail tests by findings; only report them.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "gemu_allow(kind, ...): findings of gemu that the test expects, as patterns of their kinds")
    tools = config.getoption("--gemu-sanitize")
    for tool in (tools or "").split(","):
        if tools and tool.strip() not in (*_TOOLS, *_NVIDIAS_TOOLS, "all"):
            raise pytest.UsageError(f"--gemu-sanitize {tools}: there is no sanitizer {tool.strip()!r}; want some of {', '.join(_TOOLS)}, or all")
    if not os.environ.get("GEMU_REPORT"):
        if tools:
            raise pytest.UsageError("--gemu-sanitize: gemu's driver is not set up; run: gemu exec -- python -m pytest --gemu-sanitize " + tools)
        return
    if tools:
        if Driver.find() is not None and os.environ.get("GEMU_SANITIZE", "") != tools:
            raise pytest.UsageError("--gemu-sanitize: a plugin has loaded the driver already; run: gemu exec --sanitize " + tools + " -- python -m pytest")
        os.environ["GEMU_SANITIZE"] = tools
    config.stash[_KEY] = _Watch(config.getoption("--gemu-keep-going"))


class Driver:
    """gemu's driver in this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._report = library.gemu_process_report
        self._report.restype = ctypes.c_void_p
        self._free = ctypes.CDLL(None).free
        self._free.argtypes = [ctypes.c_void_p]

    @staticmethod
    def find() -> Optional["Driver"]:
        """The driver, if a client has loaded it into this process."""
        try:
            library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            return Driver(library)
        except (OSError, AttributeError):  # not loaded, not Linux, or NVIDIA's driver
            return None

    def report(self) -> Optional[Dict[str, Any]]:
        """The report of the process (gemu-process of docs/json.md) when all launches have ended; None in a child of fork."""
        text = self._report()
        if not text:
            return None
        try:
            return json.loads(ctypes.string_at(text))
        finally:
            self._free(text)


def _place(place: Optional[Dict[str, Any]]) -> Tuple[Any, ...]:
    place = place or {}
    return tuple(place.get(name) for name in ("role", "kernel", "file", "line", "column"))


def _key(finding: Dict[str, Any]) -> Tuple[Any, ...]:
    return (finding["tool"], finding["kind"], finding["severity"], _place(finding["at"]), _place(finding.get("other")))


def _text(finding: Dict[str, Any], count: int) -> str:
    """A finding that has occurred count times since the last look, in a few lines."""
    lines = [f"{finding['severity']}: {finding['tool']}: {finding['message']}"]
    for place in (finding["at"], finding.get("other")):
        if place:
            where = place.get("source") or (f"{place['file']}:{place['line']}:{place['column']}" if place.get("line") else "")
            lines.append("    " + " ".join(filter(None, [place["role"], where and "at " + where, place.get("kernel") and "in " + place["kernel"]])))
            if place.get("instruction"):
                lines.append("        " + place["instruction"])
    lines += ["    " + note for note in finding.get("notes") or ()]
    if count > 1:
        lines.append(f"    {count} times")
    if finding["count"] > count:
        lines.append("    also in earlier tests; values, addresses and threads are those of the first time")
    return "\n".join(lines)


class _Watch:
    """The launches and findings that belong to no earlier test."""

    def __init__(self, keep_going: bool) -> None:
        self.keep_going = keep_going
        self.counts: Dict[Tuple[Any, ...], int] = collections.Counter()
        self.launches = 0  # with the failed ones
        self.errors = 0
        self.allowed: Dict[Tuple[Any, ...], Dict[str, Any]] = {}  # "count" is the number of times in tests that expect the finding

    def allow(self, found: List[Tuple[Dict[str, Any], int]]) -> None:
        """Let gemu exec not count findings, with their numbers: it reads the file when the process has ended."""
        if not found:
            return
        for finding, count in found:
            known = self.allowed.setdefault(_key(finding), {**finding, "count": 0})
            known["count"] += count
        file = os.path.join(os.environ["GEMU_REPORT"], f"allowed-{os.getpid()}.json")
        with open(file + ".new", "w") as f:
            json.dump({"schema": "gemu-allowed/1", "process": os.getpid(), "findings": list(self.allowed.values())}, f)
        os.replace(file + ".new", file)

    def news(self) -> Tuple[int, List[Tuple[Dict[str, Any], int]]]:
        """The number of launches since the last call, and the findings since then with their numbers."""
        driver = Driver.find()
        report = driver and driver.report()
        if not report:
            return 0, []
        found = []
        for finding in report["findings"]["findings"]:
            key = _key(finding)
            if finding["count"] > self.counts[key]:
                found.append((finding, finding["count"] - self.counts[key]))
                self.counts[key] = finding["count"]
        failed = sum(f["count"] for f in report["findings"]["findings"] if f["tool"] == "launch" and f["kind"] != "launch not judged")
        launches = report["statistics"]["total"]["launches"] + failed
        launches, self.launches = launches - self.launches, launches
        return launches, found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Generator[None, Any, None]:
    outcome = yield
    watch = item.config.stash.get(_KEY, None)
    if watch is None:
        return
    report = outcome.get_result()
    launches, found = watch.news()
    if launches:
        item.user_properties.append(("gemu_launches", launches))  # the report of the teardown has them all
    if not found:
        return
    text = "\n".join(_text(*f) for f in found)
    allowed = [pattern for mark in item.iter_markers("gemu_allow") for pattern in mark.args]
    errors = [f for f in found if f[0]["severity"] == "error" and not any(fnmatch.fnmatchcase(f[0]["kind"], p) for p in allowed)]
    watch.allow([f for f in found if f[0]["severity"] == "error" and (watch.keep_going or f not in errors)])
    report.sections.append((f"gemu {call.when}", text))
    if errors:
        watch.errors += len(errors)
        item.user_properties.append(("gemu_errors", len(errors)))
        if report.outcome == "passed" and not watch.keep_going:
            report.outcome = "failed"
            report.longrepr = "gemu has found errors in the launches of this test:\n" + "\n".join(_text(*f) for f in errors)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    watch = config.stash.get(_KEY, None)
    if watch is not None and watch.launches + watch.errors:
        terminalreporter.write_line(f"gemu: {watch.launches} launches, {watch.errors} errors" + (f"; sanitizers: {os.environ['GEMU_SANITIZE']}" if os.environ.get("GEMU_SANITIZE") else ""))
