#include "gemu.h"

#ifndef BLOCK
#define BLOCK 16
#endif

// Anisotropic diffusion that removes speckle from an image of rows×cols positive intensities. A step is two
// kernels. Blocks have BLOCK×BLOCK threads, and a tile each in shared memory with the needed neighbours;
// beyond an edge the image is as at the edge.

// The coefficient of diffusion of each pixel, in [0, 1], and the differences to its neighbours in
// the north, south, west and east. speckle is the square of the coefficient of variation of pure
// speckle.
extern "C" __global__ void srad_coefficient(int rows, int cols, float speckle, const float *image, float *north, float *south, float *west, float *east, float *coefficient) {
  __shared__ float tile[BLOCK + 2][BLOCK + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y * BLOCK + threadIdx.y, i = y * cols + x;
  bool inside = x < cols && y < rows;
  float here = 1;
  if (inside) {
    here = image[i];
    tile[ty][tx] = here;
    if (y == 0 || ty == 1)
      tile[ty - 1][tx] = y == 0 ? here : image[i - cols];
    if (y == rows - 1 || ty == BLOCK)
      tile[ty + 1][tx] = y == rows - 1 ? here : image[i + cols];
    if (x == 0 || tx == 1)
      tile[ty][tx - 1] = x == 0 ? here : image[i - 1];
    if (x == cols - 1 || tx == BLOCK)
      tile[ty][tx + 1] = x == cols - 1 ? here : image[i + 1];
  }
  __syncthreads();
  if (!inside)
    return;
  float n = tile[ty - 1][tx] - here, s = tile[ty + 1][tx] - here, w = tile[ty][tx - 1] - here, e = tile[ty][tx + 1] - here;
  float gradient = fmaf(e, e, fmaf(w, w, fmaf(s, s, n * n))) / (here * here);
  float laplacian = (n + s + w + e) / here;
  float variance = fmaf(-0.0625f * laplacian, laplacian, 0.5f * gradient); // of the intensities around
  float mean = fmaf(0.25f, laplacian, 1);
  float q = variance / (mean * mean);
  float c = 1 / (1 + (q - speckle) / (speckle * (1 + speckle)));
  coefficient[i] = fminf(fmaxf(c, 0), 1);
  north[i] = n;
  south[i] = s;
  west[i] = w;
  east[i] = e;
}

// Moves each pixel by a quarter of lambda times the divergence of coefficients and differences.
extern "C" __global__ void srad_diffuse(int rows, int cols, float lambda, float *image, const float *north, const float *south, const float *west, const float *east, const float *coefficient) {
  __shared__ float tile[BLOCK + 1][BLOCK + 1]; // with the next row and column
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BLOCK + tx, y = blockIdx.y * BLOCK + ty, i = y * cols + x;
  bool inside = x < cols && y < rows;
  float here = 0;
  if (inside) {
    here = coefficient[i];
    tile[ty][tx] = here;
    if (y == rows - 1 || ty == BLOCK - 1)
      tile[ty + 1][tx] = y == rows - 1 ? here : coefficient[i + cols];
    if (x == cols - 1 || tx == BLOCK - 1)
      tile[ty][tx + 1] = x == cols - 1 ? here : coefficient[i + 1];
  }
  __syncthreads();
  if (!inside)
    return;
  float divergence = fmaf(tile[ty][tx + 1], east[i], fmaf(here, west[i], fmaf(tile[ty + 1][tx], south[i], here * north[i])));
  image[i] = fmaf(0.25f * lambda, divergence, image[i]);
}
