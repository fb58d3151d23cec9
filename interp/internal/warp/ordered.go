package warp

// This file has policies without reconvergence points. Of the ready warp splits, the first in an order of places runs. Warp
// splits that are at the same place in the same calls merge; the order must be such that they meet there.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/machine"
)

// splitOrder is the order of a policy.
type splitOrder interface {
	// before reports whether warp split a runs before b. Both are ready and in calls of the same depth.
	before(w *machine.Warp, a, b *machine.WarpSplit) bool
	// jumped is called after warp split c has moved from pc from to c.PC.
	jumped(c *machine.WarpSplit, from int32)
	// splitChosen is called after a waiting warp split has become the running split.
	splitChosen(w *machine.Warp)
}

// ordered is a policy with a splitOrder.
type ordered struct{ splitOrder }

func (o ordered) Split(w *machine.Warp, groups []machine.BranchGroup, join int32) {
	from := w.PC
	call := w.CTA.Code.End(w.CTA.Code.Block(from)).Op.Signature().Side == code.CallSide
	running := w.WarpSplit
	w.Mask = 0
	for _, g := range groups {
		c := running
		c.PC, c.Mask = g.PC, g.Mask
		if call && g.PC == from { // the groups stay at the call, which each makes separately
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

// runsBefore reports whether warp split a runs before b: splits in deeper calls come first, then the order decides.
func runsBefore(w *machine.Warp, a, b *machine.WarpSplit, o splitOrder) bool {
	if a.Frame.Depth != b.Frame.Depth {
		return a.Frame.Depth > b.Frame.Depth
	}
	return o.before(w, a, b)
}

// SplitPlace is a ready warp split, as the order of NewOrdered compares it.
type SplitPlace struct {
	Block int    // pc of the basic block at which it is: blocks at higher addresses have higher numbers
	Order int    // position of the block in the reverse postorder of the control flow of its function
	Lanes uint64 // its lanes: bit i is lane i
}

// NewOrdered makes a reconvergence policy of an order. Of the ready warp splits in the deepest calls, the first in the order
// runs. Warp splits at the same block in the same calls reconverge.
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

// placeOf returns the place of a warp split.
func placeOf(w *machine.Warp, c *machine.WarpSplit) SplitPlace {
	return SplitPlace{int(c.PC), int(w.CTA.Code.Block(c.PC).Order), c.Mask}
}
