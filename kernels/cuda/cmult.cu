#include "gemu.h"

struct complex {
  float re, im;
};

// c = a·b, element by element.
extern "C" __global__ void cmult(int n, const complex *a, const complex *b, complex *c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float ar = a[i].re, ai = a[i].im, br = b[i].re, bi = b[i].im;
  c[i].re = fmaf(ar, br, -(ai * bi));
  c[i].im = fmaf(ar, bi, ai * br);
}
