// This file compares conversions with the oracle (fp_oracle_test.go).

package fp

import (
	"math"
	"math/big"
	"testing"
)

// TestWiden16 widens all 16-bit numbers.
func TestWiden16(t *testing.T) {
	for h := range uint64(1 << 16) {
		for _, tt := range []struct {
			name string
			l    *testFormat
			to32 func(uint16) float32
			to64 func(uint16) float64
		}{
			{"F16ToF32", lay16, F16ToF32, F16ToF64},
			{"BF16ToF32", layBF16, BF16ToF32, BF16ToF64},
		} {
			var want float64
			switch u := h &^ tt.l.sign(); {
			case u > tt.l.inf():
				want32, payload := uint64(NaN32), h&(1<<tt.l.frac-1)<<(52-tt.l.frac)
				if tt.l == layBF16 {
					want32 = h << 16
				}
				check(t, tt.name, RN, bitsOf32(tt.to32(uint16(h))), want32, h)
				check(t, tt.name+" as F64", RN, math.Float64bits(tt.to64(uint16(h))), h>>15<<63|0x7ff8<<48|payload, h)
				continue
			case u == tt.l.inf():
				want = math.Inf(1)
			default:
				want, _ = tt.l.value(u).Float64()
			}
			if h&tt.l.sign() != 0 {
				want = -want
			}
			check(t, tt.name, RN, bitsOf32(tt.to32(uint16(h))), bitsOf32(float32(want)), h)
			check(t, tt.name+" as F64", RN, math.Float64bits(tt.to64(uint16(h))), math.Float64bits(want), h)
		}
	}
}

// TestNarrow16 compares the rounding of all midpoints and neighbours of 16-bit numbers with exact arithmetic.
func TestNarrow16(t *testing.T) {
	for _, tt := range []struct {
		name string
		l    *testFormat
		to32 func(uint16) float32
		of32 func(float32, Rounding) uint16
		of64 func(float64, Rounding) uint16
	}{
		{"F16", lay16, F16ToF32, F32ToF16, F64ToF16},
		{"BF16", layBF16, BF16ToF32, F32ToBF16, F64ToBF16},
	} {
		// Each number gives itself in every mode. The number half an ulp above its magnitude is a tie, and the two float64 next
		// to the tie are not.
		for h := range uint64(1 << 16) {
			x := tt.to32(uint16(h))
			want := h
			if x != x {
				want = tt.l.nan
			}
			for r := RN; r <= RP; r++ {
				check(t, "F32To"+tt.name, r, uint64(tt.of32(x, r)), want, bitsOf32(x))
				check(t, "F64To"+tt.name, r, uint64(tt.of64(float64(x), r)), want, bitsOf32(x))
			}
			if u := h &^ tt.l.sign(); u >= tt.l.inf() {
				continue
			}
			next, _ := tt.l.value(h&^tt.l.sign() + 1).Float64()
			tie := math.Copysign((math.Abs(float64(x))+next)/2, float64(x))
			bottom, top := h, h+1
			even := bottom + bottom&1
			for r := RN; r <= RP; r++ {
				nearest := [3]uint64{bottom, even, top}
				for i, y := range [3]float64{math.Nextafter(tie, 0), tie, math.Nextafter(tie, 2*tie)} {
					want := bottom
					switch {
					case r == RN:
						want = nearest[i]
					case r == RM && math.Signbit(y), r == RP && !math.Signbit(y):
						want = top
					}
					check(t, "F64To"+tt.name, r, uint64(tt.of64(y, r)), want, math.Float64bits(y))
					if y == float64(float32(y)) {
						check(t, "F32To"+tt.name, r, uint64(tt.of32(float32(y), r)), want, math.Float64bits(y))
					}
				}
			}
		}
	}
}

// TestConvertFloat compares conversions between floating-point formats with exact arithmetic, in every rounding mode.
func TestConvertFloat(t *testing.T) {
	from64 := func(u uint64) {
		x := math.Float64frombits(u)
		want32, want16, wantBF16 := lay32.wantConvert(x), lay16.wantConvert(x), layBF16.wantConvert(x)
		for r := RN; r <= RP; r++ {
			check(t, "F64ToF32", r, bitsOf32(F64ToF32(x, r)), want32[r], u)
			check(t, "F64ToF16", r, uint64(F64ToF16(x, r)), want16[r], u)
			check(t, "F64ToBF16", r, uint64(F64ToBF16(x, r)), wantBF16[r], u)
		}
	}
	from32 := func(u uint64) {
		x := float32Of(u)
		want64, want16, wantBF16 := lay64.wantConvert(wide(u)), lay16.wantConvert(wide(u)), layBF16.wantConvert(wide(u))
		check(t, "F32ToF64", RN, math.Float64bits(F32ToF64(x)), want64[RN], u)
		for r := RN; r <= RP; r++ {
			check(t, "F32ToF16", r, uint64(F32ToF16(x, r)), want16[r], u)
			check(t, "F32ToBF16", r, uint64(F32ToBF16(x, r)), wantBF16[r], u)
		}
	}
	for _, u := range lay64.grid() {
		from64(u)
	}
	for _, u := range lay32.grid() {
		from32(u)
		from64(math.Float64bits(wide(u)))
		from64(math.Float64bits(wide(u)) + 1)
		from64(math.Float64bits(wide(u)) + 1<<28) // a tie of f32
	}
	rnd := source(t)
	for range count(10000) {
		from64(lay64.random(rnd))
		from64(math.Float64bits(wide(lay32.random(rnd))) ^ 1<<28 ^ rnd.Uint64N(2))
		from32(lay32.random(rnd))
	}
}

