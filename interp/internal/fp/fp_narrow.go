// This file describes all formats except f64 as data, and converts to and from them.

package fp

import (
	"math"
	"math/bits"

	"gemu/ptx"
)

// Format describes a format of 4 to 32 bits (PTX ISA 5.2.2 to 5.2.4): a sign, an exponent and a fraction, or a fixed-point
// number. Every number of these formats is also a number of f32.
type Format struct {
	format
	max   uint64 // bits of the largest finite number
	nan   uint64 // bits of the NaN result of operations; 0: there is none
	sign  uint64 // sign bit; 0: the format has only powers of two, without zero and negative numbers
	fixed bool   // numbers are in two's complement, in units of 2^-frac
	plain bool   // there is no sign, but zero and subnormals; sign is the bit above the format
}

// The formats. F16 and BF16 are the formats of [F32ToF16] and [F32ToBF16]. A TF32 is the upper 19 bits of an f32. E4M3 has
// NaN but no infinity; E3M2, E2M3, E2M1 and S2F6 have neither.
var (
	F16   = Format{format: f16, max: 0x7bff, nan: uint64(NaN16), sign: 1 << 15}
	BF16  = Format{format: bf16, max: 0x7f7f, nan: uint64(NaNBF16), sign: 1 << 15}
	TF32  = Format{format: format{frac: 10, bias: 127, inf: 0xff << 10}, max: 0xff<<10 - 1, nan: 1<<18 - 1, sign: 1 << 18}
	E5M2  = Format{format: format{frac: 2, bias: 15, inf: 0x7c}, max: 0x7b, nan: 0x7f, sign: 1 << 7}
	E4M3  = Format{format: format{frac: 3, bias: 7}, max: 0x7e, nan: 0x7f, sign: 1 << 7}
	E3M2  = Format{format: format{frac: 2, bias: 3}, max: 0x1f, sign: 1 << 5}
	E2M3  = Format{format: format{frac: 3, bias: 1}, max: 0x1f, sign: 1 << 5}
	E2M1  = Format{format: format{frac: 1, bias: 1}, max: 7, sign: 1 << 3}
	UE8M0 = Format{format: format{bias: 127}, max: 0xfe, nan: 0xff}
	UE5M3 = Format{format: format{frac: 3, bias: 15}, max: 0xfe, nan: 0xff, sign: 1 << 8, plain: true}
	S2F6  = Format{format: format{frac: 6}, max: 0x7f, sign: 1 << 7, fixed: true}
	F32   = Format{format: format{frac: 23, bias: 127, inf: 0xff << 23}, max: 0xff<<23 - 1, nan: 0x7fffffff, sign: 1 << 31}
)

// narrow holds the formats of at most 19 bits, by type.
var narrow = [...]*Format{
	ptx.F16: &F16, ptx.BF16: &BF16, ptx.TF32: &TF32, ptx.E5M2: &E5M2, ptx.E4M3: &E4M3, ptx.E3M2: &E3M2, ptx.E2M3: &E2M3,
	ptx.E2M1: &E2M1, ptx.UE8M0: &UE8M0, ptx.S2F6: &S2F6, ptx.UE5M3: &UE5M3,
}

// FormatOf returns the format of a type of at most 19 bits; nil for wider types.
func FormatOf(t ptx.Type) *Format {
	if int(t) < len(narrow) {
		return narrow[t]
	}
	return nil
}

// Class is the kind of a number.
type Class uint8

const (
	Finite Class = iota
	Infinite
	NotANumber
)

// Fraction is the number of fraction bits of a significand.
func (f *Format) Fraction() int { return int(f.frac) }

// Kind says which bits of a format are no finite numbers.
type Kind uint8

const (
	IEEE      Kind = iota // infinities and NaNs: all bits of the exponent are set
	OnlyNaN               // NaN: all bits except the sign are set
	AllFinite             // none
)

// Layout describes a format with an exponent and a fraction; the sign bit, if there is one, is above them.
type Layout struct {
	Fraction, Bias int
	Magnitude      int // bits without the sign
	Kind           Kind
	Unsigned       bool
}

// Layout returns the layout of the format; ok is false for fixed-point numbers and for powers of two.
func (f *Format) Layout() (l Layout, ok bool) {
	if f.fixed || f.sign == 0 {
		return Layout{}, false
	}
	l = Layout{Fraction: int(f.frac), Bias: f.bias, Magnitude: bits.TrailingZeros64(f.sign), Unsigned: f.plain}
	switch {
	case f.inf == 0 && f.nan == 0:
		l.Kind = AllFinite
	case f.inf == 0:
		l.Kind = OnlyNaN
	}
	return l, true
}

// NaN returns the bits of the NaN result of operations.
func (f *Format) NaN() uint64 { return f.nan }

// Infinity returns the bits of the infinity with the given sign.
func (f *Format) Infinity(neg bool) uint64 { return f.signed(f.inf, neg) }

// NarrowNaN returns the bits of cvt's result for a NaN x of f64. The result keeps the sign, and the upper bits of the
// payload that fit, and is made quiet. The format must have infinities.
func (f *Format) NarrowNaN(x float64) uint64 {
	u := math.Float64bits(x)
	return f.signed(f.inf|1<<(f.frac-1)|u<<12>>(64-f.frac), u>>63 != 0)
}

