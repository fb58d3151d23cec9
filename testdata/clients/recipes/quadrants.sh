#!/usr/bin/env bash
# Quadrants: kernels in Python, which LLVM compiles to PTX.
source "$(dirname "$0")/common.sh"
packages quadrants==1.3.3 "numpy==2.4.6"
cat >"$work/saxpy.py" <<'PROGRAM'
import numpy as np
import quadrants as qd

qd.init(arch=qd.cuda, offline_cache=False)
x, y = qd.field(qd.f32, shape=1000), qd.field(qd.f32, shape=1000)


@qd.kernel
def saxpy(a: qd.f32):
    for i in x:
        y[i] = a * x[i] + y[i]


x.from_numpy(np.arange(1000, dtype=np.float32))
y.fill(1)
saxpy(2)
np.testing.assert_array_equal(y.to_numpy(), 2 * np.arange(1000, dtype=np.float32) + 1)
PROGRAM
gemu exec --require-launches -- python "$work/saxpy.py"
