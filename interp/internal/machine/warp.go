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

// KernelFrame is the number of unused words at the bottom of a thread's local memory, because no variable may have address
// 0. The kernel's local frame begins after them, at the next address with its alignment.
const KernelFrame = code.FrameAlign

// Warp is up to 64 threads that execute instructions together.
type Warp struct {
	WarpSplit              // the running split; without lanes if none runs
	ReconvergeAt     int32 // reconvergence point of the running split, as a block's pc; NoBlock: none
	NotifyEveryBlock bool  // the policy is notified of every block while warp splits wait
	WaitAtExit       bool  // lanes at the kernel's end wait for the remaining lanes
	WarpProgress
	CTA         *CTA
	Files       []regfile.File // registers, a file for each half of 32 lanes
	Reconverger Reconverger
	Exportable  bool // machine code may hold the warp splits: the policy is the reconvergence stack

	WaitingSplits []WarpSplit    // all warp splits except the running split
	SliceLeft     int            // number of instructions left of the running split's time slice, if time-sliced
	FreeWaits     []*SplitWait   // unused objects for further waits
	BranchGroups  [2]BranchGroup // groups of lanes of the branch that executes now
	BlockedInstr  *code.Instr    // if Err is ErrAbsentLanes or ErrNoTensorMemory: the instruction that waits for lanes or for tensor memory

	Latest []LatestInstr // last steps of the lanes, of the running lanes at the end; only in a launch that may pause

	ID         int          // index in the CTA
	ShownFrame *Frame       // the frame whose registers the window shows
	Local      [2]mem.Local // local memory: word i of all lanes of a half
	Shadow     [][]byte     // shadow bytes of local memory, by lane, up to the highest that a probe has requested
	Check      *WarpCheck   // nil outside check mode

	Sources       []native.Source                            // special registers, for machine code
	Exported      *ExportedWarp                              // state for machine code; nil before the first entry
	OnMaterialise [2]func(bits int, row int32, lanes uint32) // OnMaterialise functions of Files
	Unit          affinetrack.Unit
}

// WarpProgress is the progress of a warp in its CTA. At the beginning only Live and TimeSliced are set.
type WarpProgress struct {
	State           warpState
	TimeSliced      bool   // warp splits are time-sliced
	Changed         bool   // the running split has changed memory in its time slice
	Yields          bool   // the warp gives up the remainder of its budget
	PausedInBlock   bool   // paused by a probe before an instruction inside a block
	PauseAnnounced  bool   // probes have received the event of the instruction before which the warp is paused
	SourcesSet      bool   // Sources have the values of the present CTA
	Budget          int    // number of instructions left of the warp's budget
	ReducedSinks    uint64 // sinks with a reduced event set for this warp: bit i for sink i of the CTA
	Err             error  // trap, unsupported feature, ErrAbsentLanes or ErrNoTensorMemory
	Live            uint64 // lanes before the kernel's end: they have not ended and do not wait there
	AtExit          uint64 // lanes waiting at the kernel's end, with nothing left to execute
	NumWaiting      int    // number of waiting warp splits
	AwaitedMbarrier uint64 // 1 + address in .shared space of the mbarrier whose phase the warp last tested as incomplete; 0: none
	ClusterArrival  int    // 1 + completions of the cluster's barrier when the warp arrived there; 0: no wait
	Count           probe.Counts

	// The next two fields are used while a backend handles divergence and reconvergence itself.
	CountedUpTo    int64 // value of Count.WarpInstructions up to which the lanes are counted
	UnchargedExits int64 // number of exits of lanes at branches, which are instructions but not charged to a budget
}

// warpState says whether a warp can run.
type warpState uint8

const (
	ReadyToRun warpState = iota
	AtBarrier            // all its lanes wait at a barrier of the CTA or the cluster, for other warps
	AtOrdered            // before a globally ordered instruction, until the ordered half of a round
	AtGroup              // before a wait for instructions not yet issued by its warpgroup, or for tensor memory
	HasEnded             // all its lanes have ended
)

// GuardedLanes returns the active lanes for which guard g holds.
func (w *Warp) GuardedLanes(g int32) uint64 {
	if g == 0 {
		return w.Mask
	}
	if len(w.Files) == 1 {
		return uint64(GuardMask(&w.Files[0], g)) & w.Mask
	}
	return w.guardedWide(g)
}

// guardedWide is GuardedLanes for a warp of 64 lanes.
func (w *Warp) guardedWide(g int32) uint64 {
	return (uint64(GuardMask(&w.Files[1], g))<<32 | uint64(GuardMask(&w.Files[0], g))) & w.Mask
}

// ControlValue returns the value of an operand of a block's end in a lane.
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

// ThreadIndex returns the linear index in the CTA of a lane's thread.
func (w *Warp) ThreadIndex(lane int) int { return w.ID*w.CTA.Code.Width + lane }

// Fail stops the warp with a trap of the given lanes: it sets Err.
func (w *Warp) Fail(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.NewTrap(in, lanes, kind, format, args...)
	w.Err = t
	return t
}

// NewTrap returns a trap of the given lanes at an instruction, without stopping the warp.
func (w *Warp) NewTrap(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.CTA.NewTrap(in, kind, format, args...)
	t.Warp, t.Lanes, t.Active = w.ID, lanes, w.Mask
	if lanes != 0 {
		t.Thread = w.CTA.ThreadID(w.ThreadIndex(bits.TrailingZeros64(lanes)))
	}
	return t
}

// FirstSource returns the first PTX instruction of a block, which messages name for the whole block; nil if the block
// has none.
func (c *Kernel) FirstSource(b *code.Block) *code.Source {
	for _, instr := range c.Instrs[b.First : b.Last+1] {
		if instr.Src >= 0 {
			return &c.Sources[instr.Src]
		}
	}
	return nil
}
