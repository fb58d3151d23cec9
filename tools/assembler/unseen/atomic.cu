// libcu++: atomics of all orders and scopes, barriers and others.
// with T = int | unsigned long long | float | short | unsigned char
// with SCOPE = thread_scope_block | thread_scope_device | thread_scope_system
// from 70
#include <cuda/atomic>
#include <cuda/std/complex>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <cuda/std/bit>
#include <cuda/std/span>
#include <cuda/std/optional>
#include <cuda/std/variant>
extern "C" __global__ void k(T* a, cuda::std::complex<double>* c, unsigned* out)
{
  cuda::atomic_ref<T, cuda::SCOPE> r(*a);
  T x = r.load(cuda::memory_order_acquire); r.store(x, cuda::memory_order_release); r.store(x, cuda::memory_order_seq_cst); x += r.exchange(T(2), cuda::memory_order_acq_rel); x += r.fetch_add(T(1), cuda::memory_order_relaxed); x += r.fetch_max(T(4), cuda::memory_order_seq_cst);
  T e = x; while (!r.compare_exchange_weak(e, T(3), cuda::memory_order_acq_rel)) { if (e > T(100)) break; }
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::SCOPE); cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::SCOPE);
  c[0] = c[1] * c[2] / c[3] + cuda::std::exp(c[4]) - cuda::std::sqrt(c[5]);
  cuda::std::array<unsigned, 3> p{1, 2, out[5]}; cuda::std::optional<unsigned> o; if (p[2] > 3) o = p[2]; cuda::std::variant<int, double> v; if (o) v = 2.0 * *o; else v = 3;
  out[0] = cuda::std::popcount(p[2]) + cuda::std::countl_zero(p[2]) + cuda::std::rotl(p[2], 3) + cuda::std::bit_ceil(p[2]) + o.value_or(7) + (unsigned)v.index() + cuda::std::get<1>(cuda::std::make_tuple(1, p[1]));
}
