#include "../gemu.h"

#define THREADS 256

// Replaces each element of a tile of 2·THREADS elements by the sum of the elements before it, and keeps the sum of the tile:
// a tree of sums in shared memory, up and down (Blelloch 1990). n is a multiple of the tile.
extern "C" __global__ void sla_tiles(const uint *from, uint *to, uint *sums) {
  __shared__ uint tree[2 * THREADS];
  int t = threadIdx.x, first = 2 * THREADS * blockIdx.x;
  tree[t] = from[first + t];
  tree[t + THREADS] = from[first + t + THREADS];
  int step = 1;
  for (int nodes = THREADS; nodes > 0; nodes /= 2, step *= 2) {
    __syncthreads();
    if (t < nodes)
      tree[step * (2 * t + 2) - 1] += tree[step * (2 * t + 1) - 1];
  }
  if (t == 0) {
    sums[blockIdx.x] = tree[2 * THREADS - 1];
    tree[2 * THREADS - 1] = 0;
  }
  for (int nodes = 1; nodes <= THREADS; nodes *= 2) {
    step /= 2;
    __syncthreads();
    if (t < nodes) {
      uint left = tree[step * (2 * t + 1) - 1];
      tree[step * (2 * t + 1) - 1] = tree[step * (2 * t + 2) - 1];
      tree[step * (2 * t + 2) - 1] += left;
    }
  }
  __syncthreads();
  to[first + t] = tree[t];
  to[first + t + THREADS] = tree[t + THREADS];
}

// Adds the sum of all tiles before it to each tile.
extern "C" __global__ void sla_add(uint *to, const uint *sums) {
  int first = 2 * THREADS * blockIdx.x + threadIdx.x;
  uint before = sums[blockIdx.x];
  to[first] += before;
  to[first + THREADS] += before;
}
