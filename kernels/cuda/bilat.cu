#include "gemu.h"

#define RADIUS 3
#define SIDE (2 * RADIUS + 1)

// exp(-(dx² + dy²) / 2σ²) for the surrounding pixels. Set by the host.
__constant__ float nearness[SIDE * SIDE];

// e^-t for 0 ≤ t ≤ 4.5: the first terms of the Taylor series for t/8, to the 8th
// power.
GEMU_INLINE float decay(float t) {
  float u = t * -0.125f;
  float e = 1 + u * (1 + u * (1 / 2.f + u * (1 / 6.f + u * (1 / 24.f))));
  e *= e;
  e *= e;
  return e * e;
}

// out = the bilateral filter of in, w×h grey pixels: each the mean of its surrounding pixels,
// weighted by their distance in place and in intensity. Pixels at more than 3σ in intensity do not
// count; scale is 1/2σ².
extern "C" __global__ void bilat(const uchar *in, float *out, int w, int h, int sigma, float scale) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int centre = in[y * w + x];
  float sum = 0, weights = 0;
  for (int dy = -RADIUS; dy <= RADIUS; dy++) {
    for (int dx = -RADIUS; dx <= RADIUS; dx++) {
      if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h)
        continue;
      int v = in[(y + dy) * w + x + dx];
      int d = abs(v - centre);
      if (d > 3 * sigma)
        continue;
      float weight = nearness[(dy + RADIUS) * SIDE + dx + RADIUS] * decay(d * d * scale);
      sum += weight * v;
      weights += weight;
    }
  }
  out[y * w + x] = sum / weights;
}
