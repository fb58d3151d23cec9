// Stencils of memory instructions. An access is executed where all its lanes stay in the memory that
// the instruction has hit last; else nothing is done, and it leaves.

#include "stencil.h"

// part is the number of the element of n bytes at offset o, or a greater one than there are if it is not aligned.
static inline u64 part(u64 o, u64 n) {
	int shift = __builtin_ctzl(n);
	return shift ? o >> shift | o << (64 - shift) : o;
}

// REACH has al be the memory, begin where its addresses of the instruction's space begin, and
// last the number of its last access of n bytes.
#define REACH_hit(n) \
	struct allocation *al = *(struct allocation **)((char *)ctx->hits + PLACE(H1)); \
	if (!al || al->size < (n)) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - al->base, last = al->size / (n) - 1; \
	char *p = al->ptr;
#define REACH_shared(n) \
	struct allocation *al = ctx->shared; \
	if (al->size < (n)) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - (al->base - SHARED_WINDOW), last = al->size / (n) - 1; \
	char *p = al->ptr;

typedef u16 u16_u __attribute__((aligned(1)));
typedef s16 s16_u __attribute__((aligned(1)));
typedef u32 u32_u __attribute__((aligned(1)));
typedef s32 s32_u __attribute__((aligned(1)));
typedef u64 u64_u __attribute__((aligned(1)));
typedef u8 u8_u;
typedef s8 s8_u;

#define ADDR_r const u32 *a = ROW(u32, A);
#define ADDR_q const u64 *a = WIDE(u64, A);
#define DATA_r(X) u32 *d = ROW(u32, X);
#define DATA_q(X) u64 *d = WIDE(u64, X);

#ifndef MASKED
// SHAPE has apart be not 0 if lanes access different addresses, and gaps if they do not access elements side
// by side.
#define SHAPE(n) \
	typeof(a[0] + 0u) first = a[0], apart = 0, gaps = a[31] < first; \
	LANES { \
		apart |= a[i] ^ first; \
		gaps |= a[i] ^ (first + (typeof(first))i * (n)); \
	}
#define LOAD(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) SHAPE(sizeof(E)) \
		u64 o = a[0] + off; \
		if (!gaps) { \
			if (part(o, sizeof(E)) > last || last - part(o, sizeof(E)) < 31) \
				LEAVE; \
			const E##_u *s = (const E##_u *)(p + o); \
			SHORT_LANES d[i] = s[i]; \
			NEXT; \
		} \
		if (!apart) { \
			if (part(o, sizeof(E)) > last) \
				LEAVE; \
			E v = *(E##_u *)(p + o); \
			SHORT_LANES d[i] = v; \
			NEXT; \
		} \
		u64 bad = 0; \
		LANES bad |= -(u64)(part(a[i] + off, sizeof(E)) > last); \
		if (bad) \
			LEAVE; \
		_Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++) d[i] = *(E##_u *)(p + (a[i] + off)); \
		NEXT; \
	}
#define STORE(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) SHAPE(sizeof(E)) \
		u64 o = a[0] + off; \
		if (!gaps) { \
			if (part(o, sizeof(E)) > last || last - part(o, sizeof(E)) < 31) \
				LEAVE; \
			*ctx->changed = 1; \
			E##_u *s = (E##_u *)(p + o); \
			SHORT_LANES s[i] = (E)d[i]; \
			NEXT; \
		} \
		u64 bad = 0; \
		LANES bad |= -(u64)(part(a[i] + off, sizeof(E)) > last); \
		if (bad) \
			LEAVE; \
		*ctx->changed = 1; \
		_Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++) *(E##_u *)(p + (a[i] + off)) = (E)d[i]; \
		NEXT; \
	}
#else
#define LOAD(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		u64 bad = 0; \
		LANES bad |= -(u64)ACTIVE(i) & -(u64)(part(a[i] + off, sizeof(E)) > last); \
		if (bad) \
			LEAVE; \
		for (u32 n = (u32)m; n != 0; n &= n - 1) { \
			int i = __builtin_ctz(n); \
			d[i] = *(E##_u *)(p + (a[i] + off)); \
		} \
		NEXT; \
	}
#define STORE(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		u64 bad = 0; \
		LANES bad |= -(u64)ACTIVE(i) & -(u64)(part(a[i] + off, sizeof(E)) > last); \
		if (bad) \
			LEAVE; \
		*ctx->changed = 1; \
		for (u32 n = (u32)m; n != 0; n &= n - 1) { \
			int i = __builtin_ctz(n); \
			*(E##_u *)(p + (a[i] + off)) = (E)d[i]; \
		} \
		NEXT; \
	}
#endif

#define LOADS(as, space) \
	LOAD(u8, as, r, space) LOAD(s8, as, r, space) LOAD(u16, as, r, space) LOAD(s16, as, r, space) LOAD(u32, as, r, space) \
	LOAD(u8, as, q, space) LOAD(s8, as, q, space) LOAD(u16, as, q, space) LOAD(s16, as, q, space) LOAD(u32, as, q, space) LOAD(s32, as, q, space) LOAD(u64, as, q, space)
#define STORES(as, space) \
	STORE(u8, as, r, space) STORE(u16, as, r, space) STORE(u32, as, r, space) \
	STORE(u8, as, q, space) STORE(u16, as, q, space) STORE(u32, as, q, space) STORE(u64, as, q, space)
LOADS(r, hit) LOADS(q, hit) LOADS(r, shared) LOADS(q, shared)
STORES(r, hit) STORES(q, hit) STORES(r, shared) STORES(q, shared)

// FIXED loads from offset H0 of the allocation whose place among those of fixed addresses is H1.
#define FIXED(E, ds) \
	STENCIL(FORM(load_fixed_##E##_##ds)) { \
		struct allocation *al = *(struct allocation **)((char *)ctx->fixed + PLACE(H1)); \
		if (al->size < PLACE(H0) + sizeof(E)) \
			LEAVE; \
		E v = *(E##_u *)(al->ptr + PLACE(H0)); \
		DATA_##ds(D) \
		SHORT_LANES d[i] = BLEND(d[i], (typeof(d[0] + 0u))v); \
		NEXT; \
	}
FIXED(u8, r) FIXED(s8, r) FIXED(u16, r) FIXED(s16, r) FIXED(u32, r)
FIXED(u8, q) FIXED(s8, q) FIXED(u16, q) FIXED(s16, q) FIXED(u32, q) FIXED(s32, q) FIXED(u64, q)
