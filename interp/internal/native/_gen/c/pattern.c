// Stencils of memory instructions with a proved address pattern for each half of the warp: all addresses are the same, or they
// have the expected stride if the outermost lanes' addresses have it. An access without this, or not wholly in bounds of
// the memory that the instruction hit last, leaves to a stencil of memory.c.

#include "rows.h"
#include "access.h"

// EXPECTED leaves unless the addresses of the outermost lanes of each half have the expected stride in bytes. Then the outermost
// lanes decide whether all lanes are in bounds. Addresses of 32 bits that have wrapped around do not have the stride.
#define EXPECTED(apart) \
	u64 first = a[f] + off, first2 = a[f2] + off, span = (l - f) * (apart), span2 = (l2 - f2) * (apart); \
	if (UNLIKELY((u64)a[l] - a[f] != span || (u64)a[l2] - a[f2] != span2 || last < span || first > last - span || last < span2 || first2 > last - span2 || ((first | first2) & (n - 1)))) \
		LEAVE;

#define ABREAST(E, as) \
	FIND(E) \
	EXPECTED(n)
#define LOAD_ABREAST(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space##_contiguous)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		ABREAST(E, as) \
		if (TOGETHER) { \
			LOAD_TOGETHER(E, ds, p + o, p + o2) \
			NEXT; \
		} \
		if (!GETS_##E && UNLIKELY(!WHOLE(n))) \
			LEAVE; \
		LOAD_BESIDE(E, ds, p + o, p + o2) \
		NEXT; \
	}
#define STORE_ABREAST(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space##_contiguous)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		ABREAST(E, as) \
		const bool together = TOGETHER; \
		if (!PUTS_##E && !together) \
			LEAVE; \
		*ctx->memory_changed = 1; \
		if (together) { \
			STORE_TOGETHER(E, ds, p + o, p + o2) \
			NEXT; \
		} \
		STORE_BESIDE(E, ds, p + o, p + o2) \
		NEXT; \
	}
#define LOAD_ALIKE(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space##_same)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		OUTERMOST \
		const u64 n = sizeof(E); \
		if (UNLIKELY(outside(a[f] + off, last, n) || outside(a[f2] + off, last, n))) \
			LEAVE; \
		E v = *(E##_u *)(p + (a[f] + off)), v2 = *(E##_u *)(p + (a[f2] + off)); \
		EACH_KEPT(ds, i) KEEP_##ds(i, (ROW_##ds)(typeof(d[0] + 0u))(i < 16 ? v : v2)); \
		NEXT; \
	}

// SPREAD is for addresses with a stride of HE bytes.
#define SPREAD(E, as) \
	OUTERMOST \
	const u64 n = sizeof(E), apart = PLACE(HE); \
	u64 o = a[f] + off - f * apart, o2 = a[f2] + off - f2 * apart; \
	EXPECTED(apart)
#define AS_SPREAD(as) AS_SPREAD_##as(f, l) && AS_SPREAD_##as(f2, l2)
#define AS_SPREAD_r(f, l) (a[l] - a[f] == (u32)(l - f) * (u32)apart)
#define AS_SPREAD_q(f, l) (a[l] - a[f] == (u64)(l - f) * apart)
#define LOAD_SPREAD(E, as, ds, space) \
	STENCIL(FORM(load_##E##_##as##_##ds##_##space##_strided)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(D) \
		SPREAD(E, as) \
		ADD_COST(GATHER_COST); \
		EVERY_SPREAD(E, ds) \
		NEXT; \
	}
#define STORE_SPREAD(E, as, ds, space) \
	STENCIL(FORM(store_##E##_##as##_##ds##_##space##_strided)) { \
		REACH_##space(sizeof(E)) ADDR_##as DATA_##ds(B) \
		SPREAD(E, as) \
		ADD_COST(GATHER_COST); \
		*ctx->memory_changed = 1; \
		EVERY(i) *(E##_u *)(p + (i < 16 ? o : o2) + apart * i) = (E)d[i]; \
		NEXT; \
	}

#define EITHER(E, as, ds, space) LOAD_ABREAST(E, as, ds, space) LOAD_ALIKE(E, as, ds, space) LOAD_SPREAD(E, as, ds, space)

#define LOADS(as, space) \
	EITHER(u8, as, r, space) EITHER(s8, as, r, space) EITHER(u16, as, r, space) EITHER(s16, as, r, space) EITHER(u32, as, r, space) \
	EITHER(u8, as, q, space) EITHER(s8, as, q, space) EITHER(u16, as, q, space) EITHER(s16, as, q, space) EITHER(u32, as, q, space) EITHER(s32, as, q, space) EITHER(u64, as, q, space)
#define STORES(as, space) \
	STORE_ABREAST(u8, as, r, space) STORE_ABREAST(u16, as, r, space) STORE_ABREAST(u32, as, r, space) \
	STORE_ABREAST(u8, as, q, space) STORE_ABREAST(u16, as, q, space) STORE_ABREAST(u32, as, q, space) STORE_ABREAST(u64, as, q, space) \
	STORE_SPREAD(u8, as, r, space) STORE_SPREAD(u16, as, r, space) STORE_SPREAD(u32, as, r, space) \
	STORE_SPREAD(u8, as, q, space) STORE_SPREAD(u16, as, q, space) STORE_SPREAD(u32, as, q, space) STORE_SPREAD(u64, as, q, space)
LOADS(r, hit) LOADS(q, hit) LOADS(r, shared) LOADS(q, shared)
STORES(r, hit) STORES(q, hit) STORES(r, shared) STORES(q, shared)

// as_proved, of check mode, leaves if the addresses of an access do not have the proved pattern. HE is the stride in bytes. It
// accepts a half whose outermost lanes do not have the stride: the proof promises nothing for it.
#define AS_PROVED(as) \
	STENCIL(FORM(as_proved_##as)) { \
		ADDR_##as \
		OUTERMOST \
		const u64 apart = NUMBER(HE); \
		typedef typeof(a[0] + 0u) number; \
		number said = apart == 0 || AS_SPREAD_##as(f, l) ? -1 : 0, said2 = apart == 0 || AS_SPREAD_##as(f2, l2) ? -1 : 0; \
		number at = a[f] - (number)(f * apart), at2 = a[f2] - (number)(f2 * apart); \
		vector_##as off = {0}; \
		VECTORS(as, i) { \
			vector_##as want = (vector_##as)(i < 16 ? at : at2) + (INDEX_##as + (number)i) * (number)apart; \
			off |= (VECTOR(as, a, i) ^ want) & (vector_##as)(i < 16 ? said : said2) & EXECUTE(as, i); \
		} \
		if (UNLIKELY(ANY(off))) \
			LEAVE; \
		NEXT; \
	}
AS_PROVED(r) AS_PROVED(q)
