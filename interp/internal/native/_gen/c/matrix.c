// Stencils of matrix multiplications, for all lanes of a warp. They call functions, each of which a program has once:
//
//	decode_TYPE_a, decode_TYPE_b   elements of A and B
//	normalise_a, normalise_b       elements of types with large exponents
//	decode_TYPE_c, clear           elements of C, or zeros
//	multiply_KIND                  D = A·B + C for 16 rows and 8 columns
//	add_TYPE                       D = D + C, if C is added last
//	encode_TYPE                    elements of D
//
// The functions work on copies of the matrices in struct fragments. The vectors of A, C and D have the rows of a column as
// elements. A register has 8 rows of a matrix: lane 4·r + c has neighbours in row r, from column c·w on (Rows in package
// matrix). Until encode_TYPE nothing is changed that Go sees, so every stencil may leave.

#include "rows.h"
#include "warp.h"

#ifndef MASKED

#define MAX_K 64
struct fragments { // Fragments in matrix.go
	s32 a[MAX_K][16];          // by column, then row: elements, or pairs of 16-bit integers
	s32 b[MAX_K][8];           // by row, then column: the same
	s32 c[2][8][16];           // by column, then row: C, then D
	s32 last[2][8][16];        // C if it is added last
	s8 a_exponents[MAX_K][16]; // exponents of the floats in a
	s8 b_exponents[MAX_K][8];
	s8 products[8][16];        // greatest exponents of the products of a block, by column, then row
	s32 top[8][16];            // greatest exponents of its terms
	s32 total[8][16], quarter[8][16]; // sums of its terms, and of a quarter of them
	f32 scale[8][16];          // what products are multiplied by
	s32 words[4][16];          // columns of the words of registers
	s32 divisors[2];           // exponents of the powers of 2 by which A and B are divided
	u32 special;               // not 0: an element of A or B is infinite or a NaN
};
struct matrix_context { // Context, after struct warp
	struct warp warp;
	struct fragments *fragments;
};
_Static_assert(__builtin_offsetof(struct matrix_context, fragments) == CONTEXT_FRAGMENTS, "Context has another layout");
_Static_assert(sizeof(struct fragments) == FRAGMENTS_BYTES, "Fragments has another layout");
#define FRAGMENTS (((struct matrix_context *)ctx)->fragments)

STENCIL(matrix_begin) {
	struct fragments *f = FRAGMENTS;
	f->special = 0, f->divisors[0] = f->divisors[1] = 0;
	NEXT;
}

// matrix_decode calls a decoder for registers A and B, which have rows 0 to 7 and 8 to 15. H0 is the place of the first element in
// struct fragments, H1 the distances of columns. matrix_encode calls an encoder for registers D and F. The other stencils call
// a function with these numbers.
#define CODER(name) __attribute__((preserve_most)) void name(struct fragments *f, u32 *x, u32 *y, u64 place, u64 distances)
#define FUNCTION(name) __attribute__((preserve_most)) u64 name(struct fragments *f, u64 n0, u64 n1)
typedef CODER(coder);
typedef FUNCTION(function);
STENCIL(matrix_decode_r) {
	((coder *)other)(FRAGMENTS, ROW(u32, A), ROW(u32, B), PLACE(H0), PLACE(H1));
	NEXT;
}
STENCIL(matrix_decode_q) {
	((coder *)other)(FRAGMENTS, WIDE(u32, A), WIDE(u32, B), PLACE(H0), PLACE(H1));
	NEXT;
}
STENCIL(matrix_encode_r) {
	((coder *)other)(FRAGMENTS, ROW(u32, D), ROW(u32, F), PLACE(H0), PLACE(H1));
	NEXT;
}
STENCIL(matrix_encode_q) {
	((coder *)other)(FRAGMENTS, WIDE(u32, D), WIDE(u32, F), PLACE(H0), PLACE(H1));
	NEXT;
}
STENCIL(matrix_call) {
	if (((function *)other)(FRAGMENTS, PLACE(H0), PLACE(H1)))
		LEAVE;
	NEXT;
}

#define UNROLLED _Pragma("clang loop unroll(full)")
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")

// Vectors, by their elements. The number of elements is that of rows: 16 of A, 8 of B.
#define VECTORS_OF(n) \
	typedef u32 u32_##n __attribute__((ext_vector_type(n), aligned(4))); \
	typedef s32 s32_##n __attribute__((ext_vector_type(n), aligned(4))); \
	typedef f32 f32_##n __attribute__((ext_vector_type(n), aligned(4))); \
	typedef f64 f64_##n __attribute__((ext_vector_type(n), aligned(8))); \
	typedef u16 u16_##n __attribute__((ext_vector_type(n), aligned(2))); \
	typedef _Float16 f16_##n __attribute__((ext_vector_type(n), aligned(2))); \
	typedef s8 s8_##n __attribute__((ext_vector_type(n), aligned(1)));
