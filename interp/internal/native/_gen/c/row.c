// Stencils of accesses at a compact address: row loads or stores the element at H0 of each lane that executes, where reach
// (compact.c) has found memory.

#include "rows.h"

#define EACH_LANE _Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++, p += step)
#ifndef MASKED
#define LOAD_ROW(E, ds) \
	STENCIL(row_load_##E##_##ds##_full) { \
		char *p = MACHINE->known.at + PLACE(H0); \
		s64 step = MACHINE->known.step; \
		DATA_##ds(D) \
		if (step == sizeof(E)) { \
			SHORT_LANES d[i] = ((E##_u *)p)[i]; \
			NEXT; \
		} \
		if (!step) { \
			E v = *(E##_u *)p; \
			SHORT_LANES d[i] = v; \
			NEXT; \
		} \
		const u64 apart = step, o = 0, o2 = 0; \
		EVERY_SPREAD(E, ds) \
		NEXT; \
	}
#define STORE_ROW(E, ds) \
	STENCIL(row_store_##E##_##ds##_full) { \
		char *p = MACHINE->known.at + PLACE(H0); \
		s64 step = MACHINE->known.step; \
		DATA_##ds(B) \
		if (step == sizeof(E)) { \
			SHORT_LANES ((E##_u *)p)[i] = (E)d[i]; \
			NEXT; \
		} \
		EACH_LANE *(E##_u *)p = (E)d[i]; \
		NEXT; \
	}
#else
#define FROM_LOWEST \
	s64 step = MACHINE->known.step; \
	char *p = MACHINE->known.at + PLACE(H0) - (s64)__builtin_ctz((u32)m) * step;
#define LOAD_ROW(E, ds) \
	STENCIL(row_load_##E##_##ds##_masked) { \
		FROM_LOWEST DATA_##ds(D) \
		if (step == sizeof(E) && TOGETHER) { \
			LOAD_TOGETHER(E, ds, p, p) \
			NEXT; \
		} \
		if (!step) { \
			E v = *(E##_u *)p; \
			EACH_KEPT(ds, i) KEEP_##ds(i, (ROW_##ds)(typeof(d[0] + 0u))v); \
			NEXT; \
		} \
		EVERY(i) d[i] = *(E##_u *)(p + (s64)i * step); \
		NEXT; \
	}
#define STORE_ROW(E, ds) \
	STENCIL(row_store_##E##_##ds##_masked) { \
		FROM_LOWEST DATA_##ds(B) \
		if (step == sizeof(E) && TOGETHER) { \
			STORE_TOGETHER(E, ds, p, p) \
			NEXT; \
		} \
		EVERY(i) *(E##_u *)(p + (s64)i * step) = (E)d[i]; \
		NEXT; \
	}
#endif
LOAD_ROW(u8, r) LOAD_ROW(s8, r) LOAD_ROW(u16, r) LOAD_ROW(s16, r) LOAD_ROW(u32, r)
LOAD_ROW(u8, q) LOAD_ROW(s8, q) LOAD_ROW(u16, q) LOAD_ROW(s16, q) LOAD_ROW(u32, q) LOAD_ROW(s32, q) LOAD_ROW(u64, q)
STORE_ROW(u8, r) STORE_ROW(u16, r) STORE_ROW(u32, r)
STORE_ROW(u8, q) STORE_ROW(u16, q) STORE_ROW(u32, q) STORE_ROW(u64, q)
