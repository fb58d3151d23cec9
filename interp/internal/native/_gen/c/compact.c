// Stencils of compact execution: on shadows of registers, which cover the lanes of their masks. An intermediate result is
// outcome (its base) and spare (its stride). If the shadows do not suffice for an instruction, the stencil jumps to OTHER,
// the stencils of execution on the lanes.

#include "stencil.h"
#include "vector.h"

// The executing lanes, and whether a mask lacks some of them.
#ifdef MASKED
#define EXECUTING ((u32)m)
#else
#define EXECUTING 0xffffffffu
#endif
#define NOT_COMPACT(mask) (EXECUTING & ~(mask))

static inline u32 lowest(u32 m) { return __builtin_ctz(m); }
static inline u32 highest(u32 m) { return 31 - __builtin_clz(m); }

// filled writes base + i·stride to lanes of a row. It is not unrolled: a program's code has many such places, and few of
// them are ever executed.
#define FILLED(s) \
	static inline void filled_##s(element_##s *d, element_##s base, element_##s stride, u32 lanes) { \
		vector_##s v = base + MULTIPLES_##s((vector_##s)stride), step = (vector_##s)(stride * LANES_##s); \
		_Pragma("clang loop unroll(disable)") for (int i = 0; i < 32; i += LANES_##s, lanes >>= LANES_##s, v += step) \
			VECTOR(s, d, i) = AMONG(s, lanes, 0) ? v : VECTOR(s, d, i); \
	}
// all_filled writes it to all lanes.
#define ALL_FILLED(s) \
	static inline void all_filled_##s(element_##s *d, element_##s base, element_##s stride) { \
		vector_##s v = base + MULTIPLES_##s((vector_##s)stride), step = (vector_##s)(stride * LANES_##s); \
		VECTORS(s, i) { \
			VECTOR(s, d, i) = v; \
			v += step; \
		} \
	}
FILLED(r) FILLED(q) ALL_FILLED(r) ALL_FILLED(q)

// Base and stride are read and written as one vector: two numbers that are stored separately and read together cannot be
// read from the store buffer. Of 32-bit values the upper halves are always zero.
typedef u64 pair_q __attribute__((ext_vector_type(2), aligned(8)));
typedef u32 pair_r __attribute__((ext_vector_type(4), aligned(8)));
#define PAIR(s, c) (*(pair_##s *)&(c)->base)

// set makes a shadow cover exactly the given lanes.
static inline void set(struct compact *d, u64 base, u64 stride, u32 lanes) {
	PAIR(q, d) = (pair_q){base, stride};
	d->both = lanes;
}

