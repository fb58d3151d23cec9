"""Memory that kernels and NumPy share."""

from __future__ import annotations

import collections
import ctypes
import threading
import weakref
from typing import Any, Deque, Dict, List, Optional, Tuple

import numpy as np

from . import _interrupt, _library
from ._errors import CallError

__all__ = ["Buffer", "array", "share", "zeros"]

_ALIGNMENT = 16  # of gemu_share

# Memory and modules to take from the device: the function of the library that does so, its argument, and the arrays that own the
# memory. They live until the device no longer has it. While a Run is open, the functions fail.
_to_free: Deque[Tuple[Any, int, Any]] = collections.deque()

_flushing = threading.RLock()


def flush(wait: bool = True) -> None:
    """Takes memory and modules from the device that are to be freed. With wait it waits for launches of other threads."""
    if _library.forked or not _flushing.acquire(blocking=wait):
        return
    try:
        while _to_free:
            try:
                release, handle, arrays = _to_free.popleft()
            except IndexError:  # a finalizer within this loop has freed it
                return
            if release(handle) != 0:
                _to_free.appendleft((release, handle, arrays))
                return
    finally:
        _flushing.release()


def flush_if_idle() -> None:
    """``flush`` that does not wait, for finalizers. During a call of the device there is nothing to do: a later ``flush`` follows."""
    if not _interrupt.active:
        flush(wait=False)


def unload_later(handle: int) -> None:
    """Unloads a module, in a finalizer."""
    _to_free.append((_library.lib.gemu_unload, handle, None))
    flush_if_idle()


def _free_later(address: int, arrays: Any) -> None:
    """Frees memory, in a finalizer. It belongs to the arrays."""
    _to_free.append((_library.lib.gemu_free, address, arrays))
    flush_if_idle()


def span_of(a: np.ndarray) -> Tuple[int, int]:
    """The addresses of the first byte and of the end of an array."""
    begin = a.__array_interface__["data"][0]
    return begin, begin + a.nbytes


def share_span(begin: int, end: int, writable: bool, name: str) -> Tuple[int, int]:
    """Shares memory of the host. Returns the address of its first byte on the device, and the address to free."""
    start = begin - begin % _ALIGNMENT  # in the same page
    address = ctypes.c_uint64()
    flags = 0 if writable else _library.READ_ONLY
    _library.call("gemu_share", start, end - start, flags, _library.encode(name, "name") if name else None, ctypes.byref(address))
    return address.value + begin - start, address.value


