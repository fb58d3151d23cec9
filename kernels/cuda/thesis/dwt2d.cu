#include "../gemu.h"

#define TILE 32
#define SIDE (TILE + 4) // two pixels to the left and above, two to the right and below; an even and an odd pixel each

// The place within n elements that mirrors i at the ends.
GEMU_INLINE int mirror(int i, int n) {
  i = abs(i);
  return i < n ? i : 2 * n - 2 - i;
}

// A level of the reversible wavelet transform 5/3 of a picture: a block transforms TILE×TILE pixels, first the rows, then the
// columns. Lifting: an odd element loses the mean of its neighbours, then an even element gains a quarter of their sum. width
// and height are even. The averages go to low, with half the width, and the three bands of details to the quarters of to,
// whose rows have pitch elements.
extern "C" __global__ void dwt2d(int width, int height, const int *from, int *low, int *to, int pitch) {
  __shared__ int tile[SIDE][SIDE];
  int x0 = TILE * blockIdx.x - 2, y0 = TILE * blockIdx.y - 2;
  for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
    int x = min(x0 + i % SIDE, width), y = min(y0 + i / SIDE, height); // nothing needs pixels beyond
    tile[i / SIDE][i % SIDE] = from[mirror(y, height) * width + mirror(x, width)];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * (SIDE / 2 - 1); i += blockDim.x) {
    int x = 2 * (i % (SIDE / 2 - 1)) + 1, y = i / (SIDE / 2 - 1);
    tile[y][x] -= (tile[y][x - 1] + tile[y][x + 1]) >> 1;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * (TILE / 2); i += blockDim.x) {
    int x = 2 * (i % (TILE / 2)) + 2, y = i / (TILE / 2);
    tile[y][x] += (tile[y][x - 1] + tile[y][x + 1] + 2) >> 2;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * (SIDE / 2 - 1); i += blockDim.x) {
    int x = i % SIDE, y = 2 * (i / SIDE) + 1;
    tile[y][x] -= (tile[y - 1][x] + tile[y + 1][x]) >> 1;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * (TILE / 2); i += blockDim.x) {
    int x = i % SIDE, y = 2 * (i / SIDE) + 2;
    tile[y][x] += (tile[y - 1][x] + tile[y + 1][x] + 2) >> 2;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
    // Neighbouring threads have neighbouring places of a band.
    int band = i / (TILE * TILE / 4), j = i % (TILE * TILE / 4), x = j % (TILE / 2), y = j / (TILE / 2);
    int right = band & 1, down = band >> 1, value = tile[2 * y + down + 2][2 * x + right + 2];
    x += TILE / 2 * blockIdx.x;
    y += TILE / 2 * blockIdx.y;
    if (x >= width / 2 || y >= height / 2)
      continue;
    if (band == 0)
      low[y * (width / 2) + x] = value;
    else
      to[(y + down * (height / 2)) * pitch + x + right * (width / 2)] = value;
  }
}
