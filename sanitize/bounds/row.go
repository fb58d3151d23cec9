package bounds

// This file stores the origins of a register's lanes. Mostly all lanes have the same origin.

import "math/bits"

// origin identifies the buffer or variable from which a value is derived: an id, and for a variable in local memory its
// frame.
type origin struct {
	id    uint32
	base  uint32 // start of the frame in local memory, in bytes
	depth uint32 // call depth of the frame
	call  uint32 // number of the warp's call that created the frame
}

// row holds the origins of a register, or of a word of local memory.
type row struct {
	lanes   uint64 // lanes with an origin; all other lanes are notPointer
	origin  origin // origin of all lanes, unless perLane is set
	perLane bool   // each has the origins
	each    *[64]origin
}

// originOf returns the origin of a lane.
func (r *row) originOf(lane int) origin {
	switch {
	case r.lanes>>lane&1 == 0:
		return origin{}
	case r.perLane:
		return r.each[lane]
	}
	return r.origin
}

// all returns the origin of lanes, if they have the same.
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

// set sets the origin of lanes.
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

// copy copies the origins of lanes from another row.
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

// clone returns a deep copy.
func (r *row) clone() row {
	c := *r
	if r.each != nil {
		each := *r.each
		c.each = &each
	}
	return c
}
