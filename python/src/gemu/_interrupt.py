"""Calls that Ctrl-C can stop.

Python runs signal handlers, such as that of Ctrl-C, only between two instructions of its main thread. So the main thread
gives calls that may wait for the device to another thread and waits in Python. If a handler raises an exception, the call is
stopped. A call that does not end soon, because it waits for a launch of another thread, goes on without the main thread."""

from __future__ import annotations

import itertools
import queue
import sys
import threading
import time
from typing import Any, Callable, Optional, Set

from . import _library
from ._errors import Error

_numbers = itertools.count(1)

# The numbers of the calls that have not ended. Adding and removing a number are atomic.
active: Set[int] = set()

# The time in seconds after which a wait returns to Python even if no signal has ended it: not every system interrupts a wait.
_POLL = 0.1

# The time in seconds for which the main thread waits for the end of a stopped call.
_GRACE = 1.0


class Call:
    """A call of the device."""

    def __init__(self) -> None:
        self.number = next(_numbers)  #: for the launch option id
        self.stopped = False  #: a signal handler has raised an exception
        self.ended = False  #: the function has returned or raised an exception
        self.abandoned = False  #: the main thread does not wait for the end
        self._lock = threading.Lock()  # held while one of these two changes

    def check(self) -> None:
        """Raises an exception, which nothing shows, if the call was stopped."""
        if self.stopped:
            raise Error("the call was stopped")

    def end(self) -> bool:
        """Notes the end of the call. Returns whether the main thread waits for it."""
        with self._lock:
            self.ended = True
            return not self.abandoned

    def abandon(self) -> None:
        """Lets the call go on alone, unless it has ended."""
        with self._lock:
            self.abandoned = not self.ended


class _Worker:
    """A thread that runs the calls of the main thread, until it gets None."""

    def __init__(self) -> None:
        self.calls: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        threading.Thread(target=self._work, name="gemu launches", daemon=True).start()

    def _work(self) -> None:
        while True:
            f = self.calls.get()
            if f is None:
                return
            f()
            del f  # and the arrays of the call


_worker: Optional[_Worker] = None


def run(f: Callable[[Call], Any], undo: Optional[Callable[[Any], None]] = None) -> Any:
    """Calls f with a new call, and returns its result or raises its exception. If the call is stopped, undo gets the result."""
    global _worker
    _library.check_process()
    call = Call()
    if threading.current_thread() is not threading.main_thread() or sys.is_finalizing():
        active.add(call.number)
        try:
            return f(call)
        finally:
            active.discard(call.number)
    if _worker is None:
        _worker = _Worker()
    worker = _worker
    done = threading.Lock()
    done.acquire()
    outcome: "list[Any]" = [None, None]

    def work() -> None:
        active.add(call.number)
        try:
            outcome[0] = f(call)
        except BaseException as e:
            outcome[1] = e
        active.discard(call.number)
        if not call.end() and undo is not None and outcome[1] is None:
            undo(outcome[0])
        done.release()

    worker.calls.put(work)
    stopped: Optional[BaseException] = None
    deadline = 0.0
    while not (call.ended or call.abandoned):
        try:
            if stopped:
                call.stopped = True
                _library.lib.gemu_interrupt(call.number)
            if stopped and time.monotonic() > deadline:
                call.abandon()
            else:
                done.acquire(timeout=_POLL)
        except BaseException as e:  # of a signal handler
            stopped = stopped or e
            deadline = deadline or time.monotonic() + _GRACE
    if call.abandoned:
        _worker = None if _worker is worker else _worker
        worker.calls.put(None)
    elif stopped and undo is not None and outcome[1] is None:
        undo(outcome[0])
    if stopped:
        raise stopped
    if outcome[1]:
        raise outcome[1]
    return outcome[0]
