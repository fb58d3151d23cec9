#include "../gemu.h"

// A step of a five-point stencil on a tile: the rows from `first` on, as many as `rows`, of a grid of n columns and total rows. Cells at the
// edge of the grid stay.
extern "C" __global__ void tiledstencil(int n, int total, int first, int rows, const float *from, float *to) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = first + blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= first + rows || j >= n)
    return;
  float v = from[i * n + j];
  if (i > 0 && i < total - 1 && j > 0 && j < n - 1)
    v = 0.2f * (v + from[i * n + j - 1] + from[i * n + j + 1] + from[(i - 1) * n + j] + from[(i + 1) * n + j]);
  to[i * n + j] = v;
}
