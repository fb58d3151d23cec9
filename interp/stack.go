package interp

// This file is the reconvergence stack: which lanes of a warp run where.

import "fmt"

// entry is a level of the stack: the lanes of mask continue at block pc; when
// they get to block rpc they wait for the lanes of the entry below.
type entry struct {
	pc, rpc int32
	mask    uint64
}

// noBlock is the rpc of an entry that nobody waits for.
const noBlock = -1

// stack is the immediate-post-dominator scheme: where a branch splits the
// active lanes, the entry becomes a join at the branch's immediate
// post-dominator and each path gets an entry of its own; a path that arrives
// there is popped, and the join goes on with all lanes when it comes to the top.
//
// The masks of the paths of a split are disjoint and together with the lanes
// that went to the join directly make up the join's mask.
type stack struct {
	entry            // the top: the active lanes
	below    []entry // the rest, the bottom first
	diverged int64   // splits
}

// reset starts the lanes of mask at block pc.
func (s *stack) reset(pc int32, mask uint64) {
	s.entry = entry{pc, noBlock, mask}
	s.below = s.below[:0]
}

// push saves the active entry to be continued, and makes e active.
func (s *stack) push(e entry) {
	s.below = append(s.below, s.entry)
	s.entry = e
}

// pop drops the active entry and continues the one below. It must not be called
// on the last.
func (s *stack) pop() {
	n := len(s.below) - 1
	s.entry = s.below[n]
	s.below = s.below[:n]
}

// split sends the lanes of a to block ta and the others to block tb; they meet
// again at join. Lanes that go to join at once wait there. The others run a's
// path after b's.
func (s *stack) split(a uint64, ta, tb, join int32) {
	b := s.mask &^ a
	s.diverged++
	if join != s.rpc {
		// The active entry turns into the join; otherwise the one below is it.
		s.below = append(s.below, entry{join, s.rpc, s.mask})
	}
	switch {
	case ta == join:
		s.entry = entry{tb, join, b}
	case tb == join:
		s.entry = entry{ta, join, a}
	default:
		s.below = append(s.below, entry{ta, join, a})
		s.entry = entry{tb, join, b}
	}
}

// group is lanes that go to the same block.
type group struct {
	pc   int32
	mask uint64
}

// fan is split for any number of groups, in the order they are to run; together
// they are the active lanes.
func (s *stack) fan(groups []group, join int32) {
	if len(groups) > 1 {
		s.diverged++
		if join != s.rpc {
			s.below = append(s.below, entry{join, s.rpc, s.mask})
		}
	} else {
		join = s.rpc
	}
	first := true
	for _, g := range groups {
		switch {
		case g.pc == join && len(groups) > 1: // waits in the entry below
		case first:
			s.entry = entry{g.pc, join, g.mask}
			first = false
		default:
			s.below = append(s.below, entry{g.pc, join, g.mask})
		}
	}
}

// remove takes lanes that have ended out of every entry.
func (s *stack) remove(lanes uint64) {
	s.mask &^= lanes
	for i := range s.below {
		s.below[i].mask &^= lanes
	}
}

// check panics if the invariants of the stack do not hold; it is for tests.
func (s *stack) check() {
	all := append(append([]entry{}, s.below...), s.entry)
	for i, e := range all {
		for _, f := range all[i+1:] {
			if e.mask&f.mask != 0 && f.mask&^e.mask != 0 {
				panic(fmt.Sprintf("BUG: reconvergence stack: masks %#x and %#x overlap without nesting", e.mask, f.mask))
			}
		}
	}
}
