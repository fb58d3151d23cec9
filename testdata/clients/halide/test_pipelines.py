"""Pipelines of Halide, scheduled for a GPU in the ways of its tutorials, and compared with NumPy."""

import halide as hl
import numpy as np
import pytest

x, y, xo, yo, xi, yi = (hl.Var(n) for n in ("x", "y", "xo", "yo", "xi", "yi"))
image = np.random.default_rng(1).integers(0, 256, (50, 70)).astype(np.uint8)


def target(capability=80):
    return hl.Target(f"host-cuda-cuda_capability_{capability}")


def run(f, shape, on=None):
    """What a function computes on the device. NumPy's last index is the first of Halide's."""
    result = f.realize(list(reversed(shape)), on or target())
    result.copy_to_host()
    return np.array(result)


def source():
    """The image, as a function that continues at its edges."""
    buffer = hl.Buffer(image)
    return hl.BoundaryConditions.repeat_edge(buffer)


def around(n):
    return np.pad(image, n, mode="edge").astype(np.int32)


@pytest.mark.parametrize("capability", [50, 61, 70, 75, 80, 86])
def test_tiles(capability):
    f = hl.Func("tiles")
    f[x, y] = hl.f32(x) * 2 + hl.sqrt(hl.f32(y))
    f.gpu_tile(x, y, xi, yi, 8, 8)
    want = np.arange(64)[None] * 2 + np.sqrt(np.arange(33))[:, None]
    assert np.allclose(run(f, (33, 64), target(capability)), want, rtol=1e-6)


def test_blocks_and_threads_by_hand():
    f = hl.Func("blocks")
    f[x, y] = hl.i32(x * y)
    f.split(x, xo, xi, 16).gpu_blocks(xo, y).gpu_threads(xi)
    assert np.array_equal(run(f, (5, 100)), np.arange(100)[None] * np.arange(5)[:, None])


def test_blur_through_shared_memory():
    at, across, f = source(), hl.Func("across"), hl.Func("blur")
    across[x, y] = hl.u16(at[x - 1, y]) + at[x, y] + at[x + 1, y]
    f[x, y] = hl.u8((across[x, y - 1] + across[x, y] + across[x, y + 1]) / 9)
    f.gpu_tile(x, y, xo, yo, xi, yi, 16, 8)
    across.compute_at(f, xo).gpu_threads(x, y)
    p = around(1)
    sums = sum(p[i : i + 50, j : j + 70] for i in range(3) for j in range(3))
    assert np.array_equal(run(f, image.shape), (sums // 9).astype(np.uint8))


def test_several_kernels():
    first, second = hl.Func("first"), hl.Func("second")
    at = source()
    first[x, y] = hl.f32(at[x, y]) / 255
    second[x, y] = first[x, y] * first[x, y] + 1
    first.compute_root().gpu_tile(x, y, xi, yi, 8, 8)
    second.gpu_tile(x, y, xi, yi, 16, 4)
    assert np.allclose(run(second, image.shape), (image / 255.0) ** 2 + 1, rtol=1e-5)


def test_vectors_and_unrolled_loops():
    f = hl.Func("vectors")
    f[x] = hl.f32(x) + 0.5
    f.gpu_tile(x, xo, xi, 32).vectorize(xi, 4)
    assert np.array_equal(run(f, (256,)), np.arange(256) + np.float32(0.5))


def test_sums_of_rows():
    r, f, at = hl.RDom([(0, 70)]), hl.Func("rows"), source()
    f[y] = hl.u32(0)
    f[y] += hl.u32(at[r, y])
    f.gpu_tile(y, yo, yi, 16)
    f.update(0).gpu_tile(y, yo, yi, 16)
    assert np.array_equal(run(f, (50,)), image.sum(1, dtype=np.uint32))


def test_histogram_by_atomics():
    r, f, at = hl.RDom([(0, 70), (0, 50)]), hl.Func("histogram"), source()
    f[x] = hl.u32(0)
    f[hl.i32(at[r.x, r.y])] += hl.u32(1)
    f.compute_root().gpu_tile(x, xo, xi, 32)
    rxo, ryo, rxi, ryi = (hl.RVar(n) for n in ("rxo", "ryo", "rxi", "ryi"))
    f.update(0).atomic().gpu_tile(r.x, r.y, rxo, ryo, rxi, ryi, 10, 10)
    assert np.array_equal(run(f, (256,)), np.bincount(image.ravel(), minlength=256))


def test_product_of_matrices():
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((2, 32, 32), dtype=np.float32)
    k, f, product = hl.RDom([(0, 32)]), hl.Func("f"), hl.Func("product")
    A, B = hl.Buffer(a), hl.Buffer(b)
    product[x, y] = hl.f32(0)
    product[x, y] += A[k, y] * B[x, k]
    f[x, y] = product[x, y]
    f.gpu_tile(x, y, xi, yi, 16, 8)
    product.compute_at(f, xi).update(0).unroll(k, 4)
    assert np.allclose(run(f, (32, 32)), a @ b, atol=1e-4)


def test_mathematics():
    f, v = hl.Func("mathematics"), hl.f32(x) / 100 + 0.5
    f[x] = hl.sin(v) + hl.exp(-v) * hl.log(v) + hl.pow(v, 1.5) + hl.tanh(v)
    f.gpu_tile(x, xo, xi, 64)
    v = np.arange(512) / 100 + 0.5
    assert np.allclose(run(f, (512,)), np.sin(v) + np.exp(-v) * np.log(v) + v**1.5 + np.tanh(v), rtol=1e-5, atol=1e-5)
