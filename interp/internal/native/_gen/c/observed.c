// Stencils of observed launches.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

struct load_window { // LoadWindow in observed.go
	u64 begin, last;
	const volatile u64 *closed, *quiet;
	u64 step;
};

struct logged_load { // LoggedLoad in observed.go
	u64 count, exit_branches;
	u32 mask;
	s32 reconverge_at;
	u64 window;
	u64 addresses[32];
};
_Static_assert(sizeof(struct logged_load) == LOGGED_LOAD_BYTES, "LoggedLoad has another layout");

struct load_log { // LoadLog in observed.go
	u64 used, limit;
	char *entries, *windows;
};

struct observed_context { // Context
	struct pointer_context pointers;
	struct load_log *log;
};
_Static_assert(__builtin_offsetof(struct observed_context, log) == CONTEXT_LOG, "Context has another layout");

// log_load precedes a load of an observed launch, with the addresses in row A and the offset H0. It adds the load to the log, unless
// the window with place H1 is quiet. It leaves if the log is full, or if the addresses are not in the window.
#define ADDRESSES_r(i) (offsets_r(a + (i)) + (u64)NUMBER(H0) & 0xffffffff)
#define ADDRESSES_q(i) (offsets_q(a + (i)) + (u64)NUMBER(H0))
#define LOG_LOAD(as) \
	STENCIL(FORM(log_load_##as)) { \
		struct load_log *log = ((struct observed_context *)ctx)->log; \
		const struct load_window *w = (const struct load_window *)(log->windows + PLACE(H1)); \
		struct logged_load *to = (struct logged_load *)(log->entries + log->used); \
		if (UNLIKELY(*w->closed || log->used == log->limit)) \
			LEAVE; \
		ADDR_##as \
		const u64 begin = w->begin, last = w->last; \
		vector_q any = {0}; \
		VECTORS(q, i) { \
			vector_q v = ADDRESSES_##as(i), o = v - begin; \
			VECTOR(q, to->addresses, i) = v; \
			any |= (o | last - o) & EXECUTE(q, i); \
		} \
		if (UNLIKELY(ANY_OF(any, (vector_q)SIGN))) \
			LEAVE; \
		to->count = ctx->count; \
		to->exit_branches = ((struct warp *)ctx)->exit_branches; \
		to->mask = (u32)m; \
		to->reconverge_at = ctx->reconverge_at; \
		to->window = PLACE(H1); \
		log->used += *w->quiet ? 0 : w->step; \
		NEXT; \
	}
LOG_LOAD(r) LOG_LOAD(q)
