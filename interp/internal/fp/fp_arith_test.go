// This file compares arithmetic, min and max with the oracle (fp_oracle_test.go).

package fp

import (
	"math"
	"math/big"
	"testing"
)

// TestRoundingString checks the names of rounding modes.
func TestRoundingString(t *testing.T) {
	for r, want := range map[Rounding]string{RN: "rn", RZ: "rz", RM: "rm", RP: "rp", 7: "Rounding(7)"} {
		if got := r.String(); got != want {
			t.Errorf("Rounding(%d).String() = %q, want %q", uint8(r), got, want)
		}
	}
}

// TestReferenceArithmetic compares the oracle with known answers, because the oracle and the package could share a
// mistake.
func TestReferenceArithmetic(t *testing.T) {
	tests := []struct {
		x    float64
		want [4]uint64
	}{
		{0.1, [4]uint64{0x3dcccccd, 0x3dcccccc, 0x3dcccccc, 0x3dcccccd}},
		{-0.1, [4]uint64{0xbdcccccd, 0xbdcccccc, 0xbdcccccd, 0xbdcccccc}},
		{1 + 0x1p-24, [4]uint64{0x3f800000, 0x3f800000, 0x3f800000, 0x3f800001}},
		{1 + 0x3p-24, [4]uint64{0x3f800002, 0x3f800001, 0x3f800001, 0x3f800002}},
		{0x1p-150, [4]uint64{0, 0, 0, 1}},
		{-0x1p-150, [4]uint64{0x80000000, 0x80000000, 0x80000001, 0x80000000}},
		{0x1.8p-150, [4]uint64{1, 0, 0, 1}},
		{0x1p128, [4]uint64{0x7f800000, 0x7f7fffff, 0x7f7fffff, 0x7f800000}},
		{0x1.ffffffp127, [4]uint64{0x7f800000, 0x7f7fffff, 0x7f7fffff, 0x7f800000}},
		{0x1.fffffefp127, [4]uint64{0x7f7fffff, 0x7f7fffff, 0x7f7fffff, 0x7f800000}},
	}
	for _, tt := range tests {
		if got := lay32.wantConvert(tt.x); got != tt.want {
			t.Errorf("oracle: f32 of %x = %#x, want %#x", tt.x, got, tt.want)
		}
	}
}

// TestFma32DoubleRounding checks a sum that a second rounding gets wrong: float32 of a float64 fused multiply-add gives
// 3f800002.
func TestFma32DoubleRounding(t *testing.T) {
	a, b, c := float32Of(0x39800001), float32Of(0x397ffffe), float32Of(0x3f800001)
	if got := bitsOf32(FmaRN32(a, b, c)); got != 0x3f800001 {
		t.Errorf("FmaRN32 = %#x, want 0x3f800001", got)
	}
	if got := bitsOf32(float32(math.FMA(float64(a), float64(b), float64(c)))); got != 0x3f800002 {
		t.Errorf("float32(math.FMA) = %#x: the example is not one", got)
	}
}

// TestArith32 compares the operations of float32 with exact arithmetic, in every rounding mode.
func TestArith32(t *testing.T) {
	pair := func(a, b uint64) {
		x, y := float32Of(a), float32Of(b)
		add := lay32.wantAdd(float64(x), float64(y))
		mul := lay32.wantMul(float64(x), float64(y))
		div := lay32.wantDiv(float64(x), float64(y))
		for r := RN; r <= RP; r++ {
			check(t, "Add32", r, bitsOf32(Add32(x, y, r)), add[r], a, b)
			check(t, "Mul32", r, bitsOf32(Mul32(x, y, r)), mul[r], a, b)
			check(t, "Div32", r, bitsOf32(Div32(x, y, r)), div[r], a, b)
		}
		check(t, "DivFull32", RN, bitsOf32(DivFull32(x, y)), div[RN], a, b)
	}
	single := func(a uint64) {
		sqrt := lay32.wantSqrt(wide(a))
		for r := RN; r <= RP; r++ {
			check(t, "Sqrt32", r, bitsOf32(Sqrt32(float32Of(a), r)), sqrt[r], a)
		}
	}
	for _, a := range lay32.grid() {
		single(a)
		for _, b := range lay32.grid() {
			pair(a, b)
		}
	}
	rnd := source(t)
	for range count(20000) {
		a, b := lay32.random(rnd), lay32.random(rnd)
		pair(a, b)
		single(a)
	}
}

