#include "tma.h"

// C = A·Bᵀ on the tensor cores of Hopper, where A is m×k, B is n×k and C is m×n, row by row, of halves. A block computes a
// tile of 64×64. One warp copies tiles of A and B with the tensor memory accelerator (TMA), the four warps of a warpgroup
// multiply them by wgmma, directly from shared memory. Mbarriers tell the multiplying warps that a stage is full, and the
// copying warp that it is empty. Elements outside of A and B are zero. Rows of C have pitch elements, and pitch must be even.
// Needs warps of 32 lanes.

#define TILE 64
#define DEPTH 64 // columns of a step: 128 bytes
#define STAGES 4
#define TILE_BYTES (TILE * DEPTH * 2)

// The descriptor of a tile in shared memory for wgmma (manual 9.7.15.5.1.2): rows of 128 bytes with the swizzle of 128
// bytes, groups of eight rows 1024 bytes apart.
INSTRUCTION unsigned long long descriptor(uint tile) {
  return (tile & 0x3ffff) >> 4 | 1ull << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}

// Begins to add the product of 64×16 and 16×64 elements to c. The registers are defined after wait_for_products.
INSTRUCTION void multiply(float c[8][4], unsigned long long a, unsigned long long b) {
#define R(i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "%32, %33, 1, 1, 1, 0, 0;"
               : R(0), R(1), R(2), R(3), R(4), R(5), R(6), R(7)
               : "l"(a), "l"(b));
#undef R
}

extern "C" __global__ void __launch_bounds__(160) gemm_wgmma(int m, int n, int k, int pitch, const __grid_constant__ tensor_map a, const __grid_constant__ tensor_map b, unsigned short *c) {
  extern __shared__ __align__(1024) char tiles[]; // of A and of B for each stage
  __shared__ unsigned long long full[STAGES], empty[STAGES];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int row = blockIdx.y * TILE, column = blockIdx.x * TILE, steps = (k + DEPTH - 1) / DEPTH;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      init_mbarrier(&full[s], 1);
      init_mbarrier(&empty[s], 128); // the multiplying threads
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  if (warp == 4) {
    if (lane == 0)
      for (int step = 0; step < steps; step++) {
        int s = step % STAGES;
        if (step >= STAGES)
          wait_mbarrier(&empty[s], step / STAGES - 1 & 1);
        expect_bytes(&full[s], 2 * TILE_BYTES);
        copy_box(shared_address(tiles) + 2 * s * TILE_BYTES, &a, step * DEPTH, row, &full[s]);
        copy_box(shared_address(tiles) + (2 * s + 1) * TILE_BYTES, &b, step * DEPTH, column, &full[s]);
      }
    return;
  }

  float sums[8][4] = {};
  for (int step = 0; step < steps; step++) {
    int s = step % STAGES;
    wait_mbarrier(&full[s], step / STAGES & 1);
    unsigned long long tile_a = descriptor(shared_address(tiles) + 2 * s * TILE_BYTES);
    unsigned long long tile_b = descriptor(shared_address(tiles) + (2 * s + 1) * TILE_BYTES);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < DEPTH / 16; i++) // 16 columns are 32 bytes
      multiply(sums, tile_a + i * (32 >> 4), tile_b + i * (32 >> 4));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(&empty[s]);
  }

#pragma unroll
  for (int j = 0; j < 8; j++)
#pragma unroll
    for (int upper = 0; upper < 2; upper++) {
      int r = row + warp * 16 + upper * 8 + lane / 4, s = column + j * 8 + lane % 4 * 2;
      if (r < m && s < n)
        *(uint *)(c + r * pitch + s) = half_pair(sums[j][2 * upper], sums[j][2 * upper + 1]);
    }
}
