#include "gemu.h"

#define TILE 16

// The best global alignment of two sequences of n letters each, n a multiple of TILE: score[y·(n + 1) + x]
// is the score of the first y letters of the first and the first x of the second. It depends on the scores
// in the west, the north and the northwest. So tiles are scored diagonal by diagonal, a launch each, and
// so are the places within a tile, a thread for each column.

// Scores a tile: similarity[(y - 1)·n + x - 1] is the value of aligning the letters x and y, penalty the
// cost of a gap.
GEMU_INLINE void align(int n, int penalty, const int *similarity, int *score, int bx, int by) {
  __shared__ int tile[TILE + 1][TILE + 1], similar[TILE][TILE];
  int tx = threadIdx.x;
  int *corner = score + by * TILE * (n + 1) + bx * TILE;
  const int *pairs = similarity + by * TILE * n + bx * TILE;
  for (int y = 0; y < TILE; y++)
    similar[y][tx] = pairs[y * n + tx];
  if (tx == 0)
    tile[0][0] = corner[0];
  tile[0][tx + 1] = corner[tx + 1];
  tile[tx + 1][0] = corner[(tx + 1) * (n + 1)];
#pragma unroll 1
  for (int diagonal = 0; diagonal < 2 * TILE - 1; diagonal++) {
    __syncthreads();
    int x = tx + 1, y = diagonal - tx + 1;
    if (y >= 1 && y <= TILE)
      tile[y][x] = max(tile[y - 1][x - 1] + similar[y - 1][x - 1], max(tile[y][x - 1], tile[y - 1][x]) - penalty);
  }
  for (int y = 1; y <= TILE; y++)
    corner[y * (n + 1) + tx + 1] = tile[y][tx + 1];
}

// The diagonals up to the longest: the first has one tile, the second two …
extern "C" __global__ void nw_grow(int n, int penalty, const int *similarity, int *score) {
  align(n, penalty, similarity, score, blockIdx.x, gridDim.x - 1 - blockIdx.x);
}

// The diagonals after the longest, down to one tile.
extern "C" __global__ void nw_shrink(int n, int penalty, const int *similarity, int *score) {
  int last = n / TILE - 1;
  align(n, penalty, similarity, score, last - gridDim.x + 1 + blockIdx.x, last - blockIdx.x);
}
