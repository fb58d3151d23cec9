// A multiplication with CuTe: halves, sums in float, row times column, tiles of 64x64x64 that one
// thread fetches by tensor maps into a pipeline of CUTLASS of three stages, and a warpgroup
// multiplies.
#include "cute/tensor.hpp"
#include "cutlass/arch/reg_reconfig.h"
#include "cutlass/pipeline/pipeline.hpp"
using namespace cute;
using Half = cutlass::half_t;
using Matrix = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<Half>{}, Shape<_64, _64, _3>{}));
using Pipeline = cutlass::PipelineTmaAsync<3>;

struct Shared {
  alignas(1024) cute::array<Half, cosize_v<Matrix>> a, b;
  Pipeline::SharedStorage pipeline;
};

extern "C" __global__ void __launch_bounds__(256) multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *d, int n, int k)
{
  extern __shared__ __align__(1024) char memory[];
  Shared &shared = *reinterpret_cast<Shared *>(memory);
  bool producer = threadIdx.x < 128;
  Pipeline::Params params;
  params.transaction_bytes = 2 * 64 * 64 * sizeof(Half);
  params.role = producer ? Pipeline::ThreadCategory::Producer : Pipeline::ThreadCategory::Consumer;
  params.is_leader = threadIdx.x == 0;
  params.num_consumers = 128;
  Pipeline pipeline(shared.pipeline, params, Shape<_1, _1, _1>{});
  __syncthreads();
  int steps = (k + 63) / 64;
  if (producer) {
    cutlass::arch::warpgroup_reg_dealloc<40>();
    if (threadIdx.x == 0) {
      auto state = cutlass::make_producer_start_state<Pipeline>();
      for (int i = 0; i < steps; i++, ++state) {
        pipeline.producer_acquire(state);
        auto *bar = pipeline.producer_get_barrier(state);
        SM90_TMA_LOAD_2D::copy(&a, bar, 0, shared.a.data() + 64 * 64 * state.index(), 64 * i, 64 * blockIdx.x);
        SM90_TMA_LOAD_2D::copy(&b, bar, 0, shared.b.data() + 64 * 64 * state.index(), 64 * i, 64 * blockIdx.y);
      }
      pipeline.producer_tail(state);
    }
    return;
  }
  cutlass::arch::warpgroup_reg_alloc<232>();
  Tensor sA = make_tensor(make_smem_ptr(shared.a.data()), Matrix{}), sB = make_tensor(make_smem_ptr(shared.b.data()), Matrix{});
  Tensor all = make_tensor(make_gmem_ptr(d), make_layout(make_shape(64 * gridDim.x, n), make_stride(n, _1{})));
  Tensor tile = local_tile(all, Shape<_64, _64>{}, make_coord(blockIdx.x, blockIdx.y));
  auto mma = make_tiled_mma(SM90_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>{});
  auto thread = mma.get_thread_slice(threadIdx.x - 128);
  Tensor fA = thread.make_fragment_A(thread.partition_A(sA)), fB = thread.make_fragment_B(thread.partition_B(sB));
  Tensor to = thread.partition_C(tile);
  Tensor sum = thread.make_fragment_C(to);
  clear(sum);
  cutlass::PipelineState<3> state;
  for (int i = 0; i < steps; i++, ++state) {
    pipeline.consumer_wait(state);
    warpgroup_arrive();
    gemm(mma, fA(_, _, _, state.index()), fB(_, _, _, state.index()), sum);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    pipeline.consumer_release(state);
  }
  copy(sum, to);
}
