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
	lanes uint64 // that have one; the others are derived from nothing
	of    origin // of all of lanes …
	apart bool   // … but they have different ones: each
	each  *[64]origin
}

// at is a lane's.
func (r *row) at(lane int) origin {
	switch {
	case r.lanes>>lane&1 == 0:
		return origin{}
	case r.apart:
		return r.each[lane]
	}
	return r.of
}

// all is what lanes have, if all have the same.
func (r *row) all(lanes uint64) (o origin, same bool) {
	switch m := r.lanes & lanes; {
	case m == 0:
		return origin{}, true
	case m != lanes:
		return origin{}, false
	case !r.apart:
		return r.of, true
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
	rest := r.lanes &^ lanes
	switch {
	case o.id == nothing:
		r.lanes = rest
		return
	case rest == 0 || !r.apart && r.of == o:
		r.lanes, r.of, r.apart = rest|lanes, o, false
		return
	}
	if r.each == nil {
		r.each = new([64]origin)
	}
	if !r.apart {
		for m := rest; m != 0; m &= m - 1 {
			r.each[bits.TrailingZeros64(m)] = r.of
		}
		r.apart = true
	}
	for m := lanes; m != 0; m &= m - 1 {
		r.each[bits.TrailingZeros64(m)] = o
	}
	r.lanes = rest | lanes
}

// copy gives lanes what they have in another row.
func (r *row) copy(from *row, lanes uint64) {
	m := from.lanes & lanes
	r.lanes &^= lanes &^ m
	if m == 0 || r == from {
		return
	}
	if !from.apart {
		r.set(m, from.of)
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
