package simt

// This file is the policy its, after the independent thread scheduling of GPUs since
// Volta: each lane has a program counter of its own. Lanes that branches part run in
// turn, and meet at convergence barriers, the branches' immediate post-dominators. So
// lanes of a warp can wait for each other. They can so across a convergence barrier,
// too: where those that run only spin, lanes that wait for them there go on alone.

type its struct{ reconvergences }

func (s *its) expire(w *warp) {
	w.chargeLoop()
	if !s.release(w) {
		w.waitingSplits = append(w.waitingSplits, w.warpSplit)
		w.mask = 0
		w.schedule()
	}
}

// next takes the warp split that has waited longest.
func (s *its) next(w *warp) bool {
	for i := range w.waitingSplits {
		if w.waitingSplits[i].wait == nil {
			w.resume(w.takeSplit(i))
			return true
		}
	}
	return false
}
