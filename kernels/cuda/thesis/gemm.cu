#include "../gemu.h"

// C = alpha·A·B + beta·C for n×n matrices, without tiles; a thread computes an element.
extern "C" __global__ void gemm(int n, float alpha, float beta, const float *a, const float *b, float *c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum = fmaf(a[i * n + k], b[k * n + j], sum);
  c[i * n + j] = fmaf(c[i * n + j], beta, alpha * sum);
}
