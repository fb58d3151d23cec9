package occupancy

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"
)

// TestResultsOfCalculator compares with the results of NVIDIA's occupancy calculator: testdata/reference.c, with
// cuda_occupancy.h of CUDA 13.5.
func TestResultsOfCalculator(t *testing.T) {
	f, err := os.Open("testdata/reference.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, row := range rows[1:] {
		var n [5]int
		for i := range n {
			if n[i], err = strconv.Atoi(row[i]); err != nil {
				t.Fatal(err)
			}
		}
		sm, want := n[0], n[4]
		seen[sm] = true
		l := LimitsOf(sm)
		if l.SM != sm {
			t.Fatalf("no limits of %d", sm)
		}
		if got, limiter := l.Resident(Block{Threads: n[1], Registers: n[2], Shared: n[3]}); got != want {
			t.Errorf("sm_%d, blocks of %d threads, %d registers, %d bytes: %d by %s, want %d", sm, n[1], n[2], n[3], got, limiter, want)
		}
	}
	for i := range Generations {
		if !seen[Generations[i].SM] {
			t.Errorf("the reference has nothing of %d", Generations[i].SM)
		}
	}
}

// TestLimitingResource: the reported limit.
func TestLimitingResource(t *testing.T) {
	for _, c := range []struct {
		Block
		blocks int
		by     Limit
	}{
		{Block{Threads: 32}, 16, LimitedByBlocks}, // as sm_86 has it: 1536 threads, 16 blocks, 100 KiB, 64 Ki registers
		{Block{Threads: 512}, 3, LimitedByWarps},
		{Block{Threads: 128, Shared: 24 << 10}, 4, LimitedByShared},
		{Block{Threads: 128, Shared: 100 << 10}, 0, LimitedByShared},
		{Block{Threads: 256, Registers: 128}, 2, LimitedByRegisters},
		{Block{Threads: 1024, Registers: 65}, 0, LimitedByRegisters},
	} {
		if n, limiter := LimitsOf(86).Resident(c.Block); n != c.blocks || limiter != c.by {
			t.Errorf("%+v: %d blocks by %s, want %d by %s", c.Block, n, limiter, c.blocks, c.by)
		}
	}
	for sm, want := range map[int]int{30: 35, 86: 86, 88: 87, 101: 100, 200: 121} {
		if got := LimitsOf(sm).SM; got != want {
			t.Errorf("sm_%d has the limits of %d, want %d", sm, got, want)
		}
	}
}
