// Stencils of atomic operations, on the memory that stencils of pointer.c have found. Lanes with contiguous elements execute in
// vectors. Lanes with the same element execute one after the other on a register. All others execute one after the other on
// memory. If CTAs run in parallel, operations on global memory use atomic instructions of the host.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

// Functions of values and of vectors of values. A condition is a number or a vector of masks.
#define OVERLOADED static inline __attribute__((overloadable, always_inline, unused))
typedef s32 signed_r __attribute__((ext_vector_type(KEPT_r)));
typedef s64 signed_q __attribute__((ext_vector_type(KEPT_q)));
typedef f32 float_r __attribute__((ext_vector_type(KEPT_r)));
typedef f64 float_q __attribute__((ext_vector_type(KEPT_q)));
OVERLOADED u32 pick(int yes, u32 x, u32 y) { return yes ? x : y; }
OVERLOADED u64 pick(int yes, u64 x, u64 y) { return yes ? x : y; }
#define FUNCTIONS(U, S, F) \
	OVERLOADED F as_float(U x) { return __builtin_bit_cast(F, x); } \
	OVERLOADED U as_bits(F x) { return __builtin_bit_cast(U, x); } \
	OVERLOADED U least(U x, U y) { return __builtin_elementwise_min(x, y); } \
	OVERLOADED U greatest(U x, U y) { return __builtin_elementwise_max(x, y); } \
	OVERLOADED U signed_least(U x, U y) { return (U)__builtin_elementwise_min((S)x, (S)y); } \
	OVERLOADED U signed_greatest(U x, U y) { return (U)__builtin_elementwise_max((S)x, (S)y); }
#define VECTOR_FUNCTIONS(U, mask) \
	OVERLOADED U pick(mask yes, U x, U y) { return (U)yes & x | ~(U)yes & y; }
FUNCTIONS(u32, s32, f32) FUNCTIONS(u64, s64, f64) FUNCTIONS(ROW_r, signed_r, float_r) FUNCTIONS(ROW_q, signed_q, float_q)
typedef typeof((ROW_r){0} == (ROW_r){0}) mask_r;
typedef typeof((ROW_q){0} == (ROW_q){0}) mask_q;
VECTOR_FUNCTIONS(ROW_r, mask_r) VECTOR_FUNCTIONS(ROW_q, mask_q)

// Sums. Sums of .f32 are flushed in global memory, and not in shared memory. Of two NaNs of .f64, the operand's is kept in
// global memory, memory's in shared memory, where it is made quiet.
#define SUMS(U32, F32, U64) \
	OVERLOADED U32 flushed(U32 x) { return pick((x & 0x7f800000u) == 0, x & 1u << 31, x); } \
	OVERLOADED U32 sum(U32 x, U32 y) { \
		F32 s = as_float(x) + as_float(y); \
		return pick(s != s, (U32)0x7fffffffu, as_bits(s)); \
	} \
	OVERLOADED U32 flushed_sum(U32 x, U32 y) { return flushed(sum(flushed(x), flushed(y))); } \
	OVERLOADED U64 number_sum(U64 x, U64 y) { /* neither is a NaN */ \
		typeof(as_float(x)) s = as_float(x) + as_float(y); \
		return pick(s != s, (U64)0xfff8000000000000ull, as_bits(s)); \
	} \
	OVERLOADED U64 sum(U64 x, U64 y) { \
		U64 quiet = (U64)(1ull << 51); \
		return pick(as_float(x) != as_float(x), x | quiet, pick(as_float(y) != as_float(y), y | quiet, number_sum(x, y))); \
	} \
	OVERLOADED U64 global_sum(U64 x, U64 y) { \
		return pick(as_float(y) != as_float(y), y, pick(as_float(x) != as_float(x), x, number_sum(x, y))); \
	}
SUMS(u32, f32, u64) SUMS(ROW_r, float_r, ROW_q)

