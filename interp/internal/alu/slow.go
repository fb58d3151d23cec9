package alu

// This file holds forms of float arithmetic and conversion that compilers seldom emit. Instr.Imm describes the form, and
// each lane decodes it.

import (
	"math"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// Modifiers are the modifiers of float arithmetic, for an operation "NAME.any.TYPE".
type Modifiers struct {
	Rnd           fp.Rounding
	FTZ           bool // flush subnormal operands and results
	Sat           bool // clamp to [0, 1]
	NaN           bool // min, max: the result is NaN if an operand is
	XorSign       bool // min, max: the result has the exclusive or of the operands' signs
	Abs           bool // min, max: compare magnitudes
	ThreeOperands bool // min, max: a third operand
	Relu          bool // negative results become zero
	OutOfBounds   bool // for halves: the result is zero if an operand is the OOB NaN
}

// Imm encodes the modifiers for Instr.Imm, in the low 32 bits.
func (m Modifiers) Imm() uint64 {
	v := uint64(m.Rnd)
	for i, b := range []bool{m.FTZ, m.Sat, m.NaN, m.XorSign, m.Abs, m.ThreeOperands, m.Relu, m.OutOfBounds} {
		if b {
			v |= 1 << (8 + i)
		}
	}
	return v
}

func modifiersFromImm(imm uint64) Modifiers {
	flag := func(i int) bool { return imm>>(8+i)&1 != 0 }
	return Modifiers{fp.Rounding(imm), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5), flag(6), flag(7)}
}

// floatOp is an operation that is a parameter of a function. A directive names it as a choice of $OP, and the generator
// writes the constant: opAdd for add.
type floatOp uint8

const (
	opAdd floatOp = iota
	opSub
	opMul
	opFma
	opDiv
	opRcp
	opSqrt
	opMin
	opMax
	opAbs // only for halves, from here on
	opNeg
	opEx2
	opTanh
)

// 0x400 is the Imm of .NaN, and 0x500 with .ftz.
//
//gemu:kernel $OP.any.f32; OP = add sub mul fma|mad div rcp sqrt; takes = 63 slow
//gemu:kernel $OP.any.f32; OP = min max; own loop = 0x400 0x500; takes = 63 slow
func anyF32(op floatOp, a, b, c float32, imm uint64) float32 {
	s := modifiersFromImm(imm)
	mul, div, fma := fp.Mul32, fp.Div32, fp.Fma32
	if s.FTZ {
		a, b, c = fp.FTZ32(a), fp.FTZ32(b), fp.FTZ32(c)
		mul, div, fma = fp.MulFTZ32, fp.DivFTZ32, fp.FmaFTZ32
	}
	var r float32
	switch op {
	case opAdd:
		r = fp.Add32(a, b, s.Rnd)
	case opSub:
		r = fp.Add32(a, -b, s.Rnd)
	case opMul:
		r = mul(a, b, s.Rnd)
	case opFma:
		r = fma(a, b, c, s.Rnd)
	case opDiv:
		r = div(a, b, s.Rnd)
	case opRcp:
		r = div(1, a, s.Rnd)
	case opSqrt:
		r = fp.Sqrt32(a, s.Rnd)
	case opMin, opMax:
		r = minMax32(op, s, a, b, (math.Float32bits(a)^math.Float32bits(b))&(1<<31))
		if s.ThreeOperands {
			r = minMax32(op, s, r, c, 0) // without .xorsign
		}
	default:
		panic("BUG: no such operation of .f32")
	}
	if s.FTZ {
		r = fp.FTZ32(r)
	}
	if s.Sat {
		r = fp.Sat32(r)
	}
	return r
}

// minMax32 executes min and max with their modifiers (manual 9.7.3.11). sign is the sign bit of the result with .xorsign;
// the signs of NaN operands count for it, too.
func minMax32(op floatOp, s Modifiers, a, b float32, sign uint32) float32 {
	if s.Abs {
		a, b = absF32(a), absF32(b)
	}
	var r float32
	switch {
	case op == opMin && s.NaN:
		r = fp.MinNaN32(a, b)
	case op == opMin:
		r = fp.Min32(a, b)
	case s.NaN:
		r = fp.MaxNaN32(a, b)
	default:
		r = fp.Max32(a, b)
	}
	if s.XorSign && r == r {
		r = math.Float32frombits(math.Float32bits(r)&^(1<<31) | sign)
	}
	return r
}

