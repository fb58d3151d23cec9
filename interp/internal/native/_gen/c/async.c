// Stencils of cp.async. They change the same lists as Go, and leave before anything is changed where Go must act: if a lane may
// be invalid, if the sources are in several allocations, if lanes have committed different numbers of groups, or if a list is full.

#include "rows.h"
#include "warp.h"
#include "pointer.h"
#include "access.h"

struct numbers { // a slice of Go
	s32 *list;
	u64 len, cap;
};

struct warp_copy { // WarpCopy in copies.go
	u64 sequence;
	s64 group;
	u64 source_end, to_first, to_end; // offsets
	u64 active, imm;
	u64 place;
	s32 src, source, size;
	u32 issued, lanes, reads;
	s32 number;
	u8 located, whole, contiguous, reads_parts;
	u8 bytes[32];
	u64 to[32], from[32];
};
_Static_assert(sizeof(struct warp_copy) == WARP_COPY_BYTES, "WarpCopy has another layout");

struct commit_lanes { // CommitLanes
	s64 groups;
	u32 lanes;
};

struct copy_queue { // CopyQueue
	struct numbers pending;
	struct commit_lanes *sets;
	u64 num_sets, cap_sets;
	u64 place;
};

struct copy_state { // CopyState
	u64 kept_bytes, max_bytes, lane_bytes;
	u64 eager; // a Go bool and unused bytes
	struct warp_copy **objects;
	u64 num_objects, cap_objects;
	struct numbers unused;
	struct allocation **sources;
	u64 num_sources;
};

struct copy_context { // Context
	struct pointer_context pointers;
	void *log;
	struct copy_queue *queue;
	struct copy_state *state;
	u64 *sequence;
};
_Static_assert(__builtin_offsetof(struct copy_context, queue) == CONTEXT_COPIES, "Context has another layout");
#define COPIES ((struct copy_context *)ctx)

#define COPY_COST 3 // of the bytes of a copy, in instructions

typedef u32 quad __attribute__((ext_vector_type(4), aligned(1)));

// MOVE copies an element of type E for each of some lanes; a lane that reads nothing gets zeros.
#define MOVE(E) \
	if (lanes == 0xffffffff && p->reads == lanes) { \
		_Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++) *(E *)(to + p->to[i]) = *(const E *)(from + p->from[i]); \
	} else { \
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 left = lanes; left; left &= left - 1) { \
			const int i = __builtin_ctz(left); \
			E v = {0}; \
			if (p->reads >> i & 1) \
				v = *(const E *)(from + p->from[i]); \
			*(E *)(to + p->to[i]) = v; \
		} \
	}
// move copies the bytes of some lanes of p. Addresses are relative to to and from.
static inline __attribute__((always_inline)) void move(const struct warp_copy *p, s32 size, char *to, const char *from, u32 lanes) {
	if (size == 16) {
		MOVE(quad)
	} else if (size == 8) {
		MOVE(u64_u)
	} else {
		MOVE(u32_u)
	}
}

// SHARED_BASE is the place of address 0 of shared memory, PLACE_OF that of address 0 of global memory as seen from an allocation.
#define SHARED_BASE(al) ((al)->ptr - ((al)->base - SHARED_WINDOW))
#define PLACE_OF(al) ((al)->ptr - (al)->base)

// Offsets of lanes: first and last are the least and the greatest of lanes m, which have at least one lane.
typedef s64 offsets __attribute__((ext_vector_type(LANES_q), aligned(1)));
#define IN(lanes, i) ((offsets)AMONG(q, lanes, i))
#ifdef MASKED
#define AMONG_LANES(v, other, lanes, i) ((v) & IN(lanes, i) | (other) & ~IN(lanes, i))
#else
#define AMONG_LANES(v, other, lanes, i) (v)
#endif
#define RANGE(a, off, lanes, choose) \
	s64 a##_first, a##_last; \
	u64 a##_bits; \
	{ \
		const offsets other = (offsets)(s64)(a[__builtin_ctz(lanes)] - (off)); \
		offsets least = other, greatest = other, bits = {0}; \
		VECTORS(q, i) { \
			offsets o = choose(*(const offsets *)(a + i) - (s64)(off), other, lanes, i); \
			least = __builtin_elementwise_min(least, o); \
			greatest = __builtin_elementwise_max(greatest, o); \
			bits |= o; \
		} \
		a##_first = __builtin_reduce_min(least); \
		a##_last = __builtin_reduce_max(greatest); \
		a##_bits = (u64)__builtin_reduce_or(bits); \
	}

