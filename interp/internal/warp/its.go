package warp

// This file is the policy its, after the independent thread scheduling of GPUs since Volta: each lane has a program
// counter of its own. Diverged lanes run in time slices and reconverge at convergence barriers, the immediate
// post-dominators of the branches. So lanes of a warp can wait for each other. This includes lanes at a convergence
// barrier: if the running lanes only spin, the lanes that wait there for them continue alone.

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

// Next resumes the ready warp split that has not run for the longest time.
func (s *its) Next(w *machine.Warp) bool {
	for i := range w.WaitingSplits {
		if w.WaitingSplits[i].Wait == nil {
			ResumeSplit(w, takeSplit(w, i))
			return true
		}
	}
	return false
}
