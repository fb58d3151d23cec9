#include "../gemu.h"

#pragma clang fp contract(off)

// Survey propagation for formulas of clauses with three literals (Braunstein, Mézard and Zecchina 2005). The survey of place 3·clause + k is
// the probability that the clause warns its variable k that it needs it. A literal is twice its variable, plus 1 if it is negated.

// How likely no warning comes from a place. The limit keeps products from zero.
GEMU_INLINE float quiet(float survey) { return fmaxf(1 - survey, 1e-6f); }

// The products of quiet places of each variable: those of its plain and of its negated literals. The places of literal l are list[first[l]]
// to list[first[l + 1] - 1].
extern "C" __global__ void sp_variables(int n, const int *first, const int *list, const float *survey, float *product) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int l = 2 * i; l < 2 * i + 2; l++) {
    float p = 1;
    for (int k = first[l]; k < first[l + 1]; k++)
      p = p * quiet(survey[list[k]]);
    product[l] = p;
  }
}

// The new surveys of each clause, and the largest change of all, as the bits of a float.
extern "C" __global__ void sp_clauses(int clauses, const int *literal, const float *product, const float *survey, float *next, int *change) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= clauses)
    return;
  float against[3], most = 0;
  for (int k = 0; k < 3; k++) {
    int l = literal[3 * c + k];
    float same = product[l] / quiet(survey[3 * c + k]), opposite = product[l ^ 1];
    float u = (1 - opposite) * same, s = (1 - same) * opposite, none = same * opposite;
    against[k] = fmaxf(u, 0.0f) / fmaxf(u + s + none, 1e-30f);
  }
  for (int k = 0; k < 3; k++) {
    float v = against[(k + 1) % 3] * against[(k + 2) % 3];
    most = fmaxf(most, fabsf(v - survey[3 * c + k]));
    next[3 * c + k] = v;
  }
  atomicMax(change, __builtin_bit_cast(int, most));
}
