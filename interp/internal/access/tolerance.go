package access

// This file records tolerated faults: faults after which a kernel continues, as on a GPU (probe.Tolerance). Each CTA has a
// list of its own. The lists are merged in the order in which CTAs begin, so that the result depends neither on the number
// of workers nor on the mode.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/regfile"
)

// tolerateFault records a tolerated fault of a lane's access. The first fault of an instruction is recorded with all lanes
// of m that have the same fault; later faults are only counted.
func tolerateFault(w *machine.Warp, instr *code.Instr, h, lane int, addr uint64, m uint32, tolerance probe.Tolerance) {
	if w.InReference() || w.Check != nil && w.Check.RepeatsLoad { // the fault was recorded when the engine executed the access
		return
	}
	c, src := w.CTA, w.SourceOf(instr)
	k := slices.IndexFunc(c.Tolerated, func(t machine.ToleratedFault) bool {
		return t.Tolerance == tolerance && t.First.Index == int(src.Index)
	})
	if k < 0 {
		k = len(c.Tolerated)
		c.Tolerated = append(c.Tolerated, machine.ToleratedFault{Tolerated: probe.Tolerated{Tolerance: tolerance}, Order: c.Index})
	}
	t := &c.Tolerated[k]
	if t.Count++; t.First != nil && t.First.Warp <= w.ID {
		return
	}
	a := w.AccessOf(instr)
	view, request := View(w), w.RequestOf(a)
	request.Tolerate = probe.Strict
	_, fault := view.Resolve(&request, addr)
	var all regfile.Row64
	LaneAddresses(w, h, instr, a, &all)
	lanes := uint64(1) << (32*h + lane)
	for i := range regfile.Lanes {
		if m>>i&1 != 0 && view.CouldTolerate(&request, all[i]) == tolerance {
			lanes |= 1 << (32*h + i)
		}
	}
	t.First = w.NewTrap(src, lanes, fault.Kind, "%s", fault.Msg)
	t.First.Addr, t.First.Bytes, t.First.Nearby, t.First.Tolerable = addr, a.Bytes, fault.Near, tolerance
}

// TellTolerated reports the tolerated faults to the device (Device.OnTolerated) at the end of the launch. If a CTA has
// failed, the faults of CTAs with higher indices do not count.
func TellTolerated(g *machine.Grid) {
	list := slices.Clone(g.Tolerated)
	for i := range g.Flights {
		f := &g.Flights[i]
		switch {
		case int64(f.Index) > g.LowestFailed.Load():
		case f.Status == machine.CTAEnded:
			list.Merge(f.Tolerated)
		case f.CTA != nil:
			list.Merge(f.CTA.Tolerated)
		}
	}
	if g.Device.OnTolerated == nil {
		return
	}
	slices.SortFunc(list, func(t, u machine.ToleratedFault) int { return t.Compare(&u) })
	for i := range list {
		g.Device.OnTolerated(&list[i].Tolerated)
	}
}
