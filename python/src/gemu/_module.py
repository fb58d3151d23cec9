"""Modules, kernels and launches."""

from __future__ import annotations

import ctypes
import json
import operator
import os
import re
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _interrupt, _library, _types
from ._errors import CallError, SanitizerError, Trap
from ._memory import Buffer, Shares, as_array, check_array, unload_later
from ._options import Chosen
from ._result import Reports, Result, result_of
from ._run import Run, stop_run

__all__ = ["Kernel", "Launcher", "Module", "Parameter", "Variable", "load", "load_cuda", "load_ptx"]

_SIZES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b128": 16}
_LARGEST = {"grid": "2147483647 for x and 65535 for y and z", "block": "1024 for x and y and 64 for z, with 1024 threads in all"}
_FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


class Parameter:
    """A parameter of a kernel."""

    def __init__(self, index: int, described: Dict[str, Any], ctype: Optional[_types.CType]) -> None:
        self.index = index  #: from 0
        self.name: str = ctype.parameter if ctype and ctype.parameter else described["name"]  #: as in CUDA C++, or else as in the PTX
        self.type: str = described["type"]  #: type in the PTX, such as "f32"
        self.dims: Tuple[int, ...] = tuple(described.get("dims") or ())  #: extents of an array
        self.size: int = described["size"]  #: size in bytes
        self.pointer: bool = described["pointer"]  #: the PTX declares a pointer
        self.ctype = ctype  #: type in C++, if it is known

    def __repr__(self) -> str:
        dims = "".join(f"[{d}]" for d in self.dims)
        return f"<gemu.Parameter {self.index} .{self.type} {self.name}{dims}{f': {self.ctype.name}' if self.ctype else ''}>"

    def _what(self) -> str:
        return f"argument {self.index} ({self.name})"

    def _shown_type(self) -> str:
        return self.ctype.name if self.ctype else "." + self.type + "".join(f"[{d}]" for d in self.dims)

    def _error(self, value: Any, hint: str) -> TypeError:
        shown = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"{type(value).__name__} {value!r:.60}"
        return TypeError(f"{self._what()} is {self._shown_type()}, not {shown}: {hint}")

    def _may_be_pointer(self) -> bool:
        if self.ctype:
            return self.ctype.pointer
        return not self.dims and self.type in ("b64", "u64", "s64", "b32", "u32", "s32") and (self.pointer or self.size == 8)

    def convert_array(self, a: np.ndarray) -> None:
        """Raises an exception for an array that does not fit."""
        if not self._may_be_pointer():
            raise self._error(a, "it is passed by value. Pass a number, or x.item() for an array with a single element" if not self.dims else f"it is passed by value. Pass {self.size} bytes")
        check_array(a, self._what())
        if self.ctype and self.ctype.dtype is not None and not _fits(a.dtype, self.ctype.dtype):
            raise self._error(a, f"want an array of {self.ctype.dtype}; x.astype(numpy.{self.ctype.dtype.name}) makes one")

    def convert(self, value: Any) -> bytes:
        """The bytes of a value that is no array."""
        if self.dims or self.type.startswith("v") or self.size > 8:
            return self._bytes(value)
        if value is None:
            if self._may_be_pointer():
                return bytes(self.size)
            raise self._error(value, "None is a null pointer")
        if isinstance(value, (bytes, ctypes.Structure, np.void)):
            return self._bytes(value)
        dtype = self.ctype.dtype if self.ctype and not self.ctype.pointer else None
        real = _FLOATS.get(self.type) or (dtype.type if dtype is not None and dtype.kind == "f" else None)
        if real is not None:
            return self._float(value, real)
        if isinstance(value, np.generic) and value.dtype.kind in "fc":
            if self.type.startswith("b") and value.dtype.itemsize == self.size and dtype is None:
                return value.tobytes()  # the bits of a float, such as half in C++
            raise self._error(value, f"want an integer, such as int({value!r})")
        if isinstance(value, (bool, np.bool_)):
            return int(value).to_bytes(self.size, "little")
        try:
            n = operator.index(value)
        except TypeError:
            raise self._error(value, "want an integer" + (", an array or None" if self._may_be_pointer() else "")) from None
        bits = 8 * self.size
        low, high = (0 if dtype is not None and dtype.kind == "u" else -(1 << bits - 1)), ((1 << bits - 1) if dtype is not None and dtype.kind == "i" else 1 << bits)
        if not low <= n < high:
            raise OverflowError(f"{self._what()} is {self._shown_type()}, and {n} is outside {low} to {high - 1}")
        return (n & ((1 << bits) - 1)).to_bytes(self.size, "little")

    def _float(self, value: Any, kind: Any) -> bytes:
        if isinstance(value, np.generic) and value.dtype.kind == "c" or isinstance(value, (str, bytes, complex)):
            raise self._error(value, "want a real number")
        try:
            number = float(value)
        except OverflowError:
            raise OverflowError(f"{self._what()} is {self._shown_type()}, and {value!r:.60} is too large") from None
        except (TypeError, ValueError):
            raise self._error(value, "want a real number") from None
        with np.errstate(over="ignore"):
            converted = kind(number)
        if np.isinf(converted) and not np.isinf(number):
            raise OverflowError(f"{self._what()} is {self._shown_type()}, and {value!r:.60} is too large")
        return bytes(converted.tobytes())

    def _bytes(self, value: Any) -> bytes:
        if isinstance(value, (np.ndarray, np.generic)):
            data = value.tobytes()
        else:
            try:
                data = bytes(memoryview(value).cast("B"))
            except (TypeError, ValueError):
                raise self._error(value, f"it has {self.size} bytes. Pass them as bytes, a numpy.void or a ctypes.Structure") from None
        if len(data) != self.size:
            raise ValueError(f"{self._what()} has {self.size} bytes, and the value has {len(data)}")
        return data


