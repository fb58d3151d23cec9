// The meaning of Go's operators and of functions of packages math and math/bits, for the C that translate.go makes of Go.
// Compile with -fwrapv and -ffp-contract=off.
//
// The code has no branches, no calls, and a single case of undefined behaviour: a float that is converted to an integer
// must be in its range. Go does not define the result out of range, and the translated packages, which must be the same on
// every host, convert no such float.

#ifndef GO_H
#define GO_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
typedef float f32;
typedef double f64;
typedef _Bool bool;

// Functions are always inlined: a call in a stencil would have no target.
#define GO static inline __attribute__((always_inline, unused))

// Shifts by at least the width shift out all bits. (Go panics if the number is negative; here it is a large number.)
#define GO_SHIFTS(T, U, N, B)                                                                        \
	GO T go_shl_##T##_##N(T x, N n) { return n < B ? (T)(U)((U)x << (n & (B - 1))) : (T)0; }          \
	GO T go_shr_##T##_##N(T x, N n) { return (T)-1 < (T)0 ? (T)(x >> (n < B ? n : B - 1)) : n < B ? (T)(x >> (n & (B - 1))) : (T)0; }

#define GO_INT(T, U, B)                                                                             \
	GO_SHIFTS(T, U, u32, B)                                                                          \
	GO_SHIFTS(T, U, u64, B)                                                                          \
	GO T go_min_##T(T a, T b) { return a < b ? a : b; }                                              \
	GO T go_max_##T(T a, T b) { return a > b ? a : b; }

// The least number divided by -1 is itself, and the remainder 0; the host would trap. (The divisor is not 0: Go panics.) So
// magnitudes are divided. Hosts do not divide vectors of integers. If a type F of floats represents the numbers exactly, F
// divides: the rounded quotient is nearer to the true quotient than the next integer above it, which is at least 1/b away.
#define GO_DIV(T, U, F)                                                                             \
	GO T go_div_##T(T a, T b)                                                                        \
	{                                                                                                \
		U n = a < 0 ? -(U)a : (U)a, d = b < 0 ? -(U)b : (U)b, q = (U)((F)n / (F)d);                   \
		return (T)((a ^ b) < 0 ? -q : q);                                                             \
	}                                                                                                \
	GO T go_rem_##T(T a, T b) { return (T)((U)a - (U)go_div_##T(a, b) * (U)b); }

#define GO_DIV_UNSIGNED(T, F)                                                                       \
	GO T go_div_##T(T a, T b) { return (T)((F)a / (F)b); }                                           \
	GO T go_rem_##T(T a, T b) { return (T)(a - go_div_##T(a, b) * b); }

GO_INT(u8, u8, 8)
GO_INT(u16, u16, 16)
GO_INT(u32, u32, 32)
GO_INT(u64, u64, 64)
GO_INT(s8, u8, 8)
GO_INT(s16, u16, 16)
GO_INT(s32, u32, 32)
GO_INT(s64, u64, 64)
GO_DIV(s8, u8, f32)
GO_DIV(s16, u16, f32)
GO_DIV(s32, u32, f64)
GO_DIV(s64, u64, u64)
GO_DIV_UNSIGNED(u8, f32)
GO_DIV_UNSIGNED(u16, f32)
GO_DIV_UNSIGNED(u32, f64)
GO_DIV_UNSIGNED(u64, u64)

// Equality as a comparison of floats, with the numbers as fractions between 1 and 2. For comparisons of an integer with
// constants clang makes a switch, and it does not vectorise a loop with a switch.
GO bool go_equal_u8(u8 x, u8 y) { return __builtin_bit_cast(f32, 0x3f800000u | (u32)(x ^ y)) == 1; }
GO bool go_equal_u16(u16 x, u16 y) { return __builtin_bit_cast(f32, 0x3f800000u | (u32)(x ^ y)) == 1; }
GO bool go_equal_u64(u64 x, u64 y)
{
	u64 d = x ^ y;
	return __builtin_bit_cast(f64, 0x3ffull << 52 | (d & ((1ull << 52) - 1))) == 1 && __builtin_bit_cast(f32, 0x3f800000u | (u32)(d >> 52)) == 1;
}

