package alu

import (
	"math"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// TestHalfProducts shows that the product of two numbers of bf16, rounded to f32 and to bf16, is rounded as if once, also below
// the least normal number of f32: it tries all significands of 8 bits, at all exponents of such products.
func TestHalfProducts(t *testing.T) {
	for a := uint16(0x80); a < 0x100; a++ {
		for b := uint16(0x80); b < 0x100; b++ {
			for exp := -160; exp < -110; exp++ {
				x, y := math.Ldexp(float64(a), exp/2-7), math.Ldexp(float64(b), exp-exp/2-7)
				p, q := fp.F64ToBF16(x, fp.RN), fp.F64ToBF16(y, fp.RN)
				if got, want := plainBF16(opMul, p, q), fp.F64ToBF16(x*y, fp.RN); got != want {
					t.Fatalf("%#x * %#x is %#x, want %#x", p, q, got, want)
				}
			}
		}
	}
}

// exactHalf returns the operation on numbers of f64 rounded once: the sum is rounded to odd first.
func exactHalf(op floatOp, x, y, z float64, r fp.Rounding, narrow func(float64, fp.Rounding) uint16) uint16 {
	switch op {
	case opAdd:
		return narrow(fp.Sum(x, y, r), r)
	case opSub:
		return narrow(fp.Sum(x, -y, r), r)
	case opMul:
		return narrow(x*y, r)
	}
	return narrow(fp.Sum(x*y, z, r), r)
}

// halfOperand returns a random number of a 16-bit format, often near the last one.
func halfOperand(rnd *rand.Rand, last uint16) uint16 {
	switch rnd.IntN(4) {
	case 0:
		return last ^ uint16(1)<<rnd.IntN(16)
	case 1:
		return last&0xff80 ^ uint16(rnd.IntN(3))<<rnd.IntN(16)
	}
	return uint16(rnd.Uint32())
}

// TestHalfArithmetic compares sums, products and fused products with a single rounding of the exact result.
func TestHalfArithmetic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var a, b, c uint16
	for range part.Count(100_000, 300_000, 10_000_000) {
		a, b, c = halfOperand(rnd, a), halfOperand(rnd, a), halfOperand(rnd, b)
		if rnd.IntN(3) == 0 { // a fused product near a midpoint
			c = anyF16(opMul, a, b, 0, 0) ^ 0x8000 ^ uint16(rnd.IntN(4))
		}
		op := floatOp(rnd.IntN(4))
		f := func(h uint16) float64 { return float64(fp.F16ToF32(h)) }
		if got, want := anyF16(op, a, b, c, 0), exactHalf(op, f(a), f(b), f(c), fp.RN, fp.F64ToF16); got != want {
			t.Fatalf("f16: operation %d of %#x, %#x, %#x is %#x, want %#x", op, a, b, c, got, want)
		}
		g := func(h uint16) float64 { return float64(fp.BF16ToF32(h)) }
		if op != opFma {
			if got, want := plainBF16(op, a, b), exactHalf(op, g(a), g(b), 0, fp.RN, fp.F64ToBF16); got != want {
				t.Fatalf("bf16: operation %d of %#x, %#x is %#x, want %#x", op, a, b, got, want)
			}
		}
		r := fp.Rounding(rnd.IntN(4))
		if got, want := fmaBF16(a, b, c, uint64(r)), exactHalf(opFma, g(a), g(b), g(c), r, fp.F64ToBF16); got != want {
			t.Fatalf("bf16: fma.%v of %#x, %#x, %#x is %#x, want %#x", r, a, b, c, got, want)
		}
	}
}

