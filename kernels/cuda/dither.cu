#include "gemu.h"

// out = in in black and white, w×h grey pixels, by Floyd-Steinberg dithering: the error of a pixel
// goes to later pixels to the right and below,
//
//        *  7
//     3  5  1     sixteenths.
//
// A pixel thus waits for its left neighbour and three above: pixels on a diagonal x + 2y are
// independent. A block proceeds diagonal by diagonal, its threads share the pixels of each. White
// pixels stay white and pass on no error.
extern "C" __global__ void dither(const uchar *in, uchar *out, int *error, int w, int h) {
  for (int d = 0; d < w + 2 * (h - 1); d++) {
    int top = max(0, (d - w + 2) / 2), bottom = min(h - 1, d / 2);
    for (int y = top + threadIdx.x; y <= bottom; y += blockDim.x) {
      int x = d - 2 * y, i = y * w + x;
      int v = in[i];
      if (v == 255) {
        out[i] = 255;
        continue;
      }
      int sum = 0;
      if (x > 0)
        sum += 7 * error[i - 1];
      if (y > 0) {
        if (x > 0)
          sum += error[i - w - 1];
        sum += 5 * error[i - w];
        if (x < w - 1)
          sum += 3 * error[i - w + 1];
      }
      v += sum / 16;
      out[i] = v < 128 ? 0 : 255;
      error[i] = v < 128 ? v : v - 255;
    }
    __syncthreads();
  }
}
