#include "../gemu.h"

// C += Aᵀ·A for a tile of A: its rows from `first` on, as many as `rows`. All matrices are n×n; a thread computes an element of C.
extern "C" __global__ void tiledsyrk(int n, int first, int rows, const float *a, float *c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  float sum = c[i * n + j];
  for (int k = first; k < first + rows; k++)
    sum = fmaf(a[k * n + i], a[k * n + j], sum);
  c[i * n + j] = sum;
}
