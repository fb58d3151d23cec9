#include "gemu.h"

#define SAMPLES 1024 // of a launch

struct sample {
  float x, y, z; // in the space of frequencies
  float magnitude;
};

__constant__ sample samples[SAMPLES];

// The squares of the magnitudes of n complex numbers.
extern "C" __global__ void mriq_magnitude(int n, const float *real, const float *imaginary, float *magnitude) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    magnitude[i] = fmaf(imaginary[i], imaginary[i], real[i] * real[i]);
}

// Adds up, for each of n places, magnitude·e^(2πi·place·sample) over `count` samples.
extern "C" __global__ void mriq(int n, int count, const float *x, const float *y, const float *z, float *real, float *imaginary) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float px = x[i], py = y[i], pz = z[i], re = real[i], im = imaginary[i];
#pragma unroll 1
  for (int k = 0; k < count; k++) {
    float turns = fmaf(samples[k].z, pz, fmaf(samples[k].y, py, samples[k].x * px));
    float angle = 6.28318531f * (turns - rintf(turns)); // sin and cos are good near 0
    re = fmaf(samples[k].magnitude, __cosf(angle), re);
    im = fmaf(samples[k].magnitude, __sinf(angle), im);
  }
  real[i] = re;
  imaginary[i] = im;
}
