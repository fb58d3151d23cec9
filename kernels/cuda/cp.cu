#include "gemu.h"

#define ATOMS 2048 // that constant memory has room for
#define POINTS 4   // of the lattice that a thread computes

// Atoms of a slice: place in the plane, height above it squared, charge. The host sets slice after
// slice.
struct atom {
  float x, y, z2, charge;
};
__constant__ atom atoms[ATOMS];

// Adds the contribution of count atoms to the potential at the points of a plane: Σ q/r, by direct
// summation over all of them. Points have a distance of 1; a thread has POINTS of a row, a block's
// width apart, for which it computes the common part of y and z once.
extern "C" __global__ void cp(int count, int width, int height, float *potential) {
  int x = blockIdx.x * blockDim.x * POINTS + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum[POINTS];
  for (int k = 0; k < POINTS; k++)
    sum[k] = 0;
  for (int a = 0; a < count; a++) {
    float dy = y - atoms[a].y;
    float yz = dy * dy + atoms[a].z2;
    for (int k = 0; k < POINTS; k++) {
      float dx = (float)(x + k * (int)blockDim.x) - atoms[a].x;
      sum[k] += atoms[a].charge * rsqrtf(dx * dx + yz);
    }
  }
  for (int k = 0; k < POINTS; k++)
    if (x + k * blockDim.x < width && y < height)
      potential[y * width + x + k * blockDim.x] += sum[k];
}