// Results of two values.
typedef struct { u32 r; u32 c; } go_u32_u32;
typedef struct { u64 r; u64 c; } go_u64_u64;

// Package math.
GO u32 go_Float32bits(f32 x) { return __builtin_bit_cast(u32, x); }
GO u64 go_Float64bits(f64 x) { return __builtin_bit_cast(u64, x); }
GO f32 go_Float32frombits(u32 u) { return __builtin_bit_cast(f32, u); }
GO f64 go_Float64frombits(u64 u) { return __builtin_bit_cast(f64, u); }
GO f64 go_Abs(f64 x) { return go_Float64frombits(go_Float64bits(x) & ~(1ull << 63)); }
GO f64 go_Copysign(f64 x, f64 sign)
{
	return go_Float64frombits((go_Float64bits(x) & ~(1ull << 63)) | (go_Float64bits(sign) & 1ull << 63));
}
GO bool go_Signbit(f64 x) { return go_Float64bits(x) >> 63; }
GO f64 go_Inf(s64 sign) { return sign >= 0 ? __builtin_inf() : -__builtin_inf(); }
GO bool go_IsInf(f64 x, s64 sign)
{
	return (sign >= 0 && x == __builtin_inf()) || (sign <= 0 && x == -__builtin_inf());
}
GO bool go_IsNaN(f64 x) { return x != x; }
GO f64 go_NaN(void) { return go_Float64frombits(0x7ff8000000000001); }
GO f64 go_Sqrt(f64 x) { return __builtin_sqrt(x); }
GO f64 go_FMA(f64 x, f64 y, f64 z) { return __builtin_fma(x, y, z); }
GO f64 go_Floor(f64 x) { return __builtin_floor(x); }
GO f64 go_Ceil(f64 x) { return __builtin_ceil(x); }
GO f64 go_Trunc(f64 x) { return __builtin_trunc(x); }
GO f64 go_RoundToEven(f64 x) { return __builtin_roundeven(x); }

// Package math/bits.
GO s64 go_LeadingZeros32(u32 x) { return x ? __builtin_clz(x) : 32; }
GO s64 go_LeadingZeros64(u64 x) { return x ? __builtin_clzll(x) : 64; }
GO s64 go_TrailingZeros32(u32 x) { return x ? __builtin_ctz(x) : 32; }
GO s64 go_TrailingZeros64(u64 x) { return x ? __builtin_ctzll(x) : 64; }
GO s64 go_Len64(u64 x) { return 64 - go_LeadingZeros64(x); }
GO s64 go_OnesCount32(u32 x) { return __builtin_popcount(x); }
GO s64 go_OnesCount64(u64 x) { return __builtin_popcountll(x); }
GO u32 go_Reverse32(u32 x) { return __builtin_bitreverse32(x); }
GO u64 go_Reverse64(u64 x) { return __builtin_bitreverse64(x); }
GO go_u32_u32 go_Add32(u32 x, u32 y, u32 carry)
{
	u64 s = (u64)x + y + carry;
	return (go_u32_u32){(u32)s, (u32)(s >> 32)};
}
GO go_u64_u64 go_Add64(u64 x, u64 y, u64 carry)
{
	u64 s = x + y + carry;
	return (go_u64_u64){s, ((x & y) | ((x | y) & ~s)) >> 63};
}
GO go_u64_u64 go_Sub64(u64 x, u64 y, u64 borrow)
{
	u64 d = x - y - borrow;
	return (go_u64_u64){d, ((~x & y) | (~(x ^ y) & d)) >> 63};
}
GO go_u64_u64 go_Mul64(u64 x, u64 y)
{
	unsigned __int128 p = (unsigned __int128)x * y;
	return (go_u64_u64){(u64)(p >> 64), (u64)p};
}

// Operations for which the host has better instructions than a translation of the Go functions, with the same results. The
// canonical NaN of .f32 is inserted after each: the host keeps payloads.
GO f32 go_canonical32(f32 x) { return x != x ? go_Float32frombits(0x7fffffff) : x; }

// Result64 without a branch.
GO f64 go_fp_Result64(f64 r, f64 x, f64 y)
{
	u64 quiet = 1ull << 51, u = y != y ? go_Float64bits(y) | quiet : 0xfff8000000000000;
	u = x != x ? go_Float64bits(x) | quiet : u;
	return r != r ? go_Float64frombits(u) : r;
}

