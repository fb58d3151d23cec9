#include "../gemu.h"

// C = A·Aᵀ for a tile of A: its rows from `first` on, as many as `rows`, give these columns of C. All matrices are n×n;
// a thread computes an element of C.
extern "C" __global__ void tiledsyrk(int n, int first, int rows, const float *a, float *c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= rows)
    return;
  float sum = 0;
  for (int k = 0; k < n; k++)
    sum = fmaf(a[i * n + k], a[(first + j) * n + k], sum);
  c[i * n + first + j] = sum;
}
