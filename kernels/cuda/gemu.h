// The part of CUDA that the kernels of this library use, for clang without a
// CUDA toolkit.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __host__ __attribute__((host))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#include <__clang_cuda_builtin_vars.h>

typedef unsigned char uchar;
typedef unsigned int uint;

