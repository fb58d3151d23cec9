#include "gemu.h"

// out[y·w + x] = the number of steps z = z² + c that stay within |z| ≤ 2, at most
// limit, for c = (left + x·step) + (top - y·step)·i.
extern "C" __global__ void mandelbrot(float left, float top, float step, int w, int h, int limit, int *out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  float cr = left + x * step, ci = top - y * step;
  float zr = 0, zi = 0;
  int n = 0;
  while (n < limit) {
    float rr = zr * zr, ii = zi * zi;
    if (rr + ii > 4)
      break;
    zi = 2 * zr * zi + ci;
    zr = rr - ii + cr;
    n++;
  }
  out[y * w + x] = n;
}
