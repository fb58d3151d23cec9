// Stencils of matrix multiplications, for all lanes of a warp. They call functions, each of which a program has once:
//
//	decode_metadata_SIZE           the metadata of a sparse A, for elements of 16 bits or more (wide) or less (narrow)
//	check_metadata                 whether the manual defines its meaning
//	select_scales                  the places of the scales of A or B in their register
//	decode_scales_a, _b            scales of A and B
//	decode_TYPE_a, decode_TYPE_b   elements of A and B
//	normalise_a, normalise_b       elements of types with large exponents
//	decode_TYPE_c, clear           elements of C, or zeros
//	load_rows_TYPE                 the same from rows in memory
//	multiply_KIND                  D = A·B + C for 16 rows and 8 columns
//	add_TYPE                       D = D + C, if C is added last
//	encode_TYPE, store_rows_TYPE   elements of D
//
// The functions work on copies of the matrices in struct fragments. The vectors of A, C and D have the rows of a column as
// elements. A register has 8 rows of a matrix: lane 4·r + c has neighbours in row r, from column c·w on (Rows in package
// matrix). Until encode_TYPE or store_rows_TYPE nothing is changed that Go sees, so every stencil may leave.
//
// A sparse A becomes dense: its missing elements are zeros.

#include "rows.h"
#include "warp.h"

#ifndef MASKED

