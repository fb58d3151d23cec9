#include "../gemu.h"

#pragma clang fp contract(off)

// A point of the stream: its weight, its present centre, and its cost: its weight times the square of its distance from the centre.
struct point {
  float weight, cost;
  int centre;
};

// The gain of a new centre at a candidate point: for each point whether it is nearer to the candidate, and its change of cost. A
// point that stays adds to what its centre would cost if it closed. Coordinate d of point i is coordinates[d·n + i].
extern "C" __global__ void streamcluster(int n, int dims, int candidate, const struct point *points, const float *coordinates, const int *number, int centres, float *saved, uchar *moves) {
  extern __shared__ float at[];
  for (int d = threadIdx.x; d < dims; d += blockDim.x)
    at[d] = coordinates[d * n + candidate];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float square = 0;
  for (int d = 0; d < dims; d++) {
    float x = coordinates[d * n + i] - at[d];
    square = fmaf(x, x, square);
  }
  struct point p = points[i];
  float cost = square * p.weight;
  if (cost < p.cost) {
    moves[i] = 1;
    saved[i * (centres + 1) + centres] += cost - p.cost;
  } else
    saved[i * (centres + 1) + number[p.centre]] += p.cost - cost;
}
