// Multiplications of integers of CUTLASS: types, generation, tile, tile of a warp, tile of an instruction.
// with SHAPE = int8_t, Sm75, 128, 128, 64, 64, 64, 64, 8, 8, 16, 2 | int8_t, Sm80, 128, 64, 64, 64, 32, 64, 16, 8, 32, 3 | uint8_t, Sm80, 64, 64, 64, 32, 32, 64, 16, 8, 32, 4 | cutlass::int4b_t, Sm75, 128, 128, 128, 64, 64, 128, 8, 8, 32, 2 | cutlass::int4b_t, Sm80, 128, 128, 128, 64, 64, 128, 16, 8, 64, 3
// from 80
#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"
#include "cutlass/epilogue/thread/linear_combination_clamp.h"
using namespace cutlass::arch;
template <class T, class Arch, int M, int N, int K, int WM, int WN, int WK, int IM, int IN, int IK, int Stages> struct Of {
  static constexpr int width = 128 / cutlass::sizeof_bits<T>::value;
  using Kernel = typename cutlass::gemm::device::Gemm<T, cutlass::layout::RowMajor, T, cutlass::layout::ColumnMajor, int, cutlass::layout::RowMajor, int, OpClassTensorOp, Arch,
    cutlass::gemm::GemmShape<M, N, K>, cutlass::gemm::GemmShape<WM, WN, WK>, cutlass::gemm::GemmShape<IM, IN, IK>,
    cutlass::epilogue::thread::LinearCombinationClamp<int, 4, int, float>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, Stages, width, width>::GemmKernel;
};
using Kernel = Of<SHAPE>::Kernel;
extern "C" __global__ void k(Kernel::Params params)
{
  extern __shared__ int shared[];
  Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}
