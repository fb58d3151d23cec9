package oracle

// This file has binary floating point (IEEE 754) from first principles: numbers are exact, results are rounded once. Of
// PTX it knows only the NaNs.

import (
	"fmt"
	"math/big"

	"gemu/ptx"
)

// format is a binary interchange format:
//
//	| sign | exponent: exp bits, biased | fraction: frac bits |
type format struct {
	exp, frac int
	nan       uint64 // NaN result of an operation; for doubles only if no operand is a NaN
}

var (
	half   = format{5, 10, 0x7fff}
	bfloat = format{8, 7, 0x7fff}
	single = format{8, 23, 0x7fffffff}
	double = format{11, 52, 0xfff8000000000000}
	upper  = format{11, 20, 0x7fffffff} // the upper half of a double (rcp.approx.ftz.f64)
)

// formatOf returns the format of a scalar floating-point type.
func formatOf(t ptx.Type) format {
	switch t {
	case ptx.F16:
		return half
	case ptx.BF16:
		return bfloat
	case ptx.F32:
		return single
	case ptx.F64:
		return double
	}
	panic(fmt.Sprintf("BUG: %s is no floating-point type", t))
}

func (f format) sign() uint64 { return 1 << (f.exp + f.frac) }
func (f format) inf() uint64  { return (1<<f.exp - 1) << f.frac }
func (f format) one() uint64  { return uint64(f.bias()) << f.frac }
func (f format) bias() int    { return 1<<(f.exp-1) - 1 }

// signed sets the sign bit if neg.
func (f format) signed(neg bool, bits uint64) uint64 {
	if neg {
		return bits | f.sign()
	}
	return bits
}

func (f format) isNaN(bits uint64) bool { return bits&^f.sign() > f.inf() }

// quiet makes a NaN quiet.
func (f format) quiet(bits uint64) uint64 { return bits | 1<<(f.frac-1) }

// firstNaN returns the first NaN of the list, made quiet; the format's own NaN if there is none.
func (f format) firstNaN(list ...uint64) uint64 {
	for _, bits := range list {
		if f.isNaN(bits) {
			return f.quiet(bits)
		}
	}
	return f.nan
}

// convertNaN converts a NaN to another format: its sign and the upper bits of its fraction, made quiet.
func (f format) convertNaN(bits uint64, to format) uint64 {
	fraction := bits & (1<<f.frac - 1)
	if to.frac >= f.frac {
		fraction <<= to.frac - f.frac
	} else {
		fraction >>= f.frac - to.frac
	}
	return to.quiet(to.signed(bits&f.sign() != 0, to.inf()|fraction))
}

// isSubnormal reports whether bits are a subnormal number; zero is not.
func (f format) isSubnormal(bits uint64) bool {
	mag := bits &^ f.sign()
	return mag != 0 && mag>>f.frac == 0
}

// flush replaces a subnormal by zero of the same sign.
func (f format) flush(bits uint64) uint64 {
	if f.isSubnormal(bits) {
		return bits & f.sign()
	}
	return bits
}

// saturate clamps to [+0, 1]; NaN becomes +0.
func (f format) saturate(bits uint64) uint64 {
	switch {
	case f.isNaN(bits) || bits&f.sign() != 0:
		return 0
	case bits > f.one():
		return f.one()
	}
	return bits
}

// class is the kind of a number.
type class uint8

const (
	zero class = iota
	finite
	infinite
	notANumber
)

// number is an exact real number, an infinity or NaN. A finite number is
//
//	± mant · 2^exp
//
// and its mant is not zero. sticky means that its magnitude is larger by less than 2^exp: quotients and square roots
// are cut far below the position at which they will be rounded.
type number struct {
	class  class
	neg    bool
	mant   *big.Int
	exp    int
	sticky bool
}

var nan = number{class: notANumber}

