package warp

// This file is the policy pc2: the scheme of FG-SIMT with two stacks ordered by program counter (Kim et al., ISCA 2013,
// section 2, after Lee et al., ISCA 2011). The warp split at the lowest address runs. Lanes that have taken a backward
// branch belong to the next iteration. They are deferred (WarpSplit.Deferred) until the current iteration has no lanes
// left. Therefore lanes at the end of an iteration wait for the lanes that are still inside it.

import (
	"gemu/interp/internal/machine"
)

type pc2 struct{}

func (pc2) before(w *machine.Warp, a, b *machine.WarpSplit) bool {
	if a.Deferred != b.Deferred {
		return b.Deferred
	}
	return a.PC < b.PC
}

func (pc2) jumped(c *machine.WarpSplit, from int32) { c.Deferred = c.Deferred || c.PC <= from }

// splitChosen begins the next iteration if the chosen split is deferred: then all ready splits in calls of this depth are
// deferred, and none of them is any more.
func (pc2) splitChosen(w *machine.Warp) {
	if !w.Deferred {
		return
	}
	w.Deferred = false
	for i := range w.WaitingSplits {
		if c := &w.WaitingSplits[i]; c.Frame.Depth == w.Frame.Depth {
			c.Deferred = false
		}
	}
}
