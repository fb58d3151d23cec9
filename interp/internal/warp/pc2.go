package warp

// This file is the policy pc2: the two-stack scheme ordered by program counter of FG-SIMT (Kim et
// al., ISCA 2013, section 2, after Lee et al., ISCA 2011). The warp split at the lowest address
// runs. Lanes of a backward branch belong to the next iteration: they wait on a list of their own
// until the present iteration has no lanes left, and then the lists change places. Therefore lanes
// at the end of an iteration wait for the lanes still inside it.

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

// splitChosen: a warp split of the next time round runs only when there is none of this, in calls
// as deep.
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