// TestArith64 compares the operations of float64 with exact arithmetic, in every rounding mode.
func TestArith64(t *testing.T) {
	pair := func(a, b uint64) {
		x, y := math.Float64frombits(a), math.Float64frombits(b)
		add := lay64.wantAdd(x, y)
		mul := lay64.wantMul(x, y)
		div := lay64.wantDiv(x, y)
		for r := RN; r <= RP; r++ {
			check(t, "Add64", r, math.Float64bits(Add64(x, y, r)), add[r], a, b)
			check(t, "Mul64", r, math.Float64bits(Mul64(x, y, r)), mul[r], a, b)
			check(t, "Div64", r, math.Float64bits(Div64(x, y, r)), div[r], a, b)
		}
	}
	single := func(a uint64) {
		x := math.Float64frombits(a)
		sqrt := lay64.wantSqrt(x)
		for r := RN; r <= RP; r++ {
			check(t, "Sqrt64", r, math.Float64bits(Sqrt64(x, r)), sqrt[r], a)
		}
	}
	for _, a := range lay64.grid() {
		single(a)
		for _, b := range lay64.grid() {
			pair(a, b)
		}
	}
	rnd := source(t)
	for range count(10000) {
		a, b := lay64.random(rnd), lay64.random(rnd)
		pair(a, b)
		single(a)
	}
	// Products and quotients near the least subnormal and near tiny64, where residuals are lost.
	for range count(5000) {
		a := rnd.Uint64()
		_, m := math.Frexp(math.Float64frombits(a))
		want := -1074 + rnd.IntN(200)
		if rnd.IntN(2) == 0 {
			want = -1074 + rnd.IntN(4)
		}
		b := rnd.Uint64()&^lay64.inf() | uint64(max(0, min(2046, want-m+1023)))<<52
		pair(a, b)
		inverse := rnd.Uint64()&^lay64.inf() | uint64(max(0, min(2046, m-want+1023)))<<52
		pair(a, inverse)
		single(a &^ (1<<63 | 7<<60))
	}
}

// TestFma32 compares fused multiply-adds of float32 with exact arithmetic, in every rounding mode.
func TestFma32(t *testing.T) {
	triple := func(a, b, c uint64) {
		x, y, z := float32Of(a), float32Of(b), float32Of(c)
		want := lay32.wantFma(float64(x), float64(y), float64(z))
		for r := RN; r <= RP; r++ {
			check(t, "Fma32", r, bitsOf32(Fma32(x, y, z, r)), want[r], a, b, c)
		}
		check(t, "FmaRN32", RN, bitsOf32(FmaRN32(x, y, z)), want[RN], a, b, c)
	}
	rnd := source(t)
	grid := lay32.grid()
	for range count(40000) {
		triple(grid[rnd.IntN(len(grid))], grid[rnd.IntN(len(grid))], grid[rnd.IntN(len(grid))])
	}
	for range count(30000) {
		a, b, c := lay32.random(rnd), lay32.random(rnd), lay32.random(rnd)
		triple(a, b, c)
		triple(a, b, nearProduct(rnd.IntN(30), lay32, -wide(a)*wide(b), c))
		triple(a, b, nearProduct(24+rnd.IntN(8), lay32, wide(a)*wide(b), c))
	}
	// The product is half an ulp of c, or differs from it by less than float64 can hold in the sum, for c down to the
	// subnormals.
	for e := -150; e < 100; e += 1 + count(10) {
		for i := range 3 {
			near := 1 + float32(i)*0x1p-23
			a := near * float32(math.Ldexp(1, e/2))
			for _, b := range []float32{1 / near, 1 + (1 - near), near} {
				b *= float32(math.Ldexp(1, e-e/2))
				c := rnd.Uint64N(1<<23) | uint64(e+24+127-rnd.IntN(2))<<23
				triple(bitsOf32(a), bitsOf32(b), c)
				triple(bitsOf32(-a), bitsOf32(b), c)
			}
		}
	}
}

// nearProduct returns the bits of the addend c, moved to the exponent of p, or the given number of bits above it. It makes
// sums that cancel, and sums whose product is about half an ulp.
func nearProduct(above int, l *testFormat, p float64, c uint64) uint64 {
	_, e := math.Frexp(p)
	e += above - 1 + 1<<(l.exp-1) - 1
	u := c&(1<<l.frac-1) | uint64(max(0, min(1<<l.exp-2, e)))<<l.frac
	return l.signed(p < 0, u)
}

