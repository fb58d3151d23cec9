#include "../gemu.h"

// A sum of the 3×3 neighbours of each inner element of an n×n matrix.
extern "C" __global__ void conv2d(int n, const float *a, float *b) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1)
    return;
  const float *p = a + i * n + j;
  float v = 0.2f * p[-n - 1];
  v = fmaf(-0.3f, p[-n], v);
  v = fmaf(0.4f, p[-n + 1], v);
  v = fmaf(0.5f, p[-1], v);
  v = fmaf(0.6f, p[0], v);
  v = fmaf(0.7f, p[1], v);
  v = fmaf(-0.8f, p[n - 1], v);
  v = fmaf(-0.9f, p[n], v);
  v = fmaf(0.1f, p[n + 1], v);
  b[i * n + j] = v;
}
