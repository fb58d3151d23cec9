package lanes

import (
	"testing"

	"gemu/affinetrack"
	"gemu/interp/internal/lower"
	"gemu/ptx"
)

// TestThreadSpacing compares the spacing of the thread index in blocks of all shapes with the
// indices of the threads, and what is known of rows of lanes with those. (Any two lanes make
// a progression.)
func TestThreadSpacing(t *testing.T) {
	extents := []int{1, 2, 3, 4, 7, 8, 16, 24, 31, 32, 33, 64, 96}
	for _, x := range extents {
		for _, y := range extents {
			for _, z := range []int{1, 2, 5, 32} {
				for _, width := range []int{1, 4, 8, 16, 32, 64} {
					if block := ptx.Dim(x, y, z); block.Count() <= 1024 {
						spacingOf(t, block, width)
					}
				}
			}
		}
	}
}

func spacingOf(t *testing.T, block ptx.Dim3, width int) {
	t.Helper()
	got := ThreadSpacing(block, width)
	for d := range 3 {
		whole, half := worstOf(t, block, width, d, 32), worstOf(t, block, width, d, 16)
		want := lower.Spacing{}
		switch {
		case whole != affinetrack.Generic:
			want = lower.Spacing{Stride: int64(whole - affinetrack.Uniform), Group: lower.WholeRow}
		case half != affinetrack.Generic:
			want = lower.Spacing{Stride: int64(half - affinetrack.Uniform), Group: lower.HalfRow}
		}
		if got[d] != want {
			t.Fatalf("block %v, warps of %d, dimension %d: spacing %v, want %v", block, width, d, got[d], want)
		}
	}
}

// worstOf is the worst class of a dimension of the thread index over so many lanes of a warp.
func worstOf(t *testing.T, block ptx.Dim3, width, d, over int) affinetrack.Class {
	t.Helper()
	row := min(width, over)
	worst := affinetrack.Unknown
	for first := 0; first < block.Count(); first += row {
		n := min(row, block.Count()-first)
		at := func(i int) int { return block.At(first + i).Dims()[d] }
		class := affinetrack.Uniform
		if n > 1 && at(1) != at(0) {
			class = affinetrack.Affine
		}
		for i := range n {
			if step := int(class - affinetrack.Uniform); at(i) != at(0)+i*step {
				class = affinetrack.Generic
				break
			}
		}
		v, ok := affinetrack.ThreadIndex(block.Dims(), d, first, 0, n-1)
		if known := class != affinetrack.Generic; ok != known || known && (v.Class() != class || int(v.Base) != at(0)) {
			t.Fatalf("block %v, warps of %d, dimension %d: from thread %d on %v, %v, want class %v", block, width, d, first, v, ok, class)
		}
		worst = max(worst, class)
	}
	return worst
}
