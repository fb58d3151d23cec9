// The barrier of a grid, by NVIDIA's cooperative groups: CTAs of a cooperative launch
// meet at a workspace whose address is in %envreg1 and %envreg2.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

// Every round moves all elements down by one, around the end, and adds one:
// x[i] becomes x0[(i + rounds) % n] + rounds.
// run block=8 grid=33 cooperative: rotate(2, @s32{0..263}) == s32 4..265 2 3
// trap block=8 grid=2: rotate(3, @s32{0..15}) "trap"
KERNEL rotate(int rounds, int *x) {
  cg::grid_group grid = cg::this_grid();
  int n = grid.num_threads(), i = grid.thread_rank();
  for (int r = 0; r < rounds; r++) {
    int v = x[(i + 1) % n];
    grid.sync();
    x[i] = v + 1;
    grid.sync();
  }
}

// A grid of any other launch has no barrier.
// run block=1 grid=2: valid() == s32 0
// run block=1 grid=2 cooperative: valid() == s32 2
KERNEL valid(int *out) {
  cg::grid_group grid = cg::this_grid();
  *out = grid.is_valid() ? grid.num_blocks() : 0;
}
