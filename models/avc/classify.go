// Package avc is the Affine Vector Cache of Collange and Kouyoumdjian, "Affine Vector Cache for
// Memory Bandwidth Savings" (2011): what private memory holds by class of vector (section 3), and
// a cache that keeps vectors which are uniform or affine as a base and a stride, beside a first-level
// cache for the others (section 4).
//
// A Recorder is a probe: it classifies what the warps of launches load and store in private (local)
// memory, and keeps the warps' streams. Replay runs streams, interleaved as on a multiprocessor, through
// caches of some Config. The readings of the paper's text are in docs/avc.md.
//
// What the caches give back is compared with what was stored, in every replay.
package avc

import "math/bits"

// Lanes is how many words a vector has: a warp's.
const Lanes = 32

// Vector is a word of private memory in all lanes.
type Vector [Lanes]uint32

// Code is a vector as the cache keeps it: lane i has Base + i·stride, modulo 2^32.
type Code struct {
	Base  uint32
	Shift uint8 // 0: the stride is 0; n from 1 to Strides: it is 2^(n-1)
}

// Strides is how many strides there are besides 0: three bits tell eight apart (section 4.2).
const Strides = 7

func (c Code) stride() uint32 { return uint32(1) << c.Shift >> 1 }

// Decode gives the vector.
func (c Code) Decode() (d Vector) {
	v := c.Base
	for i := range d {
		d[i] = v
		v += c.stride()
	}
	return d
}

// Encode finds the code of the lanes of m that a vector has; ok is false if there is none. Of one
// lane, or none, the stride is 0. The base is a multiple of the stride (section 2.3).
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

// codeOf is a base and a stride as a code, if it has one for them.
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

// line finds base and stride, any stride, of the lanes of m, the first of which gives the base; ok is
// false if no stride fits. Where several do, because the lanes are a multiple of 2^k apart, it is the least.
func line(d *Vector, m uint32) (base, step uint32, ok bool) {
	first := bits.TrailingZeros32(m)
	others := m & (m - 1)
	if others != 0 {
		// Lanes n·2^k apart differ by n·2^k·step: that gives the step modulo 2^(32-k). The lane with the
		// least k gives most of it; all others are multiples of that 2^k away, where the rest is lost.
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

// inverse is 1/n modulo 2^32 of an odd n, by Newton's method.
func inverse(n uint32) uint32 {
	x := n
	for range 4 {
		x *= 2 - n*x
	}
	return x
}

// EncodeXor is Encode by the unit of section 5.2, to the letter: the stride is the xor of the first two
// lanes 2i and 2i+1 that are both active, or 0 where there are none, and the base the first lane's
// value less its share. Where b/s is odd the xor is not the difference, and it finds nothing.
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

// Holds reports whether the code gives what a vector has in the lanes of m.
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

// The classes of section 2.3, the most structure first: each leaves out those before it.
const (
	Zero    Class = iota // 0 in all lanes
	Uniform              // the same in all
	Affine               // of stride 2^k and a base that is a multiple
	Generic              // all else
	// Classes is how many there are.
	Classes
)

func (c Class) String() string { return [...]string{"zero", "uniform", "affine", "generic"}[c] }

// Classify gives the class of the lanes of m.
func Classify(d *Vector, m uint32) Class {
	if c, ok := Encode(d, m); ok {
		return c.class()
	}
	return Generic
}

// class is that of what has the code.
func (c Code) class() Class {
	switch {
	case c.Shift > 0:
		return Affine
	case c.Base != 0:
		return Uniform
	}
	return Zero
}

// dense reports whether the lanes of m lie side by side.
func dense(m uint32) bool {
	m >>= bits.TrailingZeros32(m)
	return m&(m+1) == 0
}
