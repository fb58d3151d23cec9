// Stencils for divergence and reconvergence of the lanes of a warp under policy stack (reconvergence.go and stack.go of package warp).
// At each exit from machine code, Go imports the warp splits and reconvergence points.

#include "rows.h"
#include "warp.h"

#ifndef MASKED
// diverge_X starts a reconvergence at block H0. The lanes of outcome take the branch to block B, and the rest goes to block
// A. The rest runs first, except under diverge_target, where A is block H0. It exits if there are too many splits.
#define DIVERGE(name, pushes, ...) \
	STENCIL(diverge_##name) { \
		struct warp *w = WARP; \
		u32 taken = (u32)outcome, rest = (u32)m & ~taken; \
		u64 n = w->num_reconvergences; \
		struct reconvergence *j = w->reconvergences + n - 1; \
		int found = n != 0 && j->pc == (s32)NUMBER(H0); \
		if (!w->full || n + !found > w->max_depth || w->num_splits + pushes > w->max_depth) \
			LEAVE; \
		if (!found) { \
			*++j = (struct reconvergence){(s32)NUMBER(H0), (u32)m}; \
			w->num_reconvergences = n + 1; \
		} \
		count_lanes(w, m); \
		ctx->branches++; \
		w->divergent_branches++; \
		ctx->reconverge_at = (s32)NUMBER(H0); \
		__VA_ARGS__ \
	}
#define ARRIVE(lanes) j->arrived |= lanes, j->arrivals++
DIVERGE(both, 1,
	w->splits[w->num_splits++] = (struct split){(s32)PLACE(HB), taken, w->num_reconvergences};
	m = rest;
	GO_TO_BLOCK(PLACE(HA));)
DIVERGE(next, 0,
	ARRIVE(taken);
	m = rest;
	GO_TO_BLOCK(PLACE(HA));)
DIVERGE(target, 0,
	ARRIVE(rest);
	m = taken;
	GO_TO_BLOCK(PLACE(HB));)

// exit_X ends the lanes that a branch sends to an exit: the lanes of outcome (exit_target) or the rest (exit_next), for
// which the exit is an additional instruction. The remaining lanes go to block A; H0 is the branch at the block's end.
// OTHER is arrive.
#define EXIT(name, exited) \
	STENCIL(exit_##name) { \
		struct warp *w = WARP; \
		u32 lanes = exited; \
		if (!w->full || !w->may_exit) \
			LEAVE; \
		count_lanes(w, m); \
		m &= ~(u64)lanes; \
		w->lane_instrs += (u64)__builtin_popcount(lanes); \
		w->counted_up_to++, ctx->count++, ctx->count_limit++; \
		if (w->scheduler) \
			w->scheduler->slice_end++; \
		w->divergent_branches++, w->exit_branches++; \
		ctx->live &= ~lanes; \
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->num_reconvergences; i++) \
			w->reconvergences[i].lanes &= ~lanes; \
		if (ctx->reconverge_at == (s32)PLACE(HA)) { \
			ctx->mask = (u32)m; \
			ctx->pc = (s32)NUMBER(H0); \
			outcome = PLACE(HA); \
			spare = 1; \
			OTHER; \
		} \
		ctx->branches++; \
		GO_TO_BLOCK(PLACE(HA)); \
	}
EXIT(target, (u32)outcome)
EXIT(next, (u32)m & ~(u32)outcome)

// go_to_arrive is at the end of a block whose lanes go to block A, their reconvergence point. H0 is the block's end, H1 the
// number of executed branches. It jumps to OTHER, which is arrive.
STENCIL(go_to_arrive) {
	ctx->pc = (s32)NUMBER(H0);
	outcome = PLACE(HA);
	spare = NUMBER(H1);
	OTHER;
}

// arrive makes the lanes that have come to block outcome wait. Then all lanes of the reconvergence continue if they have
// arrived; otherwise another split of it runs. If machine code knows no such split, it exits to Go.
STENCIL(arrive) {
	struct warp *w = WARP;
	u64 n = w->num_reconvergences;
	struct reconvergence *j = w->reconvergences + n - 1;
	struct split *o = w->splits + (u64)w->num_splits - 1; // the split to run next
	if (n == 0 || !w->full || ((j->arrived | (u32)m) != j->lanes && (w->num_splits == 0 || o->depth != n))) {
		ctx->reason = RECONVERGES;
		ctx->lanes = (u32)m;
		return;
	}
	ctx->branches += spare;
	count_lanes(w, m);
	s32 pc = (s32)outcome;
	for (;;) {
		ARRIVE((u32)m);
		if (j->arrived != j->lanes) {
			if (w->num_splits == 0 || o->depth != n) { // an outer reconvergence, whose remaining lanes only Go knows
				w->num_reconvergences = n;
				ctx->mask = 0;
				ctx->reason = NO_SPLIT;
				return;
			}
			pc = o->pc;
			m = o->lanes;
			w->num_splits--;
			break;
		}
		w->reconverged += j->arrivals > 1;
		m = j->lanes;
		if (--n == 0 || (--j)->pc != pc)
			break;
	}
	w->num_reconvergences = n;
	ctx->reconverge_at = n ? w->reconvergences[n - 1].pc : -1;
	GO_TO_BLOCK(pc);
}
#endif
