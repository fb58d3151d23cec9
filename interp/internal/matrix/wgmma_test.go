package matrix

import (
	"encoding/binary"
	"math"
	"testing"

	"gemu/interp/internal/fp"
	"gemu/ptx"
	"gemu/regfile"
)

// cute is a layout in CuTe's notation: pairs of an extent and a stride, in elements, for rows and for columns.
type cute struct{ rows, cols [][2]int }

// offset returns the offset of an element in memory, in elements.
func (l cute) offset(row, col int) (offset int) {
	for i, list := range [][][2]int{l.rows, l.cols} {
		n := []int{row, col}[i]
		for _, m := range list {
			offset, n = offset+n%m[0]*m[1], n/m[0]
		}
	}
	return offset
}

// TestSharedMemoryLayouts places matrices by descriptors: in the example layouts of the manual (figures 166 to 170), and in
// the layouts that the manual's table gives for the other cases. It compares them with Swizzle<B,4,3> in CuTe's definition
// of a layout.
func TestSharedMemoryLayouts(t *testing.T) {
	for _, c := range []struct {
		name        string
		bits        int
		transposed  bool
		cols        int
		layout      cute
		lead, steps int // leading and stride dimension byte offsets
		swizzle     int // B of Swizzle<B,4,3>
	}{
		{"figure 166", 32, false, 16, cute{[][2]int{{8, 4}, {2, 32}}, [][2]int{{4, 1}, {4, 64}}}, 64 * 4, 32 * 4, 0},
		{"figure 167", 32, false, 8, cute{[][2]int{{8, 8}, {2, 64}}, [][2]int{{4, 1}, {2, 4}}}, 16, 64 * 4, 1},
		{"figure 168", 16, true, 16, cute{[][2]int{{8, 1}, {1, 8}, {2, 64}}, [][2]int{{8, 8}, {2, 128}}}, 128 * 2, 64 * 2, 0},
		{"figure 169", 16, true, 16, cute{[][2]int{{8, 1}, {2, 8}, {2, 128}}, [][2]int{{8, 16}, {2, 256}}}, 128 * 2, 256 * 2, 1},
		{"figure 170", 16, true, 16, cute{[][2]int{{8, 1}, {4, 8}, {2, 256}}, [][2]int{{8, 32}, {2, 512}}}, 256 * 2, 512 * 2, 2},
		{"128B transposed", 16, true, 16, cute{[][2]int{{8, 1}, {8, 8}, {1, 0}}, [][2]int{{8, 64}, {2, 512}}}, 16, 512 * 2, 3},
		{"64B", 8, false, 64, cute{[][2]int{{8, 64}, {2, 512}}, [][2]int{{16, 1}, {4, 16}}}, 16, 512, 2},
		{"128B", 16, false, 64, cute{[][2]int{{8, 64}, {2, 512}}, [][2]int{{8, 1}, {8, 8}}}, 16, 512 * 2, 3},
	} {
		memory := make([]byte, 16<<10)
		for i := range memory {
			memory[i] = byte(i*7 + i>>8*3)
		}
		rows := 16
		if c.transposed {
			rows = 64
			if n := c.layout.rows[2]; n[0]*c.layout.rows[1][0]*c.layout.rows[0][0] < rows {
				rows = n[0] * c.layout.rows[1][0] * c.layout.rows[0][0]
			}
		}
		const start = 1 << 10
		d := Descriptor(start>>4 | c.lead>>4<<16 | c.steps>>4<<32 | []int{0, 3, 2, 1}[c.swizzle]<<62)
		s := Shared{K: c.cols, Bits: c.bits, Transposed: c.transposed}
		got := s.Load(memory, d.Placement(), 0, rows)
		for row := range rows {
			for col := range c.cols {
				addr := start + c.layout.offset(row, col)*c.bits/8
				addr ^= addr & ((1<<c.swizzle - 1) << 7) >> 3
				var word [4]byte
				copy(word[:c.bits/8], memory[addr:])
				if want := binary.LittleEndian.Uint32(word[:]); got[row*c.cols+col] != want {
					t.Fatalf("%s: row %d, column %d is %#x, want %#x, at %#x", c.name, row, col, got[row*c.cols+col], want, addr)
				}
			}
		}
		if addr, outside := s.Outside(d.Placement(), 0, rows, uint64(len(memory))); outside {
			t.Errorf("%s: %#x is said to be outside", c.name, addr)
		}
		if _, outside := s.Outside(d.Placement(), 0, rows, start+16); !outside {
			t.Errorf("%s: nothing is said to be outside", c.name)
		}
	}
}

