package machine

import (
	"bytes"
	"fmt"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// MaxWarpBudget is the share of a warp: about so many instructions, then the next
// warp of its CTA has its turn, so that a warp may wait for another by looking
// at memory.
const MaxWarpBudget = 2048

// CTA is a CTA on its way through the kernel, or a context ready for one.
type CTA struct {
	Grid  *Grid
	Code  *Kernel
	Shape ContextShape
	Index int // linear
	ID    ptx.Dim3
	Rank  int // in its cluster
	Warps []Warp

	Shared      []byte
	SharedMem   *mem.Allocation // shared memory at its generic window
	LastHits    []*mem.Allocation
	Barriers    [16]CTABarrier
	BarrierUsed bool // a warp has arrived at one
	AsyncState  AsyncState
	Cluster     *Cluster
	OwnCluster  Cluster // of this CTA only

	Frame          Frame          // of the kernel, in all warps
	ReleasedBlocks map[int32]bool // blocks where lanes that have diverged do not wait for each other any more
	ReleasedEarly  bool           // lanes have gone on without others that they were to meet: patterns of accesses do not hold any more

	Native          NativeState  // what machine code is told
	NextFlights     []Flight     // CTAs that it may go on with where all warps have ended
	CompletedCTAs   int          // … that have ended so
	CompletedCounts Counts       // of them
	Runner          Runner       // of its warps
	Stream          *EventStream // nil if nobody watches
	IdleStream      *EventStream // for one

	Output bytes.Buffer // what the CTA has printed

	Tolerated     toleratedFaults
	Changed       bool   // memory has changed since the last time somebody looked
	ChangedBefore bool   // … or before
	ReadClock     bool   // somebody has looked at the clock
	Slept         int64  // nanoseconds that warps have spent in nanosleep
	Ordered       bool   // the CTA may execute globally ordered instructions
	NextWarp      int    // warp whose turn is next
	Random        uint64 // of a launch with a seed: what the shares of warps come from
	CTASlice             // under way
	Err           error
	Done          bool
}

// SetIndex says which CTA it is, by its place in the order in which they begin.
func (c *CTA) SetIndex(order int) {
	c.Index = order
	c.ID = c.Grid.Dim.At(order)
	if c.Grid.Clustered() {
		c.ID = c.Grid.CTAID(order)
		c.Index = c.Grid.Dim.Linear(c.ID)
	}
}

// Begin has the CTA be where it begins, but for its memory and registers.
func (c *CTA) Begin() {
	if !c.Grid.Clustered() {
		c.OwnCluster = Cluster{CTAs: c.OwnCluster.CTAs, Live: len(c.Warps), Missing: len(c.Warps)}
	}
	if c.BarrierUsed {
		for i := range c.Barriers {
			b := &c.Barriers[i]
			*b = CTABarrier{Waiting: b.Waiting[:0], WaitingBuffer: b.WaitingBuffer[:0]}
		}
		c.BarrierUsed = false
	}
	clear(c.ReleasedBlocks)
	c.AsyncState = AsyncState{}
	c.NextWarp, c.Err, c.Done, c.Ordered, c.Slept, c.CTASlice, c.ReleasedEarly = 0, nil, false, false, 0, CTASlice{}, false
	c.Frame.LastCallee = nil
	sliced := c.Grid.TimeSliced()
	for i := range c.Warps {
		c.Warps[i].Begin(sliced)
	}
}

// Begin has the warp be where it begins.
func (w *Warp) Begin(sliced bool) {
	c := w.CTA
	lanes := w.AllLanes()
	w.WarpProgress = WarpProgress{Live: lanes, TimeSliced: sliced}
	w.WaitingSplits, w.Latest, w.Shadow = w.WaitingSplits[:0], w.Latest[:0], nil
	w.WarpSplit, w.ReconvergeAt = WarpSplit{PC: c.Code.Entry.Begin, Mask: lanes, Frame: &c.Frame}, NoBlock
	w.ShownFrame, w.SliceLeft = &c.Frame, TimeSlice
}

// AllLanes is the lanes that there are threads for.
func (w *Warp) AllLanes() uint64 {
	c := w.CTA
	return ^uint64(0) >> (64 - min(c.Code.Width, c.Grid.Threads-w.ThreadIndex(0)))
}

// LocalWords is how much local memory a thread begins with, in words.
func (c *Kernel) LocalWords() int { return c.Entry.Align + c.Entry.Local }

// CTASlice is the share of a CTA under way: its warps have their turns, pass after pass.
type CTASlice struct {
	InstrsLeft    int   // instructions; of the turn under way they are not taken off
	SliceStart    int64 // instructions that the warp had executed when its turn began
	WarpsVisited  int   // warps in this pass
	AllIdle       bool  // none of them could run
	PausedInSlice bool  // in the turn of warp next
}

// CTAStatus is why a CTA stopped running.
type CTAStatus uint8

const (
	CTAEnded     CTAStatus = iota
	WantsOrdered           // every warp that can run stands before a globally ordered instruction
	BudgetSpent
	CTAFailed
	CTAPaused       // for a probe
	WaitsForCluster // every warp waits, and some for the barrier of the cluster
)

// NoteChange forgets that memory has changed, but for those who look at the whole CTA.
func (c *CTA) NoteChange() {
	c.ChangedBefore = c.ChangedBefore || c.Changed
	c.Changed = false
}

// NewTrap makes a trap at an instruction.
func (c *CTA) NewTrap(in *code.Source, kind error, format string, args ...any) *probe.Trap {
	m := c.Code.Module
	t := &probe.Trap{Kind: kind, Msg: fmt.Sprintf(format, args...), Kernel: c.Code.Kernel.Name, File: m.Name, Grid: c.Grid.Dim, CTA: c.ID, Warp: -1, Index: -1, Width: c.Code.Width}
	if in != nil {
		t.Index = int(in.Index)
		t.Pos = in.Pos
		t.Line = m.Line(int(in.Pos.Line))
		t.Instr = in.Text
		t.Func = in.Func.Name
		t.Source = in.Func.Func.Origin(in.Instr)
	} else {
		t.Pos = c.Code.Kernel.Pos
		t.Line = m.Line(int(t.Pos.Line))
	}
	return t
}

// ThreadID is the tid of the thread with a linear index.
func (c *CTA) ThreadID(i int) ptx.Dim3 { return c.Grid.Block.At(i) }

// Whereabouts says where lanes of the warp are that do not execute the present
// instruction.
func (w *Warp) Whereabouts(lanes uint64) []string {
	var notes []string
	if m := lanes & w.Mask; m != 0 {
		notes = append(notes, fmt.Sprintf("lanes %s are here, but held back by the instruction's guard", probe.LaneList(m)))
		lanes &^= m
	}
	before := func(lanes uint64, pc int32) {
		b := w.CTA.Code.Block(pc)
		place := "at the end of function " + w.CTA.Code.Funcs[b.Func].Name
		if in := w.CTA.Code.FirstSource(b); in != nil {
			place = fmt.Sprintf("before %s:%s", w.CTA.Code.Module.Name, in.Pos)
		}
		notes = append(notes, fmt.Sprintf("lanes %s wait %s", probe.LaneList(lanes), place))
	}
	for i := len(w.WaitingSplits) - 1; i >= 0; i-- {
		c := &w.WaitingSplits[i]
		switch m := c.Mask & lanes; {
		case m == 0:
		case c.Wait != nil:
			notes = append(notes, fmt.Sprintf("lanes %s wait at %s:%s", probe.LaneList(m), w.CTA.Code.Module.Name, c.Wait.Src.Pos))
		default:
			before(m, c.PC)
		}
		lanes &^= c.Mask
		for j := c.Reconvergence; j != nil; j = j.Outer {
			if m := j.Arrived & lanes; m != 0 {
				before(m, j.PC)
				lanes &^= m
			}
		}
	}
	for j := w.Reconvergence; j != nil; j = j.Outer {
		if m := j.Arrived & lanes; m != 0 {
			before(m, j.PC)
			lanes &^= m
		}
	}
	return notes
}

// IntRanges writes sorted numbers as ranges: "0-3, 7".
func IntRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		} else {
			parts = append(parts, fmt.Sprint(list[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
