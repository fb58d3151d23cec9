// Stencils between instructions: guards, ends of blocks, exits.

#include "stencil.h"

#ifndef MASKED
// begin counts the H0 PTX instructions of a block.
STENCIL(begin) {
	ctx->count += NUMBER(H0);
	NEXT;
}

// guard sets the active mask of a guarded instruction: the lanes for which predicate A holds, or does not hold if all bits
// of H0 are set. If there are none it jumps to OTHER, the unguard after the instruction.
STENCIL(guard) {
	m = ctx->mask & (PREDICATE(A) ^ (u32)NUMBER(H0));
	if ((u32)m == 0)
		OTHER;
	NEXT;
}

// unguard restores the active mask after a guarded instruction.
STENCIL(unguard) {
	m = ctx->mask;
	NEXT;
}

// unguard_counted is unguard that counts the skipped lanes. It counts after the instruction, because the instruction may
// exit and be executed by Go.
STENCIL(unguard_counted) {
	ctx->skipped += __builtin_popcount(ctx->mask & ~(u32)m);
	m = ctx->mask;
	NEXT;
}

// branch jumps to OTHER if all lanes take the branch and continues if none does. If lanes diverge it exits, with the
// taking lanes as outcome.
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

// edge is on the way to block H0. It exits if H0 is the reconvergence point, or if every block is to be notified. It adds
// H1 to the number of executed branches. If the budget is used up, it jumps to OTHER.
STENCIL(edge) {
	if (ctx->reconverge_at == (s32)NUMBER(H0) || ctx->notify_every_block)
		LEAVE;
	ctx->branches += NUMBER(H1);
	if (ctx->count >= ctx->count_limit)
		OTHER;
	NEXT;
}

// out exits at instruction H0 with reason H1.
STENCIL(out) {
	ctx->pc = (s32)NUMBER(H0);
	ctx->reason = (u32)NUMBER(H1);
	ctx->lanes = (u32)m;
}

// jump continues elsewhere.
STENCIL(jump) { OTHER; }
#endif

// The outcome of a comparison, by itself and combined with predicate C or, if all bits of H0 are set, with its complement.
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