// TestConvertInt compares conversions of integers with exact arithmetic, in every rounding mode.
func TestConvertInt(t *testing.T) {
	one := func(u uint64) {
		s, unsigned := new(big.Int).SetInt64(int64(u)), new(big.Int).SetUint64(u)
		s64, s32, s16, sb := lay64.wantInt(s), lay32.wantInt(s), lay16.wantInt(s), layBF16.wantInt(s)
		u64, u32, u16, ub := lay64.wantInt(unsigned), lay32.wantInt(unsigned), lay16.wantInt(unsigned), layBF16.wantInt(unsigned)
		for r := RN; r <= RP; r++ {
			check(t, "I64ToF64", r, math.Float64bits(I64ToF64(int64(u), r)), s64[r], u)
			check(t, "U64ToF64", r, math.Float64bits(U64ToF64(u, r)), u64[r], u)
			check(t, "I64ToF32", r, bitsOf32(I64ToF32(int64(u), r)), s32[r], u)
			check(t, "U64ToF32", r, bitsOf32(U64ToF32(u, r)), u32[r], u)
			check(t, "I64ToF16", r, uint64(I64ToF16(int64(u), r)), s16[r], u)
			check(t, "U64ToF16", r, uint64(U64ToF16(u, r)), u16[r], u)
			check(t, "I64ToBF16", r, uint64(I64ToBF16(int64(u), r)), sb[r], u)
			check(t, "U64ToBF16", r, uint64(U64ToBF16(u, r)), ub[r], u)
		}
	}
	for n := range 64 {
		for _, significant := range []int{8, 11, 24, 53} { // ulps and ties of each format
			u := uint64(1) << n
			half := u >> significant
			for _, v := range []uint64{u, u + half, u + half/2, u + 2*half, u + 3*half} {
				one(v)
				one(v - 1)
				one(v + 1)
				one(-v)
			}
		}
	}
	one(65504)
	one(65519)
	one(65520)
	rnd := source(t)
	for range count(4000) {
		one(rnd.Uint64() >> rnd.IntN(64))
	}
}

// wantIntegral returns a finite x rounded to an integer: it computes both neighbours, and then chooses.
func wantIntegral(x float64, r Rounding) *big.Int {
	exact := new(big.Rat).SetFloat64(x)
	floor := new(big.Int).Div(exact.Num(), exact.Denom()) // Euclidean: toward -Inf, as Denom is positive
	rest := new(big.Rat).Sub(exact, new(big.Rat).SetInt(floor))
	up := false
	switch r {
	case RN:
		c := rest.Cmp(big.NewRat(1, 2))
		up = c > 0 || c == 0 && floor.Bit(0) == 1
	case RZ:
		up = x < 0 && rest.Sign() != 0
	case RP:
		up = rest.Sign() != 0
	}
	if up {
		floor.Add(floor, big.NewInt(1))
	}
	return floor
}

// integralInputs returns numbers near ties and near the ends of the integer ranges.
func integralInputs(t *testing.T) []float64 {
	xs := []float64{math.Inf(1), math.Inf(-1), math.Float64frombits(0xfff8123456789abc)}
	for _, x := range []float64{0, 0.25, 0.5, 0.75, 1, 1.5, 2.5, 3.5, 1e-310, 0x1p22, 0x1p23, 0x1p51, 0x1p52, 0x1p53, 1e300,
		0x1p7, 0x1p8, 0x1p15, 0x1p16, 0x1p31, 0x1p32, 0x1p63, 0x1p64} {
		for _, d := range []float64{0, 0.5, -0.5, 1, -1, 1.5, -1.5} {
			y := x + d
			xs = append(xs, y, -y, math.Nextafter(y, 1e308), math.Nextafter(y, -1e308), -math.Nextafter(y, 1e308),
				float64(math.Nextafter32(float32(y), 1e38)), float64(math.Nextafter32(float32(y), -1e38)))
		}
	}
	rnd := source(t)
	for range count(3000) {
		xs = append(xs, math.Ldexp(rnd.Float64()*2-1, rnd.IntN(70)), wide(lay32.random(rnd)))
	}
	return xs
}

