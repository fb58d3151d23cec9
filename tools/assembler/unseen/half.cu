// Numbers of 16 bits.
// with H = half | nv_bfloat16
// with N = 0 | 1 | 2
// from 53
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class S> struct pair; template <> struct pair<half> { using t = half2; }; template <> struct pair<nv_bfloat16> { using t = nv_bfloat162; };
using H2 = pair<H>::t;
extern "C" __global__ void k(H* a, H2* b, float* f, int* n)
{
  int i = threadIdx.x; H x = a[i], y = a[i + 1], z = a[i + 2]; H2 u = b[i], v = b[i + 1], w = b[i + 2];
#if N == 0
  x = __hadd(x, y); x = __hsub(x, y); x = __hmul(x, y); x = __hfma(x, y, z); x = __hdiv(x, y); x = __hneg(x); x = __habs(x); x = __hadd_sat(x, y); x = __hmul_sat(x, z); x = __hfma_sat(x, y, z);
  u = __hadd2(u, v); u = __hsub2(u, v); u = __hmul2(u, v); u = __hfma2(u, v, w); u = __h2div(u, v); u = __hneg2(u); u = __habs2(u); u = __hadd2_sat(u, v);
  x = __hmax(x, y); x = __hmin(x, z); x = __hmax_nan(x, y); u = __hmin2(u, v); u = __hmax2_nan(u, w); x = __hfma_relu(x, y, z); u = __hfma2_relu(u, v, w); u = __hcmadd(u, v, w);
#elif N == 1
  n[i] = __heq(x, y) + __hne(x, y) + __hlt(x, y) + __hle(x, y) + __hgt(x, y) + __hgeu(x, y) + __hisnan(x) + __hisinf(x) + __hbeq2(u, v) + __hbltu2(u, v);
  u = __heq2(u, v); u = __hltu2(v, w); n[i] += __hgt2_mask(u, v);
  x = hsin(x); x = hcos(y); x = hexp(x); x = hexp2(x); x = hlog(x); x = hlog2(x); x = hsqrt(x); x = hrsqrt(x); x = hrcp(x); x = hfloor(x); x = hceil(x); x = hrint(x); x = htrunc(x); u = h2exp2(u); u = h2sqrt(u); u = h2rcp(u); u = h2log(v);
#if __CUDA_ARCH__ >= 750
  x = htanh(x); u = h2tanh(u);
#endif
#else
  f[i] = float(x) + float(y) + u.x.operator float(); x = H(f[i + 1]); u = H2(x, y); n[i] = int(x) + (unsigned short)(y); a[i + 3] = H(n[i]); a[i + 4] = H((unsigned)n[i]); a[i + 5] = H(double(f[i])); a[i + 6] = H((long long)n[i]);
#if __CUDA_ARCH__ >= 700
  x = __shfl_xor_sync(~0u, x, 1); u = __shfl_sync(~0u, u, 2); atomicAdd(a, x); atomicAdd(b, u); x = __ldg(a + 9); u = __ldcs(b + 4);
#endif
#endif
  a[i] = x; b[i] = u;
}
