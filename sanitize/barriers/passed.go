package barriers

// This file is lanes that exit and others of their warp that wait at a barrier which all threads of the warp must
// execute together. Lanes that have gone past the barrier are an error: they have executed instructions that the
// others come to after it. Lanes that exited without that may have left early, which hardware lets pass: a notice.

import (
	"fmt"
	"math/bits"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// group is lanes of a warp at an instruction.
type group struct {
	index int
	lanes uint64
}

// add adds lanes at an instruction to some.
func add(list []group, index int, lanes uint64) []group {
	for i := range list {
		if list[i].index == index {
			list[i].lanes |= lanes
			return list
		}
	}
	return append(list, group{index, lanes})
}

// remove takes lanes away.
func remove(list []group, lanes uint64) []group {
	rest := list[:0]
	for _, g := range list {
		if g.lanes &^= lanes; g.lanes != 0 {
			rest = append(rest, g)
		}
	}
	return rest
}

// missed is a barrier that lanes of a warp have executed without others that live. A policy may have lanes wait before
// the end of the kernel, where others are to meet them: barriers do not wait for those.
type missed struct {
	at   group  // the barrier, and the lanes that executed it
	away uint64 // the lanes that did not
}

// woken is lanes that go on after a barrier which has completed: one group after the other.
type woken struct {
	barrier, generation int
	lanes               uint64
}

// completes notes the lanes that a barrier for all of the CTA did not wait for.
func (c *cta) completes(e *interp.Event, w *warp) {
	if e.Waits.Threads != 0 && e.Waits.Threads < e.Launch.Block.Count() || !e.Instr.Form.Effects.Has(ptx.Aligned|ptx.Waits) {
		return
	}
	if w.woken.barrier != e.Waits.Barrier || w.woken.generation != e.Waits.Generation {
		w.woken = woken{barrier: e.Waits.Barrier, generation: e.Waits.Generation}
	}
	w.woken.lanes |= e.Lanes
	away := w.live &^ w.woken.lanes
	for _, g := range w.waits {
		away &^= g.lanes
	}
	if away != 0 {
		w.missed = append(w.missed, missed{group{e.Index, e.Lanes}, away})
	}
}

// attends notes that lanes have come to a barrier themselves.
func (w *warp) attends(lanes uint64) {
	rest := w.missed[:0]
	for _, m := range w.missed {
		if m.away &^= lanes; m.away != 0 {
			rest = append(rest, m)
		}
	}
	w.missed = rest
}

// exits: lanes end while others of their warp live.
func (c *cta) exits(e *interp.Event, w *warp) {
	gone := group{e.Index, e.Lanes}
	w.gone = add(w.gone, e.Index, e.Lanes)
	for _, at := range w.waits {
		c.passes(e, at, gone)
	}
	for _, m := range w.missed {
		if lanes := m.away & e.Lanes; lanes != 0 {
			c.passes(e, m.at, group{e.Index, lanes})
		}
	}
	w.attends(e.Lanes)
}

// stays: lanes wait at a barrier for all of the CTA, which their warp must come to together.
func (c *cta) stays(e *interp.Event, w *warp) {
	at := group{e.Index, e.Lanes}
	w.waits = add(w.waits, e.Index, e.Lanes)
	for _, gone := range w.gone {
		c.passes(e, at, gone)
	}
}

// passes reports lanes that wait at a barrier where others of the warp have exited.
func (c *cta) passes(e *interp.Event, at, gone group) {
	in, _ := e.Launch.Program.At(at.index)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, At: c.place(e, spot{at.index, e.Warp, bits.TrailingZeros64(at.lanes)}, "executed"),
		Message: fmt.Sprintf("%s, which all threads of a warp must execute together, by some of them", in.Text),
		Notes:   []string{lanesOf(gone.lanes) + " have gone past it, and exited"},
	}
	if !c.plan.passed(e.Launch.Program, at.index, gone.index) {
		for _, h := range c.warp(e.Warp).held {
			if h.index == at.index {
				gone.lanes &^= h.lanes
			}
		}
		if gone.lanes == 0 {
			return
		}
		other := c.place(e, spot{gone.index, e.Warp, bits.TrailingZeros64(gone.lanes)}, "exit")
		other.Lanes = finding.Lanes(gone.lanes)
		f.Kind, f.Severity, f.Other, f.Notes, f.ByOther = Exited, finding.Notice, &other, nil, true
		f.Message = fmt.Sprintf("%s, which all threads of a warp must execute together, where %s have exited", in.Text, lanesOf(gone.lanes))
	}
	f.At.Lanes = finding.Lanes(at.lanes)
	c.log.Add(e, f)
}

// passed reports whether a lane that exits at an instruction of the barrier's function has written
// memory, or come to what others wait for, where those that wait at the barrier come to behind it: in
// blocks on all ways to the exit that follow the barrier and do not lead to it.
func (p *plan) passed(prog interp.Program, barrier, exit int) bool {
	key := [2]int{barrier, exit}
	if known, ok := p.ways.Load(key); ok {
		return known.(bool)
	}
	is := false
	b, fn := prog.At(barrier)
	x, of := prog.At(exit)
	if from, to := blockOf(fn, b), blockOf(fn, x); fn == of && from != nil && to != nil {
		behind := reached(from.Succs, nil)
		for _, d := range fn.Blocks {
			acts := false
			for _, in := range d.Instrs {
				acts = acts || in.Form.Effects.Any(ptx.Writes|ptx.Atomic|ptx.Barrier)
			}
			is = is || acts && behind[d] && !reached([]*ptx.Block{d}, nil)[from] && !reached(fn.Blocks[:1], d)[to]
		}
	}
	p.ways.Store(key, is)
	return is
}

// blockOf is the block of an instruction.
func blockOf(f *ptx.Func, in *ptx.Instr) *ptx.Block {
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			if i == in {
				return b
			}
		}
	}
	return nil
}

// reached is the blocks that control comes to from some, and those, without going through one.
func reached(from []*ptx.Block, without *ptx.Block) map[*ptx.Block]bool {
	seen := map[*ptx.Block]bool{}
	for work := append([]*ptx.Block(nil), from...); len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b != without && !seen[b] {
			seen[b] = true
			work = append(work, b.Succs...)
		}
	}
	return seen
}
