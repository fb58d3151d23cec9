#include "gemu.h"

#define TILE 16

// Factors a matrix a of n×n elements, n a multiple of TILE, into L·U in its place, without pivots: L is
// below the diagonal, and 1 on it. Step by step along the diagonal, from row and column `from` on, in
// three kernels.

// The tile at the diagonal, a thread for each row and column.
extern "C" __global__ void lud_diagonal(int n, int from, float *a) {
  __shared__ float tile[TILE][TILE];
  int t = threadIdx.x;
  a += from * n + from;
  for (int i = 0; i < TILE; i++)
    tile[i][t] = a[i * n + t];
#pragma unroll 1
  for (int i = 0; i < TILE - 1; i++) {
    __syncthreads();
    if (t > i) { // column i of L
      float v = tile[t][i];
      for (int j = 0; j < i; j++)
        v -= tile[t][j] * tile[j][i];
      tile[t][i] = v / tile[i][i];
    }
    __syncthreads();
    if (t > i) { // row i + 1 of U
      float v = tile[i + 1][t];
      for (int j = 0; j <= i; j++)
        v -= tile[i + 1][j] * tile[j][t];
      tile[i + 1][t] = v;
    }
  }
  for (int i = 0; i < TILE; i++)
    a[i * n + t] = tile[i][t];
}

// A tile to the right of the diagonal and a tile below it, per block, by 16 threads each: a thread
// solves a column of the first or a row of the second.
extern "C" __global__ void lud_perimeter(int n, int from, float *a) {
  __shared__ float diagonal[TILE][TILE], right[TILE][TILE], below[TILE][TILE];
  int t = threadIdx.x % TILE, half = threadIdx.x / TILE;
  int far = (blockIdx.x + 1) * TILE;
  a += from * n + from;
  for (int i = half * TILE / 2; i < (half + 1) * TILE / 2; i++)
    diagonal[i][t] = a[i * n + t];
  for (int i = 0; i < TILE; i++)
    if (half == 0)
      right[i][t] = a[i * n + far + t];
    else
      below[i][t] = a[(far + i) * n + t];
  __syncthreads();
  for (int i = 0; i < TILE; i++)
    if (half == 0) {
      float v = right[i][t];
      for (int j = 0; j < i; j++)
        v -= diagonal[i][j] * right[j][t];
      right[i][t] = v;
    } else {
      float v = below[t][i];
      for (int j = 0; j < i; j++)
        v -= below[t][j] * diagonal[j][i];
      below[t][i] = v / diagonal[i][i];
    }
  __syncthreads();
  for (int i = 0; i < TILE; i++)
    if (half == 0)
      a[i * n + far + t] = right[i][t];
    else
      a[(far + i) * n + t] = below[i][t];
}

// The remaining tiles, a tile per block of 16×16 threads: subtracts the product of the tiles at the perimeter.
extern "C" __global__ void lud_internal(int n, int from, float *a) {
  __shared__ float above[TILE][TILE], left[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = (blockIdx.x + 1) * TILE + tx, y = (blockIdx.y + 1) * TILE + ty;
  a += from * n + from;
  above[ty][tx] = a[ty * n + x];
  left[ty][tx] = a[y * n + tx];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < TILE; i++)
    sum += left[ty][i] * above[i][tx];
  a[y * n + x] -= sum;
}
