#!/usr/bin/env bash
# candle: its kernels, which nvcc compiles to PTX as cargo builds the crate candle-kernels, launched by cudarc as candle launches them. Its
# tensors on CUDA do not run: they begin with cuBLAS and cuRAND. Needs cargo and a C++ compiler.
source "$(dirname "$0")/common.sh"
requires cargo c++
packages nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-nvrtc
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
cp -r "$here/candle" "$work"
cd "$work/candle"
fetch cargo fetch --quiet
export CUDA_COMPUTE_CAP=80 # of the PTX; without it the crate calls nvidia-smi
PATH=$work/cuda/bin:$PATH
gemu exec --toolkit "$work/cuda" --sanitize all --require-launches -- cargo test --tests
