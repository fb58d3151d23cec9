"""Arrays: arithmetic, reductions, gathers and scatters, loops, calls, random numbers, textures, derivatives."""

import drjit as dr
import numpy as np
import pytest
from drjit.cuda import Array2f, Array3f, Bool, Float, Float64, Int, Matrix3f, PCG32, TensorXf, Texture1f, Texture2f, Texture3f, UInt32, UInt64
from drjit.cuda.ad import Float as Differentiable


def test_arithmetic():
    x = dr.arange(Float, 1000)
    assert np.allclose((3 * x * x - x / 7 + 2).numpy(), 3 * np.arange(1000.0) ** 2 - np.arange(1000) / 7 + 2, rtol=1e-6)


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "sqrt", "rsqrt", "tan", "atan", "tanh", "cbrt", "erf"])
def test_functions(name):
    x = dr.linspace(Float, 0.1, 1.5, 257)
    got = getattr(dr, name)(x).numpy()
    exact = {
        "rsqrt": lambda v: 1 / np.sqrt(v), "atan": np.arctan, "erf": np.vectorize(__import__("math").erf),
    }.get(name) or getattr(np, name)
    assert np.allclose(got, exact(x.numpy().astype(np.float64)), rtol=2e-5)


def test_double():
    x = dr.arange(Float64, 100) / 3
    assert np.allclose((x * x + 1).numpy(), (np.arange(100) / 3) ** 2 + 1, rtol=1e-15)


def test_integers():
    x = dr.arange(UInt32, 4096)
    assert np.array_equal(((x << 3) ^ (x >> 1) | 5).numpy(), (np.arange(4096, dtype=np.uint32) << 3) ^ (np.arange(4096, dtype=np.uint32) >> 1) | 5)
    assert np.array_equal(dr.popcnt(x).numpy(), [bin(i).count("1") for i in range(4096)])
    assert np.array_equal((UInt64(x) * 0x100000001).numpy(), np.arange(4096, dtype=np.uint64) * 0x100000001)
    assert np.array_equal((Int(x) - 2048).numpy(), np.arange(4096) - 2048)


@pytest.mark.parametrize("n", [1, 31, 1000, 100003])
def test_reductions(n):
    x = dr.arange(UInt32, n)
    assert dr.sum(x)[0] == n * (n - 1) // 2 % 2**32
    assert dr.max(x)[0] == n - 1 and dr.min(x)[0] == 0
    assert dr.all(x < n) and not dr.any(x >= n)
    assert dr.count(x % 3 == 0)[0] == (n + 2) // 3
    assert np.array_equal(dr.cumsum(x).numpy(), np.cumsum(np.arange(n, dtype=np.uint32), dtype=np.uint32))


def test_gather_scatter():
    x = dr.arange(Float, 100)
    assert np.array_equal(dr.gather(Float, x, 99 - dr.arange(UInt32, 100)).numpy(), np.arange(100)[::-1])
    y = dr.zeros(Float, 10)
    dr.scatter_reduce(dr.ReduceOp.Add, y, Float(1), dr.arange(UInt32, 100) % 10)
    assert np.array_equal(y.numpy(), [10] * 10)
    z = dr.zeros(UInt32, 10)
    dr.scatter_reduce(dr.ReduceOp.Max, z, dr.arange(UInt32, 100), dr.arange(UInt32, 100) % 10)
    assert np.array_equal(z.numpy(), np.arange(90, 100))
    assert np.array_equal(dr.compress(dr.arange(UInt32, 100) % 7 == 0).numpy(), np.arange(0, 100, 7))


def test_select_and_vectors():
    x = dr.arange(Float, 64)
    v = Array3f(x, x + 1, x + 2)
    assert np.allclose(dr.norm(v).numpy(), np.sqrt(np.arange(64) ** 2 + np.arange(1, 65) ** 2 + np.arange(2, 66) ** 2))
    assert np.array_equal(dr.select(x < 10, x, -x).numpy(), np.where(np.arange(64) < 10, np.arange(64), -np.arange(64)))
    m = Matrix3f([[1, 2, 0], [0, 1, 3], [4, 0, 1]])
    assert np.allclose((m @ dr.rcp(m)).numpy().reshape(3, 3), np.eye(3), atol=1e-6)


@pytest.mark.parametrize("mode", ["symbolic", "evaluated"])
def test_loop(mode):
    @dr.syntax
    def collatz(n, mode):
        steps = dr.zeros(UInt32, dr.width(n))
        while dr.hint(n > 1, mode=mode):
            if dr.hint(n % 2 == 0, mode=mode):
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    def exact(n):
        steps = 0
        while n > 1:
            n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
        return steps

    assert np.array_equal(collatz(dr.arange(UInt32, 200), mode).numpy(), [exact(i) for i in range(200)])


def test_calls():
    which = dr.arange(UInt32, 99) % 3
    got = dr.switch(which, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], dr.arange(Float, 99))
    x = np.arange(99)
    assert np.array_equal(got.numpy(), np.choose(x % 3, [x + 1, x * 2, -x]))


def test_random():
    # The generator's own definition (M. O'Neill, PCG XSH RR 64/32).
    rng = PCG32(4, initstate=42, initseq=54)
    got = rng.next_uint32().numpy()

    def first(sequence):
        mask, increment = 2**64 - 1, (sequence << 1 | 1) & (2**64 - 1)
        state = (0 * 6364136223846793005 + increment) & mask
        state = ((state + 42) * 6364136223846793005 + increment) & mask
        shifted, turn = (((state >> 18) ^ state) >> 27) & 0xFFFFFFFF, state >> 59
        return ((shifted >> turn) | (shifted << (-turn & 31))) & 0xFFFFFFFF

    assert got[0] == first(54)


def test_textures():
    assert np.allclose(Texture2f(TensorXf([1, 2, 3, 4.0], (2, 2, 1))).eval(Array2f(0.5, 0.5)), [[2.5]])
    block = Texture3f(TensorXf(np.arange(8, dtype=np.float32), (2, 2, 2, 1)))
    assert np.allclose(block.eval(Array3f(0.5, 0.5, 0.5)), [[3.5]])
    four = Texture2f(TensorXf(np.arange(16, dtype=np.float32), (2, 2, 4)))
    assert np.allclose(four.eval(Array2f(0.5, 0.5)), [[6], [7], [8], [9]])


def test_texture_of_one_dimension():
    line = Texture1f(TensorXf(np.arange(8, dtype=np.float32), (8, 1)), filter_mode=dr.FilterMode.Nearest)
    assert np.array_equal(line.eval(dr.linspace(Float, 1 / 16, 15 / 16, 8))[0].numpy(), np.arange(8))


def test_derivatives():
    x = Differentiable(1, 2, 3)
    dr.enable_grad(x)
    dr.backward(dr.sum(x * x * x))
    assert np.allclose(dr.grad(x).numpy(), [3, 12, 27])


def test_tensors():
    a = TensorXf(np.arange(12, dtype=np.float32).reshape(3, 4))
    assert np.array_equal((a[:, 1:3] * 2).numpy(), np.arange(12).reshape(3, 4)[:, 1:3] * 2)
    assert np.array_equal(dr.sum(a, axis=0).numpy(), np.arange(12).reshape(3, 4).sum(axis=0))
