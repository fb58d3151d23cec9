// This file holds f64 arithmetic: add, mul, fma, div and sqrt in all rounding modes.
//
// A directed mode computes s, the result to nearest, and the sign of the error, exact - s. If the mode requires it, the
// result is the neighbour of s.

package fp

import (
	"math"
	"math/bits"
)

const (
	// tiny64 bounds the magnitudes of operands for which the residual of a product, quotient or root could be below the
	// least subnormal, 2^-1074, so that its sign is lost. Residuals are above 2^-107 of the operand.
	tiny64 = 0x1p-960
	// subnormalShift64 is an even power of two that moves such operands into the normal range; subnormalShiftRoot64 is its
	// root.
	subnormalShift64     = 0x1p200
	subnormalShiftRoot64 = 0x1p100
)

// Add64 returns a + b rounded once in mode r (add.f64, IEEE 754 addition).
// An exact zero sum of operands of unlike sign is +0, but -0 in mode RM.
func Add64(a, b float64, r Rounding) (s float64) {
	if s = a + b; r != RN || s != s {
		return add64(a, b, r)
	}
	return s
}

func add64(a, b float64, r Rounding) float64 {
	s := a + b
	switch {
	case s == 0: // exact: sums do not underflow
		if r == RM && (math.Signbit(a) || math.Signbit(b)) {
			return math.Copysign(0, -1)
		}
		return s
	case !finite64(a) || !finite64(b):
		return Result64(s, b, a)
	case !finite64(s):
		return adjust64(s, -s, r)
	}
	return adjust64(s, sumError(a, b, s), r)
}

// Mul64 returns a * b rounded once in mode r (mul.f64, IEEE 754 multiplication).
func Mul64(a, b float64, r Rounding) (p float64) {
	if p = float64(a * b); r != RN || p != p {
		return mul64(a, b, r)
	}
	return p
}

func mul64(a, b float64, r Rounding) float64 {
	p := float64(a * b)
	switch {
	case !finite64(a) || !finite64(b) || a == 0 || b == 0:
		return Result64(p, b, a)
	case !finite64(p):
		return adjust64(p, -p, r)
	case math.Abs(p) < tiny64:
		return fmaBits64(a, b, 0, r)
	}
	return adjust64(p, math.FMA(a, b, -p), r)
}

// Div64 returns a / b rounded once in mode r (div.rnd.f64, IEEE 754 division).
func Div64(a, b float64, r Rounding) (q float64) {
	if q = a / b; r != RN || q != q {
		return div64(a, b, r)
	}
	return q
}

func div64(a, b float64, r Rounding) float64 {
	q := a / b
	switch {
	case !finite64(a), !finite64(b), a == 0, b == 0:
		return Result64(q, a, b)
	case !finite64(q):
		return adjust64(q, -q, r)
	}
	if math.Abs(a) < tiny64 {
		if math.Abs(b) > 1/tiny64/subnormalShift64 {
			// The quotient is below 2^-1700, so q is a zero, and the error is the whole quotient.
			return adjust64(q, math.Copysign(1, q), r)
		}
		a *= subnormalShift64
		b *= subnormalShift64
	}
	rem := math.FMA(-q, b, a) // the sign is right, even if the value is not exact
	if b < 0 {
		rem = -rem
	}
	return adjust64(q, rem, r)
}

// Sqrt64 returns the square root of a rounded once in mode r (sqrt.rnd.f64, IEEE 754 squareRoot). The
// root of -0 is -0, of any other negative number NaN.
func Sqrt64(a float64, r Rounding) float64 {
	s := math.Sqrt(a)
	if r == RN || !(a > 0) || !finite64(a) {
		return Result64(s, a, a)
	}
	t := s
	if a < tiny64 {
		a *= subnormalShift64
		t *= subnormalShiftRoot64
	}
	return adjust64(s, math.FMA(-t, t, a), r)
}

