// Stencils of special registers, of addresses that are the warp's own, and of what its lanes do together. A
// collective instruction leaves where lanes are missing that it names.

#include "rows.h"

#define FILL(ds, v) EACH(i, 4) KEEP8_##ds(8 * i, (EIGHT_##ds)(typeof(d[0] + 0u))(v))

// The special register at offset H0, of which the bits of H1 are wanted; the one in the row at H0 of those of the warp,
// or of all warps.
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
		EACH(i, 4) KEEP8_##ds(8 * i, __builtin_convertvector(*(u32x8 *)(s + 8 * i) & cut, EIGHT_##ds)); \
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

// joined is before an instruction whose membermask is A, and alike before one that wants all lanes to have
// the same, too: then all that are active vote.
static inline u64 missing(const u32 *member, u64 m, u32 live) {
	u32x8 bad = (u32x8)0;
	EACH(i, 4) {
		u32x8 v = *(const u32x8 *)(member + 8 * i), self = (u32x8){1, 2, 4, 8, 16, 32, 64, 128} << (u32)(8 * i);
		bad |= (v & (live & ~(u32)m) | ~v & self) & ~IDLE8(8 * i);
	}
	return !_mm256_testz_si256((__m256i)bad, (__m256i)bad);
}
STENCIL(FORM(joined)) {
	if (RARELY(missing(ROW(u32, A), m, ctx->live)))
		LEAVE;
	NEXT;
}
STENCIL(FORM(alike)) {
	const u32 *a = ROW(u32, A);
	u32 first = a[__builtin_ctz((u32)m)];
	if (RARELY(missing(a, m, ctx->live) || ({ AGAIN; !beside_r(a, m, first, first, 0); })))
		LEAVE;
	NEXT;
}

// shfl: the outcome is the predicate. A lane whose source takes no part gets its own value.
#define SHFL(name, source, ok) \
	STENCIL(FORM(shfl_##name)) { \
		const u32 *a = ROW(u32, A), *b = ROW(u32, B), *c = ROW(u32, C); \
		u32 *d = ROW(u32, D); \
		u32x8 got[4]; \
		u32 p = 0; \
		EACH(i, 4) { \
			s32x8 lane = (s32x8){0, 1, 2, 3, 4, 5, 6, 7} + 8 * i; \
			s32x8 by = *(s32x8 *)(b + 8 * i) & 31, clamp = *(s32x8 *)(c + 8 * i) & 31, cut = *(s32x8 *)(c + 8 * i) >> 8 & 31; \
			s32x8 max = lane & cut | clamp & ~cut, min = lane & cut, j = source; \
			s32x8 in = (s32x8)(ok); \
			p |= (u32)_mm256_movemask_ps((__m256)in) << 8 * i; \
			in &= -(s32x8)((u32x8)(u32)m >> (u32x8)(j & 31) & 1); \
			j = j & in | lane & ~in; \
			got[i] = (u32x8)_mm256_i32gather_epi32((const int *)a, (__m256i)j, 4); \
		} \
		EACH(i, 4) KEEP8_r(8 * i, got[i]); \
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
