#include "measured.h"

#define BITS 32

// n vectors of a Sobol sequence in Gray code order; blockIdx.y is the dimension, with direction numbers
// directions[32·dimension] … Each thread computes its first element from the bits of its index, and each further one,
// gridDim.x·blockDim.x elements later, from the element before. That stride must be a power of two.
extern "C" __global__ void sobol(uint n, uint *directions, float *out) {
  SHARED uint v[BITS];
  directions += BITS * blockIdx.y;
  out += n * blockIdx.y;
  if (threadIdx.x < BITS)
    v[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  uint i = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  uint gray = i ^ i >> 1, x = 0;
  int log = 31 - __clz(stride);
#pragma unroll 1
  for (int k = 0; k < log; k++, gray >>= 1)
    x ^= -(gray & 1) & v[k];
  if (i < n)
    out[i] = (float)x * 2.32830644e-10f; // 2^-32
  uint step = v[log - 1];
#pragma unroll 1
  for (i += stride; i < n; i += stride) {
    uint changed = (i - stride) | (stride - 1); // its lowest zero is the bit of the Gray code that changes, above the stride
    x ^= step ^ v[__builtin_ctz(~changed)];
    out[i] = (float)x * 2.32830644e-10f;
  }
}
