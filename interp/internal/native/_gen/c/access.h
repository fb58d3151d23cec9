// What stencils of memory instructions share whose lanes have addresses of their own, behind "rows.h".

// FIND has a be the addresses, f and l the outermost lanes of the one half, f2 and l2 of the other, and o and o2 what the
// offsets of elements side by side begin with.
#define FIND(E) \
	OUTERMOST \
	const u64 n = sizeof(E); \
	u64 o = a[f] + off - f * n, o2 = a[f2] + off - f2 * n;
// AS_BESIDE is whether the outermost lanes of each half are as they are where all are side by side.
#define AS_BESIDE(as) AS_BESIDE_##as(f, l) && AS_BESIDE_##as(f2, l2)
#define AS_BESIDE_r(f, l) (a[l] - a[f] == (u32)(l - f) * (u32)n)
#define AS_BESIDE_q(f, l) (a[l] - a[f] == (u64)(l - f) * n)
#define SIDE_BY_SIDE(as) beside_##as(a, m, a[f] - f * n, a[f2] - f2 * n, n)
// An offset o is in [0, last] where neither o nor last - o has a sign, and one is not before another where their difference has
// none: addresses may have wrapped round.
#define WITHIN(o, end) ((o) | (last - (o)) | (end) | (last - (end)) | ((end) - (o)))
#define CHECK_OUTERMOST \
	u64 first = a[f] + off, first2 = a[f2] + off; \
	if (UNLIKELY(((WITHIN(first, a[l] + off) | WITHIN(first2, a[l2] + off)) & SIGN) | ((first | first2) & (n - 1)))) \
		LEAVE;

// ADD_COST counts what takes as long as n others besides itself: machine code comes back so much earlier.
#define ADD_COST(n) (ctx->count_limit = ctx->count_limit > (n) ? ctx->count_limit - (n) : 0)
