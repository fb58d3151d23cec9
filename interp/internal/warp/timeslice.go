package warp

// This file has the common parts of policies with time slices, under which lanes of a warp can wait for each other.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// The weights of time slices in a possible spin-wait. WarpSplit.LoopInstrs is the sum of the weights of a split's last
// consecutive such time slices, at most spunLimit.
const (
	spunIdle  = 64 // a time slice in which the split has not changed memory
	spunBusy  = 1  // a time slice in which it has changed memory, which was perhaps useful
	spunLimit = 64 // sum from which lanes that wait for the split continue without it
)

// chargeLoop adds the weight of the ended time slice of the running warp split to its sum.
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

// release lets the lanes that wait at the innermost reconvergence point continue alone (ReleaseEarly) if all ready warp
// splits have reached spunLimit. It reports whether it released any lanes.
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

// urgency returns the rank of the group of lanes that continues at block b after a branch under time slices: groups with
// rank 0 run first. A group in a possible spin-wait has rank 1, because it may wait for the other groups.
func urgency(b *code.Block) int {
	if b.MayWait {
		return 1
	}
	return 0
}
