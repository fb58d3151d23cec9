// Stencils that schedule the warps of a CTA until there is work for Go, in the order of runWarps of package grid.

#include "rows.h"
#include "warp.h"

#ifndef MASKED
// all_lanes_run reports whether the warp is scheduled together with other warps and all its lanes are in m.
static inline int all_lanes_run(struct warp *w, u64 m) { return w->scheduler && w->scheduler->size && (u32)m == w->machine.known.live && w->num_splits == 0; }

// stop_warp stops the running of the warp in a state.
static inline void stop_warp(struct warp *w, u64 m, u32 state) {
	count_lanes(w, m);
	w->state = state;
	w->unsynced = 1;
	w->scheduler->dirty = 1;
}

// wait_at_barrier makes the warp wait at barrier A, a constant. It continues at block H0; H1 is the end of the block before
// it. The last warp to arrive continues, and the waiting warps become ready; otherwise OTHER switches to another warp. It
// exits if lanes of the warp are elsewhere, if the block after the barrier is a reconvergence point, or if warps wait at
// another barrier.
STENCIL(wait_at_barrier) {
	struct warp *w = WARP;
	struct scheduler *t = w->scheduler;
	u32 id = *ROW(u32, A);
	if (!all_lanes_run(w, m) || ctx->reconverge_at == (s32)NUMBER(H0) || t->waiters_in_go || id > 15 || (t->arrived_warps && t->barrier != id))
		LEAVE;
	t->barrier = id;
	if (++t->arrived_warps != t->live_warps) {
		ctx->pc = (s32)NUMBER(H0);
		w->barrier_block = (s32)NUMBER(H1);
		stop_warp(w, m, AT_BARRIER);
		OTHER;
	}
	t->arrived_warps = 0;
	t->dirty = 1;
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < t->size; i++) {
		struct warp *o = t->warps[i];
		if (o->state == AT_BARRIER) {
			o->state = READY;
			o->unsynced = 1;
		}
	}
	NEXT;
}

// warp_end ends the warp; OTHER switches to another warp. It exits if lanes of the warp are elsewhere, or if warps wait,
// possibly for this warp.
STENCIL(warp_end) {
	struct warp *w = WARP;
	if (!all_lanes_run(w, m) || !w->may_exit || w->scheduler->waiters_in_go || w->scheduler->arrived_warps)
		LEAVE;
	w->scheduler->live_warps--;
	stop_warp(w, m, ENDED);
	OTHER;
}

// check_ordered precedes the block H0, which begins with a globally ordered instruction. Unless the CTA is in the ordered
// half of a round, OTHER switches to another warp. It exits if the warp is not scheduled together with other warps.
STENCIL(check_ordered) {
	struct warp *w = WARP;
	if (!w->scheduler || !w->scheduler->size)
		LEAVE;
	if (w->scheduler->ordered)
		NEXT;
	ctx->pc = (s32)NUMBER(H0);
	stop_warp(w, m, AT_ORDERED);
	OTHER;
}

// add_cost follows an instruction that takes as long as H0 additional instructions: machine code exits earlier by H0.
STENCIL(add_cost) {
	u64 n = PLACE(H0);
	ctx->count_limit = ctx->count_limit > n ? ctx->count_limit - n : 0;
	NEXT;
}

// clear clears memory. volatile keeps the compiler from making it a call.
static inline void clear(char *p, u64 n) {
	u64 i = 0;
	for (; i + sizeof(vector_q) <= n; i += sizeof(vector_q))
		*(volatile vector_q *)(p + i) = (vector_q)0;
	for (; i + sizeof(u64) <= n; i += sizeof(u64))
		*(volatile u64_u *)(p + i) = 0;
	for (; i < n; i++)
		*(volatile char *)(p + i) = 0;
}

