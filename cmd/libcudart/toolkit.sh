#!/usr/bin/env bash
# Makes, from NVIDIA's Python packages, the toolkit with which the tests compile CUDA C++:
#
#	cmd/libcudart/toolkit.sh DIRECTORY [SITE]
#	GEMU_CUDA=DIRECTORY go test ./cmd/libcudart -v
#
#	DIRECTORY/13    nvcc, headers and libraries of CUDA 13
#	DIRECTORY/12    the same nvcc with the headers and libraries of CUDA 12, because no package has an
#	                nvcc of CUDA 12
#
#	DIRECTORY/headers/X.Y/include
#	                the headers of the runtime's package of each version, for go test ./cmd/libcuda -run Names
#
# SITE is a site-packages directory of Python that has the packages. Without it, the script installs the packages into
# DIRECTORY. Only then it makes DIRECTORY/headers.
set -euo pipefail
mkdir -p "$1"
cd "$1"
if [ $# -gt 1 ]; then
  cuda13=$2/nvidia/cu13 cuda12=$2/nvidia
else
  python3 -m pip install --quiet --no-deps --upgrade --target packages13 \
    nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-profiler-api
  python3 -m pip install --quiet --no-deps --upgrade --target packages12 \
    nvidia-cuda-nvcc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12 nvidia-cuda-profiler-api-cu12
  cuda13=$PWD/packages13/nvidia/cu13 cuda12=$PWD/packages12/nvidia
fi
if [ $# -eq 1 ]; then
  for version in 11.8.89 12.{0.146,1.105,2.140,3.101,4.127,5.82,6.77,8.90,9.79} 13.{0.96,1.80,2.86,3.29,4.92,5.37}; do
    case $version in
    11.* | 12.*) package=nvidia-cuda-runtime-cu${version%%.*} ;;
    *) package=nvidia-cuda-runtime ;;
    esac
    python3 -m pip install --quiet --no-deps --upgrade --target "packages/$version" "$package==$version"
    mkdir -p "headers/${version%.*}"
    ln -sfn "$(echo "$PWD/packages/$version"/nvidia/*/include)" "headers/${version%.*}/include"
  done
fi
for major in 12 13; do
  rm -rf "$major"
  mkdir -p "$major/lib"
  cp -r "$cuda13/bin" "$major/bin" # a copy: nvcc looks for headers and libraries relative to its own path
  ln -s "$cuda13/nvvm" "$major/nvvm"
done
chmod +x 1[23]/bin/* "$cuda13"/nvvm/bin/*
ln -s "$cuda13/include" 13/include
mkdir -p 12/include/cccl
cp -rs "$cuda12"/cuda_nvcc/include/. "$cuda12"/cuda_runtime/include/. "$cuda12"/cuda_profiler_api/include/. 12/include/
cp -rs "$cuda12"/cuda_cccl/include/. 12/include/cccl/
ln -s "$cuda13"/lib/*.a 13/lib/
ln -s "$cuda12"/cuda_runtime/lib/*.a 12/lib/
# Programs are linked with NVIDIA's library, and run with gemu's.
ln -s "$cuda13/lib/libcudart.so.13" 13/lib/libcudart.so
ln -s "$cuda12/cuda_runtime/lib/libcudart.so.12" 12/lib/libcudart.so
