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
			[]string{"First use of the data: 10 of 40 reads.", "Data that have been in the L2 before: 30 of 40 reads. ADVICE",
				"First use on a multiprocessor, and the L2 has the data: 30 of 40 loads."}},
		{"a small L1", machine.Counts{Requests: 10, Loads: 40, L1Misses: 40, L1Compulsory: 10, UsedBytes: 1280, L2Hits: 30, L2Misses: 10, Reads: 10, CompulsoryReads: 10},
			[]string{"First use of the data: 10 of 10 reads.", "Data that left the L1 between two uses: 30 of 40 loads."}},
		{"bypasses", machine.Counts{Requests: 1, Loads: 4, L1Misses: 4, L1Bypasses: 4, UsedBytes: 128, L2Hits: 4}, []string{"The cache operator or the memory order bypasses the L1: 4 of 4 loads."}},
		{"whole stores", machine.Counts{Requests: 1, Stores: 4, UsedBytes: 128, L2Misses: 4}, []string{"Its stores take as few"}},
		{"stores of bytes", machine.Counts{Requests: 1, Stores: 2, UsedBytes: 40, L2Misses: 2, Reads: 1, StoreReads: 1}, []string{"Stores of a part of a sector: 1 of 1 reads."}},
		{"atomics", machine.Counts{Requests: 1, Atomics: 1, UsedBytes: 4, L2Hits: 1}, []string{"Sectors of atomics, which the L2 executes: 1."}},
		{"a third of the loads miss", machine.Counts{Requests: 30, Loads: 120, L1Hits: 80, L1Misses: 40, L1Compulsory: 40, UsedBytes: 3840, L2Hits: 40}, []string{"Nothing stands out: the L1 has 66.7 % of the sectors of its loads, and the L2 has 100.0 % of the sectors"}},
		{"stores beside a sector", machine.Counts{Requests: 10, Stores: 50, UsedBytes: 1280, L2Hits: 50}, []string{"A request uses 80 % of the bytes of its sectors: let a warp access bytes without gaps, from a multiple of 32"}},
		{"stores with a few gaps", machine.Counts{Requests: 10, Stores: 42, UsedBytes: 1280, L2Hits: 42}, []string{"Nothing stands out: the L2 has 100.0 %"}},
		{"stores of whole sectors in whole lines", machine.Counts{Requests: 1, Stores: 1, UsedBytes: 32, L2Misses: 1, Reads: 4, StoreExtra: 4}, []string{"Stores of a part of a line, which memory transfers whole: 4 of 4 reads, of the other sectors."}},
	} {
		got := limitsOf(&c.counts, nil, "ADVICE")
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLimitsOfInstructions: a line with a coalesced and a scattered load has the sentence of the scattered one.
func TestLimitsOfInstructions(t *testing.T) {
	even := machineInstr{machinePlace{"k.ptx", 7}, machine.Counts{Requests: 10, Loads: 40, L1Hits: 40, UsedBytes: 1280}}
	wide := machineInstr{machinePlace{"k.ptx", 9}, machine.Counts{Requests: 10, Loads: 320, L1Hits: 320, UsedBytes: 1280}}
	sum := even.counts
	sum.Add(&wide.counts)
	want := "Of 2 instructions, that of k.ptx:9 takes the most sectors more than it needs. Its request takes 32.0 sectors, but its bytes would fit in 4.0:"
	if got := limitsOf(&sum, []machineInstr{even, wide}, ""); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestL2Advice: the advised size holds whole lines, and is a whole number of sets.
func TestL2Advice(t *testing.T) {
	s, _ := machine.Find("v100")
	s.L2.Bytes = 256 << 10
	for _, c := range []struct {
		footprint int64
		want      string
	}{
		{1 << 20, "one of 1024 KiB has room for the lines of all data (--sweep l2=1M)"},
		{1<<20 + 128, "one of 1026 KiB has room for the lines of all data (--sweep l2=1026K)"}, // a set is 2 KiB
		{256 << 10, "The L2 has room for all data, but not in each set"},
		{2 << 30, "or take a larger L2 (--sweep l2=SIZE,…)"}, // more than the caches of a machine may have
	} {
		if got := l2AdviceOf(&s, c.footprint); !strings.Contains(got, c.want) {
			t.Errorf("%d: %s, want %s", c.footprint, got, c.want)
		}
	}
}