VECTORS_OF(8) VECTORS_OF(16) VECTORS_OF(32)
// Pairs of 16 bits, as many as rows.
typedef u16 pairs_8 __attribute__((ext_vector_type(16), aligned(4)));
typedef u16 pairs_16 __attribute__((ext_vector_type(32), aligned(4)));
typedef s16 signed_pairs_8 __attribute__((ext_vector_type(16), aligned(4)));
typedef s16 signed_pairs_16 __attribute__((ext_vector_type(32), aligned(4)));

#define COUNT 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

// COLUMN is the vector of lanes c, 4 + c, 8 + c and so on: of register x, or of x and y.
#define COLUMN_8(x, y, c) __builtin_shufflevector(x, x, c, 4 + c, 8 + c, 12 + c, 16 + c, 20 + c, 24 + c, 28 + c)
#define COLUMN_16(x, y, c) __builtin_shufflevector(x, y, c, 4 + c, 8 + c, 12 + c, 16 + c, 20 + c, 24 + c, 28 + c, 32 + c, 36 + c, 40 + c, 44 + c, 48 + c, 52 + c, 56 + c, 60 + c)
#define EACH_COLUMN(n, x, y, f, ...) f(n, 0, COLUMN_##n(x, y, 0), __VA_ARGS__) f(n, 1, COLUMN_##n(x, y, 1), __VA_ARGS__) f(n, 2, COLUMN_##n(x, y, 2), __VA_ARGS__) f(n, 3, COLUMN_##n(x, y, 3), __VA_ARGS__)

// ANY_OF_ROWS reports whether a vector of words has any bit.
#define ANY_OF_ROWS_8(v) (!_mm256_testz_si256((__m256i)(v), (__m256i)(v)))
#define ANY_OF_ROWS_16(v) ANY_OF_ROWS_8((v).lo | (v).hi)

// NO_EXPONENT is the exponent of zero. With saturation, NO_EXPONENT plus any exponent is less than NO_SUM.
#define NO_EXPONENT (-128)
#define NO_SUM (-104)

