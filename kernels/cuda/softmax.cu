#include <cuda_fp16.h>

// The softmax of each row of 1024 halves: the exponentials of the elements, divided by their sum. A warp computes a
// row: a lane has four vectors of eight halves. The greatest element is subtracted first, so no exponential overflows.
// The kernel needs warps of 32 lanes.

#define COLUMNS 1024
#define VECTORS (COLUMNS / 32 / 8) // of a lane

// 2^x by a single instruction.
static __device__ __forceinline__ float power2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

extern "C" __global__ void __launch_bounds__(128) softmax(int rows, const uint4 *in, uint4 *out) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows)
    return;
  union {
    uint4 vector[VECTORS];
    __half2 pair[4 * VECTORS];
  } x;
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
    x.vector[i] = in[row * (COLUMNS / 8) + i * 32 + lane];

  __half2 greatest = x.pair[0];
#pragma unroll
  for (int i = 1; i < 4 * VECTORS; i++)
    greatest = __hmax2(greatest, x.pair[i]);
  for (int distance = 16; distance > 0; distance /= 2)
    greatest = __hmax2(greatest, __shfl_xor_sync(0xffffffff, greatest, distance));
  const float log2e = 1.44269504f;
  float most = __half2float(__hmax(__low2half(greatest), __high2half(greatest))) * log2e;

  float2 power[4 * VECTORS];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4 * VECTORS; i++) {
    float2 v = __half22float2(x.pair[i]);
    power[i] = make_float2(power2(fmaf(v.x, log2e, -most)), power2(fmaf(v.y, log2e, -most)));
    sum += power[i].x + power[i].y;
  }
  for (int distance = 16; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, distance);

  float scale = 1 / sum;
#pragma unroll
  for (int i = 0; i < 4 * VECTORS; i++)
    x.pair[i] = __floats2half2_rn(power[i].x * scale, power[i].y * scale);
#pragma unroll
  for (int i = 0; i < VECTORS; i++)
    out[row * (COLUMNS / 8) + i * 32 + lane] = x.vector[i];
}
