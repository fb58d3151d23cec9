#include "../gemu.h"

#pragma clang fp contract(off)

// Speckle reducing anisotropic diffusion, with the places of neighbours in arrays and the sums of a picture by a reduction. A picture has rows
// rows, and is stored column after column.

// The sum and the sum of squares of each block's pixels. Blocks have a power of two of threads.
extern "C" __global__ void srad1_sums(int n, const float *image, float *sums, float *squares) {
  extern __shared__ float part[];
  int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  float *square = part + blockDim.x;
  part[t] = i < n ? image[i] : 0;
  square[t] = part[t] * part[t];
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) {
      part[t] += part[t + half];
      square[t] += square[t + half];
    }
  }
  if (t == 0) {
    sums[blockIdx.x] = part[0];
    squares[blockIdx.x] = square[0];
  }
}

// The differences to the four neighbours, and the coefficient of diffusion, which is small at edges.
extern "C" __global__ void srad1_coefficients(int rows, int n, const int *north, const int *south, const int *west, const int *east, float speckle, const float *image, float *dn, float *ds, float *dw, float *de, float *coefficient) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int row = i % rows, column = i / rows;
  float here = image[i];
  float a = image[north[row] + rows * column] - here, b = image[south[row] + rows * column] - here;
  float c = image[row + rows * west[column]] - here, d = image[row + rows * east[column]] - here;
  float gradient = (a * a + b * b + c * c + d * d) / (here * here), laplacian = (a + b + c + d) / here;
  float mean = 1 + 0.25f * laplacian, q = (0.5f * gradient - 0.0625f * (laplacian * laplacian)) / (mean * mean);
  dn[i] = a;
  ds[i] = b;
  dw[i] = c;
  de[i] = d;
  coefficient[i] = fminf(fmaxf(1 / (1 + (q - speckle) / (speckle * (1 + speckle))), 0.0f), 1.0f);
}

// Changes each pixel by the differences, weighted by the coefficients of its own and of its neighbours to the south and east.
extern "C" __global__ void srad1_diffuse(int rows, int n, const int *south, const int *east, float rate, const float *dn, const float *ds, const float *dw, const float *de, const float *coefficient, float *image) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int row = i % rows, column = i / rows;
  float here = coefficient[i], s = coefficient[south[row] + rows * column], e = coefficient[row + rows * east[column]];
  image[i] = image[i] + 0.25f * rate * (here * dn[i] + s * ds[i] + here * dw[i] + e * de[i]);
}
