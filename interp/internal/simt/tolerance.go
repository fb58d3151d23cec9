package simt

// This file keeps the faults that a device tolerates. Each CTA keeps its own, and those of the CTAs are merged in the order in
// which CTAs begin, so that neither the number of workers nor the mode matters.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/regfile"
)

// Tolerated is a fault that kernels have gone on after, at one instruction of one launch.
type Tolerated struct {
	// First is the trap that it would have been: of the first CTA, and there of the warp of the lowest number.
	First *Trap
	// Tolerance is the faults of First.
	Tolerance mem.Tolerance
	// Count counts the accesses of lanes; of a matrix in memory those of its rows.
	Count int64

	order int // the linear index of the CTA
}

// Report is the fault over several lines, as Trap.Report has it.
func (t *Tolerated) Report() string {
	times := "once"
	if t.Count > 1 {
		times = fmt.Sprintf("%d times in all", t.Count)
	}
	return fmt.Sprintf("%s\n   tolerated (%v), %s", t.First.report("notice"), t.Tolerance, times)
}

// toleratedFaults is tolerated faults, at most one of an instruction and kind, in the order in which they came.
type toleratedFaults []Tolerated

// compare is the order in which tolerated faults are told: that of the source.
func (t *Tolerated) compare(u *Tolerated) int {
	a, b := t.First, u.First
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), strings.Compare(a.Func, b.Func), cmp.Compare(t.Tolerance, u.Tolerance))
}

// merge adds faults of another CTA.
func (l *toleratedFaults) merge(more toleratedFaults) {
	for i := range more {
		n := &more[i]
		k := slices.IndexFunc(*l, func(t Tolerated) bool { return t.compare(n) == 0 })
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
func (w *warp) tolerate(instr *code.Instr, h, lane int, addr uint64, m uint32, tolerance mem.Tolerance) {
	if w.inReference() || w.check != nil && w.check.repeatedLoad { // it was noted when the engine executed it
		return
	}
	c, src := w.cta, w.sourceOf(instr)
	k := slices.IndexFunc(c.tolerated, func(t Tolerated) bool { return t.Tolerance == tolerance && t.First.source == src })
	if k < 0 {
		k = len(c.tolerated)
		c.tolerated = append(c.tolerated, Tolerated{Tolerance: tolerance, order: c.index})
	}
	t := &c.tolerated[k]
	if t.Count++; t.First != nil && t.First.Warp <= w.id {
		return
	}
	a := w.access(instr)
	view, request := w.view(), w.request(a)
	request.Tolerate = mem.Strict
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
	slices.SortFunc(list, func(t, u Tolerated) int { return t.compare(&u) })
	for i := range list {
		g.dev.OnTolerated(&list[i])
	}
}
