package warp

// This file is what policies share under which warp splits take turns, so that lanes of a
// warp can wait for each other.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// How much the turns of a warp split count that it has spent in a loop that may wait, and
// how much it takes for lanes that wait for it to go on without. A turn in which
// memory has changed was rather not for nothing.
const (
	spunIdle  = 64
	spunBusy  = 1
	spunLimit = 64
)

// chargeLoop notes how the running warp split has spent its turn.
func chargeLoop(w *machine.Warp) {
	switch {
	case !MayWaitAt(w, &w.WarpSplit):
		w.LoopInstrs = 0
	case w.Changed:
		w.LoopInstrs = min(w.LoopInstrs+spunBusy, spunLimit)
	default:
		w.LoopInstrs = min(w.LoopInstrs+spunIdle, spunLimit)
	}
}

// MayWaitAt reports whether a warp split is in a loop that may wait.
func MayWaitAt(w *machine.Warp, c *machine.WarpSplit) bool {
	b := w.CTA.Code.Block(c.PC)
	for fr := c.Frame; ; fr = fr.Caller {
		if b.MayWait {
			return true
		}
		if b = fr.Call; b == nil {
			return false
		}
	}
}

// release lets lanes at the innermost join where some wait go on alone if all that
// could run has spun for long enough.
func (t *Reconvergences) release(w *machine.Warp) bool {
	for i := range w.WaitingSplits {
		if c := &w.WaitingSplits[i]; c.Wait == nil && c.LoopInstrs < spunLimit {
			return false
		}
	}
	if w.LoopInstrs < spunLimit {
		return false
	}
	w.WaitingSplits = append(w.WaitingSplits, w.WarpSplit)
	if !t.ReleaseEarly(w) {
		w.WarpSplit = takeSplit(w, len(w.WaitingSplits)-1)
		return false
	}
	w.CTA.ReleasedBlocks[w.PC] = true
	for i := range w.WaitingSplits {
		w.WaitingSplits[i].LoopInstrs = 0
	}
	if w.PC == w.ReconvergeAt {
		t.Arrive(w, w.PC)
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
