#include "gemu.h"

// The weights of the surrounding pixels: a Gaussian. They sum to 16.
__constant__ int weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

// out = in smoothed, w×h grey pixels. The image is continued beyond its border by
// the pixels on it.
extern "C" __global__ void filter(const uchar *in, uchar *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int sum = 0;
  for (int dy = -1; dy <= 1; dy++) {
    int py = max(0, min(y + dy, h - 1));
    for (int dx = -1; dx <= 1; dx++) {
      int px = max(0, min(x + dx, w - 1));
      sum += weights[(dy + 1) * 3 + dx + 1] * in[py * w + px];
    }
  }
  out[y * w + x] = (sum + 8) / 16;
}
