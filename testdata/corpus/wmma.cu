// Matrix multiplication by wmma, which clang compiles without a CUDA toolkit: make_clang.sh does.
// What the kernel must compute is in internal/corpus/compiled.go.
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

enum { tile = 16, skew = 8, row_col = 1, row = 0 };

// c = 2·c + a·b: a is of 16·gridDim.y rows of k elements of .f16, b of 16·gridDim.x columns of k.
// Each block is a warp, and computes 16×16 elements.
extern "C" __global__ void tiles(const unsigned short *a, const unsigned short *b, float *c, int k) {
  __shared__ __attribute__((aligned(32))) unsigned short panel[tile * (tile + skew)];
  int n = tile * __nvvm_read_ptx_sreg_nctaid_x(), lane = __nvvm_read_ptx_sreg_tid_x();
  a += tile * __nvvm_read_ptx_sreg_ctaid_y() * k;
  b += tile * __nvvm_read_ptx_sreg_ctaid_x() * k;
  c += tile * (__nvvm_read_ptx_sreg_ctaid_y() * n + __nvvm_read_ptx_sreg_ctaid_x());
  float sum[8];
  int fa[8], fb[8];
  __hmma_m16n16k16_ld_c_f32(sum, c, n, row);
  for (int i = 0; i < 8; i++)
    sum[i] *= 2;
  for (int at = 0; at < k; at += tile) {
    for (int i = lane; i < tile * tile; i += 32)
      panel[i / tile * (tile + skew) + i % tile] = b[i / tile * k + at + i % tile];
    __nvvm_bar_sync(0);
    __hmma_m16n16k16_ld_a(fa, (const int *)(a + at), k, row);
    __hmma_m16n16k16_ld_b(fb, (const int *)panel, tile + skew, 1);
    __hmma_m16n16k16_mma_f32f32(sum, fa, fb, sum, row_col, 0);
    __nvvm_bar_sync(0);
  }
  __hmma_m16n16k16_st_c_f32(c, sum, n, row);
}
