#include "gemu.h"

#ifndef BLOCK
#define BLOCK 16
#endif

// Computes steps time steps of the temperature of a chip of rows×cols cells. In a step each cell
// changes by the power that it dissipates, by its four neighbours, and by the surroundings of the
// chip; the factors include the length of the step and the resistances. Beyond an edge the
// temperature is the temperature of the cell at the edge.
//
// A block of BLOCK×BLOCK threads has a tile in shared memory; each step loses a rim of it. Therefore
// tiles overlap by 2·steps, and the inner cells of a block are right at the end.
extern "C" __global__ void hotspot(int steps, int rows, int cols, const float *power, const float *in, float *out, float capacity, float acrossX, float acrossY, float outwards, float ambient) {
  __shared__ float tile[BLOCK][BLOCK];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * (BLOCK - 2 * steps) + tx - steps, y = blockIdx.y * (BLOCK - 2 * steps) + ty - steps;
  bool inside = x >= 0 && x < cols && y >= 0 && y < rows;
  int north = y > 0 ? ty - 1 : ty, south = y < rows - 1 ? ty + 1 : ty;
  int west = x > 0 ? tx - 1 : tx, east = x < cols - 1 ? tx + 1 : tx;
  float heat = 0, here = 0;
  if (inside) {
    heat = power[y * cols + x];
    here = in[y * cols + x];
  }
  bool valid;
#pragma unroll 1
  for (int i = 1;; i++) {
    tile[ty][tx] = here;
    __syncthreads();
    valid = inside && tx >= i && tx < BLOCK - i && ty >= i && ty < BLOCK - i;
    if (valid)
      here += capacity * (heat + (tile[south][tx] + tile[north][tx] - 2 * here) * acrossY + (tile[ty][east] + tile[ty][west] - 2 * here) * acrossX + (ambient - here) * outwards);
    if (i == steps)
      break;
    __syncthreads();
  }
  if (valid)
    out[y * cols + x] = here;
}
