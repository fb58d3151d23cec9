// Stencils of check mode: the registers of the reference lie behind those of the program, and what both have is compared.
// Where it differs they leave.

#include "stencil.h"
#include "vector.h"

#ifdef MASKED
#define ALL(m) (u32)(m)
#else
#define ALL(m) 0xffffffff
#endif

#define ROW_OF_r(X) ROW(u32, X)
#define ROW_OF_q(X) WIDE(u64, X)

// A program has many of these, and what is long in each would not fit the host's cache of instructions. So that is in
// functions, one of each for a program, which stencils call at OTHER's place. They keep
// the registers that stencils have values in.
#define FUNCTION(s, name) __attribute__((preserve_most)) u64 name(const struct compact *c, element_##s *row, element_##s *want, u64 lanes)
typedef FUNCTION(r, function_r);
typedef FUNCTION(q, function_q);
#define CALL(s, ...) ((function_##s *)other)(__VA_ARGS__)

#ifndef MASKED
// FROM has v be what a shadow has in the first lanes, STEPPED gives it and goes on to the next.
#define FROM(s, v, c) \
	vector_##s v##_stride = (vector_##s)(element_##s)(c)->stride, v##_step = v##_stride * LANES_##s; \
	vector_##s v = (vector_##s)(element_##s)(c)->base + MULTIPLES_##s(v##_stride);
#define STEPPED(v) ({ typeof(v) now = v; v += v##_step; now; })

