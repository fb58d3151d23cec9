package simt

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

import "slices"

type auto struct{ stack }

func (s *auto) expire(w *warp) {
	w.chargeLoop()
	if s.release(w) || w.loopInstrs == 0 || !slices.ContainsFunc(w.waitingSplits, func(c warpSplit) bool { return c.wait == nil }) {
		return
	}
	w.waitingSplits = slices.Insert(w.waitingSplits, 0, w.warpSplit) // below all others
	w.mask = 0
	w.schedule()
}
