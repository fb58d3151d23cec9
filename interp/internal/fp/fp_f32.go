// This file holds f32 arithmetic: add, mul, fma, div and sqrt in all rounding modes.
//
// Add32, Mul32, Div32 and their f64 counterparts are just within the budget of Go's inliner. So a loop over lanes with the
// constant mode RN contains only the host's instruction and a test for NaN. The slow paths have the same names in lower
// case.

package fp

import "math"

// Add32 returns a + b rounded once in mode r (add.f32, IEEE 754 addition).
// An exact zero sum of operands of unlike sign is +0, but -0 in mode RM.
func Add32(a, b float32, r Rounding) (s float32) {
	if s = a + b; r != RN || s != s {
		return add32(a, b, r)
	}
	return s
}

//go:noinline
func add32(a, b float32, r Rounding) float32 {
	return sum32(float64(a), float64(b), r)
}

// Mul32 returns a * b rounded once in mode r (mul.f32, IEEE 754 multiplication).
func Mul32(a, b float32, r Rounding) (p float32) {
	if p = float32(a * b); r != RN || p != p {
		return mul32(a, b, r)
	}
	return p
}

//go:noinline
func mul32(a, b float32, r Rounding) float32 {
	return narrow32(float64(a)*float64(b), r) // 24+24 bits: the product is exact
}

// Fma32 returns a*b + c rounded once in mode r (fma.f32, IEEE 754 fusedMultiplyAdd).
// The sign of an exact zero follows the rule of [Add32].
func Fma32(a, b, c float32, r Rounding) float32 {
	if r == RN {
		return FmaRN32(a, b, c)
	}
	return sum32(float64(float64(a)*float64(b)), float64(c), r)
}

// FmaRN32 is [Fma32] in mode RN, with a fast path that is inlined into a loop over lanes.
//
// The product of two float32 is exact in float64, so s is a*b+c rounded to 53 bits. A second rounding of s to float32 is
// wrong only if s is the midpoint of two neighbouring float32, because a sum near the midpoint may have been rounded to it.
// The low 29 bits of a midpoint are 0x10000000. Below the normal range midpoints have other bits, so all numbers there take
// the slow path, and also zeros, overflows, Inf and NaN: a single comparison of the exponent field finds all of them.
//
// The slow path takes about 10 ns, also for a zero sum; the fast path takes 2 ns.
func FmaRN32(a, b, c float32) float32 {
	return sumFast32(float64(float64(a)*float64(b)), float64(c), sumHard32)
}

// sumFast32 is sum32 in mode RN. It has the slow path as a parameter (hard), because Go's inliner assigns a low cost to the
// call of a parameter (17 units, go1.26) and a high cost to the call of a named function (57). With such a call the
// function would cost 101, more than the limit of 80.
//
// hard gets the bits of x, not x. For a float argument the compiler would compute x in the register of that argument. The
// conversion from float32 keeps the upper half of its destination register (CVTSS2SD), so each lane would wait for the
// previous lane. That is a fifth of the time of FmaRN32.
func sumFast32(x, y float64, hard func(x uint64, y float64) float32) float32 {
	s := x + y
	if hardToNarrow(math.Float64bits(s)) {
		return hard(math.Float64bits(x), y)
	}
	return float32(s)
}

// hardToNarrow reports whether the float64 s with bits u is the midpoint of two normal float32, or outside the normal range
// of float32, 0x1p-126 <= |s| < 0x1p128. It compares 32-bit pieces, because 64-bit constants would be loaded again for each
// lane (a fifth of the time of FmaRN32).
func hardToNarrow(u uint64) bool {
	const least, beyond = (1023 - 126) << 21, (1023 + 128) << 21 // exponents, as uint32(u>>31) holds them
	return uint32(u<<3) == 1<<31 || uint32(u>>31)-least >= beyond-least
}

//go:noinline
func sumHard32(x uint64, y float64) float32 {
	return sum32(math.Float64frombits(x), y, RN)
}