// TestRoundIntegral compares rounding to integral values with exact arithmetic, in every rounding mode.
func TestRoundIntegral(t *testing.T) {
	for _, x := range integralInputs(t) {
		for r := RN; r <= RP; r++ {
			if x != x || isInf(x) {
				want := lay64.wantConvert(x)[RN]
				check(t, "RoundIntegral64", r, math.Float64bits(RoundIntegral64(x, r)), want, math.Float64bits(x))
				check(t, "RoundIntegral32", r, bitsOf32(RoundIntegral32(float32(x), r)), bitsOf32(Canon32(float32(x))), math.Float64bits(x))
				continue
			}
			want, _ := new(big.Float).SetInt(wantIntegral(x, r)).Float64()
			want = math.Copysign(want, x)
			check(t, "RoundIntegral64", r, math.Float64bits(RoundIntegral64(x, r)), math.Float64bits(want), math.Float64bits(x))
			if y := float32(x); !isInf(float64(y)) {
				want, _ := new(big.Float).SetInt(wantIntegral(float64(y), r)).Float64()
				want = math.Copysign(want, x)
				check(t, "RoundIntegral32", r, bitsOf32(RoundIntegral32(y, r)), bitsOf32(float32(want)), bitsOf32(y))
			}
		}
	}
}

// TestConvertToInt compares conversions to integers with exact arithmetic, clamped to the type's range.
func TestConvertToInt(t *testing.T) {
	for _, width := range []int{8, 16, 32, 64} {
		for _, signed := range []bool{false, true} {
			lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(width))
			if signed {
				hi.Rsh(hi, 1)
				lo.Neg(hi)
			}
			hi.Sub(hi, big.NewInt(1))
			modulus := new(big.Int).Lsh(big.NewInt(1), uint(width))
			bitsOf := func(v *big.Int) uint64 { return new(big.Int).Mod(v, modulus).Uint64() }

			for _, x := range integralInputs(t) {
				if x != x || isInf(x) {
					continue
				}
				for r := RN; r <= RP; r++ {
					v := wantIntegral(x, r)
					if v.Cmp(lo) < 0 {
						v = lo
					} else if v.Cmp(hi) > 0 {
						v = hi
					}
					check(t, "ToInt", r, ToInt(x, r, width, signed), bitsOf(v), math.Float64bits(x), uint64(width))
					check(t, "F64ToInt", r, F64ToInt(x, r, width, signed), bitsOf(v), math.Float64bits(x), uint64(width))
					if y := float32(x); float64(y) == x {
						check(t, "F32ToInt", r, F32ToInt(y, r, width, signed), bitsOf(v), math.Float64bits(x), uint64(width))
					}
				}
			}
			nan32 := uint64(0)
			if width == 64 {
				nan32 = 1 << 63
			}
			inf, nan := math.Inf(1), math.NaN()
			for r := RN; r <= RP; r++ {
				check(t, "F32ToInt(+Inf)", r, F32ToInt(float32(inf), r, width, signed), bitsOf(hi))
				check(t, "F32ToInt(-Inf)", r, F32ToInt(float32(-inf), r, width, signed), bitsOf(lo))
				check(t, "F64ToInt(+Inf)", r, F64ToInt(inf, r, width, signed), bitsOf(hi))
				check(t, "F64ToInt(-Inf)", r, F64ToInt(-inf, r, width, signed), bitsOf(lo))
				check(t, "F32ToInt(NaN)", r, F32ToInt(float32(nan), r, width, signed), nan32)
				check(t, "F64ToInt(NaN)", r, F64ToInt(nan, r, width, signed), 1<<(width-1))
				check(t, "ToInt(NaN)", r, ToInt(nan, r, width, signed), 0)
			}
		}
	}
}

// TestNarrowNaN checks that a NaN keeps its sign and the upper bits of its payload, and becomes quiet. The expected values
// are the results of cvt on an H200.
func TestNarrowNaN(t *testing.T) {
	for _, tt := range []struct {
		x    uint64
		f    *Format
		want uint64
	}{
		{0x7ff0000020000000, &F32, 0x7fc00001}, {0x7ff5555555555555, &F32, 0x7feaaaaa}, {0x7ff5555555555555, &F16, 0x7f55}, {0xfff5555555555555, &BF16, 0xffea},
		{0x7ff0000000000002, &F32, 0x7fc00000}, {0xfff8000000000003, &F32, 0xffc00000}, {0xffffffffffffffff, &F32, 0xffffffff},
		{0x7ff0000000000002, &F16, 0x7e00}, {0xfff0000000000004, &F16, 0xfe00}, {0xffffffffffffffff, &F16, 0xffff},
		{0x7ff8000000000001, &BF16, 0x7fc0}, {0xfff8000000000003, &BF16, 0xffc0}, {0xffffffffffffffff, &BF16, 0xffff},
	} {
		x := math.Float64frombits(tt.x)
		check(t, "NarrowNaN", RN, tt.f.NarrowNaN(x), tt.want, tt.x)
		if tt.f == &F32 {
			check(t, "NarrowF64", RN, bitsOf32(NarrowF64(x)), tt.want, tt.x)
		}
	}
}
