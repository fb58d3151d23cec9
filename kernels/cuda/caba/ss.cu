#include "mars.h"

// The length of each document's vector.
extern "C" __global__ void ss_lengths(int n, int dims, const float *documents, float *lengths) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int d = 0; d < dims; d++)
    sum = fmaf(documents[i * dims + d], documents[i * dims + d], sum);
  lengths[i] = sqrtf(sum);
}

// The cosine of two documents for each record: its key is their numbers. Writes the cosine and the directory of the results.
extern "C" __global__ void ss_map(int n, int dims, const float *documents, const float *lengths, const struct record *in, const uchar *keys, float *values, struct record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  struct record r = in[i];
  const uint *pair = (const uint *)(keys + r.key);
  const float *a = documents + pair[0] * dims, *b = documents + pair[1] * dims;
  float sum = 0;
  for (int d = 0; d < dims; d++)
    sum = fmaf(a[d], b[d], sum);
  values[i] = sum / (lengths[pair[0]] * lengths[pair[1]]);
  struct record result = {r.key, r.keySize, (uint)(4 * i), 4};
  out[i] = result;
}
