#include "gemu.h"

#define BLOCK 64
#define ROWS 17 // the rows of the largest board, plus 1

// A board whose first rows have their queens: the columns and the diagonals that
// these attack in the next row, as bits.
struct board {
  uint cols, left, right;
};

// Adds the number of ways to fill the last rows of the boards to *solutions; the boards
// are n columns wide. A thread searches below one board, depth first, with its stack in
// shared memory, and goes back, counts or continues as its own board requires; a block
// then sums.
extern "C" __global__ void nqueens(int n, int rows, int boards, const board *start, int *solutions) {
  __shared__ board stack[ROWS][BLOCK];
  __shared__ uint open[ROWS][BLOCK]; // columns yet to be tried in each row
  __shared__ int sum[BLOCK];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
  uint all = (1u << n) - 1;
  sum[t] = 0;
  if (i < boards) {
    board b = start[i];
    stack[0][t] = b;
    open[0][t] = all & ~(b.cols | b.left | b.right);
    int row = 0;
    while (row >= 0) {
      uint free = open[row][t];
      if (free == 0) { // no queen is left for this row
        row--;
        continue;
      }
      uint q = free & -free;
      open[row][t] = free ^ q;
      if (row == rows - 1) {
        sum[t]++;
        continue;
      }
      b = stack[row][t];
      b.cols |= q;
      b.left = (b.left | q) << 1;
      b.right = (b.right | q) >> 1;
      row++;
      stack[row][t] = b;
      open[row][t] = all & ~(b.cols | b.left | b.right);
    }
  }
  for (int d = BLOCK / 2; d > 0; d /= 2) {
    __syncthreads();
    if (t < d)
      sum[t] += sum[t + d];
  }
  if (t == 0)
    atomicAdd(solutions, sum[0]);
}
