#include "../gemu.h"

// Column k of the decomposition A = Q·R of an n×n matrix by the modified Gram-Schmidt process, in three steps.

// The length of column k of A; a single thread computes it.
extern "C" __global__ void gramschmidt_length(int n, int k, const float *a, float *r) {
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum = fmaf(a[i * n + k], a[i * n + k], sum);
  r[k * n + k] = sqrtf(sum);
}

// Column k of Q.
extern "C" __global__ void gramschmidt_unit(int n, int k, const float *a, const float *r, float *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    q[i * n + k] = a[i * n + k] / r[k * n + k];
}

// Makes each later column of A orthogonal to column k of Q; a thread has a column.
extern "C" __global__ void gramschmidt_rest(int n, int k, float *a, float *r, const float *q) {
  int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n)
    return;
  float sum = 0;
  for (int i = 0; i < n; i++)
    sum = fmaf(q[i * n + k], a[i * n + j], sum);
  r[k * n + j] = sum;
  for (int i = 0; i < n; i++)
    a[i * n + j] = fmaf(-q[i * n + k], sum, a[i * n + j]);
}