// decode converts bits of the format to a number.
func (f format) decode(bits uint64) number {
	n := number{neg: bits&f.sign() != 0}
	mag := bits &^ f.sign()
	e := int(mag >> f.frac)
	m := mag & (1<<f.frac - 1)
	switch {
	case f.isNaN(bits):
		n.class = notANumber // with a sign, which .xorsign uses
		return n
	case mag == f.inf():
		n.class = infinite
		return n
	case mag == 0:
		return n
	case e == 0:
		e = 1
	default:
		m |= 1 << f.frac
	}
	n.class = finite
	n.mant = new(big.Int).SetUint64(m)
	n.exp = e - f.bias() - f.frac
	return n
}

// fromInt converts an integer to a number; its zero is +0.
func fromInt(i *big.Int) number {
	if i.Sign() == 0 {
		return number{}
	}
	return number{class: finite, neg: i.Sign() < 0, mant: new(big.Int).Abs(i)}
}

// quantise divides the magnitude of a finite number by 2^q and rounds to an integer: rn to nearest, ties to even; rna
// to nearest, ties away from zero; rz towards zero; rm towards minus and rp towards plus infinity.
func (n number) quantise(q int, rnd string) *big.Int {
	shift := q - n.exp
	if shift <= 0 {
		if n.sticky {
			panic("BUG: an inexact number was not carried far enough")
		}
		return new(big.Int).Lsh(n.mant, uint(-shift))
	}
	quo := new(big.Int).Rsh(n.mant, uint(shift))
	rem := new(big.Int).Sub(n.mant, new(big.Int).Lsh(quo, uint(shift)))
	exact := rem.Sign() == 0 && !n.sticky
	up := false
	switch rnd {
	case "rn":
		toHalf := rem.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(shift-1)))
		up = toHalf > 0 || toHalf == 0 && (n.sticky || quo.Bit(0) == 1)
	case "rna":
		up = rem.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(shift-1))) >= 0
	case "rz":
	case "rm":
		up = n.neg && !exact
	case "rp":
		up = !n.neg && !exact
	default:
		panic("BUG: rounding mode " + rnd)
	}
	if up {
		quo.Add(quo, big.NewInt(1))
	}
	return quo
}

// round converts the number to bits of the format.
func (f format) round(n number, rnd string) uint64 {
	switch n.class {
	case notANumber:
		return f.nan
	case infinite:
		return f.signed(n.neg, f.inf())
	case zero:
		return f.signed(n.neg, 0)
	}
	// The quantum is a unit in the last place at the number's magnitude, and at least the quantum of the subnormals.
	emin := 1 - f.bias()
	e := max(n.mant.BitLen()-1+n.exp, emin)
	m := n.quantise(e-f.frac, rnd)
	// The leading bit of m is added to the exponent field. So subnormals (no such bit) and a carry out of m (twice that
	// bit) need no special case.
	mag := new(big.Int).SetInt64(int64(e - emin))
	mag.Lsh(mag, uint(f.frac)).Add(mag, m)
	if mag.Cmp(new(big.Int).SetUint64(f.inf())) < 0 {
		return f.signed(n.neg, mag.Uint64())
	}
	if rnd == "rz" || rnd == "rm" && !n.neg || rnd == "rp" && n.neg {
		return f.signed(n.neg, f.inf()-1) // the largest finite number
	}
	return f.signed(n.neg, f.inf())
}

// isTiny reports whether a finite number, rounded to the format's precision as though the exponent had no lower bound,
// is below the least normal number: IEEE 754, 7.5, tininess after rounding. .ftz flushes such results, by the code of
// ptxas for div.ftz, rcp.ftz and cvt.ftz.f32.f64.
func (f format) isTiny(n number, rnd string) bool {
	if n.class != finite {
		return false
	}
	e := n.mant.BitLen() - 1 + n.exp
	m := n.quantise(e-f.frac, rnd)
	return e+m.BitLen()-1-f.frac < 1-f.bias()
}

// integral rounds to an integer; a zero keeps its sign.
func (n number) integral(rnd string) number {
	if n.class != finite {
		return n
	}
	m := n.quantise(0, rnd)
	if m.Sign() == 0 {
		return number{neg: n.neg}
	}
	return number{class: finite, neg: n.neg, mant: m}
}

