package oracle

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/internal/part"
)

// Bits of some .f32 and .f64 numbers.
const (
	fOne   = 0x3f800000
	fTwo   = 0x40000000
	fNeg0  = 0x80000000
	fInf   = 0x7f800000
	fNInf  = 0xff800000
	fMax   = 0x7f7fffff
	fMin   = 0x00800000 // the smallest normal
	fSub   = 0x00000001 // the smallest subnormal
	fNaN   = 0x7fffffff // canonical
	fQNaN  = 0xffc00123 // another NaN
	fUp    = 0x3f800001 // 1 + 2^-23
	fTiny  = 0x33000000 // 2^-25
	dOne   = 0x3ff0000000000000
	dTwo   = 0x4000000000000000
	dNeg0  = 0x8000000000000000
	dInf   = 0x7ff0000000000000
	dNaN   = 0xfff8000000000000 // result if no operand is a NaN
	dMax   = 0x7fefffffffffffff
	dQNaN  = 0xfff8000000000001
	dSub   = 0x0000000000000001
	dNeg   = 0x8000000000000000
	fNeg   = 0x80000000
	fThird = 0x3eaaaaab // 1/3 to nearest
	fHalf  = 0x3f000000
)

// floats32 returns extreme values of .f32 and some numbers in between.
func floats32() []uint64 {
	list := []uint64{0, fNeg0, fOne, fUp, 0xbf800000, fTwo, fMax, 0xff7fffff, fInf, fNInf, fQNaN, fMin, 0x80800000, 0x00ffffff,
		fSub, 0x80000001, 0x007fffff, 0x00400000, fTiny, fThird, 0x3fffffff, 0x4b7fffff, 0x5f000000, 0x1f800000, 0xc0490fdb}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		list = append(list, uint64(rng.Uint32()))
	}
	return list
}

func floats64() []uint64 {
	list := []uint64{0, dNeg0, dOne, dOne + 1, dOne | dNeg, dTwo, dMax, dMax | dNeg, dInf, dInf | dNeg, dQNaN, dSub, dSub | dNeg,
		0x0010000000000000, 0x000fffffffffffff, 0x3ca0000000000000, 0x3fd5555555555555, 0x1ff0000000000000, 0x5fefffffffffffff}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 12 {
		list = append(list, rng.Uint64())
	}
	return list
}

// reference rounds x, which must be exact or nearly so, with math/big's rounding to nearest and a step to the
// neighbour. It uses nothing of ieee.go.
func reference(x *big.Float, bits int, rnd string) uint64 {
	if bits == 32 {
		r, _ := x.Float32()
		down := func() { r = math.Nextafter32(r, float32(math.Inf(-1))) }
		up := func() { r = math.Nextafter32(r, float32(math.Inf(1))) }
		adjustRounding(x, new(big.Float).SetFloat64(float64(r)), rnd, down, up)
		return uint64(math.Float32bits(r))
	}
	r, _ := x.Float64()
	down := func() { r = math.Nextafter(r, math.Inf(-1)) }
	up := func() { r = math.Nextafter(r, math.Inf(1)) }
	adjustRounding(x, new(big.Float).SetFloat64(r), rnd, down, up)
	return math.Float64bits(r)
}

// adjustRounding moves r, the number nearest to x, in the direction of rnd if it is on the wrong side of x.
func adjustRounding(x, r *big.Float, rnd string, down, up func()) {
	c := r.Cmp(x)
	switch {
	case rnd == "rm" && c > 0, rnd == "rz" && c > 0 && x.Sign() > 0:
		down()
	case rnd == "rp" && c < 0, rnd == "rz" && c < 0 && x.Sign() < 0:
		up()
	}
}

func big32(b uint64) *big.Float {
	return new(big.Float).SetPrec(3000).SetFloat64(float64(math.Float32frombits(uint32(b))))
}

func big64(b uint64) *big.Float {
	return new(big.Float).SetPrec(5000).SetFloat64(math.Float64frombits(b))
}

