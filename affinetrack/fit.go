package affinetrack

import "math/bits"

// Fit determines whether values at numbered places are base + i·stride. The places may come in any order, and their
// number is not limited; Describe does the same for the lanes of a warp. The zero value has no places.
type Fit struct {
	first, base uint64 // number of the first place, and its value
	stride      uint64 // modulo 2^(width−openBits), if there are two places or more
	openBits    uint8
	seen        uint8 // number of places: 0, 1, or 2 for more
	generic     bool
}

// Add adds the value of width bits at place i, which must differ from all earlier places.
func (f *Fit) Add(i, v uint64, width int) {
	v &= lowMask(width)
	if f.seen == 0 {
		f.first, f.base, f.seen = i, v, 1
		return
	}
	if f.generic {
		return
	}
	// Two places n·2^k apart, with n odd, determine the stride modulo 2^(width−k), as in Describe.
	dist, delta := i-f.first, v-f.base
	k := min(bits.TrailingZeros64(dist), width)
	stride := delta >> k * inverse(dist>>k) & lowMask(width-k)
	known := uint64(0) // bits of the stride that are determined before and now
	if f.seen == 2 {
		known = lowMask(width - max(k, int(f.openBits)))
	}
	if delta&lowMask(k) != 0 || (stride^f.stride)&known != 0 {
		f.generic = true
		return
	}
	if f.seen == 1 || k < int(f.openBits) {
		f.stride, f.openBits = stride, uint8(k)
	}
	f.seen = 2
}

// Class returns the class of the values so far; Unknown if there are none. If the places do not determine the stride,
// the stride nearest to zero counts.
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
