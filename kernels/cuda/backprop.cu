#include "gemu.h"

#define SIDE 16

// A fully connected layer of a neural network with SIDE hidden units. in[0] and the weights of
// row 0 are the bias; weight[i·(SIDE + 1) + j] leads from unit i to hidden unit j, both from 1.

// Adds up what SIDE input units contribute to each hidden unit: partial[b·SIDE + j] is the sum
// of block b for unit j + 1. The sums are made as a tree, each level of which halves the rows that take
// part; the distance of the rows that meet there is a power of two, and computed as such.
extern "C" __global__ void backprop_forward(int levels, const float *in, const float *weight, float *partial) {
  __shared__ float node[SIDE], product[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int unit = blockIdx.x * SIDE + ty + 1;
  if (tx == 0)
    node[ty] = in[unit];
  __syncthreads();
  product[ty][tx] = weight[unit * (SIDE + 1) + tx + 1] * node[ty];
  for (int level = 1; level <= levels; level++) {
    __syncthreads();
    int span = (int)rintf(exp2f(level));
    if (ty % span == 0)
      product[ty][tx] += product[ty + span / 2][tx];
  }
  if (ty == 0)
    partial[blockIdx.x * SIDE + tx] = product[0][tx];
}

// Changes the weights by the errors of the hidden units, delta[1] … delta[SIDE], and a part of the
// change before.
extern "C" __global__ void backprop_adjust(float rate, float momentum, const float *in, const float *delta, float *weight, float *before) {
  int tx = threadIdx.x, ty = threadIdx.y;
  int unit = blockIdx.x * SIDE + ty + 1, i = unit * (SIDE + 1) + tx + 1;
  float change = fmaf(momentum, before[i], rate * delta[tx + 1] * in[unit]);
  weight[i] += change;
  before[i] = change;
  if (blockIdx.x == 0 && ty == 0) { // the bias
    change = fmaf(momentum, before[tx + 1], rate * delta[tx + 1] * in[0]);
    weight[tx + 1] += change;
    before[tx + 1] = change;
  }
}
