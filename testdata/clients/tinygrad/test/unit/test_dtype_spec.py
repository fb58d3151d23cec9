"""What tinygrad's tests of types take from a module of this name, which its source distribution leaves out."""

import numpy as np
from tinygrad import dtypes
from tinygrad.device import is_dtype_supported

core_dtypes = [*dtypes.ints, dtypes.bool, *dtypes.floats]
dtype_ints = [d for d in dtypes.ints if is_dtype_supported(d)]
dtype_floats = [d for d in dtypes.floats if is_dtype_supported(d)]
FP8E4M3_MAX, FP8E5M2_MAX = 448.0, 57344.0  # the greatest finite values: OCP 8-bit Floating Point Specification, table 1


def _assert_eq(tensor, dtype, want):
    """A tensor has a type, and values that are equal as far as the type tells them apart."""
    assert tensor.dtype == dtype, f"{tensor.dtype}, not {dtype}"
    digits = {dtypes.bfloat16: 1e-2, dtypes.fp8e4m3: 1e-1, dtypes.fp8e5m2: 5e-1}.get(dtype, 1e-3 if dtype == dtypes.half else 1e-6)
    np.testing.assert_allclose(tensor.numpy(), want, rtol=digits, atol=1e-6)
