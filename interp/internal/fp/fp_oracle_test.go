// This file holds the oracle of the tests, which rounds by search, and the generation of inputs.

package fp

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// testFormat describes a float format to the oracle. It is separate from the package's own type, so that a mistake in that
// type is noticed.
type testFormat struct {
	frac, exp uint // widths in bits
	nan       uint64
	width     uint
}

var (
	lay16   = &testFormat{frac: 10, exp: 5, nan: uint64(NaN16), width: 16}
	layBF16 = &testFormat{frac: 7, exp: 8, nan: uint64(NaNBF16), width: 16}
	lay32   = &testFormat{frac: 23, exp: 8, nan: uint64(NaN32), width: 32}
	lay64   = &testFormat{frac: 52, exp: 11, nan: NaN64, width: 64}
)

func (l *testFormat) inf() uint64  { return (1<<l.exp - 1) << l.frac }
func (l *testFormat) sign() uint64 { return 1 << (l.width - 1) }

// value returns the number with the bits u, without a sign. For the bits of Inf it returns the power of two that would
// follow the largest finite number, because rounding to nearest treats Inf as this number.
func (l *testFormat) value(u uint64) *big.Float {
	e, m := int(u>>l.frac), u&(1<<l.frac-1)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << l.frac
	}
	x := new(big.Float).SetPrec(64).SetUint64(m)
	return x.SetMantExp(x, e-(1<<(l.exp-1)-1)-int(l.frac))
}

// round returns the bits of a number rounded in each mode. The number must not be zero; neg is its sign. compare returns
// the sign of |number| - x; round knows the number only by this function.
//
// Magnitudes have the order of their bits, so a binary search finds the largest magnitude that is not above the number.
func (l *testFormat) round(neg bool, compare func(x *big.Float) int) (out [4]uint64) {
	lo, hi := uint64(0), l.inf() // lo <= number < hi, or number >= the power of two for Inf
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; compare(l.value(mid)) >= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	exact := compare(l.value(lo)) == 0
	for r := RN; r <= RP; r++ {
		u := lo
		if !exact {
			switch r {
			case RN:
				middle := new(big.Float).SetPrec(128).Add(l.value(lo), l.value(hi))
				middle.Quo(middle, big.NewFloat(2))
				if c := compare(middle); c > 0 || c == 0 && lo&1 == 1 {
					u = hi
				}
			case RM:
				if neg {
					u = hi
				}
			case RP:
				if !neg {
					u = hi
				}
			}
		}
		if neg {
			u |= l.sign()
		}
		out[r] = u
	}
	return out
}

// allLanes returns the same bits for each mode.
func allLanes(u uint64) [4]uint64 { return [4]uint64{u, u, u, u} }

// zero returns the bits of an exact zero sum of x and y, given their signs (IEEE 754, section 6.3).
func (l *testFormat) zero(xneg, yneg bool) [4]uint64 {
	switch {
	case xneg && yneg:
		return allLanes(l.sign())
	case xneg || yneg:
		return [4]uint64{RM: l.sign()}
	}
	return allLanes(0)
}

// signed returns the bits u with a sign.
func (l *testFormat) signed(neg bool, u uint64) uint64 {
	if neg {
		u |= l.sign()
	}
	return u
}

// exactly returns x as a big.Float in which a sum of a product and a number is exact. The widest such sum is 2^2048 +
// 2^-2148.
func exactly(x float64) *big.Float {
	return new(big.Float).SetPrec(4300).SetFloat64(x)
}

// number returns an exact x, which must not be zero, rounded in each mode.
func (l *testFormat) number(x *big.Float) [4]uint64 {
	abs := new(big.Float).Abs(x)
	return l.round(x.Signbit(), abs.Cmp)
}

