package warp

// This file is the default policy, auto. A kernel without a deadlock under the stack runs in its order, with its
// counts. A kernel with a deadlock under the stack continues by these rules:
//
// A warp split waits at a collective instruction or a barrier with absent lanes, and further warp splits run. If none
// can run, lanes at the innermost reconvergence point continue alone.
//
// When the launch makes no progress any more (see grid.go), warp splits give way to the next if they spend their time
// slice in a spin-wait. If all ready warp splits have spun for some time slices, lanes at the innermost reconvergence
// point continue alone.

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
	w.WaitingSplits = slices.Insert(w.WaitingSplits, 0, w.WarpSplit) // below all warp splits
	w.Mask = 0
	scheduleSplit(w)
}
