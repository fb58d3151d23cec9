#include "measured.h"

#define LOG 11 // logarithm of the elements that a block transforms in shared memory

struct pair {
  float a, b;
} __attribute__((aligned(8)));

// The Walsh-Hadamard transform, not normalised: for each distance h that is a power of two, a and b at this distance become
// a + b and a - b. Two distances, 2·h and h, are done at once, on four elements.
GEMU_INLINE void butterfly(float *to, float *from, int i, int h) {
  float a = from[i], b = from[i + h], c = from[i + 2 * h], e = from[i + 3 * h];
  float ac = a + c, be = b + e;
  c = a - c;
  e = b - e;
  to[i] = ac + be;
  to[i + h] = ac - be;
  to[i + 2 * h] = c + e;
  to[i + 3 * h] = c - e;
}

// The first of four elements at distance h that are thread t's.
GEMU_INLINE int place(int t, int h) { return 4 * t - 3 * (t & (h - 1)); }

// The distances 2·h and h, in global memory.
extern "C" __global__ void fwt_global(float *to, float *from, int h) {
  butterfly(to, from, place(blockIdx.x * blockDim.x + threadIdx.x, h), h);
}

// All distances below 2^LOG, on 2^LOG elements per block of a quarter as many threads.
extern "C" __global__ void fwt_shared(float *to, float *from) {
  SHARED float d[1 << LOG];
  int t = threadIdx.x;
  to += blockIdx.x << LOG;
  from += blockIdx.x << LOG;
#pragma unroll 1
  for (int i = t; i < 1 << LOG; i += blockDim.x)
    d[i] = from[i];
#pragma unroll 1
  for (int h = 1 << LOG >> 2; h > 0; h >>= 2) {
    __syncthreads();
    butterfly(d, d, place(t, h), h);
  }
  __syncthreads();
#pragma unroll 1
  for (int i = 2 * t; i < 1 << LOG; i += 2 * blockDim.x) { // distance 1 is left, because LOG is odd
    pair *p = (pair *)(d + i), v = *p;
    *p = {v.a + v.b, v.a - v.b};
  }
  __syncthreads();
#pragma unroll 1
  for (int i = t; i < 1 << LOG; i += blockDim.x)
    to[i] = d[i];
}
