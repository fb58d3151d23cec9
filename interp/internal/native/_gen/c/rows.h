// What stencils of memory, of warps and of special registers share: rows of registers as vectors, lanes one by
// one, and what these stencils alone know of the context.

#include "stencil.h"
#include <immintrin.h>

#pragma clang diagnostic ignored "-Wpsabi" // about vectors in calls, of which there are none

// The context has more for them behind what all know (Context in context.go).
struct machine {
	struct context known;
	char *r, *q, *p;     // ARGS have them
	char *sources;       // special registers that are read compactly
	char *tid;           // rows: the special registers tid.x, tid.y and tid.z of the warp
	char *lanes;         // … those that are the same in all warps
	char *uniform;       // special registers that are the same in all lanes, of 8 bytes, by number
	char *local;         // local memory: word i of all lanes is row i
	u64 from, to;        // where it begins and ends for a thread
	u64 frame;           // where the running function's begins
	char *k;             // constants: ARGS have them
	u32 parallel;        // CTAs run in parallel: atomics on global memory have to be the host's
};
#define MACHINE ((struct machine *)ctx)
_Static_assert(__builtin_offsetof(struct machine, parallel) == CONTEXT_PARALLEL, "Context has another layout");

// Stencils of some length have other code with another base in a register. Here each source reads its base from the
// context, so that only the place in that is another if it is a constant.
#define BASE_OF(field) (*(char *volatile *)&MACHINE->field)
#define BASE_OF_R BASE_OF(r)
#define BASE_OF_Q BASE_OF(q)
#define BASE_OF_P BASE_OF(p)
#undef BASE_A
#ifdef CONSTANT_A
#define BASE_A(base) BASE_OF(k)
#else
#define BASE_A(base) BASE_OF_##base
#endif
#undef BASE_B
#ifdef CONSTANT_B
#define BASE_B(base) BASE_OF(k)
#else
#define BASE_B(base) BASE_OF_##base
#endif
#undef BASE_C
#ifdef CONSTANT_C
#define BASE_C(base) BASE_OF(k)
#else
#define BASE_C(base) BASE_OF_##base
#endif
#undef BASE_E
#ifdef CONSTANT_E
#define BASE_E(base) BASE_OF(k)
#else
#define BASE_E(base) BASE_OF_##base
#endif

// Vectors of elements, wherever they lie.
#define ELEMENT(E) typedef E E##x8 __attribute__((ext_vector_type(8), aligned(1)));
ELEMENT(u8) ELEMENT(s8) ELEMENT(u16) ELEMENT(s16) ELEMENT(u32) ELEMENT(s32) ELEMENT(u64)
typedef u32 u32x4 __attribute__((ext_vector_type(4), aligned(1)));
typedef u64 u64x4 __attribute__((ext_vector_type(4), aligned(1)));
#define EACH(i, n) _Pragma("clang loop unroll(full)") for (int i = 0; i < n; i++)
#define RARELY(x) __builtin_expect((x) != 0, 0)
#define AGAIN __asm__("" : "+r"(m)) // what is made of the mask is not kept from before: there are not so many registers

// Rows of addresses and of registers.
#define ADDR_r const u32 *a = ROW(u32, A);
#define ADDR_q const u64 *a = WIDE(u64, A);
#define DATA_r(X) u32 *d = ROW(u32, X);
#define DATA_q(X) u64 *d = WIDE(u64, X);
static inline u64x4 four_r(const u32 *a) { return __builtin_convertvector(*(const u32x4 *)a, u64x4); }
static inline u64x4 four_q(const u64 *a) { return *(const u64x4 *)a; }

// IDLE is all ones for lanes that do not execute, of those from i on.
#ifdef MASKED
#define IDLE4(i) (u64x4)(((u64x4)m & ((u64x4){1, 2, 4, 8} << (u64)(i))) == 0)
#define IDLE8(i) (u32x8)(((u32x8)(u32)m & ((u32x8){1, 2, 4, 8, 16, 32, 64, 128} << (u32)(i))) == 0)
#else
#define IDLE4(i) (u64x4)0
#define IDLE8(i) (u32x8)0
#endif

// beside is whether lane i has address at + i·n in the one half, at2 + i·n in the other: elements of n bytes side by
// side or, n being 0, the same.
static inline int beside_q(const u64 *a, u64 m, u64 at, u64 at2, u64 n) {
	u64x4 off = (u64x4)0;
	EACH(i, 8) off |= (four_q(a + 4 * i) ^ ((u64x4)(i < 4 ? at : at2) + ((u64x4){0, 1, 2, 3} + (u64)(4 * i)) * n)) & ~IDLE4(4 * i);
	return _mm256_testz_si256((__m256i)off, (__m256i)off);
}
static inline int beside_r(const u32 *a, u64 m, u32 at, u32 at2, u32 n) {
	u32x8 off = (u32x8)0;
	EACH(i, 4) off |= (*(const u32x8 *)(a + 8 * i) ^ ((u32x8)(i < 2 ? at : at2) + ((u32x8){0, 1, 2, 3, 4, 5, 6, 7} + (u32)(8 * i)) * n)) & ~IDLE8(8 * i);
	return _mm256_testz_si256((__m256i)off, (__m256i)off);
}