// integer returns the value of a finite number that is an integer.
func (n number) integer() *big.Int {
	if n.class == zero {
		return new(big.Int)
	}
	i := n.quantise(0, "rz")
	if n.neg {
		i.Neg(i)
	}
	return i
}

// sum is a + b. A sum of opposite numbers is +0, but -0 when rounding down.
func sum(a, b number, rnd string) number {
	switch {
	case a.class == notANumber || b.class == notANumber:
		return nan
	case a.class == infinite && b.class == infinite && a.neg != b.neg:
		return nan
	case a.class == infinite:
		return a
	case b.class == infinite:
		return b
	case a.class == zero && b.class == zero:
		if a.neg == b.neg {
			return a
		}
		return number{neg: rnd == "rm"}
	case a.class == zero:
		return b
	case b.class == zero:
		return a
	}
	e := min(a.exp, b.exp)
	s := new(big.Int).Add(a.scaled(e), b.scaled(e))
	if s.Sign() == 0 {
		return number{neg: rnd == "rm"}
	}
	n := fromInt(s)
	n.exp = e
	return n
}

// scaled returns the finite number divided by 2^e; e must be at most its exponent.
func (n number) scaled(e int) *big.Int {
	m := new(big.Int).Lsh(n.mant, uint(n.exp-e))
	if n.neg {
		m.Neg(m)
	}
	return m
}

func (n number) negate() number {
	n.neg = !n.neg
	return n
}

// product is a · b.
func product(a, b number) number {
	neg := a.neg != b.neg
	switch {
	case a.class == notANumber || b.class == notANumber:
		return nan
	case a.class == infinite && b.class == zero || a.class == zero && b.class == infinite:
		return nan
	case a.class == infinite || b.class == infinite:
		return number{class: infinite, neg: neg}
	case a.class == zero || b.class == zero:
		return number{neg: neg}
	}
	return number{class: finite, neg: neg, mant: new(big.Int).Mul(a.mant, b.mant), exp: a.exp + b.exp}
}

// quotientBits is the precision of quotients and square roots in bits: beyond the last place of every format and its
// rounding bit.
const quotientBits = 128

// quotient is a / b.
func quotient(a, b number) number {
	neg := a.neg != b.neg
	switch {
	case a.class == notANumber || b.class == notANumber:
		return nan
	case a.class == b.class && a.class != finite: // 0/0, inf/inf
		return nan
	case a.class == infinite || b.class == zero:
		return number{class: infinite, neg: neg}
	case a.class == zero || b.class == infinite:
		return number{neg: neg}
	}
	shift := quotientBits + b.mant.BitLen()
	q, r := new(big.Int).QuoRem(new(big.Int).Lsh(a.mant, uint(shift)), b.mant, new(big.Int))
	return number{class: finite, neg: neg, mant: q, exp: a.exp - shift - b.exp, sticky: r.Sign() != 0}
}

// root is the square root; the root of -0 is -0.
func root(a number) number {
	switch {
	case a.class == notANumber || a.class == zero:
		return a
	case a.neg:
		return nan
	case a.class == infinite:
		return a
	}
	shift := 2 * quotientBits
	if (a.exp-shift)%2 != 0 {
		shift++
	}
	m := new(big.Int).Lsh(a.mant, uint(shift))
	r := new(big.Int).Sqrt(m)
	exact := new(big.Int).Mul(r, r).Cmp(m) == 0
	return number{class: finite, mant: r, exp: (a.exp - shift) / 2, sticky: !exact}
}

// order compares two numbers that are not NaN: -1, 0 or 1. Zeros are equal.
func order(a, b number) int {
	rank := func(n number) int { // -2 -inf, -1 negative, 0 zero, 1 positive, 2 +inf
		r := int(n.class)
		if n.neg {
			return -r
		}
		return r
	}
	if ra, rb := rank(a), rank(b); ra != rb || a.class != finite {
		switch {
		case ra < rb:
			return -1
		case ra > rb:
			return 1
		}
		return 0
	}
	e := min(a.exp, b.exp)
	return a.scaled(e).Cmp(b.scaled(e))
}
