// Stencils of wmma.load and wmma.store, for all lanes of a warp.
//
// Lane i of A has the address of row i of a matrix in memory. The first stencil, fragment, checks all rows before anything is
// changed, and writes a pointer for each lane: to the element that its number gives. A stencil for each register then accesses the
// elements of this register, at the same distances from the pointers in all lanes. matrix.Layout explains the steps.

#include "rows.h"
#include "warp.h"
#include "pointer.h"

#ifndef MASKED

// The numbers of fragment: the number of rows and the mask of an address's unused bits, the bytes of a row and of an element, and
// for each of the five bits of a lane's number six bits with a step, in rows (D) and in elements of a row (F).
#define FRAGMENT_ROWS (PLACE(HB) & 0xff)
#define FRAGMENT_UNUSED (PLACE(HB) >> 8)
#define FRAGMENT_BYTES (PLACE(HC) & 0xffff)
#define FRAGMENT_SIZE (PLACE(HC) >> 16)
#define STEP_OF(hole, bit) (PLACE(hole) >> 6 * (bit) & 0x3f)
#define EACH_BIT(b) _Pragma("clang loop unroll(full)") for (int b = 0; b < 5; b++)

// fragment leaves unless all rows are in bounds, aligned and equally far apart.
#define FRAGMENT(as, space) \
	STENCIL(fragment_##as##_##space) { \
		REACH_##space(FRAGMENT_BYTES) ADDR_##as \
		u32 lanes = (u32)((1ull << FRAGMENT_ROWS) - 1); \
		u64 first = a[0] + off, stride = (u64)a[1] - a[0]; \
		vector_q low = {0}, high = {0}, apart = {0}; \
		VECTORS(q, i) { \
			vector_q o = offsets_##as(a + i) + off, in = AMONG(q, lanes, i); \
			low |= o & in, high |= ((vector_q)last - o) & in; \
			apart |= (o ^ (first + (u64)i * stride + MULTIPLES_q((vector_q)stride))) & in; \
		} \
		if (UNLIKELY(ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | FRAGMENT_UNUSED)) || ANY(apart))) \
			LEAVE; \
		u64 steps[5]; \
		EACH_BIT(b) steps[b] = STEP_OF(HD, b) * stride + STEP_OF(HF, b) * FRAGMENT_SIZE; \
		VECTORS(q, i) { \
			vector_q v = (vector_q)((u64)p + first), lane = INDEX_q + (u64)i; \
			EACH_BIT(b) v += -(lane >> (u64)b & 1) & steps[b]; \
			VECTOR(q, LANE_POINTERS, i) = v; \
		} \
		HALF_POINTERS[0] = stride; \
		NEXT; \
	}
FRAGMENT(r, hit) FRAGMENT(q, hit) FRAGMENT(r, shared) FRAGMENT(q, shared)

// A register has 1, 2 or 4 elements. Element 0 is DISTANCE(0) from the pointer of its lane; the two bits of an element's number add
// DISTANCE(1) and DISTANCE(2). H0 has the rows of these distances, H1 the bytes in a row.
#define DISTANCE(n) ((PLACE(H0) >> 10 * (n) & 0x3ff) * HALF_POINTERS[0] + (PLACE(H1) >> 10 * (n) & 0x3ff))
#define SOURCE_r const u32 *b = ROW(u32, B);
#define SOURCE_q const u64 *b = WIDE(u64, B);
#define EACH_LANE _Pragma("clang loop vectorize(disable) unroll_count(4)") for (int i = 0; i < 32; i++)
#define REGISTER(E, n, ds, load, store) \
	STENCIL(load_fragment_##E) { \
		DATA_##ds(D) \
		const u64 *at = LANE_POINTERS; \
		u64 d0 = DISTANCE(0), d1 = n > 1 ? DISTANCE(1) : 0, d2 = n > 2 ? DISTANCE(2) : 0; \
		EACH_LANE { \
			const char *p = (const char *)at[i] + d0; \
			d[i] = load; \
		} \
		NEXT; \
	} \
	STENCIL(store_fragment_##E) { \
		SOURCE_##ds \
		const u64 *at = LANE_POINTERS; \
		u64 d0 = DISTANCE(0), d1 = n > 1 ? DISTANCE(1) : 0, d2 = n > 2 ? DISTANCE(2) : 0; \
		*ctx->memory_changed = 1; \
		EACH_LANE { \
			char *p = (char *)at[i] + d0; \
			element_##ds v = b[i]; \
			store \
		} \
		NEXT; \
	}
#define GET_AT(E, d) (u32)*(const E##_u *)(p + (d))
#define PUT_AT(E, d, v) *(E##_u *)(p + (d)) = (E)(v);
REGISTER(u64, 1, q, *(const u64_u *)p, *(u64_u *)p = v;)
REGISTER(u32, 1, r, *(const u32_u *)p, *(u32_u *)p = v;)
REGISTER(u16, 2, r, GET_AT(u16, 0) | GET_AT(u16, d1) << 16, PUT_AT(u16, 0, v) PUT_AT(u16, d1, v >> 16))
REGISTER(u8, 4, r, GET_AT(u8, 0) | GET_AT(u8, d1) << 8 | GET_AT(u8, d2) << 16 | GET_AT(u8, d1 + d2) << 24,
	PUT_AT(u8, 0, v) PUT_AT(u8, d1, v >> 8) PUT_AT(u8, d2, v >> 16) PUT_AT(u8, d1 + d2, v >> 24))

#endif

// check_same leaves if the executing lanes have different values. It precedes fragment: all lanes must have the same address.
STENCIL(FORM(check_same)) {
	const u64 *a = WIDE(u64, A);
	u64 first = a[__builtin_ctz((u32)m)];
	if (UNLIKELY(!beside_q(a, m, first, first, 0)))
		LEAVE;
	NEXT;
}
