package warp

// This file has policies without reconvergence points. Of the ready warp splits, the first in an order of places runs. Warp
// splits at the same place in the same calls merge. The order brings them there at the same time.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
)

// splitOrder is the order of a policy.
type splitOrder interface {
	// before reports whether warp split a runs before b, of which neither waits.
	before(w *machine.Warp, a, b *machine.WarpSplit) bool
	// jumped is called after warp splits have moved from block from to block c.pc.
	jumped(c *machine.WarpSplit, from int32)
	// splitChosen is called after the running warp split was chosen among several.
	splitChosen(w *machine.Warp)
}

type ordered struct{ splitOrder }

func (o ordered) Split(w *machine.Warp, groups []machine.BranchGroup, join int32) {
	from := w.PC
	call := w.CTA.Code.End(w.CTA.Code.Block(from)).Op.Signature().Side == code.CallSide
	running := w.WarpSplit
	w.Mask = 0
	for _, g := range groups {
		c := running
		c.PC, c.Mask = g.PC, g.Mask
		if call && g.PC == from { // they are to call, each group for itself
			w.WaitingSplits = append(w.WaitingSplits, c)
			continue
		}
		o.jumped(&c, from)
		o.add(w, c)
	}
	o.Next(w)
}

func (o ordered) Enter(w *machine.Warp, fr *machine.Frame, m uint64) {
	if rest := w.Mask &^ m; rest != 0 {
		c := splitOff(w, rest)
		c.PC = fr.Call.Next
		o.add(w, c)
	}
	ResumeSplit(w, machine.WarpSplit{PC: fr.Func.Begin, Mask: m, Frame: fr})
}

func (o ordered) Arrive(w *machine.Warp, from int32) {
	c := w.WarpSplit
	o.jumped(&c, from)
	w.Mask = 0
	o.add(w, c)
	o.Next(w)
}

func (o ordered) End(w *machine.Warp, lanes uint64) {}

func (o ordered) Expire(w *machine.Warp) {}

func (o ordered) ReleaseEarly(w *machine.Warp) bool { return false }

// add adds c to the waiting warp splits, or merges it with a waiting split.
func (o ordered) add(w *machine.Warp, c machine.WarpSplit) {
	if i := findMergeable(w, &c); i >= 0 {
		w.WaitingSplits[i].Mask |= c.Mask
		countReconvergence(w, &w.WaitingSplits[i])
	} else {
		w.WaitingSplits = append(w.WaitingSplits, c)
	}
	markAtExit(w, c.PC, c.Mask)
}

func (o ordered) Next(w *machine.Warp) bool {
	best := -1
	for i := range w.WaitingSplits {
		c := &w.WaitingSplits[i]
		if c.Wait == nil && (best < 0 || runsBefore(w, c, &w.WaitingSplits[best], o)) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	ResumeSplit(w, takeSplit(w, best))
	o.splitChosen(w)
	return true
}

// runsBefore orders warp splits: splits in deeper calls come first.
func runsBefore(w *machine.Warp, a, b *machine.WarpSplit, o splitOrder) bool {
	if a.Frame.Depth != b.Frame.Depth {
		return a.Frame.Depth > b.Frame.Depth
	}
	return o.before(w, a, b)
}

// SplitPlace is a warp split ready to run next, as compared by the order of NewOrdered.
type SplitPlace struct {
	Block int    // index of the basic block at which it is; blocks are numbered in the order of their addresses
	Order int    // position of the block in the reverse postorder of the control flow of its function
	Lanes uint64 // its lanes: bit i is lane i
}

// NewOrdered makes a reconvergence policy of an order. Of the ready warp splits in the deepest calls, the first runs; warp
// splits reconverge where they come to the same block.
func NewOrdered(name, doc string, before func(a, b SplitPlace) bool) *machine.Policy {
	return &machine.Policy{
		Name: name, Doc: doc,
		New: func() machine.Reconverger { return ordered{orderFunc(before)} }, NotifyEveryBlock: true, Reconvergence: lower.Never,
	}
}

// orderFunc is the order of a policy of NewOrdered.
type orderFunc func(a, b SplitPlace) bool

func (f orderFunc) before(w *machine.Warp, a, b *machine.WarpSplit) bool {
	return f(placeOf(w, a), placeOf(w, b))
}

func (f orderFunc) jumped(c *machine.WarpSplit, from int32) {}

func (f orderFunc) splitChosen(w *machine.Warp) {}

func placeOf(w *machine.Warp, c *machine.WarpSplit) SplitPlace {
	return SplitPlace{int(c.PC), int(w.CTA.Code.Block(c.PC).Order), c.Mask}
}
