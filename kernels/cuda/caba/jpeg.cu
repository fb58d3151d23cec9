#include "../gemu.h"

__constant__ float basis[64];   // of the cosine transform: row k has cosine k at the eight places
__constant__ float inverse[64]; // of the quantisation: 1 / step of each coefficient

// Transforms squares of 8×8 pixels of a picture, a block of 8×8 threads each, and quantises the coefficients: what a
// JPEG encoder does before it orders and codes them. The width is a multiple of 8.
extern "C" __global__ void jpeg(const uchar *from, short *to, int width) {
  __shared__ float pixels[64], half[64];
  int tx = threadIdx.x, ty = threadIdx.y, at = (8 * blockIdx.y + ty) * width + 8 * blockIdx.x + tx;
  pixels[8 * ty + tx] = (int)from[at] - 128;
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    sum = fmaf(basis[8 * ty + i], pixels[8 * i + tx], sum);
  half[8 * ty + tx] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    sum = fmaf(basis[8 * tx + i], half[8 * ty + i], sum);
  to[at] = (short)rintf(sum * inverse[8 * ty + tx]);
}
