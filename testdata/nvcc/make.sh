#!/usr/bin/env bash
# Makes the .ptx of the .cu next to it with nvcc (NVCC names it, INCLUDE the folder of its headers),
# and copies the lines with the expected results of its kernels.
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
