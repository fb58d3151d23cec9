package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gemu/internal/part"
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// multiplication is a multiplication with a description for messages.
type multiplication struct {
	name string
	*matrix.Multiply
}

// multiplications has all multiplications with machine code, on the compute capabilities whose tensor cores differ.
func multiplications() (list []multiplication) {
	mma := func(m matrix.Mma, shape ...int) {
		m.M, m.N, m.K = shape[0], shape[1], shape[2]
		list = append(list, multiplication{fmt.Sprintf("mma %+v", m), m.Multiply()})
	}
	capabilities := func(first int) []int {
		return slices.DeleteFunc([]int{70, 75, 80, 89, 90, 120}, func(sm int) bool { return sm < first })
	}
	for _, sm := range capabilities(75) {
		for _, sum := range []ptx.Type{ptx.F16, ptx.F32} {
			mma(matrix.Mma{SM: sm, D: sum, A: ptx.F16, B: ptx.F16, C: sum}, 16, 8, 8)
			mma(matrix.Mma{SM: sm, D: sum, A: ptx.F16, B: ptx.F16, C: sum}, 16, 8, 16)
		}
	}
	for _, sm := range capabilities(80) {
		for _, k := range []int{8, 16} {
			mma(matrix.Mma{SM: sm, D: ptx.F32, A: ptx.BF16, B: ptx.BF16, C: ptx.F32}, 16, 8, k)
			mma(matrix.Mma{SM: sm, D: ptx.F32, A: ptx.TF32, B: ptx.TF32, C: ptx.F32}, 16, 8, k/2)
		}
	}
	for _, sm := range capabilities(89) {
		for _, sum := range []ptx.Type{ptx.F16, ptx.F32} {
			for _, ab := range [][2]ptx.Type{{ptx.E4M3, ptx.E4M3}, {ptx.E4M3, ptx.E5M2}, {ptx.E5M2, ptx.E5M2}} {
				mma(matrix.Mma{SM: sm, D: sum, A: ab[0], B: ab[1], C: sum}, 16, 8, 16)
				mma(matrix.Mma{SM: sm, D: sum, A: ab[0], B: ab[1], C: sum}, 16, 8, 32)
			}
		}
	}
	for _, sum := range []ptx.Type{ptx.F16, ptx.F32} {
		for _, ab := range [][2]ptx.Type{{ptx.E3M2, ptx.E2M3}, {ptx.E2M1, ptx.E3M2}, {ptx.E2M3, ptx.E2M1}, {ptx.E4M3, ptx.E2M1}} {
			mma(matrix.Mma{SM: 120, Container: 8, D: sum, A: ab[0], B: ab[1], C: sum}, 16, 8, 32)
		}
	}
	for _, shape := range [][]int{{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}} {
		mma(matrix.Mma{SM: 80, D: ptx.F64, A: ptx.F64, B: ptx.F64, C: ptx.F64}, shape...)
	}
	for _, types := range [][2]ptx.Type{{ptx.S8, ptx.U8}, {ptx.S4, ptx.U4}} {
		for _, a := range types {
			for _, b := range types {
				for _, shape := range [][]int{{8, 8, 16}, {16, 8, 16}, {16, 8, 32}} {
					m, wide := matrix.Mma{SM: 80, D: ptx.S32, A: a, B: b, C: ptx.S32}, 8/a.Bits()
					mma(m, shape[0], shape[1], wide*shape[2])
					list[len(list)-1].Saturate = shape[2] == 32
				}
			}
		}
	}
	for _, shape := range [][]int{{8, 8, 128}, {16, 8, 128}, {16, 8, 256}} {
		mma(matrix.Mma{SM: 80, D: ptx.S32, A: ptx.B1, B: ptx.B1, C: ptx.S32}, shape...)
		list[len(list)-1].Xor = shape[2] == 128
	}
	list = append(list, sparseMultiplications()...)
	list = append(list, scaledMultiplications()...)
	wmma := func(w matrix.Wmma, d, a, b, c ptx.Type) {
		list = append(list, multiplication{fmt.Sprintf("wmma %+v %v %v %v %v", w, d, a, b, c), w.Multiply(d, a, b, c)})
	}
	for _, s := range [][2]int{{16, 16}, {32, 8}, {8, 32}} {
		for _, sm := range []int{75, 80, 90} {
			w := matrix.Wmma{SM: sm, M: s[0], N: s[1], K: 16}
			for _, dc := range [][2]ptx.Type{{ptx.F32, ptx.F32}, {ptx.F16, ptx.F16}, {ptx.F16, ptx.F32}, {ptx.F32, ptx.F16}} {
				wmma(w, dc[0], ptx.F16, ptx.F16, dc[1])
			}
			if sm >= 80 {
				wmma(w, ptx.F32, ptx.BF16, ptx.BF16, ptx.F32)
				wmma(w, ptx.S32, ptx.S8, ptx.S8, ptx.S32)
				wmma(w, ptx.S32, ptx.U8, ptx.U8, ptx.S32)
			}
		}
	}
	for _, sm := range []int{80, 90} {
		wmma(matrix.Wmma{SM: sm, M: 16, N: 16, K: 8}, ptx.F32, ptx.TF32, ptx.TF32, ptx.F32)
	}
	wmma(matrix.Wmma{SM: 80, M: 8, N: 8, K: 4}, ptx.F64, ptx.F64, ptx.F64, ptx.F64)
	wmma(matrix.Wmma{SM: 80, M: 8, N: 8, K: 32}, ptx.S32, ptx.S4, ptx.S4, ptx.S32)
	wmma(matrix.Wmma{SM: 80, M: 8, N: 8, K: 128}, ptx.S32, ptx.B1, ptx.B1, ptx.S32)
	return list
}

