#include "gemu.h"

#define CACHE 256            // places in shared memory, and threads of a block
#define DELTA 32             // steps that are taken there
#define STEP (CACHE - DELTA) // places that are right afterwards

struct option {
  float price, strike; // present price of the share; price paid by the option's owner
  float rise;          // change of the logarithm of the share's price after a step up, and the negative change after a step down
  float up, down;      // probabilities of the steps, discounted for the time of a step
};

// Values of European call options by binomial trees of `steps` steps, a multiple of DELTA: one option
// per block. tree has, per block, steps + CACHE places: the values after some number of steps, in
// order. Stretches of them are moved to shared memory, taken back by DELTA steps, and returned: the
// value before a step is the expected value after it.
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