// Sums of both halves of a word. The sum of two numbers of .f16 or .bf16, rounded to .f32, is not rounded differently afterwards:
// .f32 has more than twice as many digits.
typedef _Float16 halves_r __attribute__((ext_vector_type(KEPT_r)));
typedef u16 shorts_r __attribute__((ext_vector_type(KEPT_r)));
OVERLOADED f32 from_f16(u32 x) { return (f32)__builtin_bit_cast(_Float16, (u16)x); }
OVERLOADED u32 to_f16(f32 x) { return __builtin_bit_cast(u16, (_Float16)x); }
OVERLOADED float_r from_f16(ROW_r x) { return __builtin_convertvector(__builtin_bit_cast(halves_r, __builtin_convertvector(x, shorts_r)), float_r); }
OVERLOADED ROW_r to_f16(float_r x) { return __builtin_convertvector(__builtin_bit_cast(shorts_r, __builtin_convertvector(x, halves_r)), ROW_r); }
#define SUMS_OF_HALVES(U) \
	OVERLOADED U lower_sum_f16(U x, U y) { \
		typeof(as_float(x)) s = from_f16(x) + from_f16(y); \
		return pick(s != s, (U)0x7fffu, to_f16(s)); \
	} \
	OVERLOADED U upper_sum_bf16(U x, U y) { \
		typeof(as_float(x)) s = as_float(x) + as_float(y); \
		U bits = as_bits(s); \
		return pick(s != s, (U)0x7fff0000u, (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u); \
	} \
	OVERLOADED U sum_f16(U x, U y) { return lower_sum_f16(x, y) | lower_sum_f16(x >> 16, y >> 16) << 16; } \
	OVERLOADED U sum_bf16(U x, U y) { return upper_sum_bf16(x << 16, y << 16) >> 16 | upper_sum_bf16(x & 0xffff0000u, y & 0xffff0000u); }
SUMS_OF_HALVES(u32) SUMS_OF_HALVES(ROW_r)

// The least and the greatest of both halves of words, in the order of numbers with -0 before +0, which is that of integers after
// ordered. A NaN becomes the greatest or the least of all: the result is the other operand, or the canonical NaN.
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef s16 s16x2 __attribute__((ext_vector_type(2)));
typedef u16 all_halves __attribute__((ext_vector_type(2 * KEPT_r)));
typedef s16 all_signed_halves __attribute__((ext_vector_type(2 * KEPT_r)));
#define EXTREMES_OF_HALVES(U, H, S) \
	OVERLOADED H ordered(H x) { return x ^ (H)((S)x >> 15) & 0x7fff; } \
	OVERLOADED H numbers_or(H x, u16 inf, u16 other) { \
		H isNaN = (H)((x & 0x7fff) > inf); \
		return x & ~isNaN | other & isNaN; \
	} \
	OVERLOADED U least_half(U x, U y, u16 inf) { \
		H v = ordered(numbers_or(__builtin_bit_cast(H, x), inf, 0x7fff)), w = ordered(numbers_or(__builtin_bit_cast(H, y), inf, 0x7fff)); \
		return __builtin_bit_cast(U, ordered((H)__builtin_elementwise_min((S)v, (S)w))); \
	} \
	OVERLOADED U greatest_half(U x, U y, u16 inf) { \
		H v = ordered(numbers_or(__builtin_bit_cast(H, x), inf, 0xffff)), w = ordered(numbers_or(__builtin_bit_cast(H, y), inf, 0xffff)); \
		return __builtin_bit_cast(U, numbers_or(ordered((H)__builtin_elementwise_max((S)v, (S)w)), inf, 0x7fff)); \
	}
EXTREMES_OF_HALVES(u32, u16x2, s16x2) EXTREMES_OF_HALVES(ROW_r, all_halves, all_signed_halves)
enum { INF_f16 = 0x7c00, INF_bf16 = 0x7f80 };

// The quick functions are the same for one lane: they expect sums that are neither NaN nor denormal, so that a lane waits only
// for the addition of the lane before. RARE keeps the compiler from computing a rare result always.
#define RARE(condition) (UNLIKELY(condition) && ({ __asm__ volatile(""); 1; }))
OVERLOADED f32 quick_sum(f32 x, u32 y) {
	f32 s = x + as_float(y);
	if (RARE(s != s))
		s = as_float(0x7fffffffu);
	return s;
}
static inline int denormal(u32 x) { return (x << 1) - 2 < 0x00fffffe; }
OVERLOADED f32 quick_flushed_sum(f32 x, u32 y) {
	f32 s = x + as_float(y);
	if (RARE(s != s || denormal(as_bits(x)) || denormal(y) || denormal(as_bits(s))))
		s = as_float(flushed_sum(as_bits(x), y));
	return s;
}
OVERLOADED f64 quick_sum(f64 x, u64 y) {
	f64 s = x + as_float(y);
	if (RARE(s != s))
		s = as_float(sum(as_bits(x), y));
	return s;
}
OVERLOADED f64 quick_global_sum(f64 x, u64 y) {
	f64 s = x + as_float(y);
	if (RARE(s != s))
		s = as_float(global_sum(as_bits(x), y));
	return s;
}
typedef _Float16 f16x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
static inline u32 quick_sum_f16(u32 x, u32 y) {
	f32x2 s = __builtin_convertvector(__builtin_bit_cast(f16x2, x), f32x2) + __builtin_convertvector(__builtin_bit_cast(f16x2, y), f32x2);
	u32 v = __builtin_bit_cast(u32, __builtin_convertvector(s, f16x2));
	if (RARE((v & 0x7fff7fff) + 0x03ff03ff & 0x80008000)) // a half is a NaN
		v = sum_f16(x, y);
	return v;
}
static inline u32 quick_sum_bf16(u32 x, u32 y) {
	f32 low = as_float(x << 16) + as_float(y << 16), high = as_float(x & 0xffff0000) + as_float(y & 0xffff0000);
	u32 u = as_bits(low), v = as_bits(high);
	u = u + 0x7fff + (u >> 16 & 1) >> 16 | v + 0x7fff + (v >> 16 & 1) & 0xffff0000;
	if (RARE(__builtin_isunordered(low, high)))
		u = sum_bf16(x, y);
	return u;
}

// EVERY_OF_HALF iterates over the executing lanes from j to j + 15.
#ifdef MASKED
#define EVERY_OF_HALF(i) for (u32 left = (u32)m & 0xffffu << j, i; left != 0 && (i = __builtin_ctz(left), 1); left &= left - 1)
#else
#define EVERY_OF_HALF(i) \
	_Pragma("clang loop unroll(disable) vectorize(disable)") for (int k = j; k < j + 16; k += 4) \
		_Pragma("clang loop unroll(full)") for (int i = k; i < k + 4; i++)
#endif
#define CHANGED_r(v) ANY(v)
#define EXECUTE_KEPT_r(i) EXECUTE(r, i)
#if LANES_q == KEPT_q
#define CHANGED_q(v) ANY(v)
#define EXECUTE_KEPT_q(i) EXECUTE(q, i)
#else
#define CHANGED_q(v) ANY((v).lo | (v).hi)
#define EXECUTE_KEPT_q(i) __builtin_shufflevector(EXECUTE(q, i), EXECUTE(q, i + 4), 0, 1, 2, 3, 4, 5, 6, 7)
#endif
// WRITE_r and WRITE_q store a vector of elements to memory, from lane i on.
#ifndef MASKED
#define WRITE_r(i, to, v) (*(ROW_r *)(to) = (v))
#define WRITE_q(i, to, v) (*(ROW_q *)(to) = (v))
#elif VECTOR_BYTES == 64
#define WRITE_r(i, to, v) _mm512_mask_storeu_epi32(to, MASK_r(i), (__m512i)(v))
#define WRITE_q(i, to, v) _mm512_mask_storeu_epi64(to, MASK_q(i), (__m512i)(v))
#else
#define WRITE_r(i, to, v) put_u32(to, m, i, v)
#define WRITE_q(i, to, v) put_u64(to, m, i, v)
#endif
#define OPERAND(ds, row, i) (*(const ROW_##ds *)((row) + (i)) & EXECUTE_KEPT_##ds(i))

// ATOMIC_ is an operation on the element at H0 of each lane's memory: value is the new value of memory, from its old value and
// the operands x and y. M is the element's type in memory, T in a row, V in registers of the host: one computes value for a single
// lane, in type V. keep stores the old value in a row, in lane i or from lane i on. alone is 1 if no lane needs the old value.
// If other CTAs may change the memory, and the lanes of a half have the same element, one atomic instruction of the host updates
// it for all of them, and then the lanes get their old values.
#define ATOMIC_(kind, name, M, T, V, ds, value, one, keep, keep_all, alone) \
	STENCIL(FORM(kind##_##name)) { \
		const T *b = (const T *)AT(char, B, BASE_##ds), *c = (const T *)AT(char, C, BASE_##ds); \
		T *d = (T *)AT(char, D, BASE_##ds); \
		const u64 *a = LANE_POINTERS; \
		u64 changed = 0; \
		if (sizeof(M) == sizeof(T) && outcome == CONTIGUOUS && !spare) { \
			ROW_##ds differences = {0}; \
			EACH_KEPT(ds, i) { \
				char *q = (char *)HALF_POINTERS[i / 16] + (i % 16) * sizeof(T); \
				ROW_##ds x = OPERAND(ds, b, i), y = OPERAND(ds, c, i), old = GET(T, ds, i, q), now = value; \
				WRITE_##ds(i, q, now); \
				keep_all; \
				differences |= (now ^ old) & EXECUTE_KEPT_##ds(i); \
			} \
			changed = CHANGED_##ds(differences); \
		} else if (outcome == SAME) { \
			_Pragma("clang loop unroll(disable)") for (int j = 0; j < 32; j += 16) { \
				M *q = (M *)(HALF_POINTERS[j / 16] + PLACE(H0)), first = *(volatile M *)q, last; \
				V memory; \
				u64 differences; \
				if (spare) { \
					do { \
						memory = __builtin_bit_cast(V, (T)first), differences = 0; \
						EVERY_OF_HALF(i) { \
							T x = (M)b[i], y = (M)c[i]; \
							V old = memory; \
							memory = one; \
							differences |= BITS(T, memory) ^ BITS(T, old); \
						} \
						last = (M)BITS(T, memory); \
					} while (last != first && !__atomic_compare_exchange_n(q, &first, last, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
					changed |= differences; \
				} \
				if (!alone || !spare) { \
					memory = __builtin_bit_cast(V, (T)first), differences = 0; \
					EVERY_OF_HALF(i) { \
						T x = (M)b[i], y = (M)c[i]; \
						V old = memory; \
						memory = one; \
						keep; \
						differences |= BITS(T, memory) ^ BITS(T, old); \
					} \
					changed |= differences; \
				} \
				if (!spare) \
					*q = (M)BITS(T, memory); \
			} \
		} else if (spare) { \
			EVERY(i) { \
				M *q = (M *)(a[i] + PLACE(H0)), was = *(volatile M *)q, next; \
				T x = (M)b[i], y = (M)c[i]; \
				V old; \
				do { \
					old = __builtin_bit_cast(V, (T)was); \
					next = (M)BITS(T, one); \
				} while (next != was && !__atomic_compare_exchange_n(q, &was, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)); \
				keep; \
				changed |= next ^ was; \
			} \
		} else { \
			EVERY(i) { \
				M *q = (M *)(a[i] + PLACE(H0)); \
				T x = (M)b[i], y = (M)c[i]; \
				V old = __builtin_bit_cast(V, (T)*q), now = one; \
				*q = (M)BITS(T, now); \
				keep; \
				changed |= BITS(T, now) ^ BITS(T, old); \
			} \
		} \
		if (changed) \
			*ctx->memory_changed = 1; \
		NEXT; \
	}
#define BITS(T, v) __builtin_bit_cast(T, v)
#define BASE_r R
#define BASE_q Q
// atom stores the old values in a row, red does not.
#define ATOMIC(name, M, T, V, ds, value, one) \
	ATOMIC_(atom, name, M, T, V, ds, value, one, d[i] = BITS(T, old), KEEP_##ds(i, old), 0) ATOMIC_(red, name, M, T, V, ds, value, one, , , 1)
#define INTEGER(name, T, ds, value) ATOMIC(name, T, T, T, ds, value, value)
#define INTEGERS(T, S, ds) \
	INTEGER(add_##T, T, ds, old + x) INTEGER(and_##T, T, ds, old & x) INTEGER(or_##T, T, ds, old | x) INTEGER(xor_##T, T, ds, old ^ x) \
	INTEGER(exch_##T, T, ds, x) INTEGER(cas_##T, T, ds, pick(old == x, y, old)) \
	INTEGER(min_##T, T, ds, least(x, old)) INTEGER(max_##T, T, ds, greatest(x, old)) \
	INTEGER(min_##S, T, ds, signed_least(x, old)) INTEGER(max_##S, T, ds, signed_greatest(x, old))
INTEGERS(u32, s32, r) INTEGERS(u64, s64, q)
INTEGER(inc_u32, u32, r, pick(old >= x, old ^ old, old + 1))
INTEGER(dec_u32, u32, r, pick((old == 0) | (old > x), x, old - 1))
ATOMIC(cas_u16, u16, u32, u32, r, pick(old == x, y, old), pick(old == x, y, old))
ATOMIC(add_f32, u32, u32, f32, r, sum(old, x), quick_sum(old, x)) ATOMIC(addglobal_f32, u32, u32, f32, r, flushed_sum(old, x), quick_flushed_sum(old, x))
ATOMIC(add_f64, u64, u64, f64, q, sum(old, x), quick_sum(old, x)) ATOMIC(addglobal_f64, u64, u64, f64, q, global_sum(old, x), quick_global_sum(old, x))
// A single half is the lower half of a word whose upper half is 0, and remains 0.
#define HALVES_OF(type, M, format) \
	ATOMIC(add_##type, M, u32, u32, r, sum_##format(old, x), quick_sum_##format(old, x)) \
	ATOMIC(min_##type, M, u32, u32, r, least_half(old, x, INF_##format), least_half(old, x, INF_##format)) \
	ATOMIC(max_##type, M, u32, u32, r, greatest_half(old, x, INF_##format), greatest_half(old, x, INF_##format))
HALVES_OF(f16, u16, f16) HALVES_OF(bf16, u16, bf16) HALVES_OF(f16x2, u32, f16) HALVES_OF(bf16x2, u32, bf16)
