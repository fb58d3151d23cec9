#include "gemu.h"

// *out += the sum of in. A thread sums elements a grid apart, a warp its threads
// by shuffles, a block its warps through shared memory, the grid its blocks by
// an atomic.
extern "C" __global__ void reduce(const int *in, int n, int *out) {
  __shared__ int warps[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0)
    warps[warp] = sum;
  __syncthreads();
  if (warp > 0)
    return;
  sum = lane < blockDim.x / 32 ? warps[lane] : 0;
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0)
    atomicAdd(out, sum);
}
