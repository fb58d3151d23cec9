package warp

// This file is the policy its, after the independent thread scheduling of GPUs since
// Volta: each lane has a program counter of its own. Lanes that branches part run in
// turn, and meet at convergence barriers, the branches' immediate post-dominators. So
// lanes of a warp can wait for each other. They can so across a convergence barrier,
// too: where those that run only spin, lanes that wait for them there go on alone.

import (
	"gemu/interp/internal/machine"
)

type its struct{ Reconvergences }

func (s *its) Expire(w *machine.Warp) {
	chargeLoop(w)
	if !s.release(w) {
		w.WaitingSplits = append(w.WaitingSplits, w.WarpSplit)
		w.Mask = 0
		scheduleSplit(w)
	}
}

// Next takes the warp split that has waited longest.
func (s *its) Next(w *machine.Warp) bool {
	for i := range w.WaitingSplits {
		if w.WaitingSplits[i].Wait == nil {
			ResumeSplit(w, takeSplit(w, i))
			return true
		}
	}
	return false
}
