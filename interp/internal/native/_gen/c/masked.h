// Lanes of a row if only a part executes, for all sizes of vectors: see "rows.h".

#define EVERY_SPREAD(E, ds) EVERY(i) d[i] = *(E##_u *)(p + (i < 16 ? o : o2) + apart * i);
#define EVERY(i) for (u32 left = (u32)m, i; left != 0 && (i = __builtin_ctz(left), 1); left &= left - 1)
// FEWER handles up to six lanes separately.
#define FEWER(n, access) \
	if (__builtin_popcount((u32)m) <= 6) { \
		u64 bad = 0; \
		EVERY(i) bad |= outside(a[i] + off, last, n); \
		if (UNLIKELY(bad)) \
			LEAVE; \
		access \
		NEXT; \
	}
#define OUTERMOST \
	u32 low = (u32)m & 0xffff, high = (u32)m >> 16; \
	int f = __builtin_ctz((u32)m), l = low ? 31 - __builtin_clz(low) : f, f2 = high ? 16 + __builtin_ctz(high) : f, l2 = 31 - __builtin_clz((u32)m);
// WHOLE reports whether the elements of all lanes are in bounds, including idle lanes.
#define WHOLE(n) !(past(o, o + 15 * (n), last, n) | past(o2 + 16 * (n), o2 + 31 * (n), last, n))
