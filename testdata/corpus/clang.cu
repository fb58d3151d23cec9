// Kernels that clang compiles without a CUDA toolkit: make_clang.sh does. What they must
// compute is in internal/corpus/compiled.go.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

static __device__ int tid() { return __nvvm_read_ptx_sreg_tid_x(); }
static __device__ int ctaid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
static __device__ int ntid() { return __nvvm_read_ptx_sreg_ntid_x(); }

// Virtual functions, called through tables in memory.
struct Shape {
  __device__ virtual float area() const = 0;
};
struct Box : Shape {
  float a, b;
  __device__ Box(float a, float b) : a(a), b(b) {}
  __device__ float area() const override { return a * b; }
};
struct Disc : Shape {
  float r;
  __device__ Disc(float r) : r(r) {}
  __device__ float area() const override { return 3 * r * r; }
};

template <typename T>
static __device__ T &at(T *p, int i) { return p[i]; }

// Recursion, with the stack in local memory.
static __device__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

template <typename T, T (*F)(T, T)>
static __device__ T reduce(T v) {
  __shared__ T part[32];
  for (int d = 16; d > 0; d >>= 1) v = F(v, (T)__nvvm_shfl_sync_down_i32(-1, v, d, 31));
  if (tid() % 32 == 0) part[tid() / 32] = v;
  __syncthreads();
  if (tid() == 0)
    for (int i = 1; i < ntid() / 32; i++) v = F(v, part[i]);
  return v;
}

static __device__ int sum(int a, int b) { return a + b; }
static __device__ int largest(int a, int b) { return a > b ? a : b; }

extern "C" __global__ void mixture(int *out, const int *in, int n) {
  int i = ctaid() * ntid() + tid();
  int v = i < n ? at(in, i) : 0;
  int total = reduce<int, sum>(v);
  __syncthreads();
  int most = reduce<int, largest>(v);
  if (tid() == 0) {
    at(out, 2 * ctaid()) = total;
    at(out, 2 * ctaid() + 1) = most;
  }
}

extern "C" __global__ void shapes(float *out, const float *in, int n) {
  int i = ctaid() * ntid() + tid();
  if (i >= n) return;
  Box box(in[i], in[i] + 1);
  Disc disc(in[i]);
  const Shape *s = i % 3 == 0 ? (const Shape *)&disc : &box;
  out[i] = s->area() + ackermann(i % 3, i % 5);
}

// A bitonic sort of 256 numbers in shared memory.
extern "C" __global__ void sort(int *out, const int *in) {
  __shared__ int v[256];
  int t = tid();
  v[t] = in[ctaid() * 256 + t];
  for (int k = 2; k <= 256; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      int o = t ^ j;
      if (o > t && (v[t] > v[o]) == ((t & k) == 0)) {
        int x = v[t];
        v[t] = v[o];
        v[o] = x;
      }
    }
  __syncthreads();
  out[ctaid() * 256 + t] = v[t];
}

// The unit of a switch with many cases, 64-bit arithmetic, and doubles.
extern "C" __global__ void opcodes(long long *out, const long long *in, int n) {
  int i = ctaid() * ntid() + tid();
  if (i >= n) return;
  long long a = in[i], b = i + 1, r;
  switch (i % 8) {
  case 0: r = a + b; break;
  case 1: r = a * b; break;
  case 2: r = a / b; break;
  case 3: r = a % b; break;
  case 4: r = (unsigned long long)a >> (b & 63); break;
  case 5: r = (long long)((double)a * 0.5); break;
  case 6: r = __builtin_popcountll(a); break;
  default: r = a ^ (a << 7); break;
  }
  out[i] = r;
}
