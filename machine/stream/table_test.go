package stream_test

import (
	"math/rand/v2"
	"testing"

	"gemu/internal/part"
	"gemu/machine/stream"
)

// TestTable compares a table with a map, with lines next to each other and far apart.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 3))
	var table stream.Table[int]
	want := map[uint64]int{}
	for i := range 10000 {
		line := uint64(rng.IntN(8))<<40 + uint64(rng.IntN(200))
		if rng.IntN(2) == 0 {
			*table.At(line) = i + 1
			want[line] = i + 1
		}
		got := 0
		if v := table.Find(line); v != nil {
			got = *v
		}
		if got != want[line] {
			t.Fatalf("line %#x has %d, want %d", line, got, want[line])
		}
	}
	values := 0
	for line, v := range table.All() {
		if *v != want[line] {
			t.Errorf("line %#x has %d, want %d", line, *v, want[line])
		}
		if *v != 0 {
			values++
		}
	}
	if values != len(want) {
		t.Errorf("%d values, want %d", values, len(want))
	}
}
