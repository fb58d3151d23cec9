package simt

// This file is policies without joins: of the strands that can run the first does, by
// an order of places, and strands that come to the same place in the same calls become
// one. It is the order that brings them there at the same time.

import "gemu/interp/internal/code"

// order is the order of a policy.
type order interface {
	// before reports whether strand a runs before b, of which neither waits.
	before(w *warp, a, b *strand) bool
	// jumped is told that strands have come from block from to block c.pc.
	jumped(c *strand, from int32)
	// chosen is told that the running strand was chosen among others.
	chosen(w *warp)
}

type ordered struct{ order }

func (o ordered) split(w *warp, groups []group, join int32) {
	from := w.pc
	call := w.cta.code.End(w.cta.code.Block(from)).Op.Signature().Side == code.CallSide
	running := w.strand
	w.mask = 0
	for _, g := range groups {
		c := running
		c.pc, c.mask = g.pc, g.mask
		if call && g.pc == from { // they are to call, each group for itself
			w.others = append(w.others, c)
			continue
		}
		o.jumped(&c, from)
		o.add(w, c)
	}
	o.next(w)
}

func (o ordered) enter(w *warp, fr *frame, m uint64) {
	if rest := w.mask &^ m; rest != 0 {
		c := w.without(rest)
		c.pc = fr.call.Next
		o.add(w, c)
	}
	w.resume(strand{pc: fr.fn.Begin, mask: m, frame: fr})
}

func (o ordered) arrive(w *warp, from int32) {
	c := w.strand
	o.jumped(&c, from)
	w.mask = 0
	o.add(w, c)
	o.next(w)
}

func (o ordered) end(w *warp, lanes uint64) {}

func (o ordered) expire(w *warp) {}

func (o ordered) part(w *warp) bool { return false }

// add makes c one of the others, or part of one.
func (o ordered) add(w *warp, c strand) {
	if i := w.alike(&c); i >= 0 {
		w.others[i].mask |= c.mask
		w.reunites(&w.others[i])
	} else {
		w.others = append(w.others, c)
	}
	w.rest(c.pc, c.mask)
}

func (o ordered) next(w *warp) bool {
	best := -1
	for i := range w.others {
		c := &w.others[i]
		if c.wait == nil && (best < 0 || w.before(c, &w.others[best], o)) {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	w.resume(w.take(best))
	o.chosen(w)
	return true
}

// before is the order of strands: those in deeper calls come first.
func (w *warp) before(a, b *strand, o order) bool {
	if a.frame.depth != b.frame.depth {
		return a.frame.depth > b.frame.depth
	}
	return o.before(w, a, b)
}
