package simt

// This file is the policy pc2: the two-stack scheme ordered by program counter of
// FG-SIMT (Kim et al., ISCA 2013, section 2, after Lee et al., ISCA 2011). The strand at
// the lowest address runs. What a branch sends backwards is for the next time round: it
// waits on a list of its own until nothing is left of this time, and then the lists
// change places. So lanes that go round a loop wait for those that are still on the way.

type pc2 struct{}

func (pc2) before(w *warp, a, b *strand) bool {
	if a.late != b.late {
		return b.late
	}
	return a.pc < b.pc
}

func (pc2) jumped(c *strand, from int32) { c.late = c.late || c.pc <= from }

// chosen: a strand of the next time round runs only when there is none of this, in calls
// as deep.
func (pc2) chosen(w *warp) {
	if !w.late {
		return
	}
	w.late = false
	for i := range w.others {
		if c := &w.others[i]; c.frame.depth == w.frame.depth {
			c.late = false
		}
	}
}
