package alu

import (
	"math"
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
)

// TestCommonDivisions compares the division in f64 with the division of integers, where the directive says that both are the same.
func TestCommonDivisions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range part.Count(200_000, 1_000_000, 20_000_000) {
		a, b := rnd.Uint64()>>(12+rnd.IntN(53)), rnd.Uint64()>>(12+rnd.IntN(53))
		if rnd.IntN(2) == 0 { // a quotient next to an integer
			a = min(a/max(b, 1)*b+rnd.Uint64N(3)-1, 1<<52-1)
		}
		testDivision(t, a, b)
		testDivision(t, int64(a), int64(b))
		testDivision(t, -int64(a), int64(b))
		testDivision(t, int64(a), -int64(b))
		testDivision(t, -int64(a), -int64(b))
	}
	testDivision(t, uint64(1<<52-1), 1)
	testDivision(t, uint64(1<<52-1), 1<<52-2)
	if areSmall(uint64(1<<52), 1) || areSmall(int64(math.MinInt64), 1) || areSmall(1, int64(-1<<52)) {
		t.Error("2 to the power 52 is small")
	}
}

func testDivision[T uint64 | int64](t *testing.T, a, b T) {
	if got, want := divSmall(a, b), div(a, b); !areSmall(a, b) || got != want {
		t.Errorf("%d / %d is %d, want %d; small: %v", a, b, got, want, areSmall(a, b))
	}
	if got, want := remSmall(a, b), rem(a, b); got != want {
		t.Errorf("%d %% %d is %d, want %d", a, b, got, want)
	}
}

// TestCommonSines compares sine and cosine of small angles with package math, and with the functions for all angles.
func TestCommonSines(t *testing.T) {
	near := func(got float32, want float64) bool { // half an ulp, and an error of 2⁻³⁸
		return math.Abs(float64(got)-want) <= math.Abs(want)*(0x1p-24+0x1p-38)+0x1p-150
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range part.Count(100_000, 300_000, 10_000_000) {
		a := float32((rnd.Float64() - 0.5) * 4096)
		if rnd.IntN(2) == 0 {
			a = math.Float32frombits(rnd.Uint32())
		}
		if !isSmallAngle(a) {
			continue
		}
		sin, cos := sinSmallF32(a), cosSmallF32(a)
		if wantSin, wantCos := math.Sincos(float64(a)); !near(sin, wantSin) || !near(cos, wantCos) {
			t.Errorf("sine and cosine of %g are %g and %g, want %g and %g", a, sin, cos, wantSin, wantCos)
		}
		if math.Float32bits(sin) != math.Float32bits(sinF32(a)) || math.Float32bits(cos) != math.Float32bits(cosF32(a)) {
			t.Errorf("sine and cosine of %g are %g and %g, want %g and %g of the functions for all angles", a, sin, cos, sinF32(a), cosF32(a))
		}
	}
}
