import cuda.tile as ct
import numpy as np
from device import Array

TILE = 16


@ct.kernel
def add(a, b, result):
    i = ct.bid(0)
    x = ct.load(a, index=(i,), shape=(TILE,))
    y = ct.load(b, index=(i,), shape=(TILE,))
    ct.store(result, index=(i,), tile=x + y)


def test_add():
    a, b = np.arange(128.0) * 0.5, np.arange(128.0)[::-1].copy()
    result = Array(np.zeros(128))
    ct.launch(0, (128 // TILE, 1, 1), add, (Array(a), Array(b), result))
    np.testing.assert_array_equal(result.get(), a + b)


@ct.kernel
def multiply(a, b, result):
    i, j = ct.bid(0), ct.bid(1)
    x = ct.load(a, index=(i, 0), shape=(TILE, 32))
    y = ct.load(b, index=(0, j), shape=(32, TILE))
    ct.store(result, index=(i, j), tile=ct.mma(x, y, ct.full((TILE, TILE), 0, ct.float32)))


def test_multiply():
    # Small integers, whose products and sums are exact in every order.
    random = np.random.default_rng(1)
    a, b = random.integers(-8, 8, (32, 32)).astype(np.float16), random.integers(-8, 8, (32, 32)).astype(np.float16)
    result = Array(np.zeros((32, 32), np.float32))
    ct.launch(0, (2, 2, 1), multiply, (Array(a), Array(b), result))
    np.testing.assert_array_equal(result.get(), a.astype(np.float32) @ b.astype(np.float32))
