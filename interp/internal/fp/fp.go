package fp

import (
	"math"
	"strconv"
)

// Rounding is a PTX rounding modifier. In conversions to integral values the same constants stand for .rni, .rzi, .rmi and
// .rpi. Callers must pass no other value; some functions would round it as [RZ].
type Rounding uint8

const (
	RN  Rounding = iota // .rn: to nearest, ties to even
	RZ                  // .rz: toward zero
	RM                  // .rm: toward negative infinity
	RP                  // .rp: toward positive infinity
	RNA                 // .rna: to nearest, ties away from zero; only for [Format.Convert]
	RS                  // .rs: away from zero if random bits plus the lost part give a carry; only for [Format.Convert]
)

// String returns the modifier without its dot: "rn", "rz", "rm", "rp", "rna", "rs".
func (r Rounding) String() string {
	names := [...]string{"rn", "rz", "rm", "rp", "rna", "rs"}
	if int(r) >= len(names) {
		return "Rounding(" + strconv.Itoa(int(r)) + ")"
	}
	return names[r]
}

// opposite exchanges RM and RP: for a negative number it returns the mode in which the magnitude is rounded.
func (r Rounding) opposite() Rounding {
	switch r {
	case RM:
		return RP
	case RP:
		return RM
	}
	return r
}

// NaN results of operations. They do not depend on the payloads of operands. For f64 they apply only if no operand is a
// NaN; otherwise see [Result64].
//
// The manual (PTX ISA, Floating-Point Instructions) does not specify the NaN of a single-precision result. It says that
// double precision supports payloads, but not which operand's payload the result has. The values here are the results of an
// H200 (testdata/hw). [RcpApprox64] and [RsqrtApprox64] have a NaN of their own.
const (
	NaN32   uint32 = 0x7fffffff
	NaN64   uint64 = 0xfff8000000000000 // Inf-Inf, 0*Inf, 0/0 and the like
	NaN16   uint16 = 0x7fff             // f16
	NaNBF16 uint16 = 0x7fff             // bf16
)

// quiet64 is the bit that marks a quiet NaN of f64.
const quiet64 = 1 << 51

// Canon32 returns x, or the canonical NaN if x is any NaN.
func Canon32(x float32) float32 {
	if x != x {
		return math.Float32frombits(NaN32)
	}
	return x
}

// Result64 returns r, the result of an operation on x and y. If r is a NaN, it returns the NaN of the operation: x made
// quiet if x is a NaN, otherwise y made quiet if y is a NaN, otherwise [NaN64]. The caller passes the preferred operand as
// x. Sums and products prefer the second operand, quotients the first; fma prefers the second factor, then the addend, then
// the first factor.
func Result64(r, x, y float64) float64 {
	if r == r {
		return r
	}
	u := NaN64
	if y != y {
		u = math.Float64bits(y) | quiet64
	}
	if x != x {
		u = math.Float64bits(x) | quiet64
	}
	return math.Float64frombits(u)
}

// Quiet64 returns x; if x is a NaN, it is made quiet and keeps its sign.
func Quiet64(x float64) float64 {
	if x != x {
		return math.Float64frombits(math.Float64bits(x) | quiet64)
	}
	return x
}

// FTZ32 applies .ftz: a subnormal becomes the zero of its sign. Everything else, NaNs included, is unchanged.
func FTZ32(x float32) float32 {
	if u := math.Float32bits(x); u&0x7f800000 == 0 {
		return math.Float32frombits(u & 0x80000000)
	}
	return x
}

// Sat32 applies .sat: it clamps x to [0, 1]. NaN and -0 become +0.
func Sat32(x float32) float32 {
	if !(x > 0) { // NaN too
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}

// Sat64 is [Sat32] for f64 (PTX has it in cvt.sat.f64).
func Sat64(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}
