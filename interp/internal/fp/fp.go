// Package fp is the floating point of the PTX ISA, one scalar at a time and exact to the bit.
//
// It knows IEEE 754 binary32 and binary64 arithmetic in the four PTX rounding modes, the conversions
// between f16, bf16, f32, f64 and the integers, the .approx functions, and the small rules that PTX adds
// to IEEE 754: which NaN a result is, .ftz, .sat, and min and max that prefer numbers to NaNs.
//
// Three ideas carry the package:
//
//   - Round to odd. An f32 operation is done in float64, where it is exact or nearly so; what float64
//     could not hold is folded into its last bit, and then one rounding to f32 is correct in every mode
//     (53 bits hold the 24 of f32 with more than the two spare bits this needs).
//   - Error terms. An f64 operation is done to nearest by the host; the sign of what was lost, found by an
//     error-free transform, says whether a directed mode wants the neighbour instead.
//   - Integer packing. Whatever fits neither goes through [format.pack], which rounds a 64-bit significand.
//
// Everything is the same on every host whose float32 and float64 are those of IEEE 754, subnormals
// included. (GO386=softfloat is not one: in go1.26.8 some of its differences of small numbers are wrong,
// and the tests of this package fail there.) Go may fuse x*y+z into one rounding, so each product that
// feeds a sum, or is returned from a function that may be inlined into one, is written float32(x*y) or
// float64(x*y), which forbids it.
//
// The package does not read instructions: the caller applies .ftz to operands and results with [FTZ32], where
// there is no function with FTZ in its name, .sat with [Sat32], and turns sub into add of the negated operand. It keeps no exception flags (PTX has
// none), and NaN payloads survive only in f64 and its conversions (see [Result64] and
// [Format.NarrowNaN]), and from bf16 to f32.
package fp

import (
	"math"
	"strconv"
)

// Rounding is a PTX rounding modifier. For conversions to integral values the same constants stand for
// .rni, .rzi, .rmi and .rpi. Any other value rounds as [RZ] in some functions and is a caller's bug.
type Rounding uint8

const (
	RN  Rounding = iota // .rn: to nearest, ties to even
	RZ                  // .rz: toward zero
	RM                  // .rm: toward negative infinity
	RP                  // .rp: toward positive infinity
	RNA                 // .rna: to nearest, ties away from zero; of [Format.Convert] only
	RS                  // .rs: away from zero where random bits carry out of what is lost; likewise
)

// String returns the modifier without its dot: "rn", "rz", "rm", "rp", "rna", "rs".
func (r Rounding) String() string {
	names := [...]string{"rn", "rz", "rm", "rp", "rna", "rs"}
	if int(r) >= len(names) {
		return "Rounding(" + strconv.Itoa(int(r)) + ")"
	}
	return names[r]
}

// opposite exchanges RM and RP: the mode for the magnitude of a negative number.
func (r Rounding) opposite() Rounding {
	switch r {
	case RM:
		return RP
	case RP:
		return RM
	}
	return r
}

// Bit patterns of the NaN that each operation returns, whatever the payloads of its operands; of f64 that
// is where no operand is a NaN, otherwise see [Result64].
//
// The manual (PTX ISA, Floating-Point Instructions) leaves the NaN of a single-precision result
// unspecified, and says of double precision that payloads are supported, but not which operand's. These
// are what an H200 gives (testdata/hw). Only the high word of f64 counts in [RcpApprox64].
const (
	NaN32   uint32 = 0x7fffffff
	NaN64   uint64 = 0xfff8000000000000 // Inf-Inf, 0*Inf, 0/0 and the like
	NaN16   uint16 = 0x7fff             // f16
	NaNBF16 uint16 = 0x7fff             // bf16
)

// quiet64 is the bit that a quiet NaN of f64 has.
const quiet64 = 1 << 51

// Canon32 returns x, or the canonical NaN if x is any NaN.
func Canon32(x float32) float32 {
	if x != x {
		return math.Float32frombits(NaN32)
	}
	return x
}

// Result64 returns r, the result of an operation on x and y; if it is a NaN, the one that the operation
// gives: x made quiet if it is a NaN, otherwise y, and [NaN64] if neither is. Which of its operands an
// operation prefers is its own: the second of sums and products, the factors of fma, again the second
// before the first, before what is added, the first of quotients.
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

// Quiet64 returns x, made quiet if it is a NaN. Its sign stays.
func Quiet64(x float64) float64 {
	if x != x {
		return math.Float64frombits(math.Float64bits(x) | quiet64)
	}
	return x
}

// FTZ32 applies .ftz: a subnormal becomes the zero of its sign. All else, NaNs included, is unchanged.
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
