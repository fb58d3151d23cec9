#include "gemu.h"

#define BLOCK 64
#define ROWS 17 // one more than a board has

// A board whose first rows have their queens: the columns and the diagonals that
// these attack in the next row, as bits.
struct board {
  uint cols, left, right;
};

// Adds to *solutions in how many ways the last rows of the boards can be filled,
// n columns wide. A thread searches below one board, depth first, with its stack
// in shared memory; a block then sums.
extern "C" __global__ void nqueens(int n, int rows, int boards, const board *start, int *solutions) {
  __shared__ board stack[ROWS][BLOCK];
  __shared__ uint open[ROWS][BLOCK]; // columns yet to be tried in each row
  __shared__ int sum[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  uint all = (1u << n) - 1;
  int found = 0;
  if (i < boards) {
    board b = start[i];
    stack[0][t] = b;
    open[0][t] = all & ~(b.cols | b.left | b.right);
    for (int row = 0; row >= 0;) {
      // The next queen of this row, if there is one. What goes on the stack above
      // the row does no harm if there is none: threads need not diverge.
      uint free = open[row][t], q = free & -free;
      b = stack[row][t];
      open[row][t] = free ^ q;
      b.cols |= q;
      b.left = (b.left | q) << 1;
      b.right = (b.right | q) >> 1;
      stack[row + 1][t] = b;
      open[row + 1][t] = all & ~(b.cols | b.left | b.right);
      bool last = row == rows - 1;
      found += q && last;
      row += q == 0 ? -1 : last ? 0 : 1;
    }
  }
  sum[t] = found;
  for (int d = BLOCK / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      sum[t] += sum[t + d];
  }
  if (t == 0)
    atomicAdd(solutions, sum[0]);
}
