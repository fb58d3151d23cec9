// Stencils that find the memory of lanes, and vectors of elements there.
//
// A stencil pointers checks that the accesses of all executing lanes are in bounds, and writes a pointer for each lane. It
// leaves before anything is changed. So the stencils after it need no bounds, and they are the same for every kind of address
// and memory. An idle lane gets the pointer of the first executing lane: its memory may be read. If few lanes execute, it handles
// only these, one after the other, and so do the stencils after it.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

#ifndef MASKED
// exit_at_fault precedes an access that may fault on the host. It writes the results of the exit at instruction H0 with reason
// H1, which the signal handler makes if there is a fault.
STENCIL(exit_at_fault) {
	ctx->pc = (s32)NUMBER(H0);
	ctx->reason = (u32)NUMBER(H1);
	ctx->lanes = (u32)m;
	NEXT;
}

// save_addresses follows exit_at_fault if the access overwrites its address row A.
STENCIL(save_addresses_r) {
	const u32 *a = ROW(u32, A);
	u32 *d = (u32 *)((struct pointer_context *)ctx)->addresses;
	SHORT_LANES d[i] = a[i];
	NEXT;
}
STENCIL(save_addresses_q) {
	const u64 *a = WIDE(u64, A);
	u64 *d = ((struct pointer_context *)ctx)->addresses;
	SHORT_WIDE_LANES d[i] = a[i];
	NEXT;
}
#endif

#ifdef MASKED
#define ELSE_FIRST(v, i) ((v) & EXECUTE(q, i) | first & ~EXECUTE(q, i))
#else
#define ELSE_FIRST(v, i) (v)
#endif
// FEW is whether few lanes execute. EACH_OF_FEW executes a statement for each of them, in a stencil after pointers.
#ifdef MASKED
#define FEW (__builtin_popcount((u32)m) <= 6)
#define EACH_OF_FEW(...) \
	if (outcome == SCATTERED) { \
		u64 *at = LANE_POINTERS; \
		EVERY(i) __VA_ARGS__ \
		NEXT; \
	}
#else
#define FEW 0
#define EACH_OF_FEW(...)
#endif
#define PARALLEL_hit (MACHINE->parallel && al != ctx->shared) // a generic address may be of shared memory
#define PARALLEL_shared 0
#define PARALLEL_fixed MACHINE->parallel

#define POINTERS(n, as, space) \
	STENCIL(FORM(pointers_##n##_##as##_##space)) { \
		REACH_##space(n) ADDR_##as \
		if (FEW) { \
			u64 bad = 0, *to = LANE_POINTERS; \
			EVERY(i) { \
				u64 o = a[i] + off; \
				bad |= outside(o, last, n); \
				to[i] = (u64)p + o; \
			} \
			if (UNLIKELY(bad)) \
				LEAVE; \
			outcome = SCATTERED; \
			spare = PARALLEL_##space; \
			NEXT; \
		} \
		vector_q low = {0}, high = {0}; \
		vector_q first = (vector_q)((u64)p + off + a[__builtin_ctz((u32)m)]); \
		VECTORS(q, i) { \
			vector_q o = offsets_##as(a + i) + off, in = EXECUTE(q, i); \
			low |= o & in, high |= ((vector_q)last - o) & in; \
			VECTOR(q, LANE_POINTERS, i) = ELSE_FIRST(o + (u64)p, i); \
		} \
		if (UNLIKELY(ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | ((n) - 1))))) \
			LEAVE; \
		outcome = UNKNOWN; \
		spare = PARALLEL_##space; \
		NEXT; \
	}