// aNaN returns the NaN result of an operation. For f64 it is the first operand that is a NaN, made quiet; the operands are
// in the order of preference.
func (l *testFormat) aNaN(operands ...float64) [4]uint64 {
	for _, x := range operands {
		if x != x && l == lay64 {
			return allLanes(math.Float64bits(x) | 1<<51)
		}
	}
	return allLanes(l.nan)
}

func isInf(x float64) bool { return math.IsInf(x, 0) }

func (l *testFormat) wantAdd(a, b float64) [4]uint64 {
	switch {
	case a != a || b != b || isInf(a) && b == -a:
		return l.aNaN(b, a)
	case isInf(a):
		return allLanes(l.signed(a < 0, l.inf()))
	case isInf(b):
		return allLanes(l.signed(b < 0, l.inf()))
	}
	x := exactly(a)
	if x.Add(x, exactly(b)); x.Sign() == 0 {
		return l.zero(math.Signbit(a), math.Signbit(b))
	}
	return l.number(x)
}

func (l *testFormat) wantMul(a, b float64) [4]uint64 {
	neg := math.Signbit(a) != math.Signbit(b)
	switch {
	case a != a || b != b || isInf(a) && b == 0 || a == 0 && isInf(b):
		return l.aNaN(b, a)
	case isInf(a) || isInf(b):
		return allLanes(l.signed(neg, l.inf()))
	case a == 0 || b == 0:
		return allLanes(l.signed(neg, 0))
	}
	return l.number(new(big.Float).SetPrec(128).Mul(exactly(a), exactly(b)))
}

func (l *testFormat) wantFma(a, b, c float64) [4]uint64 {
	neg := math.Signbit(a) != math.Signbit(b)
	switch {
	case a != a || b != b || c != c || isInf(a) && b == 0 || a == 0 && isInf(b):
		return l.aNaN(b, c, a)
	case isInf(a) || isInf(b):
		if isInf(c) && neg != (c < 0) {
			return l.aNaN(b, c, a)
		}
		return allLanes(l.signed(neg, l.inf()))
	case isInf(c):
		return allLanes(l.signed(c < 0, l.inf()))
	}
	x := exactly(a)
	x.Mul(x, exactly(b))
	if x.Add(x, exactly(c)); x.Sign() == 0 {
		return l.zero(neg, math.Signbit(c))
	}
	return l.number(x)
}

func (l *testFormat) wantDiv(a, b float64) [4]uint64 {
	neg := math.Signbit(a) != math.Signbit(b)
	switch {
	case a != a || b != b || isInf(a) && isInf(b) || a == 0 && b == 0:
		return l.aNaN(a, b)
	case isInf(a) || b == 0:
		return allLanes(l.signed(neg, l.inf()))
	case a == 0 || isInf(b):
		return allLanes(l.signed(neg, 0))
	}
	num, den := exactly(math.Abs(a)), new(big.Float).SetFloat64(math.Abs(b))
	return l.round(neg, func(x *big.Float) int { // a/b <=> x is a <=> x*b
		return num.Cmp(new(big.Float).SetPrec(256).Mul(x, den))
	})
}

func (l *testFormat) wantSqrt(a float64) [4]uint64 {
	switch {
	case a == 0:
		return allLanes(l.signed(math.Signbit(a), 0))
	case !(a > 0):
		return l.aNaN(a)
	case isInf(a):
		return allLanes(l.inf())
	}
	square := exactly(a)
	return l.round(false, func(x *big.Float) int {
		return square.Cmp(new(big.Float).SetPrec(256).Mul(x, x))
	})
}

// wantConvert returns x rounded in each mode.
func (l *testFormat) wantConvert(x float64) [4]uint64 {
	switch {
	case x != x:
		return l.aNaN(x)
	case isInf(x):
		return allLanes(l.signed(x < 0, l.inf()))
	case x == 0:
		return allLanes(l.signed(math.Signbit(x), 0))
	}
	return l.number(exactly(x))
}

