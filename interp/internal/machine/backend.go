package machine

// Backend executes the code of warps: what instructions do to registers and memory. All
// backends have the same programs do and count the same, in every mode.
//
// The registers are in w.files, whose windows are those of the running warp split, and of
// which each says what lanes are active.
type Backend interface {
	Runner

	// span executes instructions of one block for the active lanes, from one pc up to
	// another, and gives the pc of the first that it has not executed: the latter, or one
	// that it does not have. It stops behind one that sets w.err. Where check mode compares
	// or a probe is told, a backend is asked for spans; an instruction that it does not have
	// is the portable one's.
	Span(w *Warp, from, to int32) int32

	// ImportAll copies back the state of warps that the backend keeps elsewhere. It is called while c.native.AnyInNative.
	ImportAll(c *CTA)
}

// ImportAll copies the state of all warps of the CTA back from its backend.
func (c *CTA) ImportAll() {
	if c.Native.AnyInNative {
		c.Grid.Backend.ImportAll(c)
	}
}

// Runner executes the running warp split of a warp from w.pc on, block after block, along
// jumps and branches that all its lanes take alike. It hands back to the machine what it
// cannot do, or must not: see reason. What the warp split does then, and which runs next, is
// up to the machine (warp.execute) alone.
//
// In between, w.pc and the counts may be anywhere; when it hands back they are what every
// runner would have made of them. The functions of this file see to that.
type Runner interface {
	// run executes until about budget PTX instructions are executed: it looks where a block
	// ends. It executes one block at least, or what is left of one. It counts them for the
	// warp, and for the lanes only those that their guards keep from executing.
	Run(w *Warp, budget int) Reason
}

// Reason is why a backend hands a warp split back, and where that stands then.
type Reason uint8

const (
	NoReason             Reason = iota // there is none
	BudgetUsed                         // the budget is used up, or the warp gives up the rest; before a block
	LanesDiverge                       // at a block's end, a branch whose lanes go different ways
	ReachesReconvergence               // at a block's end, from which it comes to a place that the policy wants to know of
	NoSplit                            // nowhere: its lanes wait where others are to meet them
	OtherEnd                           // at another end of a block: a call, return, exit or barrier; where somebody watches, any
	BeforeOrdered                      // before a block that the CTA may only execute in its turn
	BeforeGroupWait                    // before a wait for what the warp's warpgroup has yet to issue
	DifferentCalls                     // before a call whose lanes make it apart
	LanesAbsent                        // at w.away, a collective instruction whose lanes are elsewhere
	Unsupported                        // before an instruction that the backend does not have
	ProbeStop                          // before an instruction before which a probe stops the launch
	Trapped                            // by a trap, or because it comes to what is not run: w.err
)
