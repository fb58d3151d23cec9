// Loops over lanes, WIDTH at a time, for stencils without enough stack for more. The bases of sources are defined
// in rows.h.

#if WIDTH < 32
#undef LANES
#undef SHORT_LANES
#undef SHORT_WIDE_LANES
#define SHORT_LANES LANES
#define SHORT_WIDE_LANES LANES
#if WIDTH == 8
#define LANES _Pragma("clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable)") for (int i = 0; i < 32; i++)
#elif WIDTH == 4
#define LANES _Pragma("clang loop vectorize(assume_safety) vectorize_width(4) interleave_count(1) unroll(disable)") for (int i = 0; i < 32; i++)
#else
#define LANES _Pragma("clang loop vectorize(disable) unroll(disable)") for (int i = 0; i < 32; i++)
#endif
#endif
