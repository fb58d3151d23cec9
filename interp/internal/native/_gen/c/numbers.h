// Floating-point sources are 0 in idle lanes: an idle lane may hold a denormal, with which a processor takes ten
// times as long for all lanes.

#ifdef MASKED
#define ACTIVE_BITS(f, u, v) __builtin_bit_cast(f, __builtin_bit_cast(u, v) & -(u)ACTIVE_FOR(v, i))
#define ACTIVE_f32(v) ACTIVE_BITS(f32, u32, v)
#define ACTIVE_f64(v) ACTIVE_BITS(f64, u64, v)
#else
#define ACTIVE_f32(v) (v)
#define ACTIVE_f64(v) (v)
#endif

// KEEP is BLEND of numbers.
#define KEEP(f, u, d, v) __builtin_bit_cast(f, BLEND(__builtin_bit_cast(u, d), __builtin_bit_cast(u, v)))
#define KEEP_f32(d, v) KEEP(f32, u32, d, v)
#define KEEP_f64(d, v) KEEP(f64, u64, d, v)
