"""Arrays on the device for Triton's launcher, which needs only the address and type of an argument;
usually PyTorch supplies them. The arrays are in managed memory of libcuda.so.1, visible to numpy,
too."""

import ctypes

import numpy

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuMemAllocManaged.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_uint]
cuda.cuMemFree_v2.argtypes = [ctypes.c_void_p]
ATTACH_GLOBAL = 1


def check(status, what):
    if status:
        raise RuntimeError(f"{what}: status {status}")


context = ctypes.c_void_p()
check(cuda.cuInit(0), "cuInit")
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "cuDevicePrimaryCtxRetain")
check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")


class Type(str):
    """A type of elements by Triton's name for it."""

    @property
    def itemsize(self):
        return TYPES[self].itemsize


TYPES = {n: numpy.dtype(t) for n, t in {"fp16": "f2", "fp32": "f4", "fp64": "f8", "i8": "i1", "i32": "i4", "i64": "i8", "u64": "u8"}.items()}
NAMES = {t: Type(n) for n, t in TYPES.items()}


class Array:
    """An array on the device with the contents of a numpy array."""

    def __init__(self, values):
        values = numpy.asarray(values)
        self.address = ctypes.c_void_p()
        check(cuda.cuMemAllocManaged(ctypes.byref(self.address), max(values.nbytes, 1), ATTACH_GLOBAL), "cuMemAllocManaged")
        room = (ctypes.c_char * values.nbytes).from_address(self.address.value)
        self.memory = numpy.frombuffer(room, values.dtype).reshape(values.shape)
        self.memory[...] = values
        self.dtype, self.shape = NAMES[values.dtype], values.shape

    def __del__(self):
        cuda.cuMemFree_v2(self.address)

    def data_ptr(self):
        return self.address.value

    def stride(self, axis=None):
        strides = [s // self.memory.itemsize for s in self.memory.strides]
        return strides if axis is None else strides[axis]

    @property
    def host(self):
        """What it holds when all kernels have ended."""
        check(cuda.cuCtxSynchronize(), "cuCtxSynchronize")
        return self.memory.copy()


def empty(shape, dtype):
    """An array for results of kernels; it is filled with NaN."""
    return Array(numpy.full(shape, numpy.nan if numpy.dtype(dtype).kind == "f" else -1, dtype))
