// The memory of lanes with addresses of their own, from pointer.c, for the stencils of atomics and of vectors of elements. It needs
// "rows.h" and "warp.h".

struct pointing { // Context
	struct warp warp;
	void *fragments;
	u64 places[32]; // pointers to the memory of the lanes
	u64 halves[2];  // the same for lanes 0 and 16, if the lanes of each half have a pattern
};
_Static_assert(__builtin_offsetof(struct pointing, halves) == CONTEXT_HALVES, "Context has another layout");
#define PLACES ((struct pointing *)ctx)->places
#define HALVES_AT ((struct pointing *)ctx)->halves

// The pattern of the pointers, from a stencil alike to the stencils of the operation. The spare number is whether other CTAs
// may change the memory at the same time.
enum { SCATTERED, CONTIGUOUS, SAME }; // CONTIGUOUS and SAME: in each half of the warp
