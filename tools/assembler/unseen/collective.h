// A multiplication by CUTLASS's builders, of rows and columns: Of is its kernel.
#ifdef __CUDACC_RTC__ // which lacks what CUTLASS wants
#include <cuda/std/type_traits>
namespace std { template <class T> constexpr bool is_pointer_v = cuda::std::is_pointer_v<T>; }
#endif
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
using namespace cute;
template <class Arch, class Class, class Cluster, class Schedule, class T, class Acc, int Align, int M, int N, int K> struct Of {
  using Tile = Shape<Int<M>, Int<N>, Int<K>>;
  using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<Arch, cutlass::arch::OpClassTensorOp, Tile, Cluster,
    cutlass::epilogue::collective::EpilogueTileAuto, Acc, Acc, Acc, cutlass::layout::RowMajor, 4, Acc, cutlass::layout::RowMajor, 4, cutlass::epilogue::collective::EpilogueScheduleAuto>::CollectiveOp;
  using Main = typename cutlass::gemm::collective::CollectiveBuilder<Arch, Class, T, cutlass::layout::RowMajor, Align, T, cutlass::layout::ColumnMajor, Align,
    Acc, Tile, Cluster, cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>, Schedule>::CollectiveOp;
  using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Epilogue>;
};
template <class Kernel> __device__ void multiply(const typename Kernel::Params &params)
{
  extern __shared__ char shared[];
  Kernel()(params, shared);
}
