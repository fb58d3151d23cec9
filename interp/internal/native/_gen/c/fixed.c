// Stencils of memory instructions at an address that is the same in all lanes, of vectors, and of local memory.

#include "rows.h"

#define FILL(ds, v) EACH_KEPT(ds, i) KEEP_##ds(i, (ROW_##ds)(typeof(d[0] + 0u))(v))
#define LAST_LANE (31 - __builtin_clz((u32)m)) // the last lane determines the stored value

#define LOAD(E, ds, space) \
	STENCIL(FORM(load_##space##_##E##_##ds)) { \
		AT_##space(sizeof(E)) DATA_##ds(D) \
		E v = *(E##_u *)(al->ptr + o); \
		FILL(ds, v); \
		NEXT; \
	}
#define STORE(E, ds, space) \
	STENCIL(FORM(store_##space##_##E##_##ds)) { \
		AT_##space(sizeof(E)) DATA_##ds(B) \
		*ctx->memory_changed = 1; \
		*(E##_u *)(al->ptr + o) = (E)d[LAST_LANE]; \
		NEXT; \
	}

// REACHED checks that all elements of a vector access are in bounds. ELEMENT does not check again.
#define REACHED(n, as, space) \
	STENCIL(FORM(reach_##n##_##as##_##space)) { \
		REACH_##space(n) ADDR_##as \
		if (UNLIKELY(ASTRAY(as, n))) \
			LEAVE; \
		NEXT; \
	}
#define LOAD_ELEMENT(E, as, ds, space) \
	STENCIL(FORM(load_element_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		p += off; \
		EVERY(i) d[i] = *(E##_u *)(p + a[i]); \
		NEXT; \
	}
#define STORE_ELEMENT(E, as, ds, space) \
	STENCIL(FORM(store_element_##E##_##as##_##ds##_##space)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		*ctx->memory_changed = 1; \
		p += off; \
		EVERY(i) *(E##_u *)(p + a[i]) = (E)d[i]; \
		NEXT; \
	}

// recall is for an instruction whose lanes are not in the allocation that it hit last. If the first lane is in another of the
// allocations that it remembers, recall makes this the last hit and executes the instruction again. The remembered
// allocations begin at H1 and do not overlap.
#ifndef MASKED
#define RECALL(as) \
	STENCIL(recall_##as) { \
		struct allocation **known = (struct allocation **)((char *)ctx->hits + PLACE(H1)), *last = *known; \
		ADDR_##as \
		u64 at = a[__builtin_ctz((u32)m)] + (u64)NUMBER(H0); \
		if (last && at - last->base < last->size) \
			LEAVE; \
		_Pragma("clang loop unroll(disable)") for (int i = 1; i < ALLOCATIONS_KNOWN; i++) { \
			struct allocation *al = known[i]; \
			if (al && at - al->base < al->size) { \
				known[0] = al, known[i] = last; \
				OTHER; \
			} \
		} \
		LEAVE; \
	}
RECALL(r) RECALL(q)
#endif

// Local memory: word i of all lanes is row i. A lane's address is computed in the width of its row.
#define LOCAL_BEGIN(n) \
	struct machine *w = MACHINE; \
	if (UNLIKELY(w->to - w->from < (n))) \
		LEAVE; \
	u64 from = w->from, room = w->to - from - (n); \
	char *local = w->local;
#define LANE_AT ((u64)(typeof(a[0] + 0u))(a[i] + (typeof(a[0] + 0u))NUMBER(H0)))
#define ASTRAY_LOCAL(at, n) (((at) - from > room) | ((at) & ((n) - 1)))
#define WORD(at, i) (local + ((at) >> 2) * 128 + 4 * (i))
#define TAKE(E, at, i) *(E *)(WORD(at, i) + ((at) & 3))
#define GIVE(E, at, i) *(E *)(WORD(at, i) + ((at) & 3)) = (E)d[i]
#define TAKE_u8(at, i) TAKE(u8, at, i)
#define TAKE_s8(at, i) TAKE(s8, at, i)
#define TAKE_u16(at, i) TAKE(u16, at, i)
#define TAKE_s16(at, i) TAKE(s16, at, i)
#define TAKE_u32(at, i) *(u32 *)WORD(at, i)
#define TAKE_s32(at, i) *(s32 *)WORD(at, i)
#define TAKE_u64(at, i) (*(u32 *)WORD(at, i) | (u64) * (u32 *)(WORD(at, i) + 128) << 32)
#define GIVE_u8(at, i) GIVE(u8, at, i)
#define GIVE_u16(at, i) GIVE(u16, at, i)
#define GIVE_u32(at, i) *(u32 *)WORD(at, i) = (u32)d[i]
#define GIVE_u64(at, i) *(u32 *)WORD(at, i) = (u32)d[i], *(u32 *)(WORD(at, i) + 128) = (u32)(d[i] >> 32)

// EVERY_ROW is EVERY for contiguous elements.
#ifdef MASKED
#define EVERY_ROW(i) EVERY(i)
#else
#define EVERY_ROW(i) LANES
#endif

// LOCAL is an access at the addresses of a row, FRAME an access at offset H0 of the running function's frame.
#define LOCAL(name, E, as, ds, X, access) \
	STENCIL(FORM(name##_local_##E##_##as##_##ds)) { \
		LOCAL_BEGIN(sizeof(E)) ADDR_##as DATA_##ds(X) \
		u64 bad = 0; \
		EVERY(i) { \
			u64 at = LANE_AT; \
			bad |= ASTRAY_LOCAL(at, sizeof(E)); \
		} \
		if (UNLIKELY(bad)) \
			LEAVE; \
		EVERY(i) { \
			u64 at = LANE_AT; \
			access; \
		} \
		NEXT; \
	}
#define FRAME(name, E, ds, X, access) \
	STENCIL(FORM(name##_frame_##E##_##ds)) { \
		LOCAL_BEGIN(sizeof(E)) DATA_##ds(X) \
		u64 at = w->frame + (u64)NUMBER(H0); \
		if (UNLIKELY(ASTRAY_LOCAL(at, sizeof(E)))) \
			LEAVE; \
		EVERY_ROW(i) { access; } \
		NEXT; \
	}

// VECTOR_LOCAL and VECTOR_FRAME are REACHED for local memory.
#define VECTOR_LOCAL(n, as) \
	STENCIL(FORM(reach_##n##_##as##_local)) { \
		LOCAL_BEGIN(n) ADDR_##as \
		u64 bad = 0; \
		EVERY(i) { \
			u64 at = LANE_AT; \
			bad |= ASTRAY_LOCAL(at, n); \
		} \
		if (UNLIKELY(bad)) \
			LEAVE; \
		NEXT; \
	}
#define VECTOR_FRAME(n) \
	STENCIL(FORM(reach_##n##_frame)) { \
		LOCAL_BEGIN(n) \
		u64 at = w->frame + (u64)NUMBER(H0); \
		if (UNLIKELY(ASTRAY_LOCAL(at, n))) \
			LEAVE; \
		NEXT; \
	}

#define LOADS(E, ds) \
	LOAD(E, ds, fixed) LOAD(E, ds, shared) \
	LOAD_ELEMENT(E, r, ds, hit) LOAD_ELEMENT(E, q, ds, hit) LOAD_ELEMENT(E, r, ds, shared) LOAD_ELEMENT(E, q, ds, shared) \
	LOCAL(load, E, r, ds, D, d[i] = TAKE_##E(at, i)) LOCAL(load, E, q, ds, D, d[i] = TAKE_##E(at, i)) FRAME(load, E, ds, D, d[i] = TAKE_##E(at, i))
#define STORES(E, ds) \
	STORE(E, ds, fixed) STORE(E, ds, shared) \
	STORE_ELEMENT(E, r, ds, hit) STORE_ELEMENT(E, q, ds, hit) STORE_ELEMENT(E, r, ds, shared) STORE_ELEMENT(E, q, ds, shared) \
	LOCAL(store, E, r, ds, B, GIVE_##E(at, i)) LOCAL(store, E, q, ds, B, GIVE_##E(at, i)) FRAME(store, E, ds, B, GIVE_##E(at, i))
LOADS(u8, r) LOADS(s8, r) LOADS(u16, r) LOADS(s16, r) LOADS(u32, r)
LOADS(u8, q) LOADS(s8, q) LOADS(u16, q) LOADS(s16, q) LOADS(u32, q) LOADS(s32, q) LOADS(u64, q)
STORES(u8, r) STORES(u16, r) STORES(u32, r)
STORES(u8, q) STORES(u16, q) STORES(u32, q) STORES(u64, q)
#define REACHES(as, space) REACHED(2, as, space) REACHED(4, as, space) REACHED(8, as, space) REACHED(16, as, space) REACHED(32, as, space)
REACHES(r, hit) REACHES(q, hit) REACHES(r, shared) REACHES(q, shared)
#define LOCAL_VECTORS(n) VECTOR_LOCAL(n, r) VECTOR_LOCAL(n, q) VECTOR_FRAME(n)
LOCAL_VECTORS(2) LOCAL_VECTORS(4) LOCAL_VECTORS(8) LOCAL_VECTORS(16) LOCAL_VECTORS(32)
