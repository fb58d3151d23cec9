// The fifth power of each of n numbers modulo a prime of 254 bits (the order of the curve BN254): the nonlinear step of
// the hash function Poseidon in zero-knowledge proofs. A number has eight words. Word i of number t is at i·n + t, so
// that threads access consecutive words. Numbers are in Montgomery form: x is stored as x·2^256 modulo the prime.

typedef unsigned int uint;

#define WORDS 8

// The prime, with the lowest word first, and -1/prime modulo 2^32.
__constant__ uint prime[WORDS] = {0xf0000001, 0x43e1f593, 0x79b97091, 0x2833e848, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
#define INVERSE 0xefffffffu

// Adds x·y to the nine words of t. The low halves of the products are added in one chain of carries, and the high
// halves, a word further, in another. The sum must have at most nine words.
static __device__ __forceinline__ void add_product(uint t[WORDS + 1], const uint x[WORDS], uint y) {
  asm("mad.lo.cc.u32 %0, %9, %17, %0;\n\t"
      "madc.lo.cc.u32 %1, %10, %17, %1;\n\t"
      "madc.lo.cc.u32 %2, %11, %17, %2;\n\t"
      "madc.lo.cc.u32 %3, %12, %17, %3;\n\t"
      "madc.lo.cc.u32 %4, %13, %17, %4;\n\t"
      "madc.lo.cc.u32 %5, %14, %17, %5;\n\t"
      "madc.lo.cc.u32 %6, %15, %17, %6;\n\t"
      "madc.lo.cc.u32 %7, %16, %17, %7;\n\t"
      "addc.u32 %8, %8, 0;\n\t"
      "mad.hi.cc.u32 %1, %9, %17, %1;\n\t"
      "madc.hi.cc.u32 %2, %10, %17, %2;\n\t"
      "madc.hi.cc.u32 %3, %11, %17, %3;\n\t"
      "madc.hi.cc.u32 %4, %12, %17, %4;\n\t"
      "madc.hi.cc.u32 %5, %13, %17, %5;\n\t"
      "madc.hi.cc.u32 %6, %14, %17, %6;\n\t"
      "madc.hi.cc.u32 %7, %15, %17, %7;\n\t"
      "madc.hi.u32 %8, %16, %17, %8;"
      : "+r"(t[0]), "+r"(t[1]), "+r"(t[2]), "+r"(t[3]), "+r"(t[4]), "+r"(t[5]), "+r"(t[6]), "+r"(t[7]), "+r"(t[8])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y));
}

// Montgomery's product x·y/2^256 modulo the prime p. After each word of y the sum is divisible by 2^32, and below 2p
// after the division.
static __device__ __forceinline__ void multiply(uint z[WORDS], const uint x[WORDS], const uint y[WORDS], const uint p[WORDS]) {
  uint t[WORDS + 1] = {};
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    add_product(t, x, y[i]);
    add_product(t, p, t[0] * INVERSE);
#pragma unroll
    for (int j = 0; j < WORDS; j++)
      t[j] = t[j + 1];
    t[WORDS] = 0;
  }
  uint d[WORDS], borrow; // t - p, and all ones if it is negative
  asm("sub.cc.u32 %0, %9, %17;\n\t"
      "subc.cc.u32 %1, %10, %18;\n\t"
      "subc.cc.u32 %2, %11, %19;\n\t"
      "subc.cc.u32 %3, %12, %20;\n\t"
      "subc.cc.u32 %4, %13, %21;\n\t"
      "subc.cc.u32 %5, %14, %22;\n\t"
      "subc.cc.u32 %6, %15, %23;\n\t"
      "subc.cc.u32 %7, %16, %24;\n\t"
      "subc.u32 %8, 0, 0;"
      : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3]), "=&r"(d[4]), "=&r"(d[5]), "=&r"(d[6]), "=&r"(d[7]), "=&r"(borrow)
      : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(t[4]), "r"(t[5]), "r"(t[6]), "r"(t[7]),
        "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(p[4]), "r"(p[5]), "r"(p[6]), "r"(p[7]));
#pragma unroll
  for (int i = 0; i < WORDS; i++)
    z[i] = borrow ? t[i] : d[i];
}

extern "C" __global__ void __launch_bounds__(128) fifthpower(int n, const uint *in, uint *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  uint x[WORDS], y[WORDS], p[WORDS];
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    x[i] = in[i * n + t];
    p[i] = prime[i];
  }
  multiply(y, x, x, p);
  multiply(y, y, y, p);
  multiply(y, y, x, p);
#pragma unroll
  for (int i = 0; i < WORDS; i++)
    out[i * n + t] = y[i];
}
