package simt

// This file is the policy its, after the independent thread scheduling of GPUs since
// Volta: each lane has a program counter of its own. Lanes that branches part run in
// turn, and meet at convergence barriers, the branches' immediate post-dominators. So
// lanes of a warp can wait for each other. They can so across a convergence barrier,
// too: where those that run only spin, lanes that wait for them there go on alone.

type its struct{ joins }

func (s *its) expire(w *warp) {
	w.spend()
	if !s.release(w) {
		w.others = append(w.others, w.strand)
		w.mask = 0
		w.schedule()
	}
}

// next takes the strand that has waited longest.
func (s *its) next(w *warp) bool {
	for i := range w.others {
		if w.others[i].wait == nil {
			w.resume(w.take(i))
			return true
		}
	}
	return false
}
