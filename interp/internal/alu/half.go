package alu

// This file holds arithmetic of half and mixed precision (manual sections 9.7.4 and 9.7.5). Every number of f16 and bf16 is
// also a number of f32. Sums and products are rounded once.

import (
	"math"

	"gemu/interp/internal/fp"
)

// halfFormat holds the differences between f16 and bf16.
type halfFormat struct {
	wide        func(h uint16) float32 // exact
	narrow      func(x float64, r fp.Rounding) uint16
	leastNormal float64 // the least normal number
	flushBelow  float64 // with .ftz, smaller results become zero: they round to less than leastNormal if the exponent has no lower bound
}

var (
	f16  = halfFormat{fp.F16ToF32, fp.F64ToF16, 0x1p-14, 0x1p-14 - 0x1p-26}
	bf16 = halfFormat{fp.BF16ToF32, fp.F64ToBF16, 0x1p-126, 0x1p-126 - 0x1p-135}
)

// outOfBoundsNaN is the NaN that tensor copies write for elements outside the tensor, without its sign. The manual does not
// specify it; GPUs of sm_120 write 0x7ff7.
const outOfBoundsNaN = 0x7ff7

//gemu:kernel $OP.any.f16; OP = add sub mul fma min max abs neg ex2 tanh; takes = 63 slow
func anyF16(op floatOp, a, b, c uint16, imm uint64) uint16 {
	return f16.compute(op, a, b, c, modifiersFromImm(imm))
}

//gemu:kernel $OP.any.bf16; OP = add sub mul fma min max abs neg ex2 tanh; takes = 63 slow
func anyBF16(op floatOp, a, b, c uint16, imm uint64) uint16 {
	return bf16.compute(op, a, b, c, modifiersFromImm(imm))
}

//gemu:kernel $OP.any.f16x2; OP = add sub mul fma min max abs neg ex2 tanh; takes = 63 slow
func anyF16x2(op floatOp, a, b, c uint32, imm uint64) uint32 {
	return f16.computeBoth(op, a, b, c, modifiersFromImm(imm))
}

//gemu:kernel $OP.any.bf16x2; OP = add sub mul fma min max abs neg ex2 tanh; takes = 63 slow
func anyBF16x2(op floatOp, a, b, c uint32, imm uint64) uint32 {
	return bf16.computeBoth(op, a, b, c, modifiersFromImm(imm))
}

// computeBoth computes the operation on both halves of its operands.
func (h *halfFormat) computeBoth(op floatOp, a, b, c uint32, s Modifiers) uint32 {
	lo := h.compute(op, uint16(a), uint16(b), uint16(c), s)
	hi := h.compute(op, uint16(a>>16), uint16(b>>16), uint16(c>>16), s)
	return pack2(uint32(lo), uint32(hi))
}

// compute computes the operation on numbers of the format.
func (h *halfFormat) compute(op floatOp, a, b, c uint16, s Modifiers) uint16 {
	if s.OutOfBounds && (a&0x7fff == outOfBoundsNaN || b&0x7fff == outOfBoundsNaN) {
		return 0
	}
	x, y, z := h.wide(a), h.wide(b), h.wide(c)
	if s.FTZ {
		x, y, z = h.flush(x), h.flush(y), h.flush(z)
	}
	var r float64
	switch op {
	case opAdd:
		r = fp.Sum(float64(x), float64(y), s.Rnd)
	case opSub:
		r = fp.Sum(float64(x), -float64(y), s.Rnd)
	case opMul:
		r = float64(x) * float64(y)
	case opFma:
		r = fp.Sum(float64(float64(x)*float64(y)), float64(z), s.Rnd)
	case opMin, opMax:
		r = float64(minMax32(op, s, x, y, uint32(a^b)>>15<<31))
	case opAbs:
		r = math.Abs(float64(x))
	case opNeg:
		r = -float64(x)
	case opEx2:
		r = float64(fp.Ex2Approx32(x))
	case opTanh:
		r = float64(fp.TanhApprox32(x))
	default:
		panic("BUG: no such operation of halves")
	}
	if s.FTZ && math.Abs(r) < h.flushBelow {
		r = math.Copysign(0, r)
	}
	switch {
	case s.Sat:
		r = fp.Sat64(r)
	case s.Relu && r <= 0:
		r = 0
	}
	return h.narrow(r, s.Rnd)
}

// flush turns subnormal numbers into zeros.
func (h *halfFormat) flush(x float32) float32 {
	if math.Abs(float64(x)) < h.leastNormal {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}

// The following operations have mixed precision: operands of f16 or bf16, and a result of f32.
//
//gemu:kernel $OP.any.f32.f16; OP = add sub; takes = 63 slow
func mixedF16(op floatOp, a uint16, c float32, imm uint64) float32 {
	return anyF32(op, fp.F16ToF32(a), c, 0, imm)
}

//gemu:kernel $OP.any.f32.bf16; OP = add sub; takes = 63 slow
func mixedBF16(op floatOp, a uint16, c float32, imm uint64) float32 {
	return anyF32(op, fp.BF16ToF32(a), c, 0, imm)
}

//gemu:kernel $OP.any.f32.f16; OP = fma; takes = 63 slow
func mixedFmaF16(op floatOp, a, b uint16, c float32, imm uint64) float32 {
	return anyF32(op, fp.F16ToF32(a), fp.F16ToF32(b), c, imm)
}

//gemu:kernel $OP.any.f32.bf16; OP = fma; takes = 63 slow
func mixedFmaBF16(op floatOp, a, b uint16, c float32, imm uint64) float32 {
	return anyF32(op, fp.BF16ToF32(a), fp.BF16ToF32(b), c, imm)
}
