#include "gemu.h"

#define TILE 16

// C = alpha·A·B + beta·C, where A is m×k, B is k×n and C is m×n, row by row.
// A block computes a tile of C from tiles of A and B that it brings into shared
// memory.
extern "C" __global__ void sgemm(int m, int n, int k, float alpha, const float *a, const float *b, float beta, float *c) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int t = 0; t < k; t += TILE) {
    as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0;
    bs[ty][tx] = t + ty < k && col < n ? b[(t + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE; i++)
      sum += as[ty][i] * bs[i][tx];
    __syncthreads();
  }
  if (row < m && col < n)
    c[row * n + col] = fmaf(c[row * n + col], beta, alpha * sum);
}
