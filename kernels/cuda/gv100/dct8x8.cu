#include "measured.h"

#define SIDE 32           // of the tile of a block
#define PITCH (SIDE + 1)  // floats of a row of the tile

struct quad {
  float x, y, z, w;
} __attribute__((aligned(16)));

__constant__ float matrix[64]; // of the transform: row k has cosine k at the eight places

// The texel at (x, y) of a picture.
GEMU_INLINE float texel(ull picture, float x, float y) {
  float red, green, blue, alpha;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];" : "=f"(red), "=f"(green), "=f"(blue), "=f"(alpha) : "l"(picture), "f"(x), "f"(y));
  return red;
}

// Transforms the squares of 8×8 pixels of a picture, which is a texture, with a thread for each coefficient: as the product
// matrix·square·matrixᵀ.
extern "C" __global__ void dct8x8_texture(float *to, ull picture, int pitch) {
  SHARED float square[64];
  SHARED quad half[16];
  int tx = threadIdx.x, ty = threadIdx.y, x = 8 * blockIdx.x + tx, y = 8 * blockIdx.y + ty;
  square[8 * ty + tx] = texel(picture, x + 0.5f, y + 0.5f);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; i++)
    sum += matrix[8 * ty + i] * square[8 * i + tx];
  ((float *)half)[8 * ty + tx] = sum;
  __syncthreads();
  quad a = half[2 * ty], b = half[2 * ty + 1];
  float *row = matrix + 8 * tx;
  sum = a.x * row[0] + a.y * row[1] + a.z * row[2] + a.w * row[3] + b.x * row[4] + b.y * row[5] + b.z * row[6] + b.w * row[7];
  square[8 * ty + tx] = sum;
  __syncthreads();
  to[y * pitch + x] = square[8 * ty + tx];
}

// The eight coefficients of a discrete cosine transform, orthonormal, in place; the elements are pitch floats apart.
GEMU_INLINE void transform(float *v, int pitch) {
  const float r = 0.353553391f, c1 = 0.490392640f, c2 = 0.461939766f, c3 = 0.415734806f, c5 = 0.277785117f, c6 = 0.191341716f, c7 = 0.0975451610f; // ½·cos(kπ/16); r for k = 4
  float s0 = v[0] + v[7 * pitch], d0 = v[0] - v[7 * pitch], s1 = v[pitch] + v[6 * pitch], d1 = v[pitch] - v[6 * pitch];
  float s2 = v[2 * pitch] + v[5 * pitch], d2 = v[2 * pitch] - v[5 * pitch], s3 = v[3 * pitch] + v[4 * pitch], d3 = v[3 * pitch] - v[4 * pitch];
  float e0 = s0 + s3, e1 = s1 + s2, f0 = s0 - s3, f1 = s1 - s2;
  v[0] = r * (e0 + e1);
  v[4 * pitch] = r * (e0 - e1);
  v[2 * pitch] = c2 * f0 + c6 * f1;
  v[6 * pitch] = c6 * f0 - c2 * f1;
  v[pitch] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
  v[3 * pitch] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
  v[5 * pitch] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
  v[7 * pitch] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

// Transforms the squares of 8×8 pixels of an image with rows of pitch floats. A block of 8×4×4 threads has 4×4 squares; a
// thread transforms a column of its square, and then a row.
extern "C" __global__ void dct8x8(float *to, float *from, int pitch) {
  SHARED float tile[SIDE * PITCH];
  int tx = threadIdx.x, x = 8 * threadIdx.y, y = 8 * threadIdx.z;
  int at = (SIDE * blockIdx.y + y) * pitch + SIDE * blockIdx.x + x + tx;
  float *column = tile + y * PITCH + x + tx;
#pragma unroll
  for (int i = 0; i < 8; i++)
    column[i * PITCH] = from[at + i * pitch];
  __syncthreads();
  transform(column, PITCH);
  __syncthreads();
  transform(tile + (y + tx) * PITCH + x, 1);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 8; i++)
    to[at + i * pitch] = column[i * PITCH];
}
