#include "gemu.h"

#define BLOCK 256

// The cheapest paths down a grid of cols columns, whose cells have costs: a path goes from row to row
// straight down or to an adjacent column. in has the cost of the cheapest path to each cell of a row; cost
// begins with the next row, and out gets the costs of the paths to the cells `rows` rows further.
//
// A block has a stretch of the row in shared memory, and loses a cell of it on each side in each row.
// Therefore the stretches overlap by 2·rows, and the inner cells are right at the end.
extern "C" __global__ void pathfinder(int rows, int cols, const int *cost, const int *in, int *out) {
  __shared__ int way[BLOCK];
  int t = threadIdx.x, x = blockIdx.x * (BLOCK - 2 * rows) + t - rows;
  bool inside = x >= 0 && x < cols;
  int west = x > 0 ? t - 1 : t, east = x < cols - 1 ? t + 1 : t;
  int here = inside ? in[x] : 0;
  bool valid;
#pragma unroll 1
  for (int i = 1;; i++) {
    way[t] = here;
    __syncthreads();
    valid = inside && t >= i && t < BLOCK - i;
    if (valid)
      here = min(min(way[west], here), way[east]) + cost[(i - 1) * cols + x];
    if (i == rows)
      break;
    __syncthreads();
  }
  if (valid)
    out[x] = here;
}
