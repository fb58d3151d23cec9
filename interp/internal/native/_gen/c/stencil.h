// Definitions for all stencils: access to operands, and jumps to the next stencil. A stencil is a function
// that executes one instruction and jumps to the next. Package native puts the machine code of
// stencils one after the other and fills their holes.
//
// Arguments stay in the same registers from stencil to stencil (calling convention
// preserve_none: r12, r13, r14, r15, rdi, rsi, rdx, rcx; x20 to x27): the context, the active mask, the outcome of a comparison
// for the next stencil, a spare one (so that the remaining ones are in registers with encodings of the same form), and
// the addresses of rows, wide rows, predicates and constants. Operands are holes: offsets from one of these addresses, which
// for the linker are addresses of symbols. A stencil does not know which operands are constants. The generator also compiles
// each stencil with operands relative to K (the constants), and so finds the bytes of code that differ.

#include "go.h"

struct allocation { // the used part of mem.Allocation
	u64 base, size, span;
	char *data;
	u64 len, cap;
	char *ptr;
};

struct compact { // regfile.Compact
	u64 base, stride;
	union {
		struct {
			u32 mask, clean;
		};
		u64 both;
	};
};

struct context { // Context in context.go
	u64 count;    // PTX instructions that the warp has executed
	u64 count_limit;   // the count at which it exits
	u64 skipped;     // lanes that guards have skipped, summed over PTX instructions
	u64 branches; // executed
	struct allocation **hits, **fixed;
	struct allocation *shared;
	u8 *memory_changed; // set where memory is changed
	char *constants, *r_shadows, *q_shadows;
	char *at;    // of a compact access: the memory of the lowest lane
	s64 step;    // the distance from lane to lane
	u64 materialised; // lanes that have been written from shadows to rows
	u64 compared_compact;     // lanes of results that were compared by shadows
	char *notes;  // for check mode: old values
	u64 *counts;  // of compact execution
	u32 mask;    // lanes that are active
	s32 reconverge_at;    // the block of the reconvergence point
	s32 pc;      // out: where it stopped
	u32 reason;  // out: why
	u32 lanes;   // out: that executed
	u32 live;    // lanes that have not ended
	u32 notify_every_block;    // it exits at each end of a block
};

// The generator defines their offsets in Go's structs.
_Static_assert(__builtin_offsetof(struct allocation, base) == ALLOCATION_BASE, "mem.Allocation has another layout");
_Static_assert(__builtin_offsetof(struct allocation, size) == ALLOCATION_SIZE, "mem.Allocation has another layout");
_Static_assert(__builtin_offsetof(struct allocation, ptr) == ALLOCATION_PTR, "mem.Allocation has another layout");
_Static_assert(__builtin_offsetof(struct context, notify_every_block) == CONTEXT_NOTIFY_EVERY_BLOCK, "Context has another layout");

#define ARGS struct context *ctx, u64 m, u64 outcome, u64 spare, char *R, char *Q, char *P, char *K
typedef __attribute__((preserve_none)) void stencil(ARGS);
extern stencil next, other, leave;
#define STENCIL(name) __attribute__((preserve_none)) void name(ARGS)
#define CONTINUE(to) __attribute__((musttail)) return to(ctx, m, outcome, spare, R, Q, P, K)
#define NEXT CONTINUE(next)   // the next instruction
#define OTHER CONTINUE(other) // a place that the stencil's user names
#define LEAVE CONTINUE(leave) // out of native code

// Holes. HD and HF are results, HA, HB, HC and HE sources, H0 and H1 numbers.
extern char HD, HF, HA, HB, HC, HE, H0, H1;
#define PLACE(hole) ((u64)&hole)                  // not negative
#define NUMBER(hole) ((s64)(s32)(u32)(u64)&hole) // of 32 bits, with a sign

// The bases of sources. The generator replaces them by K to compile for constants.
#ifdef CONSTANT_A
#define BASE_A(base) K
#else
#define BASE_A(base) base
#endif
#ifdef CONSTANT_B
#define BASE_B(base) K
#else
#define BASE_B(base) base
#endif
#ifdef CONSTANT_C
#define BASE_C(base) K
#else
#define BASE_C(base) base
#endif
#ifdef CONSTANT_E
#define BASE_E(base) K
#else
#define BASE_E(base) base
#endif
#define BASE_D(base) base
#define BASE_F(base) base
#define AT(type, X, base) ((type *)(BASE_##X(base) + PLACE(H##X)))
#define ROW(type, X) AT(type, X, R)
#define WIDE(type, X) AT(type, X, Q)
#define PREDICATE(X) (*AT(u32, X, P))

