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
	u64 n = PLACE(H0);
	ctx->enough = ctx->enough > n ? ctx->enough - n : 0;
	NEXT;
}

// zeroes clears memory. What is volatile does not become a call.
static inline void zeroes(char *p, u64 n) {
	u64 i = 0;
	for (; i + sizeof(vector_q) <= n; i += sizeof(vector_q))
		*(volatile vector_q *)(p + i) = (vector_q)0;
	for (; i + sizeof(u64) <= n; i += sizeof(u64))
		*(volatile u64_u *)(p + i) = 0;
	for (; i < n; i++)
		*(volatile char *)(p + i) = 0;
}

// follow has the warps of a CTA that has ended be those of the next: cta.start of package simt.
static inline void follow(struct team *t, struct allocation *shared) {
	t->more--, t->followed++;
	t->allowed -= t->takes;
	if (++t->at[0] == t->width[0]) {
		t->at[0] = 0;
		if (++t->at[1] == t->width[1]) {
			t->at[1] = 0;
			t->at[2]++;
		}
	}
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (int d = 0; d < 3; d++)
		t->id[d] = t->at[d];
	zeroes(shared->data, shared->len);
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = 0; i < t->forgets; i++) { // cta.demote
		struct allocation **known = t->hits + ALLOCATIONS_KNOWN * i;
		if (!known[0])
			continue;
		_Pragma("clang loop unroll(full)") for (int j = ALLOCATIONS_KNOWN - 1; j; j--) known[j] = known[j - 1];
		known[0] = 0;
	}
	u64 executed = 0, slots = 0, held = 0, branches = 0, divergent = 0, meets = 0, leaves = 0;
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < t->size; i++) {
		struct ways *w = t->warps[i];
		struct context *c = &w->rest.known;
		executed += c->count, slots += w->slots, held += c->held, branches += c->branches;
		divergent += w->divergent, meets += w->meets, leaves += w->leaves;
		c->count = c->held = c->branches = w->slots = w->since = w->divergent = w->meets = w->leaves = 0;
		c->mask = c->live = i + 1 == t->size ? t->last : t->usual;
		c->stop = -1;
		c->pc = t->entry;
		w->most = sizeof w->meeting / sizeof *w->meeting;
		w->ends = 1;
		w->meetings = w->others = 0;
		w->state = READY;
		w->touched = 0;
		_Pragma("clang loop unroll(full)") for (int d = 0; d < 3; d++)
			if (t->sources[d] >= 0)
				*(u64 *)(w->rest.sources + t->sources[d]) = t->at[d];
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 k = 0; k < t->zeros; k++) {
			u64 row = t->zero[k].row;
			switch (t->zero[k].slot) {
			case 1: zeroes(w->rest.r + row * 4 * 32, 4 * 32); break;
			case 2: zeroes(w->rest.q + row * 8 * 32, 8 * 32); break;
			default: *(u32 *)(w->rest.p + row * 4) = 0;
			}
		}
		if (t->shadows[0] | t->shadows[1]) {
			zeroes(c->r_shadows, t->shadows[0]);
			zeroes(c->q_shadows, t->shadows[1]);
		}
	}
	t->executed += executed, t->slots += slots, t->held += held, t->branches += branches;
	t->divergent += divergent, t->meets += meets, t->leaves += leaves;
	t->live = t->size;
	t->left = t->slice;
	t->now = t->size - 1;
	t->dirty = 1;
	t->steps = -1; // which its first warp, that can run, makes 0
}

// turn gives the next warp that is ready its turn, if Go need not. Where all have ended it is the first of the CTA that
// follows, if one may.
STENCIL(turn) {
	struct team *t = WAYS->team;
	s64 count = (s64)ctx->count;
	t->left -= count - t->began;
	t->allowed -= count - (s64)ctx->enough + t->given;
	t->began = count;
	if (t->live == 0 && t->more && t->left > 0)
		follow(t, ctx->shared);
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
		t->began = count;
		t->end = count + t->share;
		w->touched = 1;
		ctx = (struct context *)w;
		t->given = t->share < t->allowed ? t->share : t->allowed;
		ctx->enough = (u64)(count + t->given);
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
