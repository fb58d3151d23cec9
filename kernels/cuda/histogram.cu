#include "gemu.h"

// Adds the number of occurrences of each byte in data to bins. A block counts in shared
// memory first: few atomics then go to global memory. Blocks of 256 threads, one per
// bin.
extern "C" __global__ void histogram(const uchar *data, int n, uint *bins) {
  __shared__ uint local[256];
  int t = threadIdx.x;
  local[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  if (local[t] > 0)
    atomicAdd(&bins[t], local[t]);
}
