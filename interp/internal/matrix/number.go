package matrix

// This file reads floating point.

import (
	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// format is how a number lies in an element.
type format struct {
	*fp.Format
	shift int // of its bits
}

// shifts are those of numbers that are not in the lowest bits.
var shifts = map[ptx.Type]int{
	ptx.TF32: 13, // in the upper 19 bits of a register; the others are not looked at
	ptx.E2M1: 2,  // in the middle of a byte
}

func formatOf(t ptx.Type) format {
	if t == ptx.F32 {
		return format{&fp.F32, 0}
	}
	return format{fp.FormatOf(t), shifts[t]}
}

// number is a number mant · 2^(exp-frac), where frac is its format's; or an infinity or NaN,
// with the exponent inf or nan and the sign of mant. A subnormal has the exponent of the least
// normal number.
type number struct {
	mant int32
	exp  int32
}

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

// sign is the bit of the sign, of a format with infinities.
func (f *format) sign() uint64 { return f.Infinity(true) ^ f.Infinity(false) }
