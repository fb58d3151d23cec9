// This file holds the .approx functions.
//
// For each function PTX documents a table of special values and a bound on the error; all else depends on the hardware.
// Here each is computed in float64 to 40 bits or more and rounded once to f32. So the error is only slightly more than half
// an ulp, within every bound; the result is not that of a particular GPU. Package math is not used for the series, because
// it has assembly for some hosts, and on other hosts Go may fuse its products: the same input must give the same bits
// everywhere.
//
// Subnormal operands and results are supported, as in the forms without .ftz.

package fp

import (
	"math"
)

// RcpApprox32 is rcp.approx.f32: 1/x. Bound: 1 ulp.
//
//	-Inf: -0   -0: -Inf   +0: +Inf   +Inf: +0
//
// A subnormal below 0x1p-128 gives Inf, because its reciprocal is beyond f32.
func RcpApprox32(x float32) float32 {
	return Canon32(1 / x)
}

// RsqrtApprox32 is rsqrt.approx.f32: 1/sqrt(x). Bound: 2^-22.9 relative.
//
//	-Inf, -normal, -subnormal: NaN   -0: -Inf   +0: +Inf   +Inf: +0
//
// The manual's table has no row for negative subnormals.
func RsqrtApprox32(x float32) float32 {
	return Canon32(float32(1 / math.Sqrt(float64(x))))
}

// SqrtApprox32 is sqrt.approx.f32: the correctly rounded square root.
//
//	-Inf, -normal, -subnormal: NaN   -0: -0   +0: +0   +Inf: +Inf
func SqrtApprox32(x float32) float32 {
	return SqrtRN32(x)
}

// DivApprox32 is div.approx.f32: a/b. Bound: 2 ulp for |b| in [2^-126, 2^126].
//
// PTX describes it as a * (1/b) with a reciprocal that underflows for large b. For |b| in (2^126, 2^128) an infinite a
// gives NaN, and any other a gives a zero with the sign of the quotient. For all other b the result is the correctly
// rounded quotient, also for a subnormal b, which the manual does not mention.
func DivApprox32(a, b float32) float32 {
	if u := math.Float32bits(b); u<<1 > 0x7e800000<<1 && u<<1 < 0x7f800000<<1 {
		b = math.Float32frombits(u&(1<<31) | 0x7f800000) // division by Inf gives the zero or NaN
	}
	return Canon32(a / b)
}

// DivFull32 is div.full.f32: a/b, correctly rounded. Bound: 2 ulp, over the full range.
func DivFull32(a, b float32) float32 {
	return Canon32(a / b)
}

// SinApprox32 is sin.approx.f32, for x in radians. The manual bounds the absolute error by 2^-20.5 in [-2pi, 2pi] and by
// 2^-14.7 in [-100pi, 100pi], and not beyond. Here the error is small for all x.
//
//	-Inf: NaN   -0: -0   +0: +0   +Inf: NaN
func SinApprox32(x float32) float32 {
	n, y := reducePiOver2(x)
	return sineOf(n, y)
}

// SinSmall32 is [SinApprox32] for angles for which [IsSmallAngle] is true.
func SinSmall32(x float32) float32 {
	n, y := reduceSmall(x)
	return sineOf(n, y)
}

// CosApprox32 is cos.approx.f32, for x in radians. Bounds as for [SinApprox32].
//
//	-Inf: NaN   -0: +1   +0: +1   +Inf: NaN
//
// A subnormal gives +1.
func CosApprox32(x float32) float32 {
	n, y := reducePiOver2(x)
	return sineOf(n+1, y)
}

// CosSmall32 is [CosApprox32] for angles for which [IsSmallAngle] is true.
func CosSmall32(x float32) float32 {
	n, y := reduceSmall(x)
	return sineOf(n+1, y)
}

// SinTurns32 is sin.approx.ftz.2pi.f32, for x in turns: whole turns have no effect. It keeps the sign of a zero. An
// infinity gives NaN.
func SinTurns32(x float32) float32 {
	n, y := quarterTurns(x)
	return sineOf(n, y)
}

