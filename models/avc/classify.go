package avc

import "math/bits"

// Lanes is the number of words of a vector: the lanes of a warp.
const Lanes = 32

// Vector is a word of private memory in all lanes.
type Vector [Lanes]uint32

// Code is a compressed vector: lane i has Base + i·stride, modulo 2^32.
type Code struct {
	Base  uint32 // value of lane 0, also if lane 0 is not valid
	Shift uint8  // 0: the stride is 0; n from 1 to Strides: the stride is 2^(n-1)
}

// Strides is the number of nonzero strides: three bits encode eight strides (section 4.2).
const Strides = 7

func (c Code) stride() uint32 { return uint32(1) << c.Shift >> 1 }

// Decode returns the vector.
func (c Code) Decode() (d Vector) {
	v := c.Base
	for i := range d {
		d[i] = v
		v += c.stride()
	}
	return d
}

// Encode returns the code of a vector's lanes in m; ok is false if it has none. The stride is 0 if m has fewer than
// two lanes. The base must be a multiple of the stride (section 2.3).
func Encode(d *Vector, m uint32) (c Code, ok bool) {
	if m == 0 {
		return c, true
	}
	base, step, ok := line(d, m)
	if !ok {
		return c, false
	}
	return codeOf(base, step)
}

// codeOf returns the code of a base and a stride; ok is false if they have none.
func codeOf(base, step uint32) (c Code, ok bool) {
	if step == 0 {
		return Code{Base: base}, true
	}
	n := bits.TrailingZeros32(step)
	if step != 1<<n || n >= Strides || base&(step-1) != 0 {
		return c, false
	}
	return Code{base, uint8(n + 1)}, true
}

// line returns base and stride, any stride, of the lanes in m; the base is the value that lane 0 would have. ok is
// false if no stride fits. If several fit, because the lanes are multiples of 2^k apart, it returns the least stride.
func line(d *Vector, m uint32) (base, step uint32, ok bool) {
	first := bits.TrailingZeros32(m)
	others := m & (m - 1)
	if others != 0 {
		// Lanes n·2^k apart differ by n·2^k·step. The difference gives the step modulo 2^(32-k), so the lane with the
		// least k gives most bits. All remaining lanes are multiples of this 2^k away, where the missing bits have no
		// effect.
		distance, k := 0, Lanes
		for remaining := others; remaining != 0; remaining &= remaining - 1 {
			i := bits.TrailingZeros32(remaining)
			if n := bits.TrailingZeros(uint(i - first)); n < k {
				if distance, k = i, n; k == 0 {
					break
				}
			}
		}
		diff := d[distance] - d[first]
		if diff&(1<<k-1) != 0 {
			return 0, 0, false
		}
		step = (diff >> k) * inverse(uint32(distance-first)>>k) & (1<<(32-k) - 1)
	}
	base = d[first] - uint32(first)*step
	for ; others != 0; others &= others - 1 {
		i := bits.TrailingZeros32(others)
		if d[i] != base+uint32(i)*step {
			return 0, 0, false
		}
	}
	return base, step, true
}

// inverse returns 1/n modulo 2^32 for an odd n, by Newton's method.
func inverse(n uint32) uint32 {
	x := n
	for range 4 {
		x *= 2 - n*x
	}
	return x
}

// EncodeXor is Encode as the unit of section 5.2 does it, to the letter. The stride is the xor of the first two
// active lanes 2i and 2i+1, or 0 without such a pair; the base is the first lane's value minus its share. If
// base/stride is odd, the xor is not the difference, and the unit finds no code.
func EncodeXor(d *Vector, m uint32) (c Code, ok bool) {
	if m == 0 {
		return c, true
	}
	if pairs := m & (m >> 1) & 0x55555555; pairs != 0 {
		i := bits.TrailingZeros32(pairs)
		step := d[i] ^ d[i+1]
		n := bits.TrailingZeros32(step)
		if step != 0 {
			if step != 1<<n || n >= Strides {
				return c, false
			}
			c.Shift = uint8(n + 1)
		}
	}
	first := bits.TrailingZeros32(m)
	c.Base = d[first] - uint32(first)*c.stride()
	return c, c.Holds(d, m)
}

// Holds reports whether the code gives the values of a vector in the lanes of m.
func (c Code) Holds(d *Vector, m uint32) bool {
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if d[i] != c.Base+uint32(i)*c.stride() {
			return false
		}
	}
	return true
}

// Class is a class of vectors.
type Class uint8

// The classes of section 2.3, the most structured first. Each excludes the classes before it.
const (
	Zero    Class = iota // 0 in all lanes
	Uniform              // the same in all lanes
	Affine               // stride 2^k, and a base that is a multiple of it
	Generic              // everything else
	// Classes is the number of classes.
	Classes
)

func (c Class) String() string { return [...]string{"zero", "uniform", "affine", "generic"}[c] }

// Classify returns the class of the lanes in m.
func Classify(d *Vector, m uint32) Class {
	if c, ok := Encode(d, m); ok {
		return c.class()
	}
	return Generic
}

// class returns the class of a vector with the code.
func (c Code) class() Class {
	switch {
	case c.Shift > 0:
		return Affine
	case c.Base != 0:
		return Uniform
	}
	return Zero
}

// dense reports whether the lanes in m are consecutive.
func dense(m uint32) bool {
	m >>= bits.TrailingZeros32(m)
	return m&(m+1) == 0
}
