package matrix

import (
	"math"
	"math/bits"
	"testing"

	"gemu/interp/internal/fp"
	"gemu/ptx"
)

// steps are the strides of the bits of a number, as in layouts of CUTLASS. They count positions down the columns.
type steps []int

// position returns the sum of the strides of the bits that are set in n.
func (s steps) position(n int) (sum int) {
	for ; n != 0; n &= n - 1 {
		sum += s[bits.TrailingZeros(uint(n))]
	}
	return sum
}

// TestSparseFragments compares the fragments of sparse mma with the layouts of CUTLASS
// (cute/atom/mma_traits_sm80_sparse.hpp and mma_traits_sm120_sparse.hpp): A by elements of the whole matrix, B, and
// metadata by chunks. A step of 0 belongs to a bit of the lane's number on which the position of metadata does not depend:
// a selector chooses these lanes.
func TestSparseFragments(t *testing.T) {
	for _, c := range []struct {
		name       string
		k          int
		t          ptx.Type
		container  int
		lanesA, a  steps // of 16 rows
		lanesB, b  steps // of 8 columns
		lanesE, e  steps // of 16 rows
		selections int
	}{
		{"m16n8k16 f16", 16, ptx.F16, 0, steps{64, 128, 1, 2, 4}, steps{16, 32, 8}, steps{16, 32, 1, 2, 4}, steps{8, 64}, steps{0, 0, 1, 2, 4}, steps{64, 128, 8}, 4},
		{"m16n8k32 bf16", 32, ptx.BF16, 0, steps{64, 128, 1, 2, 4}, steps{16, 32, 8, 256}, steps{16, 32, 1, 2, 4}, steps{8, 64, 128}, steps{256, 0, 1, 2, 4}, steps{64, 128, 8}, 2},
		{"m16n8k8 tf32", 8, ptx.TF32, 0, steps{32, 64, 1, 2, 4}, steps{16, 8}, steps{8, 16, 1, 2, 4}, steps{32}, steps{0, 0, 1, 2, 4}, steps{32, 64, 8}, 4},
		{"m16n8k16 tf32", 16, ptx.TF32, 0, steps{32, 64, 1, 2, 4}, steps{16, 8, 128}, steps{8, 16, 1, 2, 4}, steps{32, 64}, steps{128, 0, 1, 2, 4}, steps{32, 64, 8}, 2},
		{"m16n8k32 s8", 32, ptx.S8, 0, steps{128, 256, 1, 2, 4}, steps{16, 32, 64, 8}, steps{32, 64, 1, 2, 4}, steps{8, 16, 128}, steps{8, 0, 1, 2, 4}, steps{64, 128, 256}, 2},
		{"m16n8k64 s8", 64, ptx.S8, 0, steps{128, 256, 1, 2, 4}, steps{16, 32, 64, 8, 512}, steps{32, 64, 1, 2, 4}, steps{8, 16, 128, 256}, steps{8, 512, 1, 2, 4}, steps{64, 128, 256}, 1},
		{"m16n8k64 e2m1 in bytes", 64, ptx.E2M1, 8, steps{128, 256, 1, 2, 4}, steps{16, 32, 64, 8, 512}, steps{32, 64, 1, 2, 4}, steps{8, 16, 128, 256}, steps{8, 512, 1, 2, 4}, steps{64, 128, 256}, 1},
		{"m16n8k64 s4", 64, ptx.S4, 0, steps{256, 512, 1, 2, 4}, steps{16, 32, 64, 128, 8}, steps{64, 128, 1, 2, 4}, steps{8, 16, 32, 256}, steps{8, 0, 1, 2, 4}, steps{128, 256, 512}, 2},
		{"m16n8k128 e2m1", 128, ptx.E2M1, 0, steps{256, 512, 1, 2, 4}, steps{16, 32, 64, 128, 8, 1024}, steps{64, 128, 1, 2, 4}, steps{8, 16, 32, 256, 512}, steps{8, 1024, 1, 2, 4}, steps{128, 256, 512}, 1},
	} {
		x := Mma{M: 16, N: 8, K: c.k, A: c.t, B: c.t, C: ptx.F32, D: ptx.F32, Container: c.container, Sparse: true}
		if c.t.IsInt() {
			x.C, x.D = ptx.S32, ptx.S32
		}
		o := x.Multiply()
		s := o.Sparse
		stored := s.Chunk / 2
		for lane := range Lanes {
			for i := 0; i < o.A.perLane; i += stored {
				index := int(o.A.indices[lane*o.A.perLane+i])
				row, col := index/(c.k/2), index%(c.k/2)/stored*s.Chunk
				if want := c.lanesA.position(lane) + c.a.position(i*2); index%stored != 0 || row != want%16 || col != want/16 {
					t.Errorf("%s: A %d of lane %d is in row %d, column %d", c.name, i, lane, row, col)
				}
			}
			for i := range o.B.perLane {
				col, row := int(o.B.indices[lane*o.B.perLane+i])/c.k, int(o.B.indices[lane*o.B.perLane+i])%c.k
				if want := c.lanesB.position(lane) + c.b.position(i); col != want%8 || row != want/8 {
					t.Errorf("%s: B %d of lane %d is in row %d, column %d", c.name, i, lane, row, col)
				}
			}
		}
		if 4/s.lanesWithMetadata != c.selections {
			t.Errorf("%s: %d lanes of four have metadata", c.name, s.lanesWithMetadata)
		}
		for selector := range 4 {
			s.Selector = selector
			var meta [Lanes]uint32
			for lane := range meta {
				if lane%4/s.lanesWithMetadata == selector {
					meta[lane] = 0x44444444 // the first element of each chunk
				}
			}
			if _, u := s.SelectedIndices(&meta); (u == nil) != (selector < c.selections) {
				t.Errorf("%s: selector %d: %v", c.name, selector, u)
			}
			if selector >= c.selections {
				continue
			}
			for lane := range meta {
				for i := range 8 {
					if meta[lane] == 0 {
						continue
					}
					changed := meta
					changed[lane] ^= 0xa << (4 * i) // 0b0100 to 0b1110
					list, u := s.SelectedIndices(&changed)
					if u != nil {
						t.Fatalf("%s: %s", c.name, u.Description)
					}
					want := c.lanesE.position(lane) + c.e.position(i)
					for n, position := range list {
						row, q := n/(c.k/2), n%(c.k/2)/stored
						first := int(position) == q*s.Chunk+n%stored
						if moved := row == want%16 && q*s.Chunk == want/16; first == moved {
							t.Fatalf("%s: index %d of lane %d with selector %d changes row %d, chunk %d", c.name, i, lane, selector, row, q)
						}
					}
				}
			}
		}
	}
}

