// This file tests the .approx functions: their special values, and their error against a reference.

package fp

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestApproxSpecialValues compares results with the special values of the manual. For subnormals the manual has none; the
// expected values are exact.
func TestApproxSpecialValues(t *testing.T) {
	const (
		negInf, negZero, posZero, posInf = 0xff800000, 0x80000000, 0, 0x7f800000
		one, negOne, nan                 = 0x3f800000, 0xbf800000, 0x7fffffff
		someNaN, negNaN                  = 0x7f800001, 0xffc12345
		negNormal                        = 0xc0000000
		negSub, posSub                   = 0x80000001, 0x00000001 // the least; the reciprocal overflows
	)
	tests := []struct {
		name string
		f    func(float32) float32
		want map[uint64]uint64
	}{
		{"rcp", RcpApprox32, map[uint64]uint64{negInf: negZero, negZero: negInf, posZero: posInf, posInf: posZero,
			negSub: negInf, posSub: posInf, 0x00400000: 0x7f000000, 0x7f000000: 0x00400000}},
		{"rsqrt", RsqrtApprox32, map[uint64]uint64{negInf: nan, negNormal: nan, negSub: nan, negZero: negInf, posZero: posInf,
			posInf: posZero, 0x00000002: 0x64800000}},
		{"sqrt", SqrtApprox32, map[uint64]uint64{negInf: nan, negNormal: nan, negSub: nan, negZero: negZero, posZero: posZero,
			posInf: posInf, 0x00000002: 0x1a800000}},
		{"sin", SinApprox32, map[uint64]uint64{negInf: nan, negZero: negZero, posZero: posZero, posInf: nan, negSub: negSub, posSub: posSub}},
		{"cos", CosApprox32, map[uint64]uint64{negInf: nan, negZero: one, posZero: one, posInf: nan, negSub: one, posSub: one}},
		{"lg2", Lg2Approx32, map[uint64]uint64{negInf: nan, negNormal: nan, negSub: nan, negZero: negInf, posZero: negInf, posInf: posInf,
			one: posZero, posSub: 0xc3150000}}, // -149
		{"ex2", Ex2Approx32, map[uint64]uint64{negInf: posZero, negZero: one, posZero: one, posInf: posInf, negSub: one, posSub: one,
			0x43000000: posInf, 0xc3150000: posSub, 0xc3160000: posZero}}, // 128, -149, -150
		{"tanh", TanhApprox32, map[uint64]uint64{negInf: negOne, negZero: negZero, posZero: posZero, posInf: one, negSub: negSub, posSub: posSub}},
	}
	for _, tt := range tests {
		tt.want[someNaN], tt.want[negNaN], tt.want[nan] = nan, nan, nan
		for in, want := range tt.want {
			check(t, tt.name+".approx.f32", RN, bitsOf32(tt.f(float32Of(in))), want, in)
		}
	}
}

// TestApproxSpecialValues64 compares rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 with the special values in the manual's
// tables, and rsqrt.approx.f64 with its special values.
func TestApproxSpecialValues64(t *testing.T) {
	const (
		negInf, negZero, posZero, posInf = 0xfff << 52, 1 << 63, 0, 0x7ff << 52
		nan                              = 0x7fffffff00000000
		negSub, posSub                   = 1<<63 | 1<<51, 1 << 51
		lowNaN                           = posInf | 1 // Inf by its high word
	)
	tests := []struct {
		name string
		f    func(float64) float64
		want map[uint64]uint64
	}{
		{"rcp", RcpApprox64, map[uint64]uint64{negInf: negZero, negSub: negInf, negZero: negInf, posZero: posInf, posSub: posInf,
			posInf: posZero, lowNaN: posZero, posInf | 1<<32: nan, 0xfff8 << 48: nan,
			1023<<52 | 0xffffffff: 1023 << 52,   // the low word is ignored
			0x7fe << 52:           posZero,      // the result would be subnormal
			0x7fd << 52:           0x001 << 52,  // the least normal result
			1 << 52:               0x7fd << 52}, // the least normal operand
		},
		{"rsqrt", RsqrtApprox64, map[uint64]uint64{negInf: nan, 0xbff << 52: nan, negSub: negInf, negZero: negInf, posZero: posInf,
			posSub: posInf, posInf: posZero, lowNaN: posZero, posInf | 1<<32: nan, 1025<<52 | 0xffffffff: 1022 << 52}},
	}
	for _, tt := range tests {
		for in, want := range tt.want {
			check(t, tt.name+".approx.ftz.f64", RN, math.Float64bits(tt.f(math.Float64frombits(in))), want, in)
		}
	}
	for in, want := range map[uint64]uint64{1023 << 52: 1023 << 52, 1023<<52 | 1<<31: 1023 << 52,
		1023<<52 | 3<<31: 1023<<52 | 2<<32, 1023<<52 | 1<<31 | 1: 1023<<52 | 1<<32, 1024<<52 - 1: 1024 << 52} {
		check(t, "round20", RN, math.Float64bits(round20(math.Float64frombits(in))), want, in)
	}
	for in, want := range map[uint64]uint64{negInf: NaN64, 0xbff << 52: NaN64, negSub: NaN64, negZero: negInf, posZero: posInf,
		posInf: posZero, lowNaN: lowNaN | 1<<51, 1025 << 52: 1022 << 52, 4: 1559 << 52} { // 4 is 2^-1072
		check(t, "rsqrt.approx.f64", RN, math.Float64bits(Rsqrt64(math.Float64frombits(in))), want, in)
	}
}

