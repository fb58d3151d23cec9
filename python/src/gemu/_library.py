"""The functions of libgemu (gemu.h), by ctypes."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, List, Optional, Sequence

from . import _errors

ABI_VERSION = 4  # of the functions below: GEMU_ABI_VERSION

_NAMES = {"win32": "gemu.dll", "darwin": "libgemu.dylib"}


class Counts(ctypes.Structure):
    """gemu_counts."""

    _fields_ = [
        ("seconds", c_double),
        ("thread_instructions", c_int64),
        ("warp_instructions", c_int64),
        ("lane_slots", c_int64),
        ("branches", c_int64),
        ("divergent_branches", c_int64),
    ]


class LaunchParams(ctypes.Structure):
    """gemu_launch_params."""

    _fields_ = [
        ("kernel", c_uint64),
        ("grid", c_uint32 * 3),
        ("block", c_uint32 * 3),
        ("shared_bytes", c_uint32),
        ("args", POINTER(c_void_p)),
        ("observer", c_void_p),
        ("user", c_void_p),
    ]


class LastError(ctypes.Structure):
    """gemu_error."""

    _fields_ = [
        ("size", c_size_t),
        ("number", c_uint32),
        ("kind", c_uint32),
        ("message", c_char_p),
        ("reason", c_char_p),
        ("fault", c_char_p),
        ("file", c_char_p),
        ("line", c_uint32),
        ("column", c_uint32),
        ("text", c_char_p),
        ("source", c_char_p),
        ("kernel", c_char_p),
        ("function", c_char_p),
        ("instruction", c_char_p),
        ("cta", c_uint32 * 3),
        ("warp", c_int32),
        ("thread", c_uint32 * 3),
        ("lanes", c_uint64),
        ("active", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint32),
        ("n_problems", c_uint32),
    ]


_FUNCTIONS = {
    "gemu_abi_version": [],
    "gemu_get_error": [POINTER(LastError)],
    "gemu_load_named": [c_char_p, c_char_p, c_size_t, POINTER(c_uint64)],
    "gemu_unload": [c_uint64],
    "gemu_describe": [c_uint64, POINTER(c_void_p)],
    "gemu_compile": [c_char_p, POINTER(c_char_p), c_uint32, POINTER(c_void_p), POINTER(c_void_p)],
    "gemu_get_kernel": [c_uint64, c_char_p, POINTER(c_uint64)],
    "gemu_get_variable": [c_uint64, c_char_p, POINTER(c_uint64), POINTER(c_size_t)],
    "gemu_share": [c_void_p, c_size_t, c_uint32, c_char_p, POINTER(c_uint64)],
    "gemu_free": [c_uint64],
    "gemu_copy_in": [c_uint64, c_void_p, c_size_t],
    "gemu_copy_out": [c_void_p, c_uint64, c_size_t],
    "gemu_launch_with": [POINTER(LaunchParams), c_char_p, POINTER(Counts), POINTER(c_uint64)],
    "gemu_start_with": [POINTER(LaunchParams), c_char_p, POINTER(c_uint64)],
    "gemu_next": [c_uint64, c_void_p, c_size_t, POINTER(c_size_t)],
    "gemu_read_shared": [c_uint64, c_uint32, c_void_p, c_uint64, c_size_t],
    "gemu_stop": [c_uint64, POINTER(Counts)],
    "gemu_interrupt": [c_uint64],
    "gemu_report": [c_uint64, c_char_p, POINTER(c_void_p)],
    "gemu_get_recording": [c_uint64, POINTER(c_void_p), POINTER(c_size_t)],
    "gemu_forget": [c_uint64],
}

NOT_FOUND, NOT_PERMITTED = 500, 800
READ_ONLY = 1  # GEMU_READ_ONLY
KEEP_BRANCHES = 1  # GEMU_KEEP_BRANCHES

_REMEDY = (
    "Install a wheel of gemu, which contains it; or build it in a checkout of gemu with `cmd/install.sh PREFIX` and set "
    "GEMU_LIBRARY=PREFIX/lib/libgemu.so before Python starts."
)


def _candidates() -> List[str]:
    """The paths at which the library may be, in the order of the search."""
    chosen = os.environ.get("GEMU_LIBRARY")
    if chosen:
        return [chosen]
    name = _NAMES.get(sys.platform, "libgemu.so")
    return [str(Path(__file__).parent / "lib" / name), name]


def _open() -> ctypes.CDLL:
    """Loads the library, and declares its functions."""
    tried = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as e:
            tried.append(f"  {path}: {e}")
    else:
        raise _errors.LibraryError("gemu needs the shared library libgemu, and it cannot be loaded:\n" + "\n".join(tried) + "\n" + _REMEDY)
    version = lib.gemu_abi_version() if hasattr(lib, "gemu_abi_version") else 0
    if version < ABI_VERSION:
        raise _errors.LibraryError(f"{path} has version {version} of the interface, and this package needs version {ABI_VERSION} or later. {_REMEDY}")
    for function, arguments in _FUNCTIONS.items():
        f = getattr(lib, function)
        f.argtypes, f.restype = arguments, c_int
    return lib


lib = _open()

lib.gemu_release.argtypes, lib.gemu_release.restype = [c_void_p], None

forked = False  # this process is a child of fork, in which the library does not work


def _note_fork() -> None:
    global forked
    forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)

_KINDS = {1: _errors.CallError, 2: _errors.PTXError, 3: _errors.UnsupportedPTX, 4: _errors.Trap, 5: _errors.InternalError}
_NUMBERS = {2: _errors.OutOfMemory, 300: _errors.CompileError, 301: _errors.CompileError}


def decode(text: Optional[bytes]) -> str:
    """The text of the library as a string. PTX may contain any bytes."""
    return (text or b"").decode("utf-8", "replace")


def lanes_of(mask: int) -> List[int]:
    """The numbers of the lanes in a mask."""
    return [i for i in range(64) if mask >> i & 1]


# Texts of the library that name functions of C, and those of this package.
_WORDS = {
    "a launch by gemu_start is in progress: end it with gemu_stop": "a run is open: end it with Run.stop(), or leave its with block",
    "another launch by gemu_start is in progress": "another run is open: end it with Run.stop(), or leave its with block",
    "no launch by gemu_start is in progress": "the run has been stopped",
    "do not work with gemu_start_with: it has no outcome, and gemu_stop ends it": "do not work with start: a run has no result",
}


def in_python(text: str) -> str:
    """A message of the library with the names of this package."""
    for c, words in _WORDS.items():
        text = text.replace(c, words)
    return text


def encode(text: str, what: str) -> bytes:
    """A text for the library, which would end at a null character."""
    if "\0" in text:
        raise ValueError(f"{what} {text!r} has a null character")
    return text.encode()


def last_error() -> _errors.Error:
    """The exception of the last failed call of this thread."""
    e = LastError(size=ctypes.sizeof(LastError))
    lib.gemu_get_error(ctypes.byref(e))
    kind = _NUMBERS.get(e.number) or _KINDS.get(e.kind, _errors.Error)
    error = kind(in_python(decode(e.message)) or f"error {e.number} of libgemu")
    error.number = e.number
    for name in ("reason", "file", "text", "source", "kernel", "function", "instruction"):
        setattr(error, name, in_python(decode(getattr(e, name))))
    error.line, error.column = e.line, e.column
    if isinstance(error, _errors.PTXError):
        error.problems = e.n_problems
    if isinstance(error, _errors.Trap):
        error.fault, error.cta, error.thread, error.warp = decode(e.fault), tuple(e.cta), tuple(e.thread), e.warp
        error.lanes, error.active, error.bytes = lanes_of(e.lanes), lanes_of(e.active), e.bytes
        error.address = e.address if e.bytes else None
        error.findings = []
    return error


def check_process() -> None:
    """Raises an exception in a child of fork."""
    if forked:
        raise _errors.Error("gemu does not work in a child of fork: use multiprocessing with the method spawn, or threads")


def call(function: str, *arguments: Any) -> None:
    """Calls a function of the library, and raises its error."""
    check_process()
    if getattr(lib, function)(*arguments) != 0:
        raise last_error()


def take_text(pointer: c_void_p) -> str:
    """The text that a function has allocated, which it frees."""
    if not pointer.value:
        return ""
    try:
        return decode(ctypes.string_at(pointer.value))
    finally:
        lib.gemu_release(pointer)
        pointer.value = None


def take_bytes(function: str, *arguments: Any) -> bytes:
    """Calls a function whose last arguments receive bytes that it allocates, and their number."""
    data, size = c_void_p(), c_size_t()
    call(function, *arguments, ctypes.byref(data), ctypes.byref(size))
    try:
        return ctypes.string_at(data.value, size.value) if data.value else b""
    finally:
        lib.gemu_release(data)


def call_for_json(function: str, *arguments: Any) -> Any:
    """Calls a function whose last argument receives a JSON document."""
    text = c_void_p()
    call(function, *arguments, ctypes.byref(text))
    return json.loads(take_text(text))


def compile_cuda(file: str, arguments: Sequence[str], keep_branches: bool) -> "tuple[str, str]":
    """The PTX of a file of CUDA C++, and the messages of the compiler."""
    check_process()
    for text in (file, *arguments):
        encode(text, "argument of the compiler")
    ptx, messages = c_void_p(), c_void_p()
    further = (c_char_p * (len(arguments) + 1))(*[os.fsencode(a) for a in arguments], None)
    result = lib.gemu_compile(os.fsencode(file), further, KEEP_BRANCHES if keep_branches else 0, ctypes.byref(ptx), ctypes.byref(messages))
    texts = take_text(ptx), take_text(messages)
    if result != 0:
        raise last_error()
    return texts
