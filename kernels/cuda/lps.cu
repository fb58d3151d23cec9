#include "gemu.h"

#define BX 32
#define BY 4

// One Jacobi step for Laplace's equation on a grid of nx×ny×nz points: each becomes the mean of its
// six neighbours, points on the boundary stay. A block of BX×BY threads moves up in z, a plane at a
// time; the plane is in shared memory with a rim of one point, the points below and above a
// thread's own in registers.
extern "C" __global__ void lps(int nx, int ny, int nz, const float *in, float *out) {
  __shared__ float plane[BY + 2][BX + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
  bool inside = x < nx && y < ny;
  int area = nx * ny, i = y * nx + x;
  float below = 0, here = inside ? in[i] : 0;
  for (int z = 0; z < nz; z++, i += area) {
    float above = inside && z < nz - 1 ? in[i + area] : 0;
    plane[ty][tx] = here;
    if (inside) {
      if (tx == 1 && x > 0)
        plane[ty][0] = in[i - 1];
      if (tx == BX && x < nx - 1)
        plane[ty][BX + 1] = in[i + 1];
      if (ty == 1 && y > 0)
        plane[0][tx] = in[i - nx];
      if (ty == BY && y < ny - 1)
        plane[BY + 1][tx] = in[i + nx];
    }
    __syncthreads();
    if (inside) {
      if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1)
        out[i] = here;
      else
        out[i] = (plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx] + below + above) * (1 / 6.f);
    }
    __syncthreads();
    below = here;
    here = above;
  }
}