// put_halves stores the elements in the low and in the high halves of words: f16, and their exponents. It returns bits that are set
// for infinities and NaNs. put_bfloats does the same for bf16, and put_words for tf32; their exponents are biased by 127, and
// that of zero is 0: see normalise.
#define PUTS(n) \
	static inline void put_exponents_##n(s8 *low, s8 *high, pairs_##n e) { \
		*(s8_##n *)low = __builtin_convertvector((u32_##n)e, s8_##n); \
		*(s8_##n *)high = __builtin_convertvector((u32_##n)e >> 16, s8_##n); \
	} \
	static inline pairs_##n put_halves_##n(s32 *low, s32 *high, s8 *low_exponents, s8 *high_exponents, u32_##n x) { \
		pairs_##n h = (pairs_##n)x, e = h >> 10 & 31, zero = (pairs_##n)((h & 0x7fff) == 0); \
		put_exponents_##n(low_exponents, high_exponents, (__builtin_elementwise_max(e, (pairs_##n)1) - 15) & ~zero | zero & (u16)NO_EXPONENT); \
		*(f32_##n *)low = __builtin_convertvector((f16_##n)__builtin_convertvector(x, u16_##n), f32_##n); \
		*(f32_##n *)high = __builtin_convertvector((f16_##n)__builtin_convertvector(x >> 16, u16_##n), f32_##n); \
		return (pairs_##n)(e == 31); \
	} \
	static inline pairs_##n put_bfloats_##n(s32 *low, s32 *high, s8 *low_exponents, s8 *high_exponents, u32_##n x) { \
		pairs_##n h = (pairs_##n)x, e = h >> 7 & 255, zero = (pairs_##n)((h & 0x7fff) == 0); \
		put_exponents_##n(low_exponents, high_exponents, __builtin_elementwise_max(e, (pairs_##n)1) & ~zero); \
		*(u32_##n *)low = x << 16; \
		*(u32_##n *)high = x & 0xffff0000; \
		return (pairs_##n)(e == 255); \
	} \
	static inline u32_##n put_words_##n(s32 *to, s8 *exponents, u32_##n x) { \
		x &= ~0x1fffu; \
		u32_##n e = x >> 23 & 255, zero = (u32_##n)((x & 0x7fffffff) == 0); \
		*(s8_##n *)exponents = __builtin_convertvector(__builtin_elementwise_max(e, (u32_##n)1) & ~zero, s8_##n); \
		*(u32_##n *)to = x; \
		return (u32_##n)(e == 255); \
	}
PUTS(8) PUTS(16)

// Types of 8 bits and less become f16 with other exponents: in each half of a word is an element.
#define HALVES_e4m3(x) (((x) & 0x800080) << 8 | ((x) & 0x7f007f) << 7)
#define HALVES_e5m2(x) ((x) << 8)
#define HALVES_e3m2(x) (((x) & 0x200020) << 10 | ((x) & 0x1f001f) << 8)
#define HALVES_e2m3(x) (((x) & 0x200020) << 10 | ((x) & 0x1f001f) << 7)
#define HALVES_e2m1(x) (((x) & 0x200020) << 10 | ((x) & 0x1c001c) << 7)

// The elements of a word of column c. STRIDE is the distance of the columns of words, FAR that of the third element of a word from
// the first.
#define PLACES(n, low, high) to + (low) * n, to + (high) * n, exponents + (low) * n, exponents + (high) * n
#define WORDS_f16(n, c, x, stride, far) special |= (u32_##n)put_halves_##n(PLACES(n, c * stride, c * stride + 1), x);
#define WORDS_bf16(n, c, x, stride, far) special |= (u32_##n)put_bfloats_##n(PLACES(n, c * stride, c * stride + 1), x);
#define WORDS_tf32(n, c, x, stride, far) special |= put_words_##n(to + c * stride * n, exponents + c * stride * n, x);
#define WORDS_OF_BYTES(n, c, x, halves, stride, far) \
	special |= (u32_##n)put_halves_##n(PLACES(n, c * stride, c * stride + far), halves((x) & 0xff00ff)); \
	special |= (u32_##n)put_halves_##n(PLACES(n, c * stride + 1, c * stride + far + 1), halves((x) >> 8 & 0xff00ff));
#define WORDS_e5m2(n, c, x, stride, far) WORDS_OF_BYTES(n, c, x, HALVES_e5m2, stride, far)
#define WORDS_e3m2(n, c, x, stride, far) WORDS_OF_BYTES(n, c, x, HALVES_e3m2, stride, far)
#define WORDS_e2m3(n, c, x, stride, far) WORDS_OF_BYTES(n, c, x, HALVES_e2m3, stride, far)
#define WORDS_e2m1(n, c, x, stride, far) WORDS_OF_BYTES(n, c, x, HALVES_e2m1, stride, far)
#define NAN_OF_e4m3(x) ((((x) & 0x7f7f7f7f) + 0x01010101) & 0x80808080) // all bits but the sign are set
#define WORDS_e4m3(n, c, x, stride, far) \
	WORDS_OF_BYTES(n, c, x, HALVES_e4m3, stride, far) \
	special |= NAN_OF_e4m3(x);

// opaque hides from clang that a vector was computed as floats. Otherwise clang compares its elements one by one.
static inline u32_8 opaque_8(u32_8 v) {
#ifdef __x86_64__
	__asm__("" : "+x"(v));
#endif
	return v;
}
static inline u32_16 opaque_16(u32_16 v) {
#if VECTOR_BYTES == 64
	__asm__("" : "+v"(v));
	return v;
#else
	return __builtin_shufflevector(opaque_8(v.lo), opaque_8(v.hi), COUNT);
#endif
}

// e4m3_f16 are the elements of e4m3 converted to f16: subnormal ones become normal.
#define CONVERT(n, wide) \
	static inline u32_##n converted_##n(u32_##n halves) { \
		return opaque_##n((u32_##n)__builtin_convertvector(__builtin_convertvector((f16_##wide)halves, f32_##wide) * 256.0f, f16_##wide)); \
	}
CONVERT(8, 16) CONVERT(16, 32)
#define WORDS_e4m3_f16(n, c, x, stride, far) \
	special |= (u32_##n)put_halves_##n(PLACES(n, c * stride, c * stride + far), converted_##n(HALVES_e4m3((x) & 0xff00ff))); \
	special |= (u32_##n)put_halves_##n(PLACES(n, c * stride + 1, c * stride + far + 1), converted_##n(HALVES_e4m3((x) >> 8 & 0xff00ff))); \
	special |= NAN_OF_e4m3(x);

// Integers of 8 bits are pairs of 16 bits: elements 0 and 2 of four, then 1 and 3. Those of 4 bits are elements 0 and 4, 1 and 5,
// 2 and 6, 3 and 7 of eight.
#define PAIRS(T, n, column, v) *(T##pairs_##n *)(to + (column) * n) = (v);
#define WORDS_s8(n, c, x, stride, far) \
	PAIRS(signed_, n, 2 * c, (signed_pairs_##n)(x) << 8 >> 8) \
	PAIRS(signed_, n, 2 * c + 1, (signed_pairs_##n)(x) >> 8)
#define WORDS_u8(n, c, x, stride, far) \
	PAIRS(, n, 2 * c, (pairs_##n)(x) & 255) \
	PAIRS(, n, 2 * c + 1, (pairs_##n)(x) >> 8)
#define WORDS_s4(n, c, x, stride, far) \
	PAIRS(signed_, n, 4 * c, (signed_pairs_##n)(x) << 12 >> 12) \
	PAIRS(signed_, n, 4 * c + 1, (signed_pairs_##n)(x) << 8 >> 12) \
	PAIRS(signed_, n, 4 * c + 2, (signed_pairs_##n)(x) << 4 >> 12) \
	PAIRS(signed_, n, 4 * c + 3, (signed_pairs_##n)(x) >> 12)
#define WORDS_u4(n, c, x, stride, far) \
	PAIRS(, n, 4 * c, (pairs_##n)(x) & 15) \
	PAIRS(, n, 4 * c + 1, (pairs_##n)(x) >> 4 & 15) \
	PAIRS(, n, 4 * c + 2, (pairs_##n)(x) >> 8 & 15) \
	PAIRS(, n, 4 * c + 3, (pairs_##n)(x) >> 12)
#define WORDS_b1(n, c, x, stride, far) *(u32_##n *)(to + c * n) = x;

#define PUT_WORDS(n, c, x, f) *(u32_##n *)f->words[c] = x;

// DECODE decodes a register of B, or two of A. DISTANCES are those of floats.
#define DECODE(type, matrix, n) \
	CODER(decode_##type##_##matrix) { \
		s32 *to = f->matrix[place]; \
		s8 *exponents = f->matrix##_exponents[place]; \
		s64 stride = distances & 255, far = distances >> 8; \
		u32_32 first = *(const u32_32 *)x, second = *(const u32_32 *)y; \
		u32_##n special = {0}; \
		EACH_COLUMN(n, first, second, PUT_WORDS, f) \
		NOT_UNROLLED for (int c = 0; c < 4; c++) { \
			u32_##n v = *(const u32_##n *)f->words[c]; \
			WORDS_##type(n, c, v, stride, far) \
		} \
		if (UNLIKELY(ANY_OF_ROWS_##n(special))) \
			f->special = 1; \
	}
#define DECODES(type) DECODE(type, a, 16) DECODE(type, b, 8)
DECODES(f16) DECODES(bf16) DECODES(tf32)
DECODES(e4m3) DECODES(e4m3_f16) DECODES(e5m2) DECODES(e3m2) DECODES(e2m3) DECODES(e2m1)
DECODES(s8) DECODES(u8) DECODES(s4) DECODES(u4) DECODES(b1)

// C and D, in two registers. PLACE counts columns of c and, after them, of last. A register of 32 bits has columns 2·c, a
// register of f16 also columns 2·c + 1.
#define C_AT(place) ((s32 *)f->c + (place) * 16)
#define TO_C(n, c, x, to) *(u32_16 *)(to + 2 * c * 16) = x;
#define HALVES_TO_C(n, c, x, to) \
	*(f32_16 *)(to + 2 * c * 16) = __builtin_convertvector((f16_16)__builtin_convertvector(x, u16_16), f32_16); \
	*(f32_16 *)(to + (2 * c + 1) * 16) = __builtin_convertvector((f16_16)__builtin_convertvector(x >> 16, u16_16), f32_16);
CODER(decode_f32_c) {
	s32 *to = C_AT(place);
	u32_32 first = *(const u32_32 *)x, second = *(const u32_32 *)y;
	EACH_COLUMN(16, first, second, TO_C, to)
}
CODER(decode_f16_c) {
	s32 *to = C_AT(place);
	u32_32 first = *(const u32_32 *)x, second = *(const u32_32 *)y;
	EACH_COLUMN(16, first, second, HALVES_TO_C, to)
}

// put_columns stores four columns in two registers.
static inline void put_columns(u32 *x, u32 *y, u32_16 c0, u32_16 c1, u32_16 c2, u32_16 c3) {
	u32_32 low = __builtin_shufflevector(c0, c1, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	u32_32 high = __builtin_shufflevector(c2, c3, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	*(u32_32 *)x = __builtin_shufflevector(low, high, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47);
	*(u32_32 *)y = __builtin_shufflevector(low, high, 16, 17, 48, 49, 18, 19, 50, 51, 20, 21, 52, 53, 22, 23, 54, 55, 24, 25, 56, 57, 26, 27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63);
}
#define FROM_C(c) *(const u32_16 *)(from + (c) * 16)
#define HALF_FROM_C(c) __builtin_convertvector((u16_16)__builtin_convertvector(*(const f32_16 *)(from + (c) * 16), f16_16), u32_16)
#define HALVES_FROM_C(c) HALF_FROM_C(c) | HALF_FROM_C(c + 1) << 16
CODER(encode_f32) {
	const s32 *from = C_AT(place);
	put_columns(x, y, FROM_C(0), FROM_C(2), FROM_C(4), FROM_C(6));
}
CODER(encode_f16) {
	const s32 *from = C_AT(place);
	put_columns(x, y, HALVES_FROM_C(0), HALVES_FROM_C(2), HALVES_FROM_C(4), HALVES_FROM_C(6));
}

// Vectors of rows of the host's size.
typedef s32 rows_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef u32 bits_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef f32 floats_m __attribute__((ext_vector_type(LANES_r), aligned(4)));
typedef _Float16 halves_m __attribute__((ext_vector_type(LANES_r), aligned(2)));
typedef s8 exponents_m __attribute__((ext_vector_type(LANES_r), aligned(1)));
typedef f64 doubles_m __attribute__((ext_vector_type(LANES_q), aligned(8)));
typedef s8 bytes_m __attribute__((ext_vector_type(VECTOR_BYTES), aligned(1)));
#define ROWS_AT(p) (*(const rows_m *)(p))
#define FLOATS_AT(p) (*(const floats_m *)(p))

// COLUMNS is the number of columns that are multiplied at once, EXPONENT_COLUMNS the number of columns in a vector of exponents.
#define COLUMNS (VECTOR_BYTES / 8)
#define EXPONENT_COLUMNS (VECTOR_BYTES / 16)
#define SIXTEEN(i) i, i, i, i, i, i, i, i, i, i, i, i, i, i, i, i
#if VECTOR_BYTES == 64
#define TO_ALL(v) __builtin_shufflevector(v, v, COUNT, COUNT, COUNT, COUNT)
#define SPREAD(v, i) __builtin_shufflevector(v, v, SIXTEEN(i), SIXTEEN(i + 1), SIXTEEN(i + 2), SIXTEEN(i + 3))
#define MULTIPLY_PAIRS(a, b) ((rows_m)_mm512_madd_epi16((__m512i)(a), (__m512i)(b)))
#else
#define TO_ALL(v) __builtin_shufflevector(v, v, COUNT, COUNT)
#define SPREAD(v, i) __builtin_shufflevector(v, v, SIXTEEN(i), SIXTEEN(i + 1))
#define MULTIPLY_PAIRS(a, b) ((rows_m)_mm256_madd_epi16((__m256i)(a), (__m256i)(b)))
#endif

// EACH_ROW_OF_ALL iterates over the vectors of all elements of C.
#define EACH_ROW_OF_ALL(i) NOT_UNROLLED for (int i = 0; i < 8 * 16; i += LANES_r)

// greatest stores in products, for each row and column, the greatest exponent of a product of columns [from, to).
static inline void greatest(struct fragments *f, s32 from, s32 to) {
	bytes_m most[8 / EXPONENT_COLUMNS];
	UNROLLED for (int i = 0; i < 8 / EXPONENT_COLUMNS; i++)
		most[i] = (bytes_m)(s8)NO_EXPONENT;
	NOT_UNROLLED for (int k = from; k < to; k++) {
		s8_16 a = *(const s8_16 *)f->a_exponents[k];
		s8_8 b = *(const s8_8 *)f->b_exponents[k];
#define MOST(i) most[i] = __builtin_elementwise_max(most[i], (bytes_m)__builtin_elementwise_add_sat(TO_ALL(a), SPREAD(b, i * EXPONENT_COLUMNS)));
		MOST(0) MOST(1)
#if VECTOR_BYTES == 32
		MOST(2) MOST(3)
#endif
	}
	UNROLLED for (int i = 0; i < 8 / EXPONENT_COLUMNS; i++)
		((bytes_m *)f->products)[i] = most[i];
}

// power returns 2 to the power e, or to the nearest power of a normal number.
static inline floats_m power(rows_m e) {
	return (floats_m)(__builtin_elementwise_max(__builtin_elementwise_min(e + 127, (rows_m)254), (rows_m)1) << 23);
}

// truncated converts numbers less than 2^31 - 64, with fewer bits towards zero.
static inline floats_m truncated(rows_m n) {
#if VECTOR_BYTES == 64
	return (floats_m)_mm512_cvt_roundepi32_ps((__m512i)n, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
	floats_m nearest = __builtin_convertvector(n, floats_m);
	rows_m more = __builtin_elementwise_abs(__builtin_convertvector(nearest, rows_m)) > __builtin_elementwise_abs(n);
	return (floats_m)((rows_m)nearest + more);
#endif
}

// NORMALISE divides the elements of a matrix of N0 columns by a power of 2, so that their products are not too large for f32. The
// exponents are biased by 127, and that of zero is 0. Then the greatest exponent is 0, and that of zero is NO_EXPONENT. It
// returns 1 if elements differ so much that their products may be too small.
#define RANGE 50
typedef u8 bytes_32 __attribute__((ext_vector_type(32), aligned(1)));
#define NORMALISE(matrix, number, n) \
	FUNCTION(normalise_##matrix) { \
		s32 *elements = f->matrix[0]; \
		s8 *exponents = f->matrix##_exponents[0]; \
		bytes_32 most = {0}, bad = {0}; \
		NOT_UNROLLED for (u64 i = 0; i < n0 * n; i += 32) \
			most = __builtin_elementwise_max(most, *(const bytes_32 *)(exponents + i)); \
		s32 max = __builtin_reduce_max(most); \
		if (UNLIKELY(max > 250)) \
			return 1; \
		f32 factor = __builtin_bit_cast(f32, (254 - max) << 23); \
		NOT_UNROLLED for (u64 i = 0; i < n0 * n; i += 32) { \
			bytes_32 e = *(const bytes_32 *)(exponents + i), below = (u8)max - e, zero = (bytes_32)(e == 0); \
			bad |= (bytes_32)(below > RANGE) & ~zero; \
			*(bytes_32 *)(exponents + i) = -below & ~zero | (u8)NO_EXPONENT & zero; \
			UNROLLED for (u64 k = i; k < i + 32; k += LANES_r) \
				*(floats_m *)(elements + k) *= factor; \
		} \
		f->divisors[number] = max - 127; \
		return ANY_OF_ROWS_8(bad); \
	}
NORMALISE(a, 0, 16) NORMALISE(b, 1, 8)

// multiply_floats adds the products of A and B to C, a block after the other (Numerics in package matrix). For an element of D
// the unit of its terms is the last of BITS bits after the point of the term with the greatest exponent. It returns 1 if it does
// not know the result: an element of A, B or C is infinite or NaN, a sum is too large for 32 bits, or a sum is infinite or
// very small.
//
// N0 has the number of columns of A, the number of columns of a block, and BITS, in 8 bits each. N1 has the number of the
// matrix C, the number of low bits that results do not have, the negated least exponent of terms, and what is to be added to exponents of
// products, in 8 bits each.
//
// A product of two elements of at most 11 bits is exact in f32, and so is its quotient by the unit, or the quotient is less
// than 1. The sum of a part of 16 quotients fits 32 bits.
#define PART 16
#define MOST_EXPONENT 150
#define LEAST_EXPONENT (-101)
#define LOWEST (-0x400)
static inline __attribute__((always_inline)) u64 multiply_floats(struct fragments *f, u64 n0, u64 n1, const int half) {
	const s32 count = (s32)(n0 & 255), block = (s32)(n0 >> 8 & 255), bits = (s32)(n0 >> 16 & 255);
	const s32 less = (s32)(n1 >> 8 & 255), least = -(s32)(n1 >> 16 & 255), offset = f->divisors[0] + f->divisors[1] + (s32)(n1 >> 24 & 255);
	s32 *c = f->c[n1 & 255][0];
	rows_m refused = {0};
	NOT_UNROLLED for (s32 from = 0; from < count; from += block) {
		greatest(f, from, from + block);
		EACH_ROW_OF_ALL(i) {
			rows_m v = ROWS_AT(c + i), product = __builtin_convertvector(*(const exponents_m *)(f->products[0] + i), rows_m);
			rows_m e = (v >> 23 & 255) - 127, nonzero = v << 1 != 0, some = product >= NO_SUM;
			refused |= e == 128;
			if (half)
				e = __builtin_elementwise_max(e, (rows_m)-14) & nonzero | LOWEST & ~nonzero;
			product = product + offset & some | LOWEST & ~some;
			rows_m top = __builtin_elementwise_max(__builtin_elementwise_max(product, e), (rows_m)least);
			if (!half)
				refused |= (top > MOST_EXPONENT) | (top < LEAST_EXPONENT) & (nonzero | some);
			rows_m term = __builtin_convertvector((floats_m)v * power(bits - top), rows_m);
			*(rows_m *)(f->top[0] + i) = top;
			*(rows_m *)(f->total[0] + i) = term;
			*(rows_m *)(f->quarter[0] + i) = term >> 2;
			*(floats_m *)(f->scale[0] + i) = power(bits + offset - top);
		}
		NOT_UNROLLED for (s32 part = from; part < from + block; part += PART) {
			s32 end = part + PART < from + block ? part + PART : from + block;
			NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int first = 0; first < 8; first += COLUMNS) {
				rows_m sum[COLUMNS];
				floats_m scale[COLUMNS];
				UNROLLED for (int i = 0; i < COLUMNS; i++)
					sum[i] = (rows_m){0}, scale[i] = FLOATS_AT(&f->scale[first + i][row]);
				NOT_UNROLLED for (s32 k = part; k < end; k++) {
					floats_m a = FLOATS_AT(&f->a[k][row]);
					const f32 *b = (const f32 *)&f->b[k][first];
					UNROLLED for (int i = 0; i < COLUMNS; i++)
						sum[i] += __builtin_convertvector(a * b[i] * scale[i], rows_m);
				}
				UNROLLED for (int i = 0; i < COLUMNS; i++) {
					*(rows_m *)&f->total[first + i][row] += sum[i];
					*(rows_m *)&f->quarter[first + i][row] += sum[i] >> 2;
				}
			}
		}
		EACH_ROW_OF_ALL(i) {
			rows_m total = ROWS_AT(f->total[0] + i);
			floats_m v = truncated(total), unit = power(ROWS_AT(f->top[0] + i) - bits);
			refused |= (rows_m)__builtin_elementwise_abs(ROWS_AT(f->quarter[0] + i)) > 0x1e000000;
			if (half) { // rounded to odd first, so that the next rounding is correct
				v = (floats_m)((rows_m)v | (__builtin_convertvector(v, rows_m) != total) & 1) * unit;
				v = __builtin_convertvector(__builtin_convertvector(v, halves_m), floats_m) + 0.0f;
			} else {
				v = (floats_m)((rows_m)v >> less << less) * unit;
			}
			refused |= ((rows_m)v & 0x7f800000) == 0x7f800000;
			*(floats_m *)(c + i) = v;
		}
	}
	return ANY((bits_m)refused);
}

FUNCTION(multiply_f32) { return UNLIKELY(f->special) || multiply_floats(f, n0, n1, 0); }
FUNCTION(multiply_f16) { return UNLIKELY(f->special) || multiply_floats(f, n0, n1, 1); }

// clear makes C zero. N1 is the number of the matrix C.
FUNCTION(clear) {
	EACH_ROW_OF_ALL(i) *(rows_m *)(f->c[n1][0] + i) = (rows_m){0};
	return 0;
}

// ADD adds C, as it was, to N0 elements of D, from N1 on.
#define ADD(type, rounded) \
	FUNCTION(add_##type) { \
		rows_m refused = {0}; \
		f32 *c = (f32 *)f->c + n1; \
		const f32 *last = (const f32 *)f->last + n1; \
		NOT_UNROLLED for (u64 i = 0; i < n0; i += LANES_r) { \
			floats_m v = FLOATS_AT(c + i) + FLOATS_AT(last + i); \
			v = rounded; \
			refused |= ((rows_m)v & 0x7f800000) == 0x7f800000; \
			*(floats_m *)(c + i) = v; \
		} \
		return ANY((bits_m)refused); \
	}
ADD(f32, v) ADD(f16, __builtin_convertvector(__builtin_convertvector(v, halves_m), floats_m))

// multiply_integers: N0 is the number of columns of pairs. N1 has the number of the matrix C. multiply_saturated clamps the sums.
static inline __attribute__((always_inline)) void multiply_pairs(struct fragments *f, u64 count, u64 number, const int saturate) {
	s32(*to)[16] = f->c[number];
	NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int first = 0; first < 8; first += COLUMNS) {
		rows_m sum[COLUMNS];
		UNROLLED for (int i = 0; i < COLUMNS; i++)
			sum[i] = saturate ? (rows_m){0} : ROWS_AT(&to[first + i][row]);
		NOT_UNROLLED for (u64 k = 0; k < count; k++) {
			rows_m a = ROWS_AT(&f->a[k][row]);
			UNROLLED for (int i = 0; i < COLUMNS; i++)
				sum[i] += MULTIPLY_PAIRS(a, (rows_m)f->b[k][first + i]);
		}
		UNROLLED for (int i = 0; i < COLUMNS; i++) {
			if (saturate)
				sum[i] = __builtin_elementwise_add_sat(sum[i], ROWS_AT(&to[first + i][row]));
			*(rows_m *)&to[first + i][row] = sum[i];
		}
	}
}
FUNCTION(multiply_integers) {
	multiply_pairs(f, n0, n1, 0);
	return 0;
}
FUNCTION(multiply_saturated) {
	multiply_pairs(f, n0, n1, 1);
	return 0;
}

// MULTIPLY_BITS counts the bits of a combination of words of A and B. N0 is the number of columns of words.
#define MULTIPLY_BITS(name, op) \
	FUNCTION(multiply_bits_##name) { \
		s32(*to)[16] = f->c[n1]; \
		NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int n = 0; n < 8; n++) { \
			bits_m sum = *(const bits_m *)&to[n][row]; \
			NOT_UNROLLED for (u64 k = 0; k < n0; k++) { \
				bits_m v = *(const bits_m *)&f->a[k][row] op (u32)f->b[k][n]; \
				v -= v >> 1 & 0x55555555; \
				v = (v & 0x33333333) + (v >> 2 & 0x33333333); \
				sum += ((v + (v >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24; \
			} \
			*(bits_m *)&to[n][row] = sum; \
		} \
		return 0; \
	}
MULTIPLY_BITS(and, &) MULTIPLY_BITS(xor, ^)

// Elements of f64: struct fragments has them in the places of more elements of 32 bits. A register is of 64 bits.
typedef f64 f64_32 __attribute__((ext_vector_type(32), aligned(8)));
#define DOUBLES(array, rows, column) ((f64 *)f->array + (column) * rows)
#define WORDS_f64(n, c, x, stride, far) *(f64_##n *)(to + c * n) = x;
#define DECODE_DOUBLES(matrix, n) \
	CODER(decode_f64_##matrix) { \
		f64 *to = DOUBLES(matrix, n, place); \
		f64_32 first = *(const f64_32 *)x, second = *(const f64_32 *)y; \
		EACH_COLUMN(n, first, second, WORDS_f64, 0, 0) \
	}
DECODE_DOUBLES(a, 16) DECODE_DOUBLES(b, 8)
#define DOUBLES_TO_C(n, c, x, to) *(f64_16 *)(to + 2 * c * 16) = x;
CODER(decode_f64_c) {
	f64 *to = DOUBLES(c, 16, place);
	f64_32 first = *(const f64_32 *)x, second = *(const f64_32 *)y;
	EACH_COLUMN(16, first, second, DOUBLES_TO_C, to)
}
CODER(encode_f64) {
	const f64 *from = DOUBLES(c, 16, place);
	UNROLLED for (int r = 0; r < 8; r++) UNROLLED for (int c = 0; c < 4; c++) {
		((f64 *)x)[4 * r + c] = from[2 * c * 16 + r];
		((f64 *)y)[4 * r + c] = from[2 * c * 16 + 8 + r];
	}
}

// multiply_doubles adds the products one after the other, each with a single rounding. It returns 1 if a sum is NaN: Go has the
// rules for its bits.
FUNCTION(multiply_doubles) {
	typeof((doubles_m){0} != 0) refused = {0};
	NOT_UNROLLED for (int row = 0; row < 16; row += LANES_q) {
		doubles_m sum[8];
		UNROLLED for (int i = 0; i < 8; i++)
			sum[i] = *(const doubles_m *)(DOUBLES(c, 16, i) + row);
		NOT_UNROLLED for (u64 k = 0; k < n0; k++) {
			doubles_m a = *(const doubles_m *)(DOUBLES(a, 16, k) + row);
			UNROLLED for (int i = 0; i < 8; i++)
				sum[i] = __builtin_elementwise_fma(a, (doubles_m)DOUBLES(b, 8, k)[i], sum[i]);
		}
		UNROLLED for (int i = 0; i < 8; i++) {
			refused |= sum[i] != sum[i];
			*(doubles_m *)(DOUBLES(c, 16, i) + row) = sum[i];
		}
	}
	return ANY((bits_m)refused);
}

#endif
