// A multiplication of CUTLASS: halves, sums in float, row times column, tiles of 64x64x64 by
// wgmma, copies by warps of their own with cp.async; the kernel makes its parameters itself.
#include "cutlass/cutlass.h"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
using namespace cute;
using Sizes = Shape<_64, _64, _64>;
using Team = Shape<_1, _1, _1>;
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Sizes, Team,
  cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, 4, float, Row, 4, cutlass::epilogue::NoSmemWarpSpecialized>::CollectiveOp;
using Main = cutlass::gemm::collective::CollectiveBuilder<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Row, 8, Half, Column, 8,
  float, Sizes, Team, Int<3>, cutlass::gemm::KernelCpAsyncWarpSpecialized>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Main, Epilogue>;

extern "C" __global__ void __launch_bounds__(Kernel::MaxThreadsPerBlock) multiply(Half *a, Half *b, float *d, int m, int n, int k)
{
  extern __shared__ __align__(128) char shared[];
  Kernel::Params params{cutlass::gemm::GemmUniversalMode::kGemm, {m, n, k, 1}, {a, {k, {}, 0}, b, {k, {}, 0}}, {{1.0f, 0.0f}, nullptr, {n, {}, 0}, d, {n, {}, 0}}};
  Kernel()(params, shared);
}
