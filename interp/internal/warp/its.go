package warp

// This file is the policy its, after the independent thread scheduling of GPUs since Volta: each lane has a program
// counter of its own. Diverged lanes run in time slices and reconverge at convergence barriers, the immediate
// post-dominators of the branches. So lanes of a warp can wait for each other, also across a convergence barrier: if
// the running lanes only spin, lanes waiting for them there continue alone.

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

// Next resumes the warp split with the longest wait.
func (s *its) Next(w *machine.Warp) bool {
	for i := range w.WaitingSplits {
		if w.WaitingSplits[i].Wait == nil {
			ResumeSplit(w, takeSplit(w, i))
			return true
		}
	}
	return false
}
