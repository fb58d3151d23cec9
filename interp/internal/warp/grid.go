package warp

import (
	"fmt"

	"gemu/interp/internal/async"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// MaxStuckWarps is the maximum number of warps in a message.
const MaxStuckWarps = 8

// StuckWarps is the list of places of warps without progress, for a message.
type StuckWarps struct {
	count int
	Notes []string
}

// Add notes the place of a warp's lanes, which will not run any more. It then makes a waiting warp
// split the running split, though all of them wait.
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

// AddTo adds it to a trap's message.
func (s *StuckWarps) AddTo(t *probe.Trap) {
	t.Notes = append(t.Notes, s.Notes...)
	if more := s.count - MaxStuckWarps; more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more warps", more))
	}
}
