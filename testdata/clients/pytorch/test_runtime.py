"""The functions of PyTorch that need only the CUDA runtime: devices, memory, copies, streams,
events; and its errors for its own kernels, which are machine code."""

import pytest
import torch


def test_device():
    assert torch.cuda.is_available()
    properties = torch.cuda.get_device_properties(0)
    assert properties.name == "gemu"
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability()
    assert properties.warp_size == 32


@pytest.mark.parametrize("type", [torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64])
def test_copies(type):
    a = (torch.arange(3000).reshape(30, 100) % 2).to(type)
    b = a.cuda()
    assert b.is_cuda and b.dtype == type
    assert torch.equal(b.cpu(), a)
    c = torch.empty_like(b)
    c.copy_(b)
    assert torch.equal(c.cpu(), a)


def test_views_are_copied():
    a = torch.arange(3000.0).reshape(30, 100)
    assert torch.equal(a.cuda()[3:7].cpu(), a[3:7])
    assert torch.equal(a.cuda().t().cpu(), a.t())


def test_pinned_memory_and_streams():
    a = torch.arange(1000.0).pin_memory()
    stream = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(stream):
        start.record()
        b = a.to("cuda", non_blocking=True)
        end.record()
    stream.synchronize()
    assert start.elapsed_time(end) >= 0
    assert torch.equal(b.cpu(), a)


def test_memory_is_counted():
    before = torch.cuda.memory_allocated()
    a = torch.empty(1 << 20, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4 << 20
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total
    del a
    assert torch.cuda.memory_allocated() == before


def test_kernels_of_machine_code_are_refused():
    a = torch.ones(10).cuda()
    with pytest.raises(RuntimeError, match="no kernel image is available"):
        a + a
    assert torch.equal(a.cpu(), torch.ones(10))  # and the context continues
