#!/usr/bin/env bash
# Kokkos: loops, reductions, scans and teams in C++, which nvcc compiles. Needs cmake, make and a C++ compiler. The sources are those of
# Kokkos 3.4.01 in the source distribution of pykokkos-base. That version is older than CUDA 13: the macro KOKKOS_ARCH_MAXWELL52 leaves
# out its 16-bit numbers, which nvcc 13 does not compile, and a call of cudaMemPrefetchAsync gets its present arguments. The sanitizer race
# finds races in the scan: lanes of a warp pass values without a barrier.
source "$(dirname "$0")/common.sh"
requires cmake make c++
packages nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-nvrtc nvidia-cuda-profiler-api
gemu toolkit "$work/cuda" --python "$work/venv/bin/python"
source=$work/pykokkos-base-0.0.7/external/kokkos
if [ ! -d "$source" ]; then
  fetch pip download --quiet --no-deps --no-binary pykokkos-base --dest "$work" pykokkos-base==0.0.7
  tar -xzf "$work/pykokkos-base-0.0.7.tar.gz" -C "$work" pykokkos-base-0.0.7/external/kokkos
  sed -i 's/\(cudaMemPrefetchAsync(ptr, bytes, \)\(space.cuda_device()\),/\1{cudaMemLocationTypeDevice, \2}, 0,/' "$source/core/src/Cuda/Kokkos_CudaSpace.cpp"
fi
export NVCC_APPEND_FLAGS="-cudart shared" # nvcc_wrapper calls nvcc several times
exec=(gemu exec -q --toolkit "$work/cuda")
"${exec[@]}" -- cmake -S "$here/kokkos" -B "$work/build" -DKOKKOS="$source" -DCMAKE_CXX_COMPILER="$source/bin/nvcc_wrapper" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-arch=sm_80 -DKOKKOS_ARCH_MAXWELL52" -DCMAKE_CXX_STANDARD=17 -DKokkos_CXX_STANDARD=17 -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_CUDA_LAMBDA=ON -DKokkos_ARCH_AMPERE80=ON
"${exec[@]}" -- cmake --build "$work/build"
gemu exec --toolkit "$work/cuda" --sanitize bounds --require-launches -- "$work/build/loops"