// CosTurns32 is cos.approx.ftz.2pi.f32, for x in turns. An infinity gives NaN.
func CosTurns32(x float32) float32 {
	n, y := quarterTurns(x)
	return sineOf(n+1, y)
}

// sineOf returns the sine of n quarter turns and an angle y of at most about pi/4. It keeps the sign of a zero if n is 0, and
// otherwise returns +0. A NaN gives the canonical NaN.
func sineOf(n uint, y float64) float32 {
	p := hornerOf(sinCoeff[:], cosCoeff[:], uint64(n&1), float64(y*y)) // the sine of y divided by y, or the cosine
	if n&1 == 0 {
		p = float64(y * p)
	}
	if n&2 != 0 {
		p = 0 - p
	}
	return Canon32(float32(p))
}

// quarterTurns returns the number of the quarter turn nearest to x turns (modulo 4), and the angle from this quarter turn
// to x turns, in radians.
func quarterTurns(x float32) (n uint, y float64) {
	t := 4 * float64(x)
	whole := t // a multiple of 4, or not finite
	if math.Abs(t) < 0x1p50 {
		n = uint(math.Float64bits(t+toInteger64)) & 3
		whole = (t + toInteger64) - toInteger64
	}
	y = float64((t - whole) * (math.Pi / 2))
	if t == 0 {
		y = t
	}
	return n, y
}

// toInteger64 is a number whose sum with a small number is rounded to an integer, which the low bits of the sum are.
const toInteger64 = 0x1.8p52

// Lg2Approx32 is lg2.approx.f32: the logarithm of x to base 2. Bound: 2^-22, absolute in (0.5, 2) and
// relative elsewhere. Powers of two give the exact integer.
//
//	-Inf, -normal, -subnormal: NaN   -0, +0: -Inf   +Inf: +Inf
func Lg2Approx32(x float32) float32 {
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case !(x > 0):
		return math.Float32frombits(NaN32)
	case x > math.MaxFloat32:
		return x
	}
	// x = 2^e * m with m within [sqrt(1/2), sqrt(2)].
	u := math.Float64bits(float64(x))
	e := int(u>>52) - 1023
	m := math.Float64frombits(u&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m /= 2
		e++
	}
	// log2(m) = 2/ln(2) * atanh(s). For e of 0 there is no sum and the relative error stays small.
	s := (m - 1) / (m + 1)
	return float32(float64(e) + float64(s*horner(lg2Coeff[:], float64(s*s))))
}

// Ex2Approx32 is ex2.approx.f32: 2 to the power x. Bound: 2 ulp. Integers give the exact power.
//
//	-Inf: +0   -0, +0: +1   +Inf: +Inf
//
// A subnormal gives +1.
func Ex2Approx32(x float32) float32 {
	switch {
	case x >= 128:
		return float32(math.Inf(1))
	case x <= -150: // 2^-150 is a tie between 0 and the least subnormal
		return 0
	case x != x:
		return math.Float32frombits(NaN32)
	}
	return float32(exp2(float64(x)))
}

// TanhApprox32 is tanh.approx.f32. Bound: 2^-11 relative; here it is as accurate as the other functions.
//
//	-Inf: -1   -0: -0   +0: +0   +Inf: +1
//
// A subnormal gives itself.
func TanhApprox32(x float32) float32 {
	y := math.Abs(float64(x))
	switch {
	case y != y:
		return math.Float32frombits(NaN32)
	case y > 16: // 1 - tanh(16) is below 2^-45
		y = 1
	case y < 0x1p-12: // the next term is below 2^-48 of the first; exp would cancel here
		y -= float64(float64(float64(y*y)*y) * (1. / 3))
	default:
		t := exp2(float64(y * (2 * math.Log2E)))
		y = (t - 1) / (t + 1)
	}
	return float32(math.Copysign(y, float64(x)))
}

