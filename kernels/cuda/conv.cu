#include "gemu.h"

// out[i] = Σ taps[j]·in[i + j] over the taps, for n outputs; in has taps - 1 more
// elements.
extern "C" __global__ void conv(int n, const float *in, int taps, const float *tap, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < taps; j++)
    sum += tap[j] * in[i + j];
  out[i] = sum;
}
