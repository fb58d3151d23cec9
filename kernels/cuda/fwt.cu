#include "gemu.h"

#define SHARED 1024 // elements that a block transforms in shared memory

// The Walsh-Hadamard transform, not normalised, in the order of Hadamard: for each distance h that is a power of two,
// a and b at this distance become a + b and a - b. Two distances, 2·h and h, are done at once, on
// four elements.
GEMU_INLINE void butterfly(float *d, int i, int h) {
  float a = d[i], b = d[i + h], c = d[i + 2 * h], e = d[i + 3 * h];
  float ac = a + c, be = b + e;
  c = a - c;
  e = b - e;
  d[i] = ac + be;
  d[i + h] = ac - be;
  d[i + 2 * h] = c + e;
  d[i + 3 * h] = c - e;
}

// The first of four elements at distance h that are thread t's.
GEMU_INLINE int place(int t, int h) { return 4 * t - 3 * (t & (h - 1)); }

// All distances below 2^log, on 2^log elements of data per block of a quarter as many threads.
extern "C" __global__ void fwt_shared(int log, float *data) {
  __shared__ float d[SHARED];
  int t = threadIdx.x;
  data += blockIdx.x << log;
  for (int i = t; i < 1 << log; i += blockDim.x)
    d[i] = data[i];
  int h = 1 << log >> 2;
#pragma unroll 1
  for (; h > 0; h >>= 2) {
    __syncthreads();
    butterfly(d, place(t, h), h);
  }
  __syncthreads();
  if (log & 1) // distance 1 is left
    for (int i = 2 * t; i < 1 << log; i += 2 * blockDim.x) {
      float a = d[i], b = d[i + 1];
      data[i] = a + b;
      data[i + 1] = a - b;
    }
  else
    for (int i = t; i < 1 << log; i += blockDim.x)
      data[i] = d[i];
}

// The distances 2·h and h, in global memory.
extern "C" __global__ void fwt_global(int h, float *data) {
  butterfly(data, place(blockIdx.x * blockDim.x + threadIdx.x, h), h);
}

// a[i] = a[i]·b[i]·scale, for n elements: a dyadic convolution, if both are transformed.
extern "C" __global__ void fwt_modulate(int n, float scale, float *a, const float *b) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    a[i] = a[i] * b[i] * scale;
}