def _fits(have: np.dtype, want: np.dtype) -> bool:
    """Whether memory of elements of one type can be that of the other: the same type, or integers of the same size."""
    have = have.subdtype[0] if have.subdtype else have
    if have == want:
        return True
    whole = "iub"
    return have.itemsize == want.itemsize and have.kind in whole and want.kind in whole


def _extents(what: str, value: Any) -> Tuple[int, int, int]:
    values = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{what} {value!r}: want a number or 2 or 3 numbers")
    numbers = []
    for v in values:
        try:
            n = operator.index(v)
        except TypeError:
            raise TypeError(f"{what} {value!r}: want integers") from None
        if not 1 <= n < 1 << 32:
            raise ValueError(f"{what} {value!r}: want extents from 1 to {_LARGEST[what]}")
        numbers.append(n)
    return tuple(numbers + [1] * (3 - len(numbers)))  # type: ignore[return-value]


class Launcher:
    """A kernel with the extents of a launch: ``kernel[grid, block]``. A call launches it."""

    def __init__(self, kernel: "Kernel", grid: Tuple[int, int, int], block: Tuple[int, int, int], shared: int) -> None:
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __repr__(self) -> str:
        return f"{self.kernel!r}[{self.grid}, {self.block}{f', {self.shared}' if self.shared else ''}]"

    def __call__(self, *arguments: Any, **options: Any) -> Result:
        """Runs the kernel and waits for it: see ``Kernel``."""
        return self.kernel._launch(self, arguments, options)

    def start(self, *arguments: Any, **options: Any) -> Run:
        """Begins a launch that advances step by step: see ``Run``. Options of reports and sanitizers are errors."""
        return self.kernel._start(self, arguments, options)