#define MAX_K 64
#define MAX_SCALES 4
struct right { // rightPanel in matrix.go: eight columns of B
	s32 b[MAX_K][8];      // by row, then column: elements, or pairs of 16-bit integers
	s8 exponents[MAX_K][8]; // exponents of the floats in b
	s32 scales[MAX_SCALES][8], scale_exponents[MAX_SCALES][8]; // scales: a number times a power of 2
	s32 divisor;          // exponent of the power of 2 by which B is divided
	u32 special;          // not 0: an element of B is infinite or a NaN
};
struct fragments { // Fragments in matrix.go
	struct right *right;  // the columns of B to multiply by
	struct right *panels; // the columns of B, in panels
	char *rows;           // rows of C and D in memory
	u64 row_bytes;        // the distance of these rows
	s32 a[MAX_K][16];     // by column, then row: elements, or pairs of 16-bit integers
	s32 c[2][8][16];      // by column, then row: C, then D
	s32 last[2][8][16];   // C if it is added last
	s8 a_exponents[MAX_K][16]; // exponents of the floats in a
	s32 scales[MAX_SCALES][16], scale_exponents[MAX_SCALES][16]; // scales of A, as those of B
	u32 metadata[8][16];  // of a sparse A: by four chunks, then row: four bits for each chunk
	s8 products[8][16];   // greatest exponents of the products of a block, by column, then row
	s32 top[8][16];       // greatest exponents of its terms
	s32 total[8][16], quarter[8][16]; // sums of its terms, and of a quarter of them
	f32 scale[8][16];     // what products are multiplied by
	u32 words[8][16];     // columns of the words of registers
	s32 sums[4][8][16];   // sums of groups of products
	s32 divisor;          // exponent of the power of 2 by which A is divided
	u32 special;          // not 0: an element of A is infinite or a NaN
	u32 undefined;        // not 0: scales or their selectors are NaNs or undefined
	u32 first, thread;    // the first byte of the scales, and the thread of four that holds them
	struct right own;     // of an mma
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
	f->right = &f->own;
	f->special = f->undefined = f->own.special = 0;
	f->divisor = f->own.divisor = 0;
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

// matrix_panel selects the panel of B at byte H0. matrix_empty_panel and matrix_left prepare the panel, and A, for decoding.
STENCIL(matrix_panel) {
	struct fragments *f = FRAGMENTS;
	f->right = (struct right *)((char *)f->panels + PLACE(H0));
	NEXT;
}
STENCIL(matrix_empty_panel) {
	struct right *r = FRAGMENTS->right;
	r->special = 0, r->divisor = 0;
	NEXT;
}
STENCIL(matrix_left) {
	struct fragments *f = FRAGMENTS;
	f->special = f->undefined = 0, f->divisor = 0;
	NEXT;
}

// ASSUME tells clang what holds for all callers, so that there is no code for the contrary.
#define ASSUME(condition) __builtin_assume(condition)

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

// The elements of word c of a row, whose first element is in column AT. FAR is the distance of the third element of a word from the
// first.
#define PLACES(n, low, high) to + (low) * n, to + (high) * n, exponents + (low) * n, exponents + (high) * n
#define WORDS_f16(n, c, x, at, far) special |= (u32_##n)put_halves_##n(PLACES(n, at, at + 1), x);
#define WORDS_bf16(n, c, x, at, far) special |= (u32_##n)put_bfloats_##n(PLACES(n, at, at + 1), x);
#define WORDS_tf32(n, c, x, at, far) special |= put_words_##n(to + (at) * n, exponents + (at) * n, x);
#define WORDS_OF_BYTES(n, c, x, halves, at, far) \
	special |= (u32_##n)put_halves_##n(PLACES(n, at, at + far), halves((x) & 0xff00ff)); \
	special |= (u32_##n)put_halves_##n(PLACES(n, at + 1, at + far + 1), halves((x) >> 8 & 0xff00ff));
#define WORDS_e5m2(n, c, x, at, far) WORDS_OF_BYTES(n, c, x, HALVES_e5m2, at, far)
#define WORDS_e3m2(n, c, x, at, far) WORDS_OF_BYTES(n, c, x, HALVES_e3m2, at, far)
#define WORDS_e2m3(n, c, x, at, far) WORDS_OF_BYTES(n, c, x, HALVES_e2m3, at, far)
#define WORDS_e2m1(n, c, x, at, far) WORDS_OF_BYTES(n, c, x, HALVES_e2m1, at, far)
#define NAN_OF_e4m3(x) ((((x) & 0x7f7f7f7f) + 0x01010101) & 0x80808080) // all bits but the sign are set
#define WORDS_e4m3(n, c, x, at, far) \
	WORDS_OF_BYTES(n, c, x, HALVES_e4m3, at, far) \
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
#define WORDS_e4m3_f16(n, c, x, at, far) \
	special |= (u32_##n)put_halves_##n(PLACES(n, at, at + far), converted_##n(HALVES_e4m3((x) & 0xff00ff))); \
	special |= (u32_##n)put_halves_##n(PLACES(n, at + 1, at + far + 1), converted_##n(HALVES_e4m3((x) >> 8 & 0xff00ff))); \
	special |= NAN_OF_e4m3(x);

// Integers of 8 bits are pairs of 16 bits: elements 0 and 2 of four, then 1 and 3. Those of 4 bits are elements 0 and 4, 1 and 5,
// 2 and 6, 3 and 7 of eight.
#define PAIRS(T, n, column, v) *(T##pairs_##n *)(to + (column) * n) = (v);
#define WORDS_s8(n, c, x, at, far) \
	PAIRS(signed_, n, 2 * c, (signed_pairs_##n)(x) << 8 >> 8) \
	PAIRS(signed_, n, 2 * c + 1, (signed_pairs_##n)(x) >> 8)
#define WORDS_u8(n, c, x, at, far) \
	PAIRS(, n, 2 * c, (pairs_##n)(x) & 255) \
	PAIRS(, n, 2 * c + 1, (pairs_##n)(x) >> 8)
#define WORDS_s4(n, c, x, at, far) \
	PAIRS(signed_, n, 4 * c, (signed_pairs_##n)(x) << 12 >> 12) \
	PAIRS(signed_, n, 4 * c + 1, (signed_pairs_##n)(x) << 8 >> 12) \
	PAIRS(signed_, n, 4 * c + 2, (signed_pairs_##n)(x) << 4 >> 12) \
	PAIRS(signed_, n, 4 * c + 3, (signed_pairs_##n)(x) >> 12)
#define WORDS_u4(n, c, x, at, far) \
	PAIRS(, n, 4 * c, (pairs_##n)(x) & 15) \
	PAIRS(, n, 4 * c + 1, (pairs_##n)(x) >> 4 & 15) \
	PAIRS(, n, 4 * c + 2, (pairs_##n)(x) >> 8 & 15) \
	PAIRS(, n, 4 * c + 3, (pairs_##n)(x) >> 12)
// Packed elements of 4 bits, e2m1p, become pairs of integers, in the order of s4: twice the number.
static inline pairs_8 twice_e2m1_8(pairs_8 x) {
	pairs_8 m = x & 7, v = m - (pairs_8)(m > 4) - (pairs_8)(m > 5) - 3 * (pairs_8)(m > 6), sign = -(x >> 3 & 1);
	return (v ^ sign) - sign;
}
static inline pairs_16 twice_e2m1_16(pairs_16 x) {
	pairs_16 m = x & 7, v = m - (pairs_16)(m > 4) - (pairs_16)(m > 5) - 3 * (pairs_16)(m > 6), sign = -(x >> 3 & 1);
	return (v ^ sign) - sign;
}
#define WORDS_e2m1p(n, c, x, at, far) \
	PAIRS(, n, 4 * c, twice_e2m1_##n((pairs_##n)(x))) \
	PAIRS(, n, 4 * c + 1, twice_e2m1_##n((pairs_##n)(x) >> 4)) \
	PAIRS(, n, 4 * c + 2, twice_e2m1_##n((pairs_##n)(x) >> 8)) \
	PAIRS(, n, 4 * c + 3, twice_e2m1_##n((pairs_##n)(x) >> 12))
#define WORDS_b1(n, c, x, at, far) *(u32_##n *)(to + c * n) = x;

#define PUT_WORDS(n, c, x, f) *(u32_##n *)f->words[c] = x;

// expand replaces the four words of each row of a sparse A by the eight words of the dense A, and returns their number. A unit is
// one of the two stored parts of a chunk; for units of 32 bits there is one. KIND has the size of a unit in bytes, and the
// first four chunks in metadata, in 3 bits each.
static inline __attribute__((always_inline)) int expand(struct fragments *f, s32 kind) {
	const u32(*metadata)[16] = (const u32(*)[16])f->metadata[kind >> 3];
	const s32 size = kind & 7;
	u32_16 chunks = *(const u32_16 *)metadata[0];
	NOT_UNROLLED for (int c = 3; c >= 0; c--) {
		u32_16 x = *(const u32_16 *)f->words[c], first, second;
		if (size == 1) {
			u32_16 m = *(const u32_16 *)metadata[c / 2] >> (u32)(c % 2 * 8);
			first = (x & 255) << (m & 3) * 8 | (x >> 8 & 255) << (m >> 2 & 3) * 8;
			second = (x >> 16 & 255) << (m >> 4 & 3) * 8 | (x >> 24) << (m >> 6 & 3) * 8;
		} else if (size == 2) {
			u32_16 m = chunks >> (u32)(c * 4), low = (x & 0xffff) << (m & 1) * 16, high = x >> 16 << (m >> 2 & 1) * 16;
			u32_16 low_is_second = -(m >> 1 & 1), high_is_second = -(m >> 3 & 1);
			first = low & ~low_is_second | high & ~high_is_second;
			second = low & low_is_second | high & high_is_second;
		} else {
			u32_16 is_second = -(chunks >> (u32)(c * 4 + 3) & 1);
			first = x & ~is_second;
			second = x & is_second;
		}
		*(u32_16 *)f->words[2 * c] = first;
		*(u32_16 *)f->words[2 * c + 1] = second;
	}
	return 8;
}

// DECODE decodes a register of B, or two of A. DISTANCES has, in 8 bits each, half the distance of words 0 and 2, the distance of
// the third element of a word from the first, and the distance of words 0 and 1; then the KIND of expand, 0 if A is dense.
#define ELEMENTS_a f->a
#define ELEMENTS_b f->right->b
#define EXPONENTS_a f->a_exponents
#define EXPONENTS_b f->right->exponents
#define SPECIAL_a f->special
#define SPECIAL_b f->right->special
#define DIVISOR_a f->divisor
#define DIVISOR_b f->right->divisor
#define EXPAND_a (distances >> 24 ? expand(f, (s32)(distances >> 24)) : 4)
#define EXPAND_b 4
#define DECODE(type, matrix, n) \
	CODER(decode_##type##_##matrix) { \
		s32 *to = ELEMENTS_##matrix[place]; \
		s8 *exponents = EXPONENTS_##matrix[place]; \
		s64 stride = distances & 255, far = distances >> 8 & 255, odd = distances >> 16 & 255; \
		u32_32 first = *(const u32_32 *)x, second = *(const u32_32 *)y; \
		u32_##n special = {0}; \
		EACH_COLUMN(n, first, second, PUT_WORDS, f) \
		int count = EXPAND_##matrix; \
		NOT_UNROLLED for (int c = 0; c < count; c++) { \
			s64 at = (c & ~1) * stride + (c & 1) * odd; \
			u32_##n v = *(const u32_##n *)f->words[c]; \
			WORDS_##type(n, c, v, at, far) \
		} \
		if (UNLIKELY(ANY_OF_ROWS_##n(special))) \
			SPECIAL_##matrix = 1; \
	}
#define DECODES(type) DECODE(type, a, 16) DECODE(type, b, 8)
DECODES(f16) DECODES(bf16) DECODES(tf32)
DECODES(e4m3) DECODES(e4m3_f16) DECODES(e5m2) DECODES(e3m2) DECODES(e2m3) DECODES(e2m1)
DECODES(s8) DECODES(u8) DECODES(s4) DECODES(u4) DECODES(b1) DECODES(e2m1p)

// decode_metadata stores the metadata of rows 0 to 7 and 8 to 15. PLACE is the first lane, of four, with metadata, DISTANCES the number
// of these lanes. A wide register has four chunks of a row, then four of the row eight below. A narrow one has eight chunks;
// every second lane has the rows from 8 on (NewSparse in package matrix).
CODER(decode_metadata_wide) {
	ASSUME(distances > 0);
	NOT_UNROLLED for (u64 i = 0; i < distances; i++) UNROLLED for (int row = 0; row < 8; row++) {
		u32 word = x[4 * row + place + i];
		f->metadata[i][row] = word & 0xffff;
		f->metadata[i][row + 8] = word >> 16;
	}
}
CODER(decode_metadata_narrow) {
	ASSUME(distances > 0);
	NOT_UNROLLED for (u64 i = 0; i < distances; i++) UNROLLED for (int row = 0; row < 8; row++) {
		u32 word = x[4 * row + place + i], *to = &f->metadata[i & ~1][row + (i & 1) * 8];
		to[0] = word & 0xffff;
		to[16] = word >> 16;
	}
}

// check_metadata returns 1 if the manual does not define the meaning of some metadata: if both stored units have the same place or,
// with ordered metadata (N1 = 1), the wrong order. For units of 32 bits (N1 = 2) two numbers are valid. N0 is the number of
// groups of four chunks.
FUNCTION(check_metadata) {
	ASSUME(n0 > 0);
	u32_16 bad = {0};
	NOT_UNROLLED for (u64 i = 0; i < n0; i++) {
		u32_16 m = *(const u32_16 *)f->metadata[i];
		UNROLLED for (int c = 0; c < 4; c++, m >>= 4) {
			u32_16 first = m & 3, second = m >> 2 & 3, both = m & 15;
			bad |= (u32_16)(n1 == 2 ? (both != 4) & (both != 14) : n1 == 1 ? first >= second : first == second);
		}
	}
	return ANY_OF_ROWS_16(bad);
}

// select_scales reads the first byte and the thread of scales. All lanes must have the same. PLACE is the number of scales of a row,
// DISTANCES the number of threads.
CODER(select_scales) {
	u32_32 byte = *(const u32_32 *)x & 0xffff, thread = *(const u32_32 *)y & 0xffff;
	u32 first = x[0] & 0xffff, number = y[0] & 0xffff;
	u32_32 other = byte ^ first | thread ^ number;
	f->undefined |= ANY_OF_ROWS_16(other.lo | other.hi) || first & (place - 1) || first + place > 4 || number >= distances;
	f->first = first & 3;
	f->thread = number & 3;
}

// decode_scales decodes scales of .ue4m3 if DISTANCES is 1, else of .ue8m0. PLACE is the number of scales of a row.
#define DECODE_SCALES(matrix, n, scales, scale_exponents, word) \
	CODER(decode_scales_##matrix) { \
		ASSUME(place > 0); \
		UNROLLED for (int i = 0; i < n; i++) \
			f->words[0][i] = word; \
		u32_##n v = *(const u32_##n *)f->words[0] >> f->first * 8, bad = {0}; \
		NOT_UNROLLED for (u64 i = 0; i < place; i++, v >>= 8) { \
			u32_##n byte = v & 255, exponent = byte - 127, number = (u32_##n)1, invalid = (u32_##n)(byte == 255); \
			if (distances) { \
				u32_##n e = byte >> 3 & 15; \
				number = (byte & 7) + (8 & (u32_##n)(e != 0)); \
				exponent = __builtin_elementwise_max(e, (u32_##n)1) - 7; \
				invalid = (u32_##n)((byte & 127) == 127); \
			} \
			*(u32_##n *)scales[i] = number; \
			*(u32_##n *)scale_exponents[i] = exponent; \
			bad |= invalid; \
		} \
		f->undefined |= ANY_OF_ROWS_##n(bad); \
	}
DECODE_SCALES(a, 16, f->scales, f->scale_exponents, x[i % 8 * 4 + 2 * f->thread + i / 8])
DECODE_SCALES(b, 8, f->right->scales, f->right->scale_exponents, x[i * 4 + f->thread])

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

// load_rows and store_rows copy 8 columns, of 32 bits each, of rows in memory to the first matrix C, and back. N0 is the distance of
// the first column from the beginning of a row, in bytes.
typedef u32 u32_4 __attribute__((ext_vector_type(4), aligned(4)));
#define ROW_AT(row) (f->rows + f->row_bytes * (row) + n0 + 16 * half)
#define LOAD_ROWS(type, put) \
	FUNCTION(load_rows_##type) { \
		NOT_UNROLLED for (int half = 0; half < 2; half++) { \
			s32 *to = f->c[0][4 * half]; \
			UNROLLED for (int row = 0; row < 16; row++) \
				((u32_4 *)f->words)[row] = *(const u32_4 *)ROW_AT(row); \
			u32_32 first = *(const u32_32 *)f->words[0], second = *(const u32_32 *)f->words[2]; \
			EACH_COLUMN(16, first, second, put, to) \
		} \
		return 0; \
	}
#define ROWS_TO_C(n, c, x, to) *(u32_16 *)(to + c * 16) = x;
#define HALF_ROWS_TO_C(n, c, x, to) *(f32_16 *)(to + c * 16) = __builtin_convertvector((f16_16)__builtin_convertvector(x, u16_16), f32_16);
LOAD_ROWS(f32, ROWS_TO_C) LOAD_ROWS(f16, HALF_ROWS_TO_C)
#define STORE_ROWS(type, get) \
	FUNCTION(store_rows_##type) { \
		NOT_UNROLLED for (int half = 0; half < 2; half++) { \
			const s32 *from = f->c[0][4 * half]; \
			put_columns(f->words[0], f->words[2], get(0), get(1), get(2), get(3)); \
			UNROLLED for (int row = 0; row < 16; row++) \
				*(u32_4 *)ROW_AT(row) = ((const u32_4 *)f->words)[row]; \
		} \
		return 0; \
	}
STORE_ROWS(f32, FROM_C) STORE_ROWS(f16, HALF_FROM_C)

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
	ASSUME(from < to);
	NOT_UNROLLED for (int k = from; k < to; k++) {
		s8_16 a = *(const s8_16 *)f->a_exponents[k];
		s8_8 b = *(const s8_8 *)f->right->exponents[k];
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
#define NORMALISE(matrix, n) \
	FUNCTION(normalise_##matrix) { \
		s32 *elements = ELEMENTS_##matrix[0]; \
		s8 *exponents = EXPONENTS_##matrix[0]; \
		bytes_32 most = {0}, bad = {0}; \
		ASSUME(n0 > 0); \
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
		DIVISOR_##matrix = max - 127; \
		return ANY_OF_ROWS_8(bad); \
	}
NORMALISE(a, 16) NORMALISE(b, 8)

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
static inline __attribute__((always_inline)) u64 multiply_floats(struct fragments *f, u64 n0, u64 n1, const int half, const int scaled) {
	const s32 count = (s32)(n0 & 255), block = (s32)(n0 >> 8 & 255), bits = (s32)(n0 >> 16 & 255);
	const s32 less = (s32)(n1 >> 8 & 255), least = -(s32)(n1 >> 16 & 255), total_offset = f->divisor + f->right->divisor + (s32)(n1 >> 24 & 255);
	s32 *c = f->c[n1 & 255][0];
	rows_m refused = {0};
	ASSUME(count > 0 && block > 0);
	NOT_UNROLLED for (s32 from = 0; from < count; from += block) {
		greatest(f, from, from + block);
		EACH_ROW_OF_ALL(i) {
			rows_m v = ROWS_AT(c + i), product = __builtin_convertvector(*(const exponents_m *)(f->products[0] + i), rows_m);
			rows_m e = (v >> 23 & 255) - 127, nonzero = v << 1 != 0, some = product >= NO_SUM;
			rows_m offset = (rows_m)total_offset;
			if (scaled)
				offset += ROWS_AT(f->scale_exponents[0] + i % 16) + f->right->scale_exponents[0][i / 16];
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
				ASSUME(part < end);
				NOT_UNROLLED for (s32 k = part; k < end; k++) {
					floats_m a = FLOATS_AT(&f->a[k][row]);
					const f32 *b = (const f32 *)&f->right->b[k][first];
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

#define SPECIAL UNLIKELY(f->special | f->right->special)
FUNCTION(multiply_f32) { return SPECIAL || multiply_floats(f, n0, n1, 0, 0); }
FUNCTION(multiply_f16) { return SPECIAL || multiply_floats(f, n0, n1, 1, 0); }
// multiply_scaled adds the exponents of scales to those of the products. A row has one scale.
FUNCTION(multiply_scaled) { return SPECIAL || f->undefined || multiply_floats(f, n0, n1, 0, 1); }

// clear makes C zero. N1 is the number of the matrix C.
FUNCTION(clear) {
	EACH_ROW_OF_ALL(i) *(rows_m *)(f->c[n1][0] + i) = (rows_m){0};
	return 0;
}

// divide divides the first matrix C by 2 to the power N0. It returns 1 if a result that is not 0 is less than the f32 with bits N1:
// then it is not exact, or it has another exponent as a term than the undivided number less N0.
FUNCTION(divide) {
	floats_m factor = power((rows_m)-(s32)n0);
	rows_m refused = {0};
	EACH_ROW_OF_ALL(i) {
		floats_m v = FLOATS_AT((const f32 *)f->c + i) * factor;
		rows_m magnitude = (rows_m)v & 0x7fffffff, nonzero = ROWS_AT(f->c[0][0] + i) << 1 != 0;
		refused |= (magnitude < (s32)n1) & nonzero;
		*(floats_m *)((f32 *)f->c + i) = v;
	}
	return ANY((bits_m)refused);
}

// ADD adds C, as it was, to N0 elements of D, from N1 on.
#define ADD(type, rounded) \
	FUNCTION(add_##type) { \
		rows_m refused = {0}; \
		f32 *c = (f32 *)f->c + n1; \
		const f32 *last = (const f32 *)f->last + n1; \
		ASSUME(n0 > 0); \
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
	ASSUME(count > 0);
	NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int first = 0; first < 8; first += COLUMNS) {
		rows_m sum[COLUMNS];
		UNROLLED for (int i = 0; i < COLUMNS; i++)
			sum[i] = saturate ? (rows_m){0} : ROWS_AT(&to[first + i][row]);
		NOT_UNROLLED for (u64 k = 0; k < count; k++) {
			rows_m a = ROWS_AT(&f->a[k][row]);
			UNROLLED for (int i = 0; i < COLUMNS; i++)
				sum[i] += MULTIPLY_PAIRS(a, (rows_m)f->right->b[k][first + i]);
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

// multiply_groups adds groups of products of packed e2m1 to C. The exact sum of a group times its scales is a term. N0 has the number
// of columns of pairs, the number of columns of a group, and the number of scales of a row, in 8 bits each. N1 has the number of
// the matrix C, the number of bits after the point of the largest term, this number less that of a sum's fraction bits, and
// the negated least exponent of terms. It returns 1 if it does not know the result.
//
// Terms have at most 50 bits, and so has their sum: f64 is exact.
typedef s32 words_m __attribute__((ext_vector_type(LANES_q), aligned(4)));
typedef f32 narrow_m __attribute__((ext_vector_type(LANES_q), aligned(4)));
typedef s64 longs_m __attribute__((ext_vector_type(LANES_q), aligned(8)));
#define WORDS_AT(p) (*(const words_m *)(p))
static inline doubles_m double_power(words_m e) { return (doubles_m)(__builtin_convertvector(e + 1023, longs_m) << 52); }

// NONZERO has, for a group of at most 16 pairs, the bits of elements that are not 0.
#define NONZERO(to, n, from) \
	u32_##n to = {0}; \
	NOT_UNROLLED for (s32 k = 0; k < pairs; k++) { \
		u32_##n v = *(const u32_##n *)from[group * pairs + k]; \
		to |= (1 & (u32_##n)((v & 0xffff) != 0) | 0x10000 & (u32_##n)(v >> 16 != 0)) << (u32)k; \
	}
FUNCTION(multiply_groups) {
	const s32 count = (s32)(n0 & 255), pairs = (s32)(n0 >> 8 & 255), scales = (s32)(n0 >> 16 & 255), groups = count / pairs;
	const s32 bits = (s32)(n1 >> 8 & 255), shift = (s32)(n1 >> 16 & 255), least = -(s32)(n1 >> 24 & 255);
	s32(*c)[16] = f->c[n1 & 255];
	ASSUME(pairs > 0 && groups > 0);
	if (UNLIKELY(f->undefined))
		return 1;
	NOT_UNROLLED for (s32 i = 0; i < 8 * 16; i += LANES_r)
		*(rows_m *)(f->top[0] + i) = (rows_m)least;
	NOT_UNROLLED for (s32 group = 0; group < groups; group++) {
		NONZERO(a, 16, f->a)
		NONZERO(b, 8, f->right->b)
		const s32 at = group * scales / groups;
		a &= (u32_16)(*(const u32_16 *)f->scales[at] != 0);
		b &= (u32_8)(*(const u32_8 *)f->right->scales[at] != 0);
		*(u32_16 *)f->words[0] = a;
		*(u32_8 *)f->words[1] = b;
		NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int col = 0; col < 8; col++) {
			rows_m sum = {0}, some = (rows_m)((ROWS_AT(f->words[0] + row) & (s32)f->words[1][col]) != 0);
			NOT_UNROLLED for (s32 k = group * pairs; k < group * pairs + pairs; k++)
				sum += MULTIPLY_PAIRS(ROWS_AT(&f->a[k][row]), (rows_m)f->right->b[k][col]);
			rows_m e = ROWS_AT(&f->scale_exponents[at][row]) + f->right->scale_exponents[at][col];
			*(rows_m *)&f->top[col][row] = __builtin_elementwise_max(ROWS_AT(&f->top[col][row]), e & some | LOWEST & ~some);
			*(rows_m *)&f->sums[group][col][row] = sum * ROWS_AT(&f->scales[at][row]) * f->right->scales[at][col];
		}
	}
	longs_m refused = {0};
	NOT_UNROLLED for (int row = 0; row < 16; row += LANES_q) NOT_UNROLLED for (int col = 0; col < 8; col++) {
		words_m v = WORDS_AT(&c[col][row]), biased = v >> 23 & 255, nonzero = (words_m)(v << 1 != 0), top = WORDS_AT(&f->top[col][row]);
		refused |= __builtin_convertvector(biased == 255, longs_m);
		words_m e = __builtin_elementwise_max(biased, (words_m)1) - 127;
		top = __builtin_elementwise_max(top, e & nonzero | LOWEST & ~nonzero);
		doubles_m total = __builtin_elementwise_trunc(__builtin_convertvector((narrow_m)v, doubles_m) * double_power(bits - top));
		NOT_UNROLLED for (s32 group = 0; group < groups; group++) {
			const s32 at = group * scales / groups;
			words_m exponent = WORDS_AT(&f->scale_exponents[at][row]) + f->right->scale_exponents[at][col];
			total += __builtin_elementwise_trunc(__builtin_convertvector(WORDS_AT(&f->sums[group][col][row]), doubles_m) * double_power(shift + exponent - top));
		}
		longs_m result = (longs_m)(total * double_power(top - bits));
		longs_m magnitude = result & 0x7fffffffffffffff;
		refused |= (longs_m)((magnitude >= (s64)(1023 + 128) << 52) | (magnitude < (s64)(1023 - 126) << 52) & (magnitude != 0));
		result &= ~(longs_m)((1 << 29) - 1);
		*(narrow_m *)&c[col][row] = __builtin_convertvector((doubles_m)result + 0.0, narrow_m);
	}
	return ANY((bits_m)refused);
}

// MULTIPLY_BITS counts the bits of a combination of words of A and B. N0 is the number of columns of words.
#define MULTIPLY_BITS(name, op) \
	FUNCTION(multiply_bits_##name) { \
		s32(*to)[16] = f->c[n1]; \
		ASSUME(n0 > 0); \
		NOT_UNROLLED for (int row = 0; row < 16; row += LANES_r) NOT_UNROLLED for (int n = 0; n < 8; n++) { \
			bits_m sum = *(const bits_m *)&to[n][row]; \
			NOT_UNROLLED for (u64 k = 0; k < n0; k++) { \
				bits_m v = *(const bits_m *)&f->a[k][row] op (u32)f->right->b[k][n]; \
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
#define DOUBLES(array, rows, column) ((f64 *)array + (column) * rows)
#define WORDS_f64(n, c, x, at, far) *(f64_##n *)(to + c * n) = x;
#define DECODE_DOUBLES(matrix, n) \
	CODER(decode_f64_##matrix) { \
		f64 *to = DOUBLES(ELEMENTS_##matrix, n, place); \
		f64_32 first = *(const f64_32 *)x, second = *(const f64_32 *)y; \
		EACH_COLUMN(n, first, second, WORDS_f64, 0, 0) \
	}
DECODE_DOUBLES(a, 16) DECODE_DOUBLES(b, 8)
#define DOUBLES_TO_C(n, c, x, to) *(f64_16 *)(to + 2 * c * 16) = x;
CODER(decode_f64_c) {
	f64 *to = DOUBLES(f->c, 16, place);
	f64_32 first = *(const f64_32 *)x, second = *(const f64_32 *)y;
	EACH_COLUMN(16, first, second, DOUBLES_TO_C, to)
}
CODER(encode_f64) {
	const f64 *from = DOUBLES(f->c, 16, place);
	UNROLLED for (int r = 0; r < 8; r++) UNROLLED for (int c = 0; c < 4; c++) {
		((f64 *)x)[4 * r + c] = from[2 * c * 16 + r];
		((f64 *)y)[4 * r + c] = from[2 * c * 16 + 8 + r];
	}
}

// multiply_doubles adds the products one after the other, each with a single rounding. It returns 1 if a sum is NaN: Go has the
// rules for its bits.
FUNCTION(multiply_doubles) {
	typeof((doubles_m){0} != 0) refused = {0};
	ASSUME(n0 > 0);
	NOT_UNROLLED for (int row = 0; row < 16; row += LANES_q) {
		doubles_m sum[8];
		UNROLLED for (int i = 0; i < 8; i++)
			sum[i] = *(const doubles_m *)(DOUBLES(f->c, 16, i) + row);
		NOT_UNROLLED for (u64 k = 0; k < n0; k++) {
			doubles_m a = *(const doubles_m *)(DOUBLES(f->a, 16, k) + row);
			UNROLLED for (int i = 0; i < 8; i++)
				sum[i] = __builtin_elementwise_fma(a, (doubles_m)DOUBLES(f->right->b, 8, k)[i], sum[i]);
		}
		UNROLLED for (int i = 0; i < 8; i++) {
			refused |= sum[i] != sum[i];
			*(doubles_m *)(DOUBLES(f->c, 16, i) + row) = sum[i];
		}
	}
	return ANY((bits_m)refused);
}

#endif