// ulps returns the error of got, in units in the last place of the float32 nearest to want.
func ulps(got float32, want float64) float64 {
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// TestApproxError checks that all results are within slightly more than half an ulp of the exact result: the functions are
// computed in more than 40 bits and rounded once. The references have about 50 correct bits.
func TestApproxError(t *testing.T) {
	const bound = 0.5 + 0x1p-12
	tests := []struct {
		name   string
		f      func(float32) float32
		want   func(float64) float64
		lo, hi float64 // range of magnitudes; random bit patterns are tried, too
		both   bool    // both signs are tried
	}{
		{"rcp", RcpApprox32, func(x float64) float64 { return 1 / x }, 0.5, 2, true},
		{"rsqrt", RsqrtApprox32, func(x float64) float64 { return 1 / math.Sqrt(x) }, 0.25, 4, false},
		{"sqrt", SqrtApprox32, math.Sqrt, 0.25, 4, false},
		{"sin", SinApprox32, math.Sin, 0, 100 * math.Pi, true},
		{"cos", CosApprox32, math.Cos, 0, 100 * math.Pi, true},
		{"lg2", Lg2Approx32, log2, 0.5, 2, false},
		{"ex2", Ex2Approx32, math.Exp2, 0, 150, true},
		{"tanh", TanhApprox32, math.Tanh, 0, 10, true},
	}
	rnd := source(t)
	for _, tt := range tests {
		worst := 0.0
		try := func(x float32) {
			want := tt.want(float64(x))
			got := tt.f(x)
			if want != want || math.Abs(want) >= 0x1.ffffffp127 {
				return // the special values
			}
			if e := ulps(got, want); e > worst || e != e {
				worst = e
				if !(e <= bound) {
					t.Errorf("%s(%x) = %x, want %x: error %.4f ulp", tt.name, x, got, want, e)
				}
			}
		}
		for range count(100000) {
			x := float32(tt.lo + rnd.Float64()*(tt.hi-tt.lo))
			y := float32Of(rnd.Uint64())
			if tt.both {
				try(-x)
				try(y)
			}
			try(x)
			try(float32(math.Abs(float64(y))))
		}
		for u := range uint64(64) { // numbers near 1
			try(float32Of(0x3f800000 - 32 + u))
		}
		t.Logf("%s: worst error %.5f ulp", tt.name, worst)
	}
}

// TestApproxSameBits checks that results do not depend on the host, as they would if a product were fused into a sum. The
// expected checksums were recorded from this code: they show that hosts agree, and TestApproxError shows that results are
// right. A change of a series changes the checksums.
func TestApproxSameBits(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(float32) float64
		want uint64
	}{
		{"SinApprox32", func(x float32) float64 { return float64(SinApprox32(x)) }, 0x297e5801bb288791},
		{"CosTurns32", func(x float32) float64 { return float64(CosTurns32(x)) }, 0x51a3372634a86731},
		{"reducePiOver2", func(x float32) float64 { _, y := reducePiOver2(x); return y }, 0xa9f37c39fc10757},
		{"exp2", func(x float32) float64 { return exp2(float64(x)) }, 0x7166b2d590ec9217},
		{"Lg2Approx32", func(x float32) float64 { return float64(Lg2Approx32(max(x, -x))) }, 0xbde21b61d9addeb},
		{"TanhApprox32", func(x float32) float64 { return float64(TanhApprox32(x)) }, 0xbae83e2ad0d077ae},
	} {
		rnd := rand.New(rand.NewPCG(1, 2)) // PCG is the same in all versions of Go
		sum := fnv.New64a()
		for range 10000 {
			x := float32(rnd.Uint32())*0x1p-28 - 8
			binary.Write(sum, binary.LittleEndian, math.Float64bits(tt.f(x)))
		}
		if got := sum.Sum64(); got != tt.want {
			t.Errorf("%s: sum of results %#x, want %#x", tt.name, got, tt.want)
		}
	}
}

// log2 is a logarithm that is precise relative to its result near 1, which math.Log2 is not.
func log2(x float64) float64 {
	if math.Abs(x-1) < 0.25 {
		return math.Log1p(x-1) / math.Ln2
	}
	return math.Log2(x)
}

