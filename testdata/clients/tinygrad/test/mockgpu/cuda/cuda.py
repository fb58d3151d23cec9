"""The driver API that tinygrad's mock GPU wants, over ptx_run: device memory is the
process's own, and everything happens at once."""

import ctypes
import os
import time

from tinygrad.runtime.autogen.cuda import *  # noqa: F401,F403

gemu = ctypes.CDLL(os.environ["OCELOT_PATH"])
memory, modules, events = {}, {}, {}


def put(pointer, value):
    pointer._obj.value = value
    return 0


def number(x):
    return x if isinstance(x, int) else x.value or 0


def nothing(*args):
    return 0


cuInit = cuCtxSetCurrent = cuCtxSynchronize = cuCtxEnablePeerAccess = cuFuncSetAttribute = nothing
cuStreamWaitEvent = cuEventSynchronize = cuEventDestroy_v2 = cuModuleUnload = nothing


def cuDeviceGet(device, ordinal):
    return put(device, ordinal)


def cuCtxCreate_v2(context, flags, device):
    return put(context, 1)


def cuDeviceComputeCapability(major, minor, device):
    return put(major, 8) or put(minor, 0)


def cuDeviceCanAccessPeer(can, device, peer):
    return put(can, 1)


def cuMemAlloc_v2(pointer, size):
    buffer = ctypes.create_string_buffer(size + 64)
    address = (ctypes.addressof(buffer) + 63) // 64 * 64
    memory[address] = buffer
    return put(pointer, address)


def cuMemHostAlloc(pointer, size, flags):
    return cuMemAlloc_v2(pointer, size)


def cuMemFree_v2(pointer):
    del memory[number(pointer)]
    return 0


cuMemFreeHost = cuMemFree_v2


def cuMemcpyDtoH_v2(to, source, size):
    ctypes.memmove(number(to), number(source), size)
    return 0


def cuMemcpyHtoDAsync_v2(to, source, size, stream):
    return cuMemcpyDtoH_v2(to, source, size)


cuMemcpyDtoDAsync_v2 = cuMemcpyHtoDAsync_v2


def cuEventCreate(event, flags):
    return put(event, len(events) + 1)


def cuEventRecord(event, stream):
    events[event.value] = time.perf_counter()
    return 0


def cuEventElapsedTime(ms, start, end):
    return put(ms, 1e3 * (events[end.value] - events[start.value]))


def cuModuleLoadData(module, image):
    modules[len(modules) + 1] = ctypes.create_string_buffer(bytes(image))
    return put(module, len(modules))


def cuModuleGetFunction(function, module, name):
    return put(function, ctypes.addressof(modules[module.value]))


def cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra):
    fields = getattr(extra, "_real_fields_", None) or extra._fields_  # the first since version 0.13
    values = [number(getattr(extra, name)) & (1 << 64) - 1 for name, *_ in fields]
    args = (ctypes.c_void_p * len(values))(*values)
    return gemu.ptx_run(ctypes.c_void_p(f.value), len(values), args, bx, by, bz, gx, gy, gz, 0)


def cuGetErrorString(error, text):
    text._obj.contents = ctypes.c_char(b"?")
    return 0
