// Package fp is the floating-point arithmetic of the PTX ISA on single values, exact to the bit.
//
// It has IEEE 754 binary32 and binary64 arithmetic in the four PTX rounding modes, the conversions between f16, bf16, f32,
// f64 and the integers, the .approx functions, and the rules that PTX adds to IEEE 754: the choice of a NaN result, .ftz,
// .sat, and min and max that prefer numbers to NaNs.
//
// The package uses three methods:
//
// - Round to odd. An f32 operation is computed in float64, where it is exact or nearly so. If a part is lost, the last bit
// is set. A single rounding to f32 is then correct in every mode, because 53 bits are at least two more than the 24 of f32.
// - Error terms. The host computes an f64 operation to nearest. An error-free transform finds the sign of the lost part,
// which decides whether a directed mode returns the neighbour instead. - Integer packing. All other results are rounded
// from a 64-bit significand by [format.pack].
//
// Results are the same on every host whose float32 and float64 conform to IEEE 754, including subnormals. (GO386=softfloat
// does not conform: in go1.26.8 some of its differences of small numbers are wrong, and the tests of this package fail
// there.) Go may fuse x*y+z into an operation with a single rounding. So a product that is an operand of a sum, or that a
// function returns which may be inlined into a sum, must be written float32(x*y) or float64(x*y), which forbids the fusion.
//
// The package does not read instructions. The caller applies .ftz to operands and results with [FTZ32], unless there is a
// function with FTZ in its name; it applies .sat with [Sat32], and negates the operand of a sub to make it an add. The
// package keeps no exception flags (PTX has none). NaN payloads survive only in f64 and its conversions (see [Result64] and
// [Format.NarrowNaN]), and from bf16 to f32.
//
// Read fp.go (rounding modes and NaNs), then fp_pack.go (floats as integers), fp_f32.go and fp_f64.go (arithmetic),
// fp_minmax.go, fp_convert.go, fp_narrow.go (formats of 4 to 32 bits) and fp_approx.go.
package fp
