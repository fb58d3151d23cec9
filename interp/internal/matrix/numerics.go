package matrix

// This file has the floating-point arithmetic of tensor cores. The manual does not specify it; it was measured by the
// sources in Generations.

import (
	"math"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// Unit is a kind of multiplication. The units of a generation may compute differently.
type Unit uint8

const (
	UnitWarp      Unit = iota // mma and wmma
	UnitQuarters              // mma.m8n8k4 with f16
	UnitWarpgroup             // wgmma
	UnitFours                 // wmma with tf32: its machine instructions have k = 4
	UnitTensor                // tcgen05.mma
	UnitGroups                // mma and tcgen05.mma with scales and 4-bit factors: 16 products, times their scales, are a single term
)

// Method is the order and the precision in which the products of a row of A and a column of B are added.
type Method uint8

const (
	Blocks Method = iota // a block of products is added to the accumulator at once, then the next block
	Halves               // starting from zero, in f16: first the products of k = 4i and 4i+1, then those of 4i+2 and 4i+3; then C is added
	Fmas                 // starting from zero, in f32: product after product; then C is added
)

// Numerics describes how a unit of a generation of devices adds floating-point products of factors of a type.
//
// In the method Blocks products are exact. Block products, in the order of k, are added to the accumulator at once. First
// each term is cut towards zero, to Fraction bits after the binary point of the term with the largest exponent. Then the
// exact sum of the cut terms is rounded: for a result of f16 to nearest; for f32 towards zero, to Result bits after the
// binary point. The largest exponent counts as at least MinExponent32, or MinExponent16 for a result of f16.
type Numerics struct {
	Unit          Unit
	SM            int      // first compute capability
	Type          ptx.Type // type of the factors; F16 stands for BF16, too, and E4M3 for all types of 8 bits or fewer
	Method        Method
	Block         int // number of products added at once; this and the following fields are for the method Blocks
	Fraction      int // fraction bits of the aligned terms
	Result        int // fraction bits of a result of f32
	MinExponent32 int
	MinExponent16 int    // 0: no results of f16
	Source        string // publication or measurement
}

// Generations lists the numerics. For each unit and type the oldest generation comes first. docs/tensor.md has the source
// of each line, and the differences between sources.
var Generations = []Numerics{
	{UnitWarp, 70, ptx.F16, Blocks, 4, 23, 23, -131, -19, "MMA-Sim, MATLAB-tensor-core: V100"},
	{UnitWarp, 75, ptx.F16, Blocks, 8, 24, 23, -132, -20, "MMA-Sim: Turing; Fasi et al. 2021 have blocks of 4"},
	{UnitWarp, 80, ptx.F16, Blocks, 8, 24, 23, -132, -20, "MMA-Sim, MATLAB-tensor-core: Ampere and Ada"},
	{UnitWarp, 90, ptx.F16, Blocks, 16, 25, 23, -133, -21, "MMA-Sim, MATLAB-tensor-core: Hopper and Blackwell"},
	{UnitWarp, 80, ptx.TF32, Blocks, 4, 24, 23, -132, 0, "MMA-Sim, MATLAB-tensor-core: Ampere and Ada"},
	{UnitWarp, 90, ptx.TF32, Blocks, 8, 25, 23, -133, 0, "MMA-Sim, MATLAB-tensor-core: Hopper and Blackwell"},
	{UnitFours, 80, ptx.TF32, Blocks, 4, 24, 23, -132, 0, "as mma; ptxas 13.5: HMMA.1684"},
	{UnitFours, 90, ptx.TF32, Blocks, 4, 25, 23, -133, 0, "as mma; ptxas 13.5: HMMA.1684"},
	{UnitWarp, 89, ptx.E4M3, Blocks, 16, 13, 13, -132, -20, "MMA-Sim, MATLAB-tensor-core: Ada"},
	{UnitWarp, 90, ptx.E4M3, Halves, 0, 0, 0, 0, 0, "ptxas 13.5, MATLAB-tensor-core: HMMA and FADD on Hopper and Blackwell"},
	{UnitWarp, 120, ptx.E4M3, Blocks, 32, 25, 23, -133, -21, "MMA-Sim: RTX Blackwell"},
	{UnitQuarters, 70, ptx.F16, Blocks, 4, 23, 23, -131, -19, "MMA-Sim, MATLAB-tensor-core: V100; MMA-Sim: Turing"},
	{UnitWarpgroup, 90, ptx.F16, Blocks, 16, 25, 23, -133, -21, "MMA-Sim: Hopper, as mma"},
	{UnitWarpgroup, 90, ptx.TF32, Blocks, 8, 25, 23, -133, 0, "MMA-Sim: Hopper, as mma"},
	{UnitWarpgroup, 90, ptx.E4M3, Blocks, 32, 13, 13, -133, -21, "MMA-Sim, MATLAB-tensor-core: Hopper; DeepSeek-AI 2024: 32 products, 14 bits"},
	{UnitTensor, 100, ptx.F16, Blocks, 16, 25, 23, -133, -21, "MMA-Sim: Blackwell"},
	{UnitTensor, 100, ptx.TF32, Blocks, 8, 25, 23, -133, 0, "MMA-Sim: Blackwell"},
	{UnitTensor, 100, ptx.E4M3, Blocks, 32, 25, 23, -133, -21, "MMA-Sim: Blackwell"},
	{UnitGroups, 120, ptx.E4M3, Blocks, 4, 35, 23, -139, 0, "MMA-Sim: Blackwell, RTX Blackwell"},
	{UnitQuarters, 80, ptx.F16, Fmas, 0, 0, 0, 0, 0, "ptxas 13.5: FFMA and FADD from Ampere on"},
}

// firstSM is the first compute capability with a type, for types that are newer than the first line of Generations that
// covers them.
var firstSM = map[ptx.Type]int{ptx.BF16: 80, ptx.E3M2: 120, ptx.E2M3: 120, ptx.E2M1: 120}

// NumericsFor returns the numerics of a unit for the types a and b of the two factors, on a device of compute capability
// sm. For a device without the unit or the type it returns the numerics of the first generation that has them.
func NumericsFor(u Unit, sm int, a, b ptx.Type) *Numerics {
	sm = max(sm, firstSM[a], firstSM[b])
	switch {
	case a == ptx.BF16:
		a = ptx.F16
	case a.Bits() <= 8:
		a = ptx.E4M3
	}
	var n *Numerics
	for i := range Generations {
		if g := &Generations[i]; g.Unit == u && g.Type == a && (n == nil || g.SM <= sm) {
			n = g
		}
	}
	return n
}

// summation computes a row of A times a column of B, plus c. from is the format of c, and to the format of the result.
type summation func(a, b []number, f factors, c uint64, from, to *format) uint64

// summation returns the function for a device of compute capability sm. The method must not be Fmas: see dotFmas.
func (n *Numerics) summation(sm int) summation {
	if n.Method == Halves {
		return NumericsFor(n.Unit, sm, ptx.F16, ptx.F16).dotHalves
	}
	return n.dot
}

// dotHalves computes the method Halves. n must be the numerics of f16.
func (n *Numerics) dotHalves(a, b []number, f factors, c uint64, from, to *format) uint64 {
	f16 := formatOf(ptx.F16)
	sum := uint64(0)
	for half := range 2 {
		var x, y [maxHalfRow]number
		count := 0
		for k := range a {
			if k/2%2 == half {
				x[count], y[count] = a[k].toF16(f.a, &f16), b[k].toF16(f.b, &f16)
				count++
			}
		}
		sum = n.dot(x[:count], y[:count], factors{&f16, &f16}, sum, to, to)
	}
	return to.add(c, sum)
}

// maxHalfRow is the maximum number of elements in half a row.
const maxHalfRow = 32

// toF16 converts a number of format f to f16. f16 must have every value of f.
func (x number) toF16(f, f16 *format) number {
	if x.exp >= inf {
		return x
	}
	return f16.decode(f16.Pack(x.mant < 0, uint64(max(x.mant, -x.mant)), int(x.exp)-f.Fraction(), fp.RN))
}

// add returns the sum of two f16 or f32 numbers, rounded to nearest.
func (f *format) add(x, y uint64) uint64 {
	if f.Format == &fp.F16 {
		return uint64(fp.F32ToF16(fp.F16ToF32(uint16(x))+fp.F16ToF32(uint16(y)), fp.RN)) // double rounding is harmless from 24 = 2·11 + 2 bits on
	}
	return uint64(math.Float32bits(fp.Add32(math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y)), fp.RN)))
}

