package simt

// This file is policies without joins: of the warp splits that can run the first does, by
// an order of places, and warp splits that come to the same place in the same calls become
// one. It is the order that brings them there at the same time.

import "gemu/interp/internal/code"

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
