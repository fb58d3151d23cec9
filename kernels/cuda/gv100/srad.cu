#include "measured.h"

#define BLOCK 512

// The coefficient of diffusion of each of rows×cols pixels of an image, and the differences to its neighbours. Pixels are
// stored column by column, a thread each. north, south, west and east have the row or column of the neighbour: that of
// the pixel itself at an edge. speckle is the square of the coefficient of variation of pure speckle.
extern "C" __global__ void srad(int rows, int count, int *north, int *south, int *east, int *west, float *toNorth, float *toSouth, float *toEast, float *toWest, float speckle, float *coefficient, float *image) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= count)
    return;
  int row = i % rows, col = i / rows;
  float here = image[i];
  float n = image[north[row] + rows * col] - here, s = image[south[row] + rows * col] - here;
  float w = image[row + rows * west[col]] - here, e = image[row + rows * east[col]] - here;
  float gradient = (n * n + s * s + w * w + e * e) / (here * here), laplacian = (n + s + w + e) / here;
  float variance = 0.5f * gradient - 0.0625f * laplacian * laplacian, mean = 1 + 0.25f * laplacian;
  float q = variance / (mean * mean);
  float c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
  toNorth[i] = n;
  toSouth[i] = s;
  toEast[i] = e;
  toWest[i] = w;
  coefficient[i] = fminf(fmaxf(c, 0), 1);
}
