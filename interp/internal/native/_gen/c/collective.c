// Stencils of special registers, of addresses in a frame or in shared memory, and of collective instructions. A
// collective instruction leaves if lanes of its membermask are missing.

#include "rows.h"

#define FILL(ds, v) EACH_KEPT(ds, i) KEEP_##ds(i, (ROW_##ds)(typeof(d[0] + 0u))(v))

// The uniform special register at offset H0, reduced to the bits of H1; the special register in the row at H0, from the
// rows of the warp or of all warps.
#define SPECIAL(ds) \
	STENCIL(FORM(sreg_##ds)) { \
		DATA_##ds(D) \
		u64 v = *(u64 *)(MACHINE->uniform + PLACE(H0)) & (u64)NUMBER(H1); \
		FILL(ds, v); \
		NEXT; \
	}
#define SPECIAL_ROW(name, ds) \
	STENCIL(FORM(sreg_##name##_##ds)) { \
		DATA_##ds(D) \
		const u32 *s = (const u32 *)(MACHINE->name + PLACE(H0)); \
		u32 cut = (u32)NUMBER(H1); \
		EACH_KEPT(ds, i) KEEP_##ds(i, __builtin_convertvector(*(KEPT(u32, ds) *)(s + i) & cut, ROW_##ds)); \
		NEXT; \
	}
SPECIAL(r) SPECIAL(q) SPECIAL_ROW(tid, r) SPECIAL_ROW(tid, q) SPECIAL_ROW(lanes, r) SPECIAL_ROW(lanes, q)

// Addresses: offset H0 of the running function's frame, or of the CTA's shared memory.
#define ADDRESS(name, ds, v) \
	STENCIL(FORM(name##_##ds)) { \
		DATA_##ds(D) \
		FILL(ds, v); \
		NEXT; \
	}
ADDRESS(frame, r, MACHINE->frame + (u64)NUMBER(H0)) ADDRESS(frame, q, MACHINE->frame + (u64)NUMBER(H0))
ADDRESS(shared, r, ctx->shared->base - SHARED_WINDOW + (u64)NUMBER(H0)) ADDRESS(shared, q, ctx->shared->base - SHARED_WINDOW + (u64)NUMBER(H0))

// members precedes an instruction with membermask A and exits if lanes are missing. equal_members also exits unless all
// executing lanes have the same membermask: then all active lanes take part.
static inline u64 missing(const u32 *member, u64 m, u32 live) {
	vector_r bad = {0};
	VECTORS(r, i) {
		vector_r v = VECTOR(r, member, i), self = (vector_r)1 << (INDEX_r + (u32)i);
		bad |= (v & (live & ~(u32)m) | ~v & self) & EXECUTE(r, i);
	}
	return ANY(bad);
}
STENCIL(FORM(members)) {
	if (UNLIKELY(missing(ROW(u32, A), m, ctx->live)))
		LEAVE;
	NEXT;
}
STENCIL(FORM(equal_members)) {
	const u32 *a = ROW(u32, A);
	u32 first = a[__builtin_ctz((u32)m)];
	if (UNLIKELY(missing(a, m, ctx->live) || ({ AGAIN; !beside_r(a, m, first, first, 0); })))
		LEAVE;
	NEXT;
}

typedef s32 signed_r __attribute__((ext_vector_type(LANES_r), aligned(1)));
typedef signed_r vector_signed;
// SIGNS is a mask whose bit i is the sign of lane i; PICK is lanes j of a row.
#if VECTOR_BYTES == 64
#define SIGNS(v) (u32)_mm512_movepi32_mask((__m512i)(v))
#define PICK(a, j) (vector_r)_mm512_permutex2var_epi32(*(__m512i_u *)(a), (__m512i)(j), *(__m512i_u *)((a) + 16))
#else
#define SIGNS(v) (u32)_mm256_movemask_ps((__m256)(v))
#define PICK(a, j) (vector_r)_mm256_i32gather_epi32((const int *)(a), (__m256i)(j), 4)
#endif

// shfl: the outcome is the predicate. A lane without an active source lane gets its own value.
#define SHFL(name, source, ok) \
	STENCIL(FORM(shfl_##name)) { \
		const u32 *a = ROW(u32, A), *b = ROW(u32, B), *c = ROW(u32, C); \
		u32 *d = ROW(u32, D); \
		vector_r got[32 / LANES_r]; \
		u32 p = 0; \
		VECTORS(r, i) { \
			signed_r lane = (signed_r)INDEX_r + i; \
			signed_r by = VECTOR(signed, b, i) & 31, clamp = VECTOR(signed, c, i) & 31, cut = VECTOR(signed, c, i) >> 8 & 31; \
			signed_r max = lane & cut | clamp & ~cut, min = lane & cut, j = source; \
			signed_r in = (signed_r)(ok); \
			p |= SIGNS(in) << i; \
			in &= -(signed_r)((vector_r)(u32)m >> (vector_r)(j & 31) & 1); \
			j = j & in | lane & ~in; \
			got[i / LANES_r] = PICK(a, j); \
		} \
		VECTORS(r, i) KEEP_r(i, got[i / LANES_r]); \
		outcome = p; \
		NEXT; \
	}
SHFL(up, lane - by, j >= max)
SHFL(down, lane + by, j <= max)
SHFL(bfly, lane ^ by, j <= max)
SHFL(idx, min | by & ~cut, j <= max)

#define VOTE(name, v) \
	STENCIL(FORM(vote_##name)) { \
		u32 yes = PREDICATE(A) & (u32)m, *d = AT(u32, D, P); \
		u32 t = (v) ? ~0u : 0; \
		*d = MERGE(*d, t); \
		NEXT; \
	}
VOTE(all, yes == (u32)m) VOTE(any, yes != 0) VOTE(uni, yes == (u32)m || yes == 0)
STENCIL(FORM(ballot)) {
	u32 yes = PREDICATE(A) & (u32)m;
	DATA_r(D)
	FILL(r, yes);
	NEXT;
}
STENCIL(FORM(activemask)) {
	DATA_r(D)
	FILL(r, m);
	NEXT;
}

// elect: the outcome is the predicate, true for the lowest executing lane.
STENCIL(FORM(elect)) {
	u32 leader = __builtin_ctz((u32)m);
	DATA_r(D)
	FILL(r, leader);
	outcome = 1u << leader;
	NEXT;
}

// match.any: a lane gets the executing lanes that have its value. SAME adds lane j to the results of the lanes with its value.
#define MATCH_ANY(as) \
	STENCIL(FORM(match_any_##as)) { \
		ADDR_##as \
		u32 *d = ROW(u32, D); \
		vector_##as same[32 / LANES_##as] = {0}; \
		_Pragma("clang loop unroll_count(4)") for (u32 j = 0; j < 32; j++) { \
			element_##as value = a[j], bit = (u32)m & 1u << j; \
			VECTORS(as, i) same[i / LANES_##as] |= (vector_##as)(VECTOR(as, a, i) == value) & bit; \
		} \
		KEEP_MATCHES_##as \
		NEXT; \
	}
#define KEEP_MATCHES_r VECTORS(r, i) KEEP_r(i, same[i / LANES_r]);
#define KEEP_MATCHES_q EACH_KEPT(r, i) KEEP_r(i, MATCHES(i));
#if VECTOR_BYTES == 64
#define MATCHES(i) __builtin_shufflevector(__builtin_convertvector(same[(i) / 8], narrow_r), __builtin_convertvector(same[(i) / 8 + 1], narrow_r), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
#define MATCHES(i) __builtin_shufflevector(__builtin_convertvector(same[(i) / 4], narrow_r), __builtin_convertvector(same[(i) / 4 + 1], narrow_r), 0, 1, 2, 3, 4, 5, 6, 7)
#endif
MATCH_ANY(r) MATCH_ANY(q)

// match.all: all executing lanes get their mask and a true predicate if they have one value, and 0 otherwise. The outcome is the
// predicate.
#define MATCH_ALL(as) \
	STENCIL(FORM(match_all_##as)) { \
		ADDR_##as \
		element_##as first = a[__builtin_ctz((u32)m)]; \
		vector_##as differences = {0}; \
		VECTORS(as, i) differences |= (VECTOR(as, a, i) ^ first) & EXECUTE(as, i); \
		u32 all = ANY(differences) ? 0 : ~0u; \
		DATA_r(D) \
		FILL(r, (u32)m & all); \
		outcome = all; \
		NEXT; \
	}
MATCH_ALL(r) MATCH_ALL(q)

// redux: idle lanes count as a value that changes no result.
#define REDUX(name, vector, neutral, combine, reduce) \
	STENCIL(FORM(redux_##name)) { \
		const u32 *a = ROW(u32, A); \
		DATA_r(D) \
		vector sum = (vector)(vector_r)(u32)(neutral); \
		VECTORS(r, i) { \
			vector v = (vector)(VECTOR(r, a, i) & EXECUTE(r, i) | (u32)(neutral) & ~EXECUTE(r, i)); \
			sum = combine; \
		} \
		u32 v = (u32)reduce(sum); \
		FILL(r, v); \
		NEXT; \
	}
REDUX(add, vector_r, 0, sum + v, __builtin_reduce_add)
REDUX(and, vector_r, ~0u, sum & v, __builtin_reduce_and)
REDUX(or, vector_r, 0, sum | v, __builtin_reduce_or)
REDUX(xor, vector_r, 0, sum ^ v, __builtin_reduce_xor)
REDUX(min_u32, vector_r, ~0u, __builtin_elementwise_min(sum, v), __builtin_reduce_min)
REDUX(max_u32, vector_r, 0, __builtin_elementwise_max(sum, v), __builtin_reduce_max)
REDUX(min_s32, vector_signed, 0x7fffffff, __builtin_elementwise_min(sum, v), __builtin_reduce_min)
REDUX(max_s32, vector_signed, 0x80000000, __builtin_elementwise_max(sum, v), __builtin_reduce_max)

// min and max of .f32, of the operands' bits in H0. In the order of numbers -0 is before +0; it is that of integers after ordered. A NaN
// becomes the greatest or the least of all, and so does not count; but if H1 has all bits, the result is the canonical NaN.
static inline vector_signed ordered(vector_r v) { return (vector_signed)v ^ ((vector_signed)v >> 31 & 0x7fffffff); }
#define REDUX_FLOAT(name, nan) \
	STENCIL(FORM(redux_##name##_f32)) { \
		const u32 *a = ROW(u32, A); \
		DATA_r(D) \
		vector_signed sum = ordered((vector_r)(u32)(nan)); \
		vector_r any = {0}; \
		VECTORS(r, i) { \
			vector_r v = VECTOR(r, a, i) & (u32)NUMBER(H0) & EXECUTE(r, i) | (u32)(nan) & ~EXECUTE(r, i); \
			vector_r is = (vector_r)((v & 0x7fffffff) > 0x7f800000); \
			any |= is & EXECUTE(r, i); \
			sum = __builtin_elementwise_##name(sum, ordered(v & ~is | (u32)(nan) & is)); \
		} \
		s32 best = __builtin_reduce_##name(sum); \
		u32 v = (u32)(best ^ (best >> 31 & 0x7fffffff)); \
		if ((v & 0x7fffffff) > 0x7f800000 || NUMBER(H1) && ANY(any)) \
			v = 0x7fffffff; \
		FILL(r, v); \
		NEXT; \
	}
REDUX_FLOAT(min, 0x7fffffff) REDUX_FLOAT(max, 0xffffffff)
