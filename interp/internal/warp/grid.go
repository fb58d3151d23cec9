package warp

import (
	"fmt"

	"gemu/interp/internal/async"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// MaxStuckWarps is the maximum number of warps that a message describes.
const MaxStuckWarps = 8

// StuckWarps describes warps without progress, for a message.
type StuckWarps struct {
	count int      // number of warps
	Notes []string // places of the lanes of the first MaxStuckWarps warps
}

// Add notes the places of a warp's lanes. The launch must end afterwards: if no warp split runs, Add makes the last
// waiting split the running split, although it waits.
func (s *StuckWarps) Add(w *machine.Warp) {
	if w.Mask == 0 {
		ResumeSplit(w, takeSplit(w, len(w.WaitingSplits)-1))
	}
	code, verb, why := w.CTA.Code, "loop", ""
	in := code.FirstSource(code.Block(w.PC))
	if alloc := async.AwaitedAllocation(w); alloc != nil {
		verb, in, why = "wait", w.SourceOf(alloc), ": "+async.TensorMemoryWait(w, alloc)
	}
	if w.Wait != nil {
		verb, in = "wait", w.Wait.Src
	}
	if s.count++; s.count > MaxStuckWarps || in == nil {
		return
	}
	s.Notes = append(s.Notes, fmt.Sprintf("cta %s warp %d: %s at %s:%s%s", w.CTA.ID, w.ID, machine.LanesDo(w.Mask, verb), code.Module.Name, in.Pos, why))
	s.Notes = append(s.Notes, w.Whereabouts(w.Live&^w.Mask)...)
}

// AddTo adds the notes, and the number of further warps, to a trap.
func (s *StuckWarps) AddTo(t *probe.Trap) {
	t.Notes = append(t.Notes, s.Notes...)
	if more := s.count - MaxStuckWarps; more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more warps", more))
	}
}