// wantInt returns an integer rounded in each mode.
func (l *testFormat) wantInt(x *big.Int) [4]uint64 {
	if x.Sign() == 0 {
		return allLanes(0)
	}
	return l.number(new(big.Float).SetPrec(128).SetInt(x))
}

// grid returns the bits of special numbers of a format, with both signs: zeros, the ends of the subnormal and normal
// ranges, small integers and their neighbours, ties, scattered exponents, Inf and NaN.
func (l *testFormat) grid() []uint64 {
	one := (uint64(1)<<(l.exp-1) - 1) << l.frac
	ulp := uint64(1) << l.frac // one step of the exponent
	positive := []uint64{
		0, 1, 2, 3, ulp / 2, ulp - 1, // subnormals
		ulp, ulp + 1, 2*ulp - 1, 2 * ulp, 3*ulp + 5, // least normals
		one - 2*ulp, one - ulp, one - ulp + 1, one - 2, one - 1, one, one + 1, one + 2, one + 3,
		one + ulp/2, one + ulp/2 + 1, one + ulp - 1, one + ulp, one + ulp + ulp/2, one + ulp + ulp/4,
		one / 2, one/2 + 1, one + one/2, one + one/2 + 3, // near the roots of the least and the largest number
		one - uint64(l.frac)*ulp, one - uint64(l.frac+1)*ulp, one - uint64(l.frac+1)*ulp + 1,
		one + uint64(l.frac)*ulp, one + uint64(l.frac)*ulp + 1, one + uint64(l.frac+1)*ulp + 1,
		one + 0x5555555555555555&(ulp-1), // 4/3
		l.inf() - 2*ulp, l.inf() - ulp, l.inf() - ulp + 1, l.inf() - 2, l.inf() - 1,
		l.inf(), l.inf() + 1, l.inf() + ulp/2, l.inf() + ulp - 1, // and NaNs
	}
	var out []uint64
	for _, u := range positive {
		out = append(out, u, u|l.sign())
	}
	return out
}

var seedFlag = flag.Uint64("seed", 0, "seed of the random inputs; 0 for the fixed one")

// source returns a random generator. If the test fails, its seed is logged.
func source(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = 20260101
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("random inputs: go test -run %s -seed %d", t.Name(), seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// count returns n, or a tenth of it under -short.
func count(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// random returns random bits. Any bits may occur. Often the exponent is near that of 1, so that operands interact; often
// there is a run of equal bits, which gives ties and cancellations.
func (l *testFormat) random(rnd *rand.Rand) uint64 {
	u := rnd.Uint64() & (l.sign()<<1 - 1)
	kind := rnd.IntN(8)
	if kind >= 3 {
		one := (uint64(1)<<(l.exp-1) - 1)
		near := one - uint64(l.frac) + rnd.Uint64N(2*uint64(l.frac))
		u = u&^l.inf() | near<<l.frac&l.inf()
	}
	if kind&1 == 1 {
		n := rnd.UintN(l.frac)
		run := uint64(1)<<n - 1
		if rnd.IntN(2) == 0 {
			u &^= run
		} else {
			u |= run
		}
		u ^= rnd.Uint64N(2)
	}
	return u
}

func bitsOf32(x float32) uint64  { return uint64(math.Float32bits(x)) }
func float32Of(u uint64) float32 { return math.Float32frombits(uint32(u)) }
func wide(u uint64) float64      { return float64(float32Of(u)) }

var mismatches int // of all tests, so that a mistake in a common routine does not fill the screen

// check compares the result of a function in mode r with the expected bits. in lists the bits of the operands.
func check(t *testing.T, name string, r Rounding, got, want uint64, in ...uint64) {
	t.Helper()
	if got == want {
		return
	}
	t.Errorf("%s.%v(%#x) = %#x, want %#x", name, r, in, got, want)
	if mismatches++; mismatches >= 50 {
		t.Fatal("too many mismatches")
	}
}
