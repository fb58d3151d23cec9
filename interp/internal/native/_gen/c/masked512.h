// Lanes of a row where some execute, by masks of AVX-512: see "rows.h".

#include "masked.h"

#define MASK_r(i) (__mmask16)((u32)m >> (i))
#define MASK_q(i) (__mmask8)((u32)m >> (i))
#define KEEP_r(i, v) (*(ROW_r *)(d + (i)) = (ROW_r)_mm512_mask_blend_epi32(MASK_r(i), *(__m512i_u *)(d + (i)), (__m512i)(v)))
#define KEEP_q(i, v) (*(ROW_q *)(d + (i)) = (ROW_q)_mm512_mask_blend_epi64(MASK_q(i), *(__m512i_u *)(d + (i)), (__m512i)(v)))
#define GET(E, ds, i, from) ((KEPT(E, ds))GET_##E##_##ds(MASK_##ds(i), from))
#define GET_u8_r _mm_maskz_loadu_epi8
#define GET_s8_r _mm_maskz_loadu_epi8
#define GET_u16_r _mm256_maskz_loadu_epi16
#define GET_s16_r _mm256_maskz_loadu_epi16
#define GET_u32_r _mm512_maskz_loadu_epi32
#define GET_u8_q(lanes, from) ((u8x16)_mm_maskz_loadu_epi8(lanes, from)).lo
#define GET_s8_q GET_u8_q
#define GET_u16_q _mm_maskz_loadu_epi16
#define GET_s16_q _mm_maskz_loadu_epi16
#define GET_u32_q _mm256_maskz_loadu_epi32
#define GET_s32_q _mm256_maskz_loadu_epi32
#define GET_u64_q _mm512_maskz_loadu_epi64
#define PUT(E, ds, i, to) PUT_##E##_##ds(to, MASK_##ds(i), *(__m512i_u *)(d + (i)))
#define PUT_u8_r _mm512_mask_cvtepi32_storeu_epi8
#define PUT_u16_r _mm512_mask_cvtepi32_storeu_epi16
#define PUT_u32_r _mm512_mask_storeu_epi32
#define PUT_u8_q _mm512_mask_cvtepi64_storeu_epi8
#define PUT_u16_q _mm512_mask_cvtepi64_storeu_epi16
#define PUT_u32_q _mm512_mask_cvtepi64_storeu_epi32
#define PUT_u64_q _mm512_mask_storeu_epi64
#define SOME_BYTES 1 // the host loads and stores elements of 1 or 2 bytes, also for a part of the lanes
