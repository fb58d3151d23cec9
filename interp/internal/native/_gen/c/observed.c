// Stencils of observed launches.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

struct load_window { // LoadWindow in observed.go
	u64 begin, last;
	const volatile u64 *closed, *quiet;
	u64 step;
	const u8 *marks;
	u32 mark, bytes;
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

// are_marked reports whether all bytes that lanes m load have the mark of the window.
static inline __attribute__((always_inline)) u64 are_marked(const struct load_window *w, const u64 *addresses, u32 m) {
	u32 other = 0;
	_Pragma("clang loop unroll(disable)") for (; m; m &= m - 1) {
		const u8 *p = w->marks + (addresses[__builtin_ctz(m)] - w->begin);
		if (w->bytes < 4) {
			_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->bytes; i++) other |= p[i] ^ w->mark & 0xff;
		} else {
			_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->bytes; i += 4) other |= *(u32_u *)(p + i) ^ w->mark;
		}
	}
	return !other;
}

// log_load precedes a load of an observed launch, with the addresses in row A and the offset H0; without a row, the offset is the
// address of all lanes. It adds the load to the log, unless the window with place H1 is quiet. It leaves if the log is full, if the
// addresses are not in the window, or if the window is closed, unless it has marks and the bytes have its mark.
#define ADDR_n
#define ADDRESSES_n(i) ((vector_q){0} + (u64)NUMBER(H0))
#define ADDRESSES_r(i) (offsets_r(a + (i)) + (u64)NUMBER(H0) & 0xffffffff)
#define ADDRESSES_q(i) (offsets_q(a + (i)) + (u64)NUMBER(H0))
#define LOG_LOAD(as) \
	STENCIL(FORM(log_load_##as)) { \
		struct load_log *log = ((struct observed_context *)ctx)->log; \
		const struct load_window *w = (const struct load_window *)(log->windows + PLACE(H1)); \
		struct logged_load *to = (struct logged_load *)(log->entries + log->used); \
		const u64 closed = *w->closed; \
		if (UNLIKELY(closed && !w->marks || log->used == log->limit)) \
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
		if (UNLIKELY(closed) && !are_marked(w, to->addresses, (u32)m)) \
			LEAVE; \
		to->count = ctx->count; \
		to->exit_branches = ((struct warp *)ctx)->exit_branches; \
		to->mask = (u32)m; \
		to->reconverge_at = ctx->reconverge_at; \
		to->window = PLACE(H1); \
		log->used += *w->quiet ? 0 : w->step; \
		NEXT; \
	}
LOG_LOAD(r) LOG_LOAD(q) LOG_LOAD(n)
