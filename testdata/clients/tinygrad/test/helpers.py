"""What tinygrad's tests take from a module of this name, which its source distribution leaves out."""

import os
import unittest

import numpy as np
from tinygrad import Device, dtypes
from tinygrad.codegen import full_rewrite_to_sink, line_rewrite, pm_linearize_cleanups
from tinygrad.codegen.late.linearizer import linearize
from tinygrad.dtype import _to_np_dtype

REAL_DEV = Device.DEFAULT  # of a mocked device, too


def slow(test):
    return unittest.skipIf(os.environ.get("SKIP_SLOW_TEST"), "slow")(test)


def not_support_multi_device():
    """Whether the device has no second of its kind: that is asked as a second one is wanted."""
    return False


def needs_second_gpu(test):
    """Skips a test where there is no second device."""

    def with_two(self, *args, **kwargs):
        try:
            Device[f"{Device.DEFAULT}:1"]
        except Exception as error:
            self.skipTest(f"no second device: {error}")
        return test(self, *args, **kwargs)

    return with_two


def rand_for_dtype(dtype, size):
    """Values of a type, on both sides of zero where it has them."""
    rng = np.random.default_rng(size)
    if dtype == dtypes.bool:
        return rng.integers(0, 2, size).astype(bool)
    if dtypes.is_int(dtype):
        low = 0 if dtypes.is_unsigned(dtype) else -100
        return rng.integers(low, 100, size).astype(_to_np_dtype(dtype))
    values = rng.uniform(-10, 10, size).astype(np.float32)
    if dtype in (*dtypes.fp8s, dtypes.bfloat16):  # numpy has none: values that both have
        return np.round(values)
    return values.astype(_to_np_dtype(dtype))


def assert_jit_cache_len(function, want):
    """A captured function has so many kernels and copies, in a graph or one by one."""
    items = [item.prg for item in function.jit_cache]
    if len(items) == 1 and hasattr(items[0], "jit_cache"):  # a graph
        items = items[0].jit_cache
    assert len(items) == want, f"{len(items)} items, not {want}"


def get_uops(sink, renderer=None):
    """The operations of a kernel, in order."""
    return line_rewrite(linearize(full_rewrite_to_sink(sink, renderer)), pm_linearize_cleanups)