// Ex2Half is 2 to the power x for results that are rounded to f16 or bf16: for each number x of these formats the rounded
// result is the one of [Ex2Approx32], as TestHalfFunctions shows. Integers give the exact power.
func Ex2Half(x float32) float32 {
	const toInteger = 0x1.8p23 // its sum with a small number is rounded to an integer
	u := math.Float32bits(x)
	x = math.Float32frombits(uint32(min(int32(min(u, 0xc3170000)), 0x43000000))) // -151 to 128: the powers of both are rounded to 0 and Inf
	t := x + toInteger
	p := horner32(ex2HalfCoeff[:], x-(t-toInteger))
	// The power of the integer, in two factors: it may be beyond the normal numbers of f32 where the result is not.
	k := int32(math.Float32bits(t) - math.Float32bits(toInteger))
	half := k >> 1
	y := float32(float32(p*math.Float32frombits(uint32(half+127)<<23)) * math.Float32frombits(uint32(k-half+127)<<23))
	if isNaNBits(u) {
		return math.Float32frombits(NaN32)
	}
	return y
}

// isNaNBits reports whether u are the bits of a NaN of f32. The functions for halves compare bits: of a comparison of an f16 that
// has been widened, clang makes a comparison of f16, for which hosts have no vectors.
func isNaNBits(u uint32) bool { return u&^(1<<31) > 0x7f800000 }

// TanhHalf is the hyperbolic tangent of x for results that are rounded to f16 or bf16: for each number x of these formats the
// rounded result is the one of [TanhApprox32], as TestHalfFunctions shows.
func TanhHalf(x float32) float32 {
	const last = 0x40933333 // 4.6: beyond, the result is rounded to 1
	u := math.Float32bits(x)
	a := u &^ (1 << 31)
	y := math.Float32frombits(min(a, last))
	square := float32(y * y)
	bits := math.Float32bits(float32(y*horner32(tanhHalfNumerator[:], square)) / horner32(tanhHalfDenominator[:], square))
	if a > last {
		bits = 0x3f800000
	}
	if isNaNBits(u) {
		return math.Float32frombits(NaN32)
	}
	return math.Float32frombits(bits | u&(1<<31))
}

// nan20 is the NaN of the .approx.ftz.f64 functions. The manual gives it a low word of zeros.
const nan20 = 0x7fffffff00000000

// RcpApprox64 is rcp.approx.ftz.f64: 1/x to 20 bits of fraction (PTX ISA, rcp.approx.ftz.f64).
//
// It reads only the high word of x and sets only the high word of the result, both in the 1.11.20 format of sign, exponent
// and fraction. So a NaN whose payload is only in the low word counts as Inf. Any other NaN gives 0x7fffffff00000000.
// Subnormal operands and results are flushed to zero of the same sign.
//
//	-Inf: -0   -subnormal, -0: -Inf   +0, +subnormal: +Inf   +Inf: +0
func RcpApprox64(x float64) float64 {
	return round20(1 / high20(x))
}

// RsqrtApprox64 is rsqrt.approx.ftz.f64: 1/sqrt(x) to 20 bits of fraction. Words, NaNs and subnormals are as in
// [RcpApprox64].
//
//	-Inf, -normal: NaN   -subnormal, -0: -Inf   +0, +subnormal: +Inf   +Inf: +0
func RsqrtApprox64(x float64) float64 {
	return round20(1 / math.Sqrt(high20(x)))
}

// Rsqrt64 is rsqrt.approx.f64: 1/sqrt(x) with two roundings, to about 1 ulp. The manual gives no bound.
//
//	-Inf, -normal, -subnormal: NaN   -0: -Inf   +0: +Inf   +Inf: +0
func Rsqrt64(x float64) float64 {
	return Result64(1/math.Sqrt(x), x, x)
}

// high20 clears the low word of x, and flushes a subnormal to zero.
func high20(x float64) float64 {
	return ftz64(math.Float64frombits(math.Float64bits(x) &^ (1<<32 - 1)))
}

