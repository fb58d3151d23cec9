package warp

// This file is the policy auto, the default: the order of the stack, and so its counts,
// for all that runs under it; and forward progress for what does not. What would be a
// deadlock under the stack goes on by these rules:
//
// A warp split that comes to a collective instruction or a barrier whose lanes are elsewhere
// waits, and others run. If none can, lanes at the innermost join go on alone.
//
// When the launch as a whole does not get on any more (grid.go says when that is),
// warp splits that spend their turn in a loop that may wait give way to the next. If all
// that can run have spun for some turns, lanes at the innermost join go on alone.

import (
	"slices"

	"gemu/interp/internal/machine"
)

type auto struct{ Stack }

func (s *auto) Expire(w *machine.Warp) {
	chargeLoop(w)
	if s.release(w) || w.LoopInstrs == 0 || !slices.ContainsFunc(w.WaitingSplits, func(c machine.WarpSplit) bool { return c.Wait == nil }) {
		return
	}
	w.WaitingSplits = slices.Insert(w.WaitingSplits, 0, w.WarpSplit) // below all others
	w.Mask = 0
	scheduleSplit(w)
}
