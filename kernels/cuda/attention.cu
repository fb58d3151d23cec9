#include "asm.h"

// Attention: softmax(Q·Kᵀ/8)·V for each head, where Q, K and V are n×64 matrices of halves, row by row. It is computed as
// by FlashAttention, without an n×n matrix in memory: a block of four warps has 64 rows of Q, and visits K and V 64 rows at a
// time. Each warp has 16 rows of Q and of the result. The maximum and the sum of the exponentials of a row are corrected
// after each step. Copies of the next step are under way while tensor cores multiply. The kernel needs warps of 32 lanes.

#define TILE 64  // rows of a block, and of a step
#define WIDTH 64 // columns

// The offset of a 16-byte chunk of a row in a tile of shared memory. Chunks are permuted, so that ldmatrix has no bank
// conflicts.
INSTRUCTION uint offset(int row, int chunk) { return row * (2 * WIDTH) + (chunk ^ row % 8) * 16; }

// Begins to copy 64 rows to shared memory; rows after the end of the matrix become zero.
INSTRUCTION void copy_tile(uint to, const unsigned short *matrix, int row, int rows) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    int r = threadIdx.x / 8 + 16 * i, chunk = threadIdx.x % 8;
    bool inside = row + r < rows;
    copy_async(to + offset(r, chunk), inside ? matrix + (row + r) * WIDTH + chunk * 8 : matrix, inside ? 16 : 0);
  }
}

INSTRUCTION float power2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The maximum, and the sum, over the four lanes that have elements of the same row.
INSTRUCTION float max_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}
INSTRUCTION float sum_of_row(float x) {
  x += __shfl_xor_sync(0xffffffff, x, 1);
  return x + __shfl_xor_sync(0xffffffff, x, 2);
}

extern "C" __global__ void __launch_bounds__(128) attention(int n, const unsigned short *q, const unsigned short *k, const unsigned short *v, unsigned short *out) {
  __shared__ __align__(128) char tile_q[TILE * WIDTH * 2], tiles_k[2][TILE * WIDTH * 2], tiles_v[2][TILE * WIDTH * 2];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * TILE;
  q += blockIdx.y * n * WIDTH;
  k += blockIdx.y * n * WIDTH;
  v += blockIdx.y * n * WIDTH;
  out += blockIdx.y * n * WIDTH;

  copy_tile(shared_address(tile_q), q, row, n);
  copy_tile(shared_address(tiles_k[0]), k, 0, n);
  copy_tile(shared_address(tiles_v[0]), v, 0, n);
  commit_copies();

  const float scale = 1.44269504f / 8; // log2 e / √64
  uint fragment_q[4][4];
  float result[8][4] = {};                                     // fragments of 16×8
  float most[2] = {-1e30f, -1e30f}, total[2] = {0, 0}; // of rows lane/4 and lane/4 + 8; totals of this lane's elements
  for (int first = 0; first < n; first += TILE) {
    int stage = first / TILE % 2;
    if (first + TILE < n) {
      copy_tile(shared_address(tiles_k[1 - stage]), k, first + TILE, n);
      copy_tile(shared_address(tiles_v[1 - stage]), v, first + TILE, n);
    }
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    if (first == 0)
#pragma unroll
      for (int i = 0; i < 4; i++)
        load_matrices(fragment_q[i], shared_address(tile_q) + offset(warp * 16 + lane % 16, i * 2 + lane / 16));

    float scores[8][4] = {}; // of 16 rows of Q and 64 of K
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        uint fragment[4]; // of 16 rows of K
        load_matrices(fragment, shared_address(tiles_k[stage]) + offset(j * 16 + lane / 16 * 8 + lane % 8, i * 2 + lane / 8 % 2));
        multiply_halves(scores[2 * j], fragment_q[i], fragment);
        multiply_halves(scores[2 * j + 1], fragment_q[i], fragment + 2);
      }
    if (first + TILE > n)
#pragma unroll
      for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
          if (first + j * 8 + lane % 4 * 2 + e % 2 >= n)
            scores[j][e] = -1e30f;

#pragma unroll
    for (int h = 0; h < 2; h++) {
      float now = most[h];
#pragma unroll
      for (int j = 0; j < 8; j++)
        now = fmaxf(now, fmaxf(scores[j][2 * h], scores[j][2 * h + 1]));
      now = max_of_row(now);
      float correction = power2((most[h] - now) * scale);
      most[h] = now;
      total[h] *= correction;
#pragma unroll
      for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 2 * h; e < 2 * h + 2; e++) {
          result[j][e] *= correction;
          scores[j][e] = power2(fmaf(scores[j][e], scale, -now * scale));
          total[h] += scores[j][e];
        }
    }

    // The fragments of the sums of a product are those of the first factor of the next.
#pragma unroll
    for (int i = 0; i < 4; i++) {
      uint weights[4] = {half_pair(scores[2 * i][0], scores[2 * i][1]), half_pair(scores[2 * i][2], scores[2 * i][3]),
                         half_pair(scores[2 * i + 1][0], scores[2 * i + 1][1]), half_pair(scores[2 * i + 1][2], scores[2 * i + 1][3])};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        uint fragment[4]; // of 16 rows and 16 columns of V
        load_transposed_matrices(fragment, shared_address(tiles_v[stage]) + offset(i * 16 + lane % 16, j * 2 + lane / 16));
        multiply_halves(result[2 * j], weights, fragment);
        multiply_halves(result[2 * j + 1], weights, fragment + 2);
      }
    }
    __syncthreads(); // before the next copies to this stage
  }

#pragma unroll
  for (int h = 0; h < 2; h++) {
    float factor = 1 / sum_of_row(total[h]);
    int r = row + warp * 16 + h * 8 + lane / 4;
    if (r < n)
#pragma unroll
      for (int j = 0; j < 8; j++)
        *(uint *)(out + r * WIDTH + j * 8 + lane % 4 * 2) = half_pair(result[j][2 * h] * factor, result[j][2 * h + 1] * factor);
  }
}
