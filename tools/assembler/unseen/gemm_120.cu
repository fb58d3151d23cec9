// Multiplications of CUTLASS for sm_120: types, alignment, tile; cluster; schedule.
// with SHAPE = cutlass::mx_float8_t<cutlass::float_e4m3_t>, float, 16, 128, 128, 128 | cutlass::nv_float4_t<cutlass::float_e2m1_t>, float, 32, 128, 128, 128 | cutlass::mx_float4_t<cutlass::float_e2m1_t>, float, 32, 128, 128, 128
// with CLUSTER = _1, _1, _1
// with SCHEDULE = cutlass::gemm::collective::KernelScheduleAuto | cutlass::gemm::KernelTmaWarpSpecializedCooperative
// for 120a
#include "collective.h"
using Kernel = Of<cutlass::arch::Sm120, cutlass::arch::OpClassBlockScaledTensorOp, Shape<CLUSTER>, SCHEDULE, SHAPE>::Kernel;
extern "C" __global__ __launch_bounds__(Kernel::MaxThreadsPerBlock, Kernel::MinBlocksPerMultiprocessor) void k(const __grid_constant__ Kernel::Params params)
{
  multiply<Kernel>(params);
}
