package simt

// This file is what policies share under which warp splits take turns, so that lanes of a
// warp can wait for each other.

import "gemu/interp/internal/code"

// timeSlice is the share of a warp split where warp splits take turns, in instructions.
const timeSlice = 256

// How much the turns of a warp split count that it has spent in a loop that may wait, and
// how much it takes for lanes that wait for it to go on without. A turn in which
// memory has changed was rather not for nothing.
const (
	spunIdle  = 64
	spunBusy  = 1
	spunLimit = 64
)

// chargeLoop notes how the running warp split has spent its turn.
func (w *warp) chargeLoop() {
	switch {
	case !w.mayWait(&w.warpSplit):
		w.loopInstrs = 0
	case w.changed:
		w.loopInstrs = min(w.loopInstrs+spunBusy, spunLimit)
	default:
		w.loopInstrs = min(w.loopInstrs+spunIdle, spunLimit)
	}
}

// mayWait reports whether a warp split is in a loop that may wait.
func (w *warp) mayWait(c *warpSplit) bool {
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
func (t *reconvergences) release(w *warp) bool {
	for i := range w.waitingSplits {
		if c := &w.waitingSplits[i]; c.wait == nil && c.loopInstrs < spunLimit {
			return false
		}
	}
	if w.loopInstrs < spunLimit {
		return false
	}
	w.waitingSplits = append(w.waitingSplits, w.warpSplit)
	if !t.releaseEarly(w) {
		w.warpSplit = w.takeSplit(len(w.waitingSplits) - 1)
		return false
	}
	w.cta.releasedBlocks[w.pc] = true
	for i := range w.waitingSplits {
		w.waitingSplits[i].loopInstrs = 0
	}
	if w.pc == w.reconvergeAt {
		t.arrive(w, w.pc)
	}
	return true
}

// urgency is where a warp split at the block comes among those of a branch, where warp splits take
// turns: those that go on to something else than waiting first, for others may wait for them.
func urgency(b *code.Block) int {
	if b.MayWait {
		return 1
	}
	return 0
}
