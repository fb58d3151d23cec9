#include "gemu.h"

#define CACHE 256            // places in shared memory, and threads of a block
#define DELTA 32             // steps that are taken there
#define STEP (CACHE - DELTA) // places that are right afterwards

struct option {
  float price, strike; // of the share now; what the option's owner pays for it
  float rise;          // logarithm of what a share is worth more after a step up; down it is as much less
  float up, down;      // probabilities of the steps, discounted for the length of one
};

// What European call options are worth by binomial trees of `steps` steps, a multiple of DELTA: one
// option per block. tree has, per block, steps + CACHE places: the values after some number of steps,
// in order. They are brought to shared memory in stretches, which are taken back DELTA
// steps before they return: the value before a step is what is expected after it.
extern "C" __global__ void binomial(int steps, const option *options, float *tree, float *value) {
  __shared__ float after[CACHE], before[CACHE];
  option o = options[blockIdx.x];
  int t = threadIdx.x;
  tree += blockIdx.x * (steps + CACHE);
  for (int i = t; i < steps + CACHE; i += CACHE)
    tree[i] = i <= steps ? fmaxf(o.price * expf(o.rise * (2 * i - steps)) - o.strike, 0) : 0;
#pragma unroll 1
  for (int last = steps; last > 0; last -= DELTA)
#pragma unroll 1
    for (int from = 0; from <= last - DELTA; from += STEP) {
      __syncthreads();
      after[t] = tree[from + t];
#pragma unroll 1
      for (int i = 0; i < DELTA; i += 2) {
        __syncthreads();
        if (t < CACHE - 1)
          before[t] = o.up * after[t + 1] + o.down * after[t];
        __syncthreads();
        if (t < CACHE - 2)
          after[t] = o.up * before[t + 1] + o.down * before[t];
      }
      if (t < STEP)
        tree[from + t] = after[t];
    }
  if (t == 0)
    value[blockIdx.x] = after[0];
}
