package barriers

// This file checks lanes that exit while other lanes of their warp wait at an aligned barrier, which all
// threads of the warp must execute together. It is an error if the exited lanes have gone past the barrier,
// i.e. have executed instructions that follow it. Lanes that left early without such instructions are a notice,
// because hardware lets them pass.

import (
	"fmt"
	"math/bits"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// group is a set of lanes of a warp at an instruction.
type group struct {
	index int
	lanes uint64
}

// add adds lanes at an instruction to a list.
func add(list []group, index int, lanes uint64) []group {
	for i := range list {
		if list[i].index == index {
			list[i].lanes |= lanes
			return list
		}
	}
	return append(list, group{index, lanes})
}

// remove removes lanes from a list.
func remove(list []group, lanes uint64) []group {
	remaining := list[:0]
	for _, g := range list {
		if g.lanes &^= lanes; g.lanes != 0 {
			remaining = append(remaining, g)
		}
	}
	return remaining
}

// missedBarrier is a barrier that some live lanes of a warp did not execute. A policy may hold lanes back
// before the end of the kernel to reconverge there; barriers do not wait for such lanes.
type missedBarrier struct {
	barrier group  // the barrier, and the lanes that executed it
	missing uint64 // the live lanes that did not execute it
}

// wokenGroup holds the lanes that have left a completed barrier. They leave in several groups.
type wokenGroup struct {
	barrier, generation int
	lanes               uint64
}

// noteCompletion notes the live lanes without which a barrier of the whole CTA has completed.
func (c *cta) noteCompletion(e *probe.Event, w *warp) {
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

// noteArrival removes lanes that have come to a barrier from the missing lanes.
func (w *warp) noteArrival(lanes uint64) {
	remaining := w.missed[:0]
	for _, m := range w.missed {
		if m.missing &^= lanes; m.missing != 0 {
			remaining = append(remaining, m)
		}
	}
	w.missed = remaining
}

// exits handles lanes that end while lanes of their warp live.
func (c *cta) exits(e *probe.Event, w *warp) {
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

// waitAtBarrier handles lanes that wait at an aligned barrier of the whole CTA.
func (c *cta) waitAtBarrier(e *probe.Event, w *warp) {
	waiting := group{e.Index, e.Lanes}
	w.waiting = add(w.waiting, e.Index, e.Lanes)
	for _, exited := range w.exited {
		c.reportPassed(e, waiting, exited)
	}
}

// reportPassed reports lanes that wait at a barrier after lanes of the warp have exited.
func (c *cta) reportPassed(e *probe.Event, waiting, exited group) {
	instr, _ := e.Launch.Program.At(waiting.index)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, Place: c.place(e, spot{waiting.index, e.Warp, bits.TrailingZeros64(waiting.lanes)}, "executed"),
		Message: fmt.Sprintf("only some threads of the warp execute %s, which all must execute together", instr.Text),
		Notes:   []string{probe.LaneText(exited.lanes) + " executed later instructions, and exited"},
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
		f.Kind, f.Severity, f.OtherPlace, f.Notes, f.MergeByOther = Exited, finding.Notice, &other, nil, true
		f.Message = fmt.Sprintf("%s is executed after %s exited, but all threads of a warp must execute it together", instr.Text, probe.LaneText(exited.lanes))
	}
	f.Place.Lanes = finding.Lanes(waiting.lanes)
	c.log.Add(e, f)
}

// passed reports whether a lane that exits has certainly executed a relevant instruction after the barrier: a
// write to memory or a barrier, in a block that follows the barrier, does not lead back to it, and is on every
// path to the exit. barrier and exit are indices of instructions.
func (p *plan) passed(prog probe.Program, barrier, exit int) bool {
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

// blockOf returns the block of an instruction, or nil.
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

// reached returns the blocks reachable from a set of blocks, including the set, on paths that avoid a given
// block.
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
