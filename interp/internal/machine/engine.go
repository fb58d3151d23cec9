package machine

// EngineCounts counts instructions by the way in which they executed, per half warp of 32 lanes. Only check mode
// counts; in other modes all counts are 0.
type EngineCounts struct {
	// Savings of compact execution.
	Fixed       int64 // executed once for the launch
	Proved      int64 // on single values, without a check of tags
	Compact     int64 // on compact operands, or at a compact address
	FastForm    int64 // part of Compact, without a rule of the table: on uniform operands, or by a fast form
	ShadowLanes int64 // lanes of results held by a shadow or a constant

	// Costs of compact execution, and the remainder.
	VectorExecuted    int64 // executed on lanes
	MaterialisedLanes int64 // lanes written to rows from shadows
	FrameBytes        int64 // size of the frames of all functions, in bytes per lane

	// Claims of the plan, on which the counts above rest.
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

// RunCounts counts the instructions of a run by the way in which they execute.
type RunCounts struct{ Fixed, OnLanes, Proved, Compact uint8 }