// call_unlike: of some lanes, one of row is not as wanted.
#define UNLIKE(s) \
	static inline vector_##s unlike_all_##s(element_##s *row, element_##s *want) { \
		vector_##s diff = {0}; \
		VECTORS(s, i) diff |= VECTOR(s, row, i) ^ VECTOR(s, want, i); \
		return diff; \
	} \
	static inline vector_##s unlike_some_##s(element_##s *row, element_##s *want, u64 lanes) { \
		vector_##s diff = {0}; \
		VECTORS(s, i) diff |= (VECTOR(s, row, i) ^ VECTOR(s, want, i)) & AMONG(s, lanes, i); \
		return diff; \
	} \
	FUNCTION(s, call_unlike_##s) { return ANY(lanes == 0xffffffff ? unlike_all_##s(row, want) : unlike_some_##s(row, want, lanes)); }
UNLIKE(r) UNLIKE(q)

// call_differs: of some lanes, what a register of shadow c and row has is not as wanted: in the shadow for lanes that it speaks for, in
// the row for others and those it is clean for.
#define DIFFERS(s) \
	FUNCTION(s, call_differs_##s) { \
		u64 held = c->mask & lanes, rows = lanes & ~(held & ~(u64)c->clean); \
		vector_##s diff = {0}; \
		if (rows == 0xffffffff) \
			diff = unlike_all_##s(row, want); \
		else if (rows) \
			diff = unlike_some_##s(row, want, rows); \
		if (!held) \
			return ANY(diff); \
		FROM(s, v, c) \
		if (held == 0xffffffff) { \
			VECTORS(s, i) diff |= STEPPED(v) ^ VECTOR(s, want, i); \
		} else { \
			VECTORS(s, i) diff |= (STEPPED(v) ^ VECTOR(s, want, i)) & AMONG(s, held, i); \
		} \
		return ANY(diff) | (c->base != (element_##s)c->base) | (c->stride != (element_##s)c->stride); \
	}
DIFFERS(r) DIFFERS(q)

// call_note copies what a register has to where want is; call_moved: in some lanes it has something else than is noted there.
#define HAS(s, i) ({ \
	vector_##s in = AMONG(s, c->mask, i); \
	STEPPED(v) & in | VECTOR(s, row, i) & ~in; \
})
#define NOTED(s) \
	FUNCTION(s, call_note_##s) { \
		if (!c->mask) { \
			VECTORS(s, i) VECTOR(s, want, i) = VECTOR(s, row, i); \
			return 0; \
		} \
		FROM(s, v, c) \
		VECTORS(s, i) VECTOR(s, want, i) = HAS(s, i); \
		return 0; \
	} \
	FUNCTION(s, call_moved_##s) { \
		vector_##s diff = {0}; \
		if (!c->mask) \
			return ANY(unlike_some_##s(row, want, lanes)); \
		FROM(s, v, c) \
		VECTORS(s, i) diff |= (HAS(s, i) ^ VECTOR(s, want, i)) & AMONG(s, lanes, i); \
		return ANY(diff); \
	}
NOTED(r) NOTED(q)
#endif

// agree: a register, of shadow A and row B, has what row C has: other is call_differs. Lanes of H0 that the shadow speaks for are
// counted.
#define AGREE(s) \
	STENCIL(FORM(agree_##s)) { \
		const struct compact *c = SHADOW(A, s##_shadows); \
		if (CALL(s, c, ROW_OF_##s(B), ROW_OF_##s(C), ALL(m))) \
			LEAVE; \
		ctx->compared_compact += __builtin_popcount(c->mask & ALL(m) & (u32)NUMBER(H0)); \
		NEXT; \
	}
AGREE(r) AGREE(q)

#ifndef MASKED
// agreed is agree of a register whose shadow speaks for all lanes, agreed_both that of one whose row has all of them, too: it is not worth a call.
// Others go to OTHER. H0 is how many lanes are counted.
#define AGREED(name, s, has, ...) \
	STENCIL(name##_##s) { \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const element_##s *want = ROW_OF_##s(C); \
		if (c->both != (has)) \
			OTHER; \
		FROM(s, v, c) \
		__VA_ARGS__ \
		VECTORS(s, i) diff |= STEPPED(v) ^ VECTOR(s, want, i); \
		if (ANY(diff) || (c->base | c->stride) != (element_##s)(c->base | c->stride)) \
			LEAVE; \
		ctx->compared_compact += PLACE(H0); \
		NEXT; \
	}
#define AGREED_BOTH(s) AGREED(agreed_both, s, ~0ul, vector_##s diff = unlike_all_##s(ROW_OF_##s(B), ROW_OF_##s(C));)
AGREED(agreed, r, 0xffffffff, vector_r diff = {0};) AGREED(agreed, q, 0xffffffff, vector_q diff = {0};) AGREED_BOTH(r) AGREED_BOTH(q)
#endif

// still: the shadow A, which was compared before, has what row C has in lanes that it speaks for. Two lanes that are next to each other tell, for
// what has the same values there has the same base and stride.
#ifdef MASKED
#define NEIGHBOURS(m) \
	u32 lane = __builtin_ctz((u32)(m)), beside = lane + (((u32)(m) & ((u32)(m) - 1)) != 0); \
	if (!((u32)(m) >> beside & 1)) \
		NEXT;
#else
#define NEIGHBOURS(m) const u32 lane = 0, beside = 1;
#endif
#define STILL(s) \
	STENCIL(FORM(still_##s)) { \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const element_##s *want = ROW_OF_##s(C); \
		NEIGHBOURS(m) \
		if ((element_##s)(c->base + lane * c->stride) == want[lane] && (element_##s)(c->base + beside * c->stride) == want[beside]) \
			OTHER; \
		NEXT; \
	}
STILL(r) STILL(q)

// same: row B has what row C has, in lanes that execute: if some do, other is call_unlike.
#ifdef MASKED
#define UNLIKE_ROWS(s) CALL(s, (struct compact *)0, ROW_OF_##s(B), ROW_OF_##s(C), (u32)m)
#else
#define UNLIKE_ROWS(s) ANY(unlike_all_##s(ROW_OF_##s(B), ROW_OF_##s(C)))
#endif
#define SAME(s) \
	STENCIL(FORM(same_##s)) { \
		if (UNLIKE_ROWS(s)) \
			LEAVE; \
		NEXT; \
	}
SAME(r) SAME(q)

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

// note copies the shadow A to H0 of the notes: it is about to be overwritten. It is read in parts that have been written at once: else it
// would not come from the store buffer.
#define NOTE(s) \
	STENCIL(note_##s) { \
		volatile struct compact *c = SHADOW(A, s##_shadows), *note = (volatile struct compact *)(ctx->notes + PLACE(H0)); \
		note->base = c->base; \
		note->stride = c->stride; \
		note->both = c->both; \
		NEXT; \
	}
NOTE(r) NOTE(q)

// tally adds H0 to the count at D.
STENCIL(tally) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += NUMBER(H0);
	NEXT;
}

// tally_uniform does if the result under way is the same in all lanes.
STENCIL(tally_uniform) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += spare ? 0 : NUMBER(H0);
	NEXT;
}

// memory_changed leaves if the flag is not set that memory is changed.
STENCIL(memory_changed) {
	if (!*ctx->memory_changed)
		LEAVE;
	NEXT;
}

// all_active leaves if a live lane does not execute.
STENCIL(all_active) {
	if (ctx->live & ~(u32)m)
		LEAVE;
	NEXT;
}
#else
// idle notes what a register, of shadow A and row B, has at H0 of the notes: other is call_note; idled: the lanes that do not execute,
// and live, have it still: other is call_moved.
#define IDLE(s) \
	STENCIL(idle_##s) { \
		if (ctx->live & ~(u32)m) \
			CALL(s, SHADOW(A, s##_shadows), ROW_OF_##s(B), (void *)(ctx->notes + PLACE(H0)), 0); \
		NEXT; \
	} \
	STENCIL(idled_##s) { \
		u32 idle = ctx->live & ~(u32)m; \
		if (idle && CALL(s, SHADOW(A, s##_shadows), ROW_OF_##s(B), (void *)(ctx->notes + PLACE(H0)), idle)) \
			LEAVE; \
		NEXT; \
	}
IDLE(r) IDLE(q)
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
#define UNEQUAL(E, is, at) (*(const E##_u *)(is) != *(const E##_u *)(at))
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
				differ |= UNEQUAL(u32, kept, p); \
			else if (bytes == 1) \
				differ |= UNEQUAL(u8, kept, p); \
			else if (bytes == 2) \
				differ |= UNEQUAL(u16, kept, p); \
			else \
				_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 j = 0; j < bytes; j += 8) differ |= UNEQUAL(u64, kept + j, p + j); \
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
