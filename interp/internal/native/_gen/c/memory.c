// Stencils of memory instructions. An access is executed if all its lanes are in bounds of the memory that
// the instruction hit last; else it changes nothing and leaves.
//
// Lanes often access contiguous elements, or all the same element. In a block of 16 by 16 threads a warp is two rows, and
// each half of the warp has either pattern. So the stencils test for these patterns first, for each half. Further accesses
// use gathers, or go lane by lane.

#include "rows.h"
#include "access.h"

#define LOAD(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		FEWER(sizeof(E), EVERY(i) d[i] = *(E##_u *)(p + (a[i] + off));) \
		FIND(E) \
		if (a[f] == a[l] && a[f2] == a[l2]) { \
			if (beside_##as(a, m, a[f], a[f2], 0)) { \
				if (UNLIKELY(outside(a[f] + off, last, n) | outside(a[f2] + off, last, n))) \
					LEAVE; \
				E v = *(E##_u *)(p + (a[f] + off)), v2 = *(E##_u *)(p + (a[f2] + off)); \
				EACH_KEPT(ds, i) KEEP_##ds(i, (ROW_##ds)(typeof(d[0] + 0u))(i < 16 ? v : v2)); \
				NEXT; \
			} \
		} else if (AS_BESIDE(as) && ({ AGAIN; SIDE_BY_SIDE(as); })) { \
			CHECK_OUTERMOST \
			if (SOME_BYTES) { \
				LOAD_BESIDE(E, ds, p + o, p + o2) \
				NEXT; \
			} \
			if (WHOLE(n)) { \
				AGAIN; \
				EACH_KEPT(ds, i) KEEP_##ds(i, __builtin_convertvector(*(KEPT(E, ds) *)(p + (i < 16 ? o : o2) + n * i), ROW_##ds)); \
				NEXT; \
			} \
		} \
		if (UNLIKELY(ASTRAY(as, n))) \
			LEAVE; \
		ADD_COST(GATHER_COST); \
		p += off; \
		EVERY(i) d[i] = *(E##_u *)(p + a[i]); \
		NEXT; \
	}
#define STORE(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		FEWER(sizeof(E), *ctx->memory_changed = 1; EVERY(i) *(E##_u *)(p + (a[i] + off)) = (E)d[i];) \
		FIND(E) \
		if (PUTS_##E && AS_BESIDE(as) && SIDE_BY_SIDE(as)) { \
			CHECK_OUTERMOST \
			*ctx->memory_changed = 1; \
			STORE_BESIDE(E, ds, p + o, p + o2) \
			NEXT; \
		} \
		if (UNLIKELY(ASTRAY(as, n))) \
			LEAVE; \
		ADD_COST(GATHER_COST); \
		*ctx->memory_changed = 1; \
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
