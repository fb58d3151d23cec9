package main

import (
	"math"
	"testing"
)

// However much lives, there may be 64 MiB of garbage, and as much as lives, and a percentage is one that Go takes.
func TestGrowth(t *testing.T) {
	for live := uint64(1); live < 1<<40; live *= 3 {
		p := growth(live)
		if got := max(live, 1<<20) * uint64(p) / 100; got < min(live, roomy) || live >= roomy && p != 100 || live < roomy && got < roomy*99/100 || p > math.MaxInt32 {
			t.Errorf("%d bytes live: %d percent", live, p)
		}
	}
}