class Kernel:
    """A kernel of a module. ``kernel[grid, block](*arguments, **options)`` runs it and waits for its end.

    grid and block are numbers, or tuples of up to three; ``kernel[grid, block, n]`` has n bytes of dynamic shared memory.

    An argument for a pointer is a NumPy array, an object of DLPack on the CPU, an object with Python's buffer protocol, a
    ``Buffer``, an address, or None. Kernels use the array's own memory: there is no copy, every access is checked against the
    bounds of the array, and a store to a read-only array is a fault. Other arguments are numbers, which are checked against
    the parameter's type, or bytes for structures.

    The options are:

    mode: "vector", "affine" or "check": how instructions execute. check compares both ways.
    engine: "auto", "portable" or "native".
    policy: the value policy, such as "kim".
    reconverge: the reconvergence policy, such as "stack" or "its:8".
    asynchronous: "late" or "early": when asynchronous effects happen.
    workers: host threads; results do not depend on it.
    steps: instructions that a warp may execute before a ``Trap``.
    time_limit: seconds, or a text such as "5m"; 0 is no limit.
    warp: lanes of a warp: 1, 2, 4, 8, 16, 32 or 64.
    seed: number of another schedule of the warps.
    sm: compute capability, such as "9.0": tensor cores add as those of such a device.
    structure: count the value structure for ``Result.structure``.
    profile: count executions, divergence and memory accesses for ``Result.profile``.
    record: True, or some of "results", "accesses", "memory", "stack", "source", or "all": for ``Result.recording``.
    regfile: models of register files, such as "kim", for ``Result.models``.
    machine: machines, such as "v100", for ``Result.machines``.
    sanitize: some of "race", "init", "bounds", "sync", or "all".
    findings: "raise" raises ``SanitizerError`` if sanitizers find errors; "return" only returns them in ``Result.findings``.

    Ctrl-C stops a launch of the main thread.
    """

    def __init__(self, module: "Module", described: Dict[str, Any], types: Optional[List[Optional[_types.CType]]]) -> None:
        self._module = module
        self.name: str = described["name"]  #: name in the PTX
        self._described = described
        self._handle = ctypes.c_uint64()
        _library.call("gemu_get_kernel", module._handle, self.name.encode(), ctypes.byref(self._handle))
        if types is None:
            _, types = _types.demangle(self.name)
        self._set_types(types)

    def _set_types(self, types: Optional[Sequence[Optional[_types.CType]]]) -> None:
        described = self._described["parameters"]
        if types is None or len(types) != len(described):
            types = [None] * len(described)
        fit = [t if t and (8 if t.pointer else t.dtype.itemsize) == d["size"] else None for t, d in zip(types, described)]  # type: ignore[union-attr]
        self.parameters: List[Parameter] = [Parameter(i, d, t) for i, (d, t) in enumerate(zip(described, fit))]

    def declare(self, parameters: str) -> "Kernel":
        """States the types of the parameters as in C, such as ``"int n, float a, const float *x, float *y"``, so that the types
        of arrays are checked. PTX does not have them; kernels of CUDA C++ have them already. Returns the kernel."""
        types = _types.parse_declaration(parameters)
        if len(types) != len(self.parameters):
            raise ValueError(f"kernel {self.name} has {len(self.parameters)} parameters, and the declaration has {len(types)}")
        for t, p in zip(types, self.parameters):
            size = 0 if t is None else 8 if t.pointer else t.dtype.itemsize  # type: ignore[union-attr]
            if t is not None and size != p.size:
                raise ValueError(f"parameter {p.index} ({p.name}) of kernel {self.name} has {p.size} bytes, and {t.name} has {size}")
        self._set_types(types)
        return self

    def __repr__(self) -> str:
        return f"<gemu.Kernel {self.name}({', '.join(p._shown_type() for p in self.parameters)})>"

    def __getitem__(self, extents: Any) -> Launcher:
        if not isinstance(extents, tuple) or not 2 <= len(extents) <= 3:
            raise TypeError(f"kernel {self.name}: want kernel[grid, block] or kernel[grid, block, shared_bytes]")
        shared = operator.index(extents[2]) if len(extents) == 3 else 0
        if not 0 <= shared < 1 << 32:
            raise ValueError(f"dynamic shared memory of {shared} bytes")
        return Launcher(self, _extents("grid", extents[0]), _extents("block", extents[1]), shared)

    def __call__(self, *_: Any, **__: Any) -> Result:
        raise TypeError(f"kernel {self.name} needs a grid and a block: kernel[grid, block](...)")

    def _prepare(self, arguments: Sequence[Any], options: Dict[str, Any]) -> "Tuple[Chosen, Shares, List[Union[bytes, np.ndarray]]]":
        """Checks the arguments and the options of a launch."""
        chosen = Chosen(options)
        if len(arguments) != len(self.parameters):
            names = ", ".join(f"{p._shown_type()} {p.name}" for p in self.parameters)
            raise TypeError(f"kernel {self.name} has {len(self.parameters)} parameters ({names}), and {len(arguments)} arguments are given")
        shares = Shares()
        values: List[Union[bytes, np.ndarray]] = []
        for p, argument in zip(self.parameters, arguments):
            if isinstance(argument, Buffer) and argument.freed:
                raise ValueError(f"{p._what()}: the buffer was freed")
            a = as_array(argument) if not isinstance(argument, (np.generic, bytes)) else None
            if a is None or p.dims or p.size > 8:
                values.append(p.convert(argument))
                continue
            p.convert_array(a)
            shares.add(a, p._what())
            values.append(a)
        return chosen, shares, values

    def _launch(self, launcher: Launcher, arguments: Sequence[Any], options: Dict[str, Any]) -> Result:
        chosen, shares, values = self._prepare(arguments, options)
        return _interrupt.run(lambda call: self._run(launcher, shares, values, chosen, call))

    def _start(self, launcher: Launcher, arguments: Sequence[Any], options: Dict[str, Any]) -> Run:
        chosen, shares, values = self._prepare(arguments, options)

        def start(call: _interrupt.Call) -> int:
            call.check()
            run = ctypes.c_uint64()
            params, _kept = self._params(launcher, shares, values)
            _library.call("gemu_start_with", ctypes.byref(params), chosen.text.encode(), ctypes.byref(run))
            return run.value

        _interrupt.run(lambda _: shares.open(), lambda _: shares.close())
        try:
            return Run(lambda: _interrupt.run(start, stop_run), shares, self._module, [v for v in values if not isinstance(v, bytes)])
        except BaseException:
            shares.close(wait=False)
            raise

    def _params(self, launcher: Launcher, shares: Shares, values: "List[Union[bytes, np.ndarray]]") -> "Tuple[_library.LaunchParams, Any]":
        """The parameters of a launch, and the objects that must live as long as they."""
        data = [v if isinstance(v, bytes) else shares.address(v).to_bytes(8, "little") for v in values]
        buffers = [ctypes.create_string_buffer(d, max(len(d), 1)) for d in data]
        pointers = (ctypes.c_void_p * max(len(data), 1))(*[ctypes.addressof(b) for b in buffers])
        params = _library.LaunchParams(
            self._handle, (ctypes.c_uint32 * 3)(*launcher.grid), (ctypes.c_uint32 * 3)(*launcher.block), launcher.shared, pointers, None, None
        )
        return params, (buffers, pointers)

    def _run(self, launcher: Launcher, shares: Shares, values: "List[Union[bytes, np.ndarray]]", chosen: Chosen, call: _interrupt.Call) -> Result:
        counts, outcome = _library.Counts(), ctypes.c_uint64()
        reports: Optional[Reports] = None
        try:
            shares.open()
            params, _kept = self._params(launcher, shares, values)
            text = f"{chosen.text} id={call.number}"
            call.check()
            try:
                _library.call("gemu_launch_with", ctypes.byref(params), text.encode(), ctypes.byref(counts), ctypes.byref(outcome))
            finally:
                if outcome.value:  # also of a launch that was stopped
                    reports = Reports(outcome.value, chosen.names)
        except Trap as trap:
            if reports:
                trap.result = result_of(counts, reports)
                trap.findings = trap.result.findings
            raise
        finally:
            shares.close()
        result = result_of(counts, reports)
        if chosen.findings == "raise" and any(f.severity == "error" for f in result.findings):
            raise SanitizerError(result)
        return result


