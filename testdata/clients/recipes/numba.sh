#!/usr/bin/env bash
# Numba: tests of pytest, each with its launches and findings. LTO-IR is translated by NVIDIA's nvJitLink of the package.
source "$(dirname "$0")/common.sh"
packages "numba-cuda[cu13]" numba numpy pytest
cat >"$work/test_saxpy.py" <<'PROGRAM'
import numpy as np
from numba import cuda


@cuda.jit(lineinfo=True)
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def test_saxpy():
    x, y = np.arange(1000, dtype=np.float32), cuda.to_device(np.ones(1000, np.float32))
    saxpy[8, 128](np.float32(2), x, y)
    np.testing.assert_array_equal(y.copy_to_host(), 2 * x + 1)
PROGRAM
gemu exec --sanitize all --require-launches -- python -m pytest -q -p no:cacheprovider -W ignore "$work/test_saxpy.py"
