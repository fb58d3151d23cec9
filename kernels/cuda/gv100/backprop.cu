#include "measured.h"

#define BLOCK 16

// A fully connected layer of a neural network with a multiple of 16 hidden units; unit 0 on each side is the bias.
// weight[i·(hidden + 1) + j] leads from input unit i to hidden unit j. A block has 16 input units and 16 hidden units.

// Multiplies the weights of the block's units by their inputs, in place, and adds up the products of each hidden unit by a
// tree in shared memory: partial[b·hidden + j] is the sum of block b for hidden unit j + 1. The weights are replaced by
// the nodes of the tree.
extern "C" __global__ void backprop_forward(float *in, float *weight, float *partial, int hidden) {
  SHARED float node[BLOCK], product[BLOCK][BLOCK];
  int tx = threadIdx.x, ty = threadIdx.y, unit = BLOCK * blockIdx.y + ty + 1;
  int i = unit * (hidden + 1) + tx + 1;
  if (tx == 0)
    node[ty] = in[unit];
  __syncthreads();
  product[ty][tx] = weight[i];
  __syncthreads();
  product[ty][tx] *= node[ty];
  __syncthreads();
  for (int span = 2; span <= BLOCK; span *= 2) {
    if (ty % span == 0)
      product[ty][tx] += product[ty + span / 2][tx];
    __syncthreads();
  }
  weight[i] = product[ty][tx];
  __syncthreads();
  if (tx == 0)
    partial[blockIdx.y * hidden + ty] = product[tx][ty];
}

// Changes each weight by the error of its hidden unit, and by a part of its change before. The arrays may overlap, so
// operands are loaded again after a store.
extern "C" __global__ void backprop_adjust(float *delta, int hidden, float *in, float *weight, float *before) {
  int tx = threadIdx.x + 1, ty = threadIdx.y, unit = BLOCK * blockIdx.y + ty + 1;
  int i = unit * (hidden + 1) + tx;
  weight[i] += 0.3f * delta[tx] * in[unit] + 0.3f * before[i];
  before[i] = 0.3f * delta[tx] * in[unit] + 0.3f * before[i];
  __syncthreads();
  if (blockIdx.y == 0 && ty == 0) {
    weight[tx] += 0.3f * delta[tx] + 0.3f * before[tx];
    before[tx] = 0.3f * delta[tx] + 0.3f * before[tx];
  }
}