// TestFma64 compares fused multiply-adds of float64 with exact arithmetic, in every rounding mode.
func TestFma64(t *testing.T) {
	triple := func(a, b, c uint64) {
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		want := lay64.wantFma(x, y, z)
		for r := RN; r <= RP; r++ {
			check(t, "Fma64", r, math.Float64bits(Fma64(x, y, z, r)), want[r], a, b, c)
		}
		check(t, "FmaRN64", RN, math.Float64bits(FmaRN64(x, y, z)), want[RN], a, b, c)
	}
	rnd := source(t)
	grid := lay64.grid()
	for range count(20000) {
		triple(grid[rnd.IntN(len(grid))], grid[rnd.IntN(len(grid))], grid[rnd.IntN(len(grid))])
	}
	for range count(8000) {
		a, b, c := lay64.random(rnd), lay64.random(rnd), lay64.random(rnd)
		p := math.Float64frombits(a) * math.Float64frombits(b)
		triple(a, b, c)
		triple(a, b, nearProduct(rnd.IntN(60), lay64, -p, c))
		triple(a, b, nearProduct(50+rnd.IntN(10), lay64, p, c))
		triple(a, b, math.Float64bits(-p)) // the sum is the residual of the product
	}
}

// TestCanonicalNaNFlushAndSaturate compares Canon32, FTZ32, Sat32, Quiet64 and Sat64 with their definitions, on numbers of
// all kinds.
func TestCanonicalNaNFlushAndSaturate(t *testing.T) {
	inf := math.Inf(1)
	negZero := math.Copysign(0, -1)
	for _, u := range lay32.grid() {
		x := float32Of(u)
		isNaN := x != x
		canon, ftz, sat := u, u, u
		if isNaN {
			canon = 0x7fffffff
		}
		if u&^(1<<31) < 0x00800000 {
			ftz = u & (1 << 31)
		}
		switch {
		case isNaN || x <= 0:
			sat = 0
		case x >= 1:
			sat = 0x3f800000
		}
		check(t, "Canon32", RN, bitsOf32(Canon32(x)), canon, u)
		check(t, "FTZ32", RN, bitsOf32(FTZ32(x)), ftz, u)
		check(t, "Sat32", RN, bitsOf32(Sat32(x)), sat, u)
	}
	for _, tt := range []struct{ x, quiet, sat float64 }{
		{inf, inf, 1}, {-inf, -inf, 0}, {negZero, negZero, 0}, {0.5, 0.5, 0.5}, {1, 1, 1}, {2, 2, 1}, {5e-324, 5e-324, 5e-324},
		{math.Float64frombits(0xfff0000000000001), math.Float64frombits(0xfff8000000000001), 0},
	} {
		check(t, "Quiet64", RN, math.Float64bits(Quiet64(tt.x)), math.Float64bits(tt.quiet), math.Float64bits(tt.x))
		check(t, "Sat64", RN, math.Float64bits(Sat64(tt.x)), math.Float64bits(tt.sat), math.Float64bits(tt.x))
	}
}

// order maps the bits of a number to an integer, so that integers have the order of the numbers, with -0 less than +0.
func order(l *testFormat, u uint64) int64 {
	if u&l.sign() != 0 {
		return -int64(u&^l.sign()) - 1
	}
	return int64(u)
}