// start_next_cta starts the next CTA in the context of one that has ended, as startCTA of package grid does.
static inline void start_next_cta(struct scheduler *t, struct allocation *shared) {
	t->remaining--, t->completed++;
	t->stretch -= t->cost;
	if (++t->ctaid[0] == t->grid_width[0]) {
		t->ctaid[0] = 0;
		if (++t->ctaid[1] == t->grid_width[1]) {
			t->ctaid[1] = 0;
			t->ctaid[2]++;
		}
	}
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (int d = 0; d < 3; d++)
		t->ctaid_registers[d] = t->ctaid[d];
	clear(shared->data, shared->len);
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = 0; i < t->hit_slots; i++) { // cta.demote
		struct allocation **known = t->hits + ALLOCATIONS_KNOWN * i;
		if (!known[0])
			continue;
		_Pragma("clang loop unroll(full)") for (int j = ALLOCATIONS_KNOWN - 1; j; j--) known[j] = known[j - 1];
		known[0] = 0;
	}
	u64 count = 0, lane_instrs = 0, skipped = 0, branches = 0, divergent_branches = 0, reconverged = 0, exit_branches = 0;
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < t->size; i++) {
		struct warp *w = t->warps[i];
		struct context *c = &w->machine.known;
		count += c->count, lane_instrs += w->lane_instrs, skipped += c->skipped, branches += c->branches;
		divergent_branches += w->divergent_branches, reconverged += w->reconverged, exit_branches += w->exit_branches;
		c->count = c->skipped = c->branches = w->lane_instrs = w->counted_up_to = w->divergent_branches = w->reconverged = w->exit_branches = 0;
		c->mask = c->live = i + 1 == t->size ? t->last_lanes : t->first_lanes;
		c->reconverge_at = -1;
		c->pc = t->entry_pc;
		w->max_depth = sizeof w->reconvergences / sizeof *w->reconvergences;
		w->may_exit = 1;
		w->num_reconvergences = w->num_splits = 0;
		w->state = READY;
		w->unsynced = 0;
		_Pragma("clang loop unroll(full)") for (int d = 0; d < 3; d++)
			if (t->ctaid_sources[d] >= 0)
				*(u64 *)(w->machine.sources + t->ctaid_sources[d]) = t->ctaid[d];
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 k = 0; k < t->num_zero_rows; k++) {
			u64 row = t->zero_rows[k].row;
			switch (t->zero_rows[k].slot) {
			case 1: clear(w->machine.r + row * 4 * 32, 4 * 32); break;
			case 2: clear(w->machine.q + row * 8 * 32, 8 * 32); break;
			default: *(u32 *)(w->machine.p + row * 4) = 0;
			}
		}
		if (t->shadow_bytes[0] | t->shadow_bytes[1]) {
			clear(c->r_shadows, t->shadow_bytes[0]);
			clear(c->q_shadows, t->shadow_bytes[1]);
		}
	}
	t->count += count, t->lane_instrs += lane_instrs, t->skipped += skipped, t->branches += branches;
	t->divergent_branches += divergent_branches, t->reconverged += reconverged, t->exit_branches += exit_branches;
	t->live_warps = t->size;
	t->instrs_left = t->instrs_per_cta;
	t->running = t->size - 1;
	t->dirty = 1;
	t->warps_visited = -1; // which its first warp, that can run, makes 0
}

// switch_warp runs the next ready warp, unless Go has work to do. If all warps have ended, it runs the first warp of the
// next CTA, if permitted.
STENCIL(switch_warp) {
	struct scheduler *t = WARP->scheduler;
	s64 count = (s64)ctx->count;
	t->instrs_left -= count - t->slice_start;
	t->stretch -= count - (s64)ctx->count_limit + t->granted;
	t->slice_start = count;
	if (t->live_warps == 0 && t->remaining && t->instrs_left > 0)
		start_next_cta(t, ctx->shared);
	u32 i = t->running;
	for (u32 k = t->instrs_left > 0 ? t->size : 0; k; k--) {
		if (++i == t->size)
			i = 0;
		struct warp *w = t->warps[i];
		if (w->state != READY && w->state != READY_IN_GO)
			continue;
		u32 lanes = w->machine.known.mask;
		stencil **to = lanes == 0xffffffff ? t->full : t->masked;
		count = (s64)w->machine.known.count;
		if (w->state == READY_IN_GO || count > t->max_count || !to)
			break;
		t->running = i;
		t->switched = 1;
		t->warps_visited += t->size - k + 1;
		t->slice_length = t->instrs_left < t->quantum ? t->instrs_left : t->quantum;
		t->slice_start = count;
		t->slice_end = count + t->slice_length;
		w->unsynced = 1;
		ctx = (struct context *)w;
		t->granted = t->slice_length < t->stretch ? t->slice_length : t->stretch;
		ctx->count_limit = (u64)(count + t->granted);
		m = lanes;
		R = w->machine.r;
		Q = w->machine.q;
		P = w->machine.p;
		if (t->stretch <= 0) {
			ctx->reason = BUDGET_USED;
			return;
		}
		__attribute__((musttail)) return to[ctx->pc](ctx, m, outcome, spare, R, Q, P, K);
	}
	ctx->reason = SWITCHED_WARP;
}
#endif
