"""Arrays on the device, over the driver API alone: cuTile accepts any object with the CUDA array
interface."""

import ctypes

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise RuntimeError(f"CUDA error {status}")


check(cuda.cuInit(0))
context = ctypes.c_void_p()
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))


class Array:
    """A copy of an array of the host on the device. It is never freed."""

    def __init__(self, host):
        host = np.ascontiguousarray(host)
        self.shape, self.dtype, address = host.shape, host.dtype, ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(host.nbytes)))
        self.address = address.value
        check(cuda.cuMemcpyHtoD_v2(address, host.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(host.nbytes)))

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3, "strides": None}

    def get(self):
        """A copy on the host, once all launches have ended."""
        host = np.empty(self.shape, self.dtype)
        check(cuda.cuCtxSynchronize())
        check(cuda.cuMemcpyDtoH_v2(host.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(self.address), ctypes.c_size_t(host.nbytes)))
        return host