// sparseMultiplications has the multiplications of a sparse A without scales.
func sparseMultiplications() (list []multiplication) {
	mma := func(m matrix.Mma, k int) {
		m.M, m.N, m.K, m.Sparse = 16, 8, k, true
		for _, m.Ordered = range []bool{false, true} {
			for m.Selector = range 4 {
				if x := m.Multiply(); m.Selector == 0 || m.Selector < lanesOfSelector(x) {
					list = append(list, multiplication{fmt.Sprintf("mma %+v", m), x})
				}
			}
		}
	}
	for _, sm := range []int{80, 90} {
		for _, k := range []int{16, 32} {
			for _, sum := range []ptx.Type{ptx.F16, ptx.F32} {
				mma(matrix.Mma{SM: sm, D: sum, A: ptx.F16, B: ptx.F16, C: sum}, k)
			}
			mma(matrix.Mma{SM: sm, D: ptx.F32, A: ptx.BF16, B: ptx.BF16, C: ptx.F32}, k)
			mma(matrix.Mma{SM: sm, D: ptx.F32, A: ptx.TF32, B: ptx.TF32, C: ptx.F32}, k/2)
		}
	}
	for _, sm := range []int{89, 90, 120} {
		for _, sum := range []ptx.Type{ptx.F16, ptx.F32} {
			mma(matrix.Mma{SM: sm, D: sum, A: ptx.E4M3, B: ptx.E5M2, C: sum}, 64)
		}
	}
	mma(matrix.Mma{SM: 120, Container: 8, D: ptx.F32, A: ptx.E3M2, B: ptx.E2M1, C: ptx.F32}, 64)
	for _, k := range []int{32, 64} {
		mma(matrix.Mma{SM: 80, D: ptx.S32, A: ptx.S8, B: ptx.U8, C: ptx.S32}, k)
		mma(matrix.Mma{SM: 80, D: ptx.S32, A: ptx.U4, B: ptx.S4, C: ptx.S32}, 2*k)
	}
	return list
}

// lanesOfSelector returns the number of valid sparsity selectors (manual 9.7.14.6.2).
func lanesOfSelector(m *matrix.Multiply) int {
	switch bits := m.A.Bits; {
	case bits == 32:
		return 32 / m.K
	case bits == 16:
		return 64 / m.K
	case bits == 8:
		return 64 / m.K
	}
	return 128 / m.K
}

// scaledMultiplications has the multiplications with scales.
func scaledMultiplications() (list []multiplication) {
	mma := func(m matrix.Mma, k, perRow int, ue4m3 bool) {
		m.M, m.N, m.K, m.SM, m.D, m.C = 16, 8, k, 120, ptx.F32, ptx.F32
		m.Scales = &matrix.Scales{PerRow: perRow, UE4M3: ue4m3}
		list = append(list, multiplication{fmt.Sprintf("mma %+v", m), m.Multiply()})
		m.Sparse, m.Ordered, m.K = true, true, 2*k
		list = append(list, multiplication{fmt.Sprintf("mma %+v", m), m.Multiply()})
	}
	for _, ab := range [][2]ptx.Type{{ptx.E4M3, ptx.E5M2}, {ptx.E2M1, ptx.E3M2}} {
		mma(matrix.Mma{Container: 8, A: ab[0], B: ab[1]}, 32, 1, false)
	}
	packed := matrix.Mma{A: ptx.E2M1, B: ptx.E2M1}
	mma(packed, 64, 2, false)
	mma(packed, 64, 4, false)
	mma(packed, 64, 4, true)
	return list
}

