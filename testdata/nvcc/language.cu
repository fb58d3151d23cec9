// What CUDA C++ compiles to by NVIDIA's own compiler: virtual functions, tables of
// functions, recursion, jump tables, the heap, cooperative groups, divisions, casts.
// The lines after "run" say what each kernel does, as in testdata/README.md; they are
// worked out by hand, or with Python's integers and floats.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

struct Shape {
  virtual __device__ int area(int x) { return x + 1; }
};
struct Square : Shape {
  __device__ int area(int x) override { return x * x; }
};

// run block=8: virtuals() == s32 1 1 3 9 5 25 7 49
KERNEL virtuals(int *out) {
  Shape shape;
  Square square;
  Shape *s = threadIdx.x & 1 ? &square : &shape;
  out[threadIdx.x] = s->area(threadIdx.x);
}

__device__ int plus3(int x) { return x + 3; }
__device__ int times5(int x) { return x * 5; }
__device__ int minus7(int x) { return x - 7; }
__device__ int (*table[3])(int) = {plus3, times5, minus7};

// run block=6: pointers() == s32 3 5 -5 6 20 -2
KERNEL pointers(int *out) { out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x); }

__device__ __noinline__ unsigned long long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

// run block=10: recursion() == u64 0 1 1 2 3 5 8 13 21 34
KERNEL recursion(unsigned long long *out) { out[threadIdx.x] = fib(threadIdx.x); }

// The Collatz length of t + 1, by hand for the first few and by Python for all.
// run block=16: collatz() == s32 0 1 7 2 5 8 16 3 19 6 14 9 9 17 17 4
KERNEL collatz(int *out) {
  int n = threadIdx.x + 1, steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  out[threadIdx.x] = steps;
}

// run block=12: jumps() == s32 10 21 -2 9 16 35 0 49 80 -9 5 22
KERNEL jumps(int *out) {
  int t = threadIdx.x, v = 0;
  switch (t) {
  case 0: v = 10; break;
  case 1: v = 21 * t; break;
  case 2: v = -t; break;
  case 3: v = t * t; break;
  case 4: v = 1 << t; break;
  case 5: v = 7 * t; break;
  case 7: v = t * 7; break;
  case 8: v = 10 * t; break;
  case 9: v = -t; break;
  case 10: v = t / 2; break;
  case 11: v = 2 * t; break;
  }
  out[t] = v;
}

// run block=8: heap() == s32 6 10 14 18 22 26 30 34
KERNEL heap(int *out) {
  int *p = new int[4], sum = 0;
  for (int i = 0; i < 4; i++)
    p[i] = threadIdx.x + i;
  for (int i = 0; i < 4; i++)
    sum += p[i];
  delete[] p;
  out[threadIdx.x] = sum;
}

// run block=128 warp=32: groups(s32{1..1000}, 1000) == s32 500500
KERNEL groups(const int *x, int n, int *out) {
  __shared__ int part[4];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int sum = 0;
  for (int i = block.thread_rank(); i < n; i += block.size())
    sum += x[i];
  for (int d = warp.size() / 2; d > 0; d /= 2)
    sum += warp.shfl_down(sum, d);
  if (warp.thread_rank() == 0)
    part[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    sum = __reduce_add_sync(~0u, warp.thread_rank() < warp.meta_group_size() ? part[warp.thread_rank()] : 0);
    if (warp.thread_rank() == 0)
      *out = sum;
  }
}

// Four of eight threads are together.
// run block=8 warp=32: together() == s32 3
KERNEL together(int *counter) {
  *counter = 0;
  __syncthreads();
  if (threadIdx.x % 3 == 1 || threadIdx.x == 2) {
    auto g = cg::coalesced_threads();
    if (g.thread_rank() == 0)
      atomicAdd(counter, g.size() - 1);
  }
}

// run block=7: divide(s32{100 -100 7 -7 2147483647 -2147483648 0}) == s64 14 2 33 1 -14 -2 -34 -1 1 0 2 1 -1 0 -3 -1 306783378 1 715827882 1 -306783378 -2 -715827883 -2 0 0 0 0
KERNEL divide(const int *x, long long *out) {
  long long v = x[threadIdx.x], floor3 = v / 3 - (v % 3 < 0);
  out[4 * threadIdx.x] = x[threadIdx.x] / 7;
  out[4 * threadIdx.x + 1] = v % 7;
  out[4 * threadIdx.x + 2] = floor3;
  out[4 * threadIdx.x + 3] = v % 3;
}

// Divisions, roots and casts are rounded as IEEE 754 says.
// run block=3: doubles(f64{2.0 10.0 -0.75}) == f64 0d3fe5555555555555 0d3ff6a09e667f3bcd 0d4000000000000000 0d3fd24924a0000000 0d41ddcd6500000000 0d400aaaaaaaaaaaab 0d40094c583ada5b53 0d4028000000000000 0d3ff6db6dc0000000 0d4202a05f20000000 0dbfd0000000000000 0d3febb67ae8584caa 0dbff0000000000000 0dbfbb6db6e0000000 0dc1c65a0bc0000000
KERNEL doubles(const double *x, double *out) {
  double v = x[threadIdx.x], *o = out + 5 * threadIdx.x;
  o[0] = v / 3;
  o[1] = sqrt(fabs(v));
  o[2] = rint(v * 1.25);
  o[3] = (float)(v / 7);
  o[4] = (long long)(v * 1e9);
}

// run block=32 warp=32: bits() == u32 136 264 201 329 170 799 736 864 657 786 1223 1352 1193 1322 1259 1887 1656 1785 1722 1851 2192 2321 2258 2387 2180 2809 2746 2875 2716 2845 3279 3407
KERNEL bits(unsigned *out) {
  unsigned t = threadIdx.x, m = __match_any_sync(~0u, t / 5);
  out[t] = __popc(m) + 100 * __ffs(m) + (__brev(t) >> 24) + __byte_perm(t << 8, 0, 0x4441) + __clz(t + 1);
}
