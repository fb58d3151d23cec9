#include "../gemu.h"

// y = A·x for a sparse matrix in compressed rows: the elements of row i are those from first[i] to first[i + 1] - 1. A thread
// computes a row.
extern "C" __global__ void spmvcsr(int n, const int *first, const int *column, const float *value, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = first[i]; k < first[i + 1]; k++)
    sum = fmaf(value[k], x[column[k]], sum);
  y[i] = sum;
}