// round20 flushes a subnormal to zero, and rounds x to 20 bits of fraction, to nearest.
func round20(x float64) float64 {
	if x != x {
		return math.Float64frombits(nan20)
	}
	u := math.Float64bits(ftz64(x))
	u += 1<<31 - 1 + u>>32&1
	return math.Float64frombits(u &^ (1<<32 - 1))
}

func ftz64(x float64) float64 {
	if math.Abs(x) < 0x1p-1022 {
		return math.Copysign(0, x)
	}
	return x
}

// Taylor coefficients, the constant first. Go evaluates constant expressions exactly and rounds once when it stores them,
// so only the digits of math.Ln2 limit the precision.
var (
	sinCoeff = [...]float64{ // sin(y)/y in y*y, to 2^-44 for |y| <= pi/4
		1, -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800, 1. / 6227020800,
	}
	cosCoeff = [...]float64{ // cos(y) in y*y, to 2^-40
		1, -1. / 2, 1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, 1. / 479001600,
	}
	lg2Coeff = [...]float64{ // log2((1+s)/(1-s))/s in s*s
		2 / math.Ln2, 2 / math.Ln2 / 3, 2 / math.Ln2 / 5, 2 / math.Ln2 / 7, 2 / math.Ln2 / 9,
		2 / math.Ln2 / 11, 2 / math.Ln2 / 13, 2 / math.Ln2 / 15, 2 / math.Ln2 / 17,
	}
	ex2Coeff = [...]float64{ // 2^f
		1, ln2, ln2 * ln2 / 2, ln2 * ln2 * ln2 / 6, ln2p4 / 24, ln2p4 * ln2 / 120, ln2p4 * ln2 * ln2 / 720,
		ln2p4 * ln2 * ln2 * ln2 / 5040, ln2p4 * ln2p4 / 40320, ln2p4 * ln2p4 * ln2 / 362880,
		ln2p4 * ln2p4 * ln2 * ln2 / 3628800, ln2p4 * ln2p4 * ln2 * ln2 * ln2 / 39916800,
	}
)

// Coefficients of the functions for halves, the constant first: interpolations at Chebyshev nodes, 2^x on [-1/2, 1/2] and
// tanh(x)/x in x*x on [0, 4.6*4.6]. Their last digits were chosen such that TestHalfFunctions finds no difference.
var (
	ex2HalfCoeff        = [...]float32{1, 0x1.62e42ep-1, 0x1.ebf906p-3, 0x1.c6af6cp-5, 0x1.3d107p-7, 0x1.5f088ep-10}
	tanhHalfNumerator   = [...]float32{0x1.fffff8p-1, 0x1.0092dp-3, 0x1.466db6p-9, 0x1.558ff6p-18}
	tanhHalfDenominator = [...]float32{1, 0x1.d59e2cp-2, 0x1.68f0e4p-6, 0x1.5e26cp-13}
)

const (
	ln2   = math.Ln2
	ln2p4 = ln2 * ln2 * ln2 * ln2
)

// exp2 returns 2^x for |x| < 1000, to 2^-46 of its size.
func exp2(x float64) float64 {
	k := math.RoundToEven(x)
	scale := math.Float64frombits(uint64(1023+int(k)) << 52)
	return float64(scale * horner(ex2Coeff[:], x-k))
}

// horner evaluates a polynomial, constant coefficient first, without fused products.
func horner(c []float64, x float64) float64 {
	p := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		p = float64(p*x) + c[i]
	}
	return p
}

// hornerOf is horner for one of two polynomials with equally many coefficients: the first if n is 0, the second if n is 1. Lanes of
// a vector select each coefficient, which takes less time than both polynomials. They select by bits: of a choice between two
// floats clang makes a table, which a stencil cannot have.
func hornerOf(first, second []float64, n uint64, x float64) float64 {
	p := 0.0
	for i := len(first) - 1; i >= 0; i-- {
		c := math.Float64bits(first[i])
		p = float64(p*x) + math.Float64frombits(c^(c^math.Float64bits(second[i]))&-n)
	}
	return p
}

