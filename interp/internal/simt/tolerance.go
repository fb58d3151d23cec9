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
	// By is the faults of First.
	By mem.Tolerance
	// Times counts the accesses of lanes; of a matrix in memory those of its rows.
	Times int64

	order int // the linear index of the CTA
}

// Report is the fault over several lines, as Trap.Report has it.
func (t *Tolerated) Report() string {
	times := "once"
	if t.Times > 1 {
		times = fmt.Sprintf("%d times in all", t.Times)
	}
	return fmt.Sprintf("%s\n   tolerated (%v), %s", t.First.report("notice"), t.By, times)
}

// tolerated is tolerated faults, at most one of an instruction and kind, in the order in which they came.
type tolerated []Tolerated

// compare is the order in which tolerated faults are told: that of the source.
func (t *Tolerated) compare(u *Tolerated) int {
	a, b := t.First, u.First
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), strings.Compare(a.Func, b.Func), cmp.Compare(t.By, u.By))
}

// merge adds faults of another CTA.
func (l *tolerated) merge(more tolerated) {
	for i := range more {
		n := &more[i]
		k := slices.IndexFunc(*l, func(t Tolerated) bool { return t.compare(n) == 0 })
		if k < 0 {
			*l = append(*l, *n)
			continue
		}
		old := &(*l)[k]
		times := old.Times + n.Times
		if n.order < old.order {
			*old = *n
		}
		old.Times = times
	}
}

// tolerate notes that a lane's access is made in spite of faults. A first note names those lanes of m that have the same.
func (w *warp) tolerate(in *code.Instr, h, lane int, addr uint64, m uint32, by mem.Tolerance) {
	if w.turned() || w.check != nil && w.check.again { // it was noted when the engine executed it
		return
	}
	c, src := w.cta, w.src(in)
	k := slices.IndexFunc(c.tolerated, func(t Tolerated) bool { return t.By == by && t.First.at == src })
	if k < 0 {
		k = len(c.tolerated)
		c.tolerated = append(c.tolerated, Tolerated{By: by, order: c.index})
	}
	t := &c.tolerated[k]
	if t.Times++; t.First != nil && t.First.Warp <= w.id {
		return
	}
	a := w.access(in)
	view, request := w.view(), w.request(a)
	request.Tolerate = mem.Strict
	_, fault := view.Resolve(&request, addr)
	var all regfile.Row64
	w.addresses(h, in, a, &all)
	lanes := uint64(1) << (32*h + lane)
	for i := range regfile.Lanes {
		if m>>i&1 != 0 && view.CouldTolerate(&request, all[i]) == by {
			lanes |= 1 << (32*h + i)
		}
	}
	t.First = w.newTrap(src, lanes, fault.Kind, "%s", fault.Msg)
	t.First.Addr, t.First.Bytes, t.First.Near, t.First.Tolerable = addr, a.Bytes, fault.Near, by
}

// tellTolerated tells the device's faults that were tolerated, as the launch ends. If a CTA has failed, those behind it do not
// count.
func (g *Grid) tellTolerated() {
	list := slices.Clone(g.tolerated)
	for i := range g.flights {
		f := &g.flights[i]
		switch {
		case int64(f.index) > g.lowFail.Load():
		case f.status == hasFinished:
			list.merge(f.tolerated)
		case f.cta != nil:
			list.merge(f.cta.tolerated)
		}
	}
	if g.dev.Tolerated == nil {
		return
	}
	slices.SortFunc(list, func(t, u Tolerated) int { return t.compare(&u) })
	for i := range list {
		g.dev.Tolerated(&list[i])
	}
}
