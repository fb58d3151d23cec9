// Stencils of atomic operations, lane by lane. If CTAs run in parallel, operations on global memory use atomic
// instructions of the host.

#include "rows.h"

// ONE is the operation on memory at q: old is the value before, now the value after.
#define ONE(T, q, value, parallel) \
	T old, now; \
	if (parallel) { \
		old = *(volatile T *)(q); \
		do \
			now = (value); \
		while (now != old && !__atomic_compare_exchange_n((T *)(q), &old, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
	} else { \
		old = *(T *)(q); \
		now = (value); \
		*(T *)(q) = now; \
	} \
	changed |= now != old;

// ATOMIC_AT is an operation of each executing lane, on valid memory at AT.
#define ATOMIC_AT(T, at, value, parallel, result) \
	u64 changed = 0; \
	EVERY(i) { \
		ONE(T, at, value, parallel) \
		result; \
	} \
	if (changed) \
		*ctx->memory_changed = 1; \
	NEXT;

// ATOMIC returns the old value, REDUCE does not.
#define ATOMIC_(kind, name, T, as, ds, space, value, result) \
	STENCIL(FORM(kind##_##name##_##as##_##space)) { \
		REACH_##space(sizeof(T)) ADDR_##as \
		const T *b = (const T *)AT(char, B, BASE_##ds); \
		T *d = (T *)AT(char, D, BASE_##ds); \
		u64 bad = 0; \
		EVERY(i) bad |= outside(a[i] + off, last, sizeof(T)); \
		if (UNLIKELY(bad)) \
			LEAVE; \
		u32 parallel = PARALLEL_##space; \
		ATOMIC_AT(T, p + (a[i] + off), value, parallel, result) \
	}

// ATOMIC_FIXED is an operation at the same address in all lanes.
#define ATOMIC_FIXED(kind, name, T, ds, space, value, result) \
	STENCIL(FORM(kind##_##name##_##space)) { \
		AT_##space(sizeof(T)) \
		const T *b = (const T *)AT(char, B, BASE_##ds); \
		T *d = (T *)AT(char, D, BASE_##ds); \
		u32 parallel = PARALLEL_##space; \
		char *p = al->ptr + o; \
		ATOMIC_AT(T, p, value, parallel, result) \
	}
#define BASE_r R
#define BASE_q Q
#define PARALLEL_hit (MACHINE->parallel && al != ctx->shared) // a generic address may be of shared memory
#define PARALLEL_shared 0
#define PARALLEL_fixed MACHINE->parallel
#define THIRD(T, ds) ((const T *)AT(char, C, BASE_##ds))[i] // operand, which few have
#define ATOMIC_GLOBAL(name, T, ds, value) \
	ATOMIC_(atom, name, T, r, ds, hit, value, d[i] = old) ATOMIC_(atom, name, T, q, ds, hit, value, d[i] = old) \
	ATOMIC_(red, name, T, r, ds, hit, value, ) ATOMIC_(red, name, T, q, ds, hit, value, ) \
	ATOMIC_FIXED(atom, name, T, ds, fixed, value, d[i] = old) ATOMIC_FIXED(red, name, T, ds, fixed, value, )
#define ATOMIC_SHARED(name, T, ds, value) \
	ATOMIC_(atom, name, T, r, ds, shared, value, d[i] = old) ATOMIC_(atom, name, T, q, ds, shared, value, d[i] = old) \
	ATOMIC_(red, name, T, r, ds, shared, value, ) ATOMIC_(red, name, T, q, ds, shared, value, ) \
	ATOMIC_FIXED(atom, name, T, ds, shared, value, d[i] = old) ATOMIC_FIXED(red, name, T, ds, shared, value, )
#define ATOMIC(name, T, ds, value) ATOMIC_GLOBAL(name, T, ds, value) ATOMIC_SHARED(name, T, ds, value)

static inline u32 sum32(u32 a, u32 b) { return go_Float32bits(go_canonical32(go_Float32frombits(a) + go_Float32frombits(b))); }
static inline u32 flushed32(u32 a, u32 b) {
	return go_Float32bits(go_ftz32(go_canonical32(go_ftz32(go_Float32frombits(a)) + go_ftz32(go_Float32frombits(b)))));
}
static inline u64 sum64(u64 a, u64 b) {
	f64 x = go_Float64frombits(a), y = go_Float64frombits(b);
	return go_Float64bits(go_fp_Result64(x + y, x, y));
}
static inline u64 global64(u64 a, u64 b) { // a NaN is not made quiet
	f64 x = go_Float64frombits(a), y = go_Float64frombits(b);
	return y != y ? b : x != x ? a : go_Float64bits(go_fp_Result64(x + y, y, x));
}
#define INTEGERS(T, S, ds) \
	ATOMIC(add_##T, T, ds, old + b[i]) ATOMIC(and_##T, T, ds, old & b[i]) ATOMIC(or_##T, T, ds, old | b[i]) ATOMIC(xor_##T, T, ds, old ^ b[i]) \
	ATOMIC(exch_##T, T, ds, b[i]) ATOMIC(cas_##T, T, ds, old == b[i] ? THIRD(T, ds) : old) \
	ATOMIC(min_##T, T, ds, b[i] < old ? b[i] : old) ATOMIC(max_##T, T, ds, b[i] > old ? b[i] : old) \
	ATOMIC(min_##S, T, ds, (S)b[i] < (S)old ? b[i] : old) ATOMIC(max_##S, T, ds, (S)b[i] > (S)old ? b[i] : old)
INTEGERS(u32, s32, r) INTEGERS(u64, s64, q)
ATOMIC(inc_u32, u32, r, old >= b[i] ? 0 : old + 1)
ATOMIC(dec_u32, u32, r, old == 0 || old > b[i] ? b[i] : old - 1)
// Sums of .f32 are flushed in global memory, and not in shared memory. Of two NaNs of .f64, the operand's is kept
// in global memory, memory's in shared memory.
ATOMIC_SHARED(add_f32, u32, r, sum32(old, b[i])) ATOMIC_GLOBAL(addglobal_f32, u32, r, flushed32(old, b[i]))
ATOMIC_SHARED(add_f64, u64, q, sum64(old, b[i])) ATOMIC_GLOBAL(addglobal_f64, u64, q, global64(old, b[i]))