// TestWarpgroupFragments checks that the lanes hold each element of D, and of an A in registers, exactly once, and that
// elements are where the manual's figures show them.
func TestWarpgroupFragments(t *testing.T) {
	for n := 8; n <= 256; n += 8 {
		for _, c := range []struct {
			k    int
			d, a ptx.Type
		}{{16, ptx.F16, ptx.F16}, {8, ptx.F32, ptx.TF32}, {32, ptx.S32, ptx.S8}, {256, ptx.S32, ptx.B1}} {
			o := NewWgmma(n, c.k, c.d, c.a, c.a, false, 0)
			for name, x := range map[string]*Operand{"A": &o.A, "D": &o.D} {
				size, registers := WarpRows*n, n/2*c.d.Bits()/32
				if name == "A" {
					size, registers = WarpRows*o.K, 4
				}
				times := make([]int, size)
				for _, index := range x.indices {
					times[index]++
				}
				for index, k := range times {
					if k != 1 || x.Registers() != registers {
						t.Fatalf("n=%d, %v: element %d of %s %d times, in %d registers", n, c.a, index, name, k, x.Registers())
					}
				}
			}
		}
	}
	f16, tf32, s8 := NewWgmma(40, 16, ptx.F32, ptx.F16, ptx.F16, false, 0), NewWgmma(8, 8, ptx.F32, ptx.TF32, ptx.TF32, false, 0), NewWgmma(8, 32, ptx.S32, ptx.S8, ptx.S8, false, 0)
	for _, c := range []struct {
		figure   string
		o        *Operand
		cols     int
		lane, i  int
		row, col int
	}{
		{"148", &f16.A, 16, 1, 5, 0, 11}, {"148", &f16.A, 16, 31, 3, 15, 7}, {"149", &f16.D, 40, 0, 4, 0, 8}, {"149", &f16.D, 40, 7, 18, 9, 38},
		{"150", &tf32.A, 8, 0, 2, 0, 4}, {"150", &tf32.A, 8, 5, 1, 9, 1}, {"152", &s8.A, 32, 2, 9, 0, 25}, {"152", &s8.A, 32, 28, 7, 15, 3},
	} {
		if index := int(c.o.indices[c.lane*c.o.perLane+c.i]); index != c.row*c.cols+c.col {
			t.Errorf("figure %s: element %d of T%d is in row %d, column %d", c.figure, c.i, c.lane, index/c.cols, index%c.cols)
		}
	}
}

// TestWarpgroupSums checks that sums of 8-bit factors keep 13 bits after the binary point of the largest term, and that a
// block has 32 products (DeepSeek-V3, section 3.5.2: "the highest 14 bits").
func TestWarpgroupSums(t *testing.T) {
	n, f, to := NumericsFor(UnitWarpgroup, 90, ptx.E4M3, ptx.E4M3), formatOf(ptx.E4M3), formatOf(ptx.F32)
	for _, c := range []struct {
		name     string
		products map[int]float64 // by k
		c, want  float64
	}{
		{"the last bit", map[int]float64{0: 0x1p-13}, 1, 1 + 0x1p-13},
		{"each term is cut", map[int]float64{0: 0x1p-14, 1: 0x1p-14}, 1, 1},
		{"the result has 13 bits", map[int]float64{0: 1, 1: 0x1p-13}, 1, 2},
		{"one block", map[int]float64{0: 32, 1: -32, 31: 0x1p-9}, 0, 0},
		{"the last bit of the largest term, 32", map[int]float64{0: 32, 1: -32, 31: 0x1p-8}, 0, 0x1p-8},
	} {
		a, b := make([]number, 32), make([]number, 32)
		for k, v := range c.products {
			factor := func(v float64) number { return f.decode(f.Convert(v, fp.RN, 0, false)) }
			if a[k], b[k] = factor(v), factor(1); v < 0x1p-6 && v > 0 {
				a[k], b[k] = factor(v*64), factor(0x1p-6)
			}
		}
		got := math.Float32frombits(uint32(n.dot(a, b, factors{&f, &f}, uint64(math.Float32bits(float32(c.c))), &to, &to)))
		if got != float32(c.want) {
			t.Errorf("%s: %v and %v are %v, want %v", c.name, c.c, c.products, got, c.want)
		}
	}
}

// TestWarpgroupSmallestTerms checks that terms are cut at 2^-158 or above, and for sums in f16 at 2^-46 or above: these are
// 25 bits below -133 and -21, the exponents of zeros.
func TestWarpgroupSmallestTerms(t *testing.T) {
	type term struct{ a, b float64 }
	for _, c := range []struct {
		k        int
		a, d     ptx.Type
		products [2]term
		want     float64
	}{
		// Less than 2^-149 after the cut is rounded towards zero.
		{16, ptx.BF16, ptx.F32, [2]term{{0x1p-75, 0x1p-74}, {-0x1p-79, 0x1p-79}}, 0},
		{16, ptx.BF16, ptx.F32, [2]term{{0x1p-75, 0x1p-74}, {-0x1p-80, 0x1p-79}}, 0x1p-149},
		{8, ptx.TF32, ptx.F32, [2]term{{0x1p-75, 0x1p-74}, {-0x1p-79, 0x1p-79}}, 0},
		{8, ptx.TF32, ptx.F32, [2]term{{0x1p-75, 0x1p-74}, {-0x1p-80, 0x1p-79}}, 0x1p-149},
		// More than half of 2^-24, or exactly half, which goes to even.
		{16, ptx.F16, ptx.F16, [2]term{{0x1p-12, 0x1p-13}, {0x1p-23, 0x1p-23}}, 0x1p-24},
		{16, ptx.F16, ptx.F16, [2]term{{0x1p-12, 0x1p-13}, {0x1p-23, 0x1p-24}}, 0},
	} {
		o := NewWgmma(8, c.k, c.d, c.a, c.a, false, 0)
		bits := func(t ptx.Type, v float64) uint32 {
			if t == ptx.F32 {
				return math.Float32bits(float32(v))
			}
			f := formatOf(t)
			return uint32(f.Convert(v, fp.RN, 0, false) << f.shift)
		}
		a, b := make([]uint32, WarpRows*c.k), make([]uint32, 8*c.k)
		for i, p := range c.products {
			a[i], b[i] = bits(c.a, p.a), bits(c.a, p.b)
		}
		var d []*regfile.Row32
		for range o.D.Registers() {
			d = append(d, new(regfile.Row32))
		}
		if o.Execute(d, nil, a, b, nil, false); d[0][0] != bits(c.d, c.want) {
			t.Errorf("%v: %v are %#x, want %#x", c.a, c.products, d[0][0], bits(c.d, c.want))
		}
	}
}
