package affinetrack

import "math/bits"

// Fit finds out whether values at numbered places are base + i·stride, one after the other, in
// whatever order they come: Describe for places without end. The zero value has seen none.
type Fit struct {
	first, base   uint64 // a place, and its value
	stride        uint64 // modulo 2^(width−loose), if two places have been seen
	firstLaneOnly uint8
	seen          uint8 // places: 0, 1, or 2 for more
	generic       bool
}

// Add adds the value of width bits at place i, which must be another than those before.
func (f *Fit) Add(i, v uint64, width int) {
	v &= lowMask(width)
	if f.seen == 0 {
		f.first, f.base, f.seen = i, v, 1
		return
	}
	if f.generic {
		return
	}
	// Places that are n·2^k apart, n odd, determine the stride modulo 2^(width−k), as in
	// Describe.
	dist, delta := i-f.first, v-f.base
	k := min(bits.TrailingZeros64(dist), width)
	stride := delta >> k * inverse(dist>>k) & lowMask(width-k)
	known := uint64(0) // bits of the stride that both determine
	if f.seen == 2 {
		known = lowMask(width - max(k, int(f.firstLaneOnly)))
	}
	if delta&lowMask(k) != 0 || (stride^f.stride)&known != 0 {
		f.generic = true
		return
	}
	if f.seen == 1 || k < int(f.firstLaneOnly) {
		f.stride, f.firstLaneOnly = stride, uint8(k)
	}
	f.seen = 2
}

// Class is that of the values seen so far; Unknown if there are none. Where the places leave the
// stride open it is the one nearest to zero.
func (f *Fit) Class() Class {
	switch {
	case f.seen == 0:
		return Unknown
	case f.generic:
		return Generic
	case f.seen == 1 || f.stride == 0:
		return Uniform
	}
	return Affine
}
