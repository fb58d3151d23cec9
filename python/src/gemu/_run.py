"""Launches that advance step by step."""

from __future__ import annotations

import ctypes
import operator
import weakref
from ctypes import POINTER, c_char_p, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from . import _library
from ._errors import CallError, Error
from ._memory import Shares, live_buffers

if TYPE_CHECKING:
    from ._module import Module

__all__ = ["Access", "Run", "Step"]


class _Value(ctypes.Structure):
    """gemu_value."""

    _fields_ = [("name", c_char_p), ("type", c_char_p), ("low", POINTER(c_uint64)), ("high", POINTER(c_uint64))]


class _Event(ctypes.Structure):
    """gemu_event."""

    _fields_ = [
        ("cta", c_uint32 * 3), ("warp", c_uint32), ("pc", c_uint32), ("line", c_uint32), ("column", c_uint32), ("function", c_char_p),
        ("instruction", c_char_p), ("active", c_uint64), ("lanes", c_uint64), ("n_results", c_uint32), ("n_sources", c_uint32),
        ("results", POINTER(_Value)), ("sources", POINTER(_Value)), ("addresses", POINTER(c_uint64)), ("space", c_char_p), ("bytes", c_uint32),
    ]  # fmt: skip


class _Access(ctypes.Structure):
    """gemu_access."""

    _fields_ = [
        ("kind", c_uint32), ("bytes", c_uint32), ("space", c_char_p), ("lanes", c_uint64), ("addresses", POINTER(c_uint64)), ("n_stored", c_uint32),
        ("n_compared", c_uint32), ("stored", POINTER(c_uint64)), ("compared", POINTER(c_uint64)), ("left_out", c_uint64), ("data", c_void_p),
    ]  # fmt: skip


class _Step(ctypes.Structure):
    """gemu_step."""

    _fields_ = [
        ("kind", c_uint32), ("event", _Event), ("unit", c_char_p), ("depth", c_uint32), ("reconverge", c_int32), ("barrier", c_int32),
        ("generation", c_uint32), ("message", c_char_p), ("n_accesses", c_uint32), ("effect_now", c_uint32), ("effect", c_uint64), ("accesses", POINTER(_Access)),
    ]  # fmt: skip


_KINDS = ("instruction", "return", "wait", "release", "split", "reconverge", "exit", "trap", "cta", "cta end", "effect")
_ACCESSES = ("load", "store", "atomic", "zero")


@dataclass(frozen=True)
class Access:
    """An access of a step to memory."""

    kind: str  #: "load", "store", "atomic" or "zero"
    space: str  #: state space, such as ".global"; "" is generic
    bytes: int  #: bytes of each lane
    addresses: Dict[int, int]  #: address of each lane


@dataclass(frozen=True)
class Step:
    """A step of a launch: a warp has executed an instruction, or lanes wait, diverge, reconverge or end."""

    kind: str  #: "instruction", "return", "wait", "release", "split", "reconverge", "exit", "trap", "cta", "cta end" or "effect"
    cta: Tuple[int, ...]  #: index of the block
    warp: int  #: index of the warp in the block
    function: str = ""  #: function that contains the instruction
    instruction: str = ""  #: text of the instruction
    line: int = 0  #: line in the PTX, from 1
    column: int = 0  #: column in the PTX, from 1
    active: List[int] = field(default_factory=list)  #: active lanes
    lanes: List[int] = field(default_factory=list)  #: the lanes that execute the instruction
    results: Dict[str, Dict[int, int]] = field(default_factory=dict)  #: registers after the instruction: the bits of each lane, by lane
    sources: Dict[str, Dict[int, int]] = field(default_factory=dict)  #: registers before the instruction
    accesses: List[Access] = field(default_factory=list)  #: accesses to memory
    message: str = ""  #: of a trap

    def __str__(self) -> str:
        if not self.instruction:
            return f"{self.kind}: block {self.cta}"
        return f"{self.kind}: block {self.cta} warp {self.warp}, line {self.line}: {self.instruction} by {len(self.lanes)} lanes"


def _values(count: int, first: Any, lanes: List[int]) -> Dict[str, Dict[int, int]]:
    values = {}
    for i in range(count):
        v = first[i]
        values[_library.decode(v.name)] = {lane: v.low[lane] | (v.high[lane] << 64 if v.high else 0) for lane in lanes}
    return values


