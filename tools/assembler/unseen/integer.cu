// Integers of all sizes, and intrinsics on them.
// with T = signed char | unsigned char | short | unsigned short | int | unsigned | long long | unsigned long long
extern "C" __global__ void arithmetic(const T* a, const T* b, T* out)
{
  int i = threadIdx.x;
  T x = a[i], y = b[i];
  out[i * 16] = x + y; out[i * 16 + 1] = x - y; out[i * 16 + 2] = x * y; out[i * 16 + 3] = x / y; out[i * 16 + 4] = x % y;
  out[i * 16 + 5] = x << (y & 7); out[i * 16 + 6] = x >> (y & 7); out[i * 16 + 7] = x & y; out[i * 16 + 8] = x | y; out[i * 16 + 9] = x ^ ~y;
  out[i * 16 + 10] = x < y ? x : y; out[i * 16 + 11] = x / 7; out[i * 16 + 12] = x % 10; out[i * 16 + 13] = -x; out[i * 16 + 14] = !x; out[i * 16 + 15] = x * 3 + (y >> 1);
}
extern "C" __global__ void intrinsics(const unsigned* a, const unsigned long long* b, unsigned* out)
{
  int i = threadIdx.x;
  unsigned x = a[i], y = a[i + 1], z = a[i + 2];
  unsigned long long u = b[i], v = b[i + 1];
  unsigned r = __popc(x) + __popcll(u) + __clz(y) + __clzll(v) + __ffs(x) + __ffsll(u) + __brev(x) + (unsigned)__brevll(u) + __byte_perm(x, y, z);
  r ^= __funnelshift_l(x, y, z) + __funnelshift_r(x, y, z) + __funnelshift_lc(x, y, z) + __funnelshift_rc(x, y, z) + __umulhi(x, y) + (unsigned)__umul64hi(u, v) + __mulhi((int)x, (int)y) + __umul24(x, y) + __mul24(x, y);
  r += __sad(x, y, z) + __usad(x, y, z) + __uhadd(x, y) + __rhadd(x, y) + __fns(x, y & 31, z) + (unsigned)clock() + (unsigned)clock64();
  r ^= __vadd2(x, y) ^ __vaddss4(x, y) ^ __vabsdiffu4(x, y) ^ __vavgs2(x, y) ^ __vcmpgtu4(x, y) ^ __vmaxs2(x, y) ^ __vsetleu2(x, y) ^ __vnegss4(x) ^ __vsubus2(x, y) ^ __vsads4(x, y) ^ __vminu4(x, y) ^ __vhaddu4(x, y);
#if __CUDA_ARCH__ >= 610
  r += __dp4a(x, y, z) + __dp2a_lo(x, y, z) + __dp2a_hi((int)x, (int)y, (int)z) + __vimax_s32_relu(x, y) + __vimin3_u16x2(x, y, z) + __viaddmax_s16x2(x, y, z);
#endif
  out[i] = r;
}
extern "C" __global__ void shared(T* a, int n)
{
  __shared__ T s[256];
  __shared__ struct { T x; double y; char z; } t[4];
  s[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x < 4) { t[threadIdx.x].x = s[0]; t[threadIdx.x].y = threadIdx.x; t[threadIdx.x].z = 1; }
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < n; i++) switch ((sum + i) & 7) { case 0: sum += s[i]; break; case 1: sum ^= s[i * 2 & 255]; break; case 2: sum *= 3; break; case 3: continue; case 4: sum -= t[i & 3].x; break; case 5: if (__syncthreads_or(sum > 5)) sum++; break; default: sum = ~sum; }
  a[threadIdx.x] = sum + T(t[n & 3].y) + t[1].z;
}