// TestHalfMinMax compares min and max with the functions for f32, with .ftz, .NaN, .xorsign and .abs.
func TestHalfMinMax(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	var a, b uint16
	for range part.Count(50_000, 100_000, 5_000_000) {
		a, b = halfOperand(rnd, a), halfOperand(rnd, a)
		s := Modifiers{NaN: rnd.IntN(2) == 0, XorSign: rnd.IntN(2) == 0, Abs: rnd.IntN(2) == 0, FTZ: rnd.IntN(2) == 0}
		for _, op := range []floatOp{opMin, opMax} {
			sign := uint32(a^b) >> 15 << 31
			flush := func(h, inf uint16) uint16 { // a subnormal operand becomes zero
				if s.FTZ && h&inf == 0 {
					return h & 0x8000
				}
				return h
			}
			f := func(h uint16) float32 { return fp.F16ToF32(flush(h, 0x7c00)) }
			g := func(h uint16) float32 { return fp.BF16ToF32(flush(h, 0x7f80)) }
			if got, want := anyF16(op, a, b, 0, s.Imm()), fp.F32ToF16(minMax32(op, s, f(a), f(b), sign), fp.RN); got != want {
				t.Fatalf("f16: operation %d of %#x, %#x with %+v is %#x, want %#x", op, a, b, s, got, want)
			}
			if got, want := anyBF16(op, a, b, 0, s.Imm()), fp.F32ToBF16(minMax32(op, s, g(a), g(b), sign), fp.RN); got != want {
				t.Fatalf("bf16: operation %d of %#x, %#x with %+v is %#x, want %#x", op, a, b, s, got, want)
			}
		}
	}
}

// TestHalfFlush compares .ftz with tininess after rounding, for which the exponent has no lower bound: for products of f16 near
// the least normal number, 2^-14.
func TestHalfFlush(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	flushed, kept := 0, 0
	check := func(a, b uint16) {
		x := float64(fp.F16ToF32(a)) * float64(fp.F16ToF32(b))
		want := fp.F64ToF16(x, fp.RN)
		const scale = 0x1p8 // moves results to the normal range, in which they are rounded to 11 bits
		if fp.F64ToF16(math.Abs(x)*scale, fp.RN) < fp.F64ToF16(0x1p-14*scale, fp.RN) {
			want = (a ^ b) & 0x8000
			flushed++
		} else {
			kept++
		}
		if got := anyF16(opMul, a, b, 0, Modifiers{FTZ: true}.Imm()); got != want {
			t.Fatalf("mul.ftz.f16 of %#x, %#x is %#x, want %#x", a, b, got, want)
		}
	}
	for range part.Count(50_000, 100_000, 5_000_000) {
		exponent := 1 + rnd.IntN(12)
		a := uint16(exponent<<10|rnd.IntN(1<<10)) | uint16(rnd.IntN(2))<<15
		b := uint16(max(1, 16-exponent-rnd.IntN(3))<<10|rnd.IntN(1<<10)) | uint16(rnd.IntN(2))<<15
		check(a, b)
	}
	f := func(x float64) uint16 { return fp.F64ToF16(x, fp.RN) }
	check(f(63*0x1p-13), f(65*0x1p-13)) // 4095 * 2^-26: the midpoint below 2^-14, which rounds to it
	check(f(46*0x1p-13), f(89*0x1p-13)) // 4094 * 2^-26
	if flushed < 1000 || kept < 1000 {
		t.Errorf("%d results were flushed, and %d were not", flushed, kept)
	}
}

// TestHalfOwnLoops shows that the values of Imm in directives are those of the most frequent instructions.
func TestHalfOwnLoops(t *testing.T) {
	if imm := (Modifiers{Relu: true}).Imm(); imm != 0x4000 {
		t.Errorf("the Imm of .relu is %#x", imm)
	}
	for want, dst := range map[uint64]ptx.Type{0xf0fa: ptx.F16, 0xf7f7: ptx.BF16} {
		if imm, ok := NarrowImm(ConvertSpec{Dst: dst, Src: ptx.F32}); !ok || imm != want {
			t.Errorf("the Imm of cvt.rn.%v.f32 is %#x, want %#x", dst, imm, want)
		}
	}
}

// TestHalfConversions compares the conversions between halves, and to f64, with the general conversion, for all numbers.
func TestHalfConversions(t *testing.T) {
	for _, c := range []struct {
		to, from ptx.Type
		convert  func(a uint16) uint64
	}{
		{ptx.BF16, ptx.F16, func(a uint16) uint64 { return uint64(cvtBF16F16(a)) }},
		{ptx.F16, ptx.BF16, func(a uint16) uint64 { return uint64(cvtF16BF16(a)) }},
		{ptx.F64, ptx.BF16, func(a uint16) uint64 { return math.Float64bits(cvtF64BF16(a)) }},
	} {
		imm := ConvertSpec{Dst: c.to, Src: c.from}.Imm()
		for h := range uint64(1 << 16) {
			if got, want := c.convert(uint16(h)), convert(h, imm); got != want {
				t.Errorf("cvt%v%v of %#x is %#x, want %#x", c.to, c.from, h, got, want)
			}
		}
	}
}
