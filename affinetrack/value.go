package affinetrack

import (
	"fmt"
	"math/bits"
)

// Value is a uniform (Stride 0) or affine description: lane i holds Base +
// i·Stride modulo two to the width it is used with. Whoever keeps one keeps it Reduced to
// that width.
type Value struct{ Base, Stride uint64 }

// String writes "uniform(b)" or "affine(b, s)", in hexadecimal.
func (v Value) String() string {
	if v.Uniform() {
		return fmt.Sprintf("uniform(%#x)", v.Base)
	}
	return fmt.Sprintf("affine(%#x, %#x)", v.Base, v.Stride)
}

// Uniform reports whether every lane holds the same.
func (v Value) Uniform() bool { return v.Stride == 0 }

// At is the value of lane i, not reduced.
func (v Value) At(i int) uint64 { return v.Base + uint64(i)*v.Stride }

// Truncate cuts base and stride to a width in bits.
func (v Value) Truncate(width int) Value {
	m := lowMask(width)
	return Value{v.Base & m, v.Stride & m}
}

// lowMask is the mask of the low n bits: all of them from 64 on, where Go's shift gives 0.
func lowMask(n int) uint64 { return 1<<n - 1 }

// signExtend reads the low n bits as two's complement.
func signExtend(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

// progression is a Value seen as numbers of a type: first and last lane, and the
// step between lanes, all without a wrap in between. Numbers are kept as uint64;
// less orders them by the type.
type progression struct {
	first, last uint64
	step        int64
	signed      bool
}

func (p progression) less(a, b uint64) bool {
	if p.signed {
		return int64(a) < int64(b)
	}
	return a < b
}

// toProgression reads lanes first to last of v as numbers of width bits. It fails where
// the progression leaves the type's range on the way, for then its lanes are no
// progression of numbers.
func toProgression(v Value, width int, signed bool, first, last int) (progression, bool) {
	step := signExtend(v.Stride, width)
	x := v.At(first) & lowMask(width)
	if signed {
		x = uint64(signExtend(x, width))
	}
	mag := uint64(step)
	if step < 0 {
		mag = -mag
	}
	overflow, dist := bits.Mul64(mag, uint64(last-first))
	p := progression{first: x, last: x + uint64(last-first)*uint64(step), step: step, signed: signed}
	if overflow != 0 {
		return p, false
	}
	// How far the number may move down and up within its type.
	var roomBelow, roomAbove uint64
	if signed {
		low := int64(-1) << (width - 1)
		roomBelow, roomAbove = x-uint64(low), uint64(^low)-x
	} else {
		roomBelow, roomAbove = x, lowMask(width)-x
	}
	if step < 0 {
		return p, dist <= roomBelow
	}
	return p, dist <= roomAbove
}

// fitToSlot turns a result of a type narrower than its slot into the slot's terms: the
// progression must not wrap as an unsigned number of the type, for narrow values
// sit zero-extended in their slots.
func fitToSlot(v Value, width, slot, first, last int) (Value, bool) {
	if width >= slot {
		return v, true
	}
	p, ok := toProgression(v, width, false, first, last)
	return Value{p.first - uint64(first)*uint64(p.step), uint64(p.step)}, ok
}

// ThreadIndex is dimension d of the thread index (manual 10.1) of lanes of a block of this
// extent, those from the first on, span more, if it is uniform or affine there; i is the
// first's linear index.
func ThreadIndex(extent [3]int, d, i, first, span int) (Value, bool) {
	// The linear index is a number with the digits x, y and z; a digit is the same in all
	// lanes if nothing carries into it, and counts up with them if the digits below have only
	// the value 0 and it does not carry itself.
	weight, n := 1, extent[d]
	for _, below := range extent[:d] {
		weight *= below
	}
	digit := i / weight % n
	switch {
	case i/weight == (i+span)/weight || n == 1:
		return Value{Base: uint64(digit)}, true
	case weight == 1 && digit+span < n:
		return Value{Base: uint64(digit - first), Stride: 1}, true
	}
	return Value{}, false
}

// Describe finds the description of lanes: the least one that allows them, with
// the stride nearest to zero if there are several. It is how the ideal policy
// classifies. mask selects the lanes, at least one; at(i) is the value of lane i,
// of width bits.
func Describe(mask uint32, width int, at func(i int) uint64) (Value, bool) {
	first := bits.TrailingZeros32(mask)
	remaining := mask & (mask - 1)
	if remaining == 0 {
		return Value{Base: at(first)}, true
	}
	// Lanes that are n·2^k apart, n odd, determine the stride modulo 2^(width−k),
	// for odd numbers have inverses. What the pair of the smallest k leaves open
	// makes no difference to the others: 2^k divides their distances, too.
	second := bits.TrailingZeros32(remaining)
	k := bits.TrailingZeros(uint(second - first))
	for r := remaining; k > 0 && r != 0; r &= r - 1 {
		i := bits.TrailingZeros32(r)
		if z := bits.TrailingZeros(uint(i - first)); z < k {
			second, k = i, z
		}
	}
	delta := at(second) - at(first)
	if delta&lowMask(k) != 0 {
		return Value{}, false
	}
	m := lowMask(width)
	stride := uint64(signExtend(delta>>k*inverse(uint64(second-first)>>k), width-k))
	v := Value{Base: (at(first) - uint64(first)*stride) & m, Stride: stride & m}
	for r := remaining; r != 0; r &= r - 1 {
		i := bits.TrailingZeros32(r)
		if v.At(i)&m != at(i)&m {
			return Value{}, false
		}
	}
	return v, true
}

// inverse is the inverse of an odd number modulo 2^64. Each step of Newton's
// method doubles the number of bits that are right; at first they are three.
func inverse(n uint64) uint64 {
	x := n
	for range 5 {
		x *= 2 - n*x
	}
	return x
}
