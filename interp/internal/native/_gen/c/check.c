// Stencils of check mode. The reference's registers follow the program's. The stencils compare both, and leave if they
// differ.

#include "stencil.h"
#include "vector.h"

#ifdef MASKED
#define ALL(m) (u32)(m)
#else
#define ALL(m) 0xffffffff
#endif

#define ROW_OF_r(X) ROW(u32, X)
#define ROW_OF_q(X) WIDE(u64, X)

// A program has many of these stencils, and their long parts would not fit the host's instruction cache. The long parts are
// functions, each once in a program, which stencils call at OTHER. The functions preserve the registers in which stencils
// have values.
#define FUNCTION(s, name) __attribute__((preserve_most)) u64 name(const struct compact *c, element_##s *row, element_##s *want, u64 lanes)
typedef FUNCTION(r, function_r);
typedef FUNCTION(q, function_q);
#define CALL(s, ...) ((function_##s *)other)(__VA_ARGS__)

#ifndef MASKED
// FROM sets v to the shadow's values in the first lanes. STEPPED returns v and advances it to the next lanes.
#define FROM(s, v, c) \
	vector_##s v##_stride = (vector_##s)(element_##s)(c)->stride, v##_step = v##_stride * LANES_##s; \
	vector_##s v = (vector_##s)(element_##s)(c)->base + MULTIPLES_##s(v##_stride);
#define STEPPED(v) ({ typeof(v) now = v; v += v##_step; now; })

// call_unlike reports whether a row differs from the wanted row in some of the lanes.
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

// call_differs reports whether a register, with shadow c and a row, differs from the wanted row in some of the lanes. It
// compares the shadow for lanes that it covers, and the row for all further lanes and for materialised lanes.
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

// call_note copies a register to the note at want. call_moved reports whether the register differs from the note in some lanes.
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

// agree leaves unless a register, with shadow A and row B, equals row C. OTHER is call_differs. It counts the lanes of H0 that
// the shadow covers.
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
// agreed is agree for a register whose shadow covers all lanes, agreed_both for one that is in shadow and row for all
// lanes. They are short and call no function. For all other registers they jump to OTHER. H0 is the number of lanes to
// count.
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

// still jumps to OTHER if shadow A, which was compared before, still equals row C. It compares two neighbouring lanes: equal
// values there mean equal base and stride.
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

// same leaves unless row B equals row C in the executing lanes. In the masked form OTHER is call_unlike.
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

// copy copies row B to row D.
#define COPY(s, T) \
	STENCIL(FORM(copy_##s)) { \
		const T *b = ROW_OF_##s(B); \
		T *d = ROW_OF_##s(D); \
		SHORT_LANES d[i] = BLEND(d[i], b[i]); \
		NEXT; \
	}
COPY(r, u32) COPY(q, u64)

// holds leaves unless the elements at offset H0 of the memory found by reach equal row C.
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
// same_p leaves unless predicate B equals predicate C, or its complement if all bits of H0 are set.
STENCIL(same_p) {
	if ((PREDICATE(B) ^ PREDICATE(C) ^ (u32)NUMBER(H0)) & (u32)m)
		LEAVE;
	NEXT;
}

// copy_p copies predicate B to predicate D.
STENCIL(copy_p) {
	u32 *d = AT(u32, D, P);
	*d = *d & ~(u32)m | PREDICATE(B) & (u32)m;
	NEXT;
}

// generic jumps to OTHER if shadow A covers any of the executing lanes.
#define GENERIC(s) \
	STENCIL(generic_##s) { \
		if (SHADOW(A, s##_shadows)->mask & (u32)m) \
			OTHER; \
		NEXT; \
	}
GENERIC(r) GENERIC(q)

// note copies shadow A, which is about to be overwritten, to offset H0 of the notes. It reads the shadow in the parts in which
// it was written, so that the store buffer can forward them.
#define NOTE(s) \
	STENCIL(note_##s) { \
		volatile struct compact *c = SHADOW(A, s##_shadows), *note = (volatile struct compact *)(ctx->notes + PLACE(H0)); \
		note->base = c->base; \
		note->stride = c->stride; \
		note->both = c->both; \
		NEXT; \
	}
NOTE(r) NOTE(q)

// tally adds H0 to the counter at D.
STENCIL(tally) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += NUMBER(H0);
	NEXT;
}

// tally_uniform is tally if the current compact result is uniform.
STENCIL(tally_uniform) {
	*(u64 *)((char *)ctx->counts + PLACE(HD)) += spare ? 0 : NUMBER(H0);
	NEXT;
}

// memory_changed leaves unless the flag for changed memory is set.
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
// idle notes a register, with shadow A and row B, at offset H0 of the notes; OTHER is call_note. idled leaves unless the live
// lanes that do not execute still have the noted values; OTHER is call_moved.
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
// before notes, at offset H0 of the notes, the memory at which live lanes that do not execute a store would store by the
// affine address that reach has found: the mask of these lanes, and HE bytes for each. It omits bytes outside of the
// allocation. after leaves unless the memory is unchanged. If all lanes store to the same place, no note is needed.
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
