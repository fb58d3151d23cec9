// Stencils of ldmatrix, stmatrix and movmatrix, for all lanes of a warp.

#include "rows.h"

#ifndef MASKED

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

// matrix_rows and matrix_short_rows leave unless all rows, of 16 or 8 bytes, of lanes H1 are in bounds and aligned.
#define MATRIX_ROWS(name, as, bytes) \
	STENCIL(matrix_##name##_##as) { \
		REACH_shared(bytes) ADDR_##as \
		u32 lanes = (u32)NUMBER(H1); \
		vector_q low = {0}, high = {0}; \
		VECTORS(q, i) { \
			vector_q o = offsets_##as(a + i) + off, in = AMONG(q, lanes, i); \
			low |= o & in, high |= ((vector_q)last - o) & in; \
		} \
		if (UNLIKELY(ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | (bytes - 1))))) \
			LEAVE; \
		NEXT; \
	}
MATRIX_ROWS(rows, r, 16) MATRIX_ROWS(rows, q, 16) MATRIX_ROWS(short_rows, r, 8) MATRIX_ROWS(short_rows, q, 8)

// READ_FORMAT reads a row of 16 elements and unpacks them to 16 bytes: elements of 6 bits and of 4 bits (e2m1, in bits 2 to 5 of its
// byte), and signed elements of 4 bits in 8 bytes.
typedef u8 bytes16 __attribute__((ext_vector_type(16), aligned(1)));
typedef u8 bytes_of_pair __attribute__((ext_vector_type(32), aligned(1)));
typedef u8 bytes8 __attribute__((ext_vector_type(8), aligned(1)));
typedef u32 words4 __attribute__((ext_vector_type(4), aligned(1)));
typedef u32 words8 __attribute__((ext_vector_type(8), aligned(1)));
typedef u32 words16 __attribute__((ext_vector_type(16), aligned(1)));
typedef u64 longs4 __attribute__((ext_vector_type(4), aligned(1)));
typedef u64 longs8 __attribute__((ext_vector_type(8), aligned(1)));
typedef u64 longs16 __attribute__((ext_vector_type(16), aligned(1)));
static inline row8 read_whole(const char *p) { return *(const row8 *)p; }
static inline row8 read_6bits(const char *p) {
	bytes16 b = *(const bytes16 *)p;
	words4 w = (words4)__builtin_shufflevector(b, b, 0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
	return (row8)(w & 0x3f | (w & 0xfc0) << 2 | (w & 0x3f000) << 4 | (w & 0xfc0000) << 6);
}
static inline words4 nibbles(bytes8 b) {
	words4 w = (words4)__builtin_shufflevector(b, b, 0, 1, 1, 1, 2, 3, 3, 3, 4, 5, 5, 5, 6, 7, 7, 7);
	return w & 0xf | (w & 0xf0) << 4 | (w & 0xf00) << 8 | (w & 0xf000) << 12;
}
static inline row8 read_4bits(const char *p) { return (row8)(nibbles(*(const bytes8 *)p) << 2); }
static inline row8 read_signed(const char *p) {
	words4 w = nibbles(*(const bytes8 *)p);
	return (row8)(w | (w & 0x08080808) * 0x1e);
}

// Accesses to one matrix of eight rows. The address of its first row is in lane H1 of A.
#define EACH_ROW(i) _Pragma("clang loop unroll(full)") for (int i = 0; i < 8; i++)
#define LOAD_MATRIX(as, name, read, change) \
	STENCIL(load_matrix##name##_##as) { \
		REACH_shared(8) ADDR_##as \
		a += PLACE(H1), p += off; \
		row8 rows[8]; \
		EACH_ROW(i) rows[i] = read(p + a[i]); \
		change \
		char *d = (char *)ROW(u32, D); \
		EACH_ROW(i) *(row8 *)(d + 16 * i) = rows[i]; \
		NEXT; \
	}
#define STORE_MATRIX(as, name, change) \
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

// Matrices of bytes whose rows in memory are columns in the registers. Lane 4·r + c has bytes r and r + 8 of rows first(c) and
// first(c) + 1: word r of PAIR. join_pairs puts the words of four pairs in the order of the lanes, and split_pairs does the
// reverse.
#define PAIR(x, y) ((words8)__builtin_shufflevector((bytes16)(x), (bytes16)(y), 0, 16, 8, 24, 1, 17, 9, 25, 2, 18, 10, 26, 3, 19, 11, 27, 4, 20, 12, 28, 5, 21, 13, 29, 6, 22, 14, 30, 7, 23, 15, 31))
static inline void join_pairs(char *to, words8 a, words8 b, words8 c, words8 d) {
	longs8 x = (longs8)__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
	longs8 y = (longs8)__builtin_shufflevector(c, d, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
	*(longs16 *)to = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}
static inline void split_pairs(row8 *rows) {
	words16 x = *(const words16 *)rows, y = *(const words16 *)(rows + 4);
#define SPLIT_PAIR(c) { \
	bytes_of_pair v = (bytes_of_pair)__builtin_shufflevector(x, y, c, 4 + c, 8 + c, 12 + c, 16 + c, 20 + c, 24 + c, 28 + c); \
	rows[2 * c] = (row8)__builtin_shufflevector(v, v, 0, 4, 8, 12, 16, 20, 24, 28, 2, 6, 10, 14, 18, 22, 26, 30); \
	rows[2 * c + 1] = (row8)__builtin_shufflevector(v, v, 1, 5, 9, 13, 17, 21, 25, 29, 3, 7, 11, 15, 19, 23, 27, 31); \
}
	SPLIT_PAIR(0) SPLIT_PAIR(1) SPLIT_PAIR(2) SPLIT_PAIR(3)
}

// load_matrix_bytes loads a matrix of 16 rows into registers D and F: the rows 4·c and 4·c + 1, and the two rows below.
#define LOAD_BYTES(as, name, read) \
	STENCIL(load_matrix_bytes##name##_##as) { \
		REACH_shared(16) ADDR_##as \
		a += PLACE(H1), p += off; \
		char *d = (char *)ROW(u32, D), *f = (char *)ROW(u32, F); \
		row8 rows[16]; \
		_Pragma("clang loop unroll(full)") for (int i = 0; i < 16; i++) rows[i] = read(p + a[i]); \
		join_pairs(d, PAIR(rows[0], rows[1]), PAIR(rows[4], rows[5]), PAIR(rows[8], rows[9]), PAIR(rows[12], rows[13])); \
		join_pairs(f, PAIR(rows[2], rows[3]), PAIR(rows[6], rows[7]), PAIR(rows[10], rows[11]), PAIR(rows[14], rows[15])); \
		NEXT; \
	}
#define ACCESS_MATRIX(as) \
	LOAD_MATRIX(as, , read_whole, ) LOAD_MATRIX(as, _trans, read_whole, transpose(rows);) \
	LOAD_MATRIX(as, _6bits, read_6bits, ) LOAD_MATRIX(as, _4bits, read_4bits, ) LOAD_MATRIX(as, _signed, read_signed, ) \
	STORE_MATRIX(as, , ) STORE_MATRIX(as, _trans, transpose(rows);) STORE_MATRIX(as, _bytes, split_pairs(rows);) \
	LOAD_BYTES(as, , read_whole) LOAD_BYTES(as, _6bits, read_6bits) LOAD_BYTES(as, _4bits, read_4bits)
ACCESS_MATRIX(r) ACCESS_MATRIX(q)

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
