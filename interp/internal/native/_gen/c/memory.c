// Stencils of memory instructions. An access is executed where all its lanes stay in the memory that
// the instruction has hit last; else nothing is done, and it leaves.
//
// Lanes often access elements side by side, or all the same one, and where a warp is two rows of a block of
// 16 by 16 threads, each half of it does one or the other: that is looked for first, by halves. What is neither is
// gathered, or goes lane by lane.

#include "rows.h"

// FIND has a be the addresses, f and l the outermost lanes of the one half, f2 and l2 of the other, and o and o2 what the
// offsets of elements side by side begin with.
#define FIND(E) \
	OUTERMOST \
	const u64 n = sizeof(E); \
	u64 o = a[f] + off - f * n, o2 = a[f2] + off - f2 * n;
// AS_BESIDE is whether the outermost lanes of each half are as they are where all are side by side.
#define AS_BESIDE(as) AS_BESIDE_##as(f, l) && AS_BESIDE_##as(f2, l2)
#define AS_BESIDE_r(f, l) (a[l] - a[f] == (u32)(l - f) * (u32)n)
#define AS_BESIDE_q(f, l) (a[l] - a[f] == (u64)(l - f) * n)
#define SIDE_BY_SIDE(as) beside_##as(a, m, a[f] - f * n, a[f2] - f2 * n, n)
// An offset o is in [0, last] where neither o nor last - o has a sign, and one is not before another where their difference has
// none: addresses may have wrapped round.
#define WITHIN(o, end) ((o) | (last - (o)) | (end) | (last - (end)) | ((end) - (o)))
#define CHECK_OUTERMOST \
	u64 first = a[f] + off, first2 = a[f2] + off; \
	if (RARELY(((WITHIN(first, a[l] + off) | WITHIN(first2, a[l2] + off)) & SIGN) | ((first | first2) & (n - 1)))) \
		LEAVE;

// TAKES counts what takes as long as n others besides itself: machine code comes back so much earlier.
#define TAKES(n) (ctx->enough = ctx->enough > (n) ? ctx->enough - (n) : 0)

#define LOAD(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		FEWER(sizeof(E), EVERY(i) d[i] = *(E##_u *)(p + (a[i] + off));) \
		FIND(E) \
		if (a[f] == a[l] && a[f2] == a[l2]) { \
			if (beside_##as(a, m, a[f], a[f2], 0)) { \
				if (RARELY(outside(a[f] + off, last, n) | outside(a[f2] + off, last, n))) \
					LEAVE; \
				E v = *(E##_u *)(p + (a[f] + off)), v2 = *(E##_u *)(p + (a[f2] + off)); \
				EACH(i, 4) KEEP8_##ds(8 * i, (EIGHT_##ds)(typeof(d[0] + 0u))(i < 2 ? v : v2)); \
				NEXT; \
			} \
		} else if (AS_BESIDE(as) && ({ AGAIN; SIDE_BY_SIDE(as); })) { \
			CHECK_OUTERMOST \
			if (WHOLE(n)) { \
				AGAIN; \
				EACH(i, 4) KEEP8_##ds(8 * i, __builtin_convertvector(*(E##x8 *)(p + (i < 2 ? o : o2) + 8 * n * i), EIGHT_##ds)); \
				NEXT; \
			} \
		} \
		if (RARELY(ASTRAY(as, n))) \
			LEAVE; \
		TAKES(3); \
		p += off; \
		EVERY(i) d[i] = *(E##_u *)(p + a[i]); \
		NEXT; \
	}
#define STORE(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		FEWER(sizeof(E), *ctx->changed = 1; EVERY(i) *(E##_u *)(p + (a[i] + off)) = (E)d[i];) \
		FIND(E) \
		if (PUTS_##E && AS_BESIDE(as) && SIDE_BY_SIDE(as)) { \
			CHECK_OUTERMOST \
			*ctx->changed = 1; \
			EACH(i, 4) PUT(E, ds, 8 * i, p + (i < 2 ? o : o2) + 8 * n * i); \
			NEXT; \
		} \
		if (RARELY(ASTRAY(as, n))) \
			LEAVE; \
		TAKES(3); \
		*ctx->changed = 1; \
		p += off; \
		EVERY(i) *(E##_u *)(p + a[i]) = (E)d[i]; \
		NEXT; \
	}

#define LOADS(as, space) \
	LOAD(u8, as, r, space) LOAD(s8, as, r, space) LOAD(u16, as, r, space) LOAD(s16, as, r, space) LOAD(u32, as, r, space) \
	LOAD(u8, as, q, space) LOAD(s8, as, q, space) LOAD(u16, as, q, space) LOAD(s16, as, q, space) LOAD(u32, as, q, space) LOAD(s32, as, q, space) LOAD(u64, as, q, space)
#define STORES(as, space) \
	STORE(u8, as, r, space) STORE(u16, as, r, space) STORE(u32, as, r, space) \
	STORE(u8, as, q, space) STORE(u16, as, q, space) STORE(u32, as, q, space) STORE(u64, as, q, space)
LOADS(r, hit) LOADS(q, hit) LOADS(r, shared) LOADS(q, shared)
STORES(r, hit) STORES(q, hit) STORES(r, shared) STORES(q, shared)
