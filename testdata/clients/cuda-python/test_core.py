"""cuda.core: a test or more for each of its parts."""

import numpy as np
import pytest
from cuda.core import (
    Buffer, Device, DeviceMemoryResource, DeviceMemoryResourceOptions, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions,
    ManagedMemoryResource, ObjectCode, PinnedMemoryResource, Program, ProgramOptions, StreamOptions, VirtualMemoryResource, VirtualMemoryResourceOptions, launch,
)
from cuda.core.graph import GraphDefinition

SOURCE = r"""
template <typename T> __global__ void add(const T *a, const T *b, T *c, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
extern "C" __global__ void one_more(int *x) { x[threadIdx.x]++; }
"""


@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    return device.create_stream()


def compiled(names=("one_more",)):
    options = ProgramOptions(std="c++17", arch="compute_80")
    return Program(SOURCE, code_type="c++", options=options).compile("ptx", name_expressions=names)


def array(buffer, dtype, n):
    """A view of memory that the host reaches."""
    return np.from_dlpack(buffer).view(dtype)[:n]


def test_device(device):
    assert device.name == "gemu" and device.compute_capability == (8, 6)
    for name in dir(device.properties):
        if not name.startswith("_"):
            getattr(device.properties, name)
    assert device.uuid


def test_bus(device):
    assert device.pci_bus_id


def test_launch(device, stream):
    kernel = compiled(("add<float>",)).get_kernel("add<float>")
    memory = LegacyPinnedMemoryResource()
    a, b, c = (memory.allocate(4000, stream=stream) for _ in range(3))
    x, y, z = (array(m, np.float32, 1000) for m in (a, b, c))
    x[:], y[:], z[:] = np.arange(1000), 0.5, 0
    launch(stream, LaunchConfig(grid=4, block=256), kernel, a, b, c, np.uint64(1000))
    stream.sync()
    np.testing.assert_array_equal(z, np.arange(1000) + 0.5)


def test_kernel(device):
    kernel = compiled().get_kernel("one_more")
    assert kernel.num_arguments == 1 and kernel.arguments_info[0].size == 8
    assert kernel.attributes.max_threads_per_block == 1024
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0) > 0


def test_program_log():
    with pytest.raises(Exception, match="nonsense"):
        Program("nonsense", code_type="c++", options=ProgramOptions(arch="compute_80")).compile("ptx")


def test_ptx_program(device, stream):
    text = compiled().code.decode()
    assert ObjectCode.from_ptx(text.encode()).get_kernel("one_more")


def test_linker(device):
    caller = 'extern "C" { __device__ int f(int); __global__ void k(int *x) { *x = f(*x); } }'
    callee = 'extern "C" __device__ int f(int x) { return x + 1; }'
    options = ProgramOptions(relocatable_device_code=True, arch="compute_80")
    parts = [Program(s, code_type="c++", options=options).compile("ptx") for s in (caller, callee)]
    assert Linker(*parts, options=LinkerOptions(arch="sm_86")).link("cubin").get_kernel("k")


def test_events(device, stream):
    begin, end = (device.create_event(options=EventOptions(timing_enabled=True)) for _ in range(2))
    stream.record(begin)
    stream.record(end)
    end.sync()
    assert end.is_done and end - begin >= 0
    other = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
    other.wait(end)
    other.wait(stream)
    other.sync()


@pytest.mark.parametrize("kind", ["device", "pinned", "managed", "legacy", "virtual"])
def test_memory(device, stream, kind):
    memory = {
        "device": lambda: DeviceMemoryResource(0), "pinned": PinnedMemoryResource, "managed": ManagedMemoryResource,
        "legacy": LegacyPinnedMemoryResource, "virtual": lambda: VirtualMemoryResource(device),
    }[kind]()
    host = LegacyPinnedMemoryResource()
    a, b = (m.allocate(2 << 20, stream=stream) for m in (memory, host))
    x = array(b, np.uint32, 1 << 19)
    a.fill(np.uint32(7), stream=stream)
    a.copy_to(b, stream=stream)
    stream.sync()
    assert (x == 7).all()
    a.close(stream)
    stream.sync()


