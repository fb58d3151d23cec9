#include "asm.h"

// C = A·Bᵀ on tensor cores, where A is m×k, B is n×k and C is m×n, row by row: a layer of a neural network, with its
// weights in B. ELEMENT chooses the type of the elements: halves (F16), bfloat16 (BF16), or 8-bit integers (S8), whose sums
// are multiplied by a scale for each column, rounded and saturated.
//
// A block of four warps computes a tile of 64×64, a warp a quarter of it. The columns of A and B are processed 64 bytes at
// a time, in a pipeline: while tensor cores multiply, copies of the next two steps are under way. In shared memory, the
// 16-byte chunks of a row are permuted, so that ldmatrix has no bank conflicts. Rows of A and B must be multiples of 16
// bytes, rows of C have pitch elements, and pitch must be even. The kernel needs warps of 32 lanes.

#define F16 1
#define BF16 2
#define S8 3

#if ELEMENT == S8
typedef signed char element;
typedef int sum;
#define KERNEL gemm_s8
#else
typedef unsigned short element;
typedef float sum;
#if ELEMENT == F16
#define KERNEL gemm_f16
#else
#define KERNEL gemm_bf16
#endif
#endif

#define TILE 64
#define STAGES 3
#define CHUNK (16 / (int)sizeof(element)) // elements of a chunk
#define DEPTH (4 * CHUNK)                 // columns of a step

// Adds the product of fragments to c: of 16 rows, 8 columns, and 32 bytes of the common dimension.
INSTRUCTION void multiply(sum c[4], const uint a[4], const uint b[2]) {
#if ELEMENT == F16
  multiply_halves(c, a, b);
#elif ELEMENT == BF16
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Writes two neighbouring elements of C, in the given column and the next.
INSTRUCTION void store(element *c, sum first, sum second, const float *scale, int column) {
#if ELEMENT == F16
  *(uint *)c = half_pair(first, second);
#elif ELEMENT == BF16
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(*(uint *)c) : "f"(second), "f"(first));
#else
  char2 pair;
  pair.x = max(-128, min(127, __float2int_rn(first * scale[column])));
  pair.y = max(-128, min(127, __float2int_rn(second * scale[column + 1])));
  *(char2 *)c = pair;
#endif
}

// The offset of a chunk of a row in a tile of shared memory, in bytes.
INSTRUCTION uint offset(int row, int chunk) { return row * 64 + (chunk ^ row / 2 % 4) * 16; }

// Begins to copy columns [column, column+DEPTH) of 64 rows, of which the matrix has some, to shared memory.
INSTRUCTION void copy_tile(uint to, const element *matrix, int row, int rows, int column, int columns) {
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int r = threadIdx.x / 4 + 32 * i, chunk = threadIdx.x % 4;
    bool inside = row + r < rows && column + chunk * CHUNK < columns;
    const element *from = inside ? matrix + (row + r) * columns + column + chunk * CHUNK : matrix;
    copy_async(to + offset(r, chunk), from, inside ? 16 : 0);
  }
}

extern "C" __global__ void __launch_bounds__(128) KERNEL(int m, int n, int k, int pitch, const element *a, const element *b, const float *scale, element *c) {
  __shared__ __align__(128) char tiles[STAGES][2][TILE * 64];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  sum sums[2][4][4] = {}; // of 2×4 fragments of 16×8

  int steps = (k + DEPTH - 1) / DEPTH;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) {
      copy_tile(shared_address(tiles[s][0]), a, row, m, s * DEPTH, k);
      copy_tile(shared_address(tiles[s][1]), b, column, n, s * DEPTH, k);
    }
    commit_copies();
  }
  for (int step = 0; step < steps; step++) {
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    int next = step + STAGES - 1;
    if (next < steps) {
      copy_tile(shared_address(tiles[next % STAGES][0]), a, row, m, next * DEPTH, k);
      copy_tile(shared_address(tiles[next % STAGES][1]), b, column, n, next * DEPTH, k);
    }
    commit_copies();

    uint tile_a = shared_address(tiles[step % STAGES][0]), tile_b = shared_address(tiles[step % STAGES][1]);
#pragma unroll
    for (int half = 0; half < 2; half++) { // two chunks each
      uint fragment_a[2][4], fragment_b[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) {
        load_matrices(fragment_a[i], tile_a + offset(warp_row + i * 16 + lane % 16, half * 2 + lane / 16));
        load_matrices(fragment_b[i], tile_b + offset(warp_column + i * 16 + lane / 16 * 8 + lane % 8, half * 2 + lane / 8 % 2));
      }
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
          multiply(sums[i][j], fragment_a[i], &fragment_b[j / 2][j % 2 * 2]);
    }
  }

#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int upper = 0; upper < 2; upper++) {
        int r = row + warp_row + i * 16 + upper * 8 + lane / 4, s = column + warp_column + j * 8 + lane % 4 * 2;
        if (r < m && s < n)
          store(c + r * pitch + s, sums[i][j][2 * upper], sums[i][j][2 * upper + 1], scale, s);
      }
}
