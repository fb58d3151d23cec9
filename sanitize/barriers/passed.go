package barriers

// This file is lanes that have gone past a barrier which all threads of their warp must execute
// together: others wait there, and they have exited. Those that have only left early do not count
// as missing; nothing in a program tells them from those whose turn the barrier was but what they
// have executed that the others come to behind it.

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

// exits: lanes end while others of their warp live.
func (c *cta) exits(e *interp.Event, w *warp) {
	gone := group{e.Index, e.Lanes}
	w.gone = add(w.gone, e.Index, e.Lanes)
	for _, at := range w.waits {
		c.passes(e, at, gone)
	}
}

// stays: lanes wait at a barrier for all of the CTA, which their warp must come to together.
func (c *cta) stays(e *interp.Event, w *warp) {
	at := group{e.Index, e.Lanes}
	w.waits = add(w.waits, e.Index, e.Lanes)
	for _, gone := range w.gone {
		c.passes(e, at, gone)
	}
}

// passes tells of lanes that wait at a barrier, if others have gone past it.
func (c *cta) passes(e *interp.Event, at, gone group) {
	if !c.plan.passed(e.Launch.Program, at.index, gone.index) {
		return
	}
	in, _ := e.Launch.Program.At(at.index)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, At: c.place(e, spot{at.index, e.Warp, bits.TrailingZeros64(at.lanes)}, "executed"),
		Message: fmt.Sprintf("%s, which all threads of a warp must execute together, by some of them", in.Text),
		Notes:   []string{lanesOf(gone.lanes) + " have gone past it, and exited"},
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
