#include "../gemu.h"

// t = A·x for an n×m matrix A; a thread computes an element.
extern "C" __global__ void atax_rows(int n, int m, const float *a, const float *x, float *t) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < m; j++)
    sum = fmaf(a[i * m + j], x[j], sum);
  t[i] = sum;
}

// y = Aᵀ·t; a thread computes an element.
extern "C" __global__ void atax_columns(int n, int m, const float *a, const float *t, float *y) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m)
    return;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum = fmaf(a[i * m + j], t[i], sum);
  y[j] = sum;
}
