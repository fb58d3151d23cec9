// What stencils of memory, of warps and of special registers share: rows of registers as vectors, lanes one by
// one, and what these stencils alone know of the context.

#include "stencil.h"
#include "vector.h"

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

// Vectors of elements, wherever they lie, for KEPT lanes of a row.
#if VECTOR_BYTES == 64
#define KEPT_r 16
#else
#define KEPT_r 8
#endif
#define KEPT_q 8
#define ELEMENTS(E, n) typedef E E##x##n __attribute__((ext_vector_type(n), aligned(1)));
#define ELEMENT(E) ELEMENTS(E, 8) ELEMENTS(E, 16)
ELEMENT(u8) ELEMENT(s8) ELEMENT(u16) ELEMENT(s16) ELEMENT(u32) ELEMENT(s32) ELEMENT(u64)
#define OF(E, n) OF_(E, n)
#define OF_(E, n) E##x##n
#define KEPT(E, ds) OF(E, KEPT_##ds)
#define ROW_r KEPT(u32, r)
#define ROW_q KEPT(u64, q)
#define EACH_KEPT(ds, i) _Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += KEPT_##ds)
#define RARELY(x) __builtin_expect((x) != 0, 0)
#define AGAIN __asm__("" : "+r"(m)) // what is made of the mask is not kept from before: there are not so many registers

// Rows of addresses and of registers.
#define ADDR_r const u32 *a = ROW(u32, A);
#define ADDR_q const u64 *a = WIDE(u64, A);
#define DATA_r(X) u32 *d = ROW(u32, X);
#define DATA_q(X) u64 *d = WIDE(u64, X);
typedef u32 narrow_r __attribute__((ext_vector_type(LANES_q), aligned(1)));
static inline vector_q offsets_r(const u32 *a) { return __builtin_convertvector(*(const narrow_r *)a, vector_q); }
static inline vector_q offsets_q(const u64 *a) { return *(const vector_q *)a; }

// EXECUTE is all ones for lanes that execute, of those from i on.
#ifdef MASKED
#define EXECUTE(s, i) AMONG(s, m, i)
#else
#define EXECUTE(s, i) (vector_##s)(element_##s)-1
#endif

