// Common parts of the stencils of memory instructions whose lanes have addresses of their own. It needs "rows.h".

// FIND defines a, the addresses; f and l, the outermost lanes of the first half, f2 and l2 of the second; o and o2, the
// offsets of lane 0 if the elements of a half are contiguous.
#define FIND(E) \
	OUTERMOST \
	const u64 n = sizeof(E); \
	u64 o = a[f] + off - f * n, o2 = a[f2] + off - f2 * n;
// AS_BESIDE reports whether the outermost lanes of each half are as far apart as in contiguous elements.
#define AS_BESIDE(as) AS_BESIDE_##as(f, l) && AS_BESIDE_##as(f2, l2)
#define AS_BESIDE_r(f, l) (a[l] - a[f] == (u32)(l - f) * (u32)n)
#define AS_BESIDE_q(f, l) (a[l] - a[f] == (u64)(l - f) * n)
#define SIDE_BY_SIDE(as) beside_##as(a, m, a[f] - f * n, a[f2] - f2 * n, n)
// An offset o is in [0, last] if neither o nor last - o is negative; two offsets are in order if their difference is not
// negative: addresses may have wrapped.
#define WITHIN(o, end) ((o) | (last - (o)) | (end) | (last - (end)) | ((end) - (o)))
#define CHECK_OUTERMOST \
	u64 first = a[f] + off, first2 = a[f2] + off; \
	if (UNLIKELY(((WITHIN(first, a[l] + off) | WITHIN(first2, a[l2] + off)) & SIGN) | ((first | first2) & (n - 1)))) \
		LEAVE;

// ADD_COST counts an instruction that takes as long as n additional instructions: machine code exits earlier by n.
#define ADD_COST(n) (ctx->count_limit = ctx->count_limit > (n) ? ctx->count_limit - (n) : 0)