// FmaHalf returns a*b + c for numbers of f16 or bf16, such that a further rounding to their format in mode r is correct: it is
// rounded to odd, to 24 bits. A zero has the sign of [Sum].
func FmaHalf(a, b, c float32, r Rounding) float32 {
	x := Sum(float64(float64(a)*float64(b)), float64(c), r)
	y := float32(x)
	d := float64(y)
	u := math.Float32bits(y)
	if d < x || d > x {
		if math.Abs(d) > math.Abs(x) {
			u--
		}
		u |= 1
	}
	return math.Float32frombits(u)
}

// Div32 returns a / b rounded once in mode r (div.rnd.f32, IEEE 754 division).
//
// It rounds the float64 quotient; no remainder is needed. Let y be a float32 or a midpoint of two float32. If a/b is not y,
// then a - y*b is at least one unit of a product of 24 and 25 bits. So a/b and y differ by at least 2^-49 of their size,
// and the float64 quotient is on the same side of y as a/b.
func Div32(a, b float32, r Rounding) (q float32) {
	if q = a / b; r != RN || q != q {
		return div32(a, b, r)
	}
	return q
}

//go:noinline
func div32(a, b float32, r Rounding) float32 {
	return narrow32(float64(a)/float64(b), r)
}

// Sqrt32 returns the square root of a rounded once in mode r (sqrt.rnd.f32, IEEE 754 squareRoot). The root of -0 is -0; the
// root of any other negative number is NaN.
//
// It rounds the float64 root, which is correct for the reason given at [Div32]: a and y*y differ by at least one unit of 50
// bits.
func Sqrt32(a float32, r Rounding) float32 {
	return narrow32(math.Sqrt(float64(a)), r)
}

// SqrtRN32 is [Sqrt32] in mode RN.
func SqrtRN32(a float32) float32 { return Canon32(float32(math.Sqrt(float64(a)))) }

// MulFTZ32 is [Mul32] with .ftz for operands and result; [F64ToF32FTZ] describes which results are flushed. Sums of two
// numbers and square roots need no such function: a sum below 0x1p-126 is exact, and no root of a normal number is below
// it.
func MulFTZ32(a, b float32, r Rounding) float32 {
	return F64ToF32FTZ(float64(FTZ32(a))*float64(FTZ32(b)), r)
}

// DivFTZ32 is [Div32] with .ftz; see [MulFTZ32].
func DivFTZ32(a, b float32, r Rounding) float32 {
	return F64ToF32FTZ(float64(FTZ32(a))/float64(FTZ32(b)), r)
}

// FmaFTZ32 is [Fma32] with .ftz; see [MulFTZ32].
func FmaFTZ32(a, b, c float32, r Rounding) float32 {
	x, y := float64(float64(FTZ32(a))*float64(FTZ32(b))), float64(FTZ32(c))
	if s := sumOdd(x, y); s != 0 {
		return F64ToF32FTZ(s, r)
	}
	return sum32(x, y, r)
}

// sum32 returns x + y rounded to f32 in mode r. Each of x and y is a float32, or the exact product of two,
// held in a float64.
func sum32(x, y float64, r Rounding) float32 { return F64ToF32(Sum(x, y, r), r) }

// Sum returns x + y rounded to odd in float64. A further rounding in mode r, to any format of this package except f64, is
// then correct. A zero has the sign that mode r requires. x + y must not overflow.
func Sum(x, y float64, r Rounding) float64 {
	s := sumOdd(x, y)
	if s == 0 && r == RM && (math.Signbit(x) || math.Signbit(y)) {
		return math.Copysign(0, -1)
	}
	return s
}

// sumOdd returns x + y rounded to odd: an exact sum, or the one of its two float64 neighbours whose last bit is 1.
func sumOdd(x, y float64) float64 {
	s := x + y
	e := sumError(x, y, s)
	u := math.Float64bits(s)
	if u&1 == 0 && (e < 0 || e > 0) { // if the last bit of s is 1, s is the result; e may be NaN
		if e > 0 == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return math.Float64frombits(u)
}

// sumError returns x + y - s, exactly, for s = x + y rounded to nearest (Dekker's Fast2Sum). It is NaN if
// s is not finite.
func sumError(x, y, s float64) float64 {
	if math.Abs(x) < math.Abs(y) {
		x, y = y, x
	}
	return y - (s - x)
}
