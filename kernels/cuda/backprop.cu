#include "gemu.h"

#ifndef BLOCK
#define BLOCK 16
#endif

// A fully connected layer of a neural network with BLOCK hidden units. in[0] and the weights of
// row 0 are the bias; weight[i·(BLOCK + 1) + j] leads from unit i to hidden unit j, both from 1.

// Adds up the contributions of BLOCK input units to each hidden unit: partial[b·BLOCK + j] is the sum
// of block b for unit j + 1. The sums form a tree; each level halves the participating rows. The
// distance of the added rows is a power of two, and computed as such.
extern "C" __global__ void backprop_forward(int levels, const float *in, const float *weight, float *partial) {
  __shared__ float node[BLOCK], product[BLOCK][BLOCK];
  int tx = threadIdx.x, ty = threadIdx.y;
  int unit = blockIdx.x * BLOCK + ty + 1;
  if (tx == 0)
    node[ty] = in[unit];
  __syncthreads();
  product[ty][tx] = weight[unit * (BLOCK + 1) + tx + 1] * node[ty];
  for (int level = 1; level <= levels; level++) {
    __syncthreads();
    int span = (int)rintf(exp2f(level));
    if (ty % span == 0)
      product[ty][tx] += product[ty + span / 2][tx];
  }
  if (ty == 0)
    partial[blockIdx.x * BLOCK + tx] = product[0][tx];
}

// Changes the weights by the errors of the hidden units, delta[1] … delta[BLOCK], and by a part of the
// previous change.
extern "C" __global__ void backprop_adjust(float rate, float momentum, const float *in, const float *delta, float *weight, float *before) {
  int tx = threadIdx.x, ty = threadIdx.y;
  int unit = blockIdx.x * BLOCK + ty + 1, i = unit * (BLOCK + 1) + tx + 1;
  float change = fmaf(momentum, before[i], rate * delta[tx + 1] * in[unit]);
  weight[i] += change;
  before[i] = change;
  if (blockIdx.x == 0 && ty == 0) { // the bias
    change = fmaf(momentum, before[tx + 1], rate * delta[tx + 1] * in[0]);
    weight[tx + 1] += change;
    before[tx + 1] = change;
  }
}
