#!/usr/bin/env bash
# Makes the .ptx of the .cu beside it with nvcc (NVCC names it, INCLUDE where its
# headers are), and copies the lines that say what its kernels must do.
set -euo pipefail
cd "$(dirname "$0")"
for cu in *.cu; do
  ptx=${cu%.cu}.ptx
  "${NVCC:-nvcc}" -ptx -arch=sm_80 ${INCLUDE:+-I"$INCLUDE" -I"$INCLUDE/cccl"} "$cu" -o made.ptx
  {
    echo "// nvcc -ptx -arch=sm_80 $cu -o $ptx"
    cat made.ptx
    grep -E '^// (run|trap)' "$cu"
  } >"$ptx"
  rm made.ptx
done
