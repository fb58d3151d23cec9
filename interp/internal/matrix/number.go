package matrix

// This file decodes floating-point elements.

import (
	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// format is a floating-point format and the position of its bits in an element.
type format struct {
	*fp.Format
	shift int // position of the lowest bit
}

// shifts holds the position of a number's lowest bit in its element, for types where it is not 0.
var shifts = map[ptx.Type]int{
	ptx.TF32: 13, // the upper 19 bits of a register; the remaining bits are ignored
	ptx.E2M1: 2,  // bits 2 to 5 of a byte
}

func formatOf(t ptx.Type) format {
	if t == ptx.F32 {
		return format{&fp.F32, 0}
	}
	return format{fp.FormatOf(t), shifts[t]}
}

// number is the value mant · 2^(exp−frac), where frac is the number of fraction bits of its format. An infinity or NaN has
// the exponent inf or nan, and mant has its sign. A subnormal number has the exponent of the least normal number.
type number struct {
	mant int32
	exp  int32
}

// inf and nan are the exponents of infinities and NaNs. The sum of a finite exponent and inf is above inf/2.
const inf, nan = 1 << 20, 1 << 21

func (f *format) decode(v uint64) number {
	neg, mant, exp, class := f.Split(v >> f.shift)
	n := number{int32(mant), int32(exp)}
	switch class {
	case fp.Infinite:
		n = number{1, inf}
	case fp.NotANumber:
		n = number{1, nan}
	}
	if neg {
		n.mant = -n.mant
	}
	return n
}

// sign returns the sign bit of a format with infinities.
func (f *format) sign() uint64 { return f.Infinity(true) ^ f.Infinity(false) }