// dotFmas computes the method Fmas for factors of f16. With a result of f16 it adds the products in pairs to c, pair after
// pair. half tells whether c and the result are f16.
func dotFmas(a, b []uint64, c uint64, half struct{ c, d bool }) uint64 {
	f32 := func(v uint64) float32 { return fp.F16ToF32(uint16(v)) }
	start := math.Float32frombits(uint32(c))
	if half.c {
		start = f32(c)
	}
	if half.d {
		for k := 0; k < len(a); k += 2 {
			p := f32(a[k]) * f32(b[k]) // exact
			start = fp.Add32(start, fp.FmaRN32(f32(a[k+1]), f32(b[k+1]), p), fp.RN)
		}
		return uint64(fp.F32ToF16(start, fp.RN))
	}
	sum := float32(0)
	for k := range a {
		sum = fp.FmaRN32(f32(a[k]), f32(b[k]), sum)
	}
	return uint64(math.Float32bits(fp.Add32(start, sum, fp.RN)))
}

// factors are the formats of the two factors of a product.
type factors struct{ a, b *format }

// dot adds the products of a and b to c.
func (n *Numerics) dot(a, b []number, f factors, c uint64, from, to *format) uint64 {
	return n.dotTo(a, b, f, from.decode(c), from, to)
}

