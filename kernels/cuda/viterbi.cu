#include "gemu.h"

#define STATES 64 // the last six bits, the newest on top
#define FRAMES 4  // per block

// The two bits that the encoder sends for a new bit on top of a state. The host fills
// it in.
__constant__ uchar sent[2 * STATES];
// In how many bits two such pairs differ, by their exclusive or.
__constant__ uchar differ[4] = {0, 1, 1, 2};

// Decodes frames of steps received pairs of bits: survivor[step][state] of each frame is the
// predecessor, of two, by which a state is reached with the fewest errors. Blocks of 32×FRAMES
// threads: a thread does the butterfly between the states 2t, 2t+1 before and t, t+32 after a
// step.
extern "C" __global__ void viterbi(int frames, int steps, const uchar *received, uchar *survivor) {
  __shared__ int errors[2][FRAMES][STATES];
  int t = threadIdx.x, f = threadIdx.y;
  int frame = blockIdx.x * FRAMES + f;
  bool live = frame < frames; // the remaining threads only keep step
  errors[0][f][t] = t == 0 ? 0 : 1 << 20; // the encoder starts in state 0
  errors[0][f][t + 32] = 1 << 20;
  for (int step = 0; step < steps; step++) {
    __syncthreads();
    const int *before = errors[step & 1][f];
    int *after = errors[~step & 1][f];
    uchar *choice = survivor + (frame * steps + step) * STATES;
    int pair = live ? received[frame * steps + step] : 0;
    for (int bit = 0; bit < 2; bit++) {
      int a = before[2 * t] + differ[sent[bit * STATES + 2 * t] ^ pair];
      int b = before[2 * t + 1] + differ[sent[bit * STATES + 2 * t + 1] ^ pair];
      after[bit * 32 + t] = min(a, b);
      if (live)
        choice[bit * 32 + t] = b < a;
    }
  }
}

// Follows the survivors back from state 0, in which the encoder ends. One thread per
// frame.
extern "C" __global__ void viterbi_trace(int frames, int steps, const uchar *survivor, uchar *decoded) {
  int frame = blockIdx.x * blockDim.x + threadIdx.x;
  if (frame >= frames)
    return;
  int state = 0;
  for (int step = steps - 1; step >= 0; step--) {
    int i = frame * steps + step;
    decoded[i] = state >> 5;
    state = (state << 1 & (STATES - 1)) | survivor[i * STATES + state];
  }
}
