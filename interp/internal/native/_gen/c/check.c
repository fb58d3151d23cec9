// Stencils of check mode: the registers of the reference lie behind those of the program, and what both have is compared.
// Where it differs they leave.

#include "stencil.h"
#include <immintrin.h>

#ifdef MASKED
#define ALL(m) (u32)(m)
#else
#define ALL(m) 0xffffffff
#endif

#define ROW_OF_r(X) ROW(u32, X)
#define ROW_OF_q(X) WIDE(u64, X)

// The values of a progression, some lanes at a time: LANES_r or LANES_q of them, the first VALUES_OF has. Loops are not
// unrolled: there are many such places in the code of a program.
typedef u32 vector_r __attribute__((ext_vector_type(8), aligned(4)));
typedef u64 vector_q __attribute__((ext_vector_type(4), aligned(8)));
#define LANES_r 8
#define LANES_q 4
#define INDEX_r (vector_r){0, 1, 2, 3, 4, 5, 6, 7}
#define INDEX_q (vector_q){0, 1, 2, 3}
#define VECTORS(s, i) _Pragma("clang loop unroll(disable)") for (int i = 0; i < 32; i += LANES_##s)
#define VALUES_OF(s, v, base, stride) vector_##s v = (base) + INDEX_##s * (stride), v##_step = (vector_##s)((stride) * LANES_##s);

// AMONG is all ones for the first lanes of a mask, as many as a vector has.
#define AMONG(s, mask) ((vector_##s)(((vector_##s)(u32)(mask) & ((vector_##s)1 << INDEX_##s)) != 0))
#define ANY(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))

// STEPPED is a vector of values, and goes on to the next.
#define STEPPED(v) ({ typeof(v) now = v; v += v##_step; now; })

