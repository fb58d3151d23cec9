#!/usr/bin/env bash
# Runs tinygrad on both libraries: on libcuda.so.1 as its CUDA device, and on
# libgemu.so as the emulator of its mock GPU. It gets tinygrad with pip, and needs
# clang for tinygrad's CPU device (CC names another).
set -euo pipefail
cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
../../../install.sh "$dir"
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" -q install tinygrad==0.14.0 numpy
python=$dir/venv/bin/python
export CC=${CC:-$(command -v clang || command -v clang-19)}
export TC=0 # no tensor cores

for mode in vector affine; do
  echo "libcuda.so.1, $mode"
  GEMU_MODE=$mode LD_LIBRARY_PATH=$dir/lib/gemu DEV=CUDA:PTX "$python" ops.py
  echo "ptx_run, $mode"
  GEMU_MODE=$mode OCELOT_PATH=$dir/lib/libgemu.so PYTHONPATH=../../../../testdata/clients/tinygrad DEV=MOCK+CUDA:PTX "$python" ops.py
done
