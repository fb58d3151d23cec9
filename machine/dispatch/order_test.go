package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"gemu/ptx"
)

// TestOrders has orders by hand.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		order string
		grid  ptx.Dim3
		want  []int
	}{
		{"linear", ptx.Dim(2, 2), []int{0, 1, 2, 3}},
		{"reverse", ptx.Dim(5), []int{4, 3, 2, 1, 0}},
		// Grid of 3×2: row 0 is 0 1 2, row 1 is 3 4 5.
		{"cluster:1,2,1", ptx.Dim(3, 2), []int{0, 3, 1, 4, 2, 5}},
		{"cluster:2,2", ptx.Dim(3, 2), []int{0, 1, 3, 4, 2, 5}},
		{"cluster:2x2", ptx.Dim(3, 2), []int{0, 1, 3, 4, 2, 5}},
		{"cluster:2", ptx.Dim(3, 2), []int{0, 1, 2, 3, 4, 5}},
		// Grid of 2×2×2, groups of 1×1×2: a CTA and the one above it.
		{"cluster:1,1,2", ptx.Dim(2, 2, 2), []int{0, 4, 1, 5, 2, 6, 3, 7}},
		{"cluster:9,9,9", ptx.Dim(2, 2), []int{0, 1, 2, 3}},
	} {
		order, err := Parse(c.order)
		if err != nil {
			t.Fatal(err)
		}
		if got := order(c.grid); !slices.Equal(got, c.want) {
			t.Errorf("%s of %s: %v, want %v", c.order, c.grid, got, c.want)
		}
	}
}

// TestShuffles: a shuffle is a permutation, equal for equal seeds.
func TestShuffles(t *testing.T) {
	grid := ptx.Dim(7, 3, 2)
	seen := map[string]bool{}
	for seed := range uint64(4) {
		list := Shuffle(seed)(grid)
		if !slices.Equal(list, Shuffle(seed)(grid)) {
			t.Errorf("seed %d gives two orders", seed)
		}
		seen[fmt.Sprint(list)] = true
		slices.Sort(list)
		if !slices.Equal(list, Linear(grid)) {
			t.Errorf("seed %d: no permutation", seed)
		}
	}
	if len(seen) != 4 {
		t.Errorf("4 seeds give %d orders", len(seen))
	}
}

// TestParseErrors has orders that do not exist.
func TestParseErrors(t *testing.T) {
	for _, text := range []string{"", "linear:1", "reverse:", "shuffle", "shuffle:-1", "shuffle:x", "cluster", "cluster:", "cluster:0", "cluster:1,2,3,4", "cluster:1,,1", "cluster:1xx1", "cluster:1x2,1", "cluster:99999999999", "spiral"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is an order", text)
		}
	}
}