//gemu:kernel $OP.any.f64; OP = add sub mul fma|mad div rcp sqrt min max; takes = 63 slow
func anyF64(op floatOp, a, b, c float64, imm uint64) float64 {
	s := modifiersFromImm(imm)
	var r float64
	switch op {
	case opAdd:
		r = fp.Add64(a, b, s.Rnd)
	case opSub:
		r = fp.Add64(a, negF64(b), s.Rnd)
	case opMul:
		r = fp.Mul64(a, b, s.Rnd)
	case opFma:
		r = fp.Fma64(a, b, c, s.Rnd)
	case opDiv:
		r = fp.Div64(a, b, s.Rnd)
	case opRcp:
		r = fp.Div64(1, a, s.Rnd)
	case opSqrt:
		r = fp.Sqrt64(a, s.Rnd)
	case opMin:
		r = fp.Min64(a, b)
	case opMax:
		r = fp.Max64(a, b)
	default:
		panic("BUG: no such operation of .f64")
	}
	return r
}

//gemu:kernel $OP.any.f32x2; OP = add sub mul fma; takes = 63 slow
func anyF32x2(op floatOp, a, b, c uint64, imm uint64) uint64 {
	half := func(shift int) uint64 {
		f := func(v uint64) float32 { return math.Float32frombits(uint32(v >> shift)) }
		return uint64(math.Float32bits(anyF32(op, f(a), f(b), f(c), imm)))
	}
	return half(0) | half(32)<<32
}

// ConvertSpec describes a conversion.
type ConvertSpec struct {
	Dst, Src  ptx.Type
	Rnd       fp.Rounding
	Integral  bool // rounds to an integral value: .rni .rzi .rmi .rpi
	FTZ       bool
	Sat       bool
	Relu      bool // negative results become zero
	SatFinite bool // a result that is too large becomes the largest finite number
	HasSecond bool // there is a second operand: random bits for fp.RS, or a scale
	PlusZero  bool // zero results are positive
	Flush     bool // subnormal sources become zero
}

// Imm encodes the description for Instr.Imm.
func (s ConvertSpec) Imm() uint64 {
	v := uint64(s.Dst) | uint64(s.Src)<<8 | uint64(s.Rnd)<<16
	for i, b := range []bool{s.Integral, s.FTZ, s.Sat, s.Relu, s.SatFinite, s.HasSecond, s.PlusZero, s.Flush} {
		if b {
			v |= 1 << (24 + i)
		}
	}
	return v
}

func convertSpecFromImm(imm uint64) ConvertSpec {
	flag := func(i int) bool { return imm>>(24+i)&1 != 0 }
	return ConvertSpec{ptx.Type(imm), ptx.Type(imm >> 8), fp.Rounding(imm >> 16), flag(0), flag(1), flag(2), flag(3), flag(4), flag(5), flag(6), flag(7)}
}

//gemu:kernel convert.b32.b32 slow
func convert3232(a uint32, imm uint64) uint32 { return uint32(convert(uint64(a), imm)) }

//gemu:kernel convert.b32.b64 slow
func convert3264(a uint64, imm uint64) uint32 { return uint32(convert(a, imm)) }

//gemu:kernel convert.b64.b32 slow
func convert6432(a uint32, imm uint64) uint64 { return convert(uint64(a), imm) }

//gemu:kernel convert.b64.b64 slow
func convert6464(a uint64, imm uint64) uint64 { return convert(a, imm) }

// convertWith executes a conversion with a second operand b: the random bits of .rs, or a scale of type .ue8m0.
//
//gemu:kernel convert.with.b32 slow
func convertWith(a, b uint32, imm uint64) uint32 { return uint32(convertSecond(uint64(a), b, imm)) }

