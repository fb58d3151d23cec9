package machine

// Backend executes the instructions of warps. All backends give the same results and counts, in every mode.
//
// The registers are in w.Files. Their windows show the frame of the running warp split, and each file has the active
// lanes of its half.
type Backend interface {
	Runner

	// Span executes the instructions of one block from pc from up to pc to, for the active lanes. It returns the pc of
	// the first instruction not executed: to, or an earlier instruction not supported by the backend. It stops after
	// an instruction has set w.Err. Check mode and observed launches execute by spans; the portable backend then
	// executes the instructions not supported by another backend.
	Span(w *Warp, from, to int32) int32

	// ImportAll copies back the state of warps kept elsewhere by the backend. It is called only while
	// c.Native.AnyInNative holds.
	ImportAll(c *CTA)
}

// ImportAll copies the state of all warps of the CTA back from its backend.
func (c *CTA) ImportAll() {
	if c.Native.AnyInNative {
		c.Grid.Backend.ImportAll(c)
	}
}

// Runner executes the running warp split of a warp from w.PC on, block after block, along jumps and branches taken
// alike by all its lanes. It returns to the run loop in package warp for everything else: see Reason. The run loop
// alone decides how the warp split continues and which warp split runs next.
//
// During a run, w.PC and the counts may have any value; on return they are the same for every runner.
type Runner interface {
	// Run executes about budget PTX instructions: it checks the budget at the end of each block. It executes at least
	// one block, or the remainder of a block. It counts the instructions of the warp; of lanes it counts only the
	// instructions skipped by guards.
	Run(w *Warp, budget int) Reason
}

// Reason is the reason why a backend returns to the run loop, and the place of the warp split then.
type Reason uint8

const (
	NoReason             Reason = iota // no reason
	BudgetUsed                         // before a block: the budget is used up, or the warp yields the rest of it
	LanesDiverge                       // at a block's end: a branch whose lanes diverge
	ReachesReconvergence               // at a block's end: the policy must be notified of the next block
	NoSplit                            // no warp split runs: its lanes wait at a reconvergence point
	OtherEnd                           // at another end of a block: a call, return, exit or barrier; any end in an observed launch
	BeforeOrdered                      // before a block with a globally ordered instruction
	BeforeGroupWait                    // before a wait for instructions not yet issued by the warp's warpgroup
	DifferentCalls                     // before an indirect call whose lanes diverge
	LanesAbsent                        // at w.BlockedInstr, a collective instruction with missing lanes
	Unsupported                        // before an instruction not supported by the backend
	ProbeStop                          // before an instruction before which a probe stops the launch
	Trapped                            // a trap or an unsupported PTX feature: w.Err
)
