package interp

// This file is the policy its, after the independent thread scheduling of GPUs since
// Volta: each lane has a program counter of its own. Lanes that branches part run in
// turn, and meet at convergence barriers, the branches' immediate post-dominators. So
// lanes of a warp can wait for each other. They can so across a convergence barrier,
// too: where those that run only spin, lanes that wait for them there go on alone.

type its struct{ joins }

// turnLength is the share of a strand where strands take turns, in instructions.
const turnLength = 256

// How much the turns of a strand count that it has spent in a loop that may wait, and
// how much it takes for lanes that wait for it to go on without. A turn in which
// memory has changed was rather not for nothing.
const (
	spunIdle  = 64
	spunBusy  = 1
	spunLimit = 64
)

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

// spend notes how the running strand has spent its turn.
func (w *warp) spend() {
	switch {
	case !w.mayWait(&w.strand):
		w.spun = 0
	case w.changed:
		w.spun = min(w.spun+spunBusy, spunLimit)
	default:
		w.spun = min(w.spun+spunIdle, spunLimit)
	}
}

// mayWait reports whether a strand is in a loop that may wait.
func (w *warp) mayWait(c *strand) bool {
	b := w.cta.code.Block(c.pc)
	for fr := c.frame; ; fr = fr.caller {
		if b.MayWait {
			return true
		}
		if b = fr.call; b == nil {
			return false
		}
	}
}

// release lets lanes at the innermost join where some wait go on alone if all that
// could run has spun for long enough.
func (t *joins) release(w *warp) bool {
	for i := range w.others {
		if c := &w.others[i]; c.wait == nil && c.spun < spunLimit {
			return false
		}
	}
	if w.spun < spunLimit {
		return false
	}
	w.others = append(w.others, w.strand)
	if !t.part(w) {
		w.strand = w.take(len(w.others) - 1)
		return false
	}
	for i := range w.others {
		w.others[i].spun = 0
	}
	if w.pc == w.stop {
		t.arrive(w, w.pc)
	}
	return true
}
