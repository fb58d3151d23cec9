// Loops and conversions for kernels on f16 and bf16. It needs "stencil.h".

#ifndef HALF_H
#define HALF_H

// F16_LANES is LANES for conversions from and to f16, for which clang's own choice is shorter vectors. HALF_LANES is a loop over
// the halves of lanes.
#if defined(WIDTH) && WIDTH < 32
#define EACH_OF(lanes, n) _Pragma("clang loop vectorize(disable) unroll(disable)") for (int i = 0; i < lanes; i++)
#else
#define EACH_OF(lanes, n) PRAGMA(clang loop vectorize(assume_safety) vectorize_width(n) interleave_count(1) unroll(disable)) for (int i = 0; i < lanes; i++)
#endif
#if VECTOR_BYTES == 64
#define F16_LANES EACH_OF(32, 16)
#define HALF_LANES EACH_OF(64, 32)
#else
#define F16_LANES EACH_OF(32, 8)
#define HALF_LANES EACH_OF(64, 16)
#endif

// PUT_HALVES(v) stores v, an expression of half i, in all halves of row d.
#ifdef MASKED
#define PUT_HALVES(v) \
	u16 t[64]; \
	HALF_LANES t[i] = v; \
	const u32 *both = (const u32 *)t; \
	EACH_OF(32, VECTOR_BYTES / 4) d[i] = BLEND(d[i], both[i]);
#else
#define PUT_HALVES(v) HALF_LANES ((u16 *)d)[i] = v;
#endif

// Conversions from and to f16 are VCVTPH2PS and VCVTPS2PH, which know subnormal numbers. NaNs are found in the bits: clang does
// not vectorise comparisons of _Float16.
GO f32 go_half_WidenF16(u16 h) { return (f32)__builtin_bit_cast(_Float16, h); }
GO u16 go_half_F32ToF16RN(f32 x)
{
	u16 h = __builtin_bit_cast(u16, (_Float16)x);
	return (h & 0x7fff) > 0x7c00 ? (u16)0x7fff : h;
}

// FmaHalf rounds to odd in Go, in f64. Here the error e of the sum s is exact in f32 (Knuth's TwoSum) if the product is, and
// decides which neighbour of s is odd. The product is not exact in two cases, only for bf16; the sum is then rounded to nearest
// in bf16 as it should be:
//
//   - It is too large. Then e is not a number, and s stays: if the sum is finite, it is exact.
//   - It is below 2 to the power -133, the least bf16. No such product becomes half of the least bf16 in f32, except this half
//     itself, so the sum with a small addend is rounded in the right direction. To a larger addend it makes no difference.
GO f32 go_half_FmaHalfRN(f32 a, f32 b, f32 c)
{
	f32 p = a * b, s = __builtin_fmaf(a, b, c), q = s - p, e = (p - (s - q)) + (c - q);
	u32 u = go_Float32bits(s);
	s32 nearer = (s32)(go_Float32bits(e) ^ u) >> 31; // -1 if the sum is nearer to zero than s
	return go_Float32frombits(e < 0 || e > 0 ? (u + (u32)nearer) | 1 : u);
}

#endif