// Eight lanes of a row of registers.
#define EIGHT_r u32x8
#define EIGHT_q u64x8

#ifndef MASKED
#define KEEP8_r(i, v) (*(u32x8 *)(d + (i)) = (v))
#define KEEP8_q(i, v) (*(u64x8 *)(d + (i)) = (v))
#define EVERY(i) _Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++)
#define FEWER(n, access)
#define OUTERMOST const int f = 0, l = 15, f2 = 16, l2 = 31;
#define WHOLE(n) 1
#define PUT(E, ds, i, to) (*(E##x8 *)(to) = __builtin_convertvector(*(EIGHT_##ds *)(d + (i)), E##x8))
#define PUTS_u8 1
#define PUTS_u16 1
#define solid(m) 1
#define GET(E, i, from) (*(E##x8 *)(from))
// EVERY_EIGHT loads elements that lie apart, eight of them to be one vector.
#define SPREAD_AT(E, k) (*(E##_u *)(at + (k) * apart))
#define EVERY_EIGHT(E, ds) \
	EACH(i, 4) { \
		const char *at = p + (i < 2 ? o : o2) + 8 * i * apart; \
		KEEP8_##ds(8 * i, __builtin_convertvector(((E##x8){SPREAD_AT(E, 0), SPREAD_AT(E, 1), SPREAD_AT(E, 2), SPREAD_AT(E, 3), SPREAD_AT(E, 4), SPREAD_AT(E, 5), SPREAD_AT(E, 6), SPREAD_AT(E, 7)}), EIGHT_##ds)); \
	}
#else
// signs are masks of the lanes from i on, for instructions that look at signs.
static inline __m256i signs8(u64 m, u32 i) { return _mm256_sllv_epi32(_mm256_set1_epi32((s32)m), (__m256i)((u32x8){31, 30, 29, 28, 27, 26, 25, 24} - i)); }
static inline __m256i signs4(u64 m, u64 i) { return _mm256_sllv_epi64(_mm256_set1_epi64x((s64)m), (__m256i)((u64x4){63, 62, 61, 60} - i)); }
static inline void keep8_r(u32 *d, u64 m, int i, u32x8 v) {
	*(u32x8 *)(d + i) = (u32x8)_mm256_blendv_ps((__m256)*(u32x8 *)(d + i), (__m256)v, (__m256)signs8(m, i));
}
static inline void keep8_q(u64 *d, u64 m, int i, u64x8 v) {
	*(u64x4 *)(d + i) = (u64x4)_mm256_blendv_pd((__m256d)*(u64x4 *)(d + i), (__m256d)v.lo, (__m256d)signs4(m, i));
	*(u64x4 *)(d + i + 4) = (u64x4)_mm256_blendv_pd((__m256d)*(u64x4 *)(d + i + 4), (__m256d)v.hi, (__m256d)signs4(m, i + 4));
}
static inline void put_u32(char *to, u64 m, int i, u32x8 v) { _mm256_maskstore_epi32((int *)to, signs8(m, i), (__m256i)v); }
static inline void put_u64(char *to, u64 m, int i, u64x8 v) {
	_mm256_maskstore_epi64((long long *)to, signs4(m, i), (__m256i)v.lo);
	_mm256_maskstore_epi64((long long *)to + 4, signs4(m, i + 4), (__m256i)v.hi);
}
static inline u32x8 get_u32(const char *from, u64 m, int i) { return (u32x8)_mm256_maskload_epi32((const int *)from, signs8(m, i)); }
static inline u64x8 get_u64(const char *from, u64 m, int i) {
	u64x8 v;
	v.lo = (u64x4)_mm256_maskload_epi64((const long long *)from, signs4(m, i));
	v.hi = (u64x4)_mm256_maskload_epi64((const long long *)from + 4, signs4(m, i + 4));
	return v;
}
#define GET(E, i, from) GET_##E(i, from)
#define EVERY_EIGHT(E, ds) EVERY(i) d[i] = *(E##_u *)(p + (i < 16 ? o : o2) + apart * i);
#define GET_u8(i, from) (*(u8x8 *)(from))
#define GET_s8(i, from) (*(s8x8 *)(from))
#define GET_u16(i, from) (*(u16x8 *)(from))
#define GET_s16(i, from) (*(s16x8 *)(from))
#define GET_u32(i, from) get_u32(from, m, i)
#define GET_s32(i, from) ((s32x8)get_u32(from, m, i))
#define GET_u64(i, from) get_u64(from, m, i)
#define KEEP8_r(i, v) keep8_r(d, m, i, v)
#define KEEP8_q(i, v) keep8_q(d, m, i, v)
#define EVERY(i) for (u32 left = (u32)m, i; left != 0 && (i = __builtin_ctz(left), 1); left &= left - 1)
// FEWER lanes are looked at one by one.
#define FEWER(n, access) \
	if (__builtin_popcount((u32)m) <= 6) { \
		u64 bad = 0; \
		EVERY(i) bad |= outside(a[i] + off, last, n); \
		if (RARELY(bad)) \
			LEAVE; \
		access \
		NEXT; \
	}
