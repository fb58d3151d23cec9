"""Programs in Triton, on the subjects of its tutorials 1 to 8 and with the sizes that they check, with references in numpy.
A file of tests for each device imports them."""

import os

import numpy
import pytest
import triton
import triton.language as tl
from device import Array, empty
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

MAJOR, MINOR = map(int, os.environ["GEMU_SM"].split("."))  # of the device
MAPS = MAJOR >= 9  # it has tensor maps
PRODUCT = {7: "fma.rn.f32", 9: "wgmma.mma_async"}.get(MAJOR, "mma.sync")  # instructions that Triton uses for products
ROOMY = MAJOR >= 8  # it has more than 64 KiB of shared memory for a block


@pytest.fixture(autouse=True)
def chance():
    """Random numbers that are the same in every run."""
    return numpy.random.default_rng(1)


def test_device():
    target = triton.runtime.driver.active.get_current_target()
    assert (target.backend, target.arch) == ("cuda", MAJOR * 10 + MINOR)


# 1: vectors.


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def test_vector_add(chance):
    n = 98432
    x, y, out = Array(chance.random(n, "f4")), Array(chance.random(n, "f4")), empty(n, "f4")
    kernel = add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    assert (out.host == x.host + y.host).all()
    assert kernel.n_regs > 0 and kernel.n_spills == 0
    assert kernel.asm["cubin"].startswith(b"\x7fELF")


# 2: softmax of rows, by as many programs as the device has room for.


@triton.jit
def softmax(out, x, x_stride, out_stride, rows, columns, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        values = tl.load(x + row * x_stride + at, mask=at < columns, other=-float("inf"))
        e = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + at, e / tl.sum(e, axis=0), mask=at < columns)


