#include <cuda_fp16.h>

// Converts rows of 1024 halves to floats of 8 bits (e4m3), with a scale for each row: the greatest magnitude of a row
// becomes 448, which is the greatest e4m3. A block of four warps computes a row, each thread eight elements. The kernel
// needs warps of 32 lanes.

#define COLUMNS 1024
#define WARPS (COLUMNS / 8 / 32)

// Two floats as e4m3, the first in the low bits.
static __device__ __forceinline__ ushort e4m3_pair(float low, float high) {
  ushort pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) quantise(const uint4 *in, uint2 *out, float *scales) {
  __shared__ float greatest[WARPS];
  union {
    uint4 words;
    __half2 pair[4];
  } x;
  x.words = in[blockIdx.x * (COLUMNS / 8) + threadIdx.x];
  __half2 most = __habs2(x.pair[0]);
#pragma unroll
  for (int i = 1; i < 4; i++)
    most = __hmax2(most, __habs2(x.pair[i]));
  for (int distance = 16; distance > 0; distance /= 2)
    most = __hmax2(most, __shfl_xor_sync(0xffffffff, most, distance));
  if (threadIdx.x % 32 == 0)
    greatest[threadIdx.x / 32] = __half2float(__hmax(__low2half(most), __high2half(most)));
  __syncthreads();
  float all = greatest[0];
#pragma unroll
  for (int i = 1; i < WARPS; i++)
    all = fmaxf(all, greatest[i]);
  float factor = all > 0 ? 448 / all : 1;
  union {
    uint2 words;
    ushort pair[4];
  } y;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    float2 v = __half22float2(x.pair[i]);
    y.pair[i] = e4m3_pair(v.x * factor, v.y * factor);
  }
  out[blockIdx.x * (COLUMNS / 8) + threadIdx.x] = y.words;
  if (threadIdx.x == 0)
    scales[blockIdx.x] = 1 / factor;
}
