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

// missedBarrier is a barrier that lanes of a warp have executed without others that live. A policy may have lanes wait before
// the end of the kernel, where others are to meet them: barriers do not wait for those.
type missedBarrier struct {
	barrier group  // the barrier, and the lanes that executed it
	missing uint64 // the lanes that did not
}

// wokenGroup is lanes that go on after a barrier which has completed: one group after the other.
type wokenGroup struct {
	barrier, generation int
	lanes               uint64
}

// completes notes the lanes that a barrier for all of the CTA did not wait for.
func (c *cta) completes(e *interp.Event, w *warp) {
	if e.Wait.Threads != 0 && e.Wait.Threads < e.Launch.Block.Count() || !e.Instr.Form.Effects.HasAll(ptx.Aligned|ptx.Waits) {
		return
	}
	if w.woken.barrier != e.Wait.Barrier || w.woken.generation != e.Wait.Generation {
		w.woken = wokenGroup{barrier: e.Wait.Barrier, generation: e.Wait.Generation}
	}
	w.woken.lanes |= e.Lanes
	missing := w.live &^ w.woken.lanes
	for _, g := range w.waiting {
		missing &^= g.lanes
	}
	if missing != 0 {
		w.missed = append(w.missed, missedBarrier{group{e.Index, e.Lanes}, missing})
	}
}

// noteArrival notes that lanes have come to a barrier themselves.
func (w *warp) noteArrival(lanes uint64) {
	rest := w.missed[:0]
	for _, m := range w.missed {
		if m.missing &^= lanes; m.missing != 0 {
			rest = append(rest, m)
		}
	}
	w.missed = rest
}

// exits: lanes end while others of their warp live.
func (c *cta) exits(e *interp.Event, w *warp) {
	exited := group{e.Index, e.Lanes}
	w.exited = add(w.exited, e.Index, e.Lanes)
	for _, waiting := range w.waiting {
		c.reportPassed(e, waiting, exited)
	}
	for _, m := range w.missed {
		if lanes := m.missing & e.Lanes; lanes != 0 {
			c.reportPassed(e, m.barrier, group{e.Index, lanes})
		}
	}
	w.noteArrival(e.Lanes)
}

// waitAtBarrier: lanes wait at a barrier for all of the CTA, which their warp must come to together.
func (c *cta) waitAtBarrier(e *interp.Event, w *warp) {
	waiting := group{e.Index, e.Lanes}
	w.waiting = add(w.waiting, e.Index, e.Lanes)
	for _, exited := range w.exited {
		c.reportPassed(e, waiting, exited)
	}
}

// reportPassed reports lanes that wait at a barrier where others of the warp have exited.
func (c *cta) reportPassed(e *interp.Event, waiting, exited group) {
	instr, _ := e.Launch.Program.At(waiting.index)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, Place: c.place(e, spot{waiting.index, e.Warp, bits.TrailingZeros64(waiting.lanes)}, "executed"),
		Message: fmt.Sprintf("%s, which all threads of a warp must execute together, by some of them", instr.Text),
		Notes:   []string{lanesOf(exited.lanes) + " have gone past it, and exited"},
	}
	if !c.plan.passed(e.Launch.Program, waiting.index, exited.index) {
		for _, h := range c.warp(e.Warp).guardedOff {
			if h.index == waiting.index {
				exited.lanes &^= h.lanes
			}
		}
		if exited.lanes == 0 {
			return
		}
		other := c.place(e, spot{exited.index, e.Warp, bits.TrailingZeros64(exited.lanes)}, "exit")
		other.Lanes = finding.Lanes(exited.lanes)
		f.Kind, f.Severity, f.OtherPlace, f.Notes, f.OtherLanes = Exited, finding.Notice, &other, nil, true
		f.Message = fmt.Sprintf("%s, which all threads of a warp must execute together, where %s have exited", instr.Text, lanesOf(exited.lanes))
	}
	f.Place.Lanes = finding.Lanes(waiting.lanes)
	c.log.Add(e, f)
}

// passed reports whether a lane that exits at an instruction of the barrier's function has written
// memory, or come to what others wait for, where those that wait at the barrier come to behind it: in
// blocks on all ways to the exit that follow the barrier and do not lead to it.
func (p *plan) passed(prog interp.Program, barrier, exit int) bool {
	key := [2]int{barrier, exit}
	if known, ok := p.passedCache.Load(key); ok {
		return known.(bool)
	}
	is := false
	b, fn := prog.At(barrier)
	x, owner := prog.At(exit)
	if from, to := blockOf(fn, b), blockOf(fn, x); fn == owner && from != nil && to != nil {
		reachable := reached(from.Succs, nil)
		for _, d := range fn.Blocks {
			relevant := false
			for _, instr := range d.Instrs {
				relevant = relevant || instr.Form.Effects.Any(ptx.Writes|ptx.Atomic|ptx.Barrier)
			}
			is = is || relevant && reachable[d] && !reached([]*ptx.Block{d}, nil)[from] && !reached(fn.Blocks[:1], d)[to]
		}
	}
	p.passedCache.Store(key, is)
	return is
}

// blockOf is the block of an instruction.
func blockOf(f *ptx.Func, instr *ptx.Instr) *ptx.Block {
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			if i == instr {
				return b
			}
		}
	}
	return nil
}

// reached is the blocks that control comes to from some, and those, without going through one.
func reached(from []*ptx.Block, except *ptx.Block) map[*ptx.Block]bool {
	seen := map[*ptx.Block]bool{}
	for work := append([]*ptx.Block(nil), from...); len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b != except && !seen[b] {
			seen[b] = true
			work = append(work, b.Succs...)
		}
	}
	return seen
}