// fillExtra gives the registers with metadata and scales values. It returns whether some may be undefined or of any exponent.
func fillExtra(rng *rand.Rand, f *regfile.File, elems []code.Elem, m *matrix.Multiply, s spread) (undefined bool) {
	if len(elems) == 0 {
		return false
	}
	undefined = rng.IntN(10) == 0
	if m.Sparse != nil {
		row := f.Row32(elems[0].Row)
		for lane := range row {
			row[lane] = 0
			for i := range 8 {
				first, second := rng.Uint32N(4), rng.Uint32N(4)
				for first == second || m.Sparse.Ordered && first > second {
					first, second = rng.Uint32N(4), rng.Uint32N(4)
				}
				chunk := first | second<<2
				if m.A.Type == ptx.TF32 {
					chunk = []uint32{0b0100, 0b1110}[rng.IntN(2)]
				}
				if undefined && rng.IntN(200) == 0 {
					chunk = rng.Uint32N(16)
				}
				row[lane] |= chunk << (4 * i)
			}
		}
		elems = elems[1:]
	}
	for i := range elems {
		row := f.Row32(elems[i].Row)
		n := rng.Uint32()&0xffff0000 | uint32(rng.IntN(5-m.Scales.PerRow)/m.Scales.PerRow*m.Scales.PerRow) // a byte-id
		if i%3 == 2 {
			n = rng.Uint32()&0xffff0000 | rng.Uint32N(uint32(2+i/3*2)) // a thread-id
		}
		if undefined && rng.IntN(4) == 0 {
			n = rng.Uint32N(5)
		}
		for lane := range row {
			switch row[lane] = n ^ rng.Uint32()&0xffff0000; {
			case i%3 == 0 && m.Scales.UE4M3 && s == near: // from 1/4 to below 4
				row[lane] = 0
				for k := range 4 {
					row[lane] |= ((5+rng.Uint32N(4))<<3 | rng.Uint32N(8)) << (8 * k)
				}
			case i%3 == 0 && m.Scales.UE4M3:
				row[lane] = rng.Uint32() &^ 0x40404040 // no NaN; the products of the least scale factors are very small
			case i%3 == 0:
				row[lane] = 0
				for k := range 4 {
					exponent := rng.Uint32N(7) + 124
					switch {
					case s == extreme && rng.IntN(4) == 0:
						exponent = rng.Uint32N(255)
					case s == extreme:
						exponent = 195 + rng.Uint32N(12) // products near the largest f32
					case s == far:
						exponent = rng.Uint32N(60) + 97
					}
					row[lane] |= exponent << (8 * k)
				}
			}
			if undefined && rng.IntN(100) == 0 {
				row[lane] = rng.Uint32() | 0xff<<(8*rng.IntN(4))
			}
		}
	}
	return undefined
}

// formats has the bits of fractions and the biases of the exponents of floats, and the place of their lowest bit in their element.
var formats = map[ptx.Type]struct{ fraction, bias, shift, width int }{
	ptx.F16: {10, 15, 0, 16}, ptx.BF16: {7, 127, 0, 16}, ptx.TF32: {10, 127, 13, 19}, ptx.F32: {23, 127, 0, 32}, ptx.F64: {52, 1023, 0, 64},
	ptx.E4M3: {3, 7, 0, 8}, ptx.E5M2: {2, 15, 0, 8}, ptx.E3M2: {2, 3, 0, 6}, ptx.E2M3: {3, 1, 0, 6}, ptx.E2M1: {1, 1, 2, 4},
}

// spread is how much the exponents of random numbers differ.
type spread int

const (
	near    spread = iota // near 1
	alike                 // mostly the largest below 2, so that sums are large
	tiny                  // so small that sums may be less than the least that machine code knows
	far                   // differences as large as the bits of sums
	extreme               // all, and infinities and NaNs
)

// randomElement returns the bits of an element; of a float often of zero. The ignored bits of tf32 are random.
func randomElement(rng *rand.Rand, t ptx.Type, s spread) uint64 {
	v := randomNumber(rng, t, s)
	if t == ptx.TF32 {
		v |= rng.Uint64N(1 << formats[t].shift)
	}
	return v
}

// randomNumber is randomElement with zeros as ignored bits.
func randomNumber(rng *rand.Rand, t ptx.Type, s spread) uint64 {
	f, ok := formats[t]
	if !ok {
		return rng.Uint64()
	}
	exponents := 1<<(f.width-1-f.fraction) - 1
	e := f.bias + rng.IntN(5) - 2
	switch {
	case s == tiny && t == ptx.F32:
		e = rng.IntN(45) * rng.IntN(2)
	case s == tiny:
		e = f.bias - f.bias*45/100 - rng.IntN(f.bias/6+2)
	case s == alike && rng.IntN(64) != 0:
		return (uint64(f.bias+1)<<f.fraction - 1) << f.shift
	case s == extreme && rng.IntN(256) == 0:
		return rng.Uint64N(2)<<(f.width-1+f.shift) | uint64(exponents)<<(f.fraction+f.shift) | rng.Uint64N(2)<<f.shift
	case rng.IntN(8) == 0:
		return rng.Uint64N(2) << (f.width - 1 + f.shift)
	case s == far:
		e = f.bias + rng.IntN(49) - 24
	case s == extreme && rng.IntN(4) == 0:
		e = rng.IntN(exponents + 1)
	case s == extreme:
		e = f.bias + rng.IntN(f.bias) - f.bias/2
	}
	most := exponents
	if s != extreme && (t.Bits() > 8 || t == ptx.E5M2) { // infinities and NaNs
		most--
	}
	fraction := rng.Uint64N(1 << f.fraction)
	switch rng.IntN(8) {
	case 0:
		fraction = 0
	case 1:
		fraction = 1<<f.fraction - 1
	}
	v := rng.Uint64N(2)<<(f.width-1) | uint64(max(0, min(most, e)))<<f.fraction | fraction
	if t == ptx.E4M3 && s != extreme && v&0x7f == 0x7f {
		v--
	}
	return v << f.shift
}