// keep stores outcome and spare in the shadow D of row F for the lanes of m. Further live lanes covered by the shadow are
// materialised first. For all lanes the shadow is replaced; for a part of the lanes, equal values extend the old mask.
#ifdef MASKED
#define KEEP_IN(s, T) \
	STENCIL(keep_##s##_masked) { \
		struct compact *d = SHADOW(D, s##_shadows); \
		u64 base = (T)outcome, stride = (T)spare; \
		if ((u32)m != 0xffffffff && d->base == base && d->stride == stride) { \
			d->mask |= (u32)m; \
			NEXT; \
		} \
		OTHERS_##s \
		set(d, base, stride, (u32)m); \
		NEXT; \
	}
#define OTHERS_OF(s, T, row) \
	u32 rest = d->mask & ~d->clean & ~(u32)m & ctx->live; \
	if (rest) { \
		ctx->materialised += __builtin_popcount(rest); \
		filled_##s(row, (T)d->base, (T)d->stride, rest); \
	}
#define OTHERS_r OTHERS_OF(r, u32, ROW(u32, F))
#define OTHERS_q OTHERS_OF(q, u64, WIDE(u64, F))
#else
#define KEEP_IN(s, T) \
	STENCIL(keep_##s##_full) { \
		set(SHADOW(D, s##_shadows), (T)outcome, (T)spare, 0xffffffff); \
		NEXT; \
	}
#endif
KEEP_IN(r, u32)
KEEP_IN(q, u64)

#ifndef MASKED
// compact jumps to OTHER unless shadow A covers all executing lanes.
#define COMPACT(s) \
	STENCIL(compact_##s) { \
		if ((u32)m & ~SHADOW(A, s##_shadows)->mask) \
			OTHER; \
		NEXT; \
	}
COMPACT(r) COMPACT(q)

// uniform jumps to OTHER unless A, which is compact, is the same in all lanes.
#define UNIFORM(s) \
	STENCIL(uniform_##s) { \
		if (SHADOW(A, s##_shadows)->stride) \
			OTHER; \
		NEXT; \
	}
UNIFORM(r) UNIFORM(q)

// uniform_p jumps to OTHER unless predicate A is the same in all executing lanes.
STENCIL(uniform_p) {
	u32 p = PREDICATE(A) & (u32)m;
	if (p && p != (u32)m)
		OTHER;
	NEXT;
}

// proved stores outcome in the shadow D for all lanes.
#define PROVED(s, T) \
	STENCIL(proved_##s) { \
		set(SHADOW(D, s##_shadows), (T)outcome, 0, 0xffffffff); \
		NEXT; \
	}
PROVED(r, u32) PROVED(q, u64)

// materialise writes the values of shadow A for executing lanes to the row D.
#define EXPAND(s, T, row) \
	STENCIL(materialise_##s) { \
		struct compact *a = SHADOW(A, s##_shadows); \
		u32 need = a->mask & (u32)m & ~a->clean; \
		if (need) { \
			a->clean |= need; \
			ctx->materialised += __builtin_popcount(need); \
			if (need == 0xffffffff) \
				all_filled_##s(row, (T)a->base, (T)a->stride); \
			else \
				filled_##s(row, (T)a->base, (T)a->stride, need); \
		} \
		NEXT; \
	}
EXPAND(r, u32, ROW(u32, D))
EXPAND(q, u64, WIDE(u64, D))

// uncompact has the shadow D not speak for lanes that execute.
#define UNCOMPACT(s) \
	STENCIL(uncompact_##s) { \
		SHADOW(D, s##_shadows)->both &= ~(m | m << 32); \
		NEXT; \
	}
UNCOMPACT(r) UNCOMPACT(q)

#endif

// The fast forms of affinetrack (fast.go there) follow. They compute with base and stride modulo the width of the slot, and
// check whether their operands are compact. For all lanes they store the result in the shadow D; for a part of the lanes,
// keep follows them.
#ifdef MASKED
#define RESULT(s, base_of, stride_of) \
	{ \
		outcome = (base_of); \
		spare = (stride_of); \
		NEXT; \
	}
#else
#define RESULT(s, base_of, stride_of) \
	{ \
		set(SHADOW(D, s##_shadows), (T_##s)(base_of), (T_##s)(stride_of), 0xffffffff); \
		NEXT; \
	}
#endif
#define T_r u32
#define T_q u64

// widened extends a progression of 32 bits; 0: it leaves the range of 32-bit numbers between lanes of m.
static inline int widened(u64 *base, u64 *stride, const struct compact *v, int is_signed, u32 m) {
	u64 first = lowest(m), last = highest(m), b = v->base, s = v->stride;
	s64 step = (s32)s, x, end;
	if (is_signed) {
		x = (s32)(b + first * s);
		end = x + (s64)(last - first) * step;
		*base = x - (s64)first * step;
		*stride = step;
		return end == (s32)end;
	}
	x = (s64)(u64)(u32)(b + first * s);
	end = x + (s64)(last - first) * step;
	*base = x - (s64)first * step;
	*stride = step;
	return end == (s64)(u64)(u32)end;
}

#define COMPACT_A(s) \
	const struct compact *a = SHADOW(A, s##_shadows); \
	if (NOT_COMPACT(a->mask)) \
		OTHER;
#define COMPACT_AB(s, t) \
	const struct compact *a = SHADOW(A, s##_shadows), *b = SHADOW(B, t##_shadows); \
	if (NOT_COMPACT(a->mask & b->mask)) \
		OTHER;

// Operations that do the same to base and stride are a single vector operation.
#ifdef MASKED
#define RESULT_OF(s, of) \
	{ \
		pair_##s result = (of); \
		outcome = __builtin_bit_cast(pair_q, result)[0]; \
		spare = __builtin_bit_cast(pair_q, result)[1]; \
		NEXT; \
	}
#else
#define RESULT_OF(s, of) \
	{ \
		struct compact *kept = SHADOW(D, s##_shadows); \
		PAIR(s, kept) = (of); \
		kept->both = 0xffffffff; \
		NEXT; \
	}
#endif
#define UNARY(name, s, t, of) \
	STENCIL(FORM(affine_##name##_##s)) { \
		COMPACT_A(t) \
		RESULT_OF(s, of) \
	}
#define UNARIES(s) \
	UNARY(move, s, s, PAIR(s, a)) UNARY(neg, s, s, -PAIR(s, a)) \
	STENCIL(FORM(affine_not_##s)) { \
		COMPACT_A(s) \
		RESULT(s, ~a->base, -a->stride) \
	}
UNARIES(r) UNARIES(q) UNARY(narrow, r, q, PAIR(r, a) & ((pair_r){-1, 0, -1, 0}))

#define SUM(name, op, s) \
	STENCIL(FORM(affine_##name##_##s)) { \
		COMPACT_AB(s, s) \
		RESULT_OF(s, PAIR(s, a) op PAIR(s, b)) \
	}
SUM(add, +, r) SUM(add, +, q) SUM(sub, -, r) SUM(sub, -, q)

#define PRODUCT(s) \
	STENCIL(FORM(affine_mul_##s)) { \
		COMPACT_AB(s, s) \
		u64 x = a->base, y = b->base, dx = a->stride, dy = b->stride; \
		if (dx && dy) \
			OTHER; \
		RESULT(s, x * y, dx * y + x * dy) \
	} \
	STENCIL(FORM(affine_mad_##s)) { \
		const struct compact *c = SHADOW(C, s##_shadows); \
		if (NOT_COMPACT(c->mask)) \
			OTHER; \
		COMPACT_AB(s, s) \
		u64 x = a->base, y = b->base, dx = a->stride, dy = b->stride; \
		if (dx && dy) \
			OTHER; \
		RESULT(s, x * y + c->base, dx * y + x * dy + c->stride) \
	}
PRODUCT(r) PRODUCT(q)

// A shift by at least the width gives 0.
#define SHIFT(s) \
	STENCIL(FORM(affine_shl_##s)) { \
		COMPACT_AB(s, r) \
		u32 k = (u32)b->base; \
		if (b->stride) \
			OTHER; \
		RESULT(s, k < 64 ? a->base << k : 0, k < 64 ? a->stride << k : 0) \
	}
SHIFT(r) SHIFT(q)

#define WIDEN(name, is_signed) \
	STENCIL(FORM(affine_widen_##name)) { \
		COMPACT_A(r) \
		u64 base, stride; \
		if (!widened(&base, &stride, a, is_signed, EXECUTING)) \
			OTHER; \
		RESULT(q, base, stride) \
	}
WIDEN(s, 1) WIDEN(u, 0)

// WIDE_PRODUCT computes base and stride of A·B, one of which must be the same in all lanes.
#define WIDE_PRODUCT(is_signed) \
	COMPACT_AB(r, r) \
	if (b->stride) { \
		const struct compact *c = a; \
		a = b, b = c; \
	} \
	u64 base, stride, by = is_signed ? (u64)(s64)(s32)b->base : (u64)(u32)b->base; \
	if (b->stride || !widened(&base, &stride, a, is_signed, EXECUTING)) \
		OTHER; \
	base *= by; \
	stride *= by;
#define MUL_WIDE(name, is_signed) \
	STENCIL(FORM(affine_mulwide_##name)) { \
		WIDE_PRODUCT(is_signed) \
		RESULT(q, base, stride) \
	} \
	STENCIL(FORM(affine_madwide_##name)) { \
		const struct compact *c = SHADOW(C, q_shadows); \
		u64 cb = c->base, cs = c->stride; \
		if (NOT_COMPACT(c->mask)) \
			OTHER; \
		WIDE_PRODUCT(is_signed) \
		RESULT(q, base + cb, stride + cs) \
	}
MUL_WIDE(s, 1) MUL_WIDE(u, 0)

// RULE is a rule on 32-bit numbers: of A, from x in the lowest executing lane to end in the highest, with distance step
// from lane to lane. If both operands are the same in all lanes it exits: an operation on single values handles them.
#define RULE(name, is_signed, ...) \
	STENCIL(FORM(affine_##name)) { \
		COMPACT_AB(r, r) \
		u64 base, stride; \
		if (!(a->stride | b->stride)) \
			LEAVE; \
		if (!widened(&base, &stride, a, is_signed, EXECUTING)) \
			OTHER; \
		s64 first = lowest(EXECUTING), n = highest(EXECUTING) - first, step = stride, x = base + first * step, end = x + n * step; \
		__VA_ARGS__ \
	}
#define ANCHORED(at, by) \
	u64 each = (by); \
	RESULT(r, (at) - (u64)first * each, each)

// DIVIDED is the result of a division that rounds down, given for the lowest and the highest lane: the results are equal,
// or the divisor must divide the stride.
#define DIVIDED(low, high, exact, by) \
	if ((low) == (high)) \
		RESULT(r, low, 0) \
	if (!(exact)) \
		OTHER; \
	ANCHORED(low, by)
#define SHIFT_RIGHT(name, is_signed) \
	RULE(shr_##name, is_signed, \
		if (b->stride) \
			OTHER; \
		u32 by = (u32)b->base; \
		int k = by < 63 ? by : 63; \
		DIVIDED(x >> k, end >> k, !(step & (1ul << k) - 1), step >> k))
SHIFT_RIGHT(s, 1) SHIFT_RIGHT(u, 0)

// Divisors are positive, and dividends not negative. They are numbers of 32 bits without sign.
#define DIVISION(name, is_signed) \
	RULE(div_##name, is_signed, DIVISOR(is_signed) \
		u32 q = (u32)x / d, r = (u32)end / d; \
		DIVIDED(q, r, !(step % (s64)d), step / (s64)d)) \
	RULE(rem_##name, is_signed, DIVISOR(is_signed) \
		u32 q = (u32)x / d, rest = (u32)x % d; \
		if (q == (u32)end / d) { \
			ANCHORED(rest, step) \
		} \
		if (step % (s64)d) \
			OTHER; \
		RESULT(r, rest, 0))
#define DIVISOR(is_signed) \
	u32 d = (u32)b->base; \
	if (b->stride || !d || (is_signed && ((s32)d < 0 || x < 0 || end < 0))) \
		OTHER;
DIVISION(s, 1) DIVISION(u, 0)

// EXTREME is that of two operands which is not the greater or the less in any lane.
#define EXTREME(name, is_signed, op) \
	RULE(name, is_signed, \
		u64 other_base, other_stride; \
		if (!widened(&other_base, &other_stride, b, is_signed, EXECUTING)) \
			OTHER; \
		s64 from = x - (s64)(other_base + first * other_stride), to = from + n * (step - (s64)other_stride); \
		if (from < 0 && to > 0 || from > 0 && to < 0) \
			OTHER; \
		a = (from ? from : to) op 0 ? a : b; \
		RESULT(r, a->base, a->stride))
EXTREME(min_s, 1, <=) EXTREME(min_u, 0, <=) EXTREME(max_s, 1, >=) EXTREME(max_u, 0, >=)

// BITWISE is an operation of a progression and a number u that is the same in all lanes: vary has the bits that differ
// between lanes, below which nothing does, nor above them if the numbers do not wrap.
#define BITWISE(name, op, ...) \
	STENCIL(FORM(affine_##name)) { \
		COMPACT_AB(r, r) \
		if (!(a->stride | b->stride)) \
			LEAVE; \
		if (a->stride && b->stride) \
			OTHER; \
		u64 by = a->stride, base, stride, first = lowest(EXECUTING); \
		if (b->stride) { \
			const struct compact *c = a; \
			a = b, b = c; \
			by = a->stride; \
		} \
		u32 u = (u32)b->base, vary = -((u32)by & -(u32)by); \
		u64 at = a->base + first * by; \
		if (widened(&base, &stride, a, 0, EXECUTING)) { \
			u32 differ = (u32)(base + first * stride) ^ (u32)(base + (u64)highest(EXECUTING) * stride); \
			vary &= differ ? 0xffffffffu >> __builtin_clz(differ) : 0; \
		} \
		at = at op u; \
		__VA_ARGS__ \
	}
// The operation leaves all varying bits unchanged if u has none of them (for and: all of them), or makes them equal in all
// lanes.
#define KEEPS_OR_MAKES_UNIFORM(keeps, makes_uniform) \
	if (keeps) { \
		ANCHORED(at, by) \
	} \
	if (!(makes_uniform)) \
		OTHER; \
	RESULT(r, at, 0)
BITWISE(and, &, KEEPS_OR_MAKES_UNIFORM((u & vary) == vary, !(u & vary)))
BITWISE(or, |, KEEPS_OR_MAKES_UNIFORM(!(u & vary), (u & vary) == vary))
BITWISE(xor, ^,
	if (u & vary && (u & vary) != vary)
		OTHER;
	ANCHORED(at, u & vary ? -by : by))

// A comparison's outcome is the lanes it holds for: all or none.
#define COMPARE(name, is_signed, if_same, holds, clear) \
	STENCIL(FORM(affine_##name)) { \
		COMPACT_AB(r, r) \
		u64 x = a->base, y = b->base, dx = a->stride, dy = b->stride; \
		if (x == y && dx == dy) { \
			outcome = if_same ? 0xffffffff : 0; \
			NEXT; \
		} \
		if (!widened(&x, &dx, a, is_signed, EXECUTING) || !widened(&y, &dy, b, is_signed, EXECUTING)) \
			OTHER; \
		s64 base = x - y, step = dx - dy; \
		s64 d0 = base + (s64)lowest(EXECUTING) * step, d1 = base + (s64)highest(EXECUTING) * step; \
		if (!(clear)) \
			OTHER; \
		outcome = (holds) ? 0xffffffff : 0; \
		NEXT; \
	}
#define ORDER(sign, is_signed) \
	COMPARE(lt_##sign, is_signed, 0, d0 < 0, (d0 < 0) == (d1 < 0)) \
	COMPARE(ge_##sign, is_signed, 1, d0 >= 0, (d0 >= 0) == (d1 >= 0)) \
	COMPARE(gt_##sign, is_signed, 0, d0 > 0, (d0 > 0) == (d1 > 0)) \
	COMPARE(le_##sign, is_signed, 1, d0 <= 0, (d0 <= 0) == (d1 <= 0)) \
	COMPARE(eq_##sign, is_signed, 1, 0, (d0 < 0 && d1 < 0) || (d0 > 0 && d1 > 0)) \
	COMPARE(ne_##sign, is_signed, 0, 1, (d0 < 0 && d1 < 0) || (d0 > 0 && d1 > 0))
ORDER(s, 1) ORDER(u, 0)

// A selection is A if predicate C holds, else B; it does not read the operand that is not selected.
#define SELECT(s) \
	STENCIL(FORM(affine_select_##s)) { \
		u32 p = PREDICATE(C) & EXECUTING; \
		if (p && p != EXECUTING) \
			OTHER; \
		const struct compact *a = SHADOW(A, s##_shadows), *b = SHADOW(B, s##_shadows); \
		a = p ? a : b; \
		if (NOT_COMPACT(a->mask)) \
			OTHER; \
		spare = a->stride; /* tally_uniform asks, when all lanes execute, too */ \
		RESULT(s, a->base, spare) \
	}
SELECT(r) SELECT(q)

// reach finds the memory of accesses of E bytes at the compact address A + H0: ctx->at is the address of the lowest lane,
// ctx->step the distance from lane to lane. H1 is the place of the allocation.
#define AT_q \
	const struct compact *a = SHADOW(A, q_shadows); \
	if (NOT_COMPACT(a->mask)) \
		OTHER; \
	u64 base = a->base, by = a->stride;
#define AT_r \
	const struct compact *a = SHADOW(A, r_shadows); \
	u64 base, by; \
	if (NOT_COMPACT(a->mask) || !widened(&base, &by, a, 0, EXECUTING)) \
		OTHER;
#define AT_none u64 base = 0, by = 0;
#define IN_hit \
	struct allocation *al = *(struct allocation **)((char *)ctx->hits + PLACE(H1)); \
	if (!al) \
		OTHER; \
	u64 begin = al->base;
#define IN_shared \
	struct allocation *al = ctx->shared; \
	u64 begin = al->base - SHARED_WINDOW;
#define REACH(as, in) \
	STENCIL(FORM(reach_##as##_##in)) { \
		IN_##in AT_##as \
		u64 first = lowest(EXECUTING), n = highest(EXECUTING) - first, bytes = (u32)NUMBER(HE); \
		u64 from = base + first * by + (u64)NUMBER(H0) - begin, to = from + n * by, end = al->size & -bytes; \
		if (by != (u64)(s64)(s32)by || from >= end || to >= end || ((from | by) & (bytes - 1))) \
			OTHER; \
		ctx->at = al->ptr + from; \
		ctx->step = by; \
		NEXT; \
	}
REACH(q, hit) REACH(q, shared) REACH(r, hit) REACH(r, shared) REACH(none, shared)

#ifndef MASKED
// reach_fixed is reach at offset H0 of the allocation with place H1 in the list of fixed allocations.
STENCIL(reach_fixed) {
	struct allocation *al = *(struct allocation **)((char *)ctx->fixed + PLACE(H1));
	if (al->size < PLACE(H0) + (u32)NUMBER(HE))
		OTHER;
	ctx->at = al->ptr + PLACE(H0);
	ctx->step = 0;
	NEXT;
}

// one loads the element at H0, which is the same for all lanes.
#define ONE(E) \
	STENCIL(one_##E) { \
		outcome = (u64)*(E##_u *)(ctx->at + PLACE(H0)); \
		spare = 0; \
		NEXT; \
	}
ONE(u8) ONE(s8) ONE(u16) ONE(s16) ONE(u32) ONE(s32) ONE(u64)

struct source { // Source in context.go
	u64 base, stride;
};

struct sources { // the part of Context after struct context
	struct context rest;
	char *r, *q, *p;
	struct source *sources;
};

// source reads special register H0 of the context's list. A thread index (source_thread) is uniform if a single lane
// executes.
#define SOURCE(name, alone) \
	STENCIL(name) { \
		const struct source *s = (struct source *)((char *)((struct sources *)ctx)->sources + PLACE(H0)); \
		outcome = s->base; \
		spare = s->stride; \
		if (alone && !((u32)m & (u32)m - 1)) { \
			outcome += (u64)lowest((u32)m) * spare; \
			spare = 0; \
		} \
		NEXT; \
	}
SOURCE(source_thread, 1) SOURCE(source_any, 0)

// changes sets the flag for changed memory.
STENCIL(changes) {
	*ctx->memory_changed = 1;
	NEXT;
}
#endif