// The same memory for all lanes.
#define POINTERS_FIXED(n, space) \
	STENCIL(FORM(pointers_##n##_##space)) { \
		AT_##space(n) \
		u64 first = (u64)al->ptr + o; \
		VECTORS(q, i) VECTOR(q, LANE_POINTERS, i) = (vector_q)first; \
		HALF_POINTERS[0] = HALF_POINTERS[1] = first; \
		outcome = FEW ? SCATTERED : SAME; \
		spare = PARALLEL_##space; \
		NEXT; \
	}
#define POINTERS_OF(n) \
	POINTERS(n, r, hit) POINTERS(n, q, hit) POINTERS(n, r, shared) POINTERS(n, q, shared) \
	POINTERS_FIXED(n, fixed) POINTERS_FIXED(n, shared)
POINTERS_OF(2) POINTERS_OF(4) POINTERS_OF(8) POINTERS_OF(16)

// if_shared jumps to OTHER if the lanes of an access at generic addresses are in shared memory.
STENCIL(FORM(if_shared)) {
	if (*(struct allocation **)((char *)ctx->hits + PLACE(H1)) == ctx->shared)
		OTHER;
	NEXT;
}

// alike finds an unknown pattern of pointers to elements of n bytes. If n is 0, it does not look for contiguous elements.
#define ALIKE(n) \
	STENCIL(FORM(alike_##n)) { \
		if (outcome != UNKNOWN) \
			NEXT; \
		const u64 *a = LANE_POINTERS; \
		OUTERMOST \
		outcome = SCATTERED; \
		if (n != 0 && a[l] - a[f] == (u64)(l - f) * n && a[l2] - a[f2] == (u64)(l2 - f2) * n) { \
			u64 at = a[f] - (u64)f * n, at2 = a[f2] - (u64)f2 * n; \
			if (beside_q(a, m, at, at2, n)) { \
				HALF_POINTERS[0] = at, HALF_POINTERS[1] = at2 + 16 * n; \
				outcome = CONTIGUOUS; \
			} \
		} else if (a[l] == a[f] && a[l2] == a[f2] && beside_q(a, m, a[f], a[f2], 0)) { \
			HALF_POINTERS[0] = a[f], HALF_POINTERS[1] = a[f2]; \
			outcome = SAME; \
		} \
		NEXT; \
	}
ALIKE(0) ALIKE(4) ALIKE(8)

// exch and cas of elements of 128 bits, in pairs of rows: operand b is in A and B, c in C and E; the old value goes to D and F. They
// are not atomic on the host: Go has no atomics of 128 bits, either.
#define ATOMIC_128(name, new, new2) \
	STENCIL(FORM(atom_##name##_b128)) { \
		const u64 *x = WIDE(u64, A), *x2 = WIDE(u64, B), *y = WIDE(u64, C), *y2 = WIDE(u64, E); \
		u64 *d = WIDE(u64, D), *d2 = WIDE(u64, F), changed = 0; \
		const u64 *a = LANE_POINTERS; \
		EVERY(i) { \
			u64 *q = (u64 *)a[i], old = q[0], old2 = q[1], now = new, now2 = new2; \
			q[0] = now, q[1] = now2; \
			changed |= (now ^ old) | (now2 ^ old2); \
			d[i] = old, d2[i] = old2; \
		} \
		if (changed) \
			*ctx->memory_changed = 1; \
		NEXT; \
	}
#define EQUAL (((old ^ x[i]) | (old2 ^ x2[i])) == 0)
ATOMIC_128(exch, x[i], x2[i]) ATOMIC_128(cas, EQUAL ? y[i] : old, EQUAL ? y2[i] : old2)

// Vectors of 2 or 4 elements, in the rows A, B, C and E. CAT joins vectors; the other macros choose elements of two vectors, in
// each part of 128 bits: the first or last two of 32 bits alternately, or the first or last 64 bits.
typedef u32 u32x2 __attribute__((ext_vector_type(2), aligned(1)));
typedef u32 u32x4 __attribute__((ext_vector_type(4), aligned(1)));
typedef u64 u64x2 __attribute__((ext_vector_type(2), aligned(1)));
#define PAIR(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define PAIR_q(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3)
#if KEPT_r == 16
#define OCT(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define QUADS(a, k) OCT(PAIR(*(u32x4 *)(a)[k], *(u32x4 *)(a)[k + 4]), PAIR(*(u32x4 *)(a)[k + 8], *(u32x4 *)(a)[k + 12]))
#define LOW_32(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define HIGH_32(a, b) __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define LOW_64(a, b) __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define HIGH_64(a, b) __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define NARROW(f) OCT(__builtin_convertvector(f(0), u32x8), __builtin_convertvector(f(8), u32x8))
#else
#define QUADS(a, k) PAIR(*(u32x4 *)(a)[k], *(u32x4 *)(a)[k + 4])
#define LOW_32(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH_32(a, b) __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_64(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_64(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define NARROW(f) __builtin_convertvector(f(0), u32x8)
#endif
#define PAIRS(a, k) PAIR(PAIR_q(*(u64x2 *)(a)[k], *(u64x2 *)(a)[k + 2]), PAIR_q(*(u64x2 *)(a)[k + 4], *(u64x2 *)(a)[k + 6]))
#define LOWER_64(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define UPPER_64(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define SET(ds, X, i, v) { DATA_##ds(X) KEEP_##ds(i, v); }

// Contiguous vectors are loaded and stored in the host's vectors. Each part of 128 bits has a vector of 32-bit elements; after the
// transposition TO_LANES puts the elements of a row in the order of lanes, and before it TO_PARTS does the opposite.
#ifdef MASKED
#define WHOLE_WARP(n) 0
#else
#define WHOLE_WARP(n) (LANE_POINTERS[31] - LANE_POINTERS[0] == 31 * (n) && beside_q(LANE_POINTERS, m, LANE_POINTERS[0], LANE_POINTERS[0], n))
#endif
#if KEPT_r == 16
#define TO_LANES(v) __builtin_shufflevector(v, v, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)
#define TO_PARTS TO_LANES
#define EVEN_32(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD_32(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define FIRST_32(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define LAST_32(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#else
#define TO_LANES(v) __builtin_shufflevector(v, v, 0, 4, 1, 5, 2, 6, 3, 7)
#define TO_PARTS(v) __builtin_shufflevector(v, v, 0, 2, 4, 6, 1, 3, 5, 7)
#define EVEN_32(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD_32(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define FIRST_32(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define LAST_32(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#endif
#define EVEN_64(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#define ODD_64(a, b) __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)
#define FIRST_64(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define LAST_64(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define VECTORS_AT(ds, n, i) ROW_##ds *at = (ROW_##ds *)(LANE_POINTERS[0] + (n) * (i));

#define FROM(i) const u64 *a = LANE_POINTERS + (i);
// The elements of lane i are from here on.
#define ROWS_r u32 *x = ROW(u32, A), *y = ROW(u32, B), *z = ROW(u32, C), *w = ROW(u32, E);
#define ROWS_q u64 *x = WIDE(u64, A), *y = WIDE(u64, B);
#define ELEMENTS(T) T##_u *e = (T##_u *)at[i];
STENCIL(FORM(load_vector_u32x4)) {
	EACH_OF_FEW({ ROWS_r ELEMENTS(u32) x[i] = e[0], y[i] = e[1], z[i] = e[2], w[i] = e[3]; })
	if (WHOLE_WARP(16)) {
		EACH_KEPT(r, i) {
			VECTORS_AT(r, 16, i)
			ROW_r t = at[0], u = at[1], v = at[2], w = at[3];
			ROW_r low = LOW_32(t, u), low2 = LOW_32(v, w), high = HIGH_32(t, u), high2 = HIGH_32(v, w);
			SET(r, A, i, TO_LANES(LOW_64(low, low2)))
			SET(r, B, i, TO_LANES(HIGH_64(low, low2)))
			SET(r, C, i, TO_LANES(LOW_64(high, high2)))
			SET(r, E, i, TO_LANES(HIGH_64(high, high2)))
		}
		NEXT;
	}
	EACH_KEPT(r, i) {
		FROM(i)
		ROW_r t = QUADS(a, 0), u = QUADS(a, 1), v = QUADS(a, 2), w = QUADS(a, 3);
		ROW_r low = LOW_32(t, u), low2 = LOW_32(v, w), high = HIGH_32(t, u), high2 = HIGH_32(v, w);
		SET(r, A, i, LOW_64(low, low2))
		SET(r, B, i, HIGH_64(low, low2))
		SET(r, C, i, LOW_64(high, high2))
		SET(r, E, i, HIGH_64(high, high2))
	}
	NEXT;
}
#define WORDS(k) (u64x8){*(u64_u *)a[k], *(u64_u *)a[k + 1], *(u64_u *)a[k + 2], *(u64_u *)a[k + 3], *(u64_u *)a[k + 4], *(u64_u *)a[k + 5], *(u64_u *)a[k + 6], *(u64_u *)a[k + 7]}
STENCIL(FORM(load_vector_u32x2)) {
	EACH_OF_FEW({ ROWS_r ELEMENTS(u32) x[i] = e[0], y[i] = e[1]; })
	if (WHOLE_WARP(8)) {
		EACH_KEPT(r, i) {
			VECTORS_AT(r, 8, i)
			ROW_r t = at[0], u = at[1];
			SET(r, A, i, EVEN_32(t, u))
			SET(r, B, i, ODD_32(t, u))
		}
		NEXT;
	}
	EACH_KEPT(r, i) {
		FROM(i)
		u64x8 words[] = {
			WORDS(0),
#if KEPT_r == 16
			WORDS(8)
#endif
		};
#define LOWER(k) words[(k) / 8]
#define UPPER(k) (words[(k) / 8] >> 32)
		SET(r, A, i, NARROW(LOWER))
		SET(r, B, i, NARROW(UPPER))
	}
	NEXT;
}
STENCIL(FORM(load_vector_u64x2)) {
	EACH_OF_FEW({ ROWS_q ELEMENTS(u64) x[i] = e[0], y[i] = e[1]; })
	if (WHOLE_WARP(16)) {
		EACH_KEPT(q, i) {
			VECTORS_AT(q, 16, i)
			ROW_q t = at[0], u = at[1];
			SET(q, A, i, EVEN_64(t, u))
			SET(q, B, i, ODD_64(t, u))
		}
		NEXT;
	}
	EACH_KEPT(q, i) {
		FROM(i)
		ROW_q t = PAIRS(a, 0), u = PAIRS(a, 1);
		SET(q, A, i, LOWER_64(t, u))
		SET(q, B, i, UPPER_64(t, u))
	}
	NEXT;
}

// Stores go lane by lane: lanes may have the same memory.
#define ROW_AT(ds, X, i) ({ const ROW_##ds *d = (const ROW_##ds *)(AT(char, X, BASE_##ds) + (i) * sizeof(typeof((*d)[0]))); *d; })
#define BASE_r R
#define BASE_q Q
#ifdef MASKED
#define IF_ACTIVE(i) if (ACTIVE(i))
#else
#define IF_ACTIVE(i)
#endif
STENCIL(FORM(store_vector_u32x4)) {
	*ctx->memory_changed = 1;
	EACH_OF_FEW({ ROWS_r ELEMENTS(u32) e[0] = x[i], e[1] = y[i], e[2] = z[i], e[3] = w[i]; })
	if (WHOLE_WARP(16)) {
		EACH_KEPT(r, i) {
			VECTORS_AT(r, 16, i)
			ROW_r t = TO_PARTS(ROW_AT(r, A, i)), u = TO_PARTS(ROW_AT(r, B, i)), v = TO_PARTS(ROW_AT(r, C, i)), w = TO_PARTS(ROW_AT(r, E, i));
			ROW_r low = LOW_32(t, u), low2 = LOW_32(v, w), high = HIGH_32(t, u), high2 = HIGH_32(v, w);
			at[0] = LOW_64(low, low2), at[1] = HIGH_64(low, low2), at[2] = LOW_64(high, high2), at[3] = HIGH_64(high, high2);
		}
		NEXT;
	}
	EACH_KEPT(r, i) {
		FROM(i)
		ROW_r t = ROW_AT(r, A, i), u = ROW_AT(r, B, i), v = ROW_AT(r, C, i), w = ROW_AT(r, E, i);
		ROW_r low = LOW_32(t, u), low2 = LOW_32(v, w), high = HIGH_32(t, u), high2 = HIGH_32(v, w);
		u32x4 all[4][KEPT_r / 4];
		*(ROW_r *)all[0] = LOW_64(low, low2), *(ROW_r *)all[1] = HIGH_64(low, low2);
		*(ROW_r *)all[2] = LOW_64(high, high2), *(ROW_r *)all[3] = HIGH_64(high, high2);
		_Pragma("clang loop unroll(full)") for (int k = 0; k < KEPT_r; k++) IF_ACTIVE(i + k) *(u32x4 *)a[k] = all[k % 4][k / 4];
	}
	NEXT;
}
STENCIL(FORM(store_vector_u32x2)) {
	*ctx->memory_changed = 1;
	EACH_OF_FEW({ ROWS_r ELEMENTS(u32) e[0] = x[i], e[1] = y[i]; })
	if (WHOLE_WARP(8)) {
		EACH_KEPT(r, i) {
			VECTORS_AT(r, 8, i)
			ROW_r t = ROW_AT(r, A, i), u = ROW_AT(r, B, i);
			at[0] = FIRST_32(t, u), at[1] = LAST_32(t, u);
		}
		NEXT;
	}
	const u32 *x = ROW(u32, A), *y = ROW(u32, B);
	FROM(0)
	EVERY(i) *(u64_u *)a[i] = x[i] | (u64)y[i] << 32;
	NEXT;
}
STENCIL(FORM(store_vector_u64x2)) {
	*ctx->memory_changed = 1;
	EACH_OF_FEW({ ROWS_q ELEMENTS(u64) e[0] = x[i], e[1] = y[i]; })
	if (WHOLE_WARP(16)) {
		EACH_KEPT(q, i) {
			VECTORS_AT(q, 16, i)
			ROW_q t = ROW_AT(q, A, i), u = ROW_AT(q, B, i);
			at[0] = FIRST_64(t, u), at[1] = LAST_64(t, u);
		}
		NEXT;
	}
	const u64 *x = WIDE(u64, A), *y = WIDE(u64, B);
	FROM(0)
	EVERY(i) *(u64x2 *)a[i] = (u64x2){x[i], y[i]};
	NEXT;
}
