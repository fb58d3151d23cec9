package machine

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// KernelFrame is the number of words at the bottom of a thread's local memory
// that stay unused, so that no variable has address 0. The kernel's frame begins
// there, or where its alignment wants it.
const KernelFrame = code.FrameAlign

// Warp is up to 64 threads that execute together.
type Warp struct {
	WarpSplit              // that runs; without lanes if none does
	ReconvergeAt     int32 // the block where its lanes meet others
	NotifyEveryBlock bool  // the policy wants to know of every block that a warp split comes to while there are others
	WaitAtExit       bool  // lanes wait at the kernel's end
	WarpProgress
	CTA         *CTA
	Files       []regfile.File // one per 32 lanes
	Reconverger Reconverger
	Exportable  bool // machine code may keep its warp splits: the policy has the order of the stack

	WaitingSplits []WarpSplit    // that do not run
	SliceLeft     int            // where warp splits take turns, what is left of that of the running one
	FreeWaits     []*SplitWait   // for use again
	BranchGroups  [2]BranchGroup // of the branch under way
	BlockedInstr  *code.Instr    // with ErrAbsentLanes: what waits for lanes that are elsewhere; with ErrNoTensorMemory, for tensor memory

	Latest []LatestInstr // where the launch may pause: when its lanes began an instruction last, those that run at the end

	ID         int          // within the CTA
	ShownFrame *Frame       // the window is at its registers
	Local      [2]mem.Local // local memory: word i of all lanes of a half
	Shadow     [][]byte     // shadow bytes of local memory, by lane, as far as somebody has asked for them
	Check      *WarpCheck   // in check mode

	Sources       []native.Source                            // special registers, for machine code
	Exported      *ExportedWarp                              // what machine code is told; nil: nobody has asked
	OnMaterialise [2]func(bits int, row int32, lanes uint32) // for the files' OnMaterialise
	Unit          affinetrack.Unit
}

// WarpProgress is how far a warp has come in its CTA. It begins with nothing but lanes.
type WarpProgress struct {
	State           warpState
	TimeSliced      bool   // warp splits take turns
	Changed         bool   // the running warp split has changed memory in its turn
	Yields          bool   // the warp gives up the rest of its share
	PausedInBlock   bool   // it stands before an instruction of its block for a probe
	PauseAnnounced  bool   // … that probes know of
	SourcesSet      bool   // sources are those of the CTA
	Budget          int    // of the warp, what is left of it: instructions
	ReducedSinks    uint64 // the sinks that are told less of it: bit i for sink i of the CTA
	Err             error  // trap, or the answer that something is not run
	Live            uint64 // lanes that have not ended, nor rest
	AtExit          uint64 // lanes that wait at the kernel's end for others: all they have left to do is to end
	NumWaiting      int    // warp splits that wait
	AwaitedMbarrier uint64 // 1 + address in .shared space of the mbarrier that it has last looked at in vain; 0: none
	ClusterArrival  int    // 1 + how often the barrier of the cluster had completed when it arrived there; 0: it need not wait there
	Count           Counts

	// Of the run under way, where a backend parts and joins warp splits itself.
	CountedUpTo    int64 // of count.WarpInstructions, those whose lanes are counted
	UnchargedExits int64 // … exits of lanes that a branch takes there, which nobody's share pays for
}

type warpState uint8

const (
	ReadyToRun warpState = iota
	AtBarrier            // waits for other warps
	AtOrdered            // stands before a globally ordered instruction, for its turn
	AtGroup              // stands before a wait for what its warpgroup has yet to issue, or an allocation for which there is no tensor memory
	HasEnded
)

// Counts is what a launch counts, per warp and then summed.
type Counts struct {
	WarpInstructions   int64 // instructions issued to warps
	ThreadInstructions int64 // instructions executed by threads: not those skipped by a false guard, but every branch, return and exit met
	LaneSlots          int64 // active lanes, summed over WarpInstructions
	Branches           int64 // executed by warps
	DivergentBranches  int64 // of them those that split a warp
	Splits             int64 // warp splits, which are lanes that go on together, that have left others
	Reconvergences     int64 // warp splits that have become one with others

	Engine EngineCounts // of compact execution, in check mode
}

// Add adds what another launch, or another part of one, has counted.
func (c *Counts) Add(other *Counts) {
	c.AddExecuted(other)
	c.Engine.add(&other.Engine)
}

// AddExecuted is Add for all but check mode.
func (c *Counts) AddExecuted(other *Counts) {
	c.WarpInstructions += other.WarpInstructions
	c.ThreadInstructions += other.ThreadInstructions
	c.LaneSlots += other.LaneSlots
	c.Branches += other.Branches
	c.DivergentBranches += other.DivergentBranches
	c.Splits += other.Splits
	c.Reconvergences += other.Reconvergences
}

// ActiveLanesMean is the mean number of active lanes of an instruction.
func (c *Counts) ActiveLanesMean() float64 {
	if c.WarpInstructions == 0 {
		return 0
	}
	return float64(c.LaneSlots) / float64(c.WarpInstructions)
}

// GuardedLanes is the active lanes for which the block's end applies.
func (w *Warp) GuardedLanes(g int32) uint64 {
	if g == 0 {
		return w.Mask
	}
	if len(w.Files) == 1 {
		return uint64(GuardMask(&w.Files[0], g)) & w.Mask
	}
	return w.guardedWide(g)
}

// guardedWide is guarded for a warp of 64 lanes.
func (w *Warp) guardedWide(g int32) uint64 {
	return (uint64(GuardMask(&w.Files[1], g))<<32 | uint64(GuardMask(&w.Files[0], g))) & w.Mask
}

// ControlValue reads a control operand of one lane.
func (w *Warp) ControlValue(row code.Row, lane int) uint64 {
	f := &w.Files[lane/32]
	if f.Tracked() {
		MaterialiseRow(f, row, 1<<(lane%32))
	}
	if row.Slot == code.Q {
		return f.Src64(row.Row)[lane%32]
	}
	return uint64(f.Src32(row.Row)[lane%32])
}

// ThreadIndex is the linear index within the CTA of a lane's thread.
func (w *Warp) ThreadIndex(lane int) int { return w.ID*w.CTA.Code.Width + lane }

// Fail stops the warp with a trap for the lanes given.
func (w *Warp) Fail(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.NewTrap(in, lanes, kind, format, args...)
	w.Err = t
	return t
}

// NewTrap makes a trap for the lanes given.
func (w *Warp) NewTrap(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.CTA.NewTrap(in, kind, format, args...)
	t.Warp, t.Lanes, t.Active = w.ID, lanes, w.Mask
	if lanes != 0 {
		t.Thread = w.CTA.ThreadID(w.ThreadIndex(bits.TrailingZeros64(lanes)))
	}
	return t
}

// FirstSource is an instruction to name when the block as a whole is meant; nil if none is in
// it.
func (c *Kernel) FirstSource(b *code.Block) *code.Source {
	for _, instr := range c.Instrs[b.First : b.Last+1] {
		if instr.Src >= 0 {
			return &c.Sources[instr.Src]
		}
	}
	return nil
}
