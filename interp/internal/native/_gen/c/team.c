// Stencils for the warps of a CTA, which take turns until Go has something to do, as cta.go of package simt has it.

#include "rows.h"
#include "ways.h"

#ifndef MASKED
// whole reports whether the warp takes turns with others and all its lanes are those of m.
static inline int whole(struct ways *w, u64 m) { return w->team && w->team->size && (u32)m == w->rest.known.live && w->others == 0; }

// stops has the warp not run any more.
static inline void stops(struct ways *w, u64 m, u32 state) {
	settle(w, m);
	w->state = state;
	w->touched = 1;
	w->team->dirty = 1;
}

// meet_barrier has the warp wait at barrier A, a constant, behind which it goes on at block H0: H1 is the end of the block
// before it. If it is the last to come it goes on, and the others are ready; otherwise another has its turn, at other. It
// leaves if lanes of the warp are elsewhere, if they meet others behind the barrier, or if warps wait elsewhere.
STENCIL(meet_barrier) {
	struct ways *w = WAYS;
	struct team *t = w->team;
	u32 id = *ROW(u32, A);
	if (!whole(w, m) || ctx->stop == (s32)NUMBER(H0) || t->apart || id > 15 || (t->arrived && t->barrier != id))
		LEAVE;
	t->barrier = id;
	if (++t->arrived != t->live) {
		ctx->pc = (s32)NUMBER(H0);
		w->at = (s32)NUMBER(H1);
		stops(w, m, WAITS);
		OTHER;
	}
	t->arrived = 0;
	t->dirty = 1;
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < t->size; i++) {
		struct ways *o = t->warps[i];
		if (o->state == WAITS) {
			o->state = READY;
			o->touched = 1;
		}
	}
	NEXT;
}

// warp_end has the warp end, and another have its turn, at other. It leaves if lanes of the warp are elsewhere, or if warps
// wait, which may have waited for this one.
STENCIL(warp_end) {
	struct ways *w = WAYS;
	if (!whole(w, m) || !w->ends || w->team->apart || w->team->arrived)
		LEAVE;
	w->team->live--;
	stops(w, m, ENDED);
	OTHER;
}

// look is before a block at H0 that the CTA may only execute in its turn. If it is not, another warp has its turn, at other. It
// leaves where warps do not take turns.
STENCIL(look) {
	struct ways *w = WAYS;
	if (!w->team || !w->team->size)
		LEAVE;
	if (w->team->may)
		NEXT;
	ctx->pc = (s32)NUMBER(H0);
	stops(w, m, STANDS);
	OTHER;
}

// slow is behind what takes as long as H0 others: machine code comes back so much earlier.
STENCIL(slow) {
	s64 n = NUMBER(H0);
	struct team *t = WAYS->team;
	ctx->enough = ctx->enough > (u64)n ? ctx->enough - (u64)n : 0;
	if (t)
		t->allowed -= n;
	NEXT;
}

// turn gives the next warp that is ready its turn, if Go need not.
STENCIL(turn) {
	struct team *t = WAYS->team;
	s64 count = (s64)ctx->count;
	t->left -= count - t->began;
	t->allowed -= count - t->entered;
	t->began = t->entered = count;
	u32 i = t->now;
	for (u32 k = t->left > 0 ? t->size : 0; k; k--) {
		if (++i == t->size)
			i = 0;
		struct ways *w = t->warps[i];
		if (w->state != READY && w->state != STOPS)
			continue;
		u32 lanes = w->rest.known.mask;
		stencil **to = lanes == 0xffffffff ? t->full : t->some;
		count = (s64)w->rest.known.count;
		if (w->state == STOPS || count > t->most || !to)
			break;
		t->now = i;
		t->turned = 1;
		t->steps += t->size - k + 1;
		t->share = t->left < t->quantum ? t->left : t->quantum;
		t->began = t->entered = count;
		t->end = count + t->share;
		w->touched = 1;
		ctx = (struct context *)w;
		ctx->enough = (u64)(count + (t->share < t->allowed ? t->share : t->allowed));
		m = lanes;
		R = w->rest.r;
		Q = w->rest.q;
		P = w->rest.p;
		if (t->allowed <= 0) {
			ctx->reason = USED;
			return;
		}
		__attribute__((musttail)) return to[ctx->pc](ctx, m, outcome, spare, R, Q, P, K);
	}
	ctx->reason = TURNED;
}
#endif
