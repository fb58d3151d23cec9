// Definitions for stencils of memory, of warps and of special registers: rows of registers as vectors, loops over single
// lanes, and the fields of the context for these stencils only.

#include "stencil.h"
#include "vector.h"

// The fields of the context after struct context (Context in context.go).
struct machine {
	struct context known;
	char *r, *q, *p;     // ARGS have them
	char *sources;       // special registers that are read compactly
	char *tid;           // rows: the special registers tid.x, tid.y and tid.z of the warp
	char *lanes;         // rows that are the same in all warps
	char *uniform;       // special registers that are the same in all lanes, of 8 bytes, by number
	char *local;         // local memory: word i of all lanes is row i
	u64 from, to;        // where it begins and ends for a thread
	u64 frame;           // where the running function's begins
	char *k;             // constants: ARGS have them
	u32 parallel;        // other CTAs or the host may change memory: atomics on global memory must be atomic on the host
};
#define MACHINE ((struct machine *)ctx)
_Static_assert(__builtin_offsetof(struct machine, parallel) == CONTEXT_PARALLEL, "Context has another layout");

// The code of longer stencils differs with the register of an operand's base. Here each source reads its base from the
// context, so that for a constant only the offset in the context differs.
#define BASE_OF(field) (*(char *volatile *)&MACHINE->field)
#define BASE_OF_R BASE_OF(r)
#define BASE_OF_Q BASE_OF(q)
#define BASE_OF_P BASE_OF(p)
#undef BASE_A
#ifdef CONSTANT_A
#define BASE_A(base) BASE_OF(k)
#else
#define BASE_A(base) BASE_OF_##base
#endif
#undef BASE_B
#ifdef CONSTANT_B
#define BASE_B(base) BASE_OF(k)
#else
#define BASE_B(base) BASE_OF_##base
#endif
#undef BASE_C
#ifdef CONSTANT_C
#define BASE_C(base) BASE_OF(k)
#else
#define BASE_C(base) BASE_OF_##base
#endif
#undef BASE_E
#ifdef CONSTANT_E
#define BASE_E(base) BASE_OF(k)
#else
#define BASE_E(base) BASE_OF_##base
#endif

// Vectors of elements, at any alignment, for KEPT lanes of a row.
#if VECTOR_BYTES == 64
#define KEPT_r 16
#else
#define KEPT_r 8
#endif
#define KEPT_q 8
#define ELEMENT(E, n) typedef E E##x##n __attribute__((ext_vector_type(n), aligned(1)));
ELEMENT(u8, 8) ELEMENT(s8, 8) ELEMENT(u16, 8) ELEMENT(s16, 8) ELEMENT(u32, 8) ELEMENT(s32, 8) ELEMENT(u64, 8)
ELEMENT(u8, 16) ELEMENT(s8, 16) ELEMENT(u16, 16) ELEMENT(s16, 16) ELEMENT(u32, 16)
#define OF(E, n) OF_(E, n)
#define OF_(E, n) E##x##n
#define KEPT(E, ds) OF(E, KEPT_##ds)
#define ROW_r KEPT(u32, r)
#define ROW_q KEPT(u64, q)
#define EACH_KEPT(ds, i) _Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += KEPT_##ds)
#define UNLIKELY(x) __builtin_expect((x) != 0, 0)
#define AGAIN __asm__("" : "+r"(m)) // prevents reuse of values computed from the mask: there are too few registers

// Rows of addresses and of registers.
#define ADDR_r const u32 *a = ROW(u32, A);
#define ADDR_q const u64 *a = WIDE(u64, A);
#define DATA_r(X) u32 *d = ROW(u32, X);
#define DATA_q(X) u64 *d = WIDE(u64, X);
typedef u32 narrow_r __attribute__((ext_vector_type(LANES_q), aligned(1)));
static inline vector_q offsets_r(const u32 *a) { return __builtin_convertvector(*(const narrow_r *)a, vector_q); }
static inline vector_q offsets_q(const u64 *a) { return *(const vector_q *)a; }

// EXECUTE has all bits set for executing lanes, in the vector of lanes from i on.
#ifdef MASKED
#define EXECUTE(s, i) AMONG(s, m, i)
#else
#define EXECUTE(s, i) (vector_##s)(element_##s)-1
#endif

