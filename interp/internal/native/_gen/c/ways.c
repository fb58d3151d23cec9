// Stencils for lanes of a warp that part at a branch and meet again, as reconvergence policy stack has it (joins.go and
// stack.go of package simt). What they know of ways and meetings is Go's again whenever machine code comes back.

#include "rows.h"
#include "ways.h"

#ifndef MASKED
// part_X has the lanes that take a branch, of which outcome says which do, go to block B, and the others to block A;
// their ways meet at block H0. First those go on that go to A, but for part_target, where A is that block. It leaves if
// there are too many ways.
#define PART(name, pushes, ...) \
	STENCIL(part_##name) { \
		struct ways *w = WAYS; \
		u32 taken = (u32)outcome, rest = (u32)m & ~taken; \
		u64 n = w->meetings; \
		struct meeting *j = w->meeting + n - 1; \
		int has = n != 0 && j->pc == (s32)NUMBER(H0); \
		if (!w->full || n + !has > w->most || w->others + pushes > w->most) \
			LEAVE; \
		if (!has) { \
			*++j = (struct meeting){(s32)NUMBER(H0), (u32)m}; \
			w->meetings = n + 1; \
		} \
		settle(w, m); \
		ctx->branches++; \
		w->divergent++; \
		ctx->stop = (s32)NUMBER(H0); \
		__VA_ARGS__ \
	}
#define COMES(lanes) j->here |= lanes, j->arrivals++
PART(both, 1,
	w->routes[w->others++] = (struct route){(s32)PLACE(HB), taken, w->meetings};
	m = rest;
	AT_BLOCK(PLACE(HA));)
PART(next, 0,
	COMES(taken);
	m = rest;
	AT_BLOCK(PLACE(HA));)
PART(target, 0,
	COMES(rest);
	m = taken;
	AT_BLOCK(PLACE(HB));)

// leave_X has the lanes end that a branch takes to an exit, for leave_next those that it does not take: that is an
// instruction more. The others go to block A; H0 is the end of the branch's. other is arrive.
#define LEAVES(name, those) \
	STENCIL(leave_##name) { \
		struct ways *w = WAYS; \
		u32 lanes = those; \
		if (!w->full || !w->ends) \
			LEAVE; \
		settle(w, m); \
		m &= ~(u64)lanes; \
		w->slots += (u64)__builtin_popcount(lanes); \
		w->since++, ctx->count++, ctx->enough++; \
		if (w->team) \
			w->team->end++; \
		w->divergent++, w->leaves++; \
		ctx->live &= ~lanes; \
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->meetings; i++) \
			w->meeting[i].lanes &= ~lanes; \
		if (ctx->stop == (s32)PLACE(HA)) { \
			ctx->mask = (u32)m; \
			ctx->pc = (s32)NUMBER(H0); \
			outcome = PLACE(HA); \
			spare = 1; \
			OTHER; \
		} \
		ctx->branches++; \
		AT_BLOCK(PLACE(HA)); \
	}
LEAVES(target, (u32)outcome)
LEAVES(next, (u32)m & ~(u32)outcome)

// come is at the end of a block from which lanes go to block A, where they meet others. H0 is the block's end, H1 how
// many branches that is. It goes to other, which is arrive.
STENCIL(come) {
	ctx->pc = (s32)NUMBER(H0);
	outcome = PLACE(HA);
	spare = NUMBER(H1);
	OTHER;
}

// arrive has the lanes wait that have come to block outcome, and others go on: all of the meeting if they are there, else
// those that went another way. If there are none that it knows of, it is Go's.
STENCIL(arrive) {
	struct ways *w = WAYS;
	u64 n = w->meetings;
	struct meeting *j = w->meeting + n - 1;
	struct route *o = w->routes + (u64)w->others - 1; // the one that goes on
	if (n == 0 || !w->full || ((j->here | (u32)m) != j->lanes && (w->others == 0 || o->meetings != n))) {
		ctx->reason = MEETS;
		ctx->lanes = (u32)m;
		return;
	}
	ctx->branches += spare;
	settle(w, m);
	s32 pc = (s32)outcome;
	for (;;) {
		COMES((u32)m);
		if (j->here != j->lanes) {
			if (w->others == 0 || o->meetings != n) { // it is an outer one, where Go knows of the others
				w->meetings = n;
				ctx->mask = 0;
				ctx->reason = NOBODY;
				return;
			}
			pc = o->pc;
			m = o->lanes;
			w->others--;
			break;
		}
		w->meets += j->arrivals > 1;
		m = j->lanes;
		if (--n == 0 || (--j)->pc != pc)
			break;
	}
	w->meetings = n;
	ctx->stop = n ? w->meeting[n - 1].pc : -1;
	AT_BLOCK(pc);
}
#endif
