// Intel's intrinsics used by rows.h and its users, for arm64, where clang has no header of this name: the same
// operations on clang's vectors of 32 bytes, each of which takes two registers.

#ifndef ARM64_IMMINTRIN_H
#define ARM64_IMMINTRIN_H

typedef float __m256 __attribute__((vector_size(32)));
typedef double __m256d __attribute__((vector_size(32)));
typedef long long __m256i __attribute__((vector_size(32)));

typedef int int32x8 __attribute__((ext_vector_type(8)));
typedef unsigned uint32x8 __attribute__((ext_vector_type(8)));
typedef unsigned uint32x4 __attribute__((ext_vector_type(4)));
typedef long long int64x4 __attribute__((ext_vector_type(4)));
typedef unsigned long long uint64x4 __attribute__((ext_vector_type(4)));

#define INTRINSIC static inline __attribute__((always_inline, unused))

INTRINSIC __m256i _mm256_set1_epi32(int v) { return (__m256i)(int32x8)v; }
INTRINSIC __m256i _mm256_set1_epi64x(long long v) { return (__m256i)(int64x4)v; }

// testz is whether a and b have no bit in common, testc whether a has all that b has.
INTRINSIC int _mm256_testz_si256(__m256i a, __m256i b)
{
	uint32x8 v = (uint32x8)(a & b);
	return __builtin_reduce_max(v.lo | v.hi) == 0;
}
INTRINSIC int _mm256_testc_si256(__m256i a, __m256i b) { return _mm256_testz_si256(~a, b); }

// Shifts by the width and more give 0.
INTRINSIC __m256i _mm256_sllv_epi32(__m256i a, __m256i n)
{
	uint32x8 by = (uint32x8)n;
	return (__m256i)((uint32x8)a << (by & 31) & (uint32x8)(by < 32));
}
INTRINSIC __m256i _mm256_sllv_epi64(__m256i a, __m256i n)
{
	uint64x4 by = (uint64x4)n;
	return (__m256i)((uint64x4)a << (by & 63) & (uint64x4)(by < 64));
}

INTRINSIC __m256i _mm256_srlv_epi32(__m256i a, __m256i n)
{
	uint32x8 by = (uint32x8)n;
	return (__m256i)((uint32x8)a >> (by & 31) & (uint32x8)(by < 32));
}

// madd adds two products of signed 16-bit integers in each 32-bit element.
INTRINSIC __m256i _mm256_madd_epi16(__m256i a, __m256i b)
{
	int32x8 x = (int32x8)a, y = (int32x8)b;
	return (__m256i)((x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16));
}

// The remaining ones use the signs of a mask's elements.
INTRINSIC __m256 _mm256_blendv_ps(__m256 a, __m256 b, __m256 mask)
{
	int32x8 m = (int32x8)mask >> 31;
	return (__m256)((int32x8)a & ~m | (int32x8)b & m);
}
INTRINSIC __m256d _mm256_blendv_pd(__m256d a, __m256d b, __m256d mask)
{
	int64x4 m = (int64x4)mask >> 63;
	return (__m256d)((int64x4)a & ~m | (int64x4)b & m);
}
INTRINSIC int _mm256_movemask_ps(__m256 a)
{
	uint32x8 v = (uint32x8)((int32x8)a >> 31) & (uint32x8){1, 2, 4, 8, 16, 32, 64, 128};
	return (int)__builtin_reduce_add(v.lo | v.hi);
}

// Elements outside the mask are not accessed; loads give 0 for them.
INTRINSIC void _mm256_maskstore_epi32(int *to, __m256i mask, __m256i v)
{
	typedef int any __attribute__((aligned(1)));
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++)
		if (((int32x8)mask)[i] < 0)
			((any *)to)[i] = ((int32x8)v)[i];
}
INTRINSIC void _mm256_maskstore_epi64(long long *to, __m256i mask, __m256i v)
{
	typedef long long any __attribute__((aligned(1)));
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++)
		if (((int64x4)mask)[i] < 0)
			((any *)to)[i] = ((int64x4)v)[i];
}

INTRINSIC __m256i _mm256_maskload_epi32(const int *from, __m256i mask)
{
	typedef int any __attribute__((aligned(1)));
	int32x8 v = (int32x8)0;
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++)
		if (((int32x8)mask)[i] < 0)
			v[i] = ((const any *)from)[i];
	return (__m256i)v;
}
INTRINSIC __m256i _mm256_maskload_epi64(const long long *from, __m256i mask)
{
	typedef long long any __attribute__((aligned(1)));
	int64x4 v = (int64x4)0;
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++)
		if (((int64x4)mask)[i] < 0)
			v[i] = ((const any *)from)[i];
	return (__m256i)v;
}

// gather reads elements, by their places in bytes of scale.
#define _mm256_i32gather_epi32(from, places, scale) gathered((const char *)(from), (int32x8)(places), scale)
INTRINSIC __m256i gathered(const char *from, int32x8 places, int scale)
{
	int32x8 v;
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++)
		v[i] = *(const int *)(from + (long)places[i] * scale);
	return (__m256i)v;
}

#endif
