package machine

// Backend executes the instructions of warps. All backends give the same results and counts, in every mode.
//
// The registers of a warp are in w.Files, one file for each half. The caller has set the window of each file to the frame
// of the running warp split, and the active lanes of each file.
type Backend interface {
	Runner

	// Span executes the instructions of a block from pc from up to, but not including, pc to, for the active lanes. It
	// returns the pc of the first instruction that it has not executed: to, or an earlier instruction that the backend does
	// not support and the portable backend must execute. It stops after an instruction has set w.Err. Check mode and
	// observed launches use Span instead of Run, unless the backend has runners of its own for them.
	Span(w *Warp, from, to int32) int32

	// ImportAll copies the state of the warps that the backend keeps outside the machine back to it. It is called only while
	// c.Native.AnyInNative is true.
	ImportAll(c *CTA)
}

// ImportAll copies the state of all warps of the CTA back from its backend.
func (c *CTA) ImportAll() {
	if c.Native.AnyInNative {
		c.Grid.Backend.ImportAll(c)
	}
}

// Runner executes the running warp split of a warp from w.PC on, block after block, as long as all its lanes continue at
// the same block. For everything else it returns to the run loop in package warp, which decides how the warp split
// continues and which warp split runs next: see Reason.
//
// During a run, w.PC and the counts may have any value; on return they are the same for every runner.
type Runner interface {
	// Run executes about budget PTX instructions: it checks the budget at the end of each block. It executes at least
	// one block, or the remainder of a block. It counts the instructions of the warp. Of the counts of lanes, it only
	// subtracts the lanes in which guards do not hold.
	Run(w *Warp, budget int) Reason
}

// Reason is the reason why a backend returns to the run loop, and the place of the warp split then.
type Reason uint8

const (
	NoReason             Reason = iota // no reason to return
	BudgetUsed                         // before a block: the budget is used up, or the warp yields its remainder
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
