package kernels

// This file has the number formats of current workloads that Go does not have, on the host.

import "math"

// format is a floating-point format of at most 16 bits: a sign, exponent bits, and fraction bits.
type format struct {
	exponent, fraction int
	greatest           uint16 // the code of the greatest finite number
}

var (
	f16  = format{5, 10, 0x7bff}
	bf16 = format{8, 7, 0x7f7f}
	e4m3 = format{4, 3, 0x7e} // 448; the format has no infinity
)

// least returns the exponent of the least normal number.
func (f format) least() int { return 2 - 1<<(f.exponent-1) }

// encode returns the code of the number of the format that is nearest to x, of two the even one; and of the greatest
// finite number, if x is greater. x must not be NaN.
func (f format) encode(x float32) uint16 {
	magnitude := math.Abs(float64(x))
	e := f.least()
	if magnitude > 0 {
		e = max(e, math.Ilogb(magnitude))
	}
	// A carry out of the fraction increases the exponent.
	code := int(math.RoundToEven(math.Ldexp(magnitude, f.fraction-e))) + (e-f.least())<<f.fraction
	code = min(code, int(f.greatest))
	if math.Signbit(float64(x)) {
		code |= 1 << (f.exponent + f.fraction)
	}
	return uint16(code)
}

// decode returns the number with a code, which must be finite.
func (f format) decode(code uint16) float32 {
	fraction := int(code) & (1<<f.fraction - 1)
	biased := int(code) >> f.fraction & (1<<f.exponent - 1)
	if biased > 0 {
		fraction |= 1 << f.fraction
	}
	x := math.Ldexp(float64(fraction), max(biased-1, 0)+f.least()-f.fraction)
	if code>>(f.exponent+f.fraction)&1 != 0 {
		x = math.Copysign(x, -1)
	}
	return float32(x)
}

// randoms returns the codes of n numbers, from lo to hi.
func (f format) randoms(r *rng, n int, lo, hi float32) []uint16 {
	codes := make([]uint16, n)
	for i := range codes {
		codes[i] = f.encode(lo + (hi-lo)*r.float())
	}
	return codes
}

// numbers returns the numbers with the given codes.
func (f format) numbers(codes []uint16) []float64 {
	list := make([]float64, len(codes))
	for i, c := range codes {
		list[i] = float64(f.decode(c))
	}
	return list
}