// TestRoundedResults compares add, sub, mul, fma, div, rcp and sqrt in every rounding mode with math/big, where
// operands and result are finite and not zero. TestFloatSpecials has the special results.
func TestRoundedResults(t *testing.T) {
	part.SkipShort(t)
	type operation struct {
		name string
		n    int
		f    func(z *big.Float, x []*big.Float) *big.Float
	}
	operations := []operation{
		{"add", 2, func(z *big.Float, x []*big.Float) *big.Float { return z.Add(x[0], x[1]) }},
		{"sub", 2, func(z *big.Float, x []*big.Float) *big.Float { return z.Sub(x[0], x[1]) }},
		{"mul", 2, func(z *big.Float, x []*big.Float) *big.Float { return z.Mul(x[0], x[1]) }},
		{"fma", 3, func(z *big.Float, x []*big.Float) *big.Float { return z.Add(z.Mul(x[0], x[1]), x[2]) }},
		{"div", 2, func(z *big.Float, x []*big.Float) *big.Float { return z.SetPrec(300).Quo(x[0], x[1]) }},
		{"rcp", 1, func(z *big.Float, x []*big.Float) *big.Float { return z.SetPrec(300).Quo(big64(dOne), x[0]) }},
		{"sqrt", 1, func(z *big.Float, x []*big.Float) *big.Float { return z.SetPrec(300).Sqrt(x[0]) }},
	}
	for _, width := range []struct {
		bits   int
		values []uint64
		exact  func(uint64) *big.Float
		f      format
	}{{32, floats32(), big32, single}, {64, floats64(), big64, double}} {
		for _, o := range operations {
			values := width.values
			if o.n == 3 {
				values = values[2:20]
			}
			var cases [][]uint64
			var exact []*big.Float
			for _, c := range combine(o.n, values) {
				x := make([]*big.Float, o.n)
				ok := true
				for i, b := range c {
					n := width.f.decode(b)
					if ok = ok && n.class == finite && !(o.name == "sqrt" && n.neg); ok {
						x[i] = width.exact(b)
					}
				}
				if !ok {
					continue
				}
				z := o.f(new(big.Float).SetPrec(5000), x)
				if z.Sign() == 0 {
					continue
				}
				cases, exact = append(cases, c), append(exact, z)
			}
			for len(cases) > 0 {
				n := min(len(cases), 1024)
				for _, rnd := range []string{"rn", "rz", "rm", "rp"} {
					op := fmt.Sprintf("%s.%s.f%d", o.name, rnd, width.bits)
					for i, got := range apply(t, op, cases[:n]...) {
						if w := reference(exact[i], width.bits, rnd); got[0] != w {
							t.Errorf("%s %#x = %#x, want %#x", op, cases[i], got[0], w)
						}
					}
				}
				cases, exact = cases[n:], exact[n:]
			}
		}
	}
}

// TestFloatAgainstHost compares round-to-nearest with the host's arithmetic, for random operands.
func TestFloatAgainstHost(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var c32, c64 [][]uint64
	for range 1000 {
		c32 = append(c32, u(uint64(rng.Uint32()), uint64(rng.Uint32())))
		a := rng.Uint64()
		x := u(a, a&^(1<<60-1)|rng.Uint64N(1<<60), rng.Uint64())
		if !slices.ContainsFunc(x, double.isNaN) { // hosts differ for NaNs
			c64 = append(c64, x)
		}
	}
	f32 := func(f func(a, b float32) float32) func([]uint64) uint64 {
		return func(x []uint64) uint64 {
			d := f(math.Float32frombits(uint32(x[0])), math.Float32frombits(uint32(x[1])))
			if d != d {
				return fNaN
			}
			return uint64(math.Float32bits(d))
		}
	}
	f64 := func(f func(a, b float64) float64) func([]uint64) uint64 {
		return func(x []uint64) uint64 {
			d := f(math.Float64frombits(x[0]), math.Float64frombits(x[1]))
			if d != d {
				return dNaN
			}
			return math.Float64bits(d)
		}
	}
	checkFunc(t, "add.f32", c32, f32(func(a, b float32) float32 { return a + b }))
	checkFunc(t, "sub.f32", c32, f32(func(a, b float32) float32 { return a - b }))
	checkFunc(t, "mul.f32", c32, f32(func(a, b float32) float32 { return a * b }))
	checkFunc(t, "div.rn.f32", c32, f32(func(a, b float32) float32 { return a / b }))
	c64pairs := func() [][]uint64 {
		var p [][]uint64
		for _, c := range c64 {
			p = append(p, c[:2])
		}
		return p
	}()
	checkFunc(t, "add.f64", c64pairs, f64(func(a, b float64) float64 { return a + b }))
	checkFunc(t, "mul.f64", c64pairs, f64(func(a, b float64) float64 { return a * b }))
	checkFunc(t, "div.rn.f64", c64pairs, f64(func(a, b float64) float64 { return a / b }))
	checkFunc(t, "fma.rn.f64", c64, func(x []uint64) uint64 {
		d := math.FMA(math.Float64frombits(x[0]), math.Float64frombits(x[1]), math.Float64frombits(x[2]))
		if d != d {
			return dNaN
		}
		return math.Float64bits(d)
	})
}

