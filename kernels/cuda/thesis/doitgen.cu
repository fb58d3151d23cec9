#include "../gemu.h"

// Plane r of a sum: sum[r][q][p] is the product of row a[r][q] and column p of c, for np elements of a row.
extern "C" __global__ void doitgen(int nq, int np, int r, const float *a, const float *c, float *sum) {
  int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
  if (p >= np || q >= nq)
    return;
  float v = 0;
  for (int s = 0; s < np; s++)
    v = fmaf(a[(r * nq + q) * np + s], c[s * np + p], v);
  sum[(r * nq + q) * np + p] = v;
}
