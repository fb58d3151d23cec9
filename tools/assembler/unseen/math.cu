// Functions of one, two and three numbers.
// with T = float | double
// with N = 0 | 1 | 2 | 3 | 4 | 5
#define KERNEL(name, ...) extern "C" __global__ void k_##name(const T* a, const T* b, const T* c, T* out, int* n) \
  { int i = blockIdx.x * blockDim.x + threadIdx.x; T x = a[i], y = b[i], z = c[i]; int k = n[i]; (void)y; (void)z; out[i] = T(__VA_ARGS__); n[i] = k; }
#if N == 0
KERNEL(sin, sin(x)) KERNEL(cos, cos(x)) KERNEL(tan, tan(x)) KERNEL(asin, asin(x)) KERNEL(acos, acos(x)) KERNEL(atan, atan(x)) KERNEL(atan2, atan2(x, y))
KERNEL(sinpi, sinpi(x)) KERNEL(cospi, cospi(x))
#elif N == 1
KERNEL(sinh, sinh(x)) KERNEL(cosh, cosh(x)) KERNEL(tanh, tanh(x)) KERNEL(asinh, asinh(x)) KERNEL(acosh, acosh(x)) KERNEL(atanh, atanh(x))
KERNEL(exp, exp(x)) KERNEL(exp2, exp2(x)) KERNEL(exp10, exp10(x)) KERNEL(expm1, expm1(x)) KERNEL(log, log(x)) KERNEL(log2, log2(x)) KERNEL(log10, log10(x)) KERNEL(log1p, log1p(x)) KERNEL(logb, logb(x)) KERNEL(ilogb, ilogb(x))
#elif N == 2
KERNEL(pow, pow(x, y)) KERNEL(sqrt, sqrt(x)) KERNEL(rsqrt, rsqrt(x)) KERNEL(cbrt, cbrt(x)) KERNEL(rcbrt, rcbrt(x)) KERNEL(hypot, hypot(x, y)) KERNEL(rhypot, rhypot(x, y)) KERNEL(norm3d, norm3d(x, y, z))
KERNEL(fma, fma(x, y, z)) KERNEL(fmod, fmod(x, y)) KERNEL(remainder, remainder(x, y)) KERNEL(remquo, remquo(x, y, &k)) KERNEL(div, x / y)
#elif N == 3
KERNEL(erf, erf(x)) KERNEL(erfc, erfc(x)) KERNEL(erfinv, erfinv(x)) KERNEL(erfcinv, erfcinv(x)) KERNEL(erfcx, erfcx(x)) KERNEL(normcdf, normcdf(x)) KERNEL(normcdfinv, normcdfinv(x)) KERNEL(tgamma, tgamma(x)) KERNEL(lgamma, lgamma(x))
#elif N == 4
KERNEL(j0, j0(x)) KERNEL(j1, j1(x)) KERNEL(jn, jn(k, x)) KERNEL(y0, y0(x)) KERNEL(y1, y1(x)) KERNEL(yn, yn(k, x))
#else
KERNEL(floor, floor(x)) KERNEL(ceil, ceil(x)) KERNEL(trunc, trunc(x)) KERNEL(round, round(x)) KERNEL(rint, rint(x)) KERNEL(nearbyint, nearbyint(x)) KERNEL(lrint, lrint(x)) KERNEL(llround, llround(x))
KERNEL(frexp, frexp(x, &k)) KERNEL(ldexp, ldexp(x, k)) KERNEL(scalbn, scalbn(x, k)) KERNEL(copysign, copysign(x, y)) KERNEL(fmin, fmin(x, y)) KERNEL(fmax, fmax(x, y)) KERNEL(fdim, fdim(x, y)) KERNEL(fabs, fabs(x))
KERNEL(nextafter, nextafter(x, y)) KERNEL(isnan, isnan(x) + isinf(x) + signbit(x) + isfinite(x)) KERNEL(saturate, (int)x + (unsigned char)y + (long long)z + (unsigned long long)x + (short)y)
#endif