// horner32 evaluates a polynomial in f32, constant coefficient first, without fused products.
func horner32(c []float32, x float32) float32 {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = float32(p*x) + c[i]
	}
	return p
}

// twoOverPi is 2/pi in fixed point. The first word is the integer part; the remaining words are the fraction.
var twoOverPi = [...]uint64{
	0,
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
}

// mul24 returns the product of w and m. m must be less than 2^24. It uses only operations that processors have for several
// lanes at once.
func mul24(w, m uint64) (hi, lo uint64) {
	low := w & (1<<32 - 1) * m
	high := w>>32*m + low>>32
	return high >> 32, high<<32 | low&(1<<32-1)
}

// IsSmallAngle reports whether [reduceSmall] reduces an angle.
func IsSmallAngle(x float32) bool { return math.Abs(float64(x)) <= 2048 }

// reduceSmall is [reducePiOver2] for small angles. It subtracts n*pi/2 in two parts (Cody and Waite). The first has 33 bits, so
// its product and the difference are exact.
func reduceSmall(x float32) (n uint, y float64) {
	const high = 0x1.921fb544p0
	y = float64(x)
	t := float64(y*(2/math.Pi)) + toInteger64
	whole := t - toInteger64
	return uint(math.Float64bits(t)), y - float64(whole*high) - float64(whole*(math.Pi/2-high))
}

// reducePiOver2 returns n and y with x = n*pi/2 + y modulo 2*pi. |y| is at most about pi/4. For Inf and NaN it returns 0
// and NaN.
//
// For large x it multiplies by 2/pi in fixed point (after Payne and Hanek). It uses only the bits of 2/pi that contribute
// to the product between 4 and 2^-190. No float32 is nearer to a multiple of pi/2 than about 2^-30, so the fraction has at
// least 64 correct bits for every x.
func reducePiOver2(x float32) (n uint, y float64) {
	switch {
	case IsSmallAngle(x):
		return reduceSmall(x)
	case !(math.Abs(float64(x)) <= math.MaxFloat32):
		return 0, math.NaN()
	}
	u := math.Float32bits(x)
	m := uint64(u&(1<<23-1) | 1<<23)
	e := int(u>>23&0xff) - 127 - 23 // |x| = m * 2^e with -24 <= e <= 104

	// The word w2:w1:w0 is 2/pi * 2^e in units of 2^-190, without the bits worth 4 or more: in the product they are
	// multiples of 4, which do not matter. Its top bit is the bit of 2/pi that is worth 2^(1-e).
	i, s := uint(e+62)/64, uint(e+62)%64
	is2 := -uint64(i >> 1)
	is1 := -uint64(i & 1)
	word := func(i uint) uint64 { return twoOverPi[i]&^(is1|is2) | twoOverPi[i+1]&is1 | twoOverPi[i+2]&is2 }
	a, b, c, d := word(0), word(1), word(2), word(3)
	w2, w1, w0 := a<<s|b>>(64-s), b<<s|c>>(64-s), c<<s|d>>(64-s)

	// t = |x| * 2/pi modulo 4, in the same units.
	c0, _ := mul24(w0, m)
	c1, t1 := mul24(w1, m)
	_, t2 := mul24(w2, m)
	t1 += c0
	t2 += c1
	if t1 < c0 {
		t2++
	}

	// Split t into the nearest integer and a fraction within [-1/2, 1/2].
	n = uint((t2 + 1<<61) >> 62)
	t2 -= uint64(n) << 62
	negative := t2>>63 == 1
	if negative {
		t2 = ^t2
		if t1 == 0 {
			t2++
		}
		t1 = -t1
	}
	y = (float64(float64(t2)*0x1p-62) + float64(float64(t1)*0x1p-126)) * (math.Pi / 2)
	if negative != (x < 0) {
		y = -y
	}
	if x < 0 {
		n = -n
	}
	return n, y
}
