"""The exceptions of gemu."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ._result import Finding, Result

__all__ = [
    "CallError",
    "CompileError",
    "Error",
    "InternalError",
    "LibraryError",
    "OutOfMemory",
    "PTXError",
    "SanitizerError",
    "Trap",
    "UnsupportedPTX",
]


class LibraryError(ImportError):
    """The shared library ``libgemu`` is missing, or is older than this package."""


class Error(Exception):
    """The base of all errors that a call of gemu raises. ``str(error)`` is the whole message, in several lines.

    Texts are ``""`` and numbers 0 where an error has no such property.
    """

    number: int = 0  #: the result of the failed call, as in the CUDA driver API
    reason: str = ""  #: the description in a line, without its place
    file: str = ""  #: file or module of the PTX
    line: int = 0  #: line of the instruction or problem in the PTX, from 1
    column: int = 0  #: column in the PTX, from 1
    text: str = ""  #: this line of the PTX
    source: str = ""  #: "file:line:column" of the .loc in force
    kernel: str = ""  #: name of the launched kernel
    function: str = ""  #: function that contains the instruction
    instruction: str = ""  #: opcode of the instruction, such as "ld.global.u32"


class CallError(Error, ValueError):
    """A wrong call: an argument, an option or an extent that does not fit."""


class OutOfMemory(Error, MemoryError):
    """The memory of the device or of the host is exhausted."""


class PTXError(Error, ValueError):
    """The text is not PTX, or not valid PTX."""

    problems: int = 0  #: number of problems; the attributes describe the first, and the message all of them


class UnsupportedPTX(Error, NotImplementedError):
    """Legal PTX that gemu does not run."""


class CompileError(Error, ValueError):
    """The compiler refuses the CUDA C++, or there is no compiler."""


class Trap(Error, RuntimeError):
    """A fault of a kernel, or a limit of steps or time. Stores before the fault remain in memory."""

    fault: str = ""  #: kind of the fault, such as "out-of-bounds access"
    cta: Tuple[int, int, int] = (0, 0, 0)  #: index of the block
    warp: int = -1  #: index of the warp in the block; -1 if the fault concerns no single warp
    thread: Tuple[int, int, int] = (0, 0, 0)  #: the first faulting thread in the block
    lanes: Sequence[int] = ()  #: lanes of the warp that caused the fault
    active: Sequence[int] = ()  #: active lanes of the warp
    address: Optional[int] = None  #: address of the first faulting lane, if the instruction accesses memory
    bytes: int = 0  #: bytes of the access per lane
    findings: List["Finding"] = []  #: findings of the sanitizers up to the fault
    result: Optional["Result"] = None  #: reports up to the fault that options have requested: profile and recording. Counts are 0


class InternalError(Error, RuntimeError):
    """A fault of gemu itself: in the mode check a compact result is wrong. Please report it."""


class SanitizerError(Error):
    """A kernel has run to its end, and the sanitizers have found errors."""

    findings: List["Finding"]  #: all findings, also notices
    result: "Result"  #: the result of the launch

    def __init__(self, result: "Result") -> None:
        self.findings, self.result = result.findings, result
        errors = [f for f in result.findings if f.severity == "error"]
        lines = [f"{len(errors)} finding{'s' if len(errors) > 1 else ''} of the sanitizers"]
        lines += [str(f) for f in errors[:10]]
        if len(errors) > 10:
            lines.append(f"and {len(errors) - 10} more, in the attribute findings")
        super().__init__("\n".join(lines))
        first = errors[0].at
        self.reason = errors[0].message
        self.file, self.line, self.column, self.text = first.file, first.line, first.column, first.instruction
        self.source, self.kernel, self.function = first.source, first.kernel, first.function or first.kernel