// beside reports whether lane i has address at + i·n in the first half, at2 + i·n in the second: contiguous elements of n
// bytes or, if n is 0, the same element.
#define BESIDE(s) \
	static inline int beside_##s(const element_##s *a, u64 m, element_##s at, element_##s at2, element_##s n) { \
		vector_##s off = {0}; \
		VECTORS(s, i) off |= (VECTOR(s, a, i) ^ ((vector_##s)(i < 16 ? at : at2) + (INDEX_##s + (element_##s)i) * n)) & EXECUTE(s, i); \
		return !ANY(off); \
	}
BESIDE(r) BESIDE(q)

// Operations that differ between stencils for all lanes and masked stencils: KEEP stores a vector of results in a row, from
// a lane on; GET loads contiguous elements from a lane on, and PUT stores the elements of a row; EVERY iterates over lanes;
// OUTERMOST are the first and the last executing lane of each half.
#ifndef MASKED
#include "full.h"
#elif VECTOR_BYTES == 64
#include "masked512.h"
#else
#include "masked256.h"
#endif
// GETS and PUTS state whether the host can load and store only the elements of executing lanes.
#define PUTS_u8 SOME_BYTES
#define PUTS_u16 SOME_BYTES
#define PUTS_u32 1
#define PUTS_u64 1
#define GETS_u8 SOME_BYTES
#define GETS_s8 SOME_BYTES
#define GETS_u16 SOME_BYTES
#define GETS_s16 SOME_BYTES
#define GETS_u32 1
#define GETS_s32 1
#define GETS_u64 1

// LOAD_BESIDE and STORE_BESIDE access elements side by side: lane 0's would be at p, or p2 as seen from the second half of the warp. TOGETHER is
// whether LOAD_TOGETHER and STORE_TOGETHER do, too, which touch no element of another lane.
#define LOAD_BESIDE(E, ds, p, p2) EACH_KEPT(ds, i) KEEP_##ds(i, __builtin_convertvector(GET(E, ds, i, (i < 16 ? p : p2) + i * sizeof(E)), ROW_##ds));
#define STORE_BESIDE(E, ds, p, p2) EACH_KEPT(ds, i) PUT(E, ds, i, (i < 16 ? p : p2) + i * sizeof(E));
#if SOME_BYTES
#define TOGETHER 1
#define LOAD_TOGETHER LOAD_BESIDE
#define STORE_TOGETHER STORE_BESIDE
#endif

// REACH sets p to the memory, off to the difference of an offset in it and an address, and last to the greatest
// offset of an access of n bytes. Memory begins at a multiple of n.
#define REACH_hit(n) \
	struct allocation *al = *(struct allocation **)((char *)ctx->hits + PLACE(H1)); \
	if (UNLIKELY(!al || al->size < (n))) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - al->base, last = al->size - (n); \
	char *p = al->ptr;
#define REACH_shared(n) \
	struct allocation *al = ctx->shared; \
	if (UNLIKELY(al->size < (n))) \
		LEAVE; \
	u64 off = (u64)NUMBER(H0) - (al->base - SHARED_WINDOW), last = al->size - (n); \
	char *p = al->ptr;

// AT_fixed is offset H0 of the allocation with place H1 in the list of fixed allocations, AT_shared address H0 of shared
// memory.
#define AT_fixed(n) \
	struct allocation *al = *(struct allocation **)((char *)ctx->fixed + PLACE(H1)); \
	u64 o = PLACE(H0); \
	if (UNLIKELY(al->size < o + (n))) \
		LEAVE;
#define AT_shared(n) \
	struct allocation *al = ctx->shared; \
	u64 o = (u64)NUMBER(H0) - (al->base - SHARED_WINDOW); \
	if (UNLIKELY(al->size < (n) || o > al->size - (n))) \
		LEAVE;

// outside is not 0 if an access of n bytes at offset o is out of bounds or not aligned.
static inline u64 outside(u64 o, u64 last, u64 n) { return (o > last) | (o & (n - 1)); }

// past is not 0 if either of two accesses is out of bounds, or the second is before the first: they are the outermost of
// several contiguous accesses, whose addresses may have wrapped.
static inline u64 past(u64 o, u64 end, u64 last, u64 n) { return outside(o, last, n) | (end > last) | (end < o); }

// ASTRAY is whether an access of n bytes is outside: an offset o is in [0, last] where neither o nor last - o has a
// sign.
#define SIGN (1ull << 63)
#define ASTRAY(as, n) ({ \
	AGAIN; \
	vector_q low = {0}, high = {0}; \
	VECTORS(q, i) { \
		vector_q o = offsets_##as(a + i) + off, in = EXECUTE(q, i); \
		low |= o & in, high |= ((vector_q)last - o) & in; \
	} \
	ANY_OF(low | high & (vector_q)SIGN, (vector_q)(SIGN | ((n) - 1))); \
})