#define SOURCES 8 // so many allocations are searched

// async_copy issues the copies of lanes: from row B to row A, of instruction H0, with Imm H1. Row C has the numbers of bytes to
// read: constants, which must be n, or in async_copy_filled 0 or n for each lane.
#define ISSUE(name, n, READS, choose, NOTE) \
	STENCIL(FORM(name)) { \
		struct copy_queue *q = COPIES->queue; \
		struct copy_state *t = COPIES->state; \
		if (UNLIKELY(!q || q->num_sets != 1 || t->unused.len == 0 || (q->pending.len == q->pending.cap && !(u8)t->eager))) \
			LEAVE; \
		const u64 *to = WIDE(u64, A), *from = WIDE(u64, B); \
		const u32 *sizes = ROW(u32, C); \
		const u32 lanes = (u32)m; \
		const u64 bytes = (u64)__builtin_popcount(lanes) * t->lane_bytes; \
		const struct allocation *shared = ctx->shared; \
		const u64 to_base = shared->base - SHARED_WINDOW; \
		READS(n) \
		if (UNLIKELY(t->kept_bytes + bytes > t->max_bytes || shared->size < (n))) \
			LEAVE; \
		const struct allocation *al = 0; \
		const u64 at = from[__builtin_ctz(reads)]; \
		s32 source = 0; \
		const u64 sources = t->num_sources < SOURCES ? t->num_sources : SOURCES; \
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (;; source++) { \
			if ((u64)source >= sources) \
				LEAVE; \
			al = t->sources[source]; \
			if (at - al->base < al->size) \
				break; \
		} \
		RANGE(to, to_base, lanes, AMONG_LANES) \
		RANGE(from, al->base, reads, choose) \
		if (UNLIKELY(to_first < 0 || from_first < 0 || to_last > (s64)(shared->size - (n)) || al->size < (n) || from_last > (s64)(al->size - (n)) || (to_bits | from_bits | to_base | al->base) & ((n) - 1))) \
			LEAVE; \
		struct warp_copy *p = t->objects[t->unused.list[t->unused.len - 1]]; \
		p->sequence = *COPIES->sequence; \
		*COPIES->sequence += (u64)__builtin_popcount(lanes); \
		p->group = q->sets->groups; \
		p->source_end = (u64)from_last + (n), p->to_first = (u64)to_first, p->to_end = (u64)to_last + (n); \
		p->active = ctx->mask, p->imm = PLACE(H1); \
		p->place = q->place; \
		p->src = (s32)NUMBER(H0), p->source = source, p->size = (n); \
		p->issued = p->lanes = lanes, p->reads = reads; \
		p->located = 1, p->whole = reads == lanes, p->contiguous = 0, p->reads_parts = 0; \
		NOTE \
		VECTORS(q, i) VECTOR(q, p->to, i) = VECTOR(q, to, i); \
		VECTORS(q, i) VECTOR(q, p->from, i) = VECTOR(q, from, i); \
		*ctx->memory_changed = 1; \
		if (UNLIKELY((u8)t->eager)) { \
			ADD_COST(COPY_COST); \
			move(p, (n), SHARED_BASE(shared), PLACE_OF(al), lanes); \
			NEXT; \
		} \
		t->unused.len--; \
		q->pending.list[q->pending.len++] = p->number; \
		t->kept_bytes += bytes; \
		NEXT; \
	}
#define WHOLE_SIZES(n) \
	if (UNLIKELY(sizes[0] != (n))) \
		LEAVE; \
	const u32 reads = lanes;
#define NO_NOTE
ISSUE(async_copy_4, 4, WHOLE_SIZES, AMONG_LANES, NO_NOTE)
ISSUE(async_copy_8, 8, WHOLE_SIZES, AMONG_LANES, NO_NOTE)
ISSUE(async_copy_16, 16, WHOLE_SIZES, AMONG_LANES, NO_NOTE)

