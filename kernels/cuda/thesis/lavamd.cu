#include "../gemu.h"

#define PARTICLES 100 // of a box

// A particle: its place, and half the square of its distance from the origin in w; or a force with its potential in w.
struct place {
  float x, y, z, w;
};

// The forces on the particles of each box by those of the boxes around it. neighbours[27·box] and following are the boxes within
// reach, count[box] many. A thread computes a particle, and the block loads the particles of a box into shared memory.
extern "C" __global__ void lavamd(float alpha, const int *count, const int *neighbours, const struct place *places, const float *charges, struct place *forces) {
  __shared__ struct place near[PARTICLES];
  __shared__ float charge[PARTICLES];
  int box = blockIdx.x;
  for (int first = 0; first < PARTICLES; first += blockDim.x) {
    int i = first + threadIdx.x;
    struct place own = places[box * PARTICLES + min(i, PARTICLES - 1)], sum = {0, 0, 0, 0};
    for (int k = 0; k < count[box]; k++) {
      int other = neighbours[27 * box + k];
      __syncthreads();
      for (int j = threadIdx.x; j < PARTICLES; j += blockDim.x) {
        near[j] = places[other * PARTICLES + j];
        charge[j] = charges[other * PARTICLES + j];
      }
      __syncthreads();
      for (int j = 0; j < PARTICLES; j++) {
        float square = 2 * (own.w + near[j].w - fmaf(own.z, near[j].z, fmaf(own.y, near[j].y, own.x * near[j].x)));
        float potential = charge[j] * expf(-alpha * square), force = 2 * alpha * potential;
        sum.w += potential;
        sum.x = fmaf(force, own.x - near[j].x, sum.x);
        sum.y = fmaf(force, own.y - near[j].y, sum.y);
        sum.z = fmaf(force, own.z - near[j].z, sum.z);
      }
    }
    if (i < PARTICLES)
      forces[box * PARTICLES + i] = sum;
  }
}
