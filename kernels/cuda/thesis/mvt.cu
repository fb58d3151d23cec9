#include "../gemu.h"

// x += A·y for an n×n matrix A; a thread computes an element.
extern "C" __global__ void mvt_rows(int n, const float *a, const float *y, float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = x[i];
  for (int j = 0; j < n; j++)
    sum = fmaf(a[i * n + j], y[j], sum);
  x[i] = sum;
}

// x += Aᵀ·y; a thread computes an element.
extern "C" __global__ void mvt_columns(int n, const float *a, const float *y, float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = x[i];
  for (int j = 0; j < n; j++)
    sum = fmaf(a[j * n + i], y[j], sum);
  x[i] = sum;
}