class Variable:
    """A .global or .const variable of a module."""

    def __init__(self, module: "Module", described: Dict[str, Any]) -> None:
        self._module = module
        self.name: str = described["name"]  #: name in the PTX
        self.type: str = described["type"]  #: type in the PTX, or that of the elements, such as "f32"
        self.shape: Tuple[int, ...] = tuple(described.get("dims") or ())  #: extents of an array
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        _library.call("gemu_get_variable", module._handle, self.name.encode(), ctypes.byref(address), ctypes.byref(size))
        self.address: int = address.value  #: address on the device
        self.nbytes: int = size.value  #: size in bytes
        kind = self.type[0]
        bits = re.fullmatch(r"[a-z](8|16|32|64)", self.type)
        self.dtype = np.dtype(f"{'u' if kind == 'b' else 'i' if kind == 's' else kind}{int(bits.group(1)) // 8}") if bits and kind in "bsuf" else np.dtype(np.uint8)
        if self.nbytes != self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64)):
            self.dtype, self.shape = np.dtype(np.uint8), (self.nbytes,)

    def __repr__(self) -> str:
        return f"<gemu.Variable {self.name}: {self.shape} of {self.dtype} at {self.address:#x}>"

    def get(self, dtype: Any = None) -> np.ndarray:
        """A copy of the contents. With dtype the bytes are elements of another type, as an array with one dimension: compilers
        of CUDA C++ declare arrays as bytes."""
        a = np.empty(self.shape, self.dtype)
        if a.nbytes:
            _interrupt.run(lambda _: _library.call("gemu_copy_out", a.ctypes.data, self.address, a.nbytes))
        return a if dtype is None else np.frombuffer(a.tobytes(), dtype).copy()

    def set(self, value: Any) -> None:
        """Stores new contents: an array of the same size in bytes, or a number for all elements."""
        a = np.asarray(value)
        if a.nbytes != self.nbytes:
            if a.ndim != 0 or self.type.startswith("b"):
                raise ValueError(f"variable {self.name} has {self.nbytes} bytes, and the value has {a.nbytes} ({a.dtype})")
            a = np.full(self.shape, value, self.dtype)
        a = np.ascontiguousarray(a)
        if a.nbytes:
            _interrupt.run(lambda _: _library.call("gemu_copy_in", self.address, a.ctypes.data, a.nbytes))