def test_softmax(chance):
    rows, columns = 1823, 781
    x, out = Array(chance.standard_normal((rows, columns), "f4")), empty((rows, columns), "f4")
    block = triton.next_power_of_2(columns)
    kernel = softmax.warmup(out, x, x.stride(0), out.stride(0), rows, columns, BLOCK=block, STAGES=4, num_warps=8, grid=(1,))
    kernel._init_handles()
    device = triton.runtime.driver.active.utils.get_device_properties(0)
    resident = min(65536 // (kernel.n_regs * 32 * 8), device["max_shared_mem"] // max(kernel.metadata.shared, 1))
    programs = min(device["multiprocessor_count"] * resident, rows)
    softmax[(programs, 1, 1)](out, x, x.stride(0), out.stride(0), rows, columns, BLOCK=block, STAGES=4, num_warps=8)
    e = numpy.exp(x.host - x.host.max(1, keepdims=True))
    numpy.testing.assert_allclose(out.host, e / e.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


# 3: product of matrices, in groups of rows, with a function of the result.


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(a, b, c, m, n, k, a_row, a_column, b_row, b_column, c_row, c_column,
           M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr, EIGHT: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(m, M), tl.cdiv(n, N)
    group = pid // (GROUP * tiles_n)
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    tile_m = first + pid % (GROUP * tiles_n) % size
    tile_n = pid % (GROUP * tiles_n) // size
    rows = (tile_m * M + tl.arange(0, M)) % m
    columns = (tile_n * N + tl.arange(0, N)) % n
    inner = tl.arange(0, K)
    at_a = a + rows[:, None] * a_row + inner[None, :] * a_column
    at_b = b + inner[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, tl.cdiv(k, K)):
        x = tl.load(at_a, mask=inner[None, :] < k - i * K, other=0)
        y = tl.load(at_b, mask=inner[:, None] < k - i * K, other=0)
        if EIGHT:
            x = x.to(tl.float8e5, bitcast=True)
            y = y.to(tl.float8e5, bitcast=True)
        total = tl.dot(x, y, total)
        at_a += K * a_column
        at_b += K * b_row
    if ACTIVATION == "leaky_relu":
        total = leaky_relu(total)
    rows = tile_m * M + tl.arange(0, M)
    columns = tile_n * N + tl.arange(0, N)
    tl.store(c + c_row * rows[:, None] + c_column * columns[None, :], total.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


# The shapes of tiles from which the tutorial chooses by time: rows, columns, inner, stages, warps.
TILES = [(128, 256, 64, 3, 8), (64, 256, 32, 4, 4), (128, 128, 32, 4, 4), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (128, 32, 32, 4, 4), (64, 32, 32, 5, 2), (32, 64, 32, 5, 2)]


@pytest.mark.parametrize("m, n, k, stages, warps", TILES)
def test_matmul(chance, m, n, k, stages, warps):
    size = 512
    a, b = (Array(chance.standard_normal((size, size)).astype("f2")) for _ in range(2))
    c = empty((size, size), "f2")
    matmul[(triton.cdiv(size, m) * triton.cdiv(size, n),)](
        a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride(),
        M=m, N=n, K=k, GROUP=8, ACTIVATION="", EIGHT=False, num_stages=stages, num_warps=warps)
    numpy.testing.assert_allclose(c.host.astype("f4"), a.host.astype("f4") @ b.host.astype("f4"), rtol=2e-3, atol=1e-2)


def test_matmul_odd_sizes_and_activation(chance):
    m, n, k = 300, 210, 155
    a, b = Array(chance.standard_normal((m, k)).astype("f2")), Array(chance.standard_normal((n, k)).astype("f2"))  # b is transposed
    c = empty((m, n), "f2")
    matmul[(triton.cdiv(m, 64) * triton.cdiv(n, 64),)](
        a, b, c, m, n, k, *a.stride(), *reversed(b.stride()), *c.stride(),
        M=64, N=64, K=32, GROUP=3, ACTIVATION="leaky_relu", EIGHT=False)
    want = a.host.astype("f4") @ b.host.astype("f4").T
    numpy.testing.assert_allclose(c.host.astype("f4"), numpy.where(want >= 0, want, 0.01 * want), rtol=2e-3, atol=1e-2)


def test_matmul_of_eight_bits(chance):
    size = 256
    numbers = [chance.standard_normal((size, size)).astype("f2").view("u2") & 0xFF00 for _ in range(2)]  # e5m2 is half of .f16
    a, b = (Array((x >> 8).astype("u1").view("i1")) for x in numbers)
    x, y = (x.astype("u2").view("f2").astype("f4") for x in numbers)
    c = empty((size, size), "f2")
    matmul[(16,)](a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride(), M=64, N=64, K=64, GROUP=8, ACTIVATION="", EIGHT=True)
    numpy.testing.assert_allclose(c.host.astype("f4"), x @ y, rtol=2e-3, atol=2e-2)


@triton.jit
def matmul_by_maps(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        total = tl.dot(a.load([row, i]), b.load([column, i]).T, total)
    c.store([row, column], total.to(tl.float16))


def test_matmul_by_descriptors(chance):
    """Tensor maps where the device has them; elsewhere Triton makes loads and stores of them."""
    m, n, k = 256, 192, 320
    a, b, c = Array(chance.standard_normal((m, k)).astype("f2")), Array(chance.standard_normal((n, k)).astype("f2")), empty((m, n), "f2")
    views = [TensorDescriptor(x, list(x.shape), x.stride(), block) for x, block in ((a, [64, 64]), (b, [64, 64]), (c, [64, 64]))]
    kernel = matmul_by_maps[(m // 64, n // 64)](*views, k, M=64, N=64, K=64, num_stages=3)
    assert ("cp.async.bulk.tensor" in kernel.asm["ptx"]) == MAPS and PRODUCT in kernel.asm["ptx"]
    numpy.testing.assert_allclose(c.host.astype("f4"), a.host.astype("f4") @ b.host.astype("f4").T, rtol=2e-3, atol=1e-2)


# 4: dropout with random numbers that are not stored.


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(tl.rand(seed, at) > p, values / (1 - p), 0.0), mask=at < n)


def philox(seed, counter):
    """The first of the four numbers of Philox4x32-10 (Salmon and others, 2011), for counters (counter, 0, 0, 0)."""
    low = numpy.uint64(0xFFFFFFFF)
    c = [counter.astype("u8")] + [numpy.zeros_like(counter, "u8")] * 3
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        p, q = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [(q >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(key[0]), q & low, (p >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(key[1]), p & low]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype("u4")


@pytest.mark.parametrize("seed", [123, 512])
def test_dropout(chance, seed):
    n, p = 10_000, 0.5
    x, out = Array(chance.standard_normal(n, "f4")), empty(n, "f4")
    dropout[(triton.cdiv(n, 1024),)](x, out, n, p, seed, BLOCK=1024)
    bits = philox(seed, numpy.arange(n)).view("i4").astype("i8")
    chances = numpy.where(bits < 0, -bits - 1, bits).astype("f4") * numpy.float32(4.6566127342e-10)
    numpy.testing.assert_allclose(out.host, numpy.where(chances > p, x.host / (1 - p), 0), rtol=1e-6)


# 5: normalisation of layers, with its gradient, for which programs share rows under locks.


@triton.jit
def norm(x, y, w, b, means, scales, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        total += tl.load(x + at, mask=at < n, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        d = tl.where(at < n, tl.load(x + at, mask=at < n, other=0.0).to(tl.float32) - mean, 0.0)
        squares += d * d
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(means + row, mean)
    tl.store(scales + row, scale)
    for off in range(0, n, BLOCK):
        at = off + tl.arange(0, BLOCK)
        inside = at < n
        value = (tl.load(x + at, mask=inside, other=0.0).to(tl.float32) - mean) * scale
        tl.store(y + at, value * tl.load(w + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def norm_gradient(dx, dy, dw, db, x, w, means, scales, locks, stride, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    mine = row % GROUP
    lock, count = locks + mine, locks + GROUP + mine
    values = tl.load(x + row * stride + at, mask=inside, other=0).to(tl.float32)
    d = tl.load(dy + row * stride + at, mask=inside, other=0).to(tl.float32)
    weight = tl.load(w + at, mask=inside).to(tl.float32)
    scale = tl.load(scales + row)
    unit = tl.where(inside, (values - tl.load(means + row)) * scale, 0.0)
    wd = tl.where(inside, weight * d, 0.0)
    tl.store(dx + row * stride + at, (wd - (unit * (tl.sum(unit * wd, axis=0) / n) + tl.sum(wd, axis=0) / n)) * scale, mask=inside)
    part_w, part_b = d * unit, d
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        part_w += tl.load(dw + mine * n + at, mask=inside)
        part_b += tl.load(db + mine * n + at, mask=inside)
    tl.store(dw + mine * n + at, part_w, mask=inside)
    tl.store(db + mine * n + at, part_b, mask=inside)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def column_sums(parts_w, parts_b, w, b, m, n, M: tl.constexpr, N: tl.constexpr):
    columns = tl.program_id(0) * N + tl.arange(0, N)
    total_w, total_b = tl.zeros((M, N), dtype=tl.float32), tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, m, M):
        rows = i + tl.arange(0, M)
        inside = (rows[:, None] < m) & (columns[None, :] < n)
        total_w += tl.load(parts_w + rows[:, None] * n + columns[None, :], mask=inside, other=0.0)
        total_b += tl.load(parts_b + rows[:, None] * n + columns[None, :], mask=inside, other=0.0)
    tl.store(w + columns, tl.sum(total_w, axis=0), mask=columns < n)
    tl.store(b + columns, tl.sum(total_b, axis=0), mask=columns < n)


def test_layer_norm(chance):
    m, n, eps, group = 1151, 8192, 1e-5, 96
    x = Array((-2.3 + 0.5 * chance.standard_normal((m, n))).astype("f2"))
    w, b = Array(chance.random(n).astype("f2")), Array(chance.random(n).astype("f2"))
    y, means, scales = empty((m, n), "f2"), empty(m, "f4"), empty(m, "f4")
    norm[(m,)](x, y, w, b, means, scales, n, n, eps, BLOCK=8192, num_warps=8)
    wide, weight = x.host.astype("f4"), w.host.astype("f4")
    scale = 1 / numpy.sqrt(wide.var(1, keepdims=True) + eps)
    unit = (wide - wide.mean(1, keepdims=True)) * scale
    numpy.testing.assert_allclose(y.host.astype("f4"), unit * weight + b.host.astype("f4"), rtol=2e-3, atol=1e-2)

    dy = Array((0.1 * chance.standard_normal((m, n))).astype("f2"))
    dx, parts_w, parts_b, dw, db = empty((m, n), "f2"), empty((group, n), "f4"), empty((group, n), "f4"), empty(n, "f4"), empty(n, "f4")
    locks = Array(numpy.zeros(2 * group, "i4"))
    norm_gradient[(m,)](dx, dy, parts_w, parts_b, x, w, means, scales, locks, n, n, GROUP=group, BLOCK=8192, num_warps=8)
    column_sums[(triton.cdiv(n, 128),)](parts_w, parts_b, dw, db, group, n, M=32, N=128)
    d = dy.host.astype("f4")
    wd = weight * d
    want = (wd - (unit * (unit * wd).mean(1, keepdims=True) + wd.mean(1, keepdims=True))) * scale
    numpy.testing.assert_allclose(dx.host.astype("f4"), want, rtol=2e-3, atol=2e-3)
    numpy.testing.assert_allclose(dw.host, (d * unit).sum(0), rtol=1e-3, atol=1e-2)
    numpy.testing.assert_allclose(db.host, d.sum(0), rtol=1e-3, atol=1e-2)


# 6: attention with a softmax in between, and its gradient. By descriptors: tensor maps, if the device has them.


@triton.jit
def attention(q, k, v, out, sums, scale, length, CAUSAL: tl.constexpr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    start, head = tl.program_id(0) * M, tl.program_id(1)
    rows = start + tl.arange(0, M)
    query = q.load([head * length + start, 0])
    most = tl.full([M], -float("inf"), dtype=tl.float32)
    total = tl.zeros([M], dtype=tl.float32)
    result = tl.zeros([M, D], dtype=tl.float32)
    scale *= 1.44269504  # 1 / ln 2
    end = start + M if CAUSAL else length
    for i in range(0, end, N):
        i = tl.multiple_of(i, N)
        key = k.load([head * length + i, 0])
        s = tl.dot(query, key.T) * scale
        if CAUSAL:
            s += tl.where(rows[:, None] >= i + tl.arange(0, N)[None, :], 0, -1.0e6)
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - now[:, None])
        shrink = tl.math.exp2(most - now)
        total = total * shrink + tl.sum(p, 1)
        result = tl.dot(p.to(tl.float16), v.load([head * length + i, 0]), result * shrink[:, None])
        most = now
    tl.store(sums + head * length + rows, most + tl.math.log2(total))
    out.store([head * length + start, 0], (result / total[:, None]).to(tl.float16))


@triton.jit
def attention_gradient(q, k, v, d_out, sums, deltas, dq, dk, dv, scale, length, CAUSAL: tl.constexpr, B: tl.constexpr, D: tl.constexpr):
    """A block of keys and values, over all queries; the gradient of queries is added up by all."""
    start, head = tl.program_id(0) * B, tl.program_id(1)
    columns, depth = start + tl.arange(0, B), tl.arange(0, D)
    base = head * length * D
    key = tl.load(k + base + columns[:, None] * D + depth[None, :])
    value = tl.load(v + base + columns[:, None] * D + depth[None, :])
    d_key, d_value = tl.zeros([B, D], dtype=tl.float32), tl.zeros([B, D], dtype=tl.float32)
    first = start if CAUSAL else 0
    for i in range(first, length, B):
        rows = i + tl.arange(0, B)
        at = base + rows[:, None] * D + depth[None, :]
        query, d = tl.load(q + at), tl.load(d_out + at)
        p = tl.math.exp2(tl.dot(query, tl.trans(key)) * (scale * 1.44269504) - tl.load(sums + head * length + rows)[:, None])
        if CAUSAL:
            p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
        d_value = tl.dot(tl.trans(p.to(tl.float16)), d, d_value)
        ds = (p * (tl.dot(d, tl.trans(value)) - tl.load(deltas + head * length + rows)[:, None])).to(tl.float16)
        d_key = tl.dot(tl.trans(ds), query, d_key)
        tl.atomic_add(dq + at, tl.dot(ds, key) * scale)
    at = base + columns[:, None] * D + depth[None, :]
    tl.store(dk + at, (d_key * scale).to(tl.float16))
    tl.store(dv + at, d_value.to(tl.float16))


@pytest.mark.parametrize("causal", [True, False])
def test_attention(chance, causal):
    heads, length, depth, scale = 2, 1024, 64, 0.5
    q, k, v, d_out = (Array((0.5 * chance.standard_normal((heads * length, depth))).astype("f2")) for _ in range(4))
    out, sums = empty((heads * length, depth), "f2"), empty(heads * length, "f4")
    views = [TensorDescriptor(x, list(x.shape), x.stride(), [64, depth]) for x in (q, k, v, out)]
    kernel = attention[(length // 64, heads)](*views, sums, scale, length, CAUSAL=causal, M=64, N=64, D=depth, num_stages=3)
    assert ("cp.async.bulk.tensor" in kernel.asm["ptx"]) == MAPS

    wide = [x.host.astype("f4").reshape(heads, length, depth) for x in (q, k, v, d_out)]
    s = wide[0] @ wide[1].transpose(0, 2, 1) * scale
    if causal:
        s[:, numpy.tril(numpy.ones((length, length))) == 0] = -numpy.inf
    e = numpy.exp(s - s.max(2, keepdims=True))
    p = e / e.sum(2, keepdims=True)
    want = p @ wide[2]
    numpy.testing.assert_allclose(out.host.reshape(want.shape).astype("f4"), want, rtol=0, atol=1e-2)

    deltas = Array((wide[3] * want).sum(2).astype("f4"))
    dq, dk, dv = Array(numpy.zeros((heads * length, depth), "f4")), empty((heads * length, depth), "f2"), empty((heads * length, depth), "f2")
    block = 64 if ROOMY else 32
    attention_gradient[(length // block, heads)](q, k, v, d_out, sums, deltas, dq, dk, dv, scale, length, CAUSAL=causal, B=block, D=depth)
    ds = p * (wide[3] @ wide[2].transpose(0, 2, 1) - (wide[3] * want).sum(2, keepdims=True)) * scale
    for got, want in ((dq, ds @ wide[1]), (dk, ds.transpose(0, 2, 1) @ wide[0]), (dv, p.transpose(0, 2, 1) @ wide[3])):
        numpy.testing.assert_allclose(got.host.reshape(want.shape).astype("f4"), want, rtol=0, atol=1e-2)


# 7: functions of libdevice.


@triton.jit
def arcsines(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.asin(tl.load(x + at, mask=at < n)), mask=at < n)


def test_libdevice(chance):
    n = 98432
    x, out = Array(chance.random(n, "f4")), empty(n, "f4")
    arcsines[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    numpy.testing.assert_allclose(out.host, numpy.arcsin(x.host), rtol=1e-6)


# 8: several products in a launch, whose programs alternate between tiles; the addresses of the matrices are in an
# array.


@triton.jit
def grouped(a_list, b_list, c_list, sizes, strides, count, PROGRAMS: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile = tl.program_id(0)
    end = 0
    for g in range(count):
        m, n, k = tl.load(sizes + g * 3), tl.load(sizes + g * 3 + 1), tl.load(sizes + g * 3 + 2)
        across = tl.cdiv(n, N)
        begin = end
        end += tl.cdiv(m, M) * across
        while tile >= begin and tile < end:
            a = tl.load(a_list + g).to(tl.pointer_type(tl.float16))
            b = tl.load(b_list + g).to(tl.pointer_type(tl.float16))
            c = tl.load(c_list + g).to(tl.pointer_type(tl.float16))
            a_row, b_row, c_row = tl.load(strides + g * 3), tl.load(strides + g * 3 + 1), tl.load(strides + g * 3 + 2)
            rows = (tile - begin) // across * M + tl.arange(0, M)
            columns = (tile - begin) % across * N + tl.arange(0, N)
            inner = tl.arange(0, K)
            at_a = a + rows[:, None] * a_row + inner[None, :]
            at_b = b + inner[:, None] * b_row + columns[None, :]
            total = tl.zeros((M, N), dtype=tl.float32)
            for _ in range(0, tl.cdiv(k, K)):
                tl.multiple_of(at_a, [16, 16])
                tl.multiple_of(at_b, [16, 16])
                total = tl.dot(tl.load(at_a), tl.load(at_b), total)
                at_a += K
                at_b += K * b_row
            tl.store(c + c_row * rows[:, None] + columns[None, :], total.to(tl.float16))
            tile += PROGRAMS


@pytest.mark.parametrize("block, programs", [(128, 84), (64, 128)])
def test_grouped_gemm(chance, block, programs):
    sizes = [(n, n, n) for n in (1024, 512, 256, 128)]
    a = [Array(chance.random((m, k)).astype("f2")) for m, n, k in sizes]
    b = [Array(chance.random((k, n)).astype("f2")) for m, n, k in sizes]
    c = [empty((m, n), "f2") for m, n, k in sizes]
    lists = [Array(numpy.array([x.data_ptr() for x in list], "i8")) for list in (a, b, c)]
    strides = [x.stride(0) for three in zip(a, b, c) for x in three]
    grouped[(programs,)](*lists, Array(numpy.array(sizes, "i4")), Array(numpy.array(strides, "i4")), len(sizes), PROGRAMS=programs, M=block, N=block, K=32)
    for x, y, z in zip(a, b, c):
        numpy.testing.assert_allclose(z.host.astype("f4"), x.host.astype("f4") @ y.host.astype("f4"), rtol=2e-3, atol=1e-2)


# The message of a program with wrong code.


@triton.jit
def asserts(x):
    tl.device_assert(tl.load(x) == 1, "not one")


def test_device_assert():
    asserts[(1,)](Array(numpy.ones(1, "i4")), debug=True)


@triton.jit
def prints(x):
    tl.device_print("value", tl.load(x))


def test_device_print(capfd):
    prints[(1,)](Array(numpy.array([42], "i4")), num_warps=1)
    Array(numpy.zeros(1, "i4")).host  # waits
    assert "value: 42" in capfd.readouterr().out
