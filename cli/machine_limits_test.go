package cli

import (
	"slices"
	"strings"
	"testing"

	"gemu/machine"
)

// TestLimits has the limits of counts, by hand.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts machine.Counts
		want   []string // begins of the sentences
	}{
		// 32 lanes load 4 bytes each from 32 sectors.
		{"strided loads", machine.Counts{Requests: 10, Loads: 320, L1Misses: 320, UsedBytes: 1280, L1Compulsory: 320, L2Misses: 320, Reads: 320, CompulsoryReads: 320},
			[]string{"A request takes 32.0 sectors, but its bytes would fit in 4.0:", "First use of the data: 320 of 320 reads."}},
		// All lanes load the same 4 bytes: a request takes a sector at least.
		{"one word", machine.Counts{Requests: 10, Loads: 10, L1Hits: 10, UsedBytes: 40}, []string{"The L1 has nearly all"}},
		{"a small L2", machine.Counts{Requests: 10, Loads: 40, L1Misses: 40, L1Compulsory: 40, UsedBytes: 1280, L2Misses: 40, Reads: 40, CompulsoryReads: 10},
			[]string{"First use of the data: 10 of 40 reads.", "Data that have been in the L2 before: 30 of 40 reads. Work on a part of the data at a time, or take a larger L2: one of 64 KiB",
				"First use on a multiprocessor, and the L2 has the data: 30 of 40 loads."}},
		{"a small L1", machine.Counts{Requests: 10, Loads: 40, L1Misses: 40, L1Compulsory: 10, UsedBytes: 1280, L2Hits: 30, L2Misses: 10, Reads: 10, CompulsoryReads: 10},
			[]string{"First use of the data: 10 of 10 reads.", "Data that left the L1 between two uses: 30 of 40 loads."}},
		{"bypasses", machine.Counts{Requests: 1, Loads: 4, L1Misses: 4, L1Bypasses: 4, UsedBytes: 128, L2Hits: 4}, []string{"The cache operator or the memory order bypasses the L1: 4 of 4 loads."}},
		{"whole stores", machine.Counts{Requests: 1, Stores: 4, UsedBytes: 128, L2Misses: 4}, []string{"Its stores take as few"}},
		{"stores of bytes", machine.Counts{Requests: 1, Stores: 2, UsedBytes: 40, L2Misses: 2, Reads: 1, StoreReads: 1}, []string{"Stores of a part of a sector: 1 of 1 reads."}},
		{"atomics", machine.Counts{Requests: 1, Atomics: 1, UsedBytes: 4, L2Hits: 1}, []string{"Sectors of atomics, which the L2 executes: 1."}},
	} {
		got := limitsOf(&c.counts, 64<<10)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
