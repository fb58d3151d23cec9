#include "gemu.h"

#define TEMPLATE 11 // pixels along the side of a template
#define SEARCH 13   // places along the side of the square that is searched
#define THREADS 128

// Follows points of the walls of a heart through the frames of an ultrasound recording, a point per block, a
// frame per launch. A point has a template, its past surroundings; it moves to the place in the frame, of cols
// pixels across, whose surroundings correlate best with the template. x and y are the points' places, at least
// (TEMPLATE + SEARCH)/2 - 1 from the edges. correlation has SEARCH² places per point.
extern "C" __global__ void heartwall(int cols, float inertia, const float *frame, int *x, int *y, float *templates, float *correlation) {
  __shared__ float deviation[TEMPLATE * TEMPLATE], column[TEMPLATE], squares[TEMPLATE], best[THREADS];
  __shared__ int place[THREADS];
  int t = threadIdx.x;
  float *templ = templates + blockIdx.x * TEMPLATE * TEMPLATE;
  correlation += blockIdx.x * SEARCH * SEARCH;
  // The corner of the first place that is tried.
  const float *corner = frame + (y[blockIdx.x] - TEMPLATE / 2 - SEARCH / 2) * cols + x[blockIdx.x] - TEMPLATE / 2 - SEARCH / 2;

  // How the template deviates from its mean, and the sum of squares of that.
  if (t < TEMPLATE) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < TEMPLATE; i++)
      sum += templ[i * TEMPLATE + t];
    column[t] = sum;
  }
  __syncthreads();
  if (t < TEMPLATE) {
    float mean = 0, sum = 0;
    for (int i = 0; i < TEMPLATE; i++)
      mean += column[i];
    mean *= 1.f / (TEMPLATE * TEMPLATE);
#pragma unroll 1
    for (int i = 0; i < TEMPLATE; i++) {
      float d = templ[i * TEMPLATE + t] - mean;
      deviation[i * TEMPLATE + t] = d;
      sum = fmaf(d, d, sum);
    }
    squares[t] = sum;
  }
  __syncthreads();
  float norm = 0;
  for (int i = 0; i < TEMPLATE; i++)
    norm += squares[i];

  // The normalised correlation at each place, and the first of the best.
  best[t] = -2;
  place[t] = 0;
#pragma unroll 1
  for (int p = t; p < SEARCH * SEARCH; p += THREADS) {
    const float *from = corner + p / SEARCH * cols + p % SEARCH;
    float sum = 0, square = 0, product = 0;
#pragma unroll 1
    for (int i = 0; i < TEMPLATE; i++)
#pragma unroll 1
      for (int j = 0; j < TEMPLATE; j++) {
        float v = from[i * cols + j];
        sum += v;
        square = fmaf(v, v, square);
        product = fmaf(v, deviation[i * TEMPLATE + j], product);
      }
    float variance = fmaf(-1.f / (TEMPLATE * TEMPLATE) * sum, sum, square);
    float c = variance > 0 ? product / sqrtf(norm * variance) : 0;
    correlation[p] = c;
    if (c > best[t]) {
      best[t] = c;
      place[t] = p;
    }
  }
#pragma unroll 1
  for (int span = THREADS / 2; span > 0; span /= 2) {
    __syncthreads();
    if (t < span) {
      float c = best[t + span];
      int p = place[t + span];
      if (c > best[t] || (c == best[t] && p < place[t])) {
        best[t] = c;
        place[t] = p;
      }
    }
  }
  __syncthreads();

  // The template changes a little towards the present surroundings.
  const float *found = corner + place[0] / SEARCH * cols + place[0] % SEARCH;
#pragma unroll 1
  for (int i = t; i < TEMPLATE * TEMPLATE; i += THREADS)
    templ[i] = fmaf(inertia, templ[i], (1 - inertia) * found[i / TEMPLATE * cols + i % TEMPLATE]);
  if (t == 0) {
    x[blockIdx.x] += place[0] % SEARCH - SEARCH / 2;
    y[blockIdx.x] += place[0] / SEARCH - SEARCH / 2;
  }
}