// TestFloatSpecials has results that are not rounded: infinities, NaNs, zeros and their signs (IEEE 754 6.1 to 6.3),
// overflow (7.4), .ftz and .sat.
func TestFloatSpecials(t *testing.T) {
	checkAll(t, []want{
		{"fma.rn.f32", u(0x39800001, 0x397ffffe, 0x3f800001), u(0x3f800001)}, // no double rounding

		{"add.f32", u(fInf, fNInf), u(fNaN)},
		{"sub.f32", u(fInf, fInf), u(fNaN)},
		{"add.f32", u(fInf, fMax), u(fInf)},
		{"add.f32", u(fQNaN, fOne), u(fNaN)},
		// NaNs of .f64: results of an H200.
		{"add.f64", u(dOne, dQNaN), u(dQNaN)},
		{"add.f64", u(0x7ff8000000000001, 0x7ff0000000000002), u(0x7ff8000000000002)},
		{"add.rz.f64", u(0xfff0000000000004, dOne), u(0xfff8000000000004)},
		{"add.f64", u(dInf, dInf|dNeg), u(dNaN)},
		{"sub.f64", u(0x7ff8000000000001, 0xfff0000000000004), u(0xfff8000000000004)},
		{"mul.f64", u(0x7ff0000000000002, 0xfff8000000000003), u(0xfff8000000000003)},
		{"mul.f64", u(0, dInf), u(dNaN)},
		{"fma.rn.f64", u(0x7ff0000000000002, 0xfff8000000000003, 0x7ff8000000000001), u(0xfff8000000000003)},
		{"fma.rm.f64", u(0x7ff0000000000002, dOne, 0xfff0000000000004), u(0xfff8000000000004)},
		{"fma.rn.f64", u(0x7ff0000000000002, dOne, dOne), u(0x7ff8000000000002)},
		{"fma.rn.f64", u(dInf, 0, 0x7ff0000000000002), u(0x7ff8000000000002)},
		{"div.rn.f64", u(0x7ff0000000000002, 0xfff8000000000003), u(0x7ff8000000000002)},
		{"div.rn.f64", u(0, 0x7ff0000000000002), u(0x7ff8000000000002)},
		{"div.rz.f64", u(0x7ff8000000000001, 0xfff0000000000004), u(0x7ff8000000000001)},
		{"sub.rz.f64", u(dOne, 0xfff0000000000004), u(0xfff8000000000004)},
		{"div.rn.f64", u(0, 0), u(dNaN)},
		{"rcp.rn.f64", u(0xfff0000000000004), u(0xfff8000000000004)},
		{"sqrt.rn.f64", u(0xfff0000000000004), u(0xfff8000000000004)},
		{"sqrt.rn.f64", u(dOne | dNeg), u(dNaN)},
		{"rsqrt.approx.f64", u(0xfff0000000000004), u(0xfff8000000000004)},
		{"min.f64", u(0x7ff0000000000002, 0xfff0000000000004), u(0xfff8000000000004)},
		{"max.f64", u(0xfff8000000000003, 0x7ff0000000000002), u(0x7ff8000000000002)},
		{"min.f64", u(0x7ff0000000000002, dOne), u(dOne)},
		{"neg.f64", u(0x7ff0000000000002), u(0x7ff8000000000002)},
		{"abs.f64", u(0xfff0000000000004), u(0xfff8000000000004)},
		{"mul.f32", u(fInf, 0), u(fNaN)},
		{"mul.f32", u(fInf, 0xbf800000), u(fNInf)},
		{"fma.rn.f32", u(0, fInf, fOne), u(fNaN)},
		{"fma.rn.f32", u(fOne, fInf, fNInf), u(fNaN)},
		{"fma.rn.f64", u(dMax, dTwo, dInf|dNeg), u(dInf | dNeg)}, // the product is finite
		{"div.rn.f32", u(0, 0), u(fNaN)},
		{"div.rn.f32", u(fInf, fNInf), u(fNaN)},
		{"div.rn.f32", u(fOne, fNeg0), u(fNInf)},
		{"div.rn.f32", u(0xbf800000, fInf), u(fNeg0)},
		{"rcp.rn.f32", u(fNeg0), u(fNInf)},
		{"rcp.rn.f32", u(fNInf), u(fNeg0)},
		{"sqrt.rn.f32", u(fNeg0), u(fNeg0)},
		{"sqrt.rn.f32", u(0xbf800000), u(fNaN)},
		{"sqrt.rn.f32", u(fNInf), u(fNaN)},
		{"sqrt.rn.f32", u(fInf), u(fInf)},
		{"sqrt.rn.f64", u(0x4010000000000000), u(dTwo)},

		// Signs of zero: an exact sum of opposites is +0, or -0 when rounding down.
		{"add.f32", u(fOne, 0xbf800000), u(0)},
		{"add.rm.f32", u(fOne, 0xbf800000), u(fNeg0)},
		{"sub.rm.f64", u(dOne, dOne), u(dNeg0)},
		{"add.rn.f32", u(fNeg0, fNeg0), u(fNeg0)},
		{"add.rn.f32", u(0, fNeg0), u(0)},
		{"add.rm.f32", u(0, fNeg0), u(fNeg0)},
		{"add.rm.f32", u(0, 0), u(0)},
		{"sub.rn.f32", u(fNeg0, 0), u(fNeg0)},
		{"mul.f32", u(fNeg0, fOne), u(fNeg0)},
		{"fma.rm.f32", u(fOne, fOne, 0xbf800000), u(fNeg0)},
		{"fma.rn.f32", u(fNeg0, fOne, fNeg0), u(fNeg0)},

		// Overflow goes to infinity or stays at the largest number.
		{"add.rn.f32", u(fMax, fMax), u(fInf)},
		{"add.rz.f32", u(fMax, fMax), u(fMax)},
		{"add.rm.f32", u(fMax, fMax), u(fMax)},
		{"add.rp.f32", u(fMax, fMax), u(fInf)},
		{"add.rm.f32", u(0xff7fffff, 0xff7fffff), u(fNInf)},
		{"add.rp.f32", u(0xff7fffff, 0xff7fffff), u(0xff7fffff)},
		{"add.rn.f32", u(fMax, 0x73000000), u(fInf)}, // half a unit: to even
		{"add.rn.f32", u(fMax, 0x72ffffff), u(fMax)},

		// .ftz flushes operands and results and keeps the sign; without it subnormals stay.
		{"add.f32", u(fSub, fSub), u(2)},
		{"add.ftz.f32", u(fSub, fSub), u(0)},
		{"add.ftz.f32", u(0x80000001, 0x80000001), u(fNeg0)},
		{"mul.ftz.f32", u(fMin, fHalf), u(0)},
		{"mul.ftz.f32", u(fMin|fNeg, fHalf), u(fNeg0)},
		{"mul.f32", u(fMin, fHalf), u(0x00400000)},
		{"mul.ftz.f32", u(0x00400000, 0x7f000000), u(0)},
		{"fma.rn.ftz.f32", u(fOne, fMin, 0x80000001), u(fMin)},
		{"fma.rn.f32", u(fOne, fMin, 0x80000001), u(0x007fffff)},
		{"div.rn.ftz.f32", u(fOne, fSub), u(fInf)},
		{"sqrt.rn.ftz.f32", u(0x80000001), u(fNeg0)},

		// .sat clamps to [0, 1], NaN to +0.
		{"add.sat.f32", u(fOne, fOne), u(fOne)},
		{"add.sat.f32", u(0xbf800000, 0), u(0)},
		{"add.sat.f32", u(fQNaN, 0), u(0)},
		{"mul.sat.f32", u(fHalf, fHalf), u(0x3e800000)},
		{"fma.rn.sat.f32", u(fInf, fOne, 0), u(fOne)},

		{"abs.f32", u(0xc0490fdb), u(0x40490fdb)},
		{"abs.ftz.f32", u(0x80000001), u(0)},
		{"neg.f32", u(0), u(fNeg0)},
		{"neg.ftz.f32", u(fSub), u(fNeg0)},
		{"abs.f64", u(dNeg0), u(0)},
		{"neg.f64", u(dInf), u(dInf | dNeg)},
		{"abs.f64", u(dQNaN), u(dQNaN)}, // with its sign
		{"neg.f64", u(dQNaN), u(dQNaN)},
		{"abs.f32", u(fQNaN), u(fNaN)}, // an H200
		{"neg.f32", u(fQNaN), u(fNaN)},
		{"mad.rn.f32", u(0x39800001, 0x397ffffe, 0x3f800001), u(0x3f800001)},

		// Two .f32 in a .b64.
		{"add.rn.f32x2", u(fOne<<32|fTwo, fOne<<32|fTwo), u(fTwo<<32 | 0x40800000)},
		{"sub.f32x2", u(fTwo<<32|fOne, fOne<<32|fOne), u(fOne << 32)},
		{"mul.ftz.f32x2", u(fSub<<32|fTwo, fOne<<32|fTwo), u(0x40800000)},
		{"fma.rz.f32x2", u(fOne<<32|fMax, fTwo<<32|fTwo, fOne<<32|fMax), u(0x40400000<<32 | fMax)},
	})
}

