"""Launches: arguments, memory, options and results."""

import array
import ctypes

import numpy as np
import pytest

import gemu
from conftest import PTX

MODES = ["vector", "affine", "check"]


@pytest.mark.parametrize("mode", MODES)
def test_saxpy(module, x, y, mode):
    result = module.saxpy[4, 32](100, 2.0, x, y, mode=mode)
    assert (y == 2 * x + 1).all()
    # Four warps execute 18 instructions. The return of 28 lanes is no branch.
    assert result.warp_instructions == 72
    assert result.branches == 0 and result.divergent_branches == 0
    assert 0 < result.active_lanes_mean <= 32


def test_memory_is_shared_without_a_copy(module):
    a = np.zeros(10, np.float32)
    one = np.ones(10, np.float32)
    view = a[1:9]
    module.saxpy[1, 32](8, 3.0, one[:8], view)
    assert a.tolist() == [0] + [3] * 8 + [0]
    module.saxpy[1, 32](5, 1.0, a[:5], a[5:])  # two parts of an array
    assert a.tolist() == [0, 3, 3, 3, 3, 3, 6, 6, 6, 3]


def test_overlapping_arrays_are_the_same_memory(module):
    a = np.arange(8, dtype=np.float32)
    module.saxpy[1, 1](1, 10.0, a[3:4], a[2:5])
    assert a.tolist() == [0, 1, 32, 3, 4, 5, 6, 7]


def test_addresses_do_not_depend_on_the_host():
    def addresses():
        m = gemu.load_ptx(PTX_ADDRESSES)
        out = np.zeros(2, np.uint64)
        other = np.zeros(1000, np.float32)
        m.place[1, 1](other, out)
        return int(out[1] - out[0])

    # 4000 bytes and a gap of at least 256, at multiples of 512: 9 * 512 (the design page of memory).
    first = addresses()
    keep = [np.zeros(n) for n in (3, 50, 700)]
    assert addresses() == first == 4608 and len(keep) == 3


PTX_ADDRESSES = """.version 7.8
.target sm_80
.address_size 64
.visible .entry place(.param .u64 x, .param .u64 out)
{
	.reg .u64 %rd<3>;
	ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [out]; st.global.u64 [%rd1], %rd0; st.global.u64 [%rd1+8], %rd1;
	ret;
}
"""


def test_kinds_of_memory(module, x):
    for make in (
        lambda: array.array("f", [1] * 100),
        lambda: memoryview(array.array("f", [1] * 100)),
        lambda: (ctypes.c_float * 100)(*[1] * 100),
        lambda: np.ones((10, 10), np.float32, order="F"),
        lambda: gemu.array([1] * 100, np.float32),
        lambda: gemu.share(np.ones(100, np.float32)),
    ):
        memory = make()
        module.saxpy[4, 32](100, 2.0, x, memory)
        assert (np.asarray(memory).ravel(order="K") == 2 * x + 1).all()
    raw = bytearray(4 * 100)
    module.saxpy[4, 32](100, 1.0, x, raw)
    assert np.frombuffer(raw, np.float32).tolist() == x.tolist()


class OnlyDLPack:
    """An object that has nothing but DLPack, as a tensor of another library."""

    def __init__(self, a, device=(1, 0)):
        self.a, self.device = a, device

    def __dlpack__(self, **arguments):
        return self.a.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device


def test_dlpack(module, x, y):
    buffer = gemu.share(y)
    exported = np.from_dlpack(buffer)
    assert exported.ctypes.data == y.ctypes.data
    module.saxpy[4, 32](100, 2.0, OnlyDLPack(x), buffer)
    assert (y == 2 * x + 1).all()
    with pytest.raises(ValueError, match="move it to the CPU"):
        module.saxpy[4, 32](100, 2.0, OnlyDLPack(x, (2, 0)), y)


def test_buffers_keep_their_address(module):
    place, value = gemu.zeros(1, np.uint64), gemu.zeros(4, np.uint32, name="value")
    module.store[1, 1](place, value)
    module.follow[1, 1](place)
    assert place[0] == value.address and value[0] == 7
    assert gemu.share(value.numpy()).address != value.address
    module.store[1, 1](place, value.numpy()[2:])  # a part of the buffer has an address in the buffer
    assert place[0] == value.address + 8
    value.free()
    assert value.freed and value.numpy()[0] == 7
    with pytest.raises(gemu.Trap, match="which has been freed") as e:
        module.follow[1, 1](place)
    assert "buffer value " in str(e.value) and e.value.address == value.address + 8
    with pytest.raises(ValueError, match="argument 1 .value.: the buffer was freed"):
        module.store[1, 1](place, value)
    value.free()  # has no effect


