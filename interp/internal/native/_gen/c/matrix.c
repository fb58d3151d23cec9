// Stencils of matrix instructions, for all lanes of a warp. The stencils of an mma execute its steps on copies of the matrices
// in struct fragments:
//
//	matrix_begin                                 no element is special
//	matrix_a_TYPE, matrix_b_TYPE, matrix_c       for each register: its elements are decoded
//	multiply_KIND                                D = A·B + C
//	matrix_d                                     for each register of D
//
// The vectors of A, C and D have the rows of a column as elements. A register has 8 rows of a matrix: lane 4·r + c has
// neighbours in row r, from column c·w on (Rows in package matrix). Until matrix_d nothing is changed that Go sees, so every
// stencil may leave.

#include "rows.h"
#include "warp.h"

#ifndef MASKED

typedef s32 rows8 __attribute__((ext_vector_type(8), aligned(4)));
typedef s32 rows16 __attribute__((ext_vector_type(16), aligned(4)));
typedef u32 lanes32 __attribute__((ext_vector_type(32), aligned(4)));

#define MAX_K 32
struct fragments { // Fragments in matrix.go
	s32 a[3][MAX_K][16]; // by column, then row: magnitudes, exponents and signs (0 or -1) of floats, or pairs of 16-bit integers
	s32 b[3][MAX_K][8];  // by row, then column: the same
	s32 c[8][16];        // by column, then row: bits of C, then of D
	u32 special;         // not 0: A or B has an infinity or a NaN
};
struct matrix_context { // Context, after struct warp
	struct warp warp;
	struct fragments *fragments;
};
_Static_assert(__builtin_offsetof(struct matrix_context, fragments) == CONTEXT_FRAGMENTS, "Context has another layout");
_Static_assert(sizeof(struct fragments) == FRAGMENTS_BYTES, "Fragments has another layout");
#define FRAGMENTS (((struct matrix_context *)ctx)->fragments)

STENCIL(matrix_begin) {
	FRAGMENTS->special = 0;
	NEXT;
}

// COLUMN is the vector of column c of a register, by row.
#define COLUMN(x, c) (rows8)__builtin_shufflevector(x, x, c, 4 + c, 8 + c, 12 + c, 16 + c, 20 + c, 24 + c, 28 + c)
#define EACH_COLUMN(x, f) f(0, COLUMN(x, 0)) f(1, COLUMN(x, 1)) f(2, COLUMN(x, 2)) f(3, COLUMN(x, 3))

// NO_EXPONENT is less than the exponent of every product.
#define NO_EXPONENT (-0x4000)

// put_number decodes floats with the given width, bits of fraction, greatest exponent and bias. The fractions become 10 bits
// wide, and magnitudes are shifted to the left. It returns bits that are set for infinities and NaNs.
static inline rows8 put_number(s32 *to, u64 array, rows8 x, s32 width, s32 fraction, s32 greatest, s32 bias, s32 shift) {
	rows8 e = x >> fraction & greatest, sign = x << (32 - width) >> 31;
	rows8 magnitude = (x & (1 << fraction) - 1) | ((e != 0) & 1 << fraction);
	rows8 zero = magnitude == 0, exponent = __builtin_elementwise_max(e, (rows8)1) - bias;
	*(rows8 *)to = magnitude << (10 - fraction) << shift;
	*(rows8 *)(to + array) = exponent & ~zero | zero & NO_EXPONENT;
	*(rows8 *)(to + 2 * array) = sign;
	return e == greatest;
}
#define F16(to, x) special |= put_number(to, array, x, 16, 10, 31, 15, shift);
#define BF16(to, x) special |= put_number(to, array, x, 16, 7, 255, 127, shift);
#define TF32(to, x) special |= put_number(to, array, x, 19, 10, 255, 127, shift);

