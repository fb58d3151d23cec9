// Matrices in warps.
// with M = 16, 16, 16 | 32, 8, 16 | 8, 32, 16
// with T = half | __nv_bfloat16 | signed char | unsigned char
// with A = row_major | col_major
// from 80
#include <mma.h>
using namespace nvcuda;
template <class U> struct acc { using t = float; }; template <> struct acc<signed char> { using t = int; }; template <> struct acc<unsigned char> { using t = int; };
extern "C" __global__ void k(const T* a, const T* b, acc<T>::t* c)
{
  wmma::fragment<wmma::matrix_a, M, T, wmma::A> x; wmma::fragment<wmma::matrix_b, M, T, wmma::col_major> y; wmma::fragment<wmma::accumulator, M, acc<T>::t> z;
  wmma::fill_fragment(z, 0); wmma::load_matrix_sync(x, a, 32); wmma::load_matrix_sync(y, b, 32);
  for (int i = 0; i < 3; i++) wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(c, z, 32, wmma::mem_row_major);
}
