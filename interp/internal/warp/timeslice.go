package warp

// This file has the common parts of policies with time slices, under which lanes of a warp can wait for each other.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
)

// The weights of an instruction of a time slice in a possible spin-wait. WarpSplit.LoopInstrs is the sum of the weights of
// a split's last consecutive such time slices, at most spunLimit. So the limit is 32 instructions in time slices without a
// change of memory, or 16384 in others; it is checked when a time slice ends.
const (
	spunIdle  = 512     // in a time slice in which the split has not changed memory
	spunBusy  = 1       // in a time slice in which it has changed memory, which was perhaps useful
	spunLimit = 1 << 14 // sum from which lanes that wait for the split continue without it
)

// beginTimeSlice gives the running warp split a new time slice.
func beginTimeSlice(w *machine.Warp) {
	w.SliceLeft, w.Changed = w.CTA.Grid.Reconverge.TimeSlice, false
}

// chargeLoop adds the weight of the ended time slice of the running warp split to its sum.
func chargeLoop(w *machine.Warp) {
	switch {
	case !MayWaitAt(w, &w.WarpSplit):
		w.LoopInstrs = 0
	case w.Changed:
		addLoopInstrs(w, spunBusy)
	default:
		addLoopInstrs(w, spunIdle)
	}
}

// addLoopInstrs adds a time slice whose instructions have a weight to the sum of the running warp split.
func addLoopInstrs(w *machine.Warp, weight int64) {
	w.LoopInstrs = int32(min(int64(w.LoopInstrs)+weight*int64(w.CTA.Grid.Reconverge.TimeSlice), spunLimit))
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
