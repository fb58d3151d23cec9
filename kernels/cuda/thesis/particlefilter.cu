#include "../gemu.h"

#define POINTS 61 // of the disc around a particle

// The weight of each particle by the pixels around it: points of a disc, as pairs of distances down and across, are compared with
// the bright object (228) and the dark background (100). The picture has width×height pixels. Each block writes the sum of
// its weights. Blocks have a power of two of threads.
extern "C" __global__ void pf_likelihood(int n, const float *x, const float *y, const int *disc, const uchar *picture, int width, int height, float *weight, float *sums) {
  extern __shared__ float sum[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  sum[t] = 0;
  if (i < n) {
    int column = (int)rintf(x[i]), row = (int)rintf(y[i]), difference = 0;
    for (int p = 0; p < POINTS; p++) {
      int v = min(max(row + disc[2 * p], 0), height - 1), u = min(max(column + disc[2 * p + 1], 0), width - 1);
      int pixel = picture[v * width + u];
      difference += (pixel - 100) * (pixel - 100) - (pixel - 228) * (pixel - 228);
    }
    sum[t] = weight[i] * expf((float)difference / (50.0f * 50.0f * POINTS));
    weight[i] = sum[t];
  }
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      sum[t] += sum[t + half];
  }
  if (t == 0)
    sums[blockIdx.x] = sum[0];
}

// Divides all weights by their sum.
extern "C" __global__ void pf_normalise(int n, const float *sums, int blocks, float *weight) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int b = 0; b < blocks; b++)
    sum += sums[b];
  if (i < n)
    weight[i] = weight[i] / sum;
}

// Adds up the weights from the first particle on, in a single thread.
extern "C" __global__ void pf_add(int n, const float *weight, float *upTo) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    sum += weight[i];
    upTo[i] = sum;
  }
}

// Chooses n particles in proportion to their weights: equal steps through the sums of weights, beginning at first, and a search from
// the first particle on for each.
extern "C" __global__ void pf_choose(int n, float first, const float *upTo, const float *x, const float *y, float *newX, float *newY) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float at = (first + (float)i) / (float)n;
  int found = n - 1;
  for (int k = 0; k < n; k++)
    if (upTo[k] >= at) {
      found = k;
      break;
    }
  newX[i] = x[found];
  newY[i] = y[found];
}
