// The number of occurrences of each byte, with a histogram in shared memory for each warp of the block, so that warps
// compete less for a counter. A thread reads 16 bytes at a time. Blocks of 256 threads, one per byte.

#define WARPS 8 // of 32 threads

extern "C" __global__ void __launch_bounds__(256) bytecount(int vectors, const uint4 *data, unsigned *bins) {
  __shared__ unsigned local[WARPS][256];
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    local[i][threadIdx.x] = 0;
  __syncthreads();
  unsigned *own = local[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += gridDim.x * blockDim.x) {
    uint4 v = data[i];
    unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int j = 0; j < 16; j++)
      atomicAdd(&own[word[j / 4] >> j % 4 * 8 & 0xff], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < WARPS; i++)
    sum += local[i][threadIdx.x];
  if (sum > 0)
    atomicAdd(&bins[threadIdx.x], sum);
}
