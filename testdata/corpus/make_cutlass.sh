#!/usr/bin/env bash
# Compiles cutlass_*.cu to the PTX next to them with nvcc (named in NVCC) and the headers of CUDA
# and CUTLASS:
#   pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cutlass
#   P=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
#   NVCC=$P/nvidia/cu13/bin/nvcc INCLUDE=$P/nvidia/cu13/include CUTLASS=$P/cutlass_library/source/include ./make_cutlass.sh
set -euo pipefail
cd "$(dirname "$0")"
compile() { # name sm
  local flags="-ptx -arch=sm_$2 -std=c++17 --expt-relaxed-constexpr"
  "${NVCC:-nvcc}" $flags -I"$INCLUDE" -I"$INCLUDE/cccl" -I"$CUTLASS" "$1.cu" -o made.ptx
  {
    echo "// $("${NVCC:-nvcc}" --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p'), CUTLASS $(awk '/define CUTLASS_M(AJOR|INOR)|define CUTLASS_PATCH/ { printf "%s%s", sep, $3; sep = "." }' "$CUTLASS/cutlass/version.h"): nvcc $flags $1.cu"
    cat made.ptx
  } >"$1_${2%a}.ptx"
  rm made.ptx
}
compile cutlass_mma 80
compile cutlass_wgmma 90a
compile cutlass_tma 90a
compile cutlass_umma 100a
