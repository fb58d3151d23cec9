// What the lanes of a warp tell each other, and atomics.
// with T = int | unsigned | unsigned long long | float | double
extern "C" __global__ void exchange(T* a, unsigned* out)
{
  unsigned mask = __activemask();
  T x = a[threadIdx.x];
  x += __shfl_sync(mask, x, 3) + __shfl_up_sync(mask, x, 1) + __shfl_down_sync(mask, x, 2, 16) + __shfl_xor_sync(mask, x, 1);
  unsigned r = __ballot_sync(mask, x > 1) + __any_sync(mask, x > 2) + __all_sync(mask, x > 3);
#if __CUDA_ARCH__ >= 700
  int p;
  r += __match_any_sync(mask, x) + __match_all_sync(mask, x, &p) + p;
  __nanosleep(10);
#endif
#if __CUDA_ARCH__ >= 800
  r += __reduce_add_sync(mask, (unsigned)x) + __reduce_min_sync(mask, (int)x) + __reduce_xor_sync(mask, (unsigned)x);
#endif
  __syncwarp(mask);
  r += __syncthreads_count(x > 1) + __syncthreads_and(r);
  a[threadIdx.x] = x; out[threadIdx.x] = r;
}
extern "C" __global__ void atomics(T* a, int* n, unsigned* u, unsigned long long* q)
{
  __shared__ T s; __shared__ int t;
  T x = atomicAdd(a, T(1));
  atomicAdd(&s, x);
  int k = atomicSub(n, 1) + atomicExch(n + 1, 2) + atomicMin(n + 2, 3) + atomicMax(&t, 4) + atomicCAS(n, 1, 2) + atomicAnd(n, 3) + atomicOr(n, 4) + atomicXor(&t, 5);
  k += atomicInc(u, 7) + atomicDec(u + 1, 9) + (int)atomicExch(q, 3ull) + (int)atomicCAS(q, 1ull, 2ull) + (int)atomicMax(q, 8ull);
#if __CUDA_ARCH__ >= 600
  k += atomicAdd_block(n, 1) + atomicAdd_system(n, 2) + atomicCAS_system(n, 2, 3) + (int)atomicAdd_block(a, T(2));
#endif
  __threadfence(); __threadfence_block(); __threadfence_system();
  n[k & 3] = k + (int)s;
}
extern "C" __global__ void caches(const T* __restrict__ a, T* b, int i)
{
  T x = __ldg(a + i) + __ldcg(a + i) + __ldca(a + i) + __ldcs(a + i) + __ldlu(a + i) + __ldcv(a + i);
  __stcg(b, x); __stcs(b + 1, x); __stwb(b + 2, x); __stwt(b + 3, x);
  if (i > 100) __trap();
  if (i > 50) { asm volatile("exit;"); }
  assert(i != 7); printf("%d %f\n", i, double(x));
}
struct V { virtual T f(T) = 0; };
struct A : V { T k; __device__ T f(T x) override { return x + k; } };
struct B : V { __device__ T f(T x) override { return x * x; } };
__device__ __noinline__ T recursive(T x, int n) { return n <= 0 ? x : recursive(x + T(n), n - 1) + recursive(x, n - 2); }
extern "C" __global__ void calls(T* a, int n)
{
  A p; p.k = a[0]; B q;
  V* v = n & 1 ? (V*)&p : (V*)&q;
  T (*g)(T, int) = n & 2 ? recursive : nullptr;
  T* heap = new T[n]; heap[0] = v->f(a[1]);
  a[2] = heap[0] + (g ? g(a[3], n) : T(0));
  delete[] heap;
}