// SHADOW is the shadow of an operand. Each use reads the base of the shadows from the context, so that the code is the same
// for the shadows of constants, which have another base.
#define SHADOW(X, kind) ((struct compact *)(BEGIN_##X(kind) + PLACE(H##X)))
#define BEGIN(kind) (*(char *volatile *)&ctx->kind)
#ifndef CONSTANT_A
#define BEGIN_A(kind) BEGIN(kind)
#else
#define BEGIN_A(kind) BEGIN(constants)
#endif
#ifndef CONSTANT_B
#define BEGIN_B(kind) BEGIN(kind)
#else
#define BEGIN_B(kind) BEGIN(constants)
#endif
#ifndef CONSTANT_C
#define BEGIN_C(kind) BEGIN(kind)
#else
#define BEGIN_C(kind) BEGIN(constants)
#endif
#ifndef CONSTANT_E
#define BEGIN_E(kind) BEGIN(kind)
#else
#define BEGIN_E(kind) BEGIN(constants)
#endif
#define BEGIN_D(kind) BEGIN(kind)
#define BEGIN_F(kind) BEGIN(kind)

// Elements of memory, which may be unaligned for the host.
typedef u8 u8_u;
typedef s8 s8_u;
typedef u16 u16_u __attribute__((aligned(1)));
typedef s16 s16_u __attribute__((aligned(1)));
typedef u32 u32_u __attribute__((aligned(1)));
typedef s32 s32_u __attribute__((aligned(1)));
typedef u64 u64_u __attribute__((aligned(1)));

// Loops over lanes. A lane must not read a value that another lane writes in the same loop.
#define LANES _Pragma("clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)") for (int i = 0; i < 32; i++)
// SHORT_LANES and, with values of 64 bits, SHORT_WIDE_LANES are for short bodies. They handle so many vectors at once that on x86-64
// no loop remains, or a loop of two iterations for 64 bits. The masked forms skip a half of the warp without executing lanes.
#ifdef __AVX512F__
#define VECTOR_BYTES 64 // of a vector of lanes
#else
#define VECTOR_BYTES 32
#endif
#define PRAGMA(x) _Pragma(#x)
#define AT_ONCE(bytes) PRAGMA(clang loop vectorize(assume_safety) interleave_count(bytes / VECTOR_BYTES) unroll(disable))
#define HALVES _Pragma("clang loop unroll(full)") for (int j = 0; j < 32; j += 16)
#ifdef MASKED
#define SHORT_LANES HALVES if ((u16)(m >> j)) AT_ONCE(64) for (int i = j; i < j + 16; i++)
#define SHORT_WIDE_LANES HALVES if ((u16)(m >> j)) AT_ONCE(128) for (int i = j; i < j + 16; i++)
#else
#define SHORT_LANES AT_ONCE(128) for (int i = 0; i < 32; i++)
#define SHORT_WIDE_LANES HALVES AT_ONCE(128) for (int i = j; i < j + 16; i++)
#endif

typedef s8 bytes32 __attribute__((ext_vector_type(32)));
typedef _Bool bits32 __attribute__((ext_vector_type(32)));

// packed returns a mask whose bit i is the sign of byte i.
static inline u32 packed(const s8 *t) {
	bytes32 v;
	__builtin_memcpy(&v, t, 32);
	return __builtin_bit_cast(u32, __builtin_convertvector(v < 0, bits32));
}

// WORD1 and WORD2 apply a function of single bits to all bits of predicates.
#define WHERE(v, bits) ((v) ? (bits) : 0)
#define WORD1(f, a) (WHERE(f(0), ~(a)) | WHERE(f(1), a))
#define WORD2(f, a, b) (WHERE(f(0, 0), ~(a) & ~(b)) | WHERE(f(0, 1), ~(a) & (b)) | WHERE(f(1, 0), (a) & ~(b)) | WHERE(f(1, 1), (a) & (b)))

#ifdef MASKED
#define FORM(name) name##_masked
#define ACTIVE(i) (((u32)m & 1u << (i)) != 0)
#define ACTIVE_FOR(d, i) (sizeof(d) == 8 ? (m & 1ul << (i)) != 0 : ACTIVE(i)) // of the size of the affected value: a vector of lanes need not be widened
#define BLEND(d, v) ((d) ^ (((d) ^ (v)) & -(typeof((d) + 0u))ACTIVE_FOR(d, i))) // both are read: no address is chosen
#define MERGE(d, v) ((d) & ~(u32)m | (v) & (u32)m)
#else
#define FORM(name) name##_full
#define ACTIVE(i) 1
#define BLEND(d, v) (v)
#define MERGE(d, v) (v)
#endif