// DIFFER has diff know where row C is not what the vectors are that has gives, in some lanes, or in all.
#define DIFFER(s, some, has) \
	if ((some) == 0xffffffff) { \
		VECTORS(s, i) diff |= *(vector_##s *)(want + i) ^ (has); \
	} else { \
		u32 left = (some); \
		VECTORS(s, i) diff |= (*(vector_##s *)(want + i) ^ (has)) & AMONG(s, left), left >>= LANES_##s; \
	}

// agree: a register, of shadow A and row B, has what row C has: in the shadow for lanes that it speaks for, in the row for
// others and those it is clean for. Lanes of H0 that the shadow speaks for are counted.
#define AGREE(s, T) \
	STENCIL(FORM(agree_##s)) { \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const T *row = ROW_OF_##s(B), *want = ROW_OF_##s(C); \
		u32 held = c->mask & ALL(m), rows = ALL(m) & ~(held & ~c->clean); \
		vector_##s diff = {0}; \
		if (rows) { \
			DIFFER(s, rows, *(vector_##s *)(row + i)) \
		} \
		if (held) { \
			T base = (T)c->base, stride = (T)c->stride; \
			if (base != c->base || stride != c->stride) \
				LEAVE; \
			VALUES_OF(s, v, base, stride) \
			DIFFER(s, held, STEPPED(v)) \
		} \
		if (ANY(diff)) \
			LEAVE; \
		ctx->kept += __builtin_popcount(held & (u32)NUMBER(H0)); \
		NEXT; \
	}
AGREE(r, u32) AGREE(q, u64)

// same: row B has what row C has.
#define SAME(s, T) \
	STENCIL(FORM(same_##s)) { \
		const T *row = ROW_OF_##s(B), *want = ROW_OF_##s(C); \
		vector_##s diff = {0}; \
		DIFFER(s, ALL(m), *(vector_##s *)(row + i)) \
		if (ANY(diff)) \
			LEAVE; \
		NEXT; \
	}
SAME(r, u32) SAME(q, u64)

// copy has row D be row B.
#define COPY(s, T) \
	STENCIL(FORM(copy_##s)) { \
		const T *b = ROW_OF_##s(B); \
		T *d = ROW_OF_##s(D); \
		SHORT_LANES d[i] = BLEND(d[i], b[i]); \
		NEXT; \
	}
COPY(r, u32) COPY(q, u64)

// holds: the elements at H0 of the memory that reach has found are those of row C.
#define HOLDS(E, s) \
	STENCIL(FORM(holds_##E##_##s)) { \
		s64 step = ctx->step; \
		char *p = ctx->at + PLACE(H0); \
		const u64 first = __builtin_ctz(ALL(m)); \
		const typeof(*ROW_OF_##s(C)) *c = ROW_OF_##s(C); \
		E diff = 0; \
		HOLDS_AT(E) \
		if (diff) \
			LEAVE; \
		NEXT; \
	}
#ifdef MASKED
#define HOLDS_AT(E) \
	for (u32 n = (u32)m; n; n &= n - 1) { \
		int i = __builtin_ctz(n); \
		diff |= *(E##_u *)(p + ((s64)i - (s64)first) * step) ^ (E)c[i]; \
	}
#else
#define HOLDS_AT(E) \
	if (step == sizeof(E)) { \
		SHORT_LANES diff |= ((E##_u *)p)[i] ^ (E)c[i]; \
	} else { \
		_Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++, p += step) diff |= *(E##_u *)p ^ (E)c[i]; \
	}
#endif
HOLDS(u8, r) HOLDS(u16, r) HOLDS(u32, r) HOLDS(u8, q) HOLDS(u16, q) HOLDS(u32, q) HOLDS(u64, q)

#ifndef MASKED
// same_p: predicate B is what predicate C is, or, H0 being all ones, its complement.
STENCIL(same_p) {
	if ((PREDICATE(B) ^ PREDICATE(C) ^ (u32)NUMBER(H0)) & (u32)m)
		LEAVE;
	NEXT;
}

// copy_p has predicate D be predicate B.
STENCIL(copy_p) {
	u32 *d = AT(u32, D, P);
	*d = *d & ~(u32)m | PREDICATE(B) & (u32)m;
	NEXT;
}

// generic: the shadow A speaks for none of the lanes.
#define GENERIC(s) \
	STENCIL(generic_##s) { \
		if (SHADOW(A, s##_shadows)->mask & (u32)m) \
			OTHER; \
		NEXT; \
	}
GENERIC(r) GENERIC(q)

// note copies the shadow A to H0 of the notes: it is about to be overwritten.
#define NOTE(s) \
	STENCIL(note_##s) { \
		*(struct compact *)(ctx->notes + PLACE(H0)) = *SHADOW(A, s##_shadows); \
		NEXT; \
	}
NOTE(r) NOTE(q)

// tally adds H0 to the count at D.
STENCIL(tally) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += NUMBER(H0);
	NEXT;
}

// tally_level does if the result under way is the same in all lanes.
STENCIL(tally_level) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += spare ? 0 : NUMBER(H0);
	NEXT;
}

// told: somebody has said that memory is changed.
STENCIL(told) {
	if (!*ctx->changed)
		LEAVE;
	NEXT;
}

// alone: no lane lives that does not execute.
STENCIL(alone) {
	if (ctx->live & ~(u32)m)
		LEAVE;
	NEXT;
}
#else
// HAS is what a register, of shadow A and row B, has in the next lanes, from i on, wherever that is: v is what the shadow has.
#define HAS(s, i) ({ \
	vector_##s in = AMONG(s, held), has = STEPPED(v) & in | *(vector_##s *)(row + i) & ~in; \
	held >>= LANES_##s; \
	has; \
})
#define HELD(s, T) \
	const struct compact *c = SHADOW(A, s##_shadows); \
	const T *row = ROW_OF_##s(B); \
	u32 held = c->mask; \
	VALUES_OF(s, v, (T)c->base, (T)c->stride)

// idle notes what a register has at H0 of the notes; idled: the lanes that do not execute, and live, have it still.
#define IDLE(s, T) \
	STENCIL(idle_##s) { \
		if (!(ctx->live & ~(u32)m)) \
			NEXT; \
		HELD(s, T) \
		T *note = (T *)(ctx->notes + PLACE(H0)); \
		VECTORS(s, i) *(vector_##s *)(note + i) = HAS(s, i); \
		NEXT; \
	} \
	STENCIL(idled_##s) { \
		u32 idle = ctx->live & ~(u32)m; \
		if (!idle) \
			NEXT; \
		HELD(s, T) \
		const T *note = (const T *)(ctx->notes + PLACE(H0)); \
		vector_##s diff = {0}; \
		VECTORS(s, i) diff |= (HAS(s, i) ^ *(vector_##s *)(note + i)) & AMONG(s, idle), idle >>= LANES_##s; \
		if (ANY(diff)) \
			LEAVE; \
		NEXT; \
	}
IDLE(r, u32) IDLE(q, u64)
// before notes, at H0 of the notes, what is in memory where lanes that do not execute a store, and live, would store by
// the progression that reach has found: which lanes, and of each the HE bytes there. What is out of the allocation is
// nobody's. after: it is there still. Where all lanes store to one place there is nothing to note.
#define EACH_IDLE(al) \
	const char *from = (al)->ptr; \
	u64 bytes = (u32)NUMBER(HE), size = (al)->size; \
	s64 step = ctx->step, first = ctx->at - from - (s64)__builtin_ctz((u32)m) * step; \
	for (u32 n = step ? ctx->live & ~(u32)m : 0; n; n &= n - 1)
#define IDLE_AT(n) \
	int i = __builtin_ctz(n); \
	u64 at = (u64)(first + (s64)i * step); \
	if (at >= (size & -bytes)) \
		continue; \
	const char *p = from + at; \
	char *kept = note + sizeof(u64) + i * bytes;
#define MOVE(E, to, at) *(E##_u *)(to) = *(const E##_u *)(at)
#define DIFFERS(E, is, at) (*(const E##_u *)(is) != *(const E##_u *)(at))
#define BESIDE(name, al) \
	STENCIL(before_##name) { \
		char *note = ctx->notes + PLACE(H0); \
		u32 noted = 0; \
		EACH_IDLE(al) { \
			IDLE_AT(n) \
			noted |= n & -n; \
			if (bytes == 4) \
				MOVE(u32, kept, p); \
			else if (bytes == 1) \
				MOVE(u8, kept, p); \
			else if (bytes == 2) \
				MOVE(u16, kept, p); \
			else \
				_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 j = 0; j < bytes; j += 8) MOVE(u64, kept + j, p + j); \
		} \
		*(u32_u *)note = noted; \
		NEXT; \
	} \
	STENCIL(after_##name) { \
		char *note = ctx->notes + PLACE(H0); \
		u32 differ = 0; \
		EACH_IDLE(al) { \
			IDLE_AT(n) \
			if (bytes == 4) \
				differ |= DIFFERS(u32, kept, p); \
			else if (bytes == 1) \
				differ |= DIFFERS(u8, kept, p); \
			else if (bytes == 2) \
				differ |= DIFFERS(u16, kept, p); \
			else \
				_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 j = 0; j < bytes; j += 8) differ |= DIFFERS(u64, kept + j, p + j); \
		} \
		if (differ) \
			LEAVE; \
		NEXT; \
	}
BESIDE(hit, *(struct allocation **)((char *)ctx->hits + PLACE(H1)))
BESIDE(shared, ctx->shared)

STENCIL(idle_p) {
	*(u32 *)(ctx->notes + PLACE(H0)) = PREDICATE(B);
	NEXT;
}
STENCIL(idled_p) {
	if ((PREDICATE(B) ^ *(u32 *)(ctx->notes + PLACE(H0))) & ctx->live & ~(u32)m)
		LEAVE;
	NEXT;
}
#endif
