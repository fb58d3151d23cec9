// The used part of CUDA, for the kernels of this library, for clang without a CUDA toolkit.
#ifndef GEMU_CUDA
#define GEMU_CUDA
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __host__ __attribute__((host))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict
#include <__clang_cuda_builtin_vars.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long long ull;

// Without lines of their own: a fault is at the line of the call.
#define GEMU_INLINE static __device__ inline __attribute__((always_inline, nodebug))

GEMU_INLINE int min(int a, int b) { return a < b ? a : b; }
GEMU_INLINE int max(int a, int b) { return a > b ? a : b; }
GEMU_INLINE uint min(uint a, uint b) { return a < b ? a : b; }
GEMU_INLINE uint max(uint a, uint b) { return a > b ? a : b; }
GEMU_INLINE int abs(int a) { return a < 0 ? -a : a; }
GEMU_INLINE int __popc(uint a) { return __builtin_popcount(a); }
GEMU_INLINE int __clz(int a) { return a ? __builtin_clz(a) : 32; }
GEMU_INLINE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
GEMU_INLINE uint __umulhi(uint a, uint b) { return __nvvm_mulhi_ui(a, b); }

// Floats. sqrtf is rounded correctly; rsqrtf, expf, exp2f and functions with two underscores are
// approximations.
GEMU_INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
GEMU_INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
GEMU_INLINE float fabsf(float a) { return __builtin_fabsf(a); }
GEMU_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
GEMU_INLINE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
GEMU_INLINE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
GEMU_INLINE float expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269504f); } // 2^(a·log2 e)
GEMU_INLINE float exp2f(float a) { return __nvvm_ex2_approx_f(a); }
GEMU_INLINE float __logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147181f; } // log2 a · ln 2
GEMU_INLINE float __sinf(float a) { return __nvvm_sin_approx_f(a); }
GEMU_INLINE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
GEMU_INLINE float rintf(float a) { return __builtin_rintf(a); }

// Memory order, and operations between the threads of a warp.
GEMU_INLINE void __threadfence() { __nvvm_membar_gl(); }
GEMU_INLINE int __shfl_down_sync(uint mask, int v, uint delta) { return __nvvm_shfl_sync_down_i32(mask, v, delta, 31); }
GEMU_INLINE float __shfl_down_sync(uint mask, float v, uint delta) { return __nvvm_shfl_sync_down_f32(mask, v, delta, 31); }
GEMU_INLINE int __shfl_xor_sync(uint mask, int v, int lanes) { return __nvvm_shfl_sync_bfly_i32(mask, v, lanes, 31); }
GEMU_INLINE float __shfl_xor_sync(uint mask, float v, int lanes) { return __nvvm_shfl_sync_bfly_f32(mask, v, lanes, 31); }
GEMU_INLINE uint __ballot_sync(uint mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }

// Atomics, each with the old value as result.
GEMU_INLINE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
GEMU_INLINE uint atomicAdd(uint *p, uint v) { return __nvvm_atom_add_gen_i((int *)p, v); }
GEMU_INLINE ull atomicAdd(ull *p, ull v) { return __nvvm_atom_add_gen_ll((long long *)p, v); }
GEMU_INLINE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
GEMU_INLINE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
GEMU_INLINE ull atomicMin(ull *p, ull v) { return __nvvm_atom_min_gen_ull(p, v); }
GEMU_INLINE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
GEMU_INLINE int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }
GEMU_INLINE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
GEMU_INLINE int atomicCAS(int *p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }

#endif