// fill gives the registers of an operand random elements.
func fill(rng *rand.Rand, f *regfile.File, elems []code.Elem, o *matrix.Operand, s spread) {
	for _, e := range elems {
		for lane := range regfile.Lanes {
			v := uint64(0)
			for shift := 0; shift < max(o.Bits, 32); shift += o.Bits {
				v |= randomElement(rng, o.Type, s) << shift
			}
			switch {
			case e.Row < 0:
			case e.Slot == code.Q:
				f.Row64(e.Row)[lane] = v
			default:
				f.Row32(e.Row)[lane] = uint32(v)
			}
		}
	}
}

// levelLibraries has a library for each level that this host supports.
var levelLibraries = sync.OnceValue(func() (list []*Library) {
	for _, level := range Levels() {
		list = append(list, level.Library())
	}
	return list
})

// randomLibrary returns one of levelLibraries.
func randomLibrary(rng *rand.Rand) *Library {
	list := levelLibraries()
	return list[rng.IntN(len(list))]
}

// randomFragments returns the registers of a multiplication, in random rows. Some registers of D may be sources.
func (m *multiplication) randomFragments(rng *rand.Rand) code.Fragments {
	frags := code.Fragments{Multiply: m.Multiply}
	row := int32(0)
	registers := func(o *matrix.Operand, shuffled []int) (list []code.Elem) {
		slot := code.R
		if o.Bits == 64 {
			slot = code.Q
		}
		for range o.Registers() {
			list = append(list, code.Elem{Slot: slot, Row: int32(shuffled[row])})
			row++
		}
		return list
	}
	places := rng.Perm(47)
	frags.A, frags.B, frags.C = registers(&m.A, places), registers(&m.B, places), registers(&m.C, places)
	for range m.Extra() {
		frags.E = append(frags.E, code.Elem{Slot: code.R, Row: int32(places[row])})
		row++
	}
	if row = int32(rng.IntN(32)); rng.IntN(2) == 0 || m.C.Registers() != m.D.Registers() {
		frags.D = registers(&m.D, places)
	} else {
		frags.D = frags.C
	}
	return frags
}

// usesStencil reports whether the machine code of a multiplication contains a stencil.
func usesStencil(m *multiplication, stencil string) bool {
	return slices.ContainsFunc(levelLibraries(), func(l *Library) bool {
		rng := rand.New(rand.NewPCG(1, 1))
		frags := m.randomFragments(rng)
		l.TakeUsed()
		p, f := fragmentProgram(rng, &frags)
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetFragments(new(Fragments))
		l.New(p).RunBlock(ctx, f, 0)
		return slices.Contains(l.TakeUsed(), stencil)
	})
}

// TestMultiplications compares machine code of mma and wmma with package matrix, whose results are those of GPUs (testdata/hw)
// and models (docs/tensor.md). Machine code may leave only if numbers differ much or are large. If GEMU_STENCIL names a stencil, the
// test tries the multiplications that contain it, many times.
func TestMultiplications(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 47, 47
	rng := rand.New(rand.NewPCG(part.Seed(t), 11))
	list := multiplications()
	executed := make([]int, len(list))
	var order []int // numbers of multiplications: those of f64, whose code is not shared, more often
	for i := range list {
		order = append(order, i)
		if list[i].A.Type == ptx.F64 {
			order = append(order, slices.Repeat([]int{i}, 9)...)
		}
	}
	least, stencil := 0, part.Stencil()
	if stencil != "" {
		if order = slices.DeleteFunc(order, func(i int) bool { return !usesStencil(&list[i], stencil) }); len(order) > 0 {
			least = 4000
		}
	}
	rounds := max(least, len(order)*part.Count(40, 40, 2000))
	for n := range rounds {
		number := order[n%len(order)]
		m := list[number]
		if _, ok := m.ByColumns(); !ok {
			t.Fatalf("%s is not by columns", m.name)
		}
		frags := m.randomFragments(rng)
		p, f := fragmentProgram(rng, &frags)
		frags = p.Fragments[0]
		s := spread(rng.IntN(5))
		spreadA, spreadB := s, s
		if s == extreme { // often a special number in one matrix only
			spreadA, spreadB = []spread{extreme, near}[rng.IntN(2)], []spread{extreme, near}[rng.IntN(2)]
		}
		fill(rng, f, frags.A, &m.A, spreadA)
		fill(rng, f, frags.B, &m.B, spreadB)
		ordinary := !fillExtra(rng, f, frags.E, m.Multiply, s) && s == near
		for _, e := range frags.C {
			if e.Slot == code.R {
				*f.Row32(e.Row) = regfile.Row32{}
			}
		}
		if zero := s == tiny && rng.IntN(3) == 0; !zero {
			c := spread(rng.IntN(5))
			if c == extreme || s == tiny {
				c = s
			}
			fill(rng, f, frags.C, &m.C, min(c, s))
		}
		want, alone := copied(p, f), copied(p, f)
		operands := registersOf(want, &frags)
		undefined := m.Execute(&operands[0], &operands[1], &operands[2], &operands[3], &operands[4])
		operands = registersOf(alone, &frags)
		library := randomLibrary(rng)
		if library.newMultiplication(&frags).Execute(&operands[0], &operands[1], &operands[2], &operands[3], &operands[4]) {
			if diff := differentRegisters(p, alone, want); undefined != nil || diff != "" {
				t.Fatalf("%s, spread %d, in registers of its own: %s", m.name, s, diff)
			}
		} else if diff := differentRegisters(p, alone, f); ordinary && undefined == nil || diff != "" {
			t.Fatalf("%s leaves in registers of its own: %s", m.name, diff)
		}
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetFragments(new(Fragments))
		library.New(p).RunBlock(ctx, f, 0)
		if ctx.PC == 0 && ctx.Reason == Unsupported {
			if ordinary && undefined == nil {
				t.Fatalf("%s leaves with ordinary numbers", m.name)
			}
			if diff := differs(p, f, want, ctx, false); undefined != nil && diff != "" {
				t.Fatalf("%s: %s: %s", m.name, undefined.Description, diff)
			}
			continue
		}
		if undefined != nil {
			t.Fatalf("%s executes: %s", m.name, undefined.Description)
		}
		executed[number]++
		if diff := differs(p, f, want, ctx, true); diff != "" {
			t.Fatalf("%s, spread %d: %s", m.name, s, diff)
		}
	}
	for i, n := range executed {
		if n < 4 && stencil == "" {
			t.Errorf("%s is executed %d times", list[i].name, n)
		}
	}
}

