#include "measured.h"

#define BLOCK 16

// Computes steps time steps of the temperature of a chip of rows×cols cells. A block has a tile of temperatures and of
// power in shared memory, and a third one for the next temperatures; a step makes the valid part of the tile smaller by
// its rim. Beyond an edge of the chip the temperature is as at the edge.
extern "C" __global__ void hotspot(int steps, float *power, float *from, float *to, int cols, int rows, float capacity, float acrossX, float acrossY, float outwards) {
  SHARED float now[BLOCK][BLOCK], heat[BLOCK][BLOCK], next[BLOCK][BLOCK];
  int tx = threadIdx.x, ty = threadIdx.y, inner = BLOCK - 2 * steps;
  int x0 = inner * blockIdx.x - steps, y0 = inner * blockIdx.y - steps;
  int x = x0 + tx, y = y0 + ty, i = cols * y + x;
  if (x >= 0 && x < cols && y >= 0 && y < rows) {
    now[ty][tx] = from[i];
    heat[ty][tx] = power[i];
  }
  __syncthreads();
  // The cells of the tile that lie on the chip.
  int left = max(0, -x0), right = min(BLOCK - 1, cols - 1 - x0), top = max(0, -y0), bottom = min(BLOCK - 1, rows - 1 - y0);
  int west = max(left, tx - 1), east = min(right, tx + 1), north = max(top, ty - 1), south = min(bottom, ty + 1);
  bool computed;
#pragma unroll 1
  for (int step = 0;; step++) {
    computed = false;
    if (tx > step && tx < BLOCK - 1 - step && ty > step && ty < BLOCK - 1 - step && tx >= left && tx <= right && ty >= top && ty <= bottom) {
      computed = true;
      next[ty][tx] = now[ty][tx] + capacity * (heat[ty][tx] + (now[south][tx] + now[north][tx] - 2 * now[ty][tx]) * acrossY + (now[ty][east] + now[ty][west] - 2 * now[ty][tx]) * acrossX + (80 - now[ty][tx]) * outwards);
    }
    __syncthreads();
    if (step == steps - 1)
      break;
    if (computed)
      now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed)
    to[i] = next[ty][tx];
}
