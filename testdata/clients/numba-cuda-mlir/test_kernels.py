"""Kernels: arithmetic, shared memory, atomics, device functions, arrays of two dimensions, warps."""

import math

import numpy as np
import pytest
from numba_cuda_mlir import cuda


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.int64])
def test_add(kind):
    @cuda.jit
    def add(a, b, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = a[i] + b[i]

    a, b, out = np.arange(1000, dtype=kind), np.full(1000, 3, kind), np.zeros(1000, kind)
    add[4, 256](a, b, out)
    assert np.array_equal(out, a + b)


def test_shared():
    @cuda.jit
    def reverse(x, out):
        s = cuda.shared.array(64, np.float32)
        i = cuda.threadIdx.x
        s[i] = x[i]
        cuda.syncthreads()
        out[i] = s[63 - i]

    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    reverse[1, 64](x, out)
    assert np.array_equal(out, x[::-1])


def test_atomics():
    @cuda.jit
    def count(x, bins):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.add(bins, x[i] % 16, 1)

    x, bins = np.arange(1000, dtype=np.int32), np.zeros(16, np.int32)
    count[8, 128](x, bins)
    assert np.array_equal(bins, np.bincount(x % 16, minlength=16))


def test_device_function():
    @cuda.jit(device=True)
    def square(x):
        return x * x

    @cuda.jit
    def work(x):
        i = cuda.grid(1)
        x[i] = square(x[i]) + 1

    x = np.arange(32, dtype=np.int64)
    work[1, 32](x)
    assert np.array_equal(x, np.arange(32) ** 2 + 1)


def test_two_dimensions():
    @cuda.jit
    def transpose(a, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < a.shape[1]:
            out[j, i] = a[i, j]

    a = np.arange(20 * 30, dtype=np.float32).reshape(20, 30)
    out = np.zeros((30, 20), np.float32)
    transpose[(2, 2), (16, 16)](a, out)
    assert np.array_equal(out, a.T)


def test_device_arrays():
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] *= 2

    x = cuda.to_device(np.arange(100, dtype=np.float32))
    double[1, 128](x)
    double[1, 128](x)
    assert np.array_equal(x.copy_to_host(), 4 * np.arange(100))


def test_functions():
    @cuda.jit
    def work(x, out):
        i = cuda.grid(1)
        out[i] = math.sin(x[i]) + math.exp(-x[i]) + math.sqrt(x[i])

    x, out = np.linspace(0, 3, 64), np.zeros(64)
    work[1, 64](x, out)
    assert np.allclose(out, np.sin(x) + np.exp(-x) + np.sqrt(x), rtol=1e-12)


def test_loop():
    @cuda.jit
    def work(out):
        i = cuda.grid(1)
        n, steps = i + 1, 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            steps += 1
        out[i] = steps

    def exact(n):
        steps = 0
        while n != 1:
            n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
        return steps

    out = np.zeros(64, np.int64)
    work[2, 32](out)
    assert out.tolist() == [exact(i + 1) for i in range(64)]
