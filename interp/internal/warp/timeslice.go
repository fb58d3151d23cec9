package warp

// This file has the common parts of policies with time slices, under which lanes of a warp can wait for each other.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// The weights of a warp split's time slice in a spin-wait loop, and the limit from which lanes waiting for it continue
// without it. A time slice in which memory has changed was perhaps useful.
const (
	spunIdle  = 64
	spunBusy  = 1
	spunLimit = 64
)

// chargeLoop adds the time slice of the running warp split to its weight.
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

// MayWaitAt reports whether a warp split is in a loop that may be a spin-wait.
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

// release lets lanes waiting at the innermost reconvergence point continue alone, if all ready warp splits have spun
// for long enough.
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

// urgency orders the warp splits of a branch under time slices: splits that go to a spin-wait come last, because they
// may wait for the splits before them.
func urgency(b *code.Block) int {
	if b.MayWait {
		return 1
	}
	return 0
}
