#include "gemu.h"

#define BX 32
#define BY 4

// A step of a 7-point stencil on nx×ny×nz points: neighbours·(the sum of the six) - centre·(the point
// itself). Points on the boundary of out do not change.
//
// A block of BX×BY threads has 2·BX×BY columns, two for each thread, and moves up in z: the points of
// a thread's own columns below and above are in registers, the plane in shared memory; the
// surroundings of the tile come from global memory.
extern "C" __global__ void stencil(int nx, int ny, int nz, float centre, float neighbours, const float *in, float *out) {
  __shared__ float plane[BY][2 * BX];
  int tx = threadIdx.x, ty = threadIdx.y;
  int y = blockIdx.y * BY + ty, area = nx * ny;
  int x[2], i[2];
  bool known[2], inside[2];
  float below[2], here[2], above[2];
  for (int c = 0; c < 2; c++) {
    x[c] = (2 * blockIdx.x + c) * BX + tx;
    i[c] = y * nx + x[c];
    known[c] = x[c] < nx && y < ny;
    inside[c] = x[c] > 0 && x[c] < nx - 1 && y > 0 && y < ny - 1;
    below[c] = known[c] ? in[i[c]] : 0;
    here[c] = known[c] ? in[i[c] + area] : 0;
  }
#pragma unroll 1
  for (int z = 1; z < nz - 1; z++) {
    for (int c = 0; c < 2; c++) {
      i[c] += area;
      above[c] = known[c] ? in[i[c] + area] : 0;
      plane[ty][tx + c * BX] = here[c];
    }
    __syncthreads();
    for (int c = 0; c < 2; c++) {
      if (inside[c]) {
        int t = tx + c * BX;
        float west = t > 0 ? plane[ty][t - 1] : in[i[c] - 1];
        float east = t < 2 * BX - 1 ? plane[ty][t + 1] : in[i[c] + 1];
        float north = ty > 0 ? plane[ty - 1][t] : in[i[c] - nx];
        float south = ty < BY - 1 ? plane[ty + 1][t] : in[i[c] + nx];
        out[i[c]] = fmaf(neighbours, below[c] + above[c] + north + south + west + east, -centre * here[c]);
      }
      below[c] = here[c];
      here[c] = above[c];
    }
    __syncthreads();
  }
}
