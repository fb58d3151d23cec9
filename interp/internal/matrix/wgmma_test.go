package matrix

import (
	"encoding/binary"
	"fmt"
	"testing"

	"gemu/ptx"
)

// cute is a layout as CuTe writes it: extents with strides, in elements, of rows and of columns.
type cute struct{ rows, cols [][2]int }

func (l cute) at(row, col int) (off int) {
	for i, list := range [][][2]int{l.rows, l.cols} {
		n := []int{row, col}[i]
		for _, m := range list {
			off, n = off+n%m[0]*m[1], n/m[0]
		}
	}
	return off
}

// TestShared: matrices of 16 rows by descriptors, in the layouts that the manual gives as
// examples (figures 166 to 170) and those that follow for the others by its table, against
// Swizzle<B,4,3> of what CuTe's definition of a layout gives.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		name        string
		bits        int
		across      bool
		cols        int
		layout      cute
		lead, steps int // bytes
		swizzle     int // B
	}{
		{"figure 166", 32, false, 16, cute{[][2]int{{8, 4}, {2, 32}}, [][2]int{{4, 1}, {4, 64}}}, 64 * 4, 32 * 4, 0},
		{"figure 167", 32, false, 8, cute{[][2]int{{8, 8}, {2, 64}}, [][2]int{{4, 1}, {2, 4}}}, 16, 64 * 4, 1},
		{"figure 168", 16, true, 16, cute{[][2]int{{8, 1}, {1, 8}, {2, 64}}, [][2]int{{8, 8}, {2, 128}}}, 128 * 2, 64 * 2, 0},
		{"figure 169", 16, true, 16, cute{[][2]int{{8, 1}, {2, 8}, {2, 128}}, [][2]int{{8, 16}, {2, 256}}}, 128 * 2, 256 * 2, 1},
		{"figure 170", 16, true, 16, cute{[][2]int{{8, 1}, {4, 8}, {2, 256}}, [][2]int{{8, 32}, {2, 512}}}, 256 * 2, 512 * 2, 2},
		{"128B across", 16, true, 16, cute{[][2]int{{8, 1}, {8, 8}, {1, 0}}, [][2]int{{8, 64}, {2, 512}}}, 16, 512 * 2, 3},
		{"64B", 8, false, 64, cute{[][2]int{{8, 64}, {2, 512}}, [][2]int{{16, 1}, {4, 16}}}, 16, 512, 2},
		{"128B", 16, false, 64, cute{[][2]int{{8, 64}, {2, 512}}, [][2]int{{8, 1}, {8, 8}}}, 16, 512 * 2, 3},
	} {
		memory := make([]byte, 16<<10)
		for i := range memory {
			memory[i] = byte(i*7 + i>>8*3)
		}
		rows := 16
		if c.across {
			rows = 64
			if n := c.layout.rows[2]; n[0]*c.layout.rows[1][0]*c.layout.rows[0][0] < rows {
				rows = n[0] * c.layout.rows[1][0] * c.layout.rows[0][0]
			}
		}
		const start = 1 << 10
		d := Descriptor(start>>4 | c.lead>>4<<16 | c.steps>>4<<32 | []int{0, 3, 2, 1}[c.swizzle]<<62)
		s := Shared{K: c.cols, Bits: c.bits, Across: c.across}
		got := s.Load(memory, d, 0, rows)
		for row := range rows {
			for col := range c.cols {
				at := start + c.layout.at(row, col)*c.bits/8
				at ^= at & ((1<<c.swizzle - 1) << 7) >> 3
				var word [4]byte
				copy(word[:c.bits/8], memory[at:])
				if want := binary.LittleEndian.Uint32(word[:]); got[row*c.cols+col] != want {
					t.Fatalf("%s: row %d, column %d is %#x, want %#x, at %#x", c.name, row, col, got[row*c.cols+col], want, at)
				}
			}
		}
		if addr, outside := s.Outside(d, 0, rows, uint64(len(memory))); outside {
			t.Errorf("%s: %#x is said to be outside", c.name, addr)
		}
		if _, outside := s.Outside(d, 0, rows, start+16); !outside {
			t.Errorf("%s: nothing is said to be outside", c.name)
		}
	}
}

// TestGroupFragments: each element of D and of A in registers is held once, where the figures
// show it.
func TestGroupFragments(t *testing.T) {
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
				for _, at := range x.at {
					times[at]++
				}
				for at, k := range times {
					if k != 1 || x.Registers() != registers {
						t.Fatalf("n=%d, %v: element %d of %s %d times, in %d registers", n, c.a, at, name, k, x.Registers())
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
		if at := int(c.o.at[c.lane*c.o.n+c.i]); at != c.row*c.cols+c.col {
			t.Errorf("figure %s: element %d of T%d is in row %d, column %d", c.figure, c.i, c.lane, at/c.cols, at%c.cols)
		}
	}
}

// TestGroupNumerics: the sums of 8-bit factors keep 13 bits behind the point of the largest term,
// and 32 products are one block (DeepSeek-V3, section 3.5.2: "the highest 14 bits").
func TestGroupNumerics(t *testing.T) {
	n, f, to := Measured(UnitWarpgroup, 90, ptx.E4M3, ptx.E4M3), formatOf(ptx.E4M3), formatOf(ptx.F32)
	sum := func(products ...[2]uint64) string {
		a, b := make([]number, 32), make([]number, 32)
		for i, p := range products {
			a[i], b[i] = f.decode(p[0]), f.decode(p[1])
		}
		return fmt.Sprintf("%08x", n.dot(a, b, factors{&f, &f}, 0x3f800000, &to, &to))
	}
	const tiny, small = 0x08, 0x01 // 2^-6, 2^-9
	for _, c := range []struct {
		want     string
		products [][2]uint64
	}{
		{"3f800400", [][2]uint64{{tiny, small << 2}}},              // 2^-6·2^-7
		{"3f800000", [][2]uint64{{tiny, small << 1}}},              // 2^-14 is cut off
		{"3f800000", [][2]uint64{{tiny, 2}, {tiny, 2}, {tiny, 2}}}, // each of them
	} {
		if got := sum(c.products...); got != c.want {
			t.Errorf("1 + %v is %s, want %s", c.products, got, c.want)
		}
	}
}