// RandomBits is the number of random bits that a conversion to type t uses.
func RandomBits(t ptx.Type) int {
	if t == ptx.F16 {
		return 13
	}
	return 16
}

// convert executes a cvt without a second operand (manual 9.7.9.21). The result is in the low bits, zero-extended.
func convert(x, imm uint64) uint64 { return convertSecond(x, 0, imm) }

// convertSecond executes a cvt with the second operand b, which ConvertSpec may leave unused.
func convertSecond(x uint64, b uint32, imm uint64) uint64 {
	s := convertSpecFromImm(imm)
	if s.Src.IsInt() {
		return convertInt(x, s)
	}
	if s.Src == ptx.F64 {
		v := math.Float64frombits(x)
		if s.Dst.IsInt() {
			return fp.F64ToInt(v, s.Rnd, s.Dst.Bits(), s.Dst.IsSigned())
		}
		if s.Integral {
			v = fp.RoundIntegral64(v, s.Rnd)
		}
		if v != v && !s.Sat {
			return nanOf64(v, s.Dst)
		}
		return narrow(v, s)
	}
	plain := ConvertSpec{Dst: ptx.F32, Src: s.Src, Rnd: s.Rnd}
	switch { // these two keep all bits, also of a NaN
	case s == plain && s.Src == ptx.F32:
		return x
	case s == plain && s.Src == ptx.BF16:
		return x << 16
	}
	// All numbers of formats with fewer than 64 bits are numbers of f32.
	var v float32
	switch f := fp.FormatOf(s.Src); {
	case s.Src == ptx.F16:
		v = fp.F16ToF32(uint16(x))
	case s.Src == ptx.BF16:
		v = fp.BF16ToF32(uint16(x))
	case f != nil:
		v = float32(f.Value(x))
	default:
		v = math.Float32frombits(uint32(x))
		if s.FTZ && s.Dst != ptx.F16 { // GPUs ignore .ftz in conversions to .f16
			v = fp.Canon32(fp.FTZ32(v))
		}
	}
	if s.Dst.IsInt() {
		return fp.F32ToInt(v, s.Rnd, s.Dst.Bits(), s.Dst.IsSigned())
	}
	if s.Integral {
		v = fp.RoundIntegral32(v, s.Rnd)
	}
	wide := fp.F32ToF64(v)
	if s.Src == ptx.F16 && v != v {
		wide = fp.F16ToF64(uint16(x)) // keeps its payload
	}
	if s.Flush && math.Abs(wide) < leastNormalOf(s.Src) {
		wide = math.Copysign(0, wide)
	}
	if s.HasSecond && s.Rnd != fp.RS {
		// Both operations are exact: the product of a number of f32 and a power of two is a number of f64.
		if scale := fp.UE8M0.Value(uint64(b)); s.Dst == ptx.BF16 {
			wide *= scale
		} else {
			wide /= scale
		}
	}
	return narrowRandom(wide, b, s)
}

// leastNormalOf returns the least normal number of .f16, .bf16 or .f32.
func leastNormalOf(t ptx.Type) float64 {
	if t == ptx.F16 {
		return 0x1p-14
	}
	return 0x1p-126
}

// convertInt executes a conversion from an integer.
func convertInt(x uint64, s ConvertSpec) uint64 {
	n := 64 - s.Src.Bits()
	signed := s.Src.IsSigned()
	if signed {
		x = uint64(int64(x<<n) >> n)
	} else {
		x = x << n >> n
	}
	if s.Dst.IsInt() {
		bits := s.Dst.Bits()
		if s.Sat {
			x = saturate(x, signed, bits, s.Dst.IsSigned())
		}
		return x << (64 - bits) >> (64 - bits)
	}
	var r uint64
	switch s.Dst {
	case ptx.F64:
		f := fp.U64ToF64(x, s.Rnd)
		if signed {
			f = fp.I64ToF64(int64(x), s.Rnd)
		}
		if s.Sat {
			f = fp.Sat64(f)
		}
		r = math.Float64bits(f)
	case ptx.F32:
		f := fp.U64ToF32(x, s.Rnd)
		if signed {
			f = fp.I64ToF32(int64(x), s.Rnd)
		}
		if s.Sat {
			f = fp.Sat32(f)
		}
		r = uint64(math.Float32bits(f))
	case ptx.F16:
		h := fp.U64ToF16(x, s.Rnd)
		if signed {
			h = fp.I64ToF16(int64(x), s.Rnd)
		}
		if s.Sat {
			h = fp.F32ToF16(fp.Sat32(fp.F16ToF32(h)), fp.RN)
		}
		r = uint64(h)
	case ptx.BF16:
		h := fp.U64ToBF16(x, s.Rnd)
		if signed {
			h = fp.I64ToBF16(int64(x), s.Rnd)
		}
		if s.Sat {
			h = fp.F32ToBF16(fp.Sat32(fp.BF16ToF32(h)), fp.RN)
		}
		r = uint64(h)
	}
	return r
}