// TestFloatMinMax: 9.7.3.11 and 9.7.3.12.
func TestFloatMinMax(t *testing.T) {
	checkAll(t, []want{
		{"min.f32", u(fOne, fTwo), u(fOne)},
		{"max.f32", u(fOne, fTwo), u(fTwo)},
		{"min.f32", u(0, fNeg0), u(fNeg0)},
		{"min.f32", u(fNeg0, 0), u(fNeg0)},
		{"max.f32", u(fNeg0, 0), u(0)},
		{"max.f32", u(0, fNeg0), u(0)},
		{"min.f32", u(fQNaN, fOne), u(fOne)},
		{"max.f32", u(fOne, fQNaN), u(fOne)},
		{"min.f32", u(fQNaN, fQNaN), u(fNaN)},
		{"min.NaN.f32", u(fQNaN, fOne), u(fNaN)},
		{"max.NaN.f32", u(fOne, fQNaN), u(fNaN)},
		{"min.f32", u(fNInf, 0xff7fffff), u(fNInf)},
		{"min.ftz.f32", u(0x80000001, 0), u(fNeg0)},
		{"max.ftz.f32", u(fSub, fQNaN), u(0)},
		{"min.xorsign.abs.f32", u(0xc0000000, fOne), u(0xbf800000)},
		{"max.xorsign.abs.f32", u(0xc0000000, 0xbf800000), u(fTwo)},
		{"min.f64", u(dOne, dTwo), u(dOne)},
		{"max.f64", u(dQNaN, dTwo), u(dTwo)},
		{"min.f64", u(0, dNeg0), u(dNeg0)},
		{"min.f32", u(fTwo, fOne, fHalf), u(fHalf)},
		{"max.f32", u(fTwo, fQNaN, fHalf), u(fTwo)},
		{"max.NaN.f32", u(fTwo, fQNaN, fHalf), u(fNaN)},
		{"max.abs.f32", u(fOne, 0xc0000000, fHalf), u(fTwo)},
	})
}