typedef u32 words32 __attribute__((ext_vector_type(32), aligned(4)));
typedef u8 numbers32 __attribute__((ext_vector_type(32), aligned(1)));
static inline u32 equal(const u32 *a, u32 n) { return __builtin_bit_cast(u32, __builtin_convertvector(*(const words32 *)a == n, bits32)); }
#define SOME_SIZES(n) \
	const u32 reads = lanes & equal(sizes, n); \
	if (UNLIKELY(reads == 0 || lanes & ~(reads | equal(sizes, 0)))) \
		LEAVE;
#define AMONG_SOME(v, other, lanes, i) ((v) & IN(lanes, i) | (other) & ~IN(lanes, i))
#define NOTE_SIZES *(numbers32 *)p->bytes = __builtin_convertvector(*(const words32 *)sizes, numbers32);
ISSUE(async_copy_4_filled, 4, SOME_SIZES, AMONG_SOME, NOTE_SIZES)
ISSUE(async_copy_8_filled, 8, SOME_SIZES, AMONG_SOME, NOTE_SIZES)
ISSUE(async_copy_16_filled, 16, SOME_SIZES, AMONG_SOME, NOTE_SIZES)

#ifndef MASKED
// async_commit commits a group.
STENCIL(async_commit) {
	struct copy_queue *q = COPIES->queue;
	if (UNLIKELY(!q || q->num_sets != 1 || q->sets->lanes & ~(u32)m))
		LEAVE;
	q->sets->groups++;
	NEXT;
}

// async_wait executes the pending copies of all groups but the last ones, whose number is constant A. If H0 is 1, it first commits
// the open group. It leaves if these copies are not the first of the queue, or if lanes of them do not wait.
STENCIL(async_wait) {
	struct copy_queue *q = COPIES->queue;
	struct copy_state *t = COPIES->state;
	const u32 most = 1u << 30, keep = *ROW(u32, A);
	const s64 all = NUMBER(H0);
	if (UNLIKELY(!q || q->num_sets != 1 || (all && q->sets->lanes & ~(u32)m)))
		LEAVE;
	const s64 limit = q->sets->groups + all - (keep < most ? keep : most);
	s32 *pending = q->pending.list;
	const u64 len = q->pending.len;
	const struct allocation *shared = ctx->shared;
	u64 n = 0, end = 0, apart = 1, bytes = 0;
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (; n < len; n++) {
		const struct warp_copy *p = t->objects[pending[n]];
		if (p->group >= limit)
			break;
		const struct allocation *al = p->source < 0 ? shared : t->sources[p->source];
		if (UNLIKELY(!p->located || p->contiguous || p->reads_parts || p->lanes & ~(u32)m || p->source_end > al->size))
			LEAVE;
		apart &= p->to_first >= end;
		end = p->to_end;
	}
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = n; i < len; i++)
		if (UNLIKELY(t->objects[pending[i]]->group < limit))
			LEAVE;
	q->sets->groups += all;
	if (n == 0)
		NEXT;
	// The copies happen lane after lane, and in each lane in the order of issue. If they write to separate ranges, the order of issue
	// gives the same bytes.
	u32 left = (u32)m;
	_Pragma("clang loop unroll(disable)") do {
		const u32 lanes = apart ? left : left & -left;
		_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = 0; i < n; i++) {
			const struct warp_copy *p = t->objects[pending[i]];
			move(p, p->size, SHARED_BASE(shared), PLACE_OF(p->source < 0 ? shared : t->sources[p->source]), p->lanes & lanes);
		}
		left &= ~lanes;
	} while (left);
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = 0; i < n; i++) {
		struct warp_copy *p = t->objects[pending[i]];
		bytes += (u64)__builtin_popcount(p->lanes) * t->lane_bytes;
		p->lanes = 0;
		t->unused.list[t->unused.len++] = pending[i];
	}
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (u64 i = n; i < len; i++) pending[i - n] = pending[i];
	q->pending.len = len - n;
	t->kept_bytes -= bytes;
	*ctx->memory_changed = 1;
	ADD_COST(COPY_COST * n);
	NEXT;
}
#endif
