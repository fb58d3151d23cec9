package interp

import (
	"math/rand/v2"
	"testing"
)

// The stack runs every lane along its own path, lets diverged lanes meet at the
// join, and keeps its invariants: the lanes below contain those above.
func TestStack(t *testing.T) {
	// A random tree of splits. Every join must see all the lanes that were active
	// at its split, but those that have ended.
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		var s stack
		const exit = 1000
		s.reset(0, 0xffffffff)
		joins := map[int32]uint64{} // lanes expected at each join
		next := int32(1)
		live := uint64(0xffffffff)
		for step := 0; ; step++ {
			s.check()
			if s.mask == 0 {
				t.Fatalf("seed %d: an entry without lanes is active", seed)
			}
			if want, ok := joins[s.pc]; ok && s.mask != want&live {
				t.Fatalf("seed %d: lanes %#x meet at block %d, want %#x", seed, s.mask, s.pc, want&live)
			}
			if s.pc == exit {
				break
			}
			taken := r.Uint64() & s.mask
			if step < 20 && taken != 0 && taken != s.mask && r.IntN(3) > 0 {
				join := next + 500
				if s.rpc != noBlock && r.IntN(3) == 0 {
					join = s.rpc // a branch whose paths meet where the outer ones do
				} else {
					joins[join] = s.mask
				}
				s.split(taken, next, next+1, join)
				next += 2
				continue
			}
			if r.IntN(8) == 0 && s.mask&(s.mask-1) != 0 {
				// One lane ends.
				lane := s.mask & -s.mask
				live &^= lane
				s.remove(lane)
			}
			// Go on to the join, or to the end.
			if s.rpc == noBlock {
				s.pc = exit
				continue
			}
			s.pc = s.rpc
			for s.pc == s.rpc && len(s.below) > 0 {
				s.pop()
			}
		}
		if s.mask != live || len(s.below) != 0 {
			t.Fatalf("seed %d: lanes %#x of %#x reach the end, %d entries are left", seed, s.mask, live, len(s.below))
		}
	}
}
