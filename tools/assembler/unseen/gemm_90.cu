// Multiplications of CUTLASS for sm_90: types, alignment, tile; cluster; schedule.
// with SHAPE = cutlass::half_t, float, 8, 64, 128, 64 | cutlass::bfloat16_t, float, 8, 128, 128, 64 | cutlass::tfloat32_t, float, 4, 64, 64, 32 | cutlass::float_e4m3_t, float, 16, 128, 64, 128 | int8_t, int, 16, 64, 128, 128
// with CLUSTER = _1, _1, _1 | _2, _1, _1
// with SCHEDULE = cutlass::gemm::KernelTmaWarpSpecialized | cutlass::gemm::KernelTmaWarpSpecializedPingpong | cutlass::gemm::KernelCpAsyncWarpSpecialized | cutlass::gemm::KernelTma
// for 90a
#include "collective.h"
using Kernel = Of<cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Shape<CLUSTER>, SCHEDULE, SHAPE>::Kernel;
extern "C" __global__ __launch_bounds__(Kernel::MaxThreadsPerBlock, Kernel::MinBlocksPerMultiprocessor) void k(const __grid_constant__ Kernel::Params params)
{
  multiply<Kernel>(params);
}