#define OUTERMOST \
	u32 low = (u32)m & 0xffff, high = (u32)m >> 16; \
	int f = __builtin_ctz((u32)m), l = low ? 31 - __builtin_clz(low) : f, f2 = high ? 16 + __builtin_ctz(high) : f, l2 = 31 - __builtin_clz((u32)m);
// solid reports whether the lanes that execute are neighbours, in each half.
static inline int solid(u32 m) {
	u32 low = m & 0xffff, high = m & 0xffff0000;
	return !(low & (low + (low & -low)) | high & (high + (high & -high)));
}
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
// WHOLE is whether the elements of all lanes are there, of others too.
#define WHOLE(n) !(past(o, o + 15 * (n), last, n) | past(o2 + 16 * (n), o2 + 31 * (n), last, n))
#define PUT(E, ds, i, to) put_##E(to, m, i, __builtin_convertvector(*(EIGHT_##ds *)(d + (i)), E##x8))
#define PUTS_u8 0 // the host has no stores of some bytes, but where lanes are neighbours
#define PUTS_u16 0
#define put_u8(to, m, i, v)
#define put_u16(to, m, i, v)
#endif
#define PUTS_u32 1
#define PUTS_u64 1
// GETS is whether the host loads elements of some lanes only.
#define GETS_u8 0
#define GETS_s8 0
#define GETS_u16 0
#define GETS_s16 0
#define GETS_u32 1
#define GETS_s32 1
#define GETS_u64 1

// REACH has p be the memory, off what is to be added to an address for its offset there, and last the greatest
// offset of an access of n bytes. Memory begins at a multiple of n.
#define REACH_hit(n) \
	struct allocation *al = *(struct allocation **)((char *)ctx->hits + PLACE(H1)); \
	if (RARELY(!al || al->size < (n))) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - al->base, last = al->size - (n); \
	char *p = al->ptr;
#define REACH_shared(n) \
	struct allocation *al = ctx->shared; \
	if (RARELY(al->size < (n))) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - (al->base - SHARED_WINDOW), last = al->size - (n); \
	char *p = al->ptr;

// AT_fixed is offset H0 of the allocation whose place among those of fixed addresses is H1, AT_shared address H0
// of shared memory.
#define AT_fixed(n) \
	struct allocation *al = *(struct allocation **)((char *)ctx->fixed + PLACE(H1)); \
	u64 o = PLACE(H0); \
	if (RARELY(al->size < o + (n))) \
		LEAVE;
#define AT_shared(n) \
	struct allocation *al = ctx->shared; \
	u64 o = (u64)NUMBER(H0) - (al->base - SHARED_WINDOW); \
	if (RARELY(al->size < (n) || o > al->size - (n))) \
		LEAVE;

// outside is not 0 where an access of n bytes at offset o is out of reach or not aligned.
static inline u64 outside(u64 o, u64 last, u64 n) { return (o > last) | (o & (n - 1)); }

// past is not 0 where one of two accesses is, or the second is before the first: they are the outermost of
// several side by side, whose addresses may have wrapped round.
static inline u64 past(u64 o, u64 end, u64 last, u64 n) { return outside(o, last, n) | (end > last) | (end < o); }

// ASTRAY is whether an access of n bytes is outside: an offset o is in [0, last] where neither o nor last - o has a
// sign.
#define SIGN (1ull << 63)
#define ASTRAY(as, n) ({ \
	AGAIN; \
	u64x4 low = (u64x4)0, high = (u64x4)0; \
	EACH(i, 8) { \
		u64x4 o = four_##as(a + 4 * i) + off, idle = IDLE4(4 * i); \
		low |= o & ~idle, high |= ((u64x4)last - o) & ~idle; \
	} \
	!_mm256_testz_si256((__m256i)(low | high & (u64x4)SIGN), (__m256i)(u64x4)(SIGN | ((n) - 1))); \
})