// Conversions between .f32 and .f64 keep the sign of a NaN and the part of its payload that fits, and make it quiet.
GO f64 go_fp_F32ToF64(f32 x) { return x; }
GO f32 go_fp_NarrowF64(f64 x) { return (f32)x; }

// FmaRN32 in Go takes care to round once; VFMADD rounds once.
GO f32 go_fp_FmaRN32(f32 a, f32 b, f32 c) { return go_canonical32(__builtin_fmaf(a, b, c)); }

// SqrtRN32 in Go rounds a root of more digits; VSQRTPS rounds once.
GO f32 go_fp_SqrtRN32(f32 x) { return go_canonical32(__builtin_sqrtf(x)); }

// MulFTZ32, DivFTZ32 and FmaFTZ32 to nearest flush a result that would be below the least normal number if the exponent had
// no lower bound: such a result may be rounded up to the least normal number. Scaled by 2 to the power 30 its exponent
// exists. The smaller operand is scaled: if it or the addend becomes infinite, the result is not small.
GO f32 go_ftz32(f32 x)
{
	u32 u = go_Float32bits(x);
	return go_Float32frombits((u & 0x7f800000) == 0 ? u & 1u << 31 : u);
}
GO f32 go_magnitude32(f32 x) { return go_Float32frombits(go_Float32bits(x) & ~(1u << 31)); }
GO f32 go_flushed32(f32 r, f32 larger)
{
	return go_canonical32(go_magnitude32(larger) < 0x1p-96f ? go_Float32frombits(go_Float32bits(r) & 1u << 31) : r);
}
GO f32 go_fp_FmaFTZ32RN(f32 a, f32 b, f32 c)
{
	a = go_ftz32(a), b = go_ftz32(b), c = go_ftz32(c);
	bool less = go_magnitude32(a) < go_magnitude32(b);
	return go_flushed32(__builtin_fmaf(a, b, c), __builtin_fmaf((less ? a : b) * 0x1p30f, less ? b : a, c * 0x1p30f));
}
GO f32 go_fp_MulFTZ32RN(f32 a, f32 b)
{
	a = go_ftz32(a), b = go_ftz32(b);
	bool less = go_magnitude32(a) < go_magnitude32(b);
	return go_flushed32(a * b, (less ? a : b) * 0x1p30f * (less ? b : a));
}
GO f32 go_fp_DivFTZ32RN(f32 a, f32 b)
{
	a = go_ftz32(a), b = go_ftz32(b);
	return go_flushed32(a / b, a * 0x1p30f / b);
}

// RsqrtApprox32 divides by a root in Go. Newton's method does not divide: the first estimate, from the halved exponent, is
// within 3.5 percent, e is 1 - x·y·y, and after two steps of the series of (1-e) to the power -1/2 the error is too small
// to change any float32: TestRsqrtWithoutDivision tries all fractions, with even and odd exponents.
GO f32 go_fp_RsqrtApprox32(f32 a)
{
	f64 x = a, y = go_Float64frombits(0x5fe6eb50c7b537a9 - (go_Float64bits(x) >> 1));
	f64 e = __builtin_fma(-(x * y), y, 1);
	y = __builtin_fma(y * e, __builtin_fma(__builtin_fma(__builtin_fma(35. / 128, e, 5. / 16), e, 3. / 8), e, 1. / 2), y);
	e = __builtin_fma(-(x * y), y, 1);
	y = __builtin_fma(y * e, __builtin_fma(3. / 8, e, 1. / 2), y);
	u32 u = go_Float32bits((f32)y), ua = go_Float32bits(a);
	u = ua == 0x7f800000 ? 0 : u;
	u = ua << 1 == 0 ? ua | 0x7f800000 : u;
	return go_Float32frombits(a >= 0 ? u : 0x7fffffff);
}

// F16ToF32 is VCVTPH2PS, which knows subnormal numbers.
GO f32 go_fp_F16ToF32(u16 h) { return go_canonical32((f32)__builtin_bit_cast(_Float16, h)); }

#endif
