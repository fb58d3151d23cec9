package matrix

import (
	"math"
	"strings"
	"testing"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// shape is a shape of mma with its types.
type shape struct {
	m, n, k    int
	a, d       ptx.Type
	container  int
	aCol, bRow bool
}

// shapes returns all dense shapes with their types.
func shapes() (list []shape) {
	for _, s := range []struct {
		m, n, k int
		types   []ptx.Type
	}{
		{8, 8, 4, []ptx.Type{ptx.F16, ptx.F64}}, {8, 8, 16, []ptx.Type{ptx.S8}}, {8, 8, 32, []ptx.Type{ptx.S4}}, {8, 8, 128, []ptx.Type{ptx.B1}},
		{16, 8, 4, []ptx.Type{ptx.TF32, ptx.F64}}, {16, 8, 8, []ptx.Type{ptx.F16, ptx.BF16, ptx.TF32, ptx.F64}},
		{16, 8, 16, []ptx.Type{ptx.F16, ptx.BF16, ptx.F64, ptx.U8, ptx.E4M3}}, {16, 8, 32, []ptx.Type{ptx.S4, ptx.S8, ptx.E5M2}},
		{16, 8, 64, []ptx.Type{ptx.U4}}, {16, 8, 128, []ptx.Type{ptx.B1}}, {16, 8, 256, []ptx.Type{ptx.B1}},
	} {
		for _, t := range s.types {
			d := []ptx.Type{ptx.S32}
			switch {
			case t == ptx.F64:
				d = []ptx.Type{ptx.F64}
			case t.Kind() == ptx.Float:
				d = []ptx.Type{ptx.F32, ptx.F16}
			}
			for _, d := range d {
				for i := range 4 {
					if x := (shape{s.m, s.n, s.k, t, d, 0, i&1 != 0, i&2 != 0}); i == 0 || t == ptx.F16 && s.m == 8 {
						list = append(list, x)
					}
				}
			}
		}
	}
	return append(list, shape{16, 8, 32, ptx.E2M1, ptx.F32, 8, false, false})
}

// TestFragmentsHoldMatrices checks that the fragments of every operand hold each element of its matrices exactly once.
func TestFragmentsHoldMatrices(t *testing.T) {
	for _, s := range shapes() {
		o := (&Mma{M: s.m, N: s.n, K: s.k, D: s.d, A: s.a, B: s.a, C: s.d, Container: s.container, ACol: s.aCol, BRow: s.bRow}).Multiply()
		k := s.k
		if s.a == ptx.B1 {
			k /= 32
		}
		for name, x := range map[string]struct {
			operand *Operand
			n       int
		}{"A": {&o.A, s.m * k}, "B": {&o.B, s.n * k}, "C": {&o.C, s.m * s.n}, "D": {&o.D, s.m * s.n}} {
			if n := x.operand.Registers(); n > maxRegisters {
				t.Errorf("%+v: %s takes %d registers", s, name, n)
			}
			times := make([]int, x.n*o.Count)
			for _, index := range x.operand.indices {
				if int(index) >= len(times) {
					t.Fatalf("%+v: %s has element %d of %d", s, name, index, len(times))
				}
				times[index]++
			}
			for i, n := range times {
				if n != 1 {
					t.Errorf("%+v: %s has element %d %d times", s, name, i, n)
				}
			}
		}
	}
}

// TestRowsOfLdmatrix checks that registers hold each element of the rows of ldmatrix and stmatrix exactly once.
func TestRowsOfLdmatrix(t *testing.T) {
	for name := range tiles {
		shape, transposed := strings.CutSuffix(name, ".trans")
		tile := NewTile(shape, transposed, 1, 0)
		seen := map[place]int{}
		for register := range tile.Registers() {
			for lane := range Lanes {
				for _, pos := range tile.placesOf(register, lane) {
					seen[pos]++
				}
			}
		}
		if len(seen) != tile.Rows*tile.Bytes*8/tile.Bits || len(seen) != tile.Registers()*Lanes*32/tile.Bits {
			t.Errorf("%s: %d elements", name, len(seen))
		}
	}
}

// TestFragmentsOfManualFigures compares positions of elements with the manual's figures ("T3:{a0,a1}": lane 3 has elements
// 0 and 1).
func TestFragmentsOfManualFigures(t *testing.T) {
	for _, c := range []struct {
		figure   string
		layout   Layout
		lane, i  int
		row, col int
	}{
		{"53, m8n8k4 A f64", Rows(8, 4, 1), 31, 0, 7, 3},
		{"54, m8n8k4 B f64", Rows(8, 4, 1).Transposed(), 5, 0, 1, 1},
		{"55, m8n8k4 C f64", Rows(8, 8, 2), 7, 1, 1, 7},
		{"56, m8n8k16 A", Rows(8, 16, 4), 6, 3, 1, 11},
		{"65, m16n8k4 A", Rows(16, 4, 1), 1, 1, 8, 1},
		{"71, m16n8k8 A f16", Rows(16, 8, 2), 30, 2, 15, 4},
		{"72, m16n8k8 A tf32", Rows(16, 8, 1), 0, 2, 0, 4},
		{"79, m16n8k16 A f16", Rows(16, 16, 2), 0, 2, 8, 0},
		{"79, m16n8k16 A f16", Rows(16, 16, 2), 3, 4, 0, 14},
		{"79, m16n8k16 A f16", Rows(16, 16, 2), 31, 7, 15, 15},
		{"80, m16n8k16 A f64", Rows(16, 16, 1), 2, 6, 0, 14},
		{"81, m16n8k16 B f16", Rows(8, 16, 2).Transposed(), 4, 2, 8, 1},
		{"83, m16n8k16 C", Rows(16, 8, 2), 5, 3, 9, 3},
		{"84, m16n8k16 A s8", Rows(16, 16, 4), 1, 4, 8, 4},
		{"87, m16n8k32 A s4", Rows(16, 32, 8), 1, 8, 8, 8},
		{"88, m16n8k32 A s8", Rows(16, 32, 4), 0, 8, 0, 16},
		{"91, m16n8k32 B s8", Rows(8, 32, 4).Transposed(), 31, 7, 31, 7},
		{"93, m16n8k64 A s4", Rows(16, 64, 8), 2, 24, 8, 48},
		{"46, m8n8k4 A by rows", quarterRows, 17, 3, 5, 3},
		{"47, m8n8k4 A by columns", quarterColumns, 17, 3, 7, 1},
		{"51, m8n8k4 C f32", sumLayout32, 3, 6, 3, 6},
		{"104, ldmatrix", Rows(8, 8, 2), 9, 1, 2, 3},
		{"106, ldmatrix m8n16", Rows(8, 16, 4), 6, 2, 1, 10},
	} {
		if pos := c.layout.Position(c.lane, c.i); pos.Row != c.row || pos.Col != c.col {
			t.Errorf("figure %s: element %d of T%d is in row %d, column %d, want %d, %d", c.figure, c.i, c.lane, pos.Row, pos.Col, c.row, c.col)
		}
	}
}

// TestSumsOfGenerations compares sums that differ between generations, units and methods. The expected values, by compute
// capability, were computed by hand from the sources of docs/tensor.md: published models, and instructions that ptxas
// generates.
func TestSumsOfGenerations(t *testing.T) {
	type term struct {
		k    int
		a, b float64
	}
	for _, x := range []struct {
		name     string
		quarters bool // mma.m8n8k4
		t, d     ptx.Type
		k        int
		c        float64
		terms    []term
		want     map[int]float64
	}{
		{"a bit below the last bit of f32: V100 cuts it", false, ptx.F16, ptx.F32, 8, 1, []term{{0, 0x1p-12, 0x1p-12}, {1, 0x1p-12, 0x1p-12}},
			map[int]float64{70: 1, 75: 1 + 0x1p-23, 80: 1 + 0x1p-23, 90: 1 + 0x1p-23}},
		{"two bits below the last bit: kept from Hopper on", false, ptx.F16, ptx.F32, 8, 1, []term{{0, 0x1p-12, 0x1p-13}, {1, 0x1p-12, 0x1p-13}, {2, 0x1p-12, 0x1p-13}, {3, 0x1p-12, 0x1p-13}},
			map[int]float64{75: 1, 80: 1, 90: 1 + 0x1p-23, 100: 1 + 0x1p-23}},
		{"blocks of 4: Volta", false, ptx.F16, ptx.F32, 8, 1, []term{{0, 0x1p-12, 0x1p-12}, {4, 0x1p-12, 0x1p-12}},
			map[int]float64{70: 1, 75: 1 + 0x1p-23, 80: 1 + 0x1p-23, 90: 1 + 0x1p-23}},
		{"blocks of 8: Turing to Ada", false, ptx.BF16, ptx.F32, 16, 1, []term{{0, 0x1p-12, 0x1p-12}, {8, 0x1p-12, 0x1p-12}},
			map[int]float64{75: 1, 80: 1, 89: 1, 90: 1 + 0x1p-23}},
		{"blocks of 4 of tf32", false, ptx.TF32, ptx.F32, 8, 1, []term{{0, 0x1p-12, 0x1p-12}, {4, 0x1p-12, 0x1p-12}},
			map[int]float64{80: 1, 89: 1, 90: 1 + 0x1p-23}},
		// Terms below the least exponent are cut at 2^-156, or 2^-158.
		{"zeros have an exponent", false, ptx.BF16, ptx.F32, 16, 0, []term{{0, 0x1p-75, 0x1p-74}, {1, -0x1p-79, 0x1p-78}},
			map[int]float64{80: 0x1p-149, 90: 0}},
		{"zeros have an exponent, next bits", false, ptx.BF16, ptx.F32, 16, 0, []term{{0, 0x1p-75, 0x1p-74}, {1, -0x1p-80, 0x1p-79}},
			map[int]float64{80: 0x1p-149, 90: 0x1p-149}},
		// 2^-25 is half of the last bit of f16; 2^-44 is just more; 2^-45 is cut except on Hopper.
		{"zeros have an exponent in f16", false, ptx.F16, ptx.F16, 8, 0, []term{{0, 0x1p-12, 0x1p-13}, {1, 0x1p-22, 0x1p-23}},
			map[int]float64{75: 0, 80: 0, 90: 0x1p-24}},
		{"a term that is cut to zero leaves no sign", false, ptx.F16, ptx.F16, 8, 0, []term{{0, -0x1p-14, 0x1p-14}}, map[int]float64{75: 0, 90: 0}},
		{"f16 rounds to nearest", false, ptx.F16, ptx.F16, 8, 1, []term{{0, 1, 0x1.8p-11}}, map[int]float64{75: 1 + 0x1p-10, 90: 1 + 0x1p-10}},
		// HMMA for k with k mod 4 < 2 and HMMA for the rest give 1.5·2^-16, and FADD rounds to nearest.
		{"8 bits by f16: C is added last", false, ptx.E4M3, ptx.F32, 32, 256, []term{{0, 0x1p-8, 0x1p-8}, {2, 0x1p-8, 0x1p-9}},
			map[int]float64{89: 256, 90: 256 + 0x1p-15, 100: 256 + 0x1p-15, 103: 256 + 0x1p-15, 120: 256}},
		{"8 bits by f16: order of products", false, ptx.E4M3, ptx.F16, 32, 0, []term{{0, 2, 1}, {1, 0x1p-6, 0x1p-5}, {2, -2, 1}},
			map[int]float64{90: 0, 120: 0x1p-11}},
		{"8 bits by f16: halves, not quarters", false, ptx.E4M3, ptx.F16, 32, 0, []term{{0, 2, 1}, {4, 0x1p-6, 0x1p-5}, {28, -2, 1}},
			map[int]float64{90: 0x1p-11, 120: 0x1p-11}},
		{"8 bits: 13 bits on Ada", false, ptx.E4M3, ptx.F32, 16, 1, []term{{0, 0x1p-7, 0x1p-7}}, map[int]float64{89: 1, 90: 1 + 0x1p-14, 120: 1 + 0x1p-14}},
		// FFMA from 0, FADD of C: 1.5·2^-24 rounds up. HMMA.884 cuts.
		{"m8n8k4: C is added last", true, ptx.F16, ptx.F32, 4, 1, []term{{0, 0x1p-12, 0x1p-12}, {1, 0x1p-12, 0x1p-13}},
			map[int]float64{70: 1, 75: 1, 80: 1 + 0x1p-23, 86: 1 + 0x1p-23, 120: 1 + 0x1p-23}},
		{"m8n8k4: Turing adds as Volta does", true, ptx.F16, ptx.F32, 4, 1, []term{{0, 0x1p-12, 0x1p-12}, {1, 0x1p-12, 0x1p-12}},
			map[int]float64{70: 1, 75: 1, 80: 1 + 0x1p-23}},
		{"m8n8k4 of f16: two sums of two", true, ptx.F16, ptx.F16, 4, 0, []term{{1, 1, 1}, {2, 0x1p-12, 0x1p-12}, {3, -1, 1}},
			map[int]float64{70: 0, 75: 0, 80: 0x1p-24}},
		{"m8n8k4 of f16: each sum is added to C", true, ptx.F16, ptx.F16, 4, -1, []term{{0, 1, 1}, {2, 0x1p-12, 0x1p-12}},
			map[int]float64{80: 0x1p-24}},
	} {
		for sm, want := range x.want {
			o := &Multiply{M: 1, N: 1, K: x.k, Count: 1, A: Operand{Type: x.t}, B: Operand{Type: x.t}, C: Operand{Type: x.d}, D: Operand{Type: x.d}}
			if x.quarters {
				o.Count = 4
			}
			a, b := make([]uint64, o.Count*x.k), make([]uint64, o.Count*x.k)
			bits := func(t ptx.Type, v float64) uint64 {
				if t == ptx.F32 {
					return uint64(math.Float32bits(float32(v)))
				}
				f := formatOf(t)
				return f.Convert(v, fp.RN, 0, false) << f.shift
			}
			for _, e := range x.terms {
				a[e.k], b[e.k] = bits(x.t, e.a), bits(x.t, e.b)
			}
			c := []uint64{bits(x.d, x.c), 0, 0, 0}
			if (&multiplication{Multiply: o, scratch: new(scratch)}).multiplyFloats(sm, a, b, c); c[0] != bits(x.d, want) {
				t.Errorf("%s: sm_%d has %#x, want %#x", x.name, sm, c[0], bits(x.d, want))
			}
		}
	}
}
