package matrix

// This file is how tensor cores add: nothing that the manual says, but what has been measured.

import (
	"math"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// Unit is what multiplies: generations differ in it by instruction.
type Unit uint8

const (
	UnitWarp      Unit = iota // mma and wmma
	UnitQuarters              // mma.m8n8k4 with f16
	UnitWarpgroup             // wgmma
	UnitFours                 // wmma with tf32, whose machine instructions have k = 4
	UnitTensor                // tcgen05.mma
	UnitGroups                // mma and tcgen05.mma with scales and factors that take four bits: products are those of 16 and their scales
)

// Method is how a row of A times a column of B comes about.
type Method uint8

const (
	Blocks Method = iota // a block of products at once, and then the next
	Halves               // in f16, from zero: what has a k of 4i and 4i+1, then the rest; then C is added
	Fmas                 // in f32, one product after the other; then C is added
)

// Numerics is how sums of products of floats are made, by what multiplies, the generation of the
// device and the type of the factors. Of Blocks, the products are exact. Block of them, in the
// order of k, are added to the accumulator at once: all are cut to Fraction bits behind the point
// of the term with the largest exponent, towards zero, and the exact sum of that is rounded: to
// nearest for f16, for f32 towards zero, to Result bits behind the point. The largest exponent is
// at least Least32, or with a sum of f16 Least16.
type Numerics struct {
	Unit          Unit
	SM            int      // from this compute capability on
	Type          ptx.Type // of the factors; F16 and BF16 are alike, and so are those of 8 and fewer bits: E4M3
	Method        Method
	Block         int
	Fraction      int
	Result        int
	MinExponent32 int
	MinExponent16 int
	Source        string
}

// Generations are the numerics, the oldest of a unit and type first. docs/tensor.md says where each
// line comes from and where sources differ.
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

// firstSM is the first compute capability with a type, where that is not the first line's.
var firstSM = map[ptx.Type]int{ptx.BF16: 80, ptx.E3M2: 120, ptx.E2M3: 120, ptx.E2M1: 120}

// NumericsFor is the numerics of a unit for factors of two types on a device of a compute
// capability. What a generation does not have is computed as by the first that has it.
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

// summation is a row of A times a column of B plus c, whose format is from, in the format to.
type summation func(a, b []number, f factors, c uint64, from, to *format) uint64

// summation is that on a device of a compute capability, but for the method Fmas.
func (n *Numerics) summation(sm int) summation {
	if n.Method == Halves {
		return NumericsFor(n.Unit, sm, ptx.F16, ptx.F16).halves
	}
	return n.dot
}

// halves is the method Halves with the numerics n of f16.
func (n *Numerics) halves(a, b []number, f factors, c uint64, from, to *format) uint64 {
	f16 := formatOf(ptx.F16)
	sum := uint64(0)
	for half := range 2 {
		var x, y [maxHalfRow]number
		count := 0
		for k := range a {
			if k/2%2 == half {
				x[count], y[count] = a[k].f16(f.a, &f16), b[k].f16(f.b, &f16)
				count++
			}
		}
		sum = n.dot(x[:count], y[:count], factors{&f16, &f16}, sum, to, to)
	}
	return to.add(c, sum)
}

// maxHalfRow is how many elements half a row may have.
const maxHalfRow = 32

// f16 is a number of a format that has no others than f16, read as one of those.
func (x number) f16(f, f16 *format) number {
	if x.exp >= inf {
		return x
	}
	return f16.decode(f16.Pack(x.mant < 0, uint64(max(x.mant, -x.mant)), int(x.exp)-f.Fraction(), fp.RN))
}

// add is the sum of two numbers of f16 or f32, rounded to nearest.
func (f *format) add(x, y uint64) uint64 {
	if f.Format == &fp.F16 {
		return uint64(fp.F32ToF16(fp.F16ToF32(uint16(x))+fp.F16ToF32(uint16(y)), fp.RN)) // rounding twice is harmless from 24 = 2·11 + 2 bits on
	}
	return uint64(math.Float32bits(fp.Add32(math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y)), fp.RN)))
}

// fmas is the method Fmas, of f16: with a result of f16 the two halves of the row are added to c one
// after the other. half says which of c and the result are f16.
func fmas(a, b []uint64, c uint64, half struct{ c, d bool }) uint64 {
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

// factors is how products of two formats are made.
type factors struct{ a, b *format }

// dot adds the products of a and b to c, and gives the result in the format of d.
func (n *Numerics) dot(a, b []number, f factors, c uint64, from, to *format) uint64 {
	return n.dotTo(a, b, f, from.decode(c), from, to)
}

// dotTo is dot with an accumulator that has been read, and may have another exponent than its
// format has.
func (n *Numerics) dotTo(a, b []number, f factors, acc number, from, to *format) uint64 {
	frac, sum := f.a.Fraction()+f.b.Fraction(), uint64(0)
	for k := 0; k < len(a); k += n.Block {
		end := min(k+n.Block, len(a))
		sum = n.block(a[k:end], b[k:end], frac, n.minExponent(to), acc, from, to)
		acc, from = to.decode(sum), to
	}
	return sum
}

// minExponent is the exponent that terms of a sum in a format are aligned to at least.
func (n *Numerics) minExponent(to *format) int32 {
	if to.Format == &fp.F16 {
		return int32(n.MinExponent16)
	}
	return int32(n.MinExponent32)
}

// block is the sum of a block of products and the accumulator. frac is the bits behind the
// point of a product, and top an exponent that the terms are aligned to if none has a larger one.
func (n *Numerics) block(a, b []number, frac int, top int32, acc number, from, to *format) uint64 {
	infinite := int32(0) // 1 and -1: an infinity of that sign
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
	sum := align(int64(acc.mant), n.Fraction-from.Fraction()-int(top-acc.exp))
	for i := range a {
		sum += align(int64(a[i].mant)*int64(b[i].mant), n.Fraction-frac-int(top-a[i].exp-b[i].exp))
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

// align shifts a number to the left, or to the right towards zero.
func align(v int64, left int) int64 {
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
