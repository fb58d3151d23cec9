#include "../gemu.h"

#pragma clang fp contract(off)

// A node of the tree of Barnes and Hut (1986), in depth-first order: the centre of mass of its bodies, their mass, the square of the
// distance from which on the node stands for its bodies, and the node after its children. A body has a reach of -1.
struct node {
  float x, y, z, mass, reach;
  int next;
};

// The acceleration of each body by all others. Neighbouring threads have neighbouring bodies of the tree.
extern "C" __global__ void bh_force(int n, int nodes, float softening, const struct node *tree, const float *x, const float *y, const float *z, float *ax, float *ay, float *az) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sumX = 0, sumY = 0, sumZ = 0, ownX = x[i], ownY = y[i], ownZ = z[i];
  for (int at = 0; at < nodes;) {
    struct node near = tree[at];
    float dx = near.x - ownX, dy = near.y - ownY, dz = near.z - ownZ;
    float square = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
    if (square <= near.reach) {
      at++;
      continue;
    }
    square += softening;
    float pull = near.mass / (square * sqrtf(square));
    sumX = fmaf(pull, dx, sumX);
    sumY = fmaf(pull, dy, sumY);
    sumZ = fmaf(pull, dz, sumZ);
    at = near.next;
  }
  ax[i] = sumX;
  ay[i] = sumY;
  az[i] = sumZ;
}

// Moves a coordinate of each body for a step of time.
extern "C" __global__ void bh_move(int n, float step, const float *a, float *v, float *x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  v[i] = fmaf(a[i], step, v[i]);
  x[i] = fmaf(v[i], step, x[i]);
}
