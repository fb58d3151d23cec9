// Fourier transforms of 1024 complex numbers, in five steps of radix 4 in the order of Stockham: the result of each
// step is in shared memory, and the order is right at the end. A block of 256 threads computes a transform. The factors
// (twiddles) come from sin.approx and cos.approx of angles from -π/2 to 0, where these are accurate.

#define POINTS 1024
#define THREADS (POINTS / 4)

static __device__ __forceinline__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ float2 subtract(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ __forceinline__ float2 multiply(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

extern "C" __global__ void __launch_bounds__(THREADS) fft(const float2 *in, float2 *out) {
  __shared__ float2 exchange[POINTS];
  int t = threadIdx.x;
  in += blockIdx.x * POINTS;
  out += blockIdx.x * POINTS;
  float2 v[4];
#pragma unroll
  for (int i = 0; i < 4; i++)
    v[i] = in[i * THREADS + t];
#pragma unroll
  for (int done = 1; done < POINTS; done *= 4) { // transforms of so many points are there
    int k = t % done;
    float angle = k * (-1.57079633f / done);
    float2 w = make_float2(__cosf(angle), __sinf(angle)), w2 = multiply(w, w);
    v[1] = multiply(v[1], w);
    v[2] = multiply(v[2], w2);
    v[3] = multiply(v[3], multiply(w2, w));

    float2 a = add(v[0], v[2]), b = subtract(v[0], v[2]), c = add(v[1], v[3]), d = subtract(v[1], v[3]);
    d = make_float2(d.y, -d.x); // times -i
    v[0] = add(a, c);
    v[1] = add(b, d);
    v[2] = subtract(a, c);
    v[3] = subtract(b, d);

    int first = (t - k) * 4 + k;
    if (done * 4 == POINTS) {
#pragma unroll
      for (int i = 0; i < 4; i++)
        out[first + i * done] = v[i];
      break;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
      exchange[first + i * done] = v[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
      v[i] = exchange[i * THREADS + t];
    if (done * 16 < POINTS) // the next step writes to exchange
      __syncthreads();
  }
}
