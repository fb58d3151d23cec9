// The memory of lanes with addresses of their own, from pointer.c, for the stencils of atomics and of vectors of elements. It needs
// "rows.h" and "warp.h".

struct pointer_context { // Context
	struct warp warp;
	void *fragments;
	u64 scratch[32 + 7]; // LANE_POINTERS
	u64 halves[2];  // the same for lanes 0 and 16, if the lanes of each half have a pattern
	u64 addresses[32]; // the address row of an access that overwrites it, as before the access
};
_Static_assert(__builtin_offsetof(struct pointer_context, addresses) == CONTEXT_ADDRESSES, "Context has another layout");
// LANE_POINTERS has the pointers to the memory of the lanes. They begin at a cache line: vectors that cross a line are slow.
#define LANE_POINTERS ((u64 *)((u64)((struct pointer_context *)ctx)->scratch + 63 & ~63ull))
#define HALF_POINTERS ((struct pointer_context *)ctx)->halves

// The pattern of the pointers. It is the outcome of the stencils pointers and alike. The stencil pointers also leaves in the
// number spare whether other CTAs may change the memory at the same time.
enum {
	SCATTERED,  // none, or few lanes execute: then only their pointers are written
	CONTIGUOUS, // in each half of the warp
	SAME,       // in each half of the warp
	UNKNOWN     // the stencil alike finds it
};
