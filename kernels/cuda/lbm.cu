#include "gemu.h"

#define DIRECTIONS 19
#define OMEGA 1.25f // share of the distance to equilibrium that a step removes
#define OBSTACLE 1
#define DRIVEN 2

// Each of the 19 directions: its number d, the steps along x, y and z, its weight, and the velocity
// u along it. All but the first come in pairs of opposite directions.
#define ALL(DO) \
  DO(0, 0, 0, 0, 1 / 3.f, 0.f) \
  DO(1, 1, 0, 0, 1 / 18.f, ux) DO(2, -1, 0, 0, 1 / 18.f, -ux) \
  DO(3, 0, 1, 0, 1 / 18.f, uy) DO(4, 0, -1, 0, 1 / 18.f, -uy) \
  DO(5, 0, 0, 1, 1 / 18.f, uz) DO(6, 0, 0, -1, 1 / 18.f, -uz) \
  DO(7, 1, 1, 0, 1 / 36.f, ux + uy) DO(8, -1, -1, 0, 1 / 36.f, -ux - uy) \
  DO(9, 1, -1, 0, 1 / 36.f, ux - uy) DO(10, -1, 1, 0, 1 / 36.f, uy - ux) \
  DO(11, 1, 0, 1, 1 / 36.f, ux + uz) DO(12, -1, 0, -1, 1 / 36.f, -ux - uz) \
  DO(13, 1, 0, -1, 1 / 36.f, ux - uz) DO(14, -1, 0, 1, 1 / 36.f, uz - ux) \
  DO(15, 0, 1, 1, 1 / 36.f, uy + uz) DO(16, 0, -1, -1, 1 / 36.f, -uy - uz) \
  DO(17, 0, 1, -1, 1 / 36.f, uy - uz) DO(18, 0, -1, 1, 1 / 36.f, uz - uy)

// A step of the lattice Boltzmann method on nx×ny×nz sites, one row of them per block, with as many
// threads: in[d·n + i] is the fluid at site i, of n, that moves in direction d. It collides there,
// and moves on to the next sites, beyond an edge to the opposite side. Obstacles reflect the fluid;
// at driven sites it has a given velocity.
extern "C" __global__ void lbm(const uchar *kind, const float *in, float *out) {
  int nx = blockDim.x, ny = gridDim.x, nz = gridDim.y;
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  int n = nx * ny * nz, i = (z * ny + y) * nx + x;
  int west = x > 0 ? -1 : nx - 1, east = x < nx - 1 ? 1 : 1 - nx;
  int south = y > 0 ? -nx : (ny - 1) * nx, north = y < ny - 1 ? nx : (1 - ny) * nx;
  int down = z > 0 ? -nx * ny : (nz - 1) * nx * ny, up = z < nz - 1 ? nx * ny : (1 - nz) * nx * ny;
  float f[DIRECTIONS];
#pragma unroll
  for (int d = 0; d < DIRECTIONS; d++)
    f[d] = in[d * n + i];
  if (kind[i] == OBSTACLE) {
#pragma unroll
    for (int d = 1; d < DIRECTIONS; d += 2) {
      float back = f[d];
      f[d] = f[d + 1];
      f[d + 1] = back;
    }
  } else {
    float density = f[0];
#pragma unroll
    for (int d = 1; d < DIRECTIONS; d++)
      density += f[d];
    float ux = (f[1] - f[2] + f[7] - f[8] + f[9] - f[10] + f[11] - f[12] + f[13] - f[14]) / density;
    float uy = (f[3] - f[4] + f[7] - f[8] - f[9] + f[10] + f[15] - f[16] + f[17] - f[18]) / density;
    float uz = (f[5] - f[6] + f[11] - f[12] - f[13] + f[14] + f[15] - f[16] - f[17] + f[18]) / density;
    if (kind[i] == DRIVEN) {
      ux = 0.005f;
      uy = 0.002f;
      uz = 0;
    }
    float rest = fmaf(-1.5f, fmaf(uz, uz, fmaf(uy, uy, ux * ux)), 1);
#define COLLIDE(d, dx, dy, dz, weight, u) \
    { \
      float along = u; \
      float equilibrium = fmaf(fmaf(4.5f, along, 3), along, rest); \
      f[d] = fmaf(OMEGA, fmaf((weight) * density, equilibrium, -f[d]), f[d]); \
    }
    ALL(COLLIDE)
  }
#define MOVE(d, dx, dy, dz, weight, u) \
  out[d * n + i + (dx < 0 ? west : dx > 0 ? east : 0) + (dy < 0 ? south : dy > 0 ? north : 0) + (dz < 0 ? down : dz > 0 ? up : 0)] = f[d];
  ALL(MOVE)
}
