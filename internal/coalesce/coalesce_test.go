package coalesce

import (
	"math/rand/v2"
	"testing"
)

// TestIdealPasses: equal addresses, and elements next to each other, have no conflicts, for any lanes and sizes.
func TestIdealPasses(t *testing.T) {
	var c Conflicts
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		bytes := 1 << rng.IntN(5)
		lanes := rng.Uint64() & rng.Uint64()
		if rng.IntN(2) == 0 {
			lanes &= 1<<32 - 1
		}
		stride := bytes * rng.IntN(2)
		var addr [64]uint64
		base := uint64(rng.IntN(64) * bytes)
		for i := range addr {
			addr[i] = base + uint64(i*stride)
		}
		passes, ideal := c.Passes(addr[:], lanes, bytes, false)
		if got := IdealPasses(lanes, bytes); got != passes || got != ideal {
			t.Fatalf("lanes %x, %d bytes, distance %d: %d, want %d and %d", lanes, bytes, stride, got, passes, ideal)
		}
	}
}
