// A multiplication with CuTe: halves, sums in float in tensor memory, row times column, a tile of
// 128x64 by steps of 64 that are fetched by tensor maps, multiplied by one thread and read back
// by four warps.
#include "cute/tensor.hpp"
#include "cute/arch/cluster_sm90.hpp"
#include "cute/arch/tmem_allocator_sm100.hpp"
#include "cutlass/arch/barrier.h"
#include "cutlass/half.h"
using namespace cute;
using Half = cutlass::half_t;
using Mma = decltype(make_tiled_mma(SM100_MMA_F16BF16_SS<Half, Half, float, 128, 64, UMMA::Major::K, UMMA::Major::K>{}));
using LayoutA = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<Half>{}, partition_shape_A(Mma{}, Shape<_128, _64>{})));
using LayoutB = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<Half>{}, partition_shape_B(Mma{}, Shape<_64, _64>{})));

struct Shared {
  alignas(1024) cute::ArrayEngine<Half, cosize_v<LayoutA>> a;
  alignas(1024) cute::ArrayEngine<Half, cosize_v<LayoutB>> b;
  alignas(8) uint64_t fetched, multiplied;
  uint32_t columns;
};

extern "C" __global__ void __launch_bounds__(128) multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *d, int n, int k)
{
  extern __shared__ __align__(1024) char memory[];
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  bool first = threadIdx.x / 32 == 0, one = elect_one_sync();
  TMEM::Allocator1Sm allocator;
  if (first) {
    allocator.allocate(64, &shared.columns);
    if (one) {
      initialize_barrier(shared.fetched, 1);
      initialize_barrier(shared.multiplied, 1);
    }
    cutlass::arch::fence_barrier_init();
  }
  __syncthreads();
  Tensor all = make_tensor(make_gmem_ptr(d), make_layout(make_shape(128 * gridDim.x, n), make_stride(n, _1{})));
  Tensor tile = local_tile(all, Shape<_128, _64>{}, make_coord(blockIdx.x, blockIdx.y));
  Mma mma;
  auto part = mma.get_slice(_0{});
  Tensor fA = part.make_fragment_A(make_tensor(make_smem_ptr(shared.a.begin()), LayoutA{}));
  Tensor fB = part.make_fragment_B(make_tensor(make_smem_ptr(shared.b.begin()), LayoutB{}));
  Tensor to = part.partition_C(tile);
  Tensor sum = part.make_fragment_C(to);
  sum.data() = shared.columns;
  mma.accumulate_ = UMMA::ScaleOut::Zero;
  if (first)
    for (int i = 0, phase = 0; i < (k + 63) / 64; i++, phase ^= 1) {
      if (one) {
        set_barrier_transaction_bytes(shared.fetched, (128 + 64) * 64 * sizeof(Half));
        SM90_TMA_LOAD_2D::copy(&a, &shared.fetched, 0, shared.a.begin(), 64 * i, 128 * blockIdx.x);
        SM90_TMA_LOAD_2D::copy(&b, &shared.fetched, 0, shared.b.begin(), 64 * i, 64 * blockIdx.y);
      }
      wait_barrier(shared.fetched, phase);
      for (int j = 0; j < size<2>(fA); j++) {
        gemm(mma, fA(_, _, j), fB(_, _, j), sum);
        mma.accumulate_ = UMMA::ScaleOut::One;
      }
      cutlass::arch::umma_arrive(&shared.multiplied);
      wait_barrier(shared.multiplied, phase);
    }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  __syncthreads();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  auto loads = make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, sum);
  auto load = loads.get_slice(threadIdx.x);
  Tensor mine = load.partition_D(to);
  Tensor values = make_tensor<float>(shape(mine));
  copy(loads, load.partition_S(sum), values);
  copy(values, mine);
  __syncthreads();
  if (first) {
    allocator.release_allocation_lock();
    allocator.free(shared.columns, 64);
  }
}
