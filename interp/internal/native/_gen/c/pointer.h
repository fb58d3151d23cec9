// The memory of lanes with addresses of their own, from pointer.c, for the stencils of atomics and of vectors of elements. It needs
// "rows.h" and "warp.h".

struct pointer_context { // Context
	struct warp warp;
	void *fragments;
	u64 pointers[32]; // pointers to the memory of the lanes
	u64 halves[2];  // the same for lanes 0 and 16, if the lanes of each half have a pattern
	u64 addresses[32]; // the address row of an access that overwrites it, as before the access
};
_Static_assert(__builtin_offsetof(struct pointer_context, addresses) == CONTEXT_ADDRESSES, "Context has another layout");
#define LANE_POINTERS ((struct pointer_context *)ctx)->pointers
#define HALF_POINTERS ((struct pointer_context *)ctx)->halves

// The pattern of the pointers: a stencil alike finds it, and leaves it as outcome to the stencils of the operation. The stencil
// pointers leaves in the number spare whether other CTAs may change the memory at the same time.
enum { SCATTERED, CONTIGUOUS, SAME }; // CONTIGUOUS and SAME: in each half of the warp
