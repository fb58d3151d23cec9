// This file takes floats apart as integers, and rounds and assembles them.

package fp

import (
	"math"
	"math/bits"
)

// format is an IEEE 754 binary interchange format of at most 64 bits, or bf16, which has the same fields:
//
//	sign | biased exponent | fraction (frac bits)
type format struct {
	frac uint   // fraction bits
	bias int    // exponent bias, which is also the largest exponent
	inf  uint64 // bits of +Inf, which are one more than the bits of the largest finite number
}

var (
	f16  = format{frac: 10, bias: 15, inf: 0x7c00}
	bf16 = format{frac: 7, bias: 127, inf: 0x7f80}
	f64  = format{frac: 52, bias: 1023, inf: 0x7ff << 52}
)

// sign returns the bits of -0.
func (f format) sign() uint64 { return f.inf + 1<<f.frac }

// pack returns the bits of ±m/2^63 * 2^exp rounded once in mode r. The top bit of m must be set. The last bit of m may be
// sticky: it is set if a smaller fraction was lost.
func (f format) pack(neg bool, exp int, m uint64, r Rounding) uint64 {
	if neg {
		r = r.opposite()
	}
	// u counts the representable magnitudes up to the result. So a carry out of the fraction increases the exponent, and a
	// carry out of the largest finite number gives Inf.
	var u uint64
	shift := 63 - f.frac
	if biased := exp + f.bias; biased > 0 {
		u = uint64(biased-1) << f.frac // one less, because the leading bit of m adds 1
	} else {
		shift += uint(1 - biased)
	}
	if shift > 64 {
		m, shift = 1, 64 // less than half of the least subnormal: any nonzero value rounds the same
	}
	u += m >> shift
	switch lost := m << (64 - shift); r {
	case RN:
		if lost > 1<<63 || lost == 1<<63 && u&1 == 1 {
			u++
		}
	case RP:
		if lost != 0 {
			u++
		}
	}
	if u >= f.inf { // overflow
		u = f.inf
		if r == RZ || r == RM {
			u--
		}
	}
	if neg {
		u |= f.sign()
	}
	return u
}

// unpack64 returns exp and m with |x| = m/2^63 * 2^exp and the top bit of m set, for finite, nonzero x.
func unpack64(x float64) (exp int, m uint64) {
	u := math.Float64bits(x)
	exp = int(u >> 52 & 0x7ff)
	m = u << 11
	if exp != 0 {
		return exp - 1023, m | 1<<63
	}
	n := bits.LeadingZeros64(m)
	return -1022 - n, m << n
}

// nonzero returns 1 if m is not 0, otherwise 0: a sticky bit.
func nonzero(m uint64) uint64 {
	if m != 0 {
		return 1
	}
	return 0
}