// dotTo is dot with a decoded accumulator. The accumulator's exponent may be outside the range of its format.
func (n *Numerics) dotTo(a, b []number, f factors, acc number, from, to *format) uint64 {
	frac, sum := f.a.Fraction()+f.b.Fraction(), uint64(0)
	for k := 0; k < len(a); k += n.Block {
		end := min(k+n.Block, len(a))
		sum = n.addBlock(a[k:end], b[k:end], frac, n.minExponent(to), acc, from, to)
		acc, from = to.decode(sum), to
	}
	return sum
}

// minExponent is the least exponent to which terms are aligned for a result of the format.
func (n *Numerics) minExponent(to *format) int32 {
	if to.Format == &fp.F16 {
		return int32(n.MinExponent16)
	}
	return int32(n.MinExponent32)
}

// addBlock returns the sum of a block of products and the accumulator. frac is the number of fraction bits of a product,
// and top the least exponent to which terms are aligned.
func (n *Numerics) addBlock(a, b []number, frac int, top int32, acc number, from, to *format) uint64 {
	infinite := int32(0) // 1 or -1: sign of an infinity
	bad := acc.exp == nan
	if acc.exp == inf {
		infinite = acc.mant
	} else if acc.mant != 0 {
		top = max(top, acc.exp)
	}
	for i := range a {
		x, y := a[i], b[i]
		if e := x.exp + y.exp; e < inf>>1 {
			if e > top && x.mant != 0 && y.mant != 0 {
				top = e
			}
			continue
		}
		switch {
		case x.exp == nan || y.exp == nan || x.mant == 0 || y.mant == 0: // 0·inf
			bad = true
		case (x.mant < 0) != (y.mant < 0):
			bad = bad || infinite > 0
			infinite = -1
		default:
			bad = bad || infinite < 0
			infinite = 1
		}
	}
	switch {
	case bad:
		return to.NaN()
	case infinite != 0:
		return to.Infinity(infinite < 0)
	}
	sum := alignTerm(int64(acc.mant), n.Fraction-from.Fraction()-int(top-acc.exp))
	for i := range a {
		sum += alignTerm(int64(a[i].mant)*int64(b[i].mant), n.Fraction-frac-int(top-a[i].exp-b[i].exp))
	}
	neg, mag := sum < 0, uint64(sum)
	if neg {
		mag = -mag
	}
	exp := int(top) - n.Fraction
	v := uint64(0)
	if to.Format != &fp.F32 {
		v = to.Pack(neg, mag, exp, fp.RN)
	} else {
		v = to.Pack(neg, mag, exp, fp.RZ) &^ (1<<(fp.F32.Fraction()-n.Result) - 1)
	}
	if v == to.sign() {
		return 0
	}
	return v
}

// alignTerm returns v · 2^left, cut towards zero.
func alignTerm(v int64, left int) int64 {
	switch {
	case left >= 0:
		return v << left
	case left <= -64:
		return 0
	case v < 0:
		return -(-v >> -left)
	}
	return v >> -left
}