// saturate clamps an integer to the range of n bits. signed tells whether x is signed, and dstSigned whether the range is.
func saturate(x uint64, signed bool, n int, dstSigned bool) uint64 {
	switch {
	case dstSigned:
		hi := int64(1)<<(n-1) - 1
		if !signed {
			return min(x, uint64(hi))
		}
		return uint64(max(-hi-1, min(int64(x), hi)))
	case signed && int64(x) < 0:
		return 0
	case n < 64:
		return min(x, 1<<n-1)
	}
	return x
}

// nanOf64 converts a NaN of .f64 to type t.
func nanOf64(v float64, t ptx.Type) uint64 {
	switch t {
	case ptx.F64:
		return math.Float64bits(v)
	case ptx.F32:
		return fp.F32.NarrowNaN(v)
	}
	return fp.FormatOf(t).NarrowNaN(v) // .f16 or .bf16
}

// narrow rounds a float to the destination format, with the modifiers of s.
func narrow(v float64, s ConvertSpec) uint64 { return narrowRandom(v, 0, s) }

// narrowRandom is narrow with random bits for the mode fp.RS.
func narrowRandom(v float64, random uint32, s ConvertSpec) uint64 {
	if s.Sat {
		v = fp.Sat64(v)
	}
	if s.Relu && v <= 0 {
		v = 0
	}
	switch s.Dst {
	case ptx.F64:
		return math.Float64bits(v)
	case ptx.F32:
		if s.FTZ {
			return uint64(math.Float32bits(fp.F64ToF32FTZ(v, s.Rnd)))
		}
		return uint64(math.Float32bits(fp.F64ToF32(v, s.Rnd)))
	}
	f := fp.FormatOf(s.Dst)
	bits := f.Convert(v, s.Rnd, uint64(random)<<(64-RandomBits(s.Dst)), s.SatFinite)
	if s.PlusZero && f.Value(bits) == 0 {
		bits = 0
	}
	if s.Dst == ptx.TF32 {
		bits <<= 13
	}
	return bits
}

// cvtPack executes cvt.pack.sat (manual 9.7.9.22): it saturates a and b to size bits each. b is in the lowest bits of the
// result, a above b, and c, if there is one, above a. imm has the size in bits 0 to 7. Bit 8 is set for a signed
// destination, bit 9 for signed sources, and bit 10 if there is no c.
//
//gemu:kernel cvt.pack slow
func cvtPack(a, b, c uint32, imm uint64) uint32 {
	size := int(imm & 0xff)
	part := func(v uint32) uint32 {
		x := uint64(v)
		signed := imm>>9&1 != 0
		if signed {
			x = uint64(int64(int32(v)))
		}
		return uint32(saturate(x, signed, size, imm>>8&1 != 0)) & (1<<size - 1)
	}
	d := part(b) | part(a)<<size
	if imm>>10&1 == 0 {
		d |= c << (2 * size)
	}
	return d
}

//gemu:kernel ftz.f32
func ftzF32(a float32) float32 { return fp.FTZ32(a) }

// ftzF16 turns subnormal numbers into zeros.
//
//gemu:kernel ftz.f16
func ftzF16(a uint16) uint16 {
	if a&0x7c00 == 0 {
		return a & 0x8000
	}
	return a
}
