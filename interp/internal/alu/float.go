package alu

// This file holds floating-point arithmetic (manual section 9.7.3) in the forms that compilers emit: rounded to nearest,
// with or without .ftz. The functions of slow.go execute all other roundings, .sat and the rarer modifiers.
//
// {ftz} in a key makes a kernel without .ftz, and a kernel with .ftz, which flushes subnormal operands and results. The kernel
// with .ftz does not flush a result that has rounded up to the least normal number. mul, fma, div.rn and rcp.rn must flush such a result
// (see fp.F64ToF32FTZ), so they have separate functions for .ftz.

import (
	"math"

	"gemu/interp/internal/fp"
)

//gemu:kernel add$R{ftz}.f32; R = |.rn
func addF32(a, b float32) float32 { return fp.Canon32(a + b) }

//gemu:kernel sub$R{ftz}.f32; R = |.rn
func subF32(a, b float32) float32 { return fp.Canon32(a - b) }

//gemu:kernel mul$R.f32; R = |.rn
func mulF32(a, b float32) float32 { return fp.Canon32(a * b) }

//gemu:kernel mul$R.ftz.f32; R = |.rn
func mulFtzF32(a, b float32) float32 { return fp.MulFTZ32(a, b, fp.RN) }

//gemu:kernel $OP.f32; OP = fma.rn|mad.rn|mad
func fmaF32(a, b, c float32) float32 { return fp.FmaRN32(a, b, c) }

//gemu:kernel $OP.ftz.f32; OP = fma.rn|mad.rn|mad
func fmaFtzF32(a, b, c float32) float32 { return fp.FmaFTZ32(a, b, c, fp.RN) }

// The operations to nearest on two numbers of f32 in 64 bits.
//
//gemu:kernel add$R.f32x2; R = |.rn
func addF32x2(a, b uint64) uint64 {
	return pairOf(addF32(lower(a), lower(b)), addF32(upper(a), upper(b)))
}

//gemu:kernel sub$R.f32x2; R = |.rn
func subF32x2(a, b uint64) uint64 {
	return pairOf(subF32(lower(a), lower(b)), subF32(upper(a), upper(b)))
}

//gemu:kernel add$R.ftz.f32x2; R = |.rn
func addFtzF32x2(a, b uint64) uint64 {
	return pairOf(addFtzF32(lower(a), lower(b)), addFtzF32(upper(a), upper(b)))
}

//gemu:kernel sub$R.ftz.f32x2; R = |.rn
func subFtzF32x2(a, b uint64) uint64 {
	return pairOf(addFtzF32(lower(a), -lower(b)), addFtzF32(upper(a), -upper(b)))
}

//gemu:kernel mul$R.f32x2; R = |.rn
func mulF32x2(a, b uint64) uint64 {
	return pairOf(mulF32(lower(a), lower(b)), mulF32(upper(a), upper(b)))
}

//gemu:kernel mul$R.ftz.f32x2; R = |.rn
func mulFtzF32x2(a, b uint64) uint64 {
	return pairOf(mulFtzF32(lower(a), lower(b)), mulFtzF32(upper(a), upper(b)))
}

//gemu:kernel fma.rn.f32x2
func fmaF32x2(a, b, c uint64) uint64 {
	return pairOf(fmaF32(lower(a), lower(b), lower(c)), fmaF32(upper(a), upper(b), upper(c)))
}

//gemu:kernel fma.rn.ftz.f32x2
func fmaFtzF32x2(a, b, c uint64) uint64 {
	return pairOf(fmaFtzF32(lower(a), lower(b), lower(c)), fmaFtzF32(upper(a), upper(b), upper(c)))
}

// addFtzF32 flushes subnormal operands and results. Sums below the least normal number are exact.
func addFtzF32(a, b float32) float32 { return fp.FTZ32(addF32(fp.FTZ32(a), fp.FTZ32(b))) }

