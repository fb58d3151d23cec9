// Kernels that NVRTC compiles: make_nvrtc.py does. What they must compute is in
// internal/corpus/compiled.go.
template <int N> struct Polynomial {
  float c[N];
  __device__ float operator()(float x) const {
    float y = 0;
#pragma unroll
    for (int i = N - 1; i >= 0; i--) y = y * x + c[i];
    return y;
  }
};

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

// A struct as a parameter, by value.
extern "C" __global__ void polynomial(float *out, const float *x, int n, Polynomial<5> p) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = p(x[i]);
}

// Each block sorts what it has by radix, bit by bit, with ballots.
extern "C" __global__ void radix(unsigned *out, const unsigned *in) {
  extern __shared__ unsigned v[];
  __shared__ unsigned counts[8];
  unsigned t = threadIdx.x, warp = t / 32, lane = t % 32, warps = blockDim.x / 32;
  unsigned x = in[blockIdx.x * blockDim.x + t];
  for (int bit = 0; bit < 16; bit++) {
    bool one = x >> bit & 1;
    unsigned zeros = __ballot_sync(~0u, !one);
    if (lane == 0) counts[warp] = __popc(zeros);
    __syncthreads();
    unsigned before = 0, all = 0;
    for (unsigned w = 0; w < warps; w++) {
      if (w < warp) before += counts[w];
      all += counts[w];
    }
    unsigned below = __popc(zeros & ((1u << lane) - 1));
    v[one ? all + (warp * 32 - before) + (lane - below) : before + below] = x;
    __syncthreads();
    x = v[t];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = x;
}

// Integer arithmetic of every width, byte dot products, funnel shifts, constants in memory.
extern "C" __global__ void digest(unsigned long long *out, const unsigned *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = in[i];
  unsigned long long h = 0xcbf29ce484222325ull;
  for (int k = 0; k < 8; k++) {
    unsigned char b = x >> (k % 4 * 8);
    h = (h ^ b) * 0x100000001b3ull + primes[(x + k) & 7];
    x = __funnelshift_l(x, x, 5) + __byte_perm(x, (unsigned)h, 0x3715);
    short s = (short)(x >> 3);
    x ^= (unsigned)(s / 7) + __umulhi(x, (unsigned)(h >> 32)) + __brev(x) % 1009;
  }
  out[i] = h ^ x;
}