// TestReducePiOver2 compares the reduction with exact arithmetic for float32 near multiples of pi/2. The remainder is as
// small as 2^-30 there, and its leading bits come from far down in 2/pi. It also checks the words of twoOverPi.
func TestReducePiOver2(t *testing.T) {
	const prec = 480
	pi, _, err := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534"+
		"211706798214808651328230664709384460955058223172535940812848111745", 10, prec, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	halfPi := new(big.Float).SetPrec(prec).Quo(pi, big.NewFloat(2))

	fixed := new(big.Float).SetPrec(prec).Quo(big.NewFloat(2), pi)
	word, _ := fixed.SetMantExp(fixed, 64*(len(twoOverPi)-1)).Int(nil)
	for i := len(twoOverPi) - 1; i >= 0; i-- {
		if low := new(big.Int).And(word, new(big.Int).SetUint64(math.MaxUint64)).Uint64(); twoOverPi[i] != low {
			t.Errorf("twoOverPi[%d] = %#x, want %#x", i, twoOverPi[i], low)
		}
		word.Rsh(word, 64)
	}

	half := big.NewFloat(0.5)
	try := func(x float32) {
		n, y := reducePiOver2(x)
		// |x| = q * pi/2 + want
		ax := new(big.Float).SetPrec(prec).SetFloat64(math.Abs(float64(x)))
		q := new(big.Float).SetPrec(prec).Quo(ax, halfPi)
		k, _ := q.Add(q, half).Int(nil)
		rest := new(big.Float).SetPrec(prec).SetInt(k)
		rest.Sub(ax, rest.Mul(rest, halfPi))
		want, _ := rest.Float64()
		quadrant := uint(new(big.Int).And(k, big.NewInt(3)).Uint64())
		if x < 0 {
			want, quadrant = -want, -quadrant
		}
		if n&3 != quadrant&3 || math.Abs(y-want) > math.Abs(want)*0x1p-50 {
			t.Errorf("reducePiOver2(%x) = %d, %x, want %d, %x", x, n&3, y, quadrant&3, want)
		}
	}
	rnd := source(t)
	for range count(10000) {
		k := math.Ldexp(1+rnd.Float64(), rnd.IntN(24)) // below 2^24 the nearest float32 is near
		x := float32(math.Round(k) * (math.Pi / 2))
		try(x)
		try(-x)
		if y := float32Of(rnd.Uint64()); y-y == 0 {
			try(y)
		}
	}
	// The last number is the float32 that is nearest to a multiple of pi/2, relative to its size. It was found by trying
	// all; the remainder is 0x1.bbdp-30.
	for _, u := range []uint64{0x3f490fdb, 0x3f490fdc, 0x40490fdb, 0x7f7fffff, 0x437ce5f1, 0x50a3e87f, 0x6f79be45} {
		try(float32Of(u))
	}
}

// TestDivApprox32 compares div.approx.f32 with the correctly rounded quotient, and with the manual's special results for
// large divisors.
func TestDivApprox32(t *testing.T) {
	const inf, nan = 0x7f800000, 0x7fffffff
	for _, a := range lay32.grid() {
		for _, b := range lay32.grid() {
			want := lay32.wantDiv(wide(a), wide(b))[RN]
			if m := b &^ (1 << 31); m > 0x7e800000 && m < inf {
				switch {
				case a&^(1<<31) >= inf:
					want = nan
				default:
					want = (a ^ b) & (1 << 31)
				}
			}
			check(t, "DivApprox32", RN, bitsOf32(DivApprox32(float32Of(a), float32Of(b))), want, a, b)
		}
	}
}

// TestApprox64 compares the approximations of f64 with package math, for operands reduced to their upper 32 bits.
func TestApprox64(t *testing.T) {
	rnd := source(t)
	for range count(100000) {
		u := lay64.random(rnd) &^ (1 << 63)
		x := math.Float64frombits(u &^ (1<<32 - 1))
		if x < 0x1p-1022 || x > 0x1p1022 || x != x {
			continue
		}
		for _, tt := range []struct {
			name      string
			got, want float64
		}{
			{"RcpApprox64", RcpApprox64(math.Float64frombits(u)), 1 / x},
			{"RsqrtApprox64", RsqrtApprox64(math.Float64frombits(u)), 1 / math.Sqrt(x)},
		} {
			if math.Float64bits(tt.got)<<32 != 0 || math.Abs(tt.got-tt.want) > tt.want*0x1p-21 {
				t.Errorf("%s(%#x) = %x, want about %x", tt.name, u, tt.got, tt.want)
			}
		}
	}
}

// TestHalfFunctions compares the functions for halves with those for f32, for all numbers of f16 and bf16.
func TestHalfFunctions(t *testing.T) {
	type format struct {
		name   string
		wide   func(uint16) float32
		narrow func(float32, Rounding) uint16
	}
	for _, f := range []struct {
		name        string
		half, whole func(float32) float32
	}{{"ex2", Ex2Half, Ex2Approx32}, {"tanh", TanhHalf, TanhApprox32}} {
		for _, to := range []format{{"f16", WidenF16, F32ToF16}, {"bf16", BF16ToF32, F32ToBF16}} {
			for h := range 1 << 16 {
				x := to.wide(uint16(h))
				if got, want := to.narrow(f.half(x), RN), to.narrow(f.whole(x), RN); got != want {
					t.Errorf("%s(%#04x) of %s is %#04x, want %#04x", f.name, h, to.name, got, want)
				}
			}
		}
	}
}
