#include "mars.h"

// An element of a matrix product for each record: its key is the row and the column of the element. Writes the element and the
// directory of the results. Matrix b has as many columns as the product.
extern "C" __global__ void mm_map(int n, int inner, int columns, const float *a, const float *b, const struct record *in, const uchar *keys, float *values, struct record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  struct record r = in[i];
  const uint *place = (const uint *)(keys + r.key);
  const float *row = a + place[0] * inner, *column = b + place[1];
  float sum = 0;
  for (int k = 0; k < inner; k++)
    sum = fmaf(row[k], column[k * columns], sum);
  values[i] = sum;
  struct record result = {r.key, r.keySize, (uint)(4 * i), 4};
  out[i] = result;
}
