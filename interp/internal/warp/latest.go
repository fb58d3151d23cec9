package warp

// This file records, for launches that may pause, the history for a debugger: the last instruction begun by each lane,
// and the begun blocks.

import (
	"gemu/interp/internal/machine"
	"gemu/probe"
)

// NoteBegun counts instructions begun by the running warp split, in launches with one order of events.
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

// LatestInGrid returns the last instruction begun by a lane; false if its CTA is not in flight.
func LatestInGrid(g *machine.Grid, cta, warp, lane int) (probe.Latest, bool) {
	return machine.FindLatest(g.Flights, cta, warp, lane)
}

// InFlight calls do with the index of each CTA in flight at some moment between a state and a later state (nil is the
// launch's end), until do returns false. Some may not have begun yet.
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

// VisitedBlocks appends the instructions, by Event.Index, that may have begun since the last call: all instructions of
// the begun blocks.
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
