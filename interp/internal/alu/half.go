package alu

// This file holds arithmetic of half and mixed precision (manual sections 9.7.4 and 9.7.5). Every number of f16 and bf16 is
// also a number of f32, in which sums, products and functions are computed before they are rounded to 16 bits. All other steps
// are operations on the bits of 16-bit numbers.

import (
	"math"

	"gemu/interp/internal/fp"
)

// halfFormat holds the differences between f16 and bf16.
type halfFormat struct {
	wide       func(h uint16) float32 // exact; a NaN becomes any NaN
	narrow     func(x float32, r fp.Rounding) uint16
	inf, one   uint16  // the bits of infinity and of 1
	flushBelow float32 // with .ftz, smaller results become zero: they round to less than the least normal number if the exponent has no lower bound
}

var (
	f16  = halfFormat{fp.WidenF16, fp.F32ToF16, 0x7c00, 0x3c00, 0x1p-14 - 0x1p-26}
	bf16 = halfFormat{fp.BF16ToF32, fp.F32ToBF16, 0x7f80, 0x3f80, 0x1p-126 - 0x1p-135}
)

// outOfBoundsNaN is the NaN that tensor copies write for elements outside the tensor, without its sign. The manual does not
// specify it; GPUs of sm_120 write 0x7ff7.
const outOfBoundsNaN = 0x7ff7

// Only fma.bf16 has other rounding modes than to nearest; of the other operations on bf16, only min, max and fma have
// modifiers. Operations on pairs that convert f16, or have no conversion, compute on halves; all other operations on pairs widen
// both halves in their lane. In directives, 0x4000 is the Imm of .relu.

// anyF16 computes an operation on f16.
//
//gemu:kernel $OP.any.f16; OP = add sub mul min max abs neg; own loop = 0 slow
//gemu:kernel $OP.any.f16; OP = fma; own loop = 0 0x4000 slow
//gemu:kernel $OP.any.f16x2; OP = add sub mul min max abs neg; halves; own loop = 0 slow
//gemu:kernel $OP.any.f16x2; OP = fma; halves; own loop = 0 0x4000 slow
func anyF16(op floatOp, a, b, c uint16, imm uint64) uint16 {
	return f16.compute(op, a, b, c, modifiersFromImm(imm), fp.RN)
}

// functionF16 computes a function of f16, which has no modifiers.
//
//gemu:kernel $OP.any.f16; OP = ex2 tanh slow
//gemu:kernel $OP.any.f16x2; OP = ex2 tanh; halves slow
func functionF16(op floatOp, a uint16) uint16 {
	return f16.compute(op, a, 0, 0, Modifiers{}, fp.RN)
}

// ftzBF16 computes a function of bf16 that always has .ftz.
//
//gemu:kernel $OP.any.bf16; OP = ex2 slow
//gemu:kernel $OP.any.bf16x2; OP = ex2; halves slow
func ftzBF16(op floatOp, a uint16) uint16 {
	return bf16.compute(op, a, 0, 0, Modifiers{FTZ: true}, fp.RN)
}

// functionBF16 computes a function of bf16 without modifiers.
//
//gemu:kernel $OP.any.bf16; OP = tanh slow
//gemu:kernel $OP.any.bf16x2; OP = tanh; halves slow
func functionBF16(op floatOp, a uint16) uint16 {
	return bf16.compute(op, a, 0, 0, Modifiers{}, fp.RN)
}

//gemu:kernel $OP.any.bf16; OP = min max; own loop = 0 slow
//gemu:kernel $OP.any.bf16x2; OP = min max; halves; own loop = 0 slow
func anyBF16(op floatOp, a, b, c uint16, imm uint64) uint16 {
	return bf16.compute(op, a, b, c, modifiersFromImm(imm), fp.RN)
}

//gemu:kernel $OP.any.bf16; OP = add sub mul abs neg slow
//gemu:kernel $OP.any.bf16x2; OP = abs neg; halves slow
func plainBF16(op floatOp, a, b uint16) uint16 {
	return bf16.compute(op, a, b, 0, Modifiers{}, fp.RN)
}

//gemu:kernel $OP.any.bf16x2; OP = add sub mul slow
func plainBF16x2(op floatOp, a, b uint32) uint32 {
	return bf16.computeBoth(op, a, b, 0, Modifiers{}, fp.RN)
}

//gemu:kernel fma.any.bf16; own loop = 0 0x4000; takes = 7 slow
func fmaBF16(a, b, c uint16, imm uint64) uint16 {
	return bf16.compute(opFma, a, b, c, modifiersFromImm(imm), fp.Rounding(imm))
}

//gemu:kernel fma.any.bf16x2; own loop = 0 0x4000; takes = 7 slow
func fmaBF16x2(a, b, c uint32, imm uint64) uint32 {
	return bf16.computeBoth(opFma, a, b, c, modifiersFromImm(imm), fp.Rounding(imm))
}

// computeBoth computes the operation on both halves of its operands.
func (h *halfFormat) computeBoth(op floatOp, a, b, c uint32, s Modifiers, r fp.Rounding) uint32 {
	lo := h.compute(op, uint16(a), uint16(b), uint16(c), s, r)
	hi := h.compute(op, uint16(a>>16), uint16(b>>16), uint16(c>>16), s, r)
	return pack2(uint32(lo), uint32(hi))
}