// TestTestpCopysign compares testp and copysign with the manual's definitions (9.7.3.1, 9.7.3.2).
func TestTestpCopysign(t *testing.T) {
	checkAll(t, []want{
		{"testp.finite.f32", u(fMax), u(1)},
		{"testp.finite.f32", u(fInf), u(0)},
		{"testp.finite.f32", u(fNeg0), u(1)},
		{"testp.infinite.f64", u(dInf | dNeg), u(1)},
		{"testp.infinite.f64", u(dQNaN), u(0)},
		{"testp.number.f32", u(fInf), u(1)},
		{"testp.number.f32", u(fQNaN), u(0)},
		{"testp.notanumber.f32", u(fQNaN), u(1)},
		{"testp.normal.f32", u(0), u(1)}, // zeros are considered normal
		{"testp.normal.f32", u(fSub), u(0)},
		{"testp.normal.f32", u(fInf), u(0)},
		{"testp.subnormal.f32", u(0x807fffff), u(1)},
		{"testp.subnormal.f32", u(fMin), u(0)},
		{"testp.subnormal.f64", u(dSub), u(1)},
		{"testp.subnormal.f32", u(0), u(0)},
		{"copysign.f32", u(fNeg0, fTwo), u(0xc0000000)},
		{"copysign.f32", u(0, 0xc0000000), u(fTwo)},
		{"copysign.f64", u(dNeg0, dQNaN&^dNeg), u(dQNaN)},
	})
}

