#include "gemu.h"

// out = in, blurred where the mask is set: there a pixel becomes the mean of its 3×3 pixels inside
// the image. w×h grey pixels.
extern "C" __global__ void mfilt(const uchar *in, const uchar *mask, uchar *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int i = y * w + x;
  if (!mask[i]) {
    out[i] = in[i];
    return;
  }
  int sum = 0, count = 0;
  for (int py = max(y - 1, 0); py <= min(y + 1, h - 1); py++) {
    for (int px = max(x - 1, 0); px <= min(x + 1, w - 1); px++) {
      sum += in[py * w + px];
      count++;
    }
  }
  out[i] = sum / count;
}
