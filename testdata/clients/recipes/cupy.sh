#!/usr/bin/env bash
# CuPy: elementwise, reduction and raw kernels, which NVRTC compiles to PTX. CuPy 12.3 is the last version whose packages load the CUDA
# runtime as a library. It loads cuBLAS and others when it is imported, but they do not run.
source "$(dirname "$0")/common.sh"
packages cupy-cuda12x==12.3.0 numpy==1.26.4 nvidia-cuda-nvrtc-cu12==12.9.86 "nvidia-cuda-runtime-cu12==12.9.*" "nvidia-cublas-cu12==12.9.*" \
  "nvidia-cufft-cu12==11.4.*" "nvidia-curand-cu12==10.3.*" "nvidia-cusolver-cu12==11.7.*" "nvidia-cusparse-cu12==12.5.*"
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
cat >"$work/kernels.py" <<'PROGRAM'
import cupy
import numpy as np

host = np.arange(1000, dtype=np.float32)
x = cupy.asarray(host)
np.testing.assert_array_equal(cupy.asnumpy(2 * x + 1), 2 * host + 1)
assert int(cupy.arange(1000).sum()) == 1000 * 999 // 2

saxpy = cupy.RawKernel(
    """
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = a * x[i] + y[i];
}
""",
    "saxpy",
)
y = cupy.ones(1000, dtype=cupy.float32)
saxpy((8,), (128,), (np.int32(1000), np.float32(2), x, y))
np.testing.assert_array_equal(cupy.asnumpy(y), 2 * host + 1)
PROGRAM
site=$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
export CUPY_CACHE_DIR=$work/cache LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(printf '%s:' "$site"/nvidia/*/lib)${LD_LIBRARY_PATH-}
gemu exec --toolkit "$work/cuda" --require-launches -- python "$work/kernels.py"
