package simt

// This file is policies without joins: of the warp splits that can run the first does, by
// an order of places, and warp splits that come to the same place in the same calls become
// one. It is the order that brings them there at the same time.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/lower"
)

// splitOrder is the order of a policy.
type splitOrder interface {
	// before reports whether warp split a runs before b, of which neither waits.
	before(w *warp, a, b *warpSplit) bool
	// jumped is told that warp splits have come from block from to block c.pc.
	jumped(c *warpSplit, from int32)
	// splitChosen is told that the running warp split was chosen among others.
	splitChosen(w *warp)
}

type ordered struct{ splitOrder }

func (o ordered) split(w *warp, groups []laneGroup, join int32) {
	from := w.pc
	call := w.cta.code.End(w.cta.code.Block(from)).Op.Signature().Side == code.CallSide
	running := w.warpSplit
	w.mask = 0
	for _, g := range groups {
		c := running
		c.pc, c.mask = g.pc, g.mask
		if call && g.pc == from { // they are to call, each group for itself
			w.waitingSplits = append(w.waitingSplits, c)
			continue
		}
		o.jumped(&c, from)
		o.add(w, c)
	}
	o.next(w)
}

func (o ordered) enter(w *warp, fr *frame, m uint64) {
	if rest := w.mask &^ m; rest != 0 {
		c := w.splitOff(rest)
		c.pc = fr.call.Next
		o.add(w, c)
	}
	w.resume(warpSplit{pc: fr.fn.Begin, mask: m, frame: fr})
}

func (o ordered) arrive(w *warp, from int32) {
	c := w.warpSplit
	o.jumped(&c, from)
	w.mask = 0
	o.add(w, c)
	o.next(w)
}

func (o ordered) end(w *warp, lanes uint64) {}

func (o ordered) expire(w *warp) {}

func (o ordered) releaseEarly(w *warp) bool { return false }

// add makes c one of the others, or part of one.
func (o ordered) add(w *warp, c warpSplit) {
	if i := w.findMergeable(&c); i >= 0 {
		w.waitingSplits[i].mask |= c.mask
		w.countReconvergence(&w.waitingSplits[i])
	} else {
		w.waitingSplits = append(w.waitingSplits, c)
	}
	w.markAtExit(c.pc, c.mask)
}

func (o ordered) next(w *warp) bool {
	best := -1
	for i := range w.waitingSplits {
		c := &w.waitingSplits[i]
		if c.wait == nil && (best < 0 || w.before(c, &w.waitingSplits[best], o)) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	w.resume(w.takeSplit(best))
	o.splitChosen(w)
	return true
}

// before is the order of warp splits: those in deeper calls come first.
func (w *warp) before(a, b *warpSplit, o splitOrder) bool {
	if a.frame.depth != b.frame.depth {
		return a.frame.depth > b.frame.depth
	}
	return o.before(w, a, b)
}

// SplitPlace is a warp split that can run next, as the order of NewOrdered compares it.
type SplitPlace struct {
	Block int    // index of the basic block at which it is; blocks are numbered in the order of their addresses
	Order int    // position of the block in the reverse postorder of the control flow of its function
	Lanes uint64 // its lanes: bit i is lane i
}

// NewOrdered makes a reconvergence policy of an order. Of the warp splits that can run, in the deepest calls, the first one runs;
// warp splits reconverge where they come to the same block.
func NewOrdered(name, doc string, before func(a, b SplitPlace) bool) *Reconverger {
	return &Reconverger{
		Name: name, Doc: doc,
		new: func() reconverger { return ordered{orderFunc(before)} }, notifyEveryBlock: true, reconvergence: lower.Never,
	}
}

// orderFunc is the order of a policy of NewOrdered.
type orderFunc func(a, b SplitPlace) bool

func (f orderFunc) before(w *warp, a, b *warpSplit) bool { return f(w.placeOf(a), w.placeOf(b)) }

func (f orderFunc) jumped(c *warpSplit, from int32) {}

func (f orderFunc) splitChosen(w *warp) {}

func (w *warp) placeOf(c *warpSplit) SplitPlace {
	return SplitPlace{int(c.pc), int(w.cta.code.Block(c.pc).Order), c.mask}
}
