package machine

import (
	"bytes"
	"fmt"
	"math/bits"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// MaxWarpBudget is the largest budget of a warp, in instructions. After about this number the next warp of the CTA runs, so
// that a warp may spin on memory until another warp stores.
const MaxWarpBudget = 2048

// CTA is a CTA in flight, or an idle context for a CTA.
type CTA struct {
	Grid  *Grid
	Code  *Kernel
	Shape ContextShape
	Index int // linear index in the grid
	ID    ptx.Dim3
	Rank  int // rank in its cluster
	Warps []Warp
	CTAShared
	CTASync
	CTAProgress
	CTANative

	Frame      Frame        // the kernel's frame, shared by all warps
	Runner     Runner       // runner of its warps
	Stream     *EventStream // nil: no probe subscribes to events of the CTA
	IdleStream *EventStream // the event stream kept for a later CTA that uses this object
	Output     bytes.Buffer // text printed by the CTA
}

// CTAShared is the shared memory of a CTA, and the latest hits of its accesses.
type CTAShared struct {
	Shared    []byte
	SharedMem *mem.Allocation   // shared memory as an allocation, at its generic addresses
	LastHits  []*mem.Allocation // code.HitsPerAccess allocations that each access found last, the latest first, from its HitIndex on
}

// CTASync is the state with which warps of a CTA wait for each other and for asynchronous operations.
type CTASync struct {
	Barriers       [16]CTABarrier
	BarrierUsed    bool // a warp has arrived at a barrier
	AsyncState     AsyncState
	Cluster        *Cluster
	OwnCluster     Cluster        // cluster of this CTA alone, in launches without clusters
	ReleasedBlocks map[int32]bool // reconvergence points, as pcs, at which lanes no longer wait after an early release under time slices
	ReleasedEarly  bool           // an early release has happened: proved access patterns no longer hold
}

// CTAProgress is the progress of a CTA in the rounds of its launch.
type CTAProgress struct {
	Tolerated     toleratedFaults
	Changed       bool   // memory has changed since the last call of NoteChange
	ChangedBefore bool   // memory had changed before the last call of NoteChange
	ReadClock     bool   // a thread has read a clock
	Slept         int64  // nanoseconds spent by warps in nanosleep
	Ordered       bool   // the CTA may execute globally ordered instructions
	NextWarp      int    // index of the warp that runs next
	NextOrdered   int    // NextWarp after the latest ordered half
	Random        uint64 // random state for the budgets of warps, in a launch with a seed
	CTASlice             // the slice in progress
	Err           error
	Done          bool
}

// CTANative is the state of a CTA for machine code, and the CTAs that machine code has run after it.
type CTANative struct {
	Native          NativeState
	NextFlights     []Flight     // CTAs with which machine code may continue when all warps of this CTA have ended
	CompletedCTAs   int          // number of CTAs that ended in machine code
	CompletedCounts probe.Counts // counts of CompletedCTAs
}

// SetIndex sets the index and ID of the CTA from its position in the order in which CTAs begin.
func (c *CTA) SetIndex(order int) {
	c.Index = order
	c.ID = c.Grid.Dim.At(order)
	if c.Grid.Clustered() || c.Grid.Info.Dispatch != nil {
		c.ID = c.Grid.CTAID(order)
		c.Index = c.Grid.Dim.Linear(c.ID)
	}
}

// Begin resets the CTA to its initial state, except memory and registers.
func (c *CTA) Begin() {
	if !c.Grid.Clustered() {
		c.OwnCluster = Cluster{CTAs: c.OwnCluster.CTAs, Live: len(c.Warps), Missing: len(c.Warps), FreeEffects: c.OwnCluster.FreeEffects, FreeTensors: c.OwnCluster.FreeTensors, LastMap: c.OwnCluster.LastMap}
	}
	if c.BarrierUsed {
		for i := range c.Barriers {
			b := &c.Barriers[i]
			*b = CTABarrier{Waiting: b.Waiting[:0], WaitingBuffer: b.WaitingBuffer[:0]}
		}
		c.BarrierUsed = false
	}
	clear(c.ReleasedBlocks)
	c.AsyncState.Reset()
	c.NextOrdered, c.NextWarp, c.Err, c.Done, c.Ordered, c.Slept, c.CTASlice, c.ReleasedEarly = 0, 0, nil, false, false, 0, CTASlice{}, false
	c.Frame.LastCallee = nil
	sliced := c.Grid.TimeSliced()
	for i := range c.Warps {
		c.Warps[i].Begin(sliced)
	}
}

// Begin resets the warp to its initial state, except registers. sliced is WarpProgress.TimeSliced.
func (w *Warp) Begin(sliced bool) {
	c := w.CTA
	lanes := w.AllLanes()
	w.WarpProgress = WarpProgress{Live: lanes, TimeSliced: sliced}
	w.WaitingSplits, w.Latest, w.Shadow = w.WaitingSplits[:0], w.Latest[:0], nil
	w.WarpSplit, w.ReconvergeAt = WarpSplit{PC: c.Code.Entry.Begin, Mask: lanes, Frame: &c.Frame}, NoBlock
	w.ShownFrame, w.SliceLeft = &c.Frame, c.Grid.Reconverge.TimeSlice
}

// AllLanes returns the lanes with a thread.
func (w *Warp) AllLanes() uint64 {
	c := w.CTA
	return ^uint64(0) >> (64 - min(c.Code.Width, c.Grid.Threads-w.ThreadIndex(0)))
}

// LocalWords returns the initial size of a thread's local memory, in words.
func (c *Kernel) LocalWords() int { return c.Entry.Align + c.Entry.Local }

// CTASlice is the slice of a CTA in progress: its warps run in sequence, pass after pass.
type CTASlice struct {
	InstrsLeft    int   // number of instructions that the CTA may still execute; the instructions of the running warp in this pass are not subtracted yet
	SliceStart    int64 // number of instructions that the running warp had executed before this pass
	WarpsVisited  int   // number of warps that have run or could not run in this pass
	AllIdle       bool  // no warp could run in this pass so far
	PausedInSlice bool  // the launch paused while the warp NextWarp ran
}

// CTAStatus is the reason why a CTA stopped running.
type CTAStatus uint8

const (
	CTAEnded        CTAStatus = iota // all its warps have ended
	WantsOrdered                     // a warp is before a globally ordered instruction, and the CTA has executed its slice or has no other ready warp
	BudgetSpent                      // it has executed the instructions of its slice
	CTAFailed                        // CTA.Err is set
	CTAPaused                        // a probe paused the launch
	WaitsForCluster                  // every warp waits, and at least one waits at the cluster's barrier
)

// NoteChange clears Changed, which describes a time slice, and remembers in ChangedBefore whether it was set.
func (c *CTA) NoteChange() {
	c.ChangedBefore = c.ChangedBefore || c.Changed
	c.Changed = false
}

// NewTrap returns a trap at an instruction; at the kernel if in is nil. It names no warp or lanes.
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

// ThreadID returns the tid of the thread with a linear index.
func (c *CTA) ThreadID(i int) ptx.Dim3 { return c.Grid.Block.At(i) }

// LanesDo returns a text that names lanes, with a verb in the right number: "lane 7 waits", "lanes 0-3,7 wait".
func LanesDo(lanes uint64, verb string) string {
	if bits.OnesCount64(lanes) == 1 {
		verb += "s"
	}
	return probe.LaneText(lanes) + " " + verb
}

// Whereabouts returns notes for a trap: the places of the given lanes, which do not execute the current instruction.
func (w *Warp) Whereabouts(lanes uint64) []string {
	var notes []string
	if m := lanes & w.Mask; m != 0 {
		notes = append(notes, "the instruction's guard holds back "+probe.LaneText(m)+" here")
		lanes &^= m
	}
	before := func(lanes uint64, pc int32) {
		b := w.CTA.Code.Block(pc)
		place := "at the end of function " + w.CTA.Code.Funcs[b.Func].Name
		if in := w.CTA.Code.FirstSource(b); in != nil {
			place = fmt.Sprintf("before %s:%s", w.CTA.Code.Module.Name, in.Pos)
		}
		notes = append(notes, LanesDo(lanes, "wait")+" "+place)
	}
	for i := len(w.WaitingSplits) - 1; i >= 0; i-- {
		split := &w.WaitingSplits[i]
		switch m := split.Mask & lanes; {
		case m == 0:
		case split.Wait != nil:
			notes = append(notes, fmt.Sprintf("%s at %s:%s", LanesDo(m, "wait"), w.CTA.Code.Module.Name, split.Wait.Src.Pos))
		default:
			before(m, split.PC)
		}
		lanes &^= split.Mask
		for r := split.Reconvergence; r != nil; r = r.Outer {
			if m := r.Arrived & lanes; m != 0 {
				before(m, r.PC)
				lanes &^= m
			}
		}
	}
	for r := w.Reconvergence; r != nil; r = r.Outer {
		if m := r.Arrived & lanes; m != 0 {
			before(m, r.PC)
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
