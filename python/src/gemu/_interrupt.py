"""Calls that Ctrl-C can stop.

Python runs signal handlers, such as that of Ctrl-C, only between two instructions of its main thread. So the main thread
gives launches to another thread and waits in Python. If a handler raises an exception, the launch is stopped."""

from __future__ import annotations

import itertools
import queue
import threading
from typing import Any, Callable, Optional

from . import _library

_numbers = itertools.count(1)
_calls: "queue.SimpleQueue[Callable[[], None]]" = queue.SimpleQueue()
_worker: Optional[threading.Thread] = None

# The time in seconds after which a wait returns to Python even if no signal has ended it: not every system interrupts a wait.
_POLL = 0.1


def _work() -> None:
    while True:
        _calls.get()()


def run(f: Callable[[int], Any]) -> Any:
    """Calls f with a new number for the launch option id, and returns its result or raises its exception."""
    global _worker
    _library.check_process()
    number = next(_numbers)
    if threading.current_thread() is not threading.main_thread():
        return f(number)
    if _worker is None:
        _worker = threading.Thread(target=_work, name="gemu launches", daemon=True)
        _worker.start()
    done = threading.Lock()
    done.acquire()
    outcome: "list[Any]" = [None, None]

    def work() -> None:
        try:
            outcome[0] = f(number)
        except BaseException as e:
            outcome[1] = e
        finally:
            done.release()

    _calls.put(work)
    stopped: Optional[BaseException] = None
    while True:
        try:
            while not done.acquire(timeout=_POLL):
                if stopped:
                    _library.lib.gemu_interrupt(number)
            break
        except BaseException as e:  # of a signal handler
            stopped = stopped or e
            _library.lib.gemu_interrupt(number)
    if stopped:
        raise stopped
    if outcome[1]:
        raise outcome[1]
    return outcome[0]
