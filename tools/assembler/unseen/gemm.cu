// Multiplications of CUTLASS as for GPUs before Hopper: types, class, tile, tile of a warp, tile of an instruction.
// with SHAPE = float, float, Simt, Sm50, 128, 128, 8, 32, 64, 8, 1, 1, 1, 2 | double, double, Simt, Sm50, 64, 64, 8, 32, 32, 8, 1, 1, 1, 2 | double, double, TensorOp, Sm80, 64, 64, 16, 32, 32, 16, 8, 8, 4, 3 | f16, float, TensorOp, Sm75, 128, 128, 32, 64, 64, 32, 16, 8, 8, 2 | f16, f16, TensorOp, Sm80, 128, 64, 32, 64, 32, 32, 16, 8, 16, 4 | bf16, float, TensorOp, Sm80, 64, 128, 64, 32, 64, 64, 16, 8, 16, 3 | tf32, float, TensorOp, Sm80, 128, 128, 16, 64, 64, 16, 16, 8, 8, 4 | f16, float, WmmaTensorOp, Sm70, 64, 64, 32, 32, 32, 32, 16, 16, 16, 2
// with MAJOR = RowMajor | ColumnMajor
// from 80
#include "cutlass/cutlass.h"
#include "cutlass/gemm/device/gemm.h"
#include "cutlass/epilogue/thread/linear_combination_relu.h"
using f16 = cutlass::half_t; using bf16 = cutlass::bfloat16_t; using tf32 = cutlass::tfloat32_t;
using namespace cutlass::arch;
using Simt = OpClassSimt; using TensorOp = OpClassTensorOp; using WmmaTensorOp = OpClassWmmaTensorOp;
template <class T, class Acc, class Class, class Arch, int M, int N, int K, int WM, int WN, int WK, int IM, int IN, int IK, int Stages> struct Of {
  static constexpr int width = IM == 1 || sizeof(T) == 8 ? 1 : 128 / cutlass::sizeof_bits<T>::value;
  using Kernel = typename cutlass::gemm::device::Gemm<T, cutlass::layout::MAJOR, T, cutlass::layout::RowMajor, Acc, cutlass::layout::RowMajor, Acc, Class, Arch,
    cutlass::gemm::GemmShape<M, N, K>, cutlass::gemm::GemmShape<WM, WN, WK>, cutlass::gemm::GemmShape<IM, IN, IK>,
    cutlass::epilogue::thread::LinearCombinationRelu<Acc, IM == 1 || sizeof(Acc) == 8 ? 1 : 128 / cutlass::sizeof_bits<Acc>::value, Acc, Acc>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<4>, Stages, width, width>::GemmKernel;
};
using Kernel = Of<SHAPE>::Kernel;
extern "C" __global__ void k(Kernel::Params params)
{
  extern __shared__ int shared[];
  Kernel()(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}