// TestApproximations has special values from the manual's tables, exact results at powers of two, and the documented
// error elsewhere.
func TestApproximations(t *testing.T) {
	checkAll(t, []want{
		{"rcp.approx.f32", u(fTwo), u(fHalf)},
		{"rcp.approx.f32", u(fNeg0), u(fNInf)},
		{"rcp.approx.f32", u(fNInf), u(fNeg0)},
		{"rcp.approx.ftz.f32", u(0x80000001), u(fNInf)},
		{"rcp.approx.ftz.f32", u(0x7f000001), u(0)}, // the result is subnormal
		{"rcp.approx.f32", u(fQNaN), u(fNaN)},
		{"sqrt.approx.f32", u(0x40800000), u(fTwo)},
		{"sqrt.approx.f32", u(fNeg0), u(fNeg0)},
		{"sqrt.approx.ftz.f32", u(0x80000001), u(fNeg0)},
		{"sqrt.approx.f32", u(0x80000001), u(fNaN)},
		{"rsqrt.approx.f32", u(0x40800000), u(fHalf)},
		{"rsqrt.approx.f32", u(fNeg0), u(fNInf)},
		{"rsqrt.approx.f32", u(0xbf800000), u(fNaN)},
		{"rsqrt.approx.f32", u(fInf), u(0)},
		{"sin.approx.f32", u(0), u(0)},
		{"sin.approx.f32", u(fNeg0), u(fNeg0)},
		{"sin.approx.f32", u(fInf), u(fNaN)},
		{"sin.approx.ftz.f32", u(0x80000001), u(fNeg0)},
		{"cos.approx.f32", u(0), u(fOne)},
		{"cos.approx.f32", u(fNInf), u(fNaN)},
		{"lg2.approx.f32", u(0x41000000), u(0x40400000)},
		{"lg2.approx.f32", u(fNeg0), u(fNInf)},
		{"lg2.approx.f32", u(0xbf800000), u(fNaN)},
		{"lg2.approx.f32", u(fInf), u(fInf)},
		{"lg2.approx.f32", u(fSub), u(0xc3150000)}, // -149
		{"lg2.approx.ftz.f32", u(fSub), u(fNInf)},
		{"ex2.approx.f32", u(0x40400000), u(0x41000000)},
		{"ex2.approx.f32", u(fNInf), u(0)},
		{"ex2.approx.f32", u(fInf), u(fInf)},
		{"ex2.approx.f32", u(0xc3150000), u(fSub)},
		{"ex2.approx.ftz.f32", u(0xc3150000), u(0)},
		{"tanh.approx.f32", u(fInf), u(fOne)},
		{"tanh.approx.f32", u(fNeg0), u(fNeg0)},

		{"div.approx.f32", u(fTwo, fTwo), u(fOne)},
		{"div.approx.f32", u(fOne, 0x7e800000), u(0x00800000)}, // 2^126
		{"div.approx.f32", u(fMax, 0x7e800001), u(0)},          // above it
		{"div.approx.f32", u(0xff7fffff, 0x7f000000), u(fNeg0)},
		{"div.approx.f32", u(fInf, 0x7f000000), u(fNaN)},
		{"div.approx.f32", u(fOne, fInf), u(0)},
		{"div.approx.f32", u(fInf, fInf), u(fNaN)},
		{"div.full.f32", u(fMax, 0x7e800001), u(0x407ffffd)},
		{"div.full.f32", u(fOne, 0x40400000), u(fThird)},

		{"rcp.approx.ftz.f64", u(dTwo), u(0x3fe0000000000000)},
		{"rcp.approx.ftz.f64", u(dTwo | 0xffffffff), u(0x3fe0000000000000)}, // the low half is ignored
		{"rcp.approx.ftz.f64", u(0x4008000000000000), u(0x3fd5555500000000)},
		{"rcp.approx.ftz.f64", u(dSub | dNeg), u(dInf | dNeg)},
		{"rcp.approx.ftz.f64", u(dInf + 1), u(0)}, // a NaN only by its low half, which is ignored
		{"rcp.approx.ftz.f64", u(dNaN), u(0x7fffffff00000000)},
		{"rcp.approx.ftz.f64", u(0x4018000000000000), u(0x3fc5555500000000)}, // 1/6
		{"rcp.approx.ftz.f64", u(0x4014000000000000), u(0x3fc9999a00000000)}, // 1/5 rounds up
		{"rcp.approx.ftz.f64", u(dMax), u(0)},
		{"rsqrt.approx.ftz.f64", u(0x4010000000000000), u(0x3fe0000000000000)},
		{"rsqrt.approx.f64", u(0x4010000000000000), u(0x3fe0000000000000)},
		{"rsqrt.approx.f64", u(dNeg0), u(dInf | dNeg)},
		{"rsqrt.approx.f64", u(dOne | dNeg), u(dNaN)},
	})
	var cases [][]uint64
	for x := float32(-3); x < 3; x += 0.0625 {
		cases = append(cases, u(uint64(math.Float32bits(x))))
	}
	for _, c := range []struct {
		op  string
		f   func(float64) float64
		err float64 // absolute error: the manual's bound, or a looser one
	}{
		{"sin.approx.f32", math.Sin, 0x1p-20},
		{"cos.approx.f32", math.Cos, 0x1p-20},
		{"ex2.approx.f32", func(x float64) float64 { return math.Pow(2, x) }, 0x1p-19},
		{"tanh.approx.f32", func(x float64) float64 { return 1 - 2/(math.Exp(2*x)+1) }, 0x1p-11},
	} {
		for i, got := range apply(t, c.op, cases...) {
			x := float64(math.Float32frombits(uint32(cases[i][0])))
			d := float64(math.Float32frombits(uint32(got[0])))
			if math.Abs(d-c.f(x)) > c.err {
				t.Errorf("%s %v = %v, want %v", c.op, x, d, c.f(x))
			}
		}
	}
}