def _step_of(s: _Step) -> Step:
    e = s.event
    lanes = _library.lanes_of(e.lanes)
    accesses = []
    for i in range(s.n_accesses):
        a = s.accesses[i]
        members = _library.lanes_of(a.lanes)
        accesses.append(Access(_ACCESSES[a.kind], _library.decode(a.space), a.bytes, {lane: a.addresses[lane] for lane in members} if a.addresses else {}))
    kind = _KINDS[s.kind] if s.kind < len(_KINDS) else str(s.kind)
    return Step(
        kind, tuple(e.cta), e.warp, _library.decode(e.function), _library.decode(e.instruction), e.line, e.column, _library.lanes_of(e.active), lanes,
        _values(e.n_results, e.results, lanes), _values(e.n_sources, e.sources, lanes), accesses, _library.decode(s.message),
    )  # fmt: skip


class _Memory:
    """The contents of memory before a launch: of its writable arrays, of all buffers and of the variables of its module."""

    def __init__(self, module: "Module", arrays: List[np.ndarray]) -> None:
        shared = [b.numpy() for b in live_buffers()]
        self._arrays = [(a, a.copy(order="K")) for a in [*arrays, *shared] if a.flags.writeable]
        self._variables = [(v, v.get()) for v in module.variables.values()]

    def restore(self) -> None:
        """Writes the contents back. Constant variables have not changed."""
        for a, before in self._arrays:
            np.copyto(a, before)
        for v, before in self._variables:
            v.set(before)


def stop_run(run: int) -> None:
    """Ends a run."""
    if not _library.forked:
        _library.lib.gemu_stop(run, None)


class Run:
    """A launch that advances when ``next`` is called: ``kernel[grid, block].start(...)``. Between steps, the arrays of the launch have
    the contents at this step. One launch at a time can advance like this, and other launches have to wait for its end or ``stop``.

    A run is an iterator of its steps, and a context manager that stops it.
    """

    def __init__(self, begin: Callable[[], int], shares: Shares, module: "Module", arrays: List[np.ndarray]) -> None:
        self._begin, self._shares = begin, shares
        self._memory = _Memory(module, arrays)
        self.position = 0  #: number of steps that have happened
        self.ended = False  #: the launch has ended
        self.error: Optional[Error] = None  #: error of the launch, such as a Trap; the last step describes it, too
        self._handle = begin()
        self._finalizer = weakref.finalize(self, _finish, self._handle, shares)

    def next(self, count: int = 1) -> List[Step]:
        """Runs count steps, or fewer to the end of the launch, and returns them."""
        count = operator.index(count)
        self._check()
        if count < 1:
            raise ValueError(f"{count} steps: want at least 1")
        steps = []
        while count > 0 and not self.ended:
            room, n = min(count, 1024), c_size_t()
            buffer = (_Step * room)()
            result = _library.lib.gemu_next(self._handle, buffer, room, ctypes.byref(n))
            error = _library.last_error() if result != 0 else None
            if n.value < room:
                self.ended, self.error = True, error
            elif error:
                raise error
            steps += [_step_of(buffer[i]) for i in range(n.value)]
            self.position += n.value
            count -= n.value
        return steps

    def back(self, count: int = 1) -> None:
        """Goes count steps back. It restores memory as it was before the launch and runs the launch again to this position, so it takes as
        long as the steps before. Contents that the program has written to the arrays since the start are lost."""
        count = operator.index(count)
        if not 0 <= count <= self.position:
            raise ValueError(f"{count} steps back: {self.position} steps have happened")
        self._check()
        target = self.position - count
        stop_run(self._handle)
        try:
            self._memory.restore()
            self._handle = self._begin()
        except BaseException:  # the run has ended: its arrays must not stay shared
            self.stop()
            raise
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _finish, self._handle, self._shares)
        self.position, self.ended, self.error = 0, False, None
        if target:
            self.next(target)

    def read_shared(self, block: int, nbytes: int, offset: int = 0, dtype: Any = np.uint8) -> np.ndarray:
        """A copy of shared memory of a running block, by its linear index."""
        a = np.empty(nbytes, np.uint8)
        self._check()
        _library.call("gemu_read_shared", self._handle, block, a.ctypes.data, offset, nbytes)
        return a.view(dtype)

    def finish(self) -> None:
        """Runs the launch to its end. It raises the error of the launch."""
        while not self.ended:
            self.next(1024)
        error = self.error
        self.stop()
        if error:
            raise error

    def stop(self) -> None:
        """Ends the launch if it has not ended."""
        self._finalizer()
        self.ended = True

    def _check(self) -> None:
        _library.check_process()
        if not self._finalizer.alive:
            raise CallError("the run has been stopped")

    def __iter__(self) -> Iterator[Step]:
        while not self.ended:
            yield from self.next()

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def _finish(handle: int, shares: Shares) -> None:
    """Ends a run, and takes its arrays from the device."""
    stop_run(handle)
    shares.close(wait=False)
