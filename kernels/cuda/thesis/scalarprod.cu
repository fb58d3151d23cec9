#include "../gemu.h"

#define SUMS 256

// The dot product of each pair of vectors of n elements. A block computes one pair after another: partial sums, and a tree.
extern "C" __global__ void scalarprod(int vectors, int n, const float *a, const float *b, float *out) {
  __shared__ float sums[SUMS];
  for (int v = blockIdx.x; v < vectors; v += gridDim.x) {
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += SUMS)
      sum = fmaf(a[v * n + i], b[v * n + i], sum);
    sums[threadIdx.x] = sum;
    for (int half = SUMS / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half)
        sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
      out[v] = sums[0];
    __syncthreads();
  }
}
