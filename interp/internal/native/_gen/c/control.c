// Stencils between instructions: guards, ends of blocks, ways out.

#include "stencil.h"

#ifndef MASKED
// begin counts the H0 PTX instructions of a block.
STENCIL(begin) {
	ctx->count += NUMBER(H0);
	NEXT;
}

// guard is before what executes where predicate A holds, or, H0 being all ones, where it does
// not; other is the unguard behind it.
STENCIL(guard) {
	m = ctx->mask & (PREDICATE(A) ^ (u32)NUMBER(H0));
	if ((u32)m == 0)
		OTHER;
	NEXT;
}

// unguard is behind it.
STENCIL(unguard) {
	m = ctx->mask;
	NEXT;
}

// unguard_counted is unguard that counts the lanes kept back: not before, for what is guarded may leave, to be
// executed by Go.
STENCIL(unguard_counted) {
	ctx->skipped += __builtin_popcount(ctx->mask & ~(u32)m);
	m = ctx->mask;
	NEXT;
}

// branch goes to other if all lanes do, next if none does, and leaves if they part, with the lanes that do.
STENCIL(branch) {
	u32 taken = (PREDICATE(A) ^ (u32)NUMBER(H0)) & (u32)m;
	if (taken == (u32)m)
		OTHER;
	if (taken != 0) {
		outcome = taken;
		LEAVE;
	}
	NEXT;
}

// edge is on the way to block H0, which leaves if lanes meet there. H1 is how many branches
// it is. If the budget is used up, it goes to other.
STENCIL(edge) {
	if (ctx->reconverge_at == (s32)NUMBER(H0) || ctx->notify_every_block)
		LEAVE;
	ctx->branches += NUMBER(H1);
	if (ctx->count >= ctx->count_limit)
		OTHER;
	NEXT;
}

// out stops at instruction H0 for reason H1.
STENCIL(out) {
	ctx->pc = (s32)NUMBER(H0);
	ctx->reason = (u32)NUMBER(H1);
	ctx->lanes = (u32)m;
}

// jump goes on elsewhere.
STENCIL(jump) { OTHER; }
#endif

// What becomes of the outcome of a comparison, by itself and combined with predicate C or, H0
// being all ones, its complement.
#define COMPARED(name, v) \
	STENCIL(FORM(name)) { \
		u32 t = (u32)outcome; \
		u32 *d = AT(u32, D, P); \
		*d = MERGE(*d, (u32)(v)); \
		NEXT; \
	}
#define COMBINED (PREDICATE(C) ^ (u32)NUMBER(H0))
COMPARED(compared, t)
COMPARED(compared_and, t & COMBINED)
COMPARED(compared_or, t | COMBINED)
COMPARED(compared_xor, t ^ COMBINED)
COMPARED(uncompared, ~t)
COMPARED(uncompared_and, ~t & COMBINED)
COMPARED(uncompared_or, ~t | COMBINED)
COMPARED(uncompared_xor, ~t ^ COMBINED)
