package warp

// This file is the default policy, auto. Kernels that run under the stack run in its order, with its counts. Kernels
// that would deadlock under the stack continue by these rules:
//
// A warp split waits at a collective instruction or a barrier whose lanes are elsewhere, and other warp splits run. If
// none can run, lanes at the innermost reconvergence point continue alone.
//
// When the launch makes no progress any more (see grid.go), warp splits that spend their time slice in a spin-wait give
// way to the next. If all warp splits that can run have spun for some time slices, lanes at the innermost reconvergence
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
	w.WaitingSplits = slices.Insert(w.WaitingSplits, 0, w.WarpSplit) // below all others
	w.Mask = 0
	scheduleSplit(w)
}