// TestMinMax compares min and max with the manual's rules for NaNs and for zeros of both signs.
func TestMinMax(t *testing.T) {
	want := func(l *testFormat, a, b uint64, max bool) uint64 {
		aNaN, bNaN := a&^l.sign() > l.inf(), b&^l.sign() > l.inf()
		switch {
		case aNaN && bNaN:
			return l.aNaN(math.Float64frombits(b))[RN]
		case aNaN:
			return b
		case bNaN:
			return a
		case order(l, a) < order(l, b) == max:
			return b
		}
		return a
	}
	for _, a := range lay32.grid() {
		for _, b := range lay32.grid() {
			x, y := float32Of(a), float32Of(b)
			lesser, greater := want(lay32, a, b, false), want(lay32, a, b, true)
			check(t, "Min32", RN, bitsOf32(Min32(x, y)), lesser, a, b)
			check(t, "Max32", RN, bitsOf32(Max32(x, y)), greater, a, b)
			if x != x || y != y {
				lesser, greater = uint64(NaN32), uint64(NaN32)
			}
			check(t, "MinNaN32", RN, bitsOf32(MinNaN32(x, y)), lesser, a, b)
			check(t, "MaxNaN32", RN, bitsOf32(MaxNaN32(x, y)), greater, a, b)
		}
	}
	for _, a := range lay64.grid() {
		for _, b := range lay64.grid() {
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			check(t, "Min64", RN, math.Float64bits(Min64(x, y)), want(lay64, a, b, false), a, b)
			check(t, "Max64", RN, math.Float64bits(Max64(x, y)), want(lay64, a, b, true), a, b)
		}
	}
}

// TestFlushedResults checks which results near the least normal number are flushed. The reference has 24 bits and an
// unbounded exponent: a result is flushed if the reference is less than the least normal number.
func TestFlushedResults(t *testing.T) {
	const least = 0x1p-126
	modes := [4]big.RoundingMode{RN: big.ToNearestEven, RZ: big.ToZero, RM: big.ToNegativeInf, RP: big.ToPositiveInf}
	compare := func(name string, x *big.Float, got func(r Rounding) float32, in ...uint64) {
		if x.Sign() == 0 {
			return // the sign of an exact zero is that of the forms without .ftz
		}
		for r := RN; r <= RP; r++ {
			y := new(big.Float).SetPrec(24).SetMode(modes[r]).Set(x)
			if new(big.Float).Abs(y).Cmp(big.NewFloat(least)) < 0 {
				y = new(big.Float).Copy(big.NewFloat(math.Copysign(0, float64(x.Sign()))))
			}
			want, _ := y.Float32()
			check(t, name, r, bitsOf32(got(r)), bitsOf32(want), in...)
		}
	}
	exact := func() *big.Float { return new(big.Float).SetPrec(300) }
	number := func(x float32) *big.Float { return exact().SetFloat64(float64(x)) }
	rnd := source(t)
	for range count(20000) {
		// Factors a few steps from 1, and scales with which the result is near the least normal number.
		near := func() float32 { return float32Of(uint64(0x3f800000 - 6 + rnd.IntN(12))) }
		k := rnd.IntN(120)
		a, b := near()*float32(math.Ldexp(1, -k)), near()*float32(math.Ldexp(1, k-126))
		inverse := near() * float32(math.Ldexp(1, 126-k))
		c := near() * least * float32(rnd.IntN(3)-1)
		if rnd.IntN(2) == 0 {
			a = -a
		}
		c = FTZ32(c)
		in := []uint64{bitsOf32(a), bitsOf32(b), bitsOf32(inverse), bitsOf32(c)}
		if b = FTZ32(b); b != 0 {
			compare("MulFTZ32", exact().Mul(number(a), number(b)), func(r Rounding) float32 { return MulFTZ32(a, b, r) }, in...)
			x := exact().Mul(number(2*a), number(b))
			compare("FmaFTZ32", x.Add(x, number(c)), func(r Rounding) float32 { return FmaFTZ32(2*a, b, c, r) }, in...)
		}
		compare("DivFTZ32", exact().Quo(number(a), number(inverse)), func(r Rounding) float32 { return DivFTZ32(a, inverse, r) }, in...)
		wide := float64(a) * math.Ldexp(1+float64(rnd.IntN(5)-2)*0x1p-52, k-126)
		compare("F64ToF32FTZ", exact().SetFloat64(wide), func(r Rounding) float32 { return F64ToF32FTZ(wide, r) }, math.Float64bits(wide))
	}
	subnormal := float32(0x1p-127)
	for r := RN; r <= RP; r++ {
		check(t, "MulFTZ32", r, bitsOf32(MulFTZ32(-subnormal, 4, r)), 1<<31)
		check(t, "DivFTZ32", r, bitsOf32(DivFTZ32(1, -subnormal, r)), 0xff800000)
		check(t, "FmaFTZ32", r, bitsOf32(FmaFTZ32(subnormal, 4, subnormal, r)), 0)
		check(t, "F64ToF32FTZ", r, bitsOf32(F64ToF32FTZ(math.NaN(), r)), uint64(NaN32))
	}
}
