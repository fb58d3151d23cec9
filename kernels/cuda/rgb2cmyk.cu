#include "gemu.h"

// Converts n pixels of red, green, blue into cyan, magenta, yellow, black. Black is the common part
// of the complements; it replaces this part of each.
extern "C" __global__ void rgb2cmyk(int n, const uchar *rgb, uchar *cmyk) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = 255 - rgb[3 * i], m = 255 - rgb[3 * i + 1], y = 255 - rgb[3 * i + 2];
  int k = min(c, min(m, y));
  cmyk[4 * i] = c - k;
  cmyk[4 * i + 1] = m - k;
  cmyk[4 * i + 2] = y - k;
  cmyk[4 * i + 3] = k;
}
