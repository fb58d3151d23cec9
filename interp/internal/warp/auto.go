package warp

// This file is the default policy, auto. A kernel that has no deadlock under policy stack runs in the same order and has
// the same counts as under stack. A kernel that has one continues by these rules:
//
// A warp split waits at a collective instruction or a barrier with absent lanes, and further warp splits run. If none
// can run, lanes at the innermost reconvergence point continue alone.
//
// When the launch makes no progress any more (see package grid), warp splits are time-sliced: after a time slice in a
// possible spin-wait, the next ready warp split runs. If all ready warp splits have spun for some time slices, lanes at the
// innermost reconvergence point continue alone.

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
	w.WaitingSplits = slices.Insert(w.WaitingSplits, 0, w.WarpSplit) // at the bottom of the stack, so it runs last
	w.Mask = 0
	scheduleSplit(w)
}
