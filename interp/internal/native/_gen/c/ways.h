// What stencils know of lanes that part and meet again, and of warps that take turns.

struct meeting { // Meeting in ways.go
	s32 pc;
	u32 lanes, here, arrivals, known;
};

struct route { // Route in ways.go
	s32 pc;
	u32 lanes, meetings;
};

struct ways { // Context, behind struct machine
	struct machine rest;
	u64 slots, since;      // PTX instructions of lanes: those that were executed up to when count was since
	u64 divergent, meets;  // branches that have parted lanes; strands that have become one with others
	u64 leaves;            // branches at which lanes have ended
	stencil **full, **some; // by pc: the code of the block that begins there, for all lanes, and for some
	u32 most;              // meetings, and ways, that there may be
	u32 ends;              // lanes may end
	u32 meetings, others;  // that there are
	struct meeting meeting[16];
	struct route routes[16];
	struct team *team; // that the warp takes turns in; none: it does not
	u32 state;         // of the warp in it
	u32 touched;       // Go does not know what the warp has done
	s32 at;            // the end of the block that has a warp wait
};

_Static_assert(__builtin_offsetof(struct ways, at) == CONTEXT_AT, "Context has another layout");

enum { OUT, STOPS, READY, WAITS, ENDED, STANDS }; // State in team.go

struct zero { // code.Row
	u8 slot; // 1: a row, 2: a wide row, 3: a predicate
	s32 row;
};

struct team { // Team in team.go
	struct ways **warps;
	stencil **full, **some; // as in struct ways
	s64 left;               // PTX instructions that the CTA may yet execute; of the turn under way they are not taken off
	s64 allowed;            // … up to when it comes back to Go, as they were when the warp that runs was entered
	s64 given;              // … of which it may execute so many
	s64 began;              // count of the warp that runs, when its turn did
	s64 end;                // … when its turn is to end
	s64 share;              // how long that is
	s64 quantum;            // … at most
	s64 most;               // a warp that has executed more is not given a turn
	u32 size, now;          // warps; the one that runs
	u32 live;               // that have not ended
	u32 arrived, barrier;   // warps that wait, and where
	u32 apart;              // warps wait of which Go knows
	u32 may;                // it may execute visible instructions
	u32 turned;             // other warps than the first have run
	u32 steps;              // … and so many have been looked at
	u32 dirty;              // warps are touched

	// CTAs that follow.
	u32 more, followed;      // that may; that have
	u32 usual, last;         // lanes of a warp when it begins, and of the last one
	s32 entry;               // the block where it does
	u64 at[3], width[2];     // which CTA it is; how many there are along x and y
	s64 slice;               // what left is for one
	u64 *id;                 // special registers ctaid
	s64 sources[3];          // where they are among those that are read compactly, in bytes; below 0: they are not
	u64 shadows[2];          // bytes of shadows, of rows and of wide rows
	struct zero *zero;       // rows that a warp begins with zeros in
	u64 zeros;               // how many
	struct allocation **hits; // that memory instructions have hit last
	u64 forgets;             // how many do not know that where a CTA begins, but before
	s64 takes;               // how many instructions going on with a CTA counts as
	u64 executed, slots, held, branches, divergent, meets, leaves; // of CTAs that have ended, summed over warps
};
_Static_assert(__builtin_offsetof(struct team, leaves) == TEAM_LEAVES, "Team has another layout");
_Static_assert(__builtin_offsetof(struct ways, slots) == CONTEXT_PARALLEL + 8, "Context has another layout");
#define WAYS ((struct ways *)ctx)

// settle counts what the lanes that execute have executed.
static inline void settle(struct ways *w, u64 m) {
	u64 count = w->rest.known.count;
	w->slots += (count - w->since) * (u64)__builtin_popcount((u32)m);
	w->since = count;
}

// AT_BLOCK has the lanes of m go on at block pc.
#define AT_BLOCK(pc_) \
	ctx->mask = (u32)m; \
	if (ctx->count >= ctx->enough) { \
		ctx->pc = (pc_); \
		ctx->reason = USED; \
		return; \
	} \
	stencil *to = ((u32)m == 0xffffffff ? w->full : w->some)[pc_]; \
	__attribute__((musttail)) return to(ctx, m, outcome, spare, R, Q, P, K)
