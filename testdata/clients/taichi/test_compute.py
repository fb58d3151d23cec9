"""What kernels compute, and how lanes work together."""

import numpy as np
import pytest
import taichi as ti
from taichi.lang.simt import block, warp


@pytest.mark.parametrize("type", ["i32", "u32", "i64", "u64", "f32", "f64"])
def test_atomics(type):
    type, n = getattr(ti, type), 10000
    x = ti.field(type, 5)

    @ti.kernel
    def work():
        x[1] = 1000
        for i in range(n):
            x[0] += 1
            ti.atomic_min(x[1], ti.cast(i, type))
            ti.atomic_max(x[2], ti.cast(i, type))
            ti.atomic_sub(x[3], ti.cast(-2, type))

    work()
    assert x.to_numpy()[:4].tolist() == [n, 0, n - 1, 2 * n]


def test_atomics_on_bits():
    x = ti.field(ti.u64, 3)

    @ti.kernel
    def work():
        x[0] = ~ti.cast(0, ti.u64)
        for i in range(64):
            x[0] &= ~(ti.cast(1, ti.u64) << (i % 31))
            x[1] |= ti.cast(1, ti.u64) << (i % 30)
            x[2] ^= ti.cast(i, ti.u64)

    work()
    assert x.to_numpy().tolist() == [2**64 - 2**31, 2**30 - 1, 0]


def test_atomics_on_halves():
    x = ti.field(ti.f16, 2)

    @ti.kernel
    def work():
        for i in range(1000):
            x[0] += 1.0
            ti.atomic_max(x[1], ti.cast(i, ti.f16))

    work()
    assert x[0] == 1000 and x[1] == 999


def test_append_by_counter():
    n = 10000
    found, count = ti.field(ti.i32, n), ti.field(ti.i32, ())

    @ti.kernel
    def work():
        for i in range(n):
            if i % 3 == 0:
                found[ti.atomic_add(count[None], 1)] = i

    work()
    assert sorted(found.to_numpy()[: count[None]]) == list(range(0, n, 3))


@pytest.mark.parametrize("type, dtype, tolerance", [("f32", np.float32, 2e-5), ("f64", np.float64, 1e-12)])
def test_functions(type, dtype, tolerance):
    functions = {
        ti.sin: np.sin, ti.cos: np.cos, ti.tan: np.tan, ti.asin: np.arcsin, ti.acos: np.arccos, ti.tanh: np.tanh, ti.exp: np.exp,
        ti.log: np.log, ti.sqrt: np.sqrt, ti.rsqrt: lambda v: 1 / np.sqrt(v), ti.floor: np.floor, ti.ceil: np.ceil, ti.round: np.round,
    }  # fmt: skip
    given = np.linspace(0.01, 0.99, 200, dtype=dtype)
    x, y = ti.field(getattr(ti, type), 200), ti.field(getattr(ti, type), (len(functions) + 2, 200))
    x.from_numpy(given)

    @ti.kernel
    def work():
        for i in x:
            for k in ti.static(range(len(functions))):
                y[k, i] = list(functions)[k](x[i])
            y[len(functions), i] = ti.pow(x[i], 2.5)
            y[len(functions) + 1, i] = ti.atan2(x[i], 2.0)

    work()
    wanted = [f(given) for f in functions.values()] + [given**2.5, np.arctan2(given, 2)]
    np.testing.assert_allclose(y.to_numpy(), wanted, rtol=tolerance, atol=tolerance)


def test_random():
    x = ti.field(ti.f32, 10000)

    @ti.kernel
    def work():
        for i in x:
            x[i] = ti.random()

    work()
    a = x.to_numpy()
    assert 0.48 < a.mean() < 0.52 and a.min() >= 0 and a.max() < 1 and len(set(a)) > 9000


