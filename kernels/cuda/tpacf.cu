#include "gemu.h"

#define BINS 22
#define BOUNDS 31 // of a search in five steps
#define THREADS 256
#define COPIES (THREADS / 32)

// bound[k] is the cosine of the angle at which bin k ends and the next begins: they decrease. After the
// bounds of all bins but the last, they are less than any cosine.
__constant__ float bound[BOUNDS];

// Numbers of pairs of points on a sphere, by the angle between them: of set 0, of set 0 with each further
// set, and of each further set. Sets have n points each, the unit vectors (x, y, z). A block counts the pairs
// of a kind: block b < sets the pairs of set 0 and set b, the remaining blocks the pairs within set b - sets
// + 1. It visits a set in tiles of a point for each thread, and the second set in tiles in shared memory.
// Counts are in several copies to reduce conflicts.
extern "C" __global__ void tpacf(int n, int sets, const float *x, const float *y, const float *z, uint *count) {
  __shared__ float sx[THREADS], sy[THREADS], sz[THREADS];
  __shared__ uint counts[BINS][COPIES];
  int t = threadIdx.x, b = blockIdx.x;
  int first = b < sets ? 0 : b - sets + 1, second = b < sets ? b : first;
  for (int i = t; i < BINS * COPIES; i += THREADS)
    counts[i / COPIES][i % COPIES] = 0;
#pragma unroll 1
  for (int from = 0; from < n; from += THREADS) {
    __syncthreads();
    if (from + t < n) {
      sx[t] = x[second * n + from + t];
      sy[t] = y[second * n + from + t];
      sz[t] = z[second * n + from + t];
    }
    __syncthreads();
    // Within a set, each pair once.
#pragma unroll 1
    for (int i = t; i < (first == second ? min(n, from + THREADS) : n); i += THREADS) {
      float px = x[first * n + i], py = y[first * n + i], pz = z[first * n + i];
#pragma unroll 1
      for (int j = first == second ? max(0, i + 1 - from) : 0; j < min(THREADS, n - from); j++) {
        float cosine = fmaf(pz, sz[j], fmaf(py, sy[j], px * sx[j]));
        int bin = 0;
        for (int step = (BOUNDS + 1) / 2; step > 0; step /= 2)
          bin += cosine <= bound[bin + step - 1] ? step : 0;
        atomicAdd(&counts[bin][t / 32], 1u);
      }
    }
  }
  __syncthreads();
  if (t < BINS) {
    uint sum = 0;
    for (int i = 0; i < COPIES; i++)
      sum += counts[t][i];
    count[b * BINS + t] = sum;
  }
}
