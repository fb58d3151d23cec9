// Stencils of check mode: the registers of the reference lie behind those of the program, and what both have is compared.
// Where it differs they leave.

#include "stencil.h"

#ifdef MASKED
#define OF_LANES(i, diff) ((diff) & -(typeof((diff) + 0u))ACTIVE(i))
#define ALL(m) (u32)(m)
#else
#define OF_LANES(i, diff) (diff)
#define ALL(m) 0xffffffff
#endif

#define ROW_OF_r(X) ROW(u32, X)
#define ROW_OF_q(X) WIDE(u64, X)

// agree: a register, of shadow A and row B, has what row C has: in the shadow for lanes that it speaks for, in the row for
// others and those it is clean for. Lanes of H0 that the shadow speaks for are counted.
#define AGREE(s, T) \
	STENCIL(FORM(agree_##s)) { \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const T *row = ROW_OF_##s(B), *want = ROW_OF_##s(C); \
		u32 held = c->mask & ALL(m), clean = c->clean; \
		T base = (T)c->base, stride = (T)c->stride, diff = 0; \
		if (held && (base != c->base || stride != c->stride)) \
			LEAVE; \
		if (held == ALL(m) && !(clean & held)) { \
			SHORT_LANES diff |= OF_LANES(i, want[i] ^ (base + (T)i * stride)); \
		} else { \
			u32 rows = ~held | clean; \
			LANES { \
				T in = -(T)(held >> i & 1), from = -(T)(rows >> i & 1); \
				diff |= OF_LANES(i, (want[i] ^ (base + (T)i * stride)) & in | (want[i] ^ row[i]) & from); \
			} \
		} \
		if (diff) \
			LEAVE; \
		ctx->kept += __builtin_popcount(held & (u32)NUMBER(H0)); \
		NEXT; \
	}
AGREE(r, u32) AGREE(q, u64)

// same: row B has what row C has.
#define SAME(s, T) \
	STENCIL(FORM(same_##s)) { \
		const T *row = ROW_OF_##s(B), *want = ROW_OF_##s(C); \
		T diff = 0; \
		SHORT_LANES diff |= OF_LANES(i, want[i] ^ row[i]); \
		if (diff) \
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
// VALUE is what a register has in lane i, wherever that is.
#define VALUE(T) \
	T in = -(T)(held >> i & 1); \
	T v = row[i] & ~in | (base + (T)i * stride) & in;

// idle notes what a register, of shadow A and row B, has, at H0 of the notes; idled: the lanes that do not execute, and live,
// have it still.
#define IDLE(s, T) \
	STENCIL(idle_##s) { \
		if (!(ctx->live & ~(u32)m)) \
			NEXT; \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const T *row = ROW_OF_##s(B); \
		T *note = (T *)(ctx->notes + PLACE(H0)), base = (T)c->base, stride = (T)c->stride; \
		u32 held = c->mask; \
		LANES { \
			VALUE(T) \
			note[i] = v; \
		} \
		NEXT; \
	} \
	STENCIL(idled_##s) { \
		u32 idle = ctx->live & ~(u32)m; \
		if (!idle) \
			NEXT; \
		const struct compact *c = SHADOW(A, s##_shadows); \
		const T *row = ROW_OF_##s(B), *note = (const T *)(ctx->notes + PLACE(H0)); \
		T base = (T)c->base, stride = (T)c->stride, diff = 0; \
		u32 held = c->mask; \
		LANES { \
			VALUE(T) \
			diff |= (v ^ note[i]) & -(T)(idle >> i & 1); \
		} \
		if (diff) \
			LEAVE; \
		NEXT; \
	}
IDLE(r, u32) IDLE(q, u64)
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
