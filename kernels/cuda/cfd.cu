#include "gemu.h"

#define FACES 4
#define WALL -1
#define FAR -2
#define GAMMA 1.4f     // ratio of the specific heats
#define EXCESS 0.4f    // its excess over 1
#define SMOOTHING 0.1f // half the factor of the artificial viscosity

// A finite volume solver for the Euler equations of a gas, on a mesh of n cells with four faces each. All
// arrays are dimension by dimension: density, three dimensions of momentum, and energy of cell i are
// variables[v·n + i], the neighbour at face f is neighbour[f·n + i], and the normal of the face, as long
// as its area is large, is normal[(3·f + d)·n + i].

// The state of the gas far away, as in variables.
__constant__ float far[5];

struct state {
  float density, momentum[3], energy;
  float velocity[3], pressure;
  float speed; // speed of spreading: of the gas and of its sound
};

GEMU_INLINE float dot(const float *a, float x, float y, float z) { return fmaf(a[2], z, fmaf(a[1], y, a[0] * x)); }

GEMU_INLINE state gas(const float *variables, int i, int n) {
  state s;
  s.density = variables[i];
  s.energy = variables[4 * n + i];
  float volume = 1 / s.density;
  for (int d = 0; d < 3; d++) {
    s.momentum[d] = variables[(d + 1) * n + i];
    s.velocity[d] = s.momentum[d] * volume;
  }
  float square = dot(s.velocity, s.velocity[0], s.velocity[1], s.velocity[2]);
  s.pressure = fmaf(-0.5f * EXCESS * s.density, square, EXCESS * s.energy);
  s.speed = sqrtf(square) + sqrtf(GAMMA * s.pressure * volume);
  return s;
}

// How far the cells may go in a step, relative to their volumes.
extern "C" __global__ void cfd_step(int n, const float *variables, const float *area, float *step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    step[i] = 0.5f / (sqrtf(area[i]) * gas(variables, i, n).speed);
}

// The outflow of each cell, for the five variables: through a face the mean of both sides, and the
// contribution of viscosity; through a wall nothing, but its pressure acts.
extern "C" __global__ void cfd_flux(int n, const int *neighbour, const float *normal, const float *variables, float *flux) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  state own = gas(variables, i, n);
  float density = 0, momentum[3] = {0, 0, 0}, energy = 0;
#pragma unroll 1
  for (int f = 0; f < FACES; f++) {
    int other = neighbour[f * n + i];
    float x = normal[3 * f * n + i], y = normal[(3 * f + 1) * n + i], z = normal[(3 * f + 2) * n + i];
    float along[3] = {x, y, z};
    if (other == WALL) {
      for (int d = 0; d < 3; d++)
        momentum[d] = fmaf(own.pressure, along[d], momentum[d]);
      continue;
    }
    state s = other == FAR ? gas(far, 0, 1) : gas(variables, other, n);
    float viscosity = SMOOTHING * sqrtf(dot(along, x, y, z)) * (own.speed + s.speed);
    float out = 0.5f * dot(own.velocity, x, y, z), in = 0.5f * dot(s.velocity, x, y, z);
    float pressure = 0.5f * (own.pressure + s.pressure);
    density = fmaf(viscosity, own.density - s.density, density);
    density = fmaf(out, own.density, fmaf(in, s.density, density));
    energy = fmaf(viscosity, own.energy - s.energy, energy);
    energy = fmaf(out, own.energy + own.pressure, fmaf(in, s.energy + s.pressure, energy));
    for (int d = 0; d < 3; d++) {
      momentum[d] = fmaf(viscosity, own.momentum[d] - s.momentum[d], momentum[d]);
      momentum[d] = fmaf(out, own.momentum[d], fmaf(in, s.momentum[d], momentum[d]));
      momentum[d] = fmaf(pressure, along[d], momentum[d]);
    }
  }
  flux[i] = density;
  for (int d = 0; d < 3; d++)
    flux[(d + 1) * n + i] = momentum[d];
  flux[4 * n + i] = energy;
}

// A stage of a Runge-Kutta scheme: `part` of a step from the old variables.
extern "C" __global__ void cfd_advance(int n, float part, const float *step, const float *flux, const float *before, float *variables) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float length = part * step[i];
  for (int v = 0; v < 5; v++)
    variables[v * n + i] = fmaf(-length, flux[v * n + i], before[v * n + i]);
}
