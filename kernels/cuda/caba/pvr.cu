#include "marssort.h"

// Makes the number of views the key and the URL the value of each page. Of the input, the URL is the key and the number of
// views the value.
extern "C" __global__ void pvr_map(int n, const struct record *in, const uchar *views, uint *keys, struct record *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  struct record r = in[i], page = {(uint)(4 * i), 4, r.key, r.keySize};
  keys[i] = *(const uint *)(views + r.value);
  out[i] = page;
}