def test_loops():
    x = ti.field(ti.i32, 300)

    @ti.kernel
    def collatz():
        for i in x:
            n, steps = i + 1, 0
            while n != 1:
                if n % 2 == 0:
                    n //= 2
                else:
                    n = 3 * n + 1
                steps += 1
                if steps > 500:
                    break
            x[i] = steps

    @ti.kernel
    def serial() -> ti.types.vector(2, ti.i32):
        a, b = 0, 0
        ti.loop_config(serialize=True)
        for i in range(50):
            if i % 3 == 0:
                continue
            if i > 30:
                break
            a += i
        for i, j in ti.ndrange((2, 6), (-3, 4)):
            b += i * j + 1
        return ti.Vector([a, b])

    def steps(n):
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    collatz()
    assert x.to_numpy().tolist() == [steps(i + 1) for i in range(300)]
    assert list(serial()) == [sum(i for i in range(31) if i % 3), 28]


def test_recursion():
    @ti.experimental.real_func
    def fibonacci(n: ti.i32) -> ti.i32:
        r = n
        if n > 1:
            r = fibonacci(n - 1) + fibonacci(n - 2)
        return r

    x = ti.field(ti.i32, 12)

    @ti.kernel
    def work():
        for i in x:
            x[i] = fibonacci(i)

    work()
    assert x.to_numpy().tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]


def test_warps():
    x, y = ti.field(ti.i32, 64), ti.field(ti.u32, 64)
    everybody = 0xFFFFFFFF

    @ti.kernel
    def work():
        ti.loop_config(block_dim=32)
        for i in range(64):
            x[i] = warp.shfl_down_i32(ti.u32(everybody), i, 1)
            y[i] = warp.ballot(i % 2)

    work()
    assert x.to_numpy()[:31].tolist() == list(range(1, 32)) and (y.to_numpy() == 0xAAAAAAAA).all()


def test_shared_memory():
    n = 1024
    x, y = ti.field(ti.f32, n), ti.field(ti.f32, n)
    x.from_numpy(np.arange(n, dtype=np.float32))

    @ti.kernel
    def reverse():
        ti.loop_config(block_dim=128)
        for i in range(n):
            tile = block.SharedArray((128,), ti.f32)
            tile[i % 128] = x[i]
            block.sync()
            y[i] = tile[127 - i % 128]

    reverse()
    assert (y.to_numpy() == np.arange(n).reshape(-1, 128)[:, ::-1].ravel()).all()


def test_sort():
    keys, values = ti.field(ti.i32, 1000), ti.field(ti.i32, 1000)
    order = np.random.default_rng(3).permutation(1000).astype(np.int32)
    keys.from_numpy(order)
    values.from_numpy(2 * order)
    ti.algorithms.parallel_sort(keys, values)
    assert (keys.to_numpy() == np.arange(1000)).all() and (values.to_numpy() == 2 * np.arange(1000)).all()


def test_scan():
    x = ti.field(ti.i32, 1000)
    given = np.random.default_rng(4).integers(0, 10, 1000, dtype=np.int32)
    x.from_numpy(given)
    ti.algorithms.PrefixSumExecutor(1000).run(x)
    assert (x.to_numpy() == np.cumsum(given)).all()


def test_reverse_mode():
    x, loss = ti.field(ti.f32, 64, needs_grad=True), ti.field(ti.f32, (), needs_grad=True)
    given = np.linspace(0.1, 2, 64, dtype=np.float32)
    x.from_numpy(given)

    @ti.kernel
    def work():
        for i in x:
            loss[None] += ti.sin(x[i]) * x[i] ** 2 + ti.exp(-x[i])

    with ti.ad.Tape(loss=loss):
        work()
    wanted = np.cos(given) * given**2 + 2 * given * np.sin(given) - np.exp(-given)
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-4)


def test_forward_mode():
    x, y = ti.field(ti.f32, 64, needs_dual=True), ti.field(ti.f32, 64, needs_dual=True)
    given = np.linspace(0.1, 2, 64, dtype=np.float32)
    x.from_numpy(given)

    @ti.kernel
    def work():
        for i in x:
            y[i] = ti.tanh(x[i]) * ti.log(x[i])

    with ti.ad.FwdMode(loss=y, param=x, seed=[1.0] * 64):
        work()
    np.testing.assert_allclose(y.dual.to_numpy(), np.log(given) / np.cosh(given) ** 2 + np.tanh(given) / given, rtol=1e-3)
