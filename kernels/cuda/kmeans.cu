#include "gemu.h"

// Lloyd's iteration: objects move to the nearest centre, then a centre to the mean of its
// objects. Objects have integer coordinates, stored dimension by dimension; centres are stored in
// sequence.

// Assigns the n objects to the k centres. Sums up the coordinates of the objects of
// each cluster, and how many objects changed theirs.
extern "C" __global__ void kmeans_assign(int n, int dims, int k, const int *object, const float *centre, int *cluster, int *sum, int *size, int *changed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int best = 0;
  float least = 0;
  for (int c = 0; c < k; c++) {
    float distance = 0;
    for (int d = 0; d < dims; d++) {
      float x = object[d * n + i] - centre[c * dims + d];
      distance += x * x;
    }
    if (c == 0 || distance < least) {
      best = c;
      least = distance;
    }
  }
  if (cluster[i] != best) {
    cluster[i] = best;
    atomicAdd(changed, 1);
  }
  for (int d = 0; d < dims; d++)
    atomicAdd(&sum[best * dims + d], object[d * n + i]);
  atomicAdd(&size[best], 1);
}

// Moves the centres, one thread each, and clears the sums. A centre without objects
// stays.
extern "C" __global__ void kmeans_update(int dims, int k, float *centre, int *sum, int *size) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= k)
    return;
  for (int d = 0; d < dims; d++) {
    if (size[c] > 0)
      centre[c * dims + d] = (float)sum[c * dims + d] / size[c];
    sum[c * dims + d] = 0;
  }
  size[c] = 0;
}
