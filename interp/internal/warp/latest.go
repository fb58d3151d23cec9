package warp

// This file records, for debuggers of launches that may pause, the last instruction that each lane has begun, and the
// blocks that have begun.

import (
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// NoteBegun counts n instructions that the running warp split has begun, in launches whose CTAs run in sequence.
func NoteBegun(w *machine.Warp, n int64) {
	g := w.CTA.Grid
	if !g.InOrder || n == 0 {
		return
	}
	g.Steps += n
	if !g.MayPause {
		return
	}
	if k := len(w.Latest) - 1; k >= 0 && w.Latest[k].Lanes == w.Mask {
		w.Latest[k].Step = g.Steps - 1
		return
	}
	kept := w.Latest[:0]
	for _, l := range w.Latest {
		if l.Lanes &^= w.Mask; l.Lanes != 0 {
			kept = append(kept, l)
		}
	}
	w.Latest = append(kept, machine.LatestInstr{Lanes: w.Mask, Step: g.Steps - 1})
}

// LatestInGrid returns the last instruction that a lane has begun; false if its CTA is not in flight.
func LatestInGrid(g *machine.Grid, cta, warp, lane int) (probe.Latest, bool) {
	return machine.FindLatest(g.Flights, cta, warp, lane)
}

// InFlight calls visit with the linear index of each CTA that is in flight at some moment between state from and the later
// state to, until visit returns false. A nil to means the end of the launch. Some of these CTAs may not have begun yet.
func InFlight(g *machine.Grid, from, to *machine.State, visit func(cta int) bool) {
	begin, end := from.Next, g.NumCTAs
	if to != nil {
		end = to.Next
	}
	for i := range from.Flights {
		if f := &from.Flights[i]; f.Status != machine.CTAEnded && !visit(g.Dim.Linear(g.CTAID(f.Index))) {
			return
		}
	}
	for order := begin; order < end; order++ {
		if !visit(g.Dim.Linear(g.CTAID(order))) {
			return
		}
	}
}

// VisitedBlocks sets list[i] for each instruction, by Event.Index, that may have begun since the last call: for all
// instructions of the blocks that have begun.
func VisitedBlocks(g *machine.Grid, list []bool) {
	for i, v := range g.Visited {
		if v {
			g.Visited[i] = false
			for k := g.Kernel.Blocks[i].Sources.First; k < g.Kernel.Blocks[i].Sources.End; k++ {
				list[k] = true
			}
		}
	}
}
