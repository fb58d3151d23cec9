#include "gemu.h"

// Lloyd's iteration, with sums of blocks in place of atomics: after a block has assigned its
// objects, a thread for each coordinate of each centre visits them and adds up the objects of its
// centre. Objects have integer coordinates, stored dimension by dimension; centres are stored in
// sequence.

#define BLOCK 256

// Assigns the n objects to the k centres, k * dims <= BLOCK. Sums up, for each block, the coordinates of
// the objects of each cluster, their number, and the number of objects that changed their cluster.
extern "C" __global__ void kmeansum_assign(int n, int dims, int k, const int *object, const float *centre, int *cluster, int *sum, int *size, int *changed) {
  __shared__ int mine[BLOCK];
  int t = threadIdx.x;
  int first = blockIdx.x * BLOCK;
  int i = first + t;
  int best = 0;
  if (i < n) {
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
  }
  mine[t] = best;
  __syncthreads();
  if (t >= k * dims)
    return;
  int c = t / dims, d = t % dims;
  int last = first + BLOCK < n ? BLOCK : n - first;
  int total = 0, count = 0;
  for (int j = 0; j < last; j++) {
    if (mine[j] == c) {
      total += object[d * n + first + j];
      count++;
    }
  }
  sum[(blockIdx.x * k + c) * dims + d] = total;
  if (d == 0)
    size[blockIdx.x * k + c] = count;
}

// Moves the centres by the sums of all blocks, a thread for each coordinate. A centre without objects
// stays.
extern "C" __global__ void kmeansum_update(int blocks, int dims, int k, float *centre, const int *sum, const int *size) {
  int t = threadIdx.x;
  if (t >= k * dims)
    return;
  int c = t / dims, d = t % dims;
  int total = 0, count = 0;
  for (int b = 0; b < blocks; b++) {
    total += sum[(b * k + c) * dims + d];
    count += size[b * k + c];
  }
  if (count > 0)
    centre[t] = (float)total / count;
}