def test_variables(module):
    w = module.variables["weights"]
    assert w.shape == (2, 3) and w.dtype == np.float32 and (w.get() == 0).all()
    w.set(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert w.get().tolist() == [[0, 1, 2], [3, 4, 5]]
    w.set(2)
    assert (w.get() == 2).all() and w.get("u4")[0] == 0x40000000
    with pytest.raises(ValueError, match="24 bytes"):
        w.set([1, 2])


class Pair(ctypes.Structure):
    _fields_ = [("a", ctypes.c_int32), ("b", ctypes.c_float)]


def test_structures_and_halves(module):
    out = np.zeros(1, np.float32)
    record = np.array([(4, 0.25)], dtype=[("a", "i4"), ("b", "f4")])
    for pair, half, want in ((Pair(3, 0.5), np.float16(2), 5.5), (record[0], np.float16(-1), 3.25), (record, 0x3C00, 5.25), (bytes(8), np.float16(1), 1)):
        module.sum[1, 1](pair, half, out)
        assert out[0] == want


def test_options(module, x, y):
    # Seven of eight warps have work; the last one ends after 10 instructions.
    assert module.saxpy[4, 32](100, 2.0, x, y, warp=16).warp_instructions == 7 * 18 + 10
    with gemu.options(warp=64, mode="check"):
        a = module.saxpy[2, 64](128 - 28, 2.0, x, y)
        b = module.saxpy[2, 64](128 - 28, 2.0, x, y, warp=32)
    assert (a.warp_instructions, b.warp_instructions) == (2 * 18, 4 * 18)
    for seed in (1, 2):
        module.saxpy[4, 32](100, 0.0, x, y, seed=seed, workers=1, engine="portable", reconverge="its:8", asynchronous="early")


@pytest.mark.parametrize(
    "options, kind, message",
    [
        ({"moed": "check"}, TypeError, "did you mean mode"),
        ({"nothing": 1}, TypeError, "want some of mode, engine"),
        ({"mode": "fast"}, gemu.CallError, "want vector, affine or check"),
        ({"mode": "check warp=8"}, ValueError, "without spaces"),
        ({"mode": 3}, TypeError, "want a string"),
        ({"warp": 3}, ValueError, "want 1, 2, 4"),
        ({"warp": 2.5}, TypeError, "integer"),
        ({"workers": True}, TypeError, "integer"),
        ({"profile": 1}, TypeError, "True or False"),
        ({"sanitize": ["race", "nothing"]}, ValueError, "unknown sanitizer"),
        ({"sanitize": 5}, TypeError, "list of names"),
        ({"time_limit": -1}, ValueError, "want seconds"),
        ({"time_limit": "soon"}, ValueError, "time_limit=soon"),
        ({"findings": "print"}, ValueError, "'raise' or 'return'"),
        ({"id": 3}, TypeError, "unknown launch option id"),
    ],
)
def test_wrong_options(module, x, y, options, kind, message):
    with pytest.raises(kind, match=message):
        module.saxpy[4, 32](100, 2.0, x, y, **options)
    assert (y == 1).all()


@pytest.mark.parametrize(
    "arguments, kind, message",
    [
        (lambda x, y: (100, 2.0, x), TypeError, "has 4 parameters .*and 3 arguments"),
        (lambda x, y: (1.5, 2.0, x, y), TypeError, "argument 0 .n. is .u32, not float"),
        (lambda x, y: (1 << 32, 2.0, x, y), OverflowError, "outside -2147483648 to 4294967295"),
        (lambda x, y: (np.float32(1), 2.0, x, y), TypeError, "want an integer"),
        (lambda x, y: (100, "2", x, y), TypeError, "want a real number"),
        (lambda x, y: (100, 1e300, x, y), OverflowError, "too large"),
        (lambda x, y: (100, 2j, x, y), TypeError, "want a real number"),
        (lambda x, y: (100, 2.0, [1, 2], y), TypeError, "want an integer, an array or None"),
        (lambda x, y: (100, 2.0, x[::2], y), ValueError, "not contiguous"),
        (lambda x, y: (100, x, x, y), TypeError, "passed by value"),
        (lambda x, y: (None, 2.0, x, y), TypeError, "null pointer"),
        (lambda x, y: (100, 2.0, x.astype(">f4"), y), TypeError, "byte order"),
        (lambda x, y: (100, 2.0, x.astype(object), y), TypeError, "Python objects"),
    ],
)
def test_wrong_arguments(module, x, y, arguments, kind, message):
    with pytest.raises(kind, match=message):
        module.saxpy[4, 32](*arguments(x, y))
    assert (y == 1).all()


def test_declared_types(x, y):
    saxpy = gemu.load_ptx(PTX).saxpy.declare("unsigned n, float a, const float *__restrict__ x, float *y")
    saxpy[4, 32](100, 2.0, x, y)
    for arguments, message in (((100, 2.0, x.astype("f8"), y), "want an array of float32"), ((-1, 2.0, x, y), "outside 0 to"), ((100, 2.0, x.view("u4"), y), "float32")):
        with pytest.raises((TypeError, OverflowError), match=message):
            saxpy[4, 32](*arguments)
    for declaration, message in (("int n", "has 4 parameters"), ("int n, double a, float *x, float *y", "has 4 bytes, and double has 8")):
        with pytest.raises(ValueError, match=message):
            saxpy.declare(declaration)


@pytest.mark.parametrize(
    "extents, kind, message",
    [
        ((0, 1), ValueError, "grid 0"),
        ((1, 0), ValueError, "block 0"),
        ((1 << 31, 1), ValueError, "too large"),
        ((1 << 40, 1), ValueError, "grid"),
        ((1, 2000), ValueError, "at most 1024 threads"),
        (((1, 2, 3, 4), 1), ValueError, "2 or 3 numbers"),
        ((1.5, 1), TypeError, "integers"),
        ((1, 1, -1), ValueError, "shared memory"),
        ((1, 1, 1 << 30), ValueError, "dynamic shared memory"),
        (1, TypeError, "grid, block"),
    ],
)
def test_wrong_extents(module, x, y, extents, kind, message):
    with pytest.raises(kind, match=message):
        module.saxpy[extents](100, 2.0, x, y)


def test_a_huge_grid_ends_at_a_limit(module, x, y):
    with pytest.raises(gemu.Trap) as e:
        module.saxpy[(1 << 31) - 1, 1024](100, 2.0, x, y, time_limit=0.2)
    assert "time limit" in e.value.fault


def test_modules():
    m = gemu.load_ptx(PTX_ADDRESSES, "addresses.ptx")
    assert m.name == "addresses.ptx" and list(m.kernels) == ["place"] and len(m) == 1 and "place" in dir(m)
    assert m["place"] is m.place and "place" in repr(m)
    with pytest.raises(AttributeError, match="no kernel plaice: it has place"):
        m.plaice
    with pytest.raises(TypeError, match="needs a grid and a block"):
        m.place(1, 2)
    assert [p.type for p in m.place.parameters] == ["u64", "u64"]


def test_dynamic_shared_memory(module, x, y):
    """A launch can have all shared memory of the device: 99 KiB at compute capability 8.6 (CUDA C++ Programming Guide)."""
    module.saxpy[1, 1, 99 << 10](1, 1.0, x, y)
    with pytest.raises(gemu.CallError, match="the device has 101376 for a block"):
        module.saxpy[1, 1, (99 << 10) + 1](1, 1.0, x, y)


def test_arrays_that_overlap(module, x, y):
    """Their bounds are those of all of them together, and those of a view of a buffer are the buffer's: see docs/python.md."""
    module.saxpy[1, 64](50, 1.0, x[:10], x[:50])
    with pytest.raises(gemu.Trap):
        module.saxpy[1, 64](51, 1.0, x[:10], x[:50])
    with gemu.array(y) as buffer:
        module.saxpy[1, 64](50, 1.0, x, buffer[:10])
    view = x.view()
    view.flags.writeable = False
    before = x.copy()
    for arguments in ((view, x), (x, view), (view[:20], x[10:])):
        with pytest.raises(ValueError, match="is read-only, and .* has the same memory and is writable"):
            module.saxpy[1, 32](4, 2.0, *arguments)
    with gemu.share(x) as shared, pytest.raises(ValueError, match="is read-only, and <gemu.Buffer"):
        module.saxpy[1, 32](4, 2.0, y, view)
    assert (x == before).all() and shared.freed
    module.saxpy[1, 32](4, 2.0, view, y)


def test_short_time_limit(module):
    with pytest.raises(gemu.Trap, match="time limit"):
        module.endless[1, 1](np.zeros(1, np.uint32), time_limit=1e-10, steps=1 << 32)


def test_null_characters(module, x):
    with pytest.raises(ValueError, match="null character"):
        gemu.load_ptx(".version 7.8", "a\0b")
    with pytest.raises(ValueError, match="null character"):
        gemu.share(x, "a\0b")
    with pytest.raises(ValueError, match="null character"):
        module.saxpy[1, 1](0, 1.0, x, x, policy="kim\0")
    with pytest.raises(ValueError, match="null character"):
        gemu.load_cuda("", arguments=["-DN=1\0"])


def test_large_extents(module):
    with pytest.raises(ValueError, match="from 1 to 2147483647 for x"):
        module.saxpy[1 << 40, 1]
    with pytest.raises(ValueError, match="from 1 to 1024 for x"):
        module.saxpy[1, 0]
