#!/usr/bin/env bash
# CubeCL: cargo test, with kernels in Rust, which CubeCL writes as CUDA C++ and NVRTC compiles. Needs cargo.
source "$(dirname "$0")/common.sh"
requires cargo
packages nvidia-cuda-nvrtc-cu12==12.9.86 "nvidia-cuda-runtime-cu12==12.9.*" "nvidia-cuda-cccl-cu12==12.9.*"
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
cp -r "$here/cubecl" "$work"
cd "$work/cubecl"
fetch cargo fetch --quiet
gemu exec --toolkit "$work/cuda" --sanitize all --require-launches -- cargo test --tests
