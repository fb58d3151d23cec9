package kernels

import (
	"fmt"
	"testing"

	"gemu/interp"
)

// TestBFSSearches checks that the search reaches nodes even if the middle node of the graph has no edges, as with 4096
// nodes.
func TestBFSSearches(t *testing.T) {
	for _, n := range []int{33, 100, 300, 1000, 2048, 4096} {
		s := start(t, "bfs", interp.Config{}, n)
		if err := Lookup("bfs").Run(s); err != nil {
			t.Fatalf("n = %d: %v", n, err)
		}
		var reached, nodes, edges, levels int
		if _, err := fmt.Sscanf(s.Summary, "reached %d of %d nodes over %d edges in %d levels", &reached, &nodes, &edges, &levels); err != nil {
			t.Fatal(err)
		}
		if reached < n/2 || levels < 2 {
			t.Errorf("n = %d: %s", n, s.Summary)
		}
	}
}

// TestBFSRoot checks that the root is the first node with an edge to a different node, from the middle on, or else from 0.
func TestBFSRoot(t *testing.T) {
	for _, c := range []struct {
		first, edges []int32
		root         int
		leads        bool
	}{
		{[]int32{0, 0}, nil, 0, false},
		{[]int32{0, 2}, []int32{0, 0}, 0, false}, // to itself
		{[]int32{0, 0, 0, 1, 2}, []int32{2, 0}, 3, true},
		{[]int32{0, 1, 1, 1}, []int32{2}, 0, true},
		{[]int32{0, 1, 2}, []int32{1, 0}, 1, true},
	} {
		if root, leads := bfsRoot(c.first, c.edges); root != c.root || leads != c.leads {
			t.Errorf("%v, %v: %d, %v, want %d, %v", c.first, c.edges, root, leads, c.root, c.leads)
		}
	}
}