class Module:
    """A module of PTX: its kernels are attributes, such as ``module.saxpy``. ``load``, ``load_ptx`` and ``load_cuda`` make modules.

    A kernel of C++ also has its name without scopes and parameters, if no other kernel has this name.
    """

    def __init__(self, ptx: Union[str, bytes], name: str = "", types: Optional[Dict[str, List[Optional[_types.CType]]]] = None, messages: str = "") -> None:
        text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
        if not text:
            raise CallError("the PTX is empty")

        def load_text(_: _interrupt.Call) -> int:
            handle = ctypes.c_uint64()
            _library.call("gemu_load_named", _library.encode(name, "name") if name else None, text, len(text), ctypes.byref(handle))
            return handle.value

        self._handle: int = _interrupt.run(load_text, unload_later)
        weakref.finalize(self, unload_later, self._handle).atexit = False
        described = _library.call_for_json("gemu_describe", self._handle)
        self.name: str = described["name"]  #: name in messages
        self.ptx: str = _library.decode(text)  #: the text
        self.messages = messages  #: warnings of the compiler of CUDA C++
        self.kernels: Dict[str, Kernel] = {}  #: by their names in the PTX, in the order of the source
        self.variables: Dict[str, Variable] = {v["name"]: Variable(self, v) for v in described["variables"]}  #: by name
        self._short: Dict[str, List[str]] = {}
        types = types or {}
        for k in described["kernels"]:
            short, _ = _types.demangle(k["name"])
            self._short.setdefault(short, []).append(k["name"])
            self.kernels[k["name"]] = Kernel(self, k, types.get(k["name"]))

    def __getitem__(self, name: str) -> Kernel:
        if name in self.kernels:
            return self.kernels[name]
        names = self._short.get(name, [])
        if len(names) == 1:
            return self.kernels[names[0]]
        if names:
            raise KeyError(f"{self.name} has {len(names)} kernels {name}: {', '.join(names)}")
        raise KeyError(f"{self.name} has no kernel {name}: it has {', '.join(self.kernels) or 'none'}")

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or "kernels" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(e.args[0]) from None

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels.values())

    def __len__(self) -> int:
        return len(self.kernels)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._short]

    def __repr__(self) -> str:
        return f"<gemu.Module {self.name} with {', '.join(self.kernels) or 'no kernels'}>"


def load_ptx(text: Union[str, bytes], name: str = "") -> Module:
    """A module of a text of PTX. name is its name in messages; without a name it has one made from a hash of the text."""
    return Module(text, name)


def load_cuda(source: str, name: str = "kernel.cu", arguments: Sequence[str] = (), keep_branches: bool = False) -> Module:
    """A module of a text of CUDA C++: see ``load``. name is its name in messages."""
    with tempfile.TemporaryDirectory(prefix="gemu-") as directory:
        path = Path(directory) / "kernel.cu"
        path.write_text(f"#line 1 {json.dumps(name)}\n{source}", encoding="utf-8")
        return _load_cuda(str(path), source, name, arguments, keep_branches)


def _load_cuda(path: str, source: str, name: str, arguments: Sequence[str], keep_branches: bool) -> Module:
    ptx, messages = _library.compile_cuda(path, list(arguments), keep_branches)
    return Module(ptx, name + ".ptx", _types.declarations(source), messages)


def load(file: "Union[str, os.PathLike[str]]", arguments: Sequence[str] = (), keep_branches: bool = False) -> Module:
    """A module of a file of PTX, or of CUDA C++ if the name ends in .cu or .cuh.

    CUDA C++ is compiled by nvcc or clang, whichever is on the path; clang needs no CUDA toolkit. arguments are further
    arguments of the compiler, such as ``["-DN=8"]``. With keep_branches the PTX has the branches of the source, where
    optimisations would replace small ones (only clang).
    """
    path = os.fspath(file)
    if path.endswith((".cu", ".cuh")):
        with open(path, encoding="utf-8", errors="replace") as f:
            source = f.read()
        return _load_cuda(path, source, path, arguments, keep_branches)
    if arguments or keep_branches:
        raise ValueError(f"{path} is not CUDA C++ (.cu), so nothing is compiled: arguments and keep_branches have no meaning")
    with open(path, "rb") as f:
        return Module(f.read(), path)