def as_array(value: Any) -> Optional[np.ndarray]:
    """The array that shares its memory with a value: a NumPy array, an object of DLPack on the CPU, or one with Python's
    buffer protocol. None if the value is none of them."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        kind = int(value.__dlpack_device__()[0])
        if kind not in (1, 3, 11, 13):  # CPU, and pinned and managed memory of the host
            raise ValueError(f"{type(value).__name__} is on a device (DLPack device type {kind}): move it to the CPU first")
        return _from_dlpack(value)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if isinstance(value, (bytearray, memoryview)) or type(value).__module__ == "array" or isinstance(value, ctypes.Array):
        return np.asarray(value) if not isinstance(value, bytearray) else np.frombuffer(value, np.uint8)
    return None


def _from_dlpack(value: Any) -> np.ndarray:
    """The array of an object of DLPack. NumPy marks it as read-only if the object does not say otherwise; then the buffer
    is taken as writable if its owner lets NumPy write to it in another way."""
    a = np.from_dlpack(value)
    if not a.flags.writeable and hasattr(value, "numpy"):  # such as torch.Tensor
        try:
            other = value.numpy()
        except Exception:
            return a
        if isinstance(other, np.ndarray) and span_of(other) == span_of(a):
            return other
    return a


def check_array(a: np.ndarray, what: str) -> None:
    """Raises an exception for an array that a kernel cannot use."""
    if a.dtype.hasobject:
        raise TypeError(f"{what}: an array of {a.dtype} has Python objects, which kernels cannot read")
    if not a.dtype.isnative:
        raise TypeError(f"{what}: the byte order of {a.dtype} is not that of kernels: use x.astype(x.dtype.newbyteorder('='))")
    if not (a.flags.c_contiguous or a.flags.f_contiguous):
        raise ValueError(
            f"{what}: the array is not contiguous (shape {a.shape}, strides {a.strides}): a kernel gets the address of its first "
            "byte and no strides. Pass numpy.ascontiguousarray(x), or the whole array"
        )


class Buffer:
    """Memory that kernels and NumPy share, at the same device address until it is freed.

    ``share``, ``zeros`` and ``array`` make buffers. A NumPy array that is an argument of a kernel needs no buffer: it is
    shared during the launch. A buffer is for addresses that stay the same over several launches, such as pointers that a
    kernel stores.
    """

    def __init__(self, array: np.ndarray, name: str = "") -> None:
        check_array(array, "the array")
        if array.nbytes == 0:
            raise ValueError("a buffer of 0 bytes")
        self._array = array

        def share(call: _interrupt.Call) -> Tuple[int, int]:
            flush()
            call.check()
            return share_span(*span_of(array), array.flags.writeable, name)

        self._address, base = _interrupt.run(share, lambda shared: _free_later(shared[1], array))
        self._finalizer = weakref.finalize(self, _free_later, base, array)
        self._finalizer.atexit = False
        with _lock:
            _buffers[id(self)] = self

    @property
    def address(self) -> int:
        """The address on the device, also after the buffer was freed."""
        return self._address

    @property
    def freed(self) -> bool:
        """Whether the buffer was freed."""
        return not self._finalizer.alive

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        return self._array.dtype

    @property
    def shape(self) -> Tuple[int, ...]:
        """The extents."""
        return self._array.shape

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return self._array.nbytes

    def numpy(self) -> np.ndarray:
        """The array that shares the memory. It stays valid after the buffer was freed."""
        return self._array

    def free(self) -> None:
        """Takes the memory from the device: a kernel that still uses the address traps. The array stays valid. While a ``Run`` is
        open, its launch still has the memory, until the run ends."""
        detached = self._finalizer.detach()
        if detached and not _library.forked:
            _to_free.append((_library.lib.gemu_free, *detached[2]))
            _interrupt.run(lambda _: flush())

    def __enter__(self) -> "Buffer":
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray:
        if dtype is None or np.dtype(dtype) == self.dtype:
            return self._array.copy() if copy else self._array
        return self._array.astype(dtype)

    def __dlpack__(self, **arguments: Any) -> Any:
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Tuple[int, int]:
        return self._array.__dlpack_device__()

    def __repr__(self) -> str:
        return f"<gemu.Buffer {self.shape} of {self.dtype} at {self._address:#x}{', freed' if self.freed else ''}>"


_lock = threading.Lock()
_buffers: "weakref.WeakValueDictionary[int, Buffer]" = weakref.WeakValueDictionary()  # in the order of their creation


def live_buffers() -> List[Buffer]:
    """The buffers that were not freed."""
    with _lock:
        return [b for b in _buffers.values() if not b.freed]


def find_buffer(begin: int, end: int) -> Optional[Buffer]:
    """The live buffer that contains a range of addresses of the host."""
    for b in live_buffers():
        first, last = span_of(b._array)
        if first <= begin and end <= last:
            return b
    return None


def share(value: Any, name: str = "") -> Buffer:
    """A buffer over the memory of an array, without a copy.

    value is a NumPy array, an object of DLPack on the CPU (such as a tensor of PyTorch), or one with Python's buffer
    protocol. name is the name of the memory in messages. The bytes count as memory of the device, of which the environment
    variable GEMU_MEMORY sets the size (16 GiB): more is ``OutOfMemory``.
    """
    a = as_array(value)
    if a is None:
        raise TypeError(f"cannot share {type(value).__name__}: want a NumPy array, an object of DLPack, or a buffer")
    return Buffer(a, name)


def zeros(shape: Any, dtype: Any = np.float32, name: str = "") -> Buffer:
    """A buffer of zeros."""
    return Buffer(np.zeros(shape, dtype), name)


def array(value: Any, dtype: Any = None, name: str = "") -> Buffer:
    """A buffer with a copy of an array or a list."""
    return Buffer(np.array(value, dtype, order="C"), name)


def _alias(name: str, other: str) -> ValueError:
    """The error of a read-only array whose memory a kernel could change through another argument."""
    return ValueError(f"{name} is read-only, and {other} has the same memory and is writable: pass a copy, or the writable array")


class Shares:
    """The memory of a launch's arrays on the device, for the time of the launch."""

    def __init__(self) -> None:
        self._arrays: List[Tuple[np.ndarray, str]] = []
        self._shared: List[Tuple[int, int, int, int]] = []  # addresses of the begin and end on the host, of the begin on the device, and to free

    def add(self, a: np.ndarray, name: str) -> None:
        """Adds an array, which must be contiguous."""
        self._arrays.append((a, name))

    def open(self) -> None:
        """Shares all arrays. Arrays that overlap are shared as one, so that sanitizers see that they do."""
        flush()
        spans: List[Tuple[int, int, int]] = []  # begin, end, index of the array
        for i, (a, name) in enumerate(self._arrays):
            begin, end = span_of(a)
            if begin == end:
                continue
            buffer = find_buffer(begin, end)
            if buffer is None:
                spans.append((begin, end, i))
            elif buffer.numpy().flags.writeable and not a.flags.writeable:
                raise _alias(name, f"{buffer!r}")
        groups: List[Tuple[int, int, List[int]]] = []  # begin, end, indices of the arrays
        for begin, end, i in sorted(spans):
            if groups and begin < groups[-1][1]:
                first, last, members = groups.pop()
                begin, end, members = first, max(last, end), [*members, i]
            else:
                members = [i]
            groups.append((begin, end, members))
        groups.sort(key=lambda g: min(g[2]))  # the addresses follow the arguments, not the host
        try:
            for begin, end, members in groups:
                writable = self._writable(members)
                address, base = share_span(begin, end, writable, " and ".join(self._arrays[i][1] for i in members))
                self._shared.append((begin, end, address, base))
        except BaseException:
            self.close()
            raise

    def _writable(self, members: List[int]) -> bool:
        """Whether the arrays with these indices, which overlap, are writable: all of them or none."""
        writable = [self._arrays[i][1] for i in members if self._arrays[i][0].flags.writeable]
        if writable and len(writable) < len(members):
            readonly = [self._arrays[i][1] for i in members if not self._arrays[i][0].flags.writeable]
            raise _alias(" and ".join(readonly), " and ".join(writable))
        return bool(writable)

    def address(self, a: np.ndarray) -> int:
        """The device address of an array; 0 for an array without elements."""
        begin, end = span_of(a)
        if begin == end:
            return 0
        buffer = find_buffer(begin, end)
        if buffer is not None:
            return buffer.address + begin - span_of(buffer._array)[0]
        for first, last, address, _ in self._shared:
            if first <= begin and end <= last:
                return address + begin - first
        raise CallError("an array of the launch was not shared")

    def close(self, wait: bool = True) -> None:
        """Takes the memory from the device, and what else is to be freed. Without wait, it does so now only if the device is idle."""
        _to_free.extend((_library.lib.gemu_free, base, self._arrays) for *_, base in self._shared)
        self._shared = []
        if wait:
            flush()
        else:
            flush_if_idle()
