#include "../gemu.h"

#define BINS 1024

// Adds the number of occurrences of each bin to bins. A row of blocks counts the bins of one range, in shared memory, and
// reads all pixels. A pixel has the number of its range in its high byte, and that of the bin in the range below.
extern "C" __global__ void histo(const uint *pixels, int n, uint *bins) {
  __shared__ uint local[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    uint pixel = pixels[i];
    if (pixel >> 24 == blockIdx.y)
      atomicAdd(&local[pixel & (BINS - 1)], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x)
    if (local[i] > 0)
      atomicAdd(&bins[blockIdx.y * BINS + i], local[i]);
}