// lower and upper return the numbers of a pair, which pairOf makes.
func lower(v uint64) float32 { return math.Float32frombits(uint32(v)) }
func upper(v uint64) float32 { return math.Float32frombits(uint32(v >> 32)) }

func pairOf(lo, hi float32) uint64 {
	return uint64(math.Float32bits(lo)) | uint64(math.Float32bits(hi))<<32
}

//gemu:kernel add$R.f64; R = |.rn
func addF64(a, b float64) float64 { return fp.Result64(a+b, b, a) }

//gemu:kernel sub$R.f64; R = |.rn
func subF64(a, b float64) float64 { return fp.Result64(a-b, b, a) }

//gemu:kernel mul$R.f64; R = |.rn
func mulF64(a, b float64) float64 { return fp.Result64(a*b, b, a) }

//gemu:kernel $OP.f64; OP = fma.rn|mad.rn|mad
func fmaF64(a, b, c float64) float64 { return fp.FmaRN64(a, b, c) }

//gemu:kernel div.rn.f32
func divF32(a, b float32) float32 { return fp.Canon32(a / b) }

//gemu:kernel div.rn.ftz.f32
func divFtzF32(a, b float32) float32 { return fp.DivFTZ32(a, b, fp.RN) }

//gemu:kernel div.full{ftz}.f32
func divFullF32(a, b float32) float32 { return fp.DivFull32(a, b) }

//gemu:kernel div.approx{ftz}.f32
func divApproxF32(a, b float32) float32 { return fp.DivApprox32(a, b) }

//gemu:kernel div.rn.f64
func divF64(a, b float64) float64 { return fp.Result64(a/b, a, b) }

//gemu:kernel rcp.rn.f32
func rcpF32(a float32) float32 { return fp.Canon32(1 / a) }

//gemu:kernel rcp.rn.ftz.f32
func rcpFtzF32(a float32) float32 { return fp.DivFTZ32(1, a, fp.RN) }

//gemu:kernel rcp.approx{ftz}.f32
func rcpApproxF32(a float32) float32 { return fp.RcpApprox32(a) }

//gemu:kernel rcp.rn.f64
func rcpF64(a float64) float64 { return fp.Result64(1/a, a, a) }

//gemu:kernel rcp.approx.ftz.f64
func rcpApproxF64(a float64) float64 { return fp.RcpApprox64(a) }

//gemu:kernel sqrt.rn{ftz}.f32
func sqrtF32(a float32) float32 { return fp.SqrtRN32(a) }

//gemu:kernel sqrt.approx{ftz}.f32
func sqrtApproxF32(a float32) float32 { return fp.SqrtApprox32(a) }

//gemu:kernel sqrt.rn.f64
func sqrtF64(a float64) float64 { return fp.Result64(math.Sqrt(a), a, a) }

//gemu:kernel rsqrt.approx{ftz}.f32
func rsqrtF32(a float32) float32 { return fp.RsqrtApprox32(a) }

//gemu:kernel rsqrt.approx.f64
func rsqrtF64(a float64) float64 { return fp.Rsqrt64(a) }

//gemu:kernel rsqrt.approx.ftz.f64
func rsqrtFtzF64(a float64) float64 { return fp.RsqrtApprox64(a) }

//gemu:kernel sin.approx{ftz}.f32; common = sinSmallF32 isSmallAngle; takes = 15
func sinF32(a float32) float32 { return fp.SinApprox32(a) }

//gemu:kernel cos.approx{ftz}.f32; common = cosSmallF32 isSmallAngle; takes = 15
func cosF32(a float32) float32 { return fp.CosApprox32(a) }

func isSmallAngle(a float32) bool   { return fp.IsSmallAngle(a) }
func sinSmallF32(a float32) float32 { return fp.SinSmall32(a) }
func cosSmallF32(a float32) float32 { return fp.CosSmall32(a) }

