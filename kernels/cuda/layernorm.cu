#include <cuda_fp16.h>

// Layer normalisation of rows of 768 halves: each row is shifted and scaled to mean 0 and variance 1, and then
// multiplied by gamma and increased by beta, column by column. A block of three warps computes a row, each thread eight
// halves of it. Sums are in float. The kernel needs warps of 32 lanes.

#define COLUMNS 768
#define WARPS (COLUMNS / 8 / 32)

union vector {
  uint4 words;
  __half2 pair[4];
};

// The sum of x over all threads of the block; partial is its memory.
static __device__ __forceinline__ float sum_of_block(float x, float *partial) {
  for (int distance = 16; distance > 0; distance /= 2)
    x += __shfl_xor_sync(0xffffffff, x, distance);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = partial[0];
#pragma unroll
  for (int i = 1; i < WARPS; i++)
    sum += partial[i];
  return sum;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) layernorm(float epsilon, const uint4 *in, const uint4 *gamma, const uint4 *beta, uint4 *out) {
  __shared__ float sums[WARPS], squares[WARPS];
  vector x;
  x.words = in[blockIdx.x * (COLUMNS / 8) + threadIdx.x];
  float2 v[4];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i] = __half22float2(x.pair[i]);
    sum += v[i].x + v[i].y;
  }
  float mean = sum_of_block(sum, sums) * (1.0f / COLUMNS);
  float square = 0;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i].x -= mean;
    v[i].y -= mean;
    square = fmaf(v[i].x, v[i].x, fmaf(v[i].y, v[i].y, square));
  }
  float scale = rsqrtf(fmaf(sum_of_block(square, squares), 1.0f / COLUMNS, epsilon));
  vector g, b;
  g.words = gamma[threadIdx.x];
  b.words = beta[threadIdx.x];
#pragma unroll
  for (int i = 0; i < 4; i++)
    x.pair[i] = __hfma2(__floats2half2_rn(v[i].x * scale, v[i].y * scale), g.pair[i], b.pair[i]);
  out[blockIdx.x * (COLUMNS / 8) + threadIdx.x] = x.words;
}