// A register with two elements in each lane, or with one. STRIDE is the distance of columns.
#define TWO_F16(c, x) F16(to + 2 * c * stride, x) F16(to + (2 * c + 1) * stride, x >> 16)
#define TWO_BF16(c, x) BF16(to + 2 * c * stride, x) BF16(to + (2 * c + 1) * stride, x >> 16)
#define ONE_TF32(c, x) TF32(to + c * stride, (rows8)((u32x8)x >> 13))
// Pairs of integers: elements 0 and 2 of four, then 1 and 3.
typedef s16 s16pairs __attribute__((ext_vector_type(16)));
typedef u16 u16pairs __attribute__((ext_vector_type(16)));
#define FOUR_S8(c, x) \
	*(s16pairs *)(to + c * stride) = (s16pairs)(x) << 8 >> 8; \
	*(s16pairs *)(to + c * stride + array) = (s16pairs)(x) >> 8;
#define FOUR_U8(c, x) \
	*(u16pairs *)(to + c * stride) = (u16pairs)(x) & 255; \
	*(u16pairs *)(to + c * stride + array) = (u16pairs)(x) >> 8;

#define ANY_OF_ROWS(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))

// matrix_a and matrix_b decode register A. H0 is the place of its first element in the matrix, in bytes; H1 is the shift of
// magnitudes.
#define DECODE(name, elements, matrix, rows) \
	STENCIL(matrix_##matrix##_##name) { \
		const s64 array = MAX_K * rows, stride = rows; \
		s32 *to = (s32 *)((char *)FRAGMENTS->matrix + PLACE(H0)), shift = (s32)PLACE(H1); \
		lanes32 x = *(const lanes32 *)ROW(u32, A); \
		rows8 special = {0}; \
		EACH_COLUMN(x, elements) \
		if (UNLIKELY(ANY_OF_ROWS(special))) \
			FRAGMENTS->special = 1; \
		(void)shift, (void)array; \
		NEXT; \
	}
#define DECODES(name, elements) DECODE(name, elements, a, 16) DECODE(name, elements, b, 8)
DECODES(f16, TWO_F16) DECODES(bf16, TWO_BF16) DECODES(tf32, ONE_TF32) DECODES(s8, FOUR_S8) DECODES(u8, FOUR_U8)

