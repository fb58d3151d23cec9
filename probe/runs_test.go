package probe_test

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"gemu/probe"
)

// countRuns returns the number of runs of the lanes, each as long as possible.
func countRuns(addr []uint64, lanes uint64) (runs int) {
	var list []int
	for ; lanes != 0; lanes &= lanes - 1 {
		list = append(list, bits.TrailingZeros64(lanes))
	}
	for ; len(list) > 0; runs++ {
		first, n := list[0], 1
		if len(list) > 1 {
			stride := int64(addr[list[1]]-addr[first]) / int64(list[1]-first)
			for n < len(list) && addr[list[n]] == addr[first]+uint64(stride*int64(list[n]-first)) {
				n++
			}
		}
		list = list[n:]
	}
	return runs
}

// TestAddressRuns checks, for random sets of lanes and addresses, that each lane is in exactly one run, that the run gives the
// lane's address, and that a run's span begins at its lowest address and ends at its highest. If the lanes
// have more than four runs, there is none.
func TestAddressRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	counts := map[int]int{}
	for range 4096 {
		a := probe.Access{Addr: make([]uint64, 64)}
		lanes := random.Uint64() | random.Uint64()
		if lanes >>= random.IntN(64); lanes == 0 {
			continue
		}
		addr, stride := random.Uint64()>>random.IntN(64), uint64(0)
		width := 1 << random.IntN(7)
		for i := range a.Addr {
			if i%width == 0 {
				addr, stride = addr+uint64(random.IntN(512)), uint64(random.IntN(9)-4)*4
			}
			a.Addr[i] = addr
			addr += stride
		}
		runs := a.Runs(lanes)
		counts[len(runs)]++
		all := uint64(0)
		for _, r := range runs {
			if all&r.Lanes != 0 || r.Lanes == 0 {
				t.Fatalf("runs %+v of lanes %#x", runs, lanes)
			}
			all |= r.Lanes
			first := bits.TrailingZeros64(r.Lanes)
			var list []uint64
			for m := r.Lanes; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				if list = append(list, a.Addr[i]); r.Addr+uint64(r.Stride)*uint64(i-first) != a.Addr[i] {
					t.Fatalf("lane %d is at %#x, by %+v elsewhere", i, a.Addr[i], r)
				}
			}
			low, size, ok := r.Span()
			if least, maxAddr := slices.Min(list), slices.Max(list); ok && (low != least || low+size != maxAddr) {
				t.Fatalf("%+v from %#x to %#x, not by %#x", r, least, maxAddr, size)
			}
		}
		if len(runs) > 0 && all != lanes || len(runs) == 0 && countRuns(a.Addr, lanes) <= 4 {
			t.Fatalf("runs %+v of lanes %#x, want %d runs", runs, lanes, countRuns(a.Addr, lanes))
		}
	}
	for n := range 5 {
		if counts[n] == 0 {
			t.Errorf("nothing has %d runs: %v", n, counts)
		}
	}
}
