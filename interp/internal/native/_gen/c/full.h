// Lanes of a row if all lanes execute: see "rows.h". It needs "vector.h".

#define KEEP_r(i, v) (*(ROW_r *)(d + (i)) = (v))
#define KEEP_q(i, v) (*(ROW_q *)(d + (i)) = (v))
#define EVERY(i) _Pragma("clang loop unroll_count(4) vectorize(disable)") for (int i = 0; i < 32; i++)
#define FEWER(n, access)
#define OUTERMOST const int f = 0, l = 15, f2 = 16, l2 = 31;
#define WHOLE(n) 1
#define PUT(E, ds, i, to) (*(KEPT(E, ds) *)(to) = __builtin_convertvector(*(ROW_##ds *)(d + (i)), KEPT(E, ds)))
#define SOME_BYTES 1 // the host loads and stores elements of 1 or 2 bytes
#define GET(E, ds, i, from) (*(KEPT(E, ds) *)(from))
// EVERY_SPREAD loads elements at a distance; the elements of KEPT lanes form a vector.
#define SPREAD_AT(E, k) (*(E##_u *)(at + (k) * apart))
#define SPREAD_8(E, k) SPREAD_AT(E, k), SPREAD_AT(E, k + 1), SPREAD_AT(E, k + 2), SPREAD_AT(E, k + 3), SPREAD_AT(E, k + 4), SPREAD_AT(E, k + 5), SPREAD_AT(E, k + 6), SPREAD_AT(E, k + 7)
#define EVERY_SPREAD(E, ds) \
	EACH_KEPT(ds, i) { \
		const char *at = p + (i < 16 ? o : o2) + i * apart; \
		KEEP_##ds(i, __builtin_convertvector(((KEPT(E, ds)){SPREAD_OF(KEPT_##ds, E)}), ROW_##ds)); \
	}
#define SPREAD_OF(n, E) SPREAD_OF_(n, E)
#define SPREAD_OF_(n, E) SPREAD_OF_##n(E)
#define SPREAD_OF_8(E) SPREAD_8(E, 0)
#define SPREAD_OF_16(E) SPREAD_8(E, 0), SPREAD_8(E, 8)
