"""The results of launches."""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, List, Optional, Tuple

from . import _library
from ._document import Record, Rows
from ._recorded import Recording

__all__ = ["Finding", "Memory", "Place", "Result"]


@dataclass(frozen=True)
class Place:
    """A place of a finding."""

    role: str  #: role of the place in the finding, such as "write"
    kernel: str = ""  #: name of the launched kernel
    function: str = ""  #: name of the function, unless it is the kernel
    file: str = ""  #: name of the PTX file
    line: int = 0  #: line in the PTX, from 1
    column: int = 0  #: column in the PTX, from 1
    instruction: str = ""  #: text of this line
    source: str = ""  #: "file:line:column" of the .loc in force
    cta: Tuple[int, ...] = ()  #: index of the block
    thread: Tuple[int, ...] = ()  #: index of the thread in its block
    warp: int = -1  #: index of the warp in its block; -1 if the place is the whole block
    lane: int = 0  #: index of the lane in its warp
    lanes: str = ""  #: lanes of the warp in the finding, if there are several: "0-3,7"
    value: str = ""  #: value read or written

    @classmethod
    def _of(cls, d: Dict[str, Any]) -> "Place":
        known = {k: v for k, v in d.items() if k in cls.__dataclass_fields__}
        return cls(**{**known, "cta": tuple(d.get("cta", ())), "thread": tuple(d.get("thread", ()))})

    def __str__(self) -> str:
        at = f"{self.role} at {self.file}:{self.line}:{self.column}"
        if self.source:
            at += f" ({self.source})"
        return f"{at} by thread {_extents(self.thread)} in block {_extents(self.cta)}: {self.instruction.strip()}"


def _extents(index: Tuple[int, ...]) -> str:
    return "(" + ",".join(map(str, index)) + ")"


@dataclass(frozen=True)
class Memory:
    """The memory of a finding."""

    space: str  #: state space
    name: str = ""  #: name of the variable or buffer
    offset: int = 0  #: offset from its beginning in bytes
    address: int = 0  #: address: in shared memory within the state space, otherwise generic
    bytes: int = 0  #: size in bytes


@dataclass(frozen=True)
class Finding:
    """A finding of a sanitizer: docs/sanitizers.md describes the tools."""

    tool: str  #: name of the sanitizer, such as "race"
    kind: str  #: kind of fault in fixed words, such as "read after write"
    severity: str  #: "error" or "notice"
    message: str  #: description of the fault
    at: Place  #: place of the fault
    other: Optional[Place] = None  #: the second place
    memory: Optional[Memory] = None  #: memory of the fault
    notes: Tuple[str, ...] = ()  #: further lines of text
    count: int = 1  #: number of findings of the same tool, kind and places

    @property
    def file(self) -> str:
        """Name of the PTX file."""
        return self.at.file

    @property
    def line(self) -> int:
        """Line of the instruction in the PTX."""
        return self.at.line

    @property
    def source(self) -> str:
        """Place in the source: "file:line:column", "" if it is unknown."""
        return self.at.source

    @property
    def text(self) -> str:
        """Text of the line in the PTX."""
        return self.at.instruction

    @classmethod
    def _of(cls, d: Dict[str, Any]) -> "Finding":
        memory = d.get("memory")
        return cls(
            d["tool"], d["kind"], d["severity"], d["message"], Place._of(d["at"]), Place._of(d["other"]) if d.get("other") else None,
            Memory(**{k: v for k, v in memory.items() if k in Memory.__dataclass_fields__}) if memory else None,
            tuple(d.get("notes") or ()), d.get("count", 1),
        )  # fmt: skip

    def __str__(self) -> str:
        lines = [f"{self.severity}: {self.tool}: " + (self.message if self.message.startswith(self.kind) else f"{self.kind}: {self.message}")]
        if self.memory:
            m = self.memory
            lines.append(f"  {m.bytes} bytes of {m.space} memory at {m.address:#x}" + (f", byte {m.offset} of {m.name}" if m.name else ""))
        lines += [f"  {p}" for p in (self.at, self.other) if p and p.file]
        lines += [f"  {n}" for n in self.notes]
        if self.count > 1:
            lines.append(f"  {self.count} times in all")
        return "\n".join(lines)


def _forget(outcome: int) -> None:
    if not _library.forked:
        _library.lib.gemu_forget(outcome)


