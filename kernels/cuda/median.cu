#include "gemu.h"

// out = the median of the 3×3 pixels around each of in, w×h grey pixels, continued beyond the
// border by its pixels. The median is the pixel with four pixels before it in order (among
// equal pixels, the order of places counts): the threads of a warp find theirs after 1 … 9
// tries.
extern "C" __global__ void median(const uchar *in, uchar *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int v[9];
#pragma unroll
  for (int i = 0; i < 9; i++)
    v[i] = in[max(0, min(y + i / 3 - 1, h - 1)) * w + max(0, min(x + i % 3 - 1, w - 1))];
#pragma unroll
  for (int i = 0; i < 9; i++) {
    int before = 0;
#pragma unroll
    for (int j = 0; j < 9; j++)
      before += j < i ? v[j] <= v[i] : v[j] < v[i];
    if (before == 4) {
      out[y * w + x] = v[i];
      return;
    }
  }
}
