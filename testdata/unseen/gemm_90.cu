// Multiplications of CUTLASS for sm_90: types, alignment, tile; cluster; schedule.
// with SHAPE = cutlass::half_t, float, 8, 64, 128, 64 | cutlass::bfloat16_t, float, 8, 128, 128, 64 | cutlass::tfloat32_t, float, 4, 64, 64, 32 | cutlass::float_e4m3_t, float, 16, 128, 64, 128 | int8_t, int, 16, 64, 128, 128
// with CLUSTER = _1, _1, _1 | _2, _1, _1
// with SCHEDULE = cutlass::gemm::KernelTmaWarpSpecialized | cutlass::gemm::KernelTmaWarpSpecializedPingpong | cutlass::gemm::KernelCpAsyncWarpSpecialized | cutlass::gemm::KernelTma
// for 90a
#ifdef __CUDACC_RTC__ // which lacks what CUTLASS wants
#include <cuda/std/type_traits>
namespace std { template <class T> constexpr bool is_pointer_v = cuda::std::is_pointer_v<T>; }
#endif
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
using namespace cute;
template <class T, class Acc, int Align, int M, int N, int K> struct Of {
  using Tile = Shape<Int<M>, Int<N>, Int<K>>;
  using Cluster = Shape<CLUSTER>;
  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, Acc, Acc, Acc, cutlass::layout::RowMajor, 4, Acc, cutlass::layout::RowMajor, 4, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
  using Main = typename cutlass::gemm::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, cutlass::layout::RowMajor, Align, T, cutlass::layout::ColumnMajor, Align,
    Acc, Tile, Cluster, cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>, SCHEDULE>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Epilogue>;
};
using Kernel = Of<SHAPE>::Kernel;
extern "C" __global__ __launch_bounds__(Kernel::MaxThreadsPerBlock, Kernel::MinBlocksPerMultiprocessor) void k(const __grid_constant__ Kernel::Params params)
{
  extern __shared__ char shared[];
  Kernel()(params, shared);
}
