#include "measured.h"

#define STEPS 2048
#define BLOCK 128
#define EACH (STEPS / BLOCK) // nodes of a thread
#define OPTIONS 1024

struct option {
  float price, strike; // present price of the share; price paid by the option's owner
  float rise;          // change of the logarithm of the share's price after a step up, and the negative change after a step down
  float up, down;      // probabilities of the steps, discounted for the time of a step
};

__constant__ option options[OPTIONS];

// The value of an option at the end, after i steps up.
GEMU_INLINE float atEnd(const option &o, int i) { return fmaxf(o.price * expf(o.rise * (2 * i - STEPS)) - o.strike, 0); }

// Values of European call options by binomial trees of STEPS steps, one option per block. Each thread has EACH
// consecutive nodes in registers, and receives the next thread's first node through shared memory.
extern "C" __global__ void binomial(float *value) {
  SHARED float first[BLOCK + 1];
  const option &o = options[blockIdx.x];
  int t = threadIdx.x;
  float node[EACH + 1];
#pragma unroll
  for (int i = 0; i < EACH; i++)
    node[i] = atEnd(o, EACH * t + i);
  if (t == 0)
    first[BLOCK] = atEnd(o, STEPS);
  float up = o.up, down = o.down;
  int last = max(0, EACH * t - 1);
#pragma unroll 1
  for (int step = STEPS; step > 0; step--) {
    first[t] = node[0];
    __syncthreads();
    node[EACH] = first[t + 1];
    __syncthreads();
    if (step > last) {
#pragma unroll
      for (int i = 0; i < EACH; i++)
        node[i] = up * node[i + 1] + down * node[i];
    }
  }
  if (t == 0)
    value[blockIdx.x] = node[0];
}
