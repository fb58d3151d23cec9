// Stencils of observed launches.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

struct load_window { // AccessWindow in observed.go
	u64 begin, last;
	const volatile u64 *closed, *quiet;
	u64 step;
	const u8 *marks;
	u32 mark, bytes;
	const u8 *memory;
};

struct logged_load { // LoggedAccess in observed.go
	u64 count, exit_branches;
	u32 mask;
	s32 reconverge_at;
	u64 window;
	u64 addresses[32];
};
_Static_assert(sizeof(struct logged_load) == LOGGED_LOAD_BYTES, "LoggedLoad has another layout");

struct logged_store { // LoggedStore in observed.go
	u8 before[32][16];
	u8 rows[512];
	u8 unused[128];
};
_Static_assert(sizeof(struct logged_store) == 4 * LOGGED_LOAD_BYTES, "LoggedStore has another layout");

struct load_log { // AccessLog in observed.go
	u64 used, limit;
	char *entries, *windows;
	char *stores;
};
#define LOG (((struct observed_context *)ctx)->log)
#define STORED(log) ((struct logged_store *)((log)->stores + 4 * (log)->used)) // of the next entry

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

// save copies the bytes that lanes m are about to store to.
static inline __attribute__((always_inline)) void save(const struct load_window *w, const u64 *addresses, struct logged_store *to, u32 m) {
	_Pragma("clang loop unroll(disable)") for (; m; m &= m - 1) {
		const int lane = __builtin_ctz(m);
		const u8 *p = w->memory + (addresses[lane] - w->begin);
		u8 *before = to->before[lane];
		if (w->bytes < 4) {
			_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->bytes; i++) before[i] = p[i];
		} else {
			_Pragma("clang loop unroll(disable) vectorize(disable)") for (u32 i = 0; i < w->bytes; i += 4) *(u32_u *)(before + i) = *(u32_u *)(p + i);
		}
	}
}

// log_load precedes a load of an observed launch, with the addresses in row A and the offset H0; without a row, the offset is the
// address of all lanes. It adds the load to the log, unless the window with place H1 is quiet. It leaves if the log is full, if the
// addresses are not in the window, or if the window is closed, unless it has marks and the bytes have its mark. log_store does the
// same before a store, and saves the bytes in memory if it logs the store.
#define ADDR_n
#define ADDRESSES_n(i) ((vector_q){0} + (u64)NUMBER(H0))
#define ADDRESSES_r(i) (offsets_r(a + (i)) + (u64)NUMBER(H0) & 0xffffffff)
#define ADDRESSES_q(i) (offsets_q(a + (i)) + (u64)NUMBER(H0))
#define LOG_ACCESS(kind, as, SAVE) \
	STENCIL(FORM(log_##kind##_##as)) { \
		struct load_log *log = LOG; \
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
		SAVE \
		to->count = ctx->count; \
		to->exit_branches = ((struct warp *)ctx)->exit_branches; \
		to->mask = (u32)m; \
		to->reconverge_at = ctx->reconverge_at; \
		to->window = PLACE(H1); \
		log->used += *w->quiet ? 0 : w->step; \
		NEXT; \
	}
#define NO_SAVE
#define SAVE if (w->step) save(w, to->addresses, STORED(log), (u32)m);
LOG_ACCESS(load, r, NO_SAVE) LOG_ACCESS(load, q, NO_SAVE) LOG_ACCESS(load, n, NO_SAVE)
LOG_ACCESS(store, r, SAVE) LOG_ACCESS(store, q, SAVE) LOG_ACCESS(store, n, SAVE)

// log_row precedes log_store. It copies row A, an element of the store, to the rows of the next entry, from byte H0 on.
#define LOG_ROW(s) \
	STENCIL(FORM(log_row_##s)) { \
		u8 *to = STORED(LOG)->rows + PLACE(H0); \
		DATA_##s(A) \
		EACH_KEPT(s, i) *(ROW_##s *)(to + sizeof(*d) * i) = *(ROW_##s *)(d + i); \
		NEXT; \
	}
LOG_ROW(r) LOG_ROW(q)
