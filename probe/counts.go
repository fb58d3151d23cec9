package probe

// Counts are the counts of a launch, summed over its warps.
type Counts struct {
	// WarpInstructions is the number of instructions issued to warps.
	WarpInstructions int64
	// ThreadInstructions is the number of instructions executed by threads. It leaves out instructions that a false guard skips,
	// but includes every branch, return and exit that a thread reaches.
	ThreadInstructions int64
	// LaneSlots is the number of active lanes, summed over WarpInstructions.
	LaneSlots int64
	// Branches is the number of branches executed by warps.
	Branches int64
	// DivergentBranches is the number of branches that split a warp.
	DivergentBranches int64
	// Splits is the number of warp splits made by divergence.
	Splits int64
	// Reconvergences is the number of warp splits that have reconverged with another warp split.
	Reconvergences int64

	// Engine has the counts of compact execution, in check mode.
	Engine EngineCounts
}

// EngineCounts counts instructions by the kind of their execution. An instruction of a warp of 64 threads counts once for each
// 32 lanes. Only check mode counts; in other modes all counts are 0. The fields from Fixed to ShadowLanes count savings of
// compact execution. VectorExecuted counts all other instructions; MaterialisedLanes and FrameBytes count costs.
type EngineCounts struct {
	// Fixed is the number of instructions executed once for the launch.
	Fixed int64
	// Proved is the number of instructions executed on single values, without a check of tags.
	Proved int64
	// Compact is the number of instructions executed on compact operands, or at a compact address.
	Compact int64
	// FastForm is the number of instructions of Compact that needed no affine rule of the table: their operands were uniform, or
	// a fast form executed them.
	FastForm int64
	// ShadowLanes is the number of result lanes that are held by a compact copy or by a constant of the launch.
	ShadowLanes int64

	// VectorExecuted is the number of instructions executed on lanes.
	VectorExecuted int64
	// MaterialisedLanes is the number of lanes that were written to register rows from compact copies.
	MaterialisedLanes int64
	// FrameBytes is the size of the register frames of all functions, in bytes per lane.
	FrameBytes int64

	// Claims is the number of claims of the plan, on which the other counts rest: instructions whose results are constants of the
	// launch, or proved to be uniform, and accesses whose addresses are proved to lie in a pattern.
	Claims int64
}

// Add adds the counts of another launch, or of another part of this launch.
func (c *Counts) Add(other *Counts) {
	c.AddExecuted(other)
	c.Engine.add(&other.Engine)
}

// AddExecuted adds all counts except Engine.
func (c *Counts) AddExecuted(other *Counts) {
	c.WarpInstructions += other.WarpInstructions
	c.ThreadInstructions += other.ThreadInstructions
	c.LaneSlots += other.LaneSlots
	c.Branches += other.Branches
	c.DivergentBranches += other.DivergentBranches
	c.Splits += other.Splits
	c.Reconvergences += other.Reconvergences
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

// ActiveLanesMean returns the mean number of active lanes per warp instruction; 0 without instructions.
func (c *Counts) ActiveLanesMean() float64 {
	if c.WarpInstructions == 0 {
		return 0
	}
	return float64(c.LaneSlots) / float64(c.WarpInstructions)
}