// matrix_c copies a register of C; its first element has place H0. matrix_d copies a register of D back.
#define TO_C(c, x) *(rows8 *)(to + 2 * c * 16) = x;
STENCIL(matrix_c) {
	s32 *to = (s32 *)((char *)FRAGMENTS->c + PLACE(H0));
	lanes32 x = *(const lanes32 *)ROW(u32, A);
	EACH_COLUMN(x, TO_C)
	NEXT;
}
STENCIL(matrix_d) {
	const s32 *from = (const s32 *)((char *)FRAGMENTS->c + PLACE(H0));
	rows8 c0 = *(const rows8 *)from, c1 = *(const rows8 *)(from + 32), c2 = *(const rows8 *)(from + 64), c3 = *(const rows8 *)(from + 96);
	rows16 low = __builtin_shufflevector(c0, c1, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
	rows16 high = __builtin_shufflevector(c2, c3, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
	lanes32 *d = (lanes32 *)ROW(u32, D);
	*d = (lanes32)__builtin_shufflevector(low, high, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31);
	NEXT;
}

// Vectors of rows of the host's size.
typedef s32 rows_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef u32 bits_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef f32 floats_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef s64 wide_m __attribute__((ext_vector_type(LANES_q)));
typedef f64 doubles_m __attribute__((ext_vector_type(LANES_q)));
typedef s32 half_m __attribute__((ext_vector_type(LANES_q)));
#define ROWS_AT(p) (*(const rows_m *)(p))
#if VECTOR_BYTES == 64
#define SHIFT_RIGHT(v, n) ((rows_m)_mm512_srlv_epi32((__m512i)(v), (__m512i)(n)))
#define MULTIPLY_PAIRS(a, b) ((rows_m)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)))
#else
#define SHIFT_RIGHT(v, n) ((rows_m)_mm256_srlv_epi32((__m256i)(v), (__m256i)(n)))
#define MULTIPLY_PAIRS(a, b) ((rows_m)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#endif

// truncated returns the numbers sum + rest in units of 2^(exponent - bits), truncated to f32. It sets bits of refused where
// the result is infinite, or less than the least normal number and not 0.
static inline floats_m truncated(rows_m sum, rows_m rest, rows_m exponent, s32 bits, rows_m *refused) {
	doubles_m v[2];
	half_m sums[2] = {sum.lo, sum.hi}, rests[2] = {rest.lo, rest.hi}, exponents[2] = {exponent.lo, exponent.hi};
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 2; i++) {
		wide_m scale = __builtin_convertvector(exponents[i] + (1023 - bits), wide_m) << 52;
		doubles_m exact = (__builtin_convertvector(sums[i], doubles_m) + __builtin_convertvector(rests[i], doubles_m)) * (doubles_m)scale;
		v[i] = (doubles_m)((wide_m)exact & ~((1l << 29) - 1));
	}
	floats_m result;
	result.lo = __builtin_convertvector(v[0], typeof(result.lo));
	result.hi = __builtin_convertvector(v[1], typeof(result.hi));
	rows_m e = (rows_m)((bits_m)result >> 23 & 255);
	*refused |= (e == 255) | ((e == 0) & ((sum + rest) != 0));
	return result;
}

// multiply_floats: H0 is the number of columns of A. The low byte of H1 is the number of bits after the point of the term with the
// greatest exponent; the bits above are the greatest exponent of zeros, negated. A block of BLOCK products is added at once
// (Numerics in package matrix). Products of finite floats with 11 bits and their sums fit 32 bits: at most 16·2047²·2⁵.
#define MULTIPLY_FLOATS(block) \
	STENCIL(multiply_floats##block) { \
		struct fragments *f = FRAGMENTS; \
		const s32 count = (s32)PLACE(H0), bits = (s32)PLACE(H1) & 255, least = (s32)PLACE(H1) >> 8; \
		if (UNLIKELY(f->special)) \
			LEAVE; \
		rows_m refused = {0}; \
		_Pragma("clang loop unroll(disable)") for (int at = 0; at < 8 * 16; at += LANES_r) { \
			int n = at / 16, row = at % 16; \
			rows_m c = ROWS_AT(&f->c[n][row]); \
			_Pragma("clang loop unroll(disable)") for (int from = 0; from < count; from += block) { \
				rows_m e = c >> 23 & 255, magnitude = c & (1 << 23) - 1 | (e != 0) & 1 << 23, zero = magnitude == 0; \
				refused |= e == 255; \
				e = __builtin_elementwise_max(e, (rows_m)1) - 127; \
				rows_m top = __builtin_elementwise_max((rows_m)-least, e & ~zero | zero & NO_EXPONENT); \
				_Pragma("clang loop unroll_count(4)") for (int k = from; k < from + block; k++) \
					top = __builtin_elementwise_max(top, ROWS_AT(&f->a[1][k][row]) + f->b[1][k][n]); \
				rows_m sum = {0}; \
				_Pragma("clang loop unroll_count(4)") for (int k = from; k < from + block; k++) { \
					rows_m product = MULTIPLY_PAIRS(ROWS_AT(&f->a[0][k][row]), (rows_m)f->b[0][k][n]); \
					rows_m sign = ROWS_AT(&f->a[2][k][row]) ^ f->b[2][k][n]; \
					sum += (SHIFT_RIGHT(product, top - (ROWS_AT(&f->a[1][k][row]) + f->b[1][k][n])) ^ sign) - sign; \
				} \
				rows_m sign = c >> 31; \
				rows_m rest = (SHIFT_RIGHT(magnitude << (bits - 23), top - e) ^ sign) - sign; \
				c = (rows_m)truncated(sum, rest, top, bits, &refused); \
			} \
			*(rows_m *)&f->c[n][row] = c; \
		} \
		if (UNLIKELY(ANY((bits_m)refused))) \
			LEAVE; \
		NEXT; \
	}
MULTIPLY_FLOATS(4) MULTIPLY_FLOATS(8) MULTIPLY_FLOATS(16)

// multiply_integers: H0 is the number of columns of A, in fours.
STENCIL(multiply_integers) {
	struct fragments *f = FRAGMENTS;
	const s32 count = (s32)PLACE(H0);
	_Pragma("clang loop unroll(disable)") for (int at = 0; at < 8 * 16; at += LANES_r) {
		int n = at / 16, row = at % 16;
		rows_m c = ROWS_AT(&f->c[n][row]);
		for (int k = 0; k < count; k++)
			c += MULTIPLY_PAIRS(ROWS_AT(&f->a[0][k][row]), (rows_m)f->b[0][k][n]) + MULTIPLY_PAIRS(ROWS_AT(&f->a[1][k][row]), (rows_m)f->b[1][k][n]);
		*(rows_m *)&f->c[n][row] = c;
	}
	NEXT;
}

// ldmatrix, stmatrix and movmatrix of 8×8 matrices of 16-bit elements, in shared memory: lane r of eight has the address of row r,
// which is 16 bytes, and a register has the rows one after the other. With trans it has the columns instead.
typedef u16 row8 __attribute__((ext_vector_type(8), aligned(1)));

// transpose exchanges the rows and columns of a matrix.
static inline void transpose(row8 *rows) {
	row8 a[8], b[8];
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) {
		a[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		a[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) {
		b[2 * i] = __builtin_shufflevector(a[i], a[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		b[2 * i + 1] = __builtin_shufflevector(a[i], a[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
	_Pragma("clang loop unroll(full)") for (int i = 0; i < 4; i++) {
		rows[2 * i] = __builtin_shufflevector(b[i], b[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
		rows[2 * i + 1] = __builtin_shufflevector(b[i], b[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
	}
}

// matrix_rows leaves unless all rows of lanes H1 are in bounds and aligned.
#define MATRIX_ROWS(as) \
	STENCIL(matrix_rows_##as) { \
		REACH_shared(16) ADDR_##as \
		u32 lanes = (u32)NUMBER(H1); \
		vector_q low = {0}, high = {0}; \
		VECTORS(q, i) { \
			vector_q o = offsets_##as(a + i) + off, in = AMONG(q, lanes, i); \
			low |= o & in, high |= ((vector_q)last - o) & in; \
		} \
		if (UNLIKELY(ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | 15)))) \
			LEAVE; \
		NEXT; \
	}
MATRIX_ROWS(r) MATRIX_ROWS(q)

// Accesses to one matrix. The address of its first row is in lane H1 of A.
#define EACH_ROW(i) _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++)
#define ACCESS_MATRIX(as, name, change) \
	STENCIL(load_matrix##name##_##as) { \
		REACH_shared(16) ADDR_##as \
		a += PLACE(H1), p += off; \
		row8 rows[8]; \
		EACH_ROW(i) rows[i] = *(const row8 *)(p + a[i]); \
		change \
		char *d = (char *)ROW(u32, D); \
		EACH_ROW(i) *(row8 *)(d + 16 * i) = rows[i]; \
		NEXT; \
	} \
	STENCIL(store_matrix##name##_##as) { \
		REACH_shared(16) ADDR_##as \
		a += PLACE(H1), p += off; \
		row8 rows[8]; \
		const char *b = (const char *)ROW(u32, B); \
		EACH_ROW(i) rows[i] = *(const row8 *)(b + 16 * i); \
		change \
		*ctx->memory_changed = 1; \
		EACH_ROW(i) *(row8 *)(p + a[i]) = rows[i]; \
		NEXT; \
	}
ACCESS_MATRIX(r, , ) ACCESS_MATRIX(q, , ) ACCESS_MATRIX(r, _trans, transpose(rows);) ACCESS_MATRIX(q, _trans, transpose(rows);)

STENCIL(move_matrix) {
	row8 rows[8];
	const char *a = (const char *)ROW(u32, A);
	char *d = (char *)ROW(u32, D);
	EACH_ROW(i) rows[i] = *(const row8 *)(a + 16 * i);
	transpose(rows);
	EACH_ROW(i) *(row8 *)(d + 16 * i) = rows[i];
	NEXT;
}

#endif
