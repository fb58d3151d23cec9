#include "measured.h"

#define DIMENSIONS 3
#define BITS 31

__constant__ uint directions[DIMENSIONS][BITS];

// The first n points of a digital sequence in DIMENSIONS dimensions, in (0, 1]; threadIdx.y is the dimension.
extern "C" __global__ void quasirandom(float *out, uint seed, uint n) {
  uint stride = blockDim.x * gridDim.x, d = threadIdx.y;
#pragma unroll 1
  for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    uint x = 0, index = seed + i;
#pragma unroll 1
    for (int bit = 0; bit < BITS; bit++, index >>= 1)
      if (index & 1)
        x ^= directions[d][bit];
    out[d * n + i] = (float)(x + 1) * 4.65661287e-10f; // 2^-31
  }
}

// The inverse of the normal distribution function, by Moro's approximation (The full Monte, 1995).
GEMU_INLINE float inverse(float p) {
#pragma clang fp contract(off)
  float x = p - 0.5f;
  if (fabsf(x) < 0.42f) {
    float z = x * x;
    return x * (((-25.4410605f * z + 41.3911977f) * z - 18.6150006f) * z + 2.50662824f) / ((((3.13082909f * z - 21.0622410f) * z + 23.0833674f) * z - 8.47351093f) * z + 1);
  }
  float z = __logf(-__logf(x > 0 ? 1 - p : p));
  z = 0.337475482f + z * (0.976169019f + z * (0.160797971f + z * (0.0276438810f + z * (0.00384057294f + z * (0.000395189651f + z * (0.0000321767882f + z * (0.000000288816736f + z * 0.000000396031519f)))))));
  return x > 0 ? z : -z;
}

// out[i] is the normal distribution's quantile for (i + 1)/(n + 1).
extern "C" __global__ void inverse_normal(float *out, uint n) {
#pragma clang fp contract(off)
  float step = 1.0f / (float)(n + 1);
#pragma unroll 1
  for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    out[i] = inverse((float)(i + 1) * step);
}
