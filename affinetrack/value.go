package affinetrack

import (
	"fmt"
	"math/bits"
)

// Value is a uniform (Stride 0) or affine description: lane i holds Base + i·Stride modulo 2^w, where w is the width
// with which it is used. A stored Value must be truncated to that width.
type Value struct{ Base, Stride uint64 }

// String returns "uniform(b)" or "affine(b, s)", in hexadecimal.
func (v Value) String() string {
	if v.Uniform() {
		return fmt.Sprintf("uniform(%#x)", v.Base)
	}
	return fmt.Sprintf("affine(%#x, %#x)", v.Base, v.Stride)
}

// Uniform reports whether every lane holds the same value.
func (v Value) Uniform() bool { return v.Stride == 0 }

// At returns the value of lane i, which is not truncated.
func (v Value) At(i int) uint64 { return v.Base + uint64(i)*v.Stride }

// Truncate truncates base and stride to a width in bits.
func (v Value) Truncate(width int) Value {
	m := lowMask(width)
	return Value{v.Base & m, v.Stride & m}
}

// lowMask returns the mask of the low n bits; all bits for n ≥ 64, where Go's shift gives 0.
func lowMask(n int) uint64 { return 1<<n - 1 }

// signExtend returns the low n bits as two's complement.
func signExtend(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

// progression is a Value as numbers of a type: the numbers of the first and last lane, and the step between lanes,
// without a wrap in between. less orders the numbers by the type.
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

// toProgression returns lanes first to last of v as numbers of width bits. It fails if the progression leaves the
// type's range, because the lanes are then no progression of numbers.
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
	// The distances by which the number may decrease and increase within its type.
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

// fitToSlot converts a result of a type narrower than its slot. Narrow values are zero-extended in their slots, so it
// fails if the progression wraps as an unsigned number of the type.
func fitToSlot(v Value, width, slot, first, last int) (Value, bool) {
	if width >= slot {
		return v, true
	}
	p, ok := toProgression(v, width, false, first, last)
	return Value{p.first - uint64(first)*uint64(p.step), uint64(p.step)}, ok
}

// ThreadIndex returns dimension d of the thread index (manual 10.1) in a block of this extent, if it is uniform or
// affine in the lanes from first to first+span. i is the linear index of the thread in lane first.
func ThreadIndex(extent [3]int, d, i, first, span int) (Value, bool) {
	// The linear index is a number with the digits x, y and z. A digit is the same in all lanes if nothing carries into
	// it. It counts up with the lanes if all lower digits can only be 0 and it does not carry itself.
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

// Describe returns the description of the values of some lanes with the most structure; if several strides are possible, it
// has the stride nearest to zero. ok is false if the values are generic. The ideal policy classifies with it. mask selects
// the lanes and must not be 0; at(i) is the value of lane i, of width bits.
func Describe(mask uint32, width int, at func(i int) uint64) (v Value, ok bool) {
	first := bits.TrailingZeros32(mask)
	remaining := mask & (mask - 1)
	if remaining == 0 {
		return Value{Base: at(first)}, true
	}
	// Two lanes n·2^k apart, with n odd, determine the stride modulo 2^(width−k), because odd numbers have inverses.
	// The bits that the pair with the smallest k does not determine make no difference to the remaining lanes: 2^k
	// divides their distances, too.
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
	v = Value{Base: (at(first) - uint64(first)*stride) & m, Stride: stride & m}
	for r := remaining; r != 0; r &= r - 1 {
		i := bits.TrailingZeros32(r)
		if v.At(i)&m != at(i)&m {
			return Value{}, false
		}
	}
	return v, true
}

// inverse returns the inverse of an odd number modulo 2^64. Each step of Newton's method doubles the number of correct
// bits, which starts with three.
func inverse(n uint64) uint64 {
	x := n
	for range 5 {
		x *= 2 - n*x
	}
	return x
}
