package machine

// EngineCounts is how instructions have executed, counted for half warps of 32 lanes.
// Check mode counts; in other modes all are 0.
type EngineCounts struct {
	// What compact execution saves.
	Fixed       int64 // executed once for the launch
	Proved      int64 // on single values, without a look at tags
	Compact     int64 // on compact operands, or at a compact address
	FastForm    int64 // of those, without a rule of the table: on uniform operands, or by a fast form
	ShadowLanes int64 // lanes that a shadow or a constant speaks for, in results

	// What it costs, and what is left.
	VectorExecuted    int64 // over the lanes
	MaterialisedLanes int64 // lanes that have been written to rows from shadows
	FrameBytes        int64 // of the frames of all functions, in bytes of a lane

	// What the plan claims, which all this rests on.
	Claims int64 // instructions whose results are constants of the launch, or proved to be uniform, and accesses whose addresses are proved to lie in a pattern
}

func (c *EngineCounts) add(other *EngineCounts) {
	c.Fixed += other.Fixed
	c.Proved += other.Proved
	c.Compact += other.Compact
	c.FastForm += other.FastForm
	c.ShadowLanes += other.ShadowLanes
	c.VectorExecuted += other.VectorExecuted
	c.MaterialisedLanes += other.MaterialisedLanes
	c.FrameBytes += other.FrameBytes
	c.Claims += other.Claims
}

// RunCounts is how many of a run's instructions execute in which way.
type RunCounts struct{ Fixed, OnLanes, Proved, Compact uint8 }
