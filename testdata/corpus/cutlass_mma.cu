// A multiplication of CUTLASS: halves, sums in float, row times column, tiles of 64x64x32 in
// three stages, whose parameters the kernel makes itself.
#include "cutlass/gemm/kernel/default_gemm.h"
#include "cutlass/epilogue/thread/linear_combination.h"
using Tile = cutlass::gemm::GemmShape<64, 64, 32>;
using Warp = cutlass::gemm::GemmShape<32, 32, 32>;
using Kernel = cutlass::gemm::kernel::DefaultGemm<
  cutlass::half_t, cutlass::layout::RowMajor, 8, cutlass::half_t, cutlass::layout::ColumnMajor, 8, float, cutlass::layout::RowMajor, float,
  cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, Tile, Warp, cutlass::gemm::GemmShape<16, 8, 16>,
  cutlass::epilogue::thread::LinearCombination<float, 4, float, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, false,
  cutlass::arch::OpMultiplyAdd>::GemmKernel;

extern "C" __global__ void __launch_bounds__(Kernel::kThreadCount) multiply(cutlass::half_t *a, cutlass::half_t *b, float *d, int m, int n, int k)
{
  extern __shared__ __align__(16) char shared[];
  static_assert(sizeof(Kernel::SharedStorage) <= 48 << 10);
  cutlass::gemm::GemmCoord problem(m, n, k), tiles((m + 63) / 64, (n + 63) / 64, 1);
  Kernel::Params params(problem, tiles, {a, k}, {b, k}, {d, n}, {d, n}, {1.0f, 0.0f});
  Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}
