#include "../gemu.h"

// A step of the temperature of a chip of several layers: each cell exchanges heat with its neighbours in three dimensions and with the
// surroundings. A thread computes the cells of a column through all layers, from the bottom up, and keeps three layers in registers.
// Cells at the border are their own neighbours beyond it.
extern "C" __global__ void hotspot3d(int nx, int ny, int nz, const float *power, const float *from, float *to, float along, float upwards, float scale, float ambient) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny)
    return;
  int layer = nx * ny, at = y * nx + x, west = x == 0 ? 0 : -1, east = x == nx - 1 ? 0 : 1, north = y == 0 ? 0 : -nx, south = y == ny - 1 ? 0 : nx;
  float own = 1 - (4 * along + 2 * upwards + scale * 0.0625f);
  float below = from[at], here = below, above = nz > 1 ? from[at + layer] : here;
  for (int z = 0; z < nz; z++, at += layer) {
    float t = here * own;
    t = fmaf(along, from[at + west] + from[at + east], t);
    t = fmaf(along, from[at + north] + from[at + south], t);
    t = fmaf(upwards, below + above, t);
    to[at] = fmaf(scale, power[at], fmaf(scale * 0.0625f, ambient, t));
    below = here;
    here = above;
    above = z + 2 < nz ? from[at + 2 * layer] : here;
  }
}
