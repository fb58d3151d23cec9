package event

// This file describes the reconvergence stack of a warp for probes.

import (
	"cmp"
	"math/bits"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// AppendStack appends the reconvergence stack of the event's warp to to: the running warp split, the waiting splits, then
// the reconvergence points, the innermost first.
func (m *eventMachine) AppendStack(to []probe.StackEntry) []probe.StackEntry {
	if m.Warp == nil {
		return to
	}
	m.Warp.CTA.ImportAll() // machine code may hold the warp's splits during an event of an access
	return AppendStack(m.Warp, m.SourceInstr, to)
}

// AppendStack appends the reconvergence stack of a warp whose running warp split is at a PTX instruction; nil: at w.PC.
func AppendStack(w *machine.Warp, at *code.Source, to []probe.StackEntry) []probe.StackEntry {
	program := w.CTA.Code
	var points []*machine.Reconvergence
	add := func(s *machine.WarpSplit, kind probe.StackKind, index int32) {
		e := probe.StackEntry{Kind: kind, Lanes: s.Mask, Index: int(index)}
		if s.Reconvergence != nil {
			e.Depth = s.Reconvergence.Depth + 1
		}
		to = append(to, e)
		for j := s.Reconvergence; j != nil && !slices.Contains(points, j); j = j.Outer {
			points = append(points, j)
		}
	}
	if w.Mask != 0 {
		index := program.NextSource(w.PC, w.Uncounted)
		if at != nil {
			index = at.Index
		}
		add(&w.WarpSplit, probe.RunningSplit, index)
	}
	for i := range w.WaitingSplits {
		switch s := &w.WaitingSplits[i]; {
		case s.Wait == nil:
			add(s, probe.ReadySplit, program.NextSource(s.PC, s.Uncounted))
		case s.Wait.Src == nil:
			add(s, probe.BlockedSplit, -1)
		default:
			add(s, probe.BlockedSplit, s.Wait.Src.Index)
		}
	}
	slices.SortFunc(points, func(a, b *machine.Reconvergence) int {
		return cmp.Or(cmp.Compare(b.Depth, a.Depth), cmp.Compare(bits.TrailingZeros64(a.Lanes), bits.TrailingZeros64(b.Lanes)))
	})
	for _, j := range points {
		to = append(to, probe.StackEntry{Kind: probe.ReconvergencePoint, Lanes: j.Lanes, Arrived: j.Arrived, Index: int(program.SourceAt(j.PC)), Depth: j.Depth})
	}
	return to
}