// TestSparseMetadata checks all 16 values of metadata against the values that the manual defines (9.7.14.6.1).
func TestSparseMetadata(t *testing.T) {
	pairs := map[uint32][2]uint8{0b0100: {0, 1}, 0b1000: {0, 2}, 0b1001: {1, 2}, 0b1100: {0, 3}, 0b1101: {1, 3}, 0b1110: {2, 3}}
	for meta := range uint32(16) {
		p, defined := pairs[meta]
		indices, ok := Sparsity{4, true}.Indices(meta)
		if ok != defined || ok && (indices[0] != p[0] || indices[1] != p[1]) {
			t.Errorf("0b%04b: %v %v", meta, indices, ok)
		}
		indices, ok = Sparsity{8, true}.Indices(meta)
		if ok != defined || ok && indices != [4]uint8{2 * p[0], 2*p[0] + 1, 2 * p[1], 2*p[1] + 1} {
			t.Errorf("0b%04b of pairs: %v %v", meta, indices, ok)
		}
		indices, ok = Sparsity{2, false}.Indices(meta)
		if ok != (meta == 0b0100 || meta == 0b1110) || ok && indices[0] != uint8(meta>>3) {
			t.Errorf("0b%04b of two: %v %v", meta, indices, ok)
		}
		if _, ok := (Sparsity{4, false}).Indices(meta); ok == (meta%5 == 0) {
			t.Errorf("0b%04b in any order: %v", meta, ok)
		}
	}
}

// TestSumsOfE2M1 checks that sums of groups of e2m1 keep 35 bits after the binary point of the scales, and are then cut to
// f32.
func TestSumsOfE2M1(t *testing.T) {
	scale := func(exp int32) number { return number{1, exp} }
	const cancel = 99 // stands for the elements 1 and -1
	run := func(c float32, values []float64, exps []int32) float32 {
		f := format{&fp.E2M1, 0}
		a, b := make([]number, 64), make([]number, 64)
		for i := range a {
			a[i], b[i] = f.decode(0), f.decode(2) // 0 and 1
		}
		for g, v := range values {
			if v == cancel {
				v, a[16*g+1] = 1, f.decode(10)
			}
			a[16*g] = f.decode(map[float64]uint64{0: 0, 0.5: 1, 1: 2, -1: 10, 6: 7}[v])
		}
		w := multiplication{Multiply: &Multiply{M: 1, N: 1, K: 64, Count: 1, Scales: &Scales{PerRow: 4}}}
		for _, e := range exps {
			w.rowScales, w.colScales = append(w.rowScales, scale(e)), append(w.colScales, scale(0))
		}
		to := formatOf(ptx.F32)
		sum := []uint64{uint64(math.Float32bits(c))}
		w.multiplyPacked(NumericsFor(UnitGroups, 120, ptx.E2M1, ptx.E2M1), a, b, sum, &to)
		return math.Float32frombits(uint32(sum[0]))
	}
	two := func(e int) float32 { return float32(math.Ldexp(1, e)) }
	for _, c := range []struct {
		c      float32
		values []float64
		exps   []int32
		want   float32
	}{
		{-1, []float64{1, 1, 0, 0}, []int32{0, -35, 0, 0}, two(-35)},
		{-1, []float64{1, 1, 0, 0}, []int32{0, -36, 0, 0}, 0},
		{-1, []float64{1, 0.5, 0, 0}, []int32{0, -35, 0, 0}, 0},
		{1, []float64{1, 1, 0, 0}, []int32{-24, -24, 0, 0}, 1 + two(-23)},
		{0, []float64{1, 6, -1, 0.5}, []int32{1, 2, 3, 4}, 2 + 24 - 8 + 8},
		{0, []float64{0, 1, 0, 0}, []int32{100, -120, 0, 0}, two(-120)}, // a zero scale has no exponent
		{two(-15), []float64{cancel, 0, 0, 0}, []int32{20, 0, 0, 0}, two(-15)},
		{two(-16), []float64{cancel, 0, 0, 0}, []int32{20, 0, 0, 0}, 0}, // a sum of zero has an exponent
	} {
		if got := run(c.c, c.values, c.exps); got != c.want {
			t.Errorf("%v + %v · 2^%v = %v, want %v", c.c, c.values, c.exps, got, c.want)
		}
	}
}
