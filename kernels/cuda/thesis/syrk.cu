#include "../gemu.h"

// C = alpha·A·Aᵀ + beta·C for an n×m matrix A; a thread computes an element.
extern "C" __global__ void syrk(int n, int m, float alpha, float beta, const float *a, float *c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n)
    return;
  float sum = 0;
  for (int k = 0; k < m; k++)
    sum = fmaf(a[i * m + k], a[j * m + k], sum);
  c[i * n + j] = fmaf(c[i * n + j], beta, alpha * sum);
}
