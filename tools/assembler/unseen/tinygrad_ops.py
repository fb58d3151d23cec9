"""Runs random expressions of tinygrad on the CUDA driver that LD_LIBRARY_PATH names, and writes
down the PTX of each kernel that its PTX renderer makes.

    tinygrad_ops.py OUT FIRST LAST    expressions FIRST to LAST-1 of an endless list

Each line of its output names a file of PTX. Results are compared with those of tinygrad's
CPU device (CC names its clang): a difference is told on standard error. SM=86 is the GPU.
"""

import hashlib
import os
import pathlib
import random
import sys

SM = os.environ.get("SM", "86")
os.environ |= {"DEV": "CUDA:PTX", "GEMU_SM": f"{SM[:-1]}.{SM[-1]}", "CACHELEVEL": "0"}
import numpy as np
from tinygrad import Tensor, dtypes
from tinygrad.helpers import Context
from tinygrad.renderer import ptx
from tinygrad.runtime.support.compiler_cuda import PTXCompiler

FLOATS = [dtypes.float32, dtypes.float32, dtypes.half, dtypes.double]
INTS = [dtypes.int32, dtypes.int64, dtypes.int16, dtypes.int8, dtypes.uint8, dtypes.uint32, dtypes.uint64]


def expression(r, x):
    """A random expression of a tensor, of float or of int."""
    for _ in range(r.randint(1, 5)):
        if dtypes.is_float(x.dtype):
            steps = [lambda: x.exp2(), lambda: x.sin(), lambda: x.abs().sqrt(), lambda: (x.abs() + 1).log2(), lambda: x.relu(), lambda: x.sigmoid(), lambda: x.tanh(), lambda: x * 2 + 1, lambda: (x * x + 1).reciprocal(),
                     lambda: (x > 0.5).where(x, -x), lambda: x.floor(), lambda: x.softmax(-1), lambda: x.layernorm(), lambda: x.cast(r.choice(INTS[:3])), lambda: x @ x.transpose(-1, -2), lambda: x.gelu(), lambda: x.erf(),
                     lambda: x.reshape(1, 1, *x.shape[-2:]).conv2d(Tensor.ones(2, 1, 3, 3, dtype=x.dtype) * 0.1)[0, 0] if min(x.shape[-2:]) > 4 else x, lambda: x.std(-1, keepdim=True) + x]
        else:
            steps = [lambda: x * 3 + 1, lambda: x ^ 21, lambda: x & 60, lambda: x | 3, lambda: x // 7, lambda: x % 5, lambda: (x > 4).where(x, 7), lambda: x.cast(r.choice(INTS)), lambda: x.cast(dtypes.float32), lambda: -x, lambda: x.maximum(3), lambda: x.minimum(9),
                     lambda: x << 2 if dtypes.is_unsigned(x.dtype) else x * 4, lambda: x.argmax(-1, keepdim=True) + x, lambda: x.cumsum(-1)]
        x = r.choice(steps)()
    ends = [lambda: x, lambda: x.sum(-1), lambda: x.max(0), lambda: x.sum(), lambda: x.transpose(-1, -2), lambda: x.pad(((1, 1),) * len(x.shape)), lambda: x.flip(0), lambda: x.cumsum(0), lambda: x.mean(0), lambda: x.sort(-1)[0], lambda: x.cat(x, dim=0)]
    return r.choice(ends)()


def main(out, first, last):
    render, seen = ptx.PTXRenderer.render, set()

    def written(self, uops):
        text = render(self, uops)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        if digest not in seen:
            seen.add(digest)
            path = pathlib.Path(out) / f"{digest}_{SM}.ptx"
            path.write_text(PTXCompiler(f"sm_{SM}").compile(text).decode())
            print(path, flush=True)
        return text

    ptx.PTXRenderer.render = written
    for i in range(int(first), int(last)):
        r = random.Random(f"start {i}")
        dtype, shape = r.choice(FLOATS + INTS), r.choice([(4, 8), (33, 17), (16, 16), (64, 64), (3, 5), (2, 128)])
        data = np.random.default_rng(i).integers(0, 20, shape)
        try:
            results = []
            for device in "CUDA:PTX", "CPU":
                with Context(DEV=device):
                    results.append(expression(random.Random(i), Tensor(data).cast(dtype).realize()).numpy())
            tolerance = 1e-2 if results[0].dtype == np.float16 else 1e-4
            if not np.allclose(*results, rtol=tolerance, atol=tolerance, equal_nan=True):
                print(f"{i}: DIFFERENT by {np.nanmax(np.abs(results[0].astype(float) - results[1]))}", file=sys.stderr)
        except Exception as e:  # tinygrad's own limits
            print(f"{i}: {type(e).__name__} {str(e).splitlines()[:1]}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
