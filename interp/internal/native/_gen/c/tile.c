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
