#!/usr/bin/env bash
# cudarc: cargo test, with kernels that NVRTC compiles. Needs cargo.
source "$(dirname "$0")/common.sh"
requires cargo
packages nvidia-cuda-nvrtc-cu12==12.9.86 "nvidia-cuda-runtime-cu12==12.9.*"
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
cp -r "$here/cargo" "$work"
cd "$work/cargo"
fetch cargo fetch --quiet
gemu exec --toolkit "$work/cuda" --sanitize all --require-launches -- cargo test --tests