// TestFloatCompare: 9.3.1: ordered comparisons are false for NaN, unordered comparisons true.
func TestFloatCompare(t *testing.T) {
	values := []float32{float32(math.Inf(-1)), -1, -math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), 0, 1, float32(math.Inf(1)), float32(math.NaN())}
	var list []uint64
	for _, v := range values {
		list = append(list, uint64(math.Float32bits(v)))
	}
	for op, f := range map[string]func(a, b float32, nan bool) bool{
		"eq":  func(a, b float32, nan bool) bool { return a == b },
		"ne":  func(a, b float32, nan bool) bool { return a != b && !nan },
		"lt":  func(a, b float32, nan bool) bool { return a < b },
		"le":  func(a, b float32, nan bool) bool { return a <= b },
		"gt":  func(a, b float32, nan bool) bool { return a > b },
		"ge":  func(a, b float32, nan bool) bool { return a >= b },
		"equ": func(a, b float32, nan bool) bool { return a == b || nan },
		"neu": func(a, b float32, nan bool) bool { return a != b },
		"ltu": func(a, b float32, nan bool) bool { return !(a >= b) },
		"leu": func(a, b float32, nan bool) bool { return !(a > b) },
		"gtu": func(a, b float32, nan bool) bool { return !(a <= b) },
		"geu": func(a, b float32, nan bool) bool { return !(a < b) },
		"num": func(a, b float32, nan bool) bool { return !nan },
		"nan": func(a, b float32, nan bool) bool { return nan },
	} {
		holds := func(x []uint64) bool {
			a, b := math.Float32frombits(uint32(x[0])), math.Float32frombits(uint32(x[1]))
			return f(a, b, a != a || b != b)
		}
		checkFunc(t, "setp."+op+".f32", combine(2, list), func(x []uint64) uint64 { return bit(holds(x)) })
		checkFunc(t, "set."+op+".u32.f32", combine(2, list), func(x []uint64) uint64 { return 0xffffffff * bit(holds(x)) })
	}
	checkAll(t, []want{
		{"setp.eq.ftz.f32", u(fSub, 0), u(1, 0)},
		{"setp.lt.f64", u(dSub, 0), u(0, 1)},
		{"setp.gt.f64", u(dSub, 0), u(1, 0)},
	})
}

