package simt

// This file keeps the faults that a device tolerates. Each CTA keeps its own, and those of the CTAs are merged in the order in
// which CTAs begin, so that neither the number of workers nor the mode matters.

import (
	"cmp"
	"slices"
	"strings"

	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/regfile"
)

// toleratedFault is a fault that was tolerated, and the CTA of its first trap.
type toleratedFault struct {
	probe.Tolerated
	order int // linear index of the CTA
}

// toleratedFaults is tolerated faults, at most one of an instruction and kind, in the order in which they came.
type toleratedFaults []toleratedFault

// compare is the order in which tolerated faults are told: that of the source.
func (t *toleratedFault) compare(u *toleratedFault) int {
	a, b := t.First, u.First
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), strings.Compare(a.Func, b.Func), cmp.Compare(t.Tolerance, u.Tolerance))
}

// merge adds faults of another CTA.
func (l *toleratedFaults) merge(more toleratedFaults) {
	for i := range more {
		n := &more[i]
		k := slices.IndexFunc(*l, func(t toleratedFault) bool { return t.compare(n) == 0 })
		if k < 0 {
			*l = append(*l, *n)
			continue
		}
		old := &(*l)[k]
		times := old.Count + n.Count
		if n.order < old.order {
			*old = *n
		}
		old.Count = times
	}
}

// tolerate notes that a lane's access is made in spite of faults. A first note names those lanes of m that have the same.
func (w *warp) tolerate(instr *code.Instr, h, lane int, addr uint64, m uint32, tolerance probe.Tolerance) {
	if w.inReference() || w.check != nil && w.check.repeatsLoad { // it was noted when the engine executed it
		return
	}
	c, src := w.cta, w.sourceOf(instr)
	k := slices.IndexFunc(c.tolerated, func(t toleratedFault) bool { return t.Tolerance == tolerance && t.First.Index == int(src.Index) })
	if k < 0 {
		k = len(c.tolerated)
		c.tolerated = append(c.tolerated, toleratedFault{Tolerated: probe.Tolerated{Tolerance: tolerance}, order: c.index})
	}
	t := &c.tolerated[k]
	if t.Count++; t.First != nil && t.First.Warp <= w.id {
		return
	}
	a := w.access(instr)
	view, request := w.view(), w.request(a)
	request.Tolerate = probe.Strict
	_, fault := view.Resolve(&request, addr)
	var all regfile.Row64
	w.addresses(h, instr, a, &all)
	lanes := uint64(1) << (32*h + lane)
	for i := range regfile.Lanes {
		if m>>i&1 != 0 && view.CouldTolerate(&request, all[i]) == tolerance {
			lanes |= 1 << (32*h + i)
		}
	}
	t.First = w.newTrap(src, lanes, fault.Kind, "%s", fault.Msg)
	t.First.Addr, t.First.Bytes, t.First.Nearby, t.First.Tolerable = addr, a.Bytes, fault.Near, tolerance
}

// tellTolerated tells the device's faults that were tolerated, as the launch ends. If a CTA has failed, those behind it do not
// count.
func (g *Grid) tellTolerated() {
	list := slices.Clone(g.tolerated)
	for i := range g.flights {
		f := &g.flights[i]
		switch {
		case int64(f.index) > g.lowestFailed.Load():
		case f.status == ctaEnded:
			list.merge(f.tolerated)
		case f.cta != nil:
			list.merge(f.cta.tolerated)
		}
	}
	if g.dev.OnTolerated == nil {
		return
	}
	slices.SortFunc(list, func(t, u toleratedFault) int { return t.compare(&u) })
	for i := range list {
		g.dev.OnTolerated(&list[i].Tolerated)
	}
}
