// Package fp is the floating point of the PTX ISA, a scalar at a time and exact to the bit.
//
// It has IEEE 754 binary32 and binary64 arithmetic in the four PTX rounding modes, the conversions between f16, bf16, f32,
// f64 and the integers, the .approx functions, and the small rules that PTX adds to IEEE 754: the choice of a NaN result,
// .ftz, .sat, and min and max that prefer numbers to NaNs.
//
// Three ideas carry the package:
//
//   - Round to odd. An f32 operation is done in float64, where it is exact or nearly so; the lost part is folded into the
//     last bit, and then a single rounding to f32 is correct in every mode (53 bits hold the 24 of f32 with more than the
//     two spare bits that this needs).
//   - Error terms. The host computes an f64 operation to nearest; the sign of the lost part, found by an error-free
//     transform, decides whether a directed mode takes the neighbour instead.
//   - Integer packing. Everything else goes through [format.pack], which rounds a 64-bit significand.
//
// Results are the same on every host whose float32 and float64 conform to IEEE 754, subnormals included. (GO386=softfloat
// is no such host: in go1.26.8 some of its differences of small numbers are wrong, and the tests of this package fail
// there.) Go may fuse x*y+z into a single rounding, so each product that feeds a sum, or is returned from a function that
// may be inlined into a sum, must be written float32(x*y) or float64(x*y), which forbids it.
//
// The package does not read instructions: the caller applies .ftz to operands and results with [FTZ32], where there is no
// function with FTZ in its name, and .sat with [Sat32], and turns sub into add of the negated operand. The package keeps
// no exception flags (PTX has none). NaN payloads survive only in f64 and its conversions (see [Result64] and
// [Format.NarrowNaN]), and from bf16 to f32.
//
// Read fp.go (rounding modes and NaNs), then fp_pack.go (floats as integers), fp_f32.go and fp_f64.go (arithmetic),
// fp_minmax.go, fp_convert.go, fp_narrow.go (formats of 4 to 32 bits) and fp_approx.go.
package fp
