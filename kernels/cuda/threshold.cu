#include "gemu.h"

#define THRESHOLD 1000
#define Y_MAX_VALUE 1000

// y = a·y, saturated: the kernel of figure 1(a) of the value-structure paper (Kim
// et al., ISCA 2013). It has no bounds check, so the threads of the grid are
// the elements of y.
extern "C" __global__ void ex_gpsimt_kernel(int y[], int a) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  y[idx] = a * y[idx];
  if (y[idx] > THRESHOLD)
    y[idx] = Y_MAX_VALUE;
}
