#include "../gemu.h"

// C += A·B for a tile of B: its rows from `first` on, as many as `rows`. All matrices are n×n; a thread computes an element of C.
extern "C" __global__ void tiledgemm(int n, int first, int rows, const float *a, const float *b, float *c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  float sum = c[i * n + j];
  for (int k = first; k < first + rows; k++)
    sum = fmaf(a[i * n + k], b[k * n + j], sum);
  c[i * n + j] = sum;
}
