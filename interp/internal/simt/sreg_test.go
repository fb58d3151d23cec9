package simt

import (
	"testing"

	"gemu/affinetrack"
)

// TestThreadClasses compares the classes of the thread index in blocks of all shapes with the
// indices of the threads, and what is known of rows of lanes with those. (Any two lanes make
// a progression.)
func TestThreadClasses(t *testing.T) {
	extents := []int{1, 2, 3, 4, 7, 8, 16, 24, 31, 32, 33, 64, 96}
	for _, x := range extents {
		for _, y := range extents {
			for _, z := range []int{1, 2, 5, 32} {
				for _, width := range []int{1, 4, 8, 16, 32, 64} {
					if block := Dim(x, y, z); block.Count() <= 1024 {
						classesOf(t, block, width)
					}
				}
			}
		}
	}
}

func classesOf(t *testing.T, block Dim3, width int) {
	t.Helper()
	got := threadClasses(block, width)
	row := min(width, 32)
	for d := range 3 {
		worst := affinetrack.Unknown
		for first := 0; first < block.Count(); first += row {
			n := min(row, block.Count()-first)
			at := func(i int) int { return block.at(first + i).along(d) }
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
			v, ok := affinetrack.ThreadIndex(block.extent(), d, first, 0, n-1)
			if known := class != affinetrack.Generic; ok != known || known && (v.Class() != class || int(v.Base) != at(0)) {
				t.Fatalf("block %v, warps of %d, dimension %d: from thread %d on %v, %v, want class %v", block, width, d, first, v, ok, class)
			}
			worst = max(worst, class)
		}
		if got[d] != worst {
			t.Fatalf("block %v, warps of %d, dimension %d: class %v, want %v", block, width, d, got[d], worst)
		}
	}
}