// A subnormal sine becomes zero; no cosine is subnormal.
//
//gemu:kernel sin.approx.ftz.2pi.f32; takes = 7
func sinTurnsF32(a float32) float32 { return fp.FTZ32(fp.SinTurns32(fp.FTZ32(a))) }

//gemu:kernel cos.approx.ftz.2pi.f32; takes = 7
func cosTurnsF32(a float32) float32 { return fp.CosTurns32(a) }

//gemu:kernel lg2.approx{ftz}.f32; takes = 7
func lg2F32(a float32) float32 { return fp.Lg2Approx32(a) }

//gemu:kernel ex2.approx{ftz}.f32; takes = 7
func ex2F32(a float32) float32 { return fp.Ex2Approx32(a) }

//gemu:kernel tanh.approx.f32; takes = 7
func tanhF32(a float32) float32 { return fp.TanhApprox32(a) }

// abs and neg of a NaN of f32 give the canonical NaN; the manual does not define the result. With .ftz a subnormal becomes
// a zero. abs and neg of a NaN of f64 keep its sign and payload, and make it quiet.
//
//gemu:kernel abs{ftz}.f32
func absF32(a float32) float32 {
	return fp.Canon32(math.Float32frombits(math.Float32bits(a) &^ (1 << 31)))
}

//gemu:kernel neg{ftz}.f32
func negF32(a float32) float32 {
	return fp.Canon32(math.Float32frombits(math.Float32bits(a) ^ 1<<31))
}

//gemu:kernel abs.f64
func absF64(a float64) float64 {
	if a != a {
		return fp.Quiet64(a)
	}
	return math.Abs(a)
}

//gemu:kernel neg.f64
func negF64(a float64) float64 {
	if a != a {
		return fp.Quiet64(a)
	}
	return math.Float64frombits(math.Float64bits(a) ^ 1<<63)
}

//gemu:kernel min{ftz}.f32
func minF32(a, b float32) float32 { return fp.Min32(a, b) }

//gemu:kernel max{ftz}.f32
func maxF32(a, b float32) float32 { return fp.Max32(a, b) }

//gemu:kernel min.f64
func minF64(a, b float64) float64 { return fp.Min64(a, b) }

//gemu:kernel max.f64
func maxF64(a, b float64) float64 { return fp.Max64(a, b) }

// copysign returns b with the sign of a (manual 9.7.3.2).
//
//gemu:kernel copysign.f32
func copysignF32(a, b float32) float32 {
	return math.Float32frombits(math.Float32bits(a)&(1<<31) | math.Float32bits(b)&^(1<<31))
}

//gemu:kernel copysign.f64
func copysignF64(a, b float64) float64 {
	return math.Float64frombits(math.Float64bits(a)&(1<<63) | math.Float64bits(b)&^(1<<63))
}

// testpF32 and testpF64 test a property (manual 9.7.3.1). A zero counts as normal.
//
//gemu:kernel testp.$M.f32; M = finite infinite number notanumber normal subnormal slow
func testpF32(a float32, m string) bool {
	bits := math.Float32bits(a)
	return testp(m, bits>>23&0xff == 0, bits>>23&0xff == 0xff, bits<<9 == 0)
}

//gemu:kernel testp.$M.f64; M = finite infinite number notanumber normal subnormal slow
func testpF64(a float64, m string) bool {
	bits := math.Float64bits(a)
	return testp(m, bits>>52&0x7ff == 0, bits>>52&0x7ff == 0x7ff, bits<<12 == 0)
}

func testp(op string, expZero, expOnes, fracZero bool) bool {
	switch op {
	case "finite":
		return !expOnes
	case "infinite":
		return expOnes && fracZero
	case "number":
		return !(expOnes && !fracZero)
	case "notanumber":
		return expOnes && !fracZero
	case "normal":
		return !expOnes && (!expZero || fracZero)
	default: // subnormal
		return expZero && !fracZero
	}
}
