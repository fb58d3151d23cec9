#include "gemu.h"

#define RADIUS 4
#define BX 32
#define BY 8

__constant__ float stencil[RADIUS + 1];

// A step of a finite difference scheme on nx×ny×nz points: each becomes stencil[0] times itself and,
// for each distance up to RADIUS, stencil[distance] times the sum of the six points that
// far away along an axis. Around the points are RADIUS more on every side, which stay.
//
// A block of BX×BY threads moves up in z. The plane with the surroundings of the tile is in shared
// memory; the points of a thread's own column, below and above, move through registers.
extern "C" __global__ void fdtd3d(int nx, int ny, int nz, const float *in, float *out) {
  __shared__ float plane[BY + 2 * RADIUS][BX + 2 * RADIUS];
  float below[RADIUS], above[RADIUS]; // the nearest first
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BX + tx, y = blockIdx.y * BY + ty;
  int width = nx + 2 * RADIUS, area = width * (ny + 2 * RADIUS), i = (y + RADIUS) * width + x + RADIUS;
  bool known = x < nx + RADIUS && y < ny + RADIUS, inside = x < nx && y < ny;
  float here = 0;
  if (known) {
    for (int r = 0; r < RADIUS; r++)
      below[RADIUS - 1 - r] = in[i + r * area];
    here = in[i + RADIUS * area];
    for (int r = 0; r < RADIUS; r++)
      above[r] = in[i + (RADIUS + 1 + r) * area];
  }
  i += RADIUS * area;
#pragma unroll 1
  for (int z = 0;; i += area) {
    if (known) {
      plane[ty + RADIUS][tx + RADIUS] = here;
      if (tx < RADIUS) {
        plane[ty + RADIUS][tx] = in[i - RADIUS];
        if (x + BX < nx + RADIUS)
          plane[ty + RADIUS][tx + BX + RADIUS] = in[i + BX];
      }
      if (ty < RADIUS) {
        plane[ty][tx + RADIUS] = in[i - RADIUS * width];
        if (y + BY < ny + RADIUS)
          plane[ty + BY + RADIUS][tx + RADIUS] = in[i + BY * width];
      }
    }
    __syncthreads();
    if (inside) {
      float sum = stencil[0] * here;
#pragma unroll
      for (int r = 1; r <= RADIUS; r++)
        sum = fmaf(stencil[r], below[r - 1] + above[r - 1] + plane[ty + RADIUS - r][tx + RADIUS] + plane[ty + RADIUS + r][tx + RADIUS] + plane[ty + RADIUS][tx + RADIUS - r] + plane[ty + RADIUS][tx + RADIUS + r], sum);
      out[i] = sum;
    }
    if (++z == nz)
      break;
    __syncthreads();
    if (known) {
      for (int r = RADIUS - 1; r > 0; r--)
        below[r] = below[r - 1];
      below[0] = here;
      here = above[0];
      for (int r = 0; r < RADIUS - 1; r++)
        above[r] = above[r + 1];
      above[RADIUS - 1] = in[i + (RADIUS + 1) * area];
    }
  }
}