// registersOf returns the registers of the operands D, A, B, C and the others of a multiplication.
func registersOf(f *regfile.File, frags *code.Fragments) (operands [5]matrix.Registers) {
	for i, elems := range [][]code.Elem{frags.D, frags.A, frags.B, frags.C, frags.E} {
		for k, e := range elems {
			if e.Slot == code.Q {
				operands[i].Q[k] = f.Src64(e.Row)
			} else {
				operands[i].R[k] = f.Src32(e.Row)
			}
		}
	}
	return operands
}

// BenchmarkMultiplications measures multiplications in machine code.
func BenchmarkMultiplications(b *testing.B) {
	if !Supported() {
		b.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 40, 40
	rng := rand.New(rand.NewPCG(1, 1))
	for _, m := range multiplications() {
		frags, row := code.Fragments{Multiply: m.Multiply}, int32(0)
		for _, x := range []struct {
			elems *[]code.Elem
			o     *matrix.Operand
		}{{&frags.A, &m.A}, {&frags.B, &m.B}, {&frags.C, &m.C}, {&frags.D, &m.D}, {&frags.E, nil}} {
			if x.o == nil {
				for range m.Extra() {
					frags.E = append(frags.E, code.Elem{Slot: code.R, Row: row})
					row++
				}
				continue
			}
			for range x.o.Registers() {
				slot := code.R
				if x.o.Bits == 64 {
					slot = code.Q
				}
				*x.elems = append(*x.elems, code.Elem{Slot: slot, Row: row})
				row++
			}
		}
		p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: frame}}}
		p.Fragments = []code.Fragments{frags}
		const count = 32
		for range count {
			p.Instrs = append(p.Instrs, code.Instr{Op: code.Multiply, D: code.NoRow, F: code.NoRow})
		}
		p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
		p.Blocks = []code.Block{{First: 0, Last: count}}
		p.Consts.Layout()
		p.Link()
		f := regfile.New(&p.Consts, false)
		f.Reset(frame)
		for elems, o := range map[*[]code.Elem]*matrix.Operand{&frags.A: &m.A, &frags.B: &m.B, &frags.C: &m.C} {
			fill(rng, f, *elems, o, near)
		}
		c, ctx := New(p), &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 60}
		ctx.SetFragments(new(Fragments))
		b.Run(strings.ReplaceAll(m.name, " ", "_"), func(b *testing.B) {
			least := time.Hour // the machine may execute other programs
			for b.Loop() {
				start := time.Now()
				if c.RunBlock(ctx, f, 0); ctx.Reason != OtherEnd {
					b.Fatal("it leaves")
				}
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Nanoseconds())/count, "ns/multiplication")
		})
	}
}

// fragmentProgram is single for a multiplication. Some sources become constants.
func fragmentProgram(rng *rand.Rand, frags *code.Fragments) (*code.Program, *regfile.File) {
	instr := code.Instr{Op: code.Multiply, D: code.NoRow, F: code.NoRow}
	p, f := single(rng, instr, func(_ *code.Instr, k *regfile.Constants) {
		for _, elems := range [][]code.Elem{frags.A, frags.B} {
			for i := range elems {
				switch {
				case rng.IntN(10) != 0:
				case elems[i].Slot == code.Q:
					elems[i].Row = k.Add64(0x3fe0000000000000)
				default:
					elems[i].Row = k.Add32(0x3c003c00)
				}
			}
		}
	})
	p.Fragments = []code.Fragments{*frags}
	return p, f
}

