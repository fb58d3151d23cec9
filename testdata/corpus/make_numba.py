#!/usr/bin/env python3
"""Compiles the Numba kernels here to the PTX next to it.

    pip install numba-cuda==0.30.4 nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-nvcc-cu12==12.9.86
    testdata/corpus/make_numba.py

Their expected results are in internal/corpus/compiled.go. None uses libdevice.
"""
import pathlib
import re

import numba
from numba import cuda, float32, int32, types

TILE = 16


def tiled(a, b, c):
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range((a.shape[1] + TILE - 1) // TILE):
        sa[ty, tx] = a[y, i * TILE + tx] if y < a.shape[0] and i * TILE + tx < a.shape[1] else 0
        sb[ty, tx] = b[i * TILE + ty, x] if x < b.shape[1] and i * TILE + ty < b.shape[0] else 0
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[ty, k] * sb[k, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def escape(out, width, height, most):
    for i in range(cuda.grid(1), width * height, cuda.gridsize(1)):
        c = complex((i % width) * 3.0 / width - 2.0, (i // width) * 2.0 / height - 1.0)
        z, n = 0j, 0
        while n < most and z.real * z.real + z.imag * z.imag < 4.0:
            z = z * z + c
            n += 1
        out[i] = n


def ballots(out, x):
    i = cuda.grid(1)
    lane = cuda.laneid
    v = x[i]
    total = v
    for d in (1, 2, 4, 8, 16):
        o = cuda.shfl_up_sync(-1, total, d)
        if lane >= d:
            total += o
    odd = cuda.ballot_sync(-1, v % 2 != 0)
    out[2 * i] = total
    out[2 * i + 1] = cuda.popc(odd & ((1 << lane) - 1))
    cuda.atomic.max(out, 2 * x.size, v)


def make(kernel, sm, *args):
    text, _ = cuda.compile_ptx(kernel, args, cc=divmod(sm, 10))
    name = re.search(r"\.entry (\w+)\(", text)[1]
    text = text.replace(name, kernel.__name__)
    head = f"// numba {numba.__version__}, numba-cuda: {kernel.__name__}{args}, sm_{sm}\n"
    (pathlib.Path(__file__).parent / f"numba_{kernel.__name__}_{sm}.ptx").write_text(head + text.strip("\0\n ") + "\n")


if __name__ == "__main__":
    matrix, ints = types.float32[:, ::1], types.int32[::1]
    make(tiled, 75, matrix, matrix, matrix)
    make(escape, 80, ints, int32, int32, int32)
    make(ballots, 90, ints, ints)
