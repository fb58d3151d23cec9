#include "gemu.h"

// C = alpha·A·B + beta·C, where A is m×k, B is k×n and C is m×n, row by row: a thread for each element.
extern "C" __global__ void naive(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; i++)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = fmaf(c[row * n + col], beta, alpha * sum);
}