def test_memory_pool(device, stream):
    pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=1 << 22))
    buffer = pool.allocate(1 << 20, stream=stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 1 << 20
    buffer.close(stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 0


def test_virtual_memory_grows(device, stream):
    memory = VirtualMemoryResource(device, VirtualMemoryResourceOptions())
    buffer = memory.allocate(2 << 20, stream=stream)
    buffer.fill(np.uint32(5), stream=stream)
    stream.sync()
    grown = memory.modify_allocation(buffer, 4 << 20)
    host = LegacyPinnedMemoryResource().allocate(4 << 20, stream=stream)
    Buffer.from_handle(grown.handle, 4 << 20).copy_to(host, stream=stream)
    stream.sync()
    x = array(host, np.uint32, 1 << 20)
    assert (x[: 1 << 19] == 5).all() and (x[1 << 19 :] == 0).all()


def test_shared_pool(device, stream):
    pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions(ipc_enabled=True))
    assert pool.is_ipc_enabled


def test_graph_builder(device, stream):
    kernel = compiled().get_kernel("one_more")
    buffer = LegacyPinnedMemoryResource().allocate(4 * 32, stream=stream)
    x = array(buffer, np.int32, 32)
    x[:] = 0
    builder = device.create_graph_builder().begin_building()
    for _ in range(3):
        launch(builder, LaunchConfig(grid=1, block=32), kernel, buffer)
    left, right = builder.split(2)
    launch(left, LaunchConfig(grid=1, block=16), kernel, buffer)
    builder = left.join(left, right)
    graph = builder.end_building().complete()
    graph.upload(stream)
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [8] * 16 + [6] * 16


def test_graph_callback(device, stream):
    called = []
    builder = device.create_graph_builder().begin_building()
    builder.callback(lambda: called.append(1))
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert called == [1]


def test_graph_definition(device, stream):
    kernel = compiled().get_kernel("one_more")
    buffer = LegacyPinnedMemoryResource().allocate(4 * 32, stream=stream)
    x = array(buffer, np.int32, 32)
    graph = GraphDefinition()
    first = graph.memset(buffer, np.uint32(5), 32)
    first.launch(LaunchConfig(grid=1, block=32), kernel, buffer)
    assert len(graph.nodes()) == 2 and len(graph.edges()) == 1
    graph.instantiate().launch(stream)
    stream.sync()
    assert (x == 6).all()


def test_graph_events(device, stream):
    event = device.create_event()
    graph = GraphDefinition()
    graph.record(event)
    graph.instantiate().launch(stream)
    event.sync()


def test_graph_memory(device, stream):
    kernel = compiled().get_kernel("one_more")
    buffer = LegacyPinnedMemoryResource().allocate(4 * 32, stream=stream)
    x = array(buffer, np.int32, 32)
    graph = GraphDefinition()
    node = graph.allocate(4 * 32)
    filled = node.memset(node.dptr, np.uint32(5), 32).launch(LaunchConfig(grid=1, block=32), kernel, node.dptr)
    filled.memcpy(buffer, node.dptr, 4 * 32).deallocate(node.dptr)
    graph.instantiate().launch(stream)
    stream.sync()
    assert (x == 6).all()


def test_graph_condition(device, stream):
    buffer = LegacyPinnedMemoryResource().allocate(4 * 4, stream=stream)
    x = array(buffer, np.int32, 4)
    x[:] = 0
    graph = GraphDefinition()
    for i, value in enumerate((0, 1)):
        node = graph.if_else(graph.create_condition(default_value=value))
        node.then.memset(x[i:].ctypes.data, np.uint32(1), 1)
        node.else_.memset(x[i:].ctypes.data, np.uint32(2), 1)
    node = graph.switch(graph.create_condition(default_value=1), 2)
    for i, branch in enumerate(node.branches):
        branch.memset(x[2 + i :].ctypes.data, np.uint32(3), 1)
    graph.instantiate().launch(stream)
    stream.sync()
    assert x.tolist() == [2, 1, 0, 3]


def test_graph_print(device, stream, tmp_path):
    graph = GraphDefinition()
    graph.empty()
    graph.debug_dot_print(str(tmp_path / "graph.dot"))
    assert "digraph" in (tmp_path / "graph.dot").read_text()
