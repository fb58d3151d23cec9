package alu

// This file holds arithmetic of half precision: manual section 9.7.4. Every number of f16
// and bf16 is one of f32; sums and products are rounded once.

import (
	"math"

	"gemu/interp/internal/fp"
)

// halfFormat is what sets f16 and bf16 apart.
type halfFormat struct {
	wide   func(h uint16) float32
	narrow func(x float64, r fp.Rounding) uint16
	normal float64 // the least normal number
	tiny   float64 // what is below rounds to less than that, if there were smaller normal numbers
}

var (
	f16  = halfFormat{fp.F16ToF32, fp.F64ToF16, 0x1p-14, 0x1p-14 - 0x1p-26}
	bf16 = halfFormat{fp.BF16ToF32, fp.F64ToBF16, 0x1p-126, 0x1p-126 - 0x1p-135}
)

//gemu:kernel float.f16 slow
func floatOpF16(a, b, c uint16, imm uint64) uint16 { return f16.op(a, b, c, floatSpec(imm)) }

//gemu:kernel float.bf16 slow
func floatOpBF16(a, b, c uint16, imm uint64) uint16 { return bf16.op(a, b, c, floatSpec(imm)) }

//gemu:kernel float.f16x2 slow
func floatOpF16x2(a, b, c uint32, imm uint64) uint32 { return f16.op2(a, b, c, floatSpec(imm)) }

//gemu:kernel float.bf16x2 slow
func floatOpBF16x2(a, b, c uint32, imm uint64) uint32 { return bf16.op2(a, b, c, floatSpec(imm)) }

// op2 is op on both halves.
func (h *halfFormat) op2(a, b, c uint32, s FloatSpec) uint32 {
	lo := h.op(uint16(a), uint16(b), uint16(c), s)
	hi := h.op(uint16(a>>16), uint16(b>>16), uint16(c>>16), s)
	return pack2(uint32(lo), uint32(hi))
}

// op is an operation on one number of the format.
func (h *halfFormat) op(a, b, c uint16, s FloatSpec) uint16 {
	x, y, z := h.wide(a), h.wide(b), h.wide(c)
	if s.FTZ {
		x, y, z = h.flush(x), h.flush(y), h.flush(z)
	}
	var r float64
	switch s.Op {
	case FAdd:
		r = fp.Sum(float64(x), float64(y), s.Rnd)
	case FSub:
		r = fp.Sum(float64(x), -float64(y), s.Rnd)
	case FMul:
		r = float64(x) * float64(y)
	case FFma:
		r = fp.Sum(float64(float64(x)*float64(y)), float64(z), s.Rnd)
	case FMin, FMax:
		r = float64(minMax32(s, x, y))
	case FAbs:
		r = math.Abs(float64(x))
	case FNeg:
		r = -float64(x)
	case FEx2:
		r = float64(fp.Ex2Approx32(x))
	case FTanh:
		r = float64(fp.TanhApprox32(x))
	default:
		panic("BUG: no such operation of halves")
	}
	if s.FTZ && math.Abs(r) < h.tiny {
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

// flush makes zeros of subnormal numbers.
func (h *halfFormat) flush(x float32) float32 {
	if math.Abs(float64(x)) < h.normal {
		return float32(math.Copysign(0, float64(x)))
	}
	return x
}