// TestIntCompare compares setp on integers with Go's comparisons; hi and ls are the unsigned names (9.3.1).
func TestIntCompare(t *testing.T) {
	pairs := combine(2, cornerValues)
	checkFunc(t, "setp.lt.s32", pairs, func(x []uint64) uint64 { return bit(int32(x[0]) < int32(x[1])) })
	checkFunc(t, "setp.lt.u32", pairs, func(x []uint64) uint64 { return bit(uint32(x[0]) < uint32(x[1])) })
	checkFunc(t, "setp.ge.s64", pairs, func(x []uint64) uint64 { return bit(int64(x[0]) >= int64(x[1])) })
	checkFunc(t, "setp.hi.u64", pairs, func(x []uint64) uint64 { return bit(x[0] > x[1]) })
	checkFunc(t, "setp.ls.u16", pairs, func(x []uint64) uint64 { return bit(uint16(x[0]) <= uint16(x[1])) })
	checkFunc(t, "setp.gt.s16", pairs, func(x []uint64) uint64 { return bit(int16(x[0]) > int16(x[1])) })
	checkFunc(t, "setp.ne.b64", pairs, func(x []uint64) uint64 { return bit(x[0] != x[1]) })
	checkAll(t, []want{
		// p = BoolOp(t, c), q = BoolOp(!t, c).
		{"setp.lt.and.s32", u(1, 2, 1), u(1, 0)},
		{"setp.lt.and.s32", u(1, 2, 0), u(0, 0)},
		{"setp.lt.or.s32", u(2, 1, 1), u(1, 1)},
		{"setp.lt.xor.s32", u(1, 2, 1), u(0, 1)},
		{"set.lt.and.f32.s32", u(0xffffffff, 0, 1), u(fOne)},
		{"set.lt.f32.s32", u(0, 0), u(0)},
		{"set.eq.u32.u32", u(3, 3), u(0xffffffff)},
		{"selp.b32", u(1, 2, 1), u(1)},
		{"selp.f64", u(1, 2, 0), u(2)},
		{"slct.u32.s32", u(1, 2, 0), u(1)},
		{"slct.u32.s32", u(1, 2, 0xffffffff), u(2)},
		{"slct.u64.f32", u(1, 2, fNeg0), u(1)},
		{"slct.b16.f32", u(1, 2, 0xbf800000), u(2)},
		{"slct.b16.f32", u(1, 2, fQNaN), u(2)},
		{"slct.f32.f32", u(1, 2, 0x80000001), u(2)},
		{"slct.ftz.f32.f32", u(1, 2, 0x80000001), u(1)},
	})
}
