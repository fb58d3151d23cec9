#include "gemu.h"

// y = A·x for a sparse matrix of n rows in jagged diagonals: the rows are sorted by their numbers of
// elements, the longest first, and the k-th elements of all rows with at least k elements are consecutive,
// from value[first[k]] on, with their columns in column. length is the number of elements of a sorted row,
// row its original index. A thread for each row.
extern "C" __global__ void spmv(int n, const int *length, const int *row, const int *first, const int *column, const float *value, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < length[i]; k++)
    sum += value[first[k] + i] * x[column[first[k] + i]];
  y[row[i]] = sum;
}
