// Functions that are an instruction each, for the kernels of current workloads: addresses in shared memory, asynchronous
// copies, and fragments of matrices.
#ifndef GEMU_ASM
#define GEMU_ASM

typedef unsigned int uint;

#define INSTRUCTION static __device__ __forceinline__

// The address of p in shared memory.
INSTRUCTION uint shared_address(const void *p) { return (uint)__cvta_generic_to_shared(p); }

// Copies 16 bytes to shared memory, of which the first count bytes are from global memory and the others zero.
INSTRUCTION void copy_async(uint to, const void *from, int count) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(count) : "memory");
}
// Ends a group of copies.
INSTRUCTION void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most n groups of copies of this thread are incomplete.
template <int n> INSTRUCTION void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }

// Loads four matrices of 8 rows of 16 bytes. The address of row r of matrix i is that of lane 8i + r.
INSTRUCTION void load_matrices(uint d[4], uint address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(address) : "memory");
}
// Loads them transposed.
INSTRUCTION void load_transposed_matrices(uint d[4], uint address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(address) : "memory");
}

// Two floats as halves, the first in the low bits.
INSTRUCTION uint half_pair(float low, float high) {
  uint pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Adds the product of fragments of a 16×16 matrix of halves and of a 16×8 matrix to the fragment c.
INSTRUCTION void multiply_halves(float c[4], const uint a[4], const uint b[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif
