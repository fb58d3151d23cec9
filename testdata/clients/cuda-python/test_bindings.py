"""cuda.bindings.driver: the functions of the driver API, called as the CUDA documentation has them."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
__constant__ int table[4] = {1, 2, 3, 4};
"""


def call(result):
    """The values of a call that has to succeed."""
    status, *values = result
    assert int(status) == 0, status
    return values[0] if len(values) == 1 else tuple(values)


def ptx(source=SOURCE, *options):
    program = call(nvrtc.nvrtcCreateProgram(source, b"test.cu", 0, [], []))
    options = [b"--gpu-architecture=compute_80", *options]
    call(nvrtc.nvrtcCompileProgram(program, len(options), options))
    text = b" " * call(nvrtc.nvrtcGetPTXSize(program))
    call(nvrtc.nvrtcGetPTX(program, text))
    call(nvrtc.nvrtcDestroyProgram(program))
    return text


@pytest.fixture(scope="module", autouse=True)
def context():
    call(driver.cuInit(0))
    device = call(driver.cuDeviceGet(0))
    ctx = call(driver.cuDevicePrimaryCtxRetain(device))
    call(driver.cuCtxSetCurrent(ctx))
    yield device
    call(driver.cuDevicePrimaryCtxRelease(device))


def test_device_attributes(context):
    for attribute in driver.CUdevice_attribute:
        if attribute != driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX:
            call(driver.cuDeviceGetAttribute(attribute, context))
    assert call(driver.cuDeviceGetName(20, context)).rstrip(b"\0") == b"gemu"
    assert call(driver.cuDeviceTotalMem(context)) > 0
    assert len(call(driver.cuDeviceGetUuid(context)).bytes) == 16


def test_errors(context):
    assert driver.cuDeviceGet(100)[0] == driver.CUresult.CUDA_ERROR_INVALID_DEVICE
    for result in driver.CUresult:
        assert call(driver.cuGetErrorName(result)) == result.name.encode()
        assert call(driver.cuGetErrorString(result))


def test_launch(context):
    module = call(driver.cuModuleLoadData(ptx()))
    kernel = call(driver.cuModuleGetFunction(module, b"scale"))
    x = np.arange(1000, dtype=np.float32)
    memory = call(driver.cuMemAlloc(x.nbytes))
    call(driver.cuMemcpyHtoD(memory, x.ctypes.data, x.nbytes))
    args = ((memory, np.float32(3), np.int32(1000)), (None, ctypes.c_float, ctypes.c_int))
    call(driver.cuLaunchKernel(kernel, 4, 1, 1, 256, 1, 1, 0, 0, args, 0))
    got = np.empty_like(x)
    call(driver.cuMemcpyDtoH(got.ctypes.data, memory, x.nbytes))
    np.testing.assert_array_equal(got, 3 * x)
    for attribute in driver.CUfunction_attribute:
        if attribute != driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX:
            call(driver.cuFuncGetAttribute(attribute, kernel))
    call(driver.cuMemFree(memory))
    call(driver.cuModuleUnload(module))


def test_global(context):
    module = call(driver.cuModuleLoadData(ptx(SOURCE + b"__device__ int *keep = table;")))
    pointer, size = call(driver.cuModuleGetGlobal(module, b"table"))
    got = np.empty(4, np.int32)
    call(driver.cuMemcpyDtoH(got.ctypes.data, pointer, size))
    assert size == 16 and got.tolist() == [1, 2, 3, 4]
    call(driver.cuModuleUnload(module))


def test_library(context):
    library = call(driver.cuLibraryLoadData(ptx(), [], [], 0, [], [], 0))
    kernel = call(driver.cuLibraryGetKernel(library, b"scale"))
    assert call(driver.cuLibraryGetKernelCount(library)) == 1
    assert call(driver.cuKernelGetParamInfo(kernel, 1)) == (8, 4)
    call(driver.cuLibraryUnload(library))


def test_linker_log(context):
    log = bytearray(2000)
    options = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    link = call(driver.cuLinkCreate(2, options, [log, len(log)]))
    text = b".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { nonsense; }\0"
    status = driver.cuLinkAddData(link, driver.CUjitInputType.CU_JIT_INPUT_PTX, text, len(text), b"bad", 0, [], [])[0]
    assert status == driver.CUresult.CUDA_ERROR_INVALID_PTX
    call(driver.cuLinkDestroy(link))
    assert b"nonsense" in log


def test_virtual_memory(context):
    properties = driver.CUmemAllocationProp()
    properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    properties.location.id = 0
    size = call(driver.cuMemGetAllocationGranularity(properties, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
    reserved = call(driver.cuMemAddressReserve(2 * size, 0, 0, 0))
    access = driver.CUmemAccessDesc()
    access.location = properties.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    for i in range(2):
        memory = call(driver.cuMemCreate(size, properties, 0))
        call(driver.cuMemMap(int(reserved) + i * size, size, 0, memory, 0))
        call(driver.cuMemRelease(memory))
    call(driver.cuMemSetAccess(reserved, 2 * size, [access], 1))
    x = np.arange(2 * size // 4, dtype=np.uint32)
    call(driver.cuMemcpyHtoD(reserved, x.ctypes.data, x.nbytes))
    got = np.empty_like(x)
    call(driver.cuMemcpyDtoH(got.ctypes.data, reserved, x.nbytes))
    np.testing.assert_array_equal(got, x)
    call(driver.cuMemUnmap(reserved, 2 * size))
    call(driver.cuMemAddressFree(reserved, 2 * size))


def test_memory_operations(context):
    a, b = (call(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
    memory = call(driver.cuMemAlloc(16))
    call(driver.cuStreamWaitValue32(a, memory, 5, driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ))
    call(driver.cuStreamWriteValue64(a, int(memory) + 8, 1 << 40, 0))
    assert driver.cuStreamQuery(a)[0] == driver.CUresult.CUDA_ERROR_NOT_READY
    call(driver.cuStreamWriteValue32(b, memory, 5, 0))
    call(driver.cuStreamSynchronize(a))
    got = np.empty(2, np.uint64)
    call(driver.cuMemcpyDtoH(got.ctypes.data, memory, 16))
    assert got.tolist() == [5, 1 << 40]
    call(driver.cuMemFree(memory))


def test_pointer_attributes(context):
    memory = call(driver.cuMemAlloc(1000))
    names = driver.CUpointer_attribute
    wanted = [names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, names.CU_POINTER_ATTRIBUTE_RANGE_SIZE, names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
    kind, size, ordinal = call(driver.cuPointerGetAttributes(len(wanted), wanted, int(memory) + 10))
    assert (int(kind), int(size), int(ordinal)) == (2, 1000, 0)
    call(driver.cuMemFree(memory))


def test_graph(context):
    x = call(driver.cuMemAlloc(400))
    graph = call(driver.cuGraphCreate(0))
    fill = driver.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = x, 7, 4, 100, 1
    call(driver.cuGraphAddMemsetNode(graph, [], 0, fill, call(driver.cuCtxGetCurrent())))
    executable = call(driver.cuGraphInstantiate(graph, 0))
    call(driver.cuGraphLaunch(executable, 0))
    got = np.empty(100, np.uint32)
    call(driver.cuMemcpyDtoH(got.ctypes.data, x, 400))
    assert (got == 7).all()
    call(driver.cuGraphExecDestroy(executable))
    call(driver.cuGraphDestroy(graph))
    call(driver.cuMemFree(x))


def test_ipc(context):
    memory = call(driver.cuMemAlloc(1000))
    call(driver.cuIpcGetMemHandle(memory))
    call(driver.cuMemFree(memory))
