#include "measured.h"

#define COLS 16 // of C of a block
#define STEP 8

struct quad {
  float x, y, z, w;
} __attribute__((aligned(16)));

// C = alpha·A·Bᵀ + beta·C, stored column by column: A is m×k, B is n×k. A block of COLS×STEP threads computes COLS columns
// of C, and a thread a row of them. Tiles of B go through shared memory; a thread loads its elements of A itself.
extern "C" __global__ void sgemm(float *a, int lda, float *b, int ldb, float *c, int ldc, int k, float alpha, float beta) {
  SHARED quad tile[STEP][COLS / 4];
  int row = (blockIdx.x * STEP + threadIdx.y) * COLS + threadIdx.x, col = blockIdx.y * COLS;
  float sum[COLS];
#pragma unroll
  for (int j = 0; j < COLS; j++)
    sum[j] = 0;
#pragma unroll 1
  for (int i = 0; i < k; i += STEP) {
    ((float *)tile)[threadIdx.y * COLS + threadIdx.x] = b[col + threadIdx.x + (i + threadIdx.y) * ldb];
    __syncthreads();
#pragma unroll
    for (int s = 0; s < STEP; s++) {
      float x = a[row + (i + s) * lda];
#pragma unroll
      for (int j = 0; j < COLS; j += 4) {
        quad y = tile[s][j / 4];
        sum[j] += x * y.x;
        sum[j + 1] += x * y.y;
        sum[j + 2] += x * y.z;
        sum[j + 3] += x * y.w;
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < COLS; j++)
    c[row + (col + j) * ldc] = c[row + (col + j) * ldc] * beta + alpha * sum[j];
}
