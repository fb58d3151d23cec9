#include "tma.h"

// C = A·Bᵀ on the tensor cores of Blackwell, where A is m×k, B is n×k and C is m×n, row by row, of halves. A block computes a
// tile of 128×64, whose sums are in tensor memory. One warp copies tiles of A and B with the tensor memory accelerator
// (TMA), one thread of another warp multiplies them by tcgen05.mma, directly from shared memory. Mbarriers tell that a stage
// is full or empty, and that the product is complete; then each of the four warps reads 32 rows of it. Elements outside of A
// and B are zero. Rows of C have pitch elements, and pitch must be even. Needs warps of 32 lanes.

#define ROWS 128
#define COLUMNS 64
#define DEPTH 64 // columns of a step: 128 bytes
#define STAGES 3
#define BYTES_A (ROWS * DEPTH * 2)
#define BYTES_B (COLUMNS * DEPTH * 2)

// The instruction descriptor (manual 9.7.16.4.2): halves, sums in float, and the shape of the tile.
#define SHAPE (1u << 4 | COLUMNS / 8 << 17 | ROWS / 16 << 24)

// The descriptor of a tile in shared memory for tcgen05.mma (manual 9.7.16.4.1): rows of 128 bytes with the swizzle of 128
// bytes, groups of eight rows 1024 bytes apart.
INSTRUCTION unsigned long long descriptor(uint tile) {
  return (tile & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 46 | 2ull << 61;
}

// Begins to multiply 128×16 by 16×64 elements, and to add the product to the sums if add is not 0.
INSTRUCTION void multiply(uint sums, unsigned long long a, unsigned long long b, uint add) {
  asm volatile("{\n\t"
               ".reg .pred p;\n\t"
               "setp.ne.u32 p, %4, 0;\n\t"
               "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n\t"
               "}" ::"r"(sums), "l"(a), "l"(b), "r"(SHAPE), "r"(add) : "memory");
}
// Arrives at an mbarrier when all multiplications so far are complete.
INSTRUCTION void commit(unsigned long long *b) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

extern "C" __global__ void __launch_bounds__(128) gemm_tcgen05(int m, int n, int k, int pitch, const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, unsigned short *c) {
  extern __shared__ __align__(1024) char tiles[]; // of A and of B for each stage
  __shared__ unsigned long long full[STAGES], empty[STAGES], complete;
  __shared__ uint memory; // the address of the sums in tensor memory
  int warp = threadIdx.x / 32;
  int row = blockIdx.y * ROWS, column = blockIdx.x * COLUMNS, steps = (k + DEPTH - 1) / DEPTH;
  if (warp == 0) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(shared_address(&memory)), "n"(COLUMNS) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  } else if (threadIdx.x == 32) {
    for (int s = 0; s < STAGES; s++) {
      init_mbarrier(&full[s], 1);
      init_mbarrier(&empty[s], 1);
    }
    init_mbarrier(&complete, 1);
    fence_mbarrier_init();
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  uint sums = memory;

  if (threadIdx.x == 0) {
    for (int step = 0; step < steps; step++) {
      int s = step % STAGES;
      if (step >= STAGES)
        wait_mbarrier(&empty[s], step / STAGES - 1 & 1);
      uint tile = shared_address(tiles) + s * (BYTES_A + BYTES_B);
      expect_bytes(&full[s], BYTES_A + BYTES_B);
      copy_box(tile, &a, step * DEPTH, row, &full[s]);
      copy_box(tile + BYTES_A, &b, step * DEPTH, column, &full[s]);
    }
  } else if (threadIdx.x == 32) {
    for (int step = 0; step < steps; step++) {
      int s = step % STAGES;
      wait_mbarrier(&full[s], step / STAGES & 1);
      asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
      uint tile = shared_address(tiles) + s * (BYTES_A + BYTES_B);
      unsigned long long tile_a = descriptor(tile), tile_b = descriptor(tile + BYTES_A);
#pragma unroll
      for (int i = 0; i < DEPTH / 16; i++) // 16 columns are 32 bytes
        multiply(sums, tile_a + i * (32 >> 4), tile_b + i * (32 >> 4), step + i);
      commit(&empty[s]);
    }
    commit(&complete);
  }
  wait_mbarrier(&complete, 0);
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");

  uint v[COLUMNS / 16][16];
#pragma unroll
  for (int i = 0; i < COLUMNS / 16; i++)
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : "=r"(v[i][0]), "=r"(v[i][1]), "=r"(v[i][2]), "=r"(v[i][3]), "=r"(v[i][4]), "=r"(v[i][5]), "=r"(v[i][6]), "=r"(v[i][7]),
                   "=r"(v[i][8]), "=r"(v[i][9]), "=r"(v[i][10]), "=r"(v[i][11]), "=r"(v[i][12]), "=r"(v[i][13]), "=r"(v[i][14]), "=r"(v[i][15])
                 : "r"(sums + (warp * 32 << 16) + 16 * i) : "memory");
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  if (warp == 0)
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(sums), "n"(COLUMNS));

  int r = row + threadIdx.x;
#pragma unroll
  for (int j = 0; j < COLUMNS; j += 2)
    if (r < m && column + j < n)
      *(uint *)(c + r * pitch + column + j) = half_pair(__uint_as_float(v[j / 16][j % 16]), __uint_as_float(v[j / 16][j % 16 + 1]));
}
