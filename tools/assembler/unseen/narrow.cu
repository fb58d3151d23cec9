// Numbers of 8, 6 and 4 bits.
// from 80
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
template <class N> __device__ void both(float* f, __half* h, __nv_bfloat16* b, double* d, N* n)
{
  int i = threadIdx.x;
  n[0] = N(f[i]); n[1] = N(h[i]); n[2] = N(b[i]); n[3] = N(d[i]); f[i + 1] = float(n[4]); h[i + 1] = __half(n[5]); b[i + 1] = __nv_bfloat16(n[6]);
}
template <class N> __device__ void two(float2* f, __half2* h, __nv_bfloat162* b, N* n)
{
  int i = threadIdx.x;
  n[0] = N(f[i]); n[1] = N(h[i]); n[2] = N(b[i]); f[i + 1] = float2(n[4]); h[i + 1] = __half2(n[5]);
}
#define K(T) extern "C" __global__ void k_##T(float* f, __half* h, __nv_bfloat16* b, double* d, T* n) { both(f, h, b, d, n); }
#define K2(T) extern "C" __global__ void k_##T(float2* f, __half2* h, __nv_bfloat162* b, T* n) { two(f, h, b, n); }
K(__nv_fp8_e4m3) K(__nv_fp8_e5m2) K(__nv_fp6_e2m3) K(__nv_fp6_e3m2) K(__nv_fp4_e2m1)
K2(__nv_fp8x2_e4m3) K2(__nv_fp8x2_e5m2) K2(__nv_fp6x2_e2m3) K2(__nv_fp6x2_e3m2) K2(__nv_fp4x2_e2m1)
