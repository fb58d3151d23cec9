#!/usr/bin/env bash
# Compiles clang.cu and wmma.cu to the PTX next to them, at several levels and for several GPUs.
# Needs clang with its NVPTX target, and no CUDA toolkit.
set -euo pipefail
cd "$(dirname "$0")"
make() { # source name sm flags…
  local source=$1 name=clang_$2 sm=$3
  shift 3
  set -- clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_"$sm" -nocudainc -nocudalib -Xclang -target-feature -Xclang +ptx71 -Wno-unknown-cuda-version -fdebug-compilation-dir=. "$@" -S "$source"
  "$@" -o "$name.ptx"
  { echo "// $("${1:?}" --version | head -1): $*"; cat "$name.ptx"; } >"$name.tmp"
  mv "$name.tmp" "$name.ptx"
}
make clang.cu O0_50 50 -O0
make clang.cu O1_70 70 -O1
make clang.cu O3_80 80 -O3
make clang.cu g_86 86 -g -O1
make wmma.cu wmma_80 80 -O3