class Reports:
    """The reports of a launch, as libgemu keeps them."""

    def __init__(self, outcome: int, options: Collection[str]) -> None:
        self.options = options
        self._outcome = outcome
        self._recording: Optional[Recording] = None
        self._finalizer = weakref.finalize(self, _forget, outcome)
        self._finalizer.atexit = False
        self._documents: Dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """A report as the objects of its JSON document (docs/json.md)."""
        if name not in self._documents:
            self._documents[name] = _library.call_for_json("gemu_report", self._outcome, name.encode())
        return self._documents[name]

    def recording(self) -> Recording:
        """The recording of the launch."""
        if self._recording is None:
            self._recording = Recording(_library.take_bytes("gemu_get_recording", self._outcome))
        return self._recording

    def findings(self) -> List[Finding]:
        """The findings of the sanitizers of the launch."""
        if "sanitize" not in self.options:
            return []
        return [Finding._of(f) for f in self.get("findings")["findings"] or []]


@dataclass(frozen=True)
class Result:
    """The result of a launch. Reports that options request, such as ``profile``, are attributes."""

    seconds: float  #: duration
    thread_instructions: int  #: instructions executed by threads
    warp_instructions: int  #: instructions issued to warps
    lane_slots: int  #: active lanes, summed over warp_instructions
    branches: int  #: branches executed by warps
    divergent_branches: int  #: branches at which a warp split diverged
    findings: List[Finding] = field(default_factory=list)  #: of the sanitizers of the launch
    _reports: Optional[Reports] = field(default=None, repr=False, compare=False)

    @property
    def active_lanes_mean(self) -> float:
        """Mean number of active lanes of a warp instruction; 0 without instructions."""
        return self.lane_slots / self.warp_instructions if self.warp_instructions else 0.0

    def report(self, name: str) -> Any:
        """A report of libgemu as dictionaries and lists: "run", "statistics", "findings", "structure", "profile". docs/json.md
        has the fields."""
        if self._reports is None:
            raise ValueError("the launch has no reports")
        return self._reports.get(name)

    def _document(self, name: str, option: str) -> Record:
        if self._reports is None or option not in self._reports.options:
            raise ValueError(f"the launch has no report {name}: launch with {option}")
        return Record(self._reports.get(name))

    @property
    def structure(self) -> Record:
        """The value structure, with the option structure: the fields of gemu-structure in docs/json.md, such as ``summary``,
        ``bars`` and ``instructions``, and in addition ``lines``: the sums of the instructions by line of the source."""
        d = self._document("structure", "structure")
        d.__dict__["lines"] = _by_line(d.instructions)
        return d

    @property
    def profile(self) -> Record:
        """The profile, with the option profile: the fields of gemu-profile in docs/json.md, such as ``total``, ``lines``, ``loops``,
        ``calls`` and ``occupancy``. The classes u, a and g of lines need the option structure."""
        return self._document("profile", "profile")

    @property
    def machines(self) -> Rows:
        """The machines of the option machine, in the order of the option, with the fields of ``machines`` in gemu-statistics."""
        return self._document("statistics", "machine").machines

    @property
    def models(self) -> Rows:
        """The register files of the option regfile, with the fields of the schema "report" in docs/json.md."""
        return self._document("statistics", "regfile").models

    @property
    def recording(self) -> "Recording":
        """The recording, with the option record."""
        if self._reports is None or "record" not in self._reports.options:
            raise ValueError("the launch was not recorded: launch with record")
        return self._reports.recording()


def _by_line(instructions: Rows) -> Rows:
    """The sums of instructions by line of the source, or of the PTX without .loc."""
    lines: Dict[str, Dict[str, Any]] = {}
    for n in instructions:
        place = getattr(n, "source", "") if "source" in n.keys() else f"PTX:{n.line}"
        line = lines.setdefault(place, {"source": place, "execs": 0, "u": 0, "a": 0, "g": 0})
        for name in ("execs", "u", "a", "g"):
            line[name] += n[name]
    return Rows(Record(line) for line in lines.values())


def result_of(counts: "_library.Counts", reports: Optional[Reports]) -> Result:
    """The result of a launch. After a fault, the counts are 0."""
    values = {name: getattr(counts, name) for name, *_ in counts._fields_}
    return Result(**values, findings=reports.findings() if reports else [], _reports=reports)