// randomTile returns a tile of ldmatrix or stmatrix.
func randomTile(rng *rand.Rand, store bool) *matrix.Tile {
	count := 1 << rng.IntN(3)
	switch n := rng.IntN(8); {
	case n < 3:
		return matrix.NewTile("m8n8", rng.IntN(2) == 0, count, 0)
	case store:
		return matrix.NewTile("m16n8", true, count, 0)
	case n < 5:
		return matrix.NewTile("m8n16", false, count, []int{0, 6, 4}[rng.IntN(3)])
	case n == 5:
		return matrix.NewSignedTile(count)
	}
	return matrix.NewTile("m16n16", true, min(count, 2), []int{0, 6, 4}[rng.IntN(3)])
}

// TestTiles compares machine code of ldmatrix and stmatrix with package matrix. It must exit if a row is out of bounds or not
// aligned.
func TestTiles(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 8, 8
	rng := rand.New(rand.NewPCG(part.Seed(t), 12))
	left := 0
	for range part.Count(4000, 20000, 200000) {
		store := rng.IntN(2) == 0
		tile := randomTile(rng, store)
		registers := tile.Registers()
		shared := allocation(rng, mem.SharedAddress(rng.IntN(4)), 2048)
		acc := code.Access{Space: ptx.Shared, Addr: []code.Slot{code.R, code.Q}[rng.IntN(2)], Size: 4, Bytes: tile.Bytes, Store: store, Tile: tile, Offset: uint64(int64(rng.IntN(9)-4) * 16)}
		places := rng.Perm(8)
		for i := range registers {
			acc.Elems = append(acc.Elems, code.Elem{Slot: code.R, Row: int32(places[i])})
		}
		instr := code.Instr{Op: code.LoadMatrix, A: int32(places[registers-rng.IntN(2)]), D: code.NoRow, F: code.NoRow}
		if store {
			instr.Op = code.StoreMatrix
		}
		constant := rng.IntN(8) == 0 // all lanes have the same address
		first := int64(tile.Bytes * rng.IntN(2048/tile.Bytes))
		p, f := single(rng, instr, func(instr *code.Instr, k *regfile.Constants) {
			if v := uint64(first) + shared.Base - probe.SharedWindow - acc.Offset; constant && acc.Addr == code.R {
				instr.A = k.Add32(uint32(v))
			} else if constant {
				instr.A = k.Add64(v)
			}
		})
		p.Access = []code.Access{acc}
		bad := rng.IntN(6) == 0 && !constant
		rows, may := [matrix.Lanes][]byte{}, true
		for lane := range matrix.Lanes {
			at := int64(tile.Bytes * rng.IntN(2048/tile.Bytes))
			switch {
			case bad && rng.IntN(32) == 0:
				at += 1 << rng.IntN(4)
			case bad && rng.IntN(32) == 0:
				at = int64(rng.Uint32())
			}
			if constant {
				at = first
			}
			v := uint64(at) + shared.Base - probe.SharedWindow - acc.Offset
			switch {
			case acc.Addr == code.R:
				v = uint64(uint32(v))
				if !constant {
					f.Row32(instr.A)[lane] = uint32(v)
				}
			case !constant:
				f.Row64(instr.A)[lane] = v
			}
			o := v + acc.Offset + probe.SharedWindow - shared.Base
			switch {
			case lane >= tile.Addresses():
			case o > shared.Size-uint64(tile.Bytes) || o%uint64(tile.Align) != 0:
				may = false
			default:
				rows[lane] = shared.Data[o:][:tile.Bytes]
			}
		}
		want, memory := copied(p, f), slices.Clone(shared.Data)
		if may && store {
			before := slices.Clone(shared.Data)
			tile.Store(&rows, func(register, lane int) uint64 { return uint64(f.Row32(acc.Elems[register].Row)[lane]) })
			memory = slices.Clone(shared.Data)
			copy(shared.Data, before)
		} else if may {
			tile.Load(&rows, func(register, lane int, v uint64) { want.Row32(acc.Elems[register].Row)[lane] = uint32(v) })
		} else {
			left++
		}
		// A load that overwrites its addresses before the last matrix is left to Go.
		for i, e := range acc.Elems {
			may = may && (store || acc.Addr != code.R || e.Row != instr.A || i >= registers-registers/tile.Count)
		}
		if !may {
			want = copied(p, f)
		}
		changed := false
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetMemory(nil, shared, &changed)
		randomLibrary(rng).New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("%d matrices of %s, transposed %v, %d bits, signed %v, store %v, addresses in %v: %s", tile.Count, tile.Shape, tile.Transposed, tile.Packed, tile.Signed, store, acc.Addr, diff)
		}
		if !bytes.Equal(shared.Data, memory) || changed != (store && may) {
			t.Fatalf("%d matrices of %s, transposed %v, store %v: memory differs, or its change is not reported: %v", tile.Count, tile.Shape, tile.Transposed, store, changed)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// randomFragment returns the tile of a matrix of wmma.
func randomFragment(rng *rand.Rand, store bool) *matrix.Tile {
	shapes := []struct {
		m, n, k int
		types   []ptx.Type // of A and B, then of C
	}{
		{16, 16, 16, []ptx.Type{ptx.F16, ptx.BF16, ptx.S8, ptx.F16, ptx.F32, ptx.S32}}, {32, 8, 16, []ptx.Type{ptx.F16, ptx.BF16, ptx.U8, ptx.F16, ptx.F32, ptx.S32}},
		{8, 32, 16, []ptx.Type{ptx.F16, ptx.BF16, ptx.S8, ptx.F16, ptx.F32, ptx.S32}}, {16, 16, 8, []ptx.Type{ptx.TF32, ptx.TF32, ptx.TF32, ptx.F32, ptx.F32, ptx.F32}},
		{8, 8, 4, []ptx.Type{ptx.F64, ptx.F64, ptx.F64, ptx.F64, ptx.F64, ptx.F64}}, {8, 8, 32, []ptx.Type{ptx.S4, ptx.U4, ptx.S4, ptx.S32, ptx.S32, ptx.S32}},
		{8, 8, 128, []ptx.Type{ptx.B1, ptx.B1, ptx.B1, ptx.S32, ptx.S32, ptx.S32}},
	}
	x := shapes[rng.IntN(len(shapes))]
	name, col := []matrix.WmmaMatrix{matrix.WmmaA, matrix.WmmaB, matrix.WmmaC}[rng.IntN(3)], rng.IntN(2) == 0
	if store {
		name = matrix.WmmaC
	}
	typ, sm := x.types[rng.IntN(3)], 80
	if name == matrix.WmmaC {
		typ = x.types[3+rng.IntN(3)]
	} else if typ.Bits() < 8 {
		col = name == matrix.WmmaB // the only layout
	}
	if typ == ptx.F16 || typ == ptx.F32 || typ == ptx.S32 {
		sm = []int{70, 75, 80}[rng.IntN(3)]
	}
	w := matrix.Wmma{SM: sm, M: x.m, N: x.n, K: x.k, ACol: col, BCol: col}
	return w.Tile(name, typ, col)
}

// TestFragments compares machine code of wmma.load and wmma.store with package matrix. It must exit, and change nothing, if a row is
// out of bounds or not aligned, or if the rows are not equally far apart.
func TestFragments(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	defer func(size regfile.Size) { frame = size }(frame)
	frame.R, frame.Q = 17, 17
	rng := rand.New(rand.NewPCG(part.Seed(t), 14))
	left := 0
	for range part.Count(4000, 20000, 200000) {
		store := rng.IntN(3) == 0
		tile := randomFragment(rng, store)
		changed := false
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		acc := code.Access{Space: ptx.Shared, Addr: []code.Slot{code.R, code.Q}[rng.IntN(2)], Size: 4, Bytes: tile.Bytes, Store: store, Tile: tile, Offset: uint64(int64(rng.IntN(9)-4) * 16)}
		memory, base := allocation(rng, mem.SharedAddress(rng.IntN(4)), 8192), uint64(probe.SharedWindow)
		if rng.IntN(2) == 0 {
			memory, base = allocation(rng, 0x2000_0000, 8192), 0
			acc.Space = []ptx.Space{ptx.Global, ptx.Generic}[rng.IntN(2)]
			hits := make([]*mem.Allocation, code.HitsPerAccess)
			hits[rng.IntN(len(hits))] = memory
			ctx.SetMemory(hits, nil, &changed)
		} else {
			ctx.SetMemory(nil, memory, &changed)
		}
		slot := code.R
		if tile.Bits == 64 {
			slot = code.Q
		}
		places := rng.Perm(16)
		for i := range tile.Registers() {
			row := int32(places[i])
			if slot == code.Q {
				row = int32(i)
			}
			acc.Elems = append(acc.Elems, code.Elem{Slot: slot, Row: row})
		}
		instr := code.Instr{Op: code.LoadMatrix, A: 16, D: code.NoRow, F: code.NoRow}
		if acc.Addr == code.Q {
			instr.A = 2
		}
		if store {
			instr.Op = code.StoreMatrix
		}
		p, f := single(rng, instr, nil)
		p.Access = []code.Access{acc}
		stride, first := int64(tile.Align)*int64(rng.IntN(8)), int64(0)
		if stride < int64(tile.Bytes) && rng.IntN(4) != 0 {
			stride = int64(tile.Bytes)
		}
		if reach := stride * int64(tile.Rows-1); rng.IntN(2) == 0 {
			first, stride = reach, -stride
		}
		first += int64(tile.Align) * int64(rng.IntN(16))
		fault := rng.IntN(12)
		switch fault {
		case 0:
			first = 8192 - int64(tile.Bytes) + int64(tile.Align)*int64(rng.IntN(3)-1)
		case 1:
			first += 1 << rng.IntN(4)
		case 2:
			stride += 1 << rng.IntN(4)
		}
		odd := rng.IntN(tile.Rows)
		rows, may := [matrix.Lanes][]byte{}, true
		for lane := range matrix.Lanes {
			at := first + int64(lane)*stride
			if fault == 3 && lane == odd {
				at, may = at+int64(tile.Align), false
			}
			v := uint64(at) + memory.Base - base - acc.Offset
			if acc.Addr == code.R {
				v = uint64(uint32(v))
				f.Row32(instr.A)[lane] = uint32(v)
			} else {
				f.Row64(instr.A)[lane] = v
			}
			o := v + acc.Offset + base - memory.Base
			switch {
			case lane >= tile.Rows:
			case o > memory.Size-uint64(tile.Bytes) || o%uint64(tile.Align) != 0:
				may = false
			default:
				rows[lane] = memory.Data[o:][:tile.Bytes]
			}
		}
		want, data := copied(p, f), slices.Clone(memory.Data)
		switch {
		case !may:
			left++
		case store:
			tile.Store(&rows, func(register, lane int) uint64 {
				if slot == code.Q {
					return f.Row64(acc.Elems[register].Row)[lane]
				}
				return uint64(f.Row32(acc.Elems[register].Row)[lane])
			})
			after := slices.Clone(memory.Data)
			copy(memory.Data, data)
			data = after
		default:
			tile.Load(&rows, func(register, lane int, v uint64) {
				if slot == code.Q {
					want.Row64(acc.Elems[register].Row)[lane] = v
				} else {
					want.Row32(acc.Elems[register].Row)[lane] = uint32(v)
				}
			})
		}
		randomLibrary(rng).New(p).RunBlock(ctx, f, 0)
		name := fmt.Sprintf("%d rows of %d bytes with elements of %d bits, stride %d, store %v, space %v, addresses in %v", tile.Rows, tile.Bytes, tile.Bits, stride, store, acc.Space, acc.Addr)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("%s: %s", name, diff)
		}
		if !bytes.Equal(memory.Data, data) || changed != (store && may) {
			t.Fatalf("%s: memory differs, or its change is not reported: %v", name, changed)
		}
	}
	if left < 50 {
		t.Errorf("%d leave", left)
	}
}

// TestSameValues: machine code exits unless all executing lanes have the same value, as wmma.load requires of its address.
func TestSameValues(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 15))
	for range part.Count(2000, 10000, 100000) {
		constant := rng.IntN(4) == 0
		p, f := single(rng, code.Instr{Op: code.CheckSame, A: 0, D: code.NoRow, F: code.NoRow}, func(instr *code.Instr, k *regfile.Constants) {
			if constant {
				instr.A = k.Add64(rng.Uint64())
			}
		})
		mask := uint32(regfile.Full)
		if rng.IntN(2) == 0 {
			mask = rng.Uint32() | 1<<rng.IntN(32)
		}
		row := f.Row64(0)
		for lane := range row {
			row[lane] = row[0]
		}
		may := true
		if lane := rng.IntN(32); rng.IntN(2) == 0 && !constant {
			row[lane] ^= 1 << rng.IntN(64)
			may = mask>>lane&1 == 0 || mask == 1<<lane
		}
		want := copied(p, f)
		ctx := &Context{Mask: mask, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		randomLibrary(rng).New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, may); diff != "" {
			t.Fatalf("lanes %#x, values %#x: %s", mask, *row, diff)
		}
	}
}

