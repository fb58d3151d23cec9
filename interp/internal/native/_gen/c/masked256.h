// Lanes of a row where some execute, by vectors of 256 bits whose signs are the lanes: see "rows.h".

#include "masked.h"

// signs returns masks of the lanes from i on, for instructions that use signs.
static inline __m256i signs8(u64 m, u32 i) { return _mm256_sllv_epi32(_mm256_set1_epi32((s32)m), (__m256i)((u32x8){31, 30, 29, 28, 27, 26, 25, 24} - i)); }
static inline __m256i signs4(u64 m, u64 i) { return _mm256_sllv_epi64(_mm256_set1_epi64x((s64)m), (__m256i)((vector_q){63, 62, 61, 60} - i)); }
static inline void keep_r(u32 *d, u64 m, int i, u32x8 v) {
	*(u32x8 *)(d + i) = (u32x8)_mm256_blendv_ps((__m256)*(u32x8 *)(d + i), (__m256)v, (__m256)signs8(m, i));
}
static inline void keep_q(u64 *d, u64 m, int i, u64x8 v) {
	*(vector_q *)(d + i) = (vector_q)_mm256_blendv_pd((__m256d)*(vector_q *)(d + i), (__m256d)v.lo, (__m256d)signs4(m, i));
	*(vector_q *)(d + i + 4) = (vector_q)_mm256_blendv_pd((__m256d)*(vector_q *)(d + i + 4), (__m256d)v.hi, (__m256d)signs4(m, i + 4));
}
static inline void put_u32(char *to, u64 m, int i, u32x8 v) { _mm256_maskstore_epi32((int *)to, signs8(m, i), (__m256i)v); }
static inline void put_u64(char *to, u64 m, int i, u64x8 v) {
	_mm256_maskstore_epi64((long long *)to, signs4(m, i), (__m256i)v.lo);
	_mm256_maskstore_epi64((long long *)to + 4, signs4(m, i + 4), (__m256i)v.hi);
}
static inline u32x8 get_u32(const char *from, u64 m, int i) { return (u32x8)_mm256_maskload_epi32((const int *)from, signs8(m, i)); }
static inline u64x8 get_u64(const char *from, u64 m, int i) {
	u64x8 v;
	v.lo = (vector_q)_mm256_maskload_epi64((const long long *)from, signs4(m, i));
	v.hi = (vector_q)_mm256_maskload_epi64((const long long *)from + 4, signs4(m, i + 4));
	return v;
}
#define KEEP_r(i, v) keep_r(d, m, i, v)
#define KEEP_q(i, v) keep_q(d, m, i, v)
#define GET(E, ds, i, from) GET_##E(i, from)
#define GET_u8(i, from) (*(u8x8 *)(from))
#define GET_s8(i, from) (*(s8x8 *)(from))
#define GET_u16(i, from) (*(u16x8 *)(from))
#define GET_s16(i, from) (*(s16x8 *)(from))
#define GET_u32(i, from) get_u32(from, m, i)
#define GET_s32(i, from) ((s32x8)get_u32(from, m, i))
#define GET_u64(i, from) get_u64(from, m, i)
#define PUT(E, ds, i, to) put_##E(to, m, i, __builtin_convertvector(*(ROW_##ds *)(d + (i)), KEPT(E, ds)))
#define put_u8(to, m, i, v)
#define put_u16(to, m, i, v)
#define SOME_BYTES 0 // the host cannot load and store elements of 1 or 2 bytes for a part of the lanes, unless they are contiguous
#define TOGETHER solid((u32)m)
#define LOAD_TOGETHER(E, ds, p, p2) { OUTERMOST LOAD_RUN(E, ds, p, f, l) LOAD_RUN(E, ds, p2, f2, l2) }
#define STORE_TOGETHER(E, ds, p, p2) { OUTERMOST STORE_RUN(E, ds, p, f, l) STORE_RUN(E, ds, p2, f2, l2) }
// solid reports whether the lanes that execute are neighbours, in each half.
static inline int solid(u32 m) {
	u32 low = m & 0xffff, high = m & 0xffff0000;
	return !(low & (low + (low & -low)) | high & (high + (high & -high)));
}
#define EIGHT_r u32x8
#define EIGHT_q u64x8
// LOAD_RUN and STORE_RUN are for lanes f to l, up to half of all, side by side: eight and more in two vectors. Lane 0 would be at p.
#define EACH_RUN(f, l, eight, one) \
	if ((l) - (f) >= 7) { \
		_Pragma("clang loop unroll(full)") for (int k = 0; k < 2; k++) { \
			int i = k ? (l) - 7 : (f); \
			eight \
		} \
	} else \
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (int i = (f); i <= (l); i++) one
#define LOAD_RUN(E, ds, p, f, l) \
	EACH_RUN(f, l, *(EIGHT_##ds *)(d + i) = __builtin_convertvector(*(E##x8 *)((p) + i * (s64)sizeof(E)), EIGHT_##ds);, d[i] = *(E##_u *)((p) + i * (s64)sizeof(E));)
#define STORE_RUN(E, ds, p, f, l) \
	EACH_RUN(f, l, *(E##x8 *)((p) + i * (s64)sizeof(E)) = __builtin_convertvector(*(EIGHT_##ds *)(d + i), E##x8);, *(E##_u *)((p) + i * (s64)sizeof(E)) = (E)d[i];)