// compute computes the operation on numbers of the format, in rounding mode r; it ignores s.Rnd. Only fma of bf16 has several rounding
// modes. The callers for all other operations pass the constant fp.RN, so that clang omits the code for other modes.
//
// Sums and products to nearest are rounded twice, to f32 and to the format, with the result of a single rounding: f32 has more
// than twice the format's precision, sums below its least normal number are exact, and TestHalfProducts tries the products.
func (h *halfFormat) compute(op floatOp, a, b, c uint16, s Modifiers, r fp.Rounding) uint16 {
	outOfBounds := a&0x7fff == outOfBoundsNaN || b&0x7fff == outOfBoundsNaN
	sign := (a ^ b) & 0x8000
	if s.FTZ {
		a, b, c = h.flush(a), h.flush(b), h.flush(c)
	}
	var d uint16
	switch op {
	case opMin, opMax:
		d = h.minMax(op, s, a, b, sign)
	case opAbs:
		d = h.canonical(a & 0x7fff)
	case opNeg:
		d = h.canonical(a ^ 0x8000)
	default:
		x := h.inF32(op, h.wide(a), h.wide(b), h.wide(c), r)
		if s.FTZ && math.Float32bits(x)&^(1<<31) < math.Float32bits(h.flushBelow) {
			x = math.Float32frombits(math.Float32bits(x) & (1 << 31))
		}
		d = h.narrow(x, r)
	}
	if s.Sat {
		d = h.saturate(d)
	} else if s.Relu && int16(d) <= 0 {
		d = 0
	}
	if s.OutOfBounds && outOfBounds {
		return 0
	}
	return d
}

// inF32 computes the operation on numbers of f32. A further rounding to the format in mode r is then correct.
func (h *halfFormat) inF32(op floatOp, x, y, z float32, r fp.Rounding) float32 {
	switch op {
	case opAdd:
		return x + y
	case opSub:
		return x - y
	case opMul:
		return x * y
	case opFma:
		return fp.FmaHalf(x, y, z, r)
	case opEx2:
		return fp.Ex2Half(x)
	case opTanh:
		return fp.TanhHalf(x)
	}
	panic("BUG: no such operation of halves")
}

// flush turns subnormal numbers into zeros.
func (h *halfFormat) flush(a uint16) uint16 {
	if a&h.inf == 0 {
		return a & 0x8000
	}
	return a
}

// isNaN reports whether a is any NaN.
func (h *halfFormat) isNaN(a uint16) bool { return a&0x7fff > h.inf }

// canonical returns a, or the canonical NaN if a is any NaN.
func (h *halfFormat) canonical(a uint16) uint16 {
	if h.isNaN(a) {
		return fp.NaN16
	}
	return a
}

// saturate clamps a canonical number to [0, 1]. NaN becomes 0.
func (h *halfFormat) saturate(a uint16) uint16 {
	if int16(a) <= 0 || a > h.inf {
		return 0
	}
	return min(a, h.one)
}

// halfOrder maps numbers of either format to integers in the same order; -0 is less than +0.
func halfOrder(a uint16) int16 { return int16(a) ^ int16(a)>>15&0x7fff }

// minMax executes min and max with their modifiers. sign is the sign of the result with .xorsign.
func (h *halfFormat) minMax(op floatOp, s Modifiers, a, b, sign uint16) uint16 {
	if s.Abs {
		a, b = a&0x7fff, b&0x7fff
	}
	aNaN, bNaN := h.isNaN(a), h.isNaN(b)
	first := halfOrder(a) < halfOrder(b)
	if op == opMax {
		first = halfOrder(a) > halfOrder(b)
	}
	d := b
	if first {
		d = a
	}
	if aNaN {
		d = b
	}
	if bNaN {
		d = a
	}
	if s.XorSign {
		d = d&0x7fff | sign
	}
	if aNaN && bNaN || s.NaN && (aNaN || bNaN) {
		return fp.NaN16
	}
	return d
}

// The following operations have mixed precision: operands of f16 or bf16, and a result of f32.
//
//gemu:kernel $OP.any.f32.f16; OP = add sub; own loop = 0; takes = 63 slow
func mixedF16(op floatOp, a uint16, c float32, imm uint64) float32 {
	return mixedF32(op, fp.WidenF16(a), c, 0, imm)
}

//gemu:kernel $OP.any.f32.bf16; OP = add sub; own loop = 0; takes = 63 slow
func mixedBF16(op floatOp, a uint16, c float32, imm uint64) float32 {
	return mixedF32(op, fp.BF16ToF32(a), c, 0, imm)
}

//gemu:kernel $OP.any.f32.f16; OP = fma; own loop = 0; takes = 63 slow
func mixedFmaF16(op floatOp, a, b uint16, c float32, imm uint64) float32 {
	return mixedF32(op, fp.WidenF16(a), fp.WidenF16(b), c, imm)
}

//gemu:kernel $OP.any.f32.bf16; OP = fma; own loop = 0; takes = 63 slow
func mixedFmaBF16(op floatOp, a, b uint16, c float32, imm uint64) float32 {
	return mixedF32(op, fp.BF16ToF32(a), fp.BF16ToF32(b), c, imm)
}

// mixedF32 is anyF32 for numbers of which a NaN is any NaN, with few operations for the rounding to nearest without modifiers.
func mixedF32(op floatOp, a, b, c float32, imm uint64) float32 {
	if imm != 0 {
		return anyF32(op, a, b, c, imm)
	}
	switch op {
	case opAdd:
		return fp.Canon32(a + b)
	case opSub:
		return fp.Canon32(a - b)
	}
	return fp.FmaRN32(a, b, c)
}