// Fma64 returns a*b + c rounded once in mode r (fma.f64, IEEE 754 fusedMultiplyAdd). The sign of an exact zero follows the
// rule of [Add64]. Directed modes are computed in integers.
func Fma64(a, b, c float64, r Rounding) float64 {
	switch {
	case r == RN, !finite64(a), !finite64(b), !finite64(c):
		return FmaRN64(a, b, c)
	case a == 0 || b == 0:
		return add64(float64(a*b), c, r)
	}
	return fmaBits64(a, b, c, r)
}

// FmaRN64 is [Fma64] in mode RN: the host's fused multiply-add, with the NaN of [Result64].
func FmaRN64(a, b, c float64) float64 {
	y := c
	if c == c {
		y = a
	}
	return Result64(math.FMA(a, b, c), b, y)
}

// adjust64 returns the exact result rounded in mode r. s is the exact result rounded to nearest, and e has the sign of
// exact - s. If s is ±Inf and e has the opposite sign, the operation has overflowed, and the neighbour of s is the largest
// finite number. If s is ±0 and e has the sign of s, it has underflowed.
func adjust64(s, e float64, r Rounding) float64 {
	u := math.Float64bits(s)
	negative := u>>63 == 1
	var away bool // which neighbour: away from zero, or toward it
	switch {
	case r == RZ && e != 0 && e < 0 != negative:
	case r == RM && e < 0, r == RP && e > 0:
		away = e < 0 == negative
	default:
		return s
	}
	if away {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// fmaBits64 returns a*b + c rounded once in mode r. a, b and c must be finite, and a and b not zero.
//
// Product and addend are 128-bit significands with the top bit set, hi:lo / 2^127 * 2^exp. The smaller is shifted to the
// exponent of the larger; if bits are lost, the last bit is set (sticky). The product has at least 22 zero bits at its end,
// and the addend 75. So bits are lost only if the exponents differ by more than 22. Then a difference loses at most one
// leading bit, and the sticky bit stays below the bits that decide the rounding.
func fmaBits64(a, b, c float64, r Rounding) float64 {
	ea, ma := unpack64(a)
	eb, mb := unpack64(b)
	exp := ea + eb + 1
	hi, lo := bits.Mul64(ma, mb)
	if hi>>63 == 0 {
		hi, lo = hi<<1|lo>>63, lo<<1
		exp--
	}
	neg := math.Signbit(a) != math.Signbit(b)

	if c != 0 {
		ec, chi := unpack64(c)
		clo, cneg := uint64(0), math.Signbit(c)
		if ec > exp || ec == exp && chi > hi { // clo is 0, so the upper words decide
			exp, ec = ec, exp
			hi, chi = chi, hi
			lo, clo = clo, lo
			neg, cneg = cneg, neg
		}
		chi, clo = shrSticky128(chi, clo, uint(exp-ec))
		var carry uint64
		if neg == cneg {
			lo, carry = bits.Add64(lo, clo, 0)
			hi, carry = bits.Add64(hi, chi, carry)
			if carry != 0 {
				hi, lo = shrSticky128(hi, lo, 1)
				hi |= 1 << 63
				exp++
			}
		} else {
			lo, carry = bits.Sub64(lo, clo, 0)
			hi, _ = bits.Sub64(hi, chi, carry)
			if hi|lo == 0 {
				if r == RM {
					return math.Copysign(0, -1)
				}
				return 0
			}
			if hi == 0 {
				hi, lo = lo, 0
				exp -= 64
			}
			n := uint(bits.LeadingZeros64(hi))
			hi, lo = hi<<n|lo>>(64-n), lo<<n
			exp -= int(n)
		}
	}
	if lo != 0 {
		hi |= 1
	}
	return math.Float64frombits(f64.pack(neg, exp, hi, r))
}

// shrSticky128 shifts hi:lo right by n bits. If it loses a bit that is 1, it sets the last bit of the result.
func shrSticky128(hi, lo uint64, n uint) (uint64, uint64) {
	if n >= 64 {
		lo, hi = hi|nonzero(lo), 0
		n -= 64
		if n >= 64 {
			return 0, nonzero(lo)
		}
	}
	if n == 0 {
		return hi, lo
	}
	return hi >> n, hi<<(64-n) | lo>>n | nonzero(lo<<(64-n))
}

func finite64(x float64) bool {
	return x-x == 0
}
