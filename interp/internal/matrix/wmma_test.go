package matrix

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gemu/ptx"
)

// TestWmmaFragments compares the fragments with testdata/wmma.txt, which has the fragments in the code that ptxas generates
// for wmma.load.
func TestWmmaFragments(t *testing.T) {
	text, err := os.ReadFile("testdata/wmma.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		head, steps, _ := strings.Cut(strings.TrimSpace(line), " L ")
		lanes, elems, _ := strings.Cut(steps, " E")
		var w Wmma
		var name, layout, typ string
		if _, err := fmt.Sscanf(head, "sm_%d m%dn%dk%d %s %s %s", &w.SM, &w.M, &w.N, &w.K, &name, &layout, &typ); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var want Layout
		read := func(s string) (list []Step) {
			for _, f := range strings.Fields(s) {
				var step Step
				if _, err := fmt.Sscanf(f, "%d,%d", &step.Row, &step.Col); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				list = append(list, step)
			}
			return list
		}
		copy(want.Lane[:], read(lanes))
		want.Elem = read(elems)
		w.ACol, w.BCol = layout == "col", layout == "col"
		got := w.fragment(WmmaMatrix(name[0]), ptx.TypeByName(typ))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", head, got, want)
		}
		n++
	}
	if n != 148 {
		t.Errorf("%d fragments, want 148", n)
	}
}

// TestRowsOfWmma checks that fragments hold every element of the loaded rows, and that a store of C writes each element
// once.
func TestRowsOfWmma(t *testing.T) {
	for _, sm := range []int{70, 75, 80} {
		for _, shape := range []string{"m16n16k16", "m8n32k16", "m32n8k16"} {
			for _, m := range []WmmaMatrix{WmmaA, WmmaB, WmmaC} {
				for _, col := range []bool{false, true} {
					w := Wmma{SM: sm, ACol: col, BCol: col}
					fmt.Sscanf(shape, "m%dn%dk%d", &w.M, &w.N, &w.K)
					tile := w.Tile(m, ptx.F16, col)
					seen := map[place]int{}
					for _, pos := range tile.places {
						seen[pos]++
					}
					rows, cols := w.extent(m)
					if len(seen) != rows*cols || len(seen)*tile.Bits/8 != tile.Rows*tile.Bytes || m == WmmaC && len(tile.places) != len(seen) {
						t.Errorf("sm_%d %s %c: %d elements of %d×%d", sm, shape, m, len(seen), rows, cols)
					}
				}
			}
		}
	}
}
