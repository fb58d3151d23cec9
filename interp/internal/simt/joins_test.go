package simt

import (
	"math/rand/v2"
	"testing"

	"gemu/interp/internal/code"
)

// Every lane runs along its own path, and diverged lanes meet at the join, all but
// those that have ended; warp splits are disjoint and none is empty.
func TestJoins(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		const exit = 1000
		fr := &frame{fn: &code.Func{}}
		w := &warp{cta: &cta{}, rc: new(stack), warpProgress: warpProgress{live: 0xffffffff}, shownFrame: fr}
		w.resume(warpSplit{mask: w.live, frame: fr})
		expected := map[int32]uint64{} // lanes at each join
		next := int32(1)
		for step := 0; w.pc != exit; step++ {
			all := uint64(0)
			for _, c := range w.splits() {
				if c.mask == 0 || c.mask&all != 0 {
					t.Fatalf("seed %d: warp split with lanes %#x next to %#x", seed, c.mask, all)
				}
				all |= c.mask
			}
			if want, ok := expected[w.pc]; ok && w.mask != want&w.live {
				t.Fatalf("seed %d: lanes %#x meet at block %d, want %#x", seed, w.mask, w.pc, want&w.live)
			}
			takenLanes := r.Uint64() & w.mask
			if step < 20 && takenLanes != 0 && takenLanes != w.mask && r.IntN(3) > 0 {
				join := next + 500
				if w.reconvergence != nil && r.IntN(3) == 0 {
					join = w.reconvergence.pc // a branch whose paths meet where the outer ones do
				} else {
					expected[join] = w.mask
				}
				w.diverge([]laneGroup{{next + 1, w.mask &^ takenLanes}, {next, takenLanes}}, join)
				next += 2
				continue
			}
			if r.IntN(8) == 0 && w.mask&(w.mask-1) != 0 {
				w.end(nil, w.mask&-w.mask)
			}
			if w.reconvergence == nil {
				w.jump(exit)
			} else {
				w.jump(w.reconvergence.pc)
			}
		}
		if w.mask != w.live || len(w.waitingSplits) != 0 {
			t.Fatalf("seed %d: lanes %#x of %#x reach the end, with %d other warp splits", seed, w.mask, w.live, len(w.waitingSplits))
		}
	}
}