// signed returns bits with a sign.
func (f *Format) signed(bits uint64, neg bool) uint64 {
	if neg {
		return bits | f.sign
	}
	return bits
}

// Split decodes the bits of a number as mant · 2^(exp−Fraction). A subnormal has the exponent of the least normal number.
// Bits above the format are ignored. The format must have a sign bit.
func (f *Format) Split(bits uint64) (neg bool, mant uint64, exp int, class Class) {
	magnitude := bits & (f.sign - 1)
	neg, mant, exp = bits&f.sign != 0 && !f.plain, magnitude&(1<<f.frac-1), int(magnitude>>f.frac)
	switch {
	case f.inf != 0 && magnitude == f.inf:
		class = Infinite
	case magnitude > f.max:
		class = NotANumber
	case exp == 0:
		exp = 1
	default:
		mant |= 1 << f.frac
	}
	return neg, mant, exp - f.bias, class
}

// Pack rounds mag · 2^exp in mode r, which must be RN or RZ. The format must have infinities. A number that is too large
// becomes an infinity in both modes. Zero is positive.
func (f *Format) Pack(neg bool, mag uint64, exp int, r Rounding) uint64 {
	if mag == 0 {
		return 0
	}
	n := bits.LeadingZeros64(mag)
	return f.signed(min(f.magnitude(exp+63-n, mag<<n, r, 0), f.inf), neg)
}

// Value returns the number with the given bits. Bits above the format are ignored.
func (f *Format) Value(bits uint64) float64 {
	switch {
	case f.fixed:
		return float64(int8(bits)) / float64(uint64(1)<<f.frac)
	case f.sign == 0:
		if bits &= 0xff; bits == f.nan {
			return math.NaN()
		}
		return math.Ldexp(1, int(bits)-f.bias)
	}
	neg, mant, exp, class := f.Split(bits)
	x := math.Ldexp(float64(mant), exp-int(f.frac))
	switch class {
	case Infinite:
		x = math.Inf(1)
	case NotANumber:
		return math.NaN()
	}
	if neg {
		return -x
	}
	return x
}

// Convert returns the bits of x rounded once in mode r. random holds the random bits of RS, from the uppermost bit on.
//
// A number that is too large becomes the largest number with satfinite, or if the format has neither infinity nor NaN.
// Otherwise it becomes an infinity, a NaN or the largest number, as format and mode require. In a format without NaN, a NaN
// becomes the largest number. In a format without negative numbers, the sign of x is ignored.
func (f *Format) Convert(x float64, r Rounding, random uint64, satfinite bool) uint64 {
	if x != x {
		if f.nan == 0 {
			return f.max
		}
		return f.nan
	}
	neg := f.sign != 0 && !f.plain && math.Signbit(x)
	if neg {
		r = r.opposite()
	}
	var u uint64
	switch {
	case f.fixed:
		return f.convertFixed(x)
	case math.IsInf(x, 0):
		if u = f.max; !satfinite {
			u = f.beyond(RN)
		}
	case x == 0:
	default:
		exp, m := unpack64(x)
		if u = f.magnitude(exp, m, r, random); u > f.max {
			if u = f.max; !satfinite {
				u = f.beyond(r)
			}
		}
	}
	if f.nan != 0 && f.inf == 0 && u == f.nan {
		return f.nan // for either sign
	}
	return f.signed(u, neg)
}

// beyond returns the magnitude that replaces numbers that are too large.
func (f *Format) beyond(r Rounding) uint64 {
	switch {
	case f.inf != 0 && (r == RZ || r == RM):
		return f.max
	case f.inf != 0:
		return f.inf
	case f.nan != 0 && r != RZ:
		return f.nan
	}
	return f.max
}

// magnitude rounds m/2^63 * 2^exp in mode r. It returns the bits of the result without a sign, which may exceed the largest
// number of the format.
func (f *Format) magnitude(exp int, m uint64, r Rounding, random uint64) uint64 {
	biased := exp + f.bias
	if f.sign == 0 { // a power of two
		if biased < 0 {
			return 0
		}
		u, lost := uint64(biased), m<<1
		if r == RP && lost != 0 {
			u++
		}
		return u
	}
	var u uint64
	shift := 63 - f.frac
	if biased > 0 {
		u = uint64(biased-1) << f.frac // one less, because the leading bit of m adds 1: see pack
	} else {
		shift += uint(1 - biased)
	}
	lost := m << (64 - shift)
	if shift > 64 {
		if lost = m >> (shift - 64); m<<(128-shift) != 0 || shift >= 128 {
			lost |= 1
		}
	}
	if u += m >> shift; away(r, u, lost, random) {
		u++
	}
	return u
}

// away reports whether mode r increases the magnitude u + lost/2^64 to u + 1.
func away(r Rounding, u, lost, random uint64) bool {
	switch r {
	case RN:
		return lost > 1<<63 || lost == 1<<63 && u&1 == 1
	case RNA:
		return lost >= 1<<63
	case RP:
		return lost != 0
	case RS:
		return lost+random < lost // a carry
	}
	return false
}

// convertFixed rounds x to nearest, for a fixed-point format.
func (f *Format) convertFixed(x float64) uint64 {
	unit := float64(uint64(1) << f.frac)
	n := max(-float64(f.sign), min(math.RoundToEven(float64(x*unit)), float64(f.max)))
	return uint64(uint8(int8(n)))
}
