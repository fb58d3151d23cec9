// The data of stencils about divergence of warps, and about the warp scheduler.

struct reconvergence { // Reconvergence in divergence.go
	s32 pc;
	u32 lanes, arrived, arrivals, number;
};

struct split { // Split in divergence.go
	s32 pc;
	u32 lanes, depth;
};

struct warp { // Context, after struct machine
	struct machine machine;
	u64 lane_instrs, counted_up_to; // executed PTX instructions, summed over lanes, up to the time when count was counted_up_to
	u64 divergent_branches, reconverged; // branches at which lanes diverged; warp splits that reconverged
	u64 exit_branches;      // branches at which lanes have exited
	stencil **full, **masked; // by pc: the code of the block that begins there, for all lanes, and for some
	u32 max_depth;          // reconvergences, and splits, that there may be
	u32 may_exit;           // lanes may exit
	u32 num_reconvergences, num_splits;
	struct reconvergence reconvergences[16];
	struct split splits[16];
	struct scheduler *scheduler; // that schedules the warp; none: Go does
	u32 state;              // of the warp in it
	u32 unsynced;           // Go has no current state of the warp
	s32 barrier_block;      // the end of the block at whose barrier the warp waits
};

_Static_assert(__builtin_offsetof(struct warp, barrier_block) == CONTEXT_BARRIER_BLOCK, "Context has another layout");

enum { NOT_RUNNING, READY_IN_GO, READY, AT_BARRIER, ENDED, AT_ORDERED }; // State in scheduler.go

struct zero { // code.Row
	u8 slot; // 1: a row, 2: a wide row, 3: a predicate
	s32 row;
};

struct scheduler { // Scheduler in scheduler.go
	struct warp **warps;
	stencil **full, **masked; // as in struct warp
	s64 instrs_left;        // PTX instructions left to the CTA, without the current slice
	s64 stretch;            // PTX instructions until the exit to Go, as they were when the running warp was entered
	s64 granted;            // part of it that the running warp may execute
	s64 slice_start;        // count of the running warp when its slice began
	s64 slice_end;          // count of the running warp when its slice is to end
	s64 slice_length;
	s64 quantum;            // the largest slice_length
	s64 max_count;          // a warp that has executed more is not scheduled
	u32 size, running;      // number of warps; index of the running warp
	u32 live_warps;         // warps that have not ended
	u32 arrived_warps, barrier; // warps that wait, and at which barrier
	u32 waiters_in_go;      // Go knows of warps that wait
	u32 ordered;            // the CTA may execute globally ordered instructions
	u32 switched;           // warps after the first have run
	u32 warps_visited;      // since then, ready or not
	u32 dirty;              // some warp is unsynced

	// The next CTAs.
	u32 remaining, completed; // CTAs that may run; that have run
	u32 first_lanes, last_lanes; // lanes of a warp when it begins; of the last warp
	s32 entry_pc;           // the block where a warp begins
	u64 ctaid[3], grid_width[2]; // the CTA that runs; CTAs along x and y
	s64 instrs_per_cta;     // instrs_left when a CTA begins
	u64 *ctaid_registers;   // special registers ctaid
	s64 ctaid_sources[3];   // their places among the registers read compactly, in bytes; negative: no place
	u64 shadow_bytes[2];    // bytes of shadows, of rows and of wide rows
	struct zero *zero_rows; // rows that are zero when a warp begins
	u64 num_zero_rows;
	struct allocation **hits; // that memory instructions have hit last
	u64 hit_slots;          // how many instructions have hits, which are moved back when a CTA begins
	s64 cost;               // how many instructions the start of a CTA counts as
	u64 count, lane_instrs, skipped, branches, divergent_branches, reconverged, exit_branches; // of CTAs that have ended, summed over warps
};
_Static_assert(__builtin_offsetof(struct scheduler, exit_branches) == SCHEDULER_EXIT_BRANCHES, "Scheduler has another layout");
_Static_assert(__builtin_offsetof(struct warp, lane_instrs) == CONTEXT_PARALLEL + 8, "Context has another layout");
#define WARP ((struct warp *)ctx)

// count_lanes counts the executed instructions for the executing lanes.
static inline void count_lanes(struct warp *w, u64 m) {
	u64 count = w->machine.known.count;
	w->lane_instrs += (count - w->counted_up_to) * (u64)__builtin_popcount((u32)m);
	w->counted_up_to = count;
}

// GO_TO_BLOCK makes the lanes of m continue at block pc.
#define GO_TO_BLOCK(pc_) \
	ctx->mask = (u32)m; \
	if (ctx->count >= ctx->count_limit) { \
		ctx->pc = (pc_); \
		ctx->reason = BUDGET_USED; \
		return; \
	} \
	stencil *to = ((u32)m == 0xffffffff ? w->full : w->masked)[pc_]; \
	__attribute__((musttail)) return to(ctx, m, outcome, spare, R, Q, P, K)
