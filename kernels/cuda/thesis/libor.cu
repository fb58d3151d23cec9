#include "../gemu.h"

#define RATES 80
#define STEPS 40
#define SWAPTIONS 15

__constant__ float volatility[RATES];
__constant__ int maturity[SWAPTIONS]; // in periods
__constant__ float strike[SWAPTIONS];

// The value of a portfolio of swaptions on a path of the LIBOR market model: forward rates, each with a period of delta years,
// evolve for STEPS periods, driven by normal numbers z. A thread computes a path, with its rates in local memory.
extern "C" __global__ void libor(int paths, float delta, float start, const float *z, float *value) {
  float rate[RATES], bond[RATES - STEPS], annuity[RATES - STEPS];
  int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths)
    return;
  for (int i = 0; i < RATES; i++)
    rate[i] = start;
  float root = sqrtf(delta);
  for (int n = 0; n < STEPS; n++) {
    float shock = root * z[n * paths + path], drift = 0;
    for (int i = n + 1; i < RATES; i++) {
      float sigma = volatility[i - n - 1], scaled = delta * sigma;
      drift = fmaf(scaled, rate[i] / fmaf(delta, rate[i], 1.0f), drift);
      rate[i] *= expf(fmaf(scaled, drift, sigma * fmaf(-0.5f, scaled, shock)));
    }
  }
  float b = 1, a = 0;
  for (int n = STEPS; n < RATES; n++) {
    b = b / fmaf(delta, rate[n], 1.0f);
    a = fmaf(delta, b, a);
    bond[n - STEPS] = b;
    annuity[n - STEPS] = a;
  }
  float v = 0;
  for (int i = 0; i < SWAPTIONS; i++) {
    int m = maturity[i] - 1;
    v = fmaf(-100.0f, fminf(bond[m] + fmaf(strike[i], annuity[m], -1.0f), 0.0f), v);
  }
  for (int n = 0; n < STEPS; n++)
    v = v / fmaf(delta, rate[n], 1.0f);
  value[path] = v;
}
