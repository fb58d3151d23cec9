package bounds

// This file keeps what a register of a warp is derived from, by lane. Mostly that is the same
// variable in all of them.

import "math/bits"

// origin is what a value is derived from: nothing, what is lost, or a variable. One of local
// memory lies in a frame, of which there are many.
type origin struct {
	id    uint32
	base  uint32 // of the frame in local memory, in bytes
	depth uint32 // calls that it is in
	call  uint32 // by which call of the warp it was made
}

// row is the origins of a register, or of a word of local memory.
type row struct {
	lanes   uint64 // that have one; the others are derived from nothing
	origin  origin // of all of lanes …
	perLane bool   // … but they have different ones: each
	each    *[64]origin
}

// originOf is a lane's.
func (r *row) originOf(lane int) origin {
	switch {
	case r.lanes>>lane&1 == 0:
		return origin{}
	case r.perLane:
		return r.each[lane]
	}
	return r.origin
}

// all is what lanes have, if all have the same.
func (r *row) all(lanes uint64) (o origin, same bool) {
	switch m := r.lanes & lanes; {
	case m == 0:
		return origin{}, true
	case m != lanes:
		return origin{}, false
	case !r.perLane:
		return r.origin, true
	}
	o = r.each[bits.TrailingZeros64(lanes)]
	for m := lanes; m != 0; m &= m - 1 {
		if r.each[bits.TrailingZeros64(m)] != o {
			return origin{}, false
		}
	}
	return o, true
}

// set gives lanes an origin.
func (r *row) set(lanes uint64, o origin) {
	remaining := r.lanes &^ lanes
	switch {
	case o.id == notPointer:
		r.lanes = remaining
		return
	case remaining == 0 || !r.perLane && r.origin == o:
		r.lanes, r.origin, r.perLane = remaining|lanes, o, false
		return
	}
	if r.each == nil {
		r.each = new([64]origin)
	}
	if !r.perLane {
		for m := remaining; m != 0; m &= m - 1 {
			r.each[bits.TrailingZeros64(m)] = r.origin
		}
		r.perLane = true
	}
	for m := lanes; m != 0; m &= m - 1 {
		r.each[bits.TrailingZeros64(m)] = o
	}
	r.lanes = remaining | lanes
}

// copy gives lanes what they have in another row.
func (r *row) copy(from *row, lanes uint64) {
	m := from.lanes & lanes
	r.lanes &^= lanes &^ m
	if m == 0 || r == from {
		return
	}
	if !from.perLane {
		r.set(m, from.origin)
		return
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		r.set(1<<lane, from.each[lane])
	}
}

// clone is a copy that shares nothing.
func (r *row) clone() row {
	c := *r
	if r.each != nil {
		each := *r.each
		c.each = &each
	}
	return c
}