// beside is whether lane i has address at + i·n in the one half, at2 + i·n in the other: elements of n bytes side by
// side or, n being 0, the same.
#define BESIDE(s) \
	static inline int beside_##s(const element_##s *a, u64 m, element_##s at, element_##s at2, element_##s n) { \
		vector_##s off = {0}; \
		VECTORS(s, i) off |= (VECTOR(s, a, i) ^ ((vector_##s)(i < 16 ? at : at2) + (INDEX_##s + (element_##s)i) * n)) & EXECUTE(s, i); \
		return !ANY(off); \
	}
BESIDE(r) BESIDE(q)

#ifndef MASKED
#define KEEP_r(i, v) (*(ROW_r *)(d + (i)) = (v))
#define KEEP_q(i, v) (*(ROW_q *)(d + (i)) = (v))
#define EVERY(i) _Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++)
#define FEWER(n, access)
#define OUTERMOST const int f = 0, l = 15, f2 = 16, l2 = 31;
#define WHOLE(n) 1
#define PUT(E, ds, i, to) (*(KEPT(E, ds) *)(to) = __builtin_convertvector(*(ROW_##ds *)(d + (i)), KEPT(E, ds)))
#define PUTS_u8 1
#define PUTS_u16 1
#define SOME_BYTES 1
#define TOGETHER 1
#define LOAD_TOGETHER(E, ds, p, p2) LOAD_BESIDE(E, ds, p, p2)
#define STORE_TOGETHER(E, ds, p, p2) STORE_BESIDE(E, ds, p, p2)
#define GET(E, ds, i, from) (*(KEPT(E, ds) *)(from))
// EVERY_SPREAD loads elements that lie apart, those of KEPT lanes to be one vector.
#define SPREAD_AT(E, k) (*(E##_u *)(at + (k) * apart))
#define SPREAD_8(E, k) SPREAD_AT(E, k), SPREAD_AT(E, k + 1), SPREAD_AT(E, k + 2), SPREAD_AT(E, k + 3), SPREAD_AT(E, k + 4), SPREAD_AT(E, k + 5), SPREAD_AT(E, k + 6), SPREAD_AT(E, k + 7)
#define EVERY_SPREAD(E, ds) \
	EACH_KEPT(ds, i) { \
		const char *at = p + (i < 16 ? o : o2) + i * apart; \
		KEEP_##ds(i, __builtin_convertvector(((KEPT(E, ds)){SPREAD_OF(KEPT_##ds, E)}), ROW_##ds)); \
	}
#define SPREAD_OF(n, E) SPREAD_OF_(n, E)
#define SPREAD_OF_(n, E) SPREAD_OF_##n(E)
#define SPREAD_OF_8(E) SPREAD_8(E, 0)
#define SPREAD_OF_16(E) SPREAD_8(E, 0), SPREAD_8(E, 8)
#else
#if VECTOR_BYTES == 64
#define MASK_r(i) (__mmask16)((u32)m >> (i))
#define MASK_q(i) (__mmask8)((u32)m >> (i))
#define KEEP_r(i, v) (*(ROW_r *)(d + (i)) = (ROW_r)_mm512_mask_blend_epi32(MASK_r(i), *(__m512i_u *)(d + (i)), (__m512i)(v)))
#define KEEP_q(i, v) (*(ROW_q *)(d + (i)) = (ROW_q)_mm512_mask_blend_epi64(MASK_q(i), *(__m512i_u *)(d + (i)), (__m512i)(v)))
#define GET(E, ds, i, from) ((KEPT(E, ds))GET_##E##_##ds(MASK_##ds(i), from))
#define GET_u8_r _mm_maskz_loadu_epi8
#define GET_s8_r _mm_maskz_loadu_epi8
#define GET_u16_r _mm256_maskz_loadu_epi16
#define GET_s16_r _mm256_maskz_loadu_epi16
#define GET_u32_r _mm512_maskz_loadu_epi32
#define GET_u8_q(lanes, from) ((u8x16)_mm_maskz_loadu_epi8(lanes, from)).lo
#define GET_s8_q GET_u8_q
#define GET_u16_q _mm_maskz_loadu_epi16
#define GET_s16_q _mm_maskz_loadu_epi16
#define GET_u32_q _mm256_maskz_loadu_epi32
#define GET_s32_q _mm256_maskz_loadu_epi32
#define GET_u64_q _mm512_maskz_loadu_epi64
#define PUT(E, ds, i, to) PUT_##E##_##ds(to, MASK_##ds(i), *(__m512i_u *)(d + (i)))
#define PUT_u8_r _mm512_mask_cvtepi32_storeu_epi8
#define PUT_u16_r _mm512_mask_cvtepi32_storeu_epi16
#define PUT_u32_r _mm512_mask_storeu_epi32
#define PUT_u8_q _mm512_mask_cvtepi64_storeu_epi8
#define PUT_u16_q _mm512_mask_cvtepi64_storeu_epi16
#define PUT_u32_q _mm512_mask_cvtepi64_storeu_epi32
#define PUT_u64_q _mm512_mask_storeu_epi64
#define SOME_BYTES 1 // the host loads and stores some bytes
#define TOGETHER 1
#define LOAD_TOGETHER(E, ds, p, p2) LOAD_BESIDE(E, ds, p, p2)
#define STORE_TOGETHER(E, ds, p, p2) STORE_BESIDE(E, ds, p, p2)
#else
// signs are masks of the lanes from i on, for instructions that look at signs.
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
#define SOME_BYTES 0 // … none, but where lanes are neighbours
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
#endif
#define EVERY_SPREAD(E, ds) EVERY(i) d[i] = *(E##_u *)(p + (i < 16 ? o : o2) + apart * i);
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
// WHOLE is whether the elements of all lanes are there, of others too.
#define WHOLE(n) !(past(o, o + 15 * (n), last, n) | past(o2 + 16 * (n), o2 + 31 * (n), last, n))
#define PUTS_u8 SOME_BYTES
#define PUTS_u16 SOME_BYTES
#endif
#define PUTS_u32 1
#define PUTS_u64 1
// GETS is whether the host loads elements of some lanes only.
#define GETS_u8 SOME_BYTES
#define GETS_s8 SOME_BYTES
#define GETS_u16 SOME_BYTES
#define GETS_s16 SOME_BYTES
#define GETS_u32 1
#define GETS_s32 1
#define GETS_u64 1

// LOAD_BESIDE and STORE_BESIDE access elements side by side: lane 0's would be at p, or p2 as seen from the second half of the warp. TOGETHER is
// whether LOAD_TOGETHER and STORE_TOGETHER do, too, which touch no element of another lane.
#define LOAD_BESIDE(E, ds, p, p2) EACH_KEPT(ds, i) KEEP_##ds(i, __builtin_convertvector(GET(E, ds, i, (i < 16 ? p : p2) + i * sizeof(E)), ROW_##ds));
#define STORE_BESIDE(E, ds, p, p2) EACH_KEPT(ds, i) PUT(E, ds, i, (i < 16 ? p : p2) + i * sizeof(E));

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
	vector_q low = {0}, high = {0}; \
	VECTORS(q, i) { \
		vector_q o = offsets_##as(a + i) + off, in = EXECUTE(q, i); \
		low |= o & in, high |= ((vector_q)last - o) & in; \
	} \
	ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | ((n) - 1))); \
})
