package simt

// This file is what policies share under which strands take turns, so that lanes of a
// warp can wait for each other.

import "gemu/interp/internal/code"

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
	w.cta.open[w.pc] = true
	for i := range w.others {
		w.others[i].spun = 0
	}
	if w.pc == w.stop {
		t.arrive(w, w.pc)
	}
	return true
}

// urgency is where a strand at the block comes among those of a branch, where strands take
// turns: those that go on to something else than waiting first, for others may wait for them.
func urgency(b *code.Block) int {
	if b.MayWait {
		return 1
	}
	return 0
}
