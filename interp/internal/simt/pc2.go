package simt

// This file is the policy pc2: the two-stack scheme ordered by program counter of
// FG-SIMT (Kim et al., ISCA 2013, section 2, after Lee et al., ISCA 2011). The warp split at
// the lowest address runs. What a branch sends backwards is for the next time round: it
// waits on a list of its own until nothing is left of this time, and then the lists
// change places. So lanes that go round a loop wait for those that are still on the way.

type pc2 struct{}

func (pc2) before(w *warp, a, b *warpSplit) bool {
	if a.deferred != b.deferred {
		return b.deferred
	}
	return a.pc < b.pc
}

func (pc2) jumped(c *warpSplit, from int32) { c.deferred = c.deferred || c.pc <= from }

// splitChosen: a warp split of the next time round runs only when there is none of this, in calls
// as deep.
func (pc2) splitChosen(w *warp) {
	if !w.deferred {
		return
	}
	w.deferred = false
	for i := range w.waitingSplits {
		if c := &w.waitingSplits[i]; c.frame.depth == w.frame.depth {
			c.deferred = false
		}
	}
}
