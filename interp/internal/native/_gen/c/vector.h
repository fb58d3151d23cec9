// Vectors of lanes: a row is read and written in vectors of the host's size. A vector cannot be read from the store buffer
// after it was written in smaller parts.

#include <immintrin.h>

#pragma clang diagnostic ignored "-Wpsabi" // about vectors in calls; there are no such calls

typedef u32 element_r;
typedef u64 element_q;
#define LANES_r (VECTOR_BYTES / 4)
#define LANES_q (VECTOR_BYTES / 8)
typedef element_r vector_r __attribute__((ext_vector_type(LANES_r), aligned(1)));
typedef element_q vector_q __attribute__((ext_vector_type(LANES_q), aligned(1)));
#define VECTOR(s, row, i) (*(vector_##s *)((row) + (i)))

// VECTORS iterates over the vectors of a row, by their first lanes.
#define VECTORS(s, i) _Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += LANES_##s)

// ANY reports whether a vector has any of these bits.
#if VECTOR_BYTES == 64
#define INDEX_r (vector_r){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
#define INDEX_q (vector_q){0, 1, 2, 3, 4, 5, 6, 7}
#define ANY_OF(v, bits) (_mm512_test_epi64_mask((__m512i)(v), (__m512i)(bits)) != 0)
#else
#define INDEX_r (vector_r){0, 1, 2, 3, 4, 5, 6, 7}
#define INDEX_q (vector_q){0, 1, 2, 3}
#define ANY_OF(v, bits) (!_mm256_testz_si256((__m256i)(v), (__m256i)(bits)))
#endif
#define ANY(v) ANY_OF(v, v)

// MULTIPLES are the multiples of a vector of strides, by lane. For 64 bits hosts have no product, or a slow one.
#define MULTIPLES_r(v) (INDEX_r * (v))
#if VECTOR_BYTES == 64
#define MULTIPLES_q(v) (((v) & (vector_q){0, -1, 0, -1, 0, -1, 0, -1}) + ((v) + (v) & (vector_q){0, 0, -1, -1, 0, 0, -1, -1}) + ((v) << 2 & (vector_q){0, 0, 0, 0, -1, -1, -1, -1}))
#else
#define MULTIPLES_q(v) (((v) & (vector_q){0, -1, 0, -1}) + ((v) + (v) & (vector_q){0, 0, -1, -1}))
#endif

// AMONG has all bits set for the lanes from i on that are in a mask.
#define AMONG(s, mask, i) ((vector_##s)(((vector_##s)(u32)(mask) & ((vector_##s)1 << (INDEX_##s + (i)))) != 0))