// TestMovedMatrices compares machine code of movmatrix with the manual (9.7.14.5.17): element (i, j) goes to (j, i), where lane
// 4·i + j has elements 2·j and 2·j + 1 of row i.
func TestMovedMatrices(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	rng := rand.New(rand.NewPCG(part.Seed(t), 13))
	for range 200 {
		instr := code.Instr{Op: code.MoveMatrix, A: rng.Int32N(4), D: rng.Int32N(4), F: code.NoRow}
		p, f := single(rng, instr, func(instr *code.Instr, k *regfile.Constants) {
			if rng.IntN(4) == 0 {
				instr.A = k.Add32(rng.Uint32())
			}
		})
		want, a := copied(p, f), *f.Src32(p.Instrs[0].A)
		element := func(row, col int) uint32 { return a[4*row+col/2] >> (16 * (col % 2)) & 0xffff }
		for lane := range regfile.Lanes {
			row, col := lane/4, lane%4*2
			want.Row32(instr.D)[lane] = element(col, row) | element(col+1, row)<<16
		}
		ctx := &Context{Mask: regfile.Full, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		randomLibrary(rng).New(p).RunBlock(ctx, f, 0)
		if diff := differs(p, f, want, ctx, true); diff != "" {
			t.Fatalf("from %d to %d: %s", p.Instrs[0].A, instr.D, diff)
		}
	}
}
