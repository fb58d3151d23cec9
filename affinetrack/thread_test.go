package affinetrack_test

import (
	"testing"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// TestThreadSpacing compares ThreadSpacing and ThreadIndex with the thread indices of blocks of many shapes.
func TestThreadSpacing(t *testing.T) {
	extents := []int{1, 2, 3, 4, 7, 8, 16, 24, 31, 32, 33, 64, 96}
	for _, x := range extents {
		for _, y := range extents {
			for _, z := range []int{1, 2, 5, 32} {
				for _, width := range []int{1, 4, 8, 16, 32, 64} {
					if block := ptx.Dim(x, y, z); block.Count() <= 1024 {
						checkThreadSpacing(t, block, width)
					}
				}
			}
		}
	}
}

// checkThreadSpacing compares the spacing in one block, with warps of width lanes.
func checkThreadSpacing(t *testing.T, block ptx.Dim3, width int) {
	t.Helper()
	got := ThreadSpacing(block.Dims(), width)
	for d := range 3 {
		whole, half := worstClass(t, block, width, d, WholeRow), worstClass(t, block, width, d, HalfRow)
		want := Spacing{}
		switch {
		case whole != Generic:
			want = Spacing{Stride: int64(whole - Uniform), Group: WholeRow}
		case half != Generic:
			want = Spacing{Stride: int64(half - Uniform), Group: HalfRow}
		}
		if got[d] != want {
			t.Fatalf("block %v, warps of %d, dimension %d: spacing %v, want %v", block, width, d, got[d], want)
		}
	}
}

// worstClass returns the least structured class that dimension d of the thread index has in a group of lanes of any warp. It
// also checks ThreadIndex for each group.
func worstClass(t *testing.T, block ptx.Dim3, width, d, group int) Class {
	t.Helper()
	row := min(width, group)
	worst := Unknown
	for first := 0; first < block.Count(); first += row {
		n := min(row, block.Count()-first)
		at := func(i int) int { return block.At(first + i).Dims()[d] }
		class := Uniform
		if n > 1 && at(1) != at(0) {
			class = Affine
		}
		for i := range n {
			if step := int(class - Uniform); at(i) != at(0)+i*step {
				class = Generic
				break
			}
		}
		v, ok := ThreadIndex(block.Dims(), d, first, 0, n-1)
		if known := class != Generic; ok != known || known && (v.Class() != class || int(v.Base) != at(0)) {
			t.Fatalf("block %v, warps of %d, dimension %d: from thread %d on %v, %v, want class %v", block, width, d, first, v, ok, class)
		}
		worst = max(worst, class)
	}
	return worst
}
