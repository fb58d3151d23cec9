package warp

// This file has the operations on warp splits. A warp begins as one warp split. Where its lanes diverge, the split becomes
// several, of which one runs at a time. A Reconverger decides which split runs, and where lanes reconverge.

import (
	"hash/maphash"

	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/regfile"
)

// newFrame returns the frame for a call of function target from frame w.Frame, at the end of block b. The callee's local
// frame begins at word local. If the last call from w.Frame was the same, newFrame returns its frame again.
func newFrame(w *machine.Warp, b *code.Block, target *code.Func, local int) *machine.Frame {
	fr := w.Frame
	if c := fr.LastCallee; c != nil && c.Call == b && c.Func == target && c.Local == local {
		return c
	}
	fr.LastCallee = &machine.Frame{Func: target, Caller: fr, Call: b, Base: fr.Base.Add(fr.Func.Frame), Local: local, Depth: fr.Depth + 1}
	if t := fr.Counterpart; t != nil {
		fr.LastCallee.Counterpart = &machine.Frame{Func: w.Check.Funcs[target.Index], Caller: t, Call: b, Base: t.Base.Add(t.Func.Frame), Local: local, Depth: t.Depth + 1, Counterpart: fr.LastCallee}
	}
	return fr.LastCallee
}

// addToGroup adds lanes to the group that continues at pc, or appends a group for them.
func addToGroup(groups []machine.BranchGroup, pc int32, lanes uint64) []machine.BranchGroup {
	for i := range groups {
		if groups[i].PC == pc {
			groups[i].Mask |= lanes
			return groups
		}
	}
	return append(groups, machine.BranchGroup{PC: pc, Mask: lanes})
}

// ResumeSplit makes c the running warp split.
func ResumeSplit(w *machine.Warp, c machine.WarpSplit) {
	w.WarpSplit = c
	w.ShowWindow(c.Frame)
	beginTimeSlice(w)
	w.ReconvergeAt = machine.NoBlock
	if c.Reconvergence != nil && c.Reconvergence.Frame == c.Frame {
		w.ReconvergeAt = c.Reconvergence.PC
	}
}

// splitOff removes lanes from the running warp split, and returns a copy of the split with only these lanes.
func splitOff(w *machine.Warp, lanes uint64) machine.WarpSplit {
	c := w.WarpSplit
	c.Mask = lanes
	w.Mask &^= lanes
	return c
}

// takeSplit removes waiting warp split i, and returns it.
func takeSplit(w *machine.Warp, i int) machine.WarpSplit {
	c := w.WaitingSplits[i]
	w.WaitingSplits = append(w.WaitingSplits[:i], w.WaitingSplits[i+1:]...)
	return c
}

// jumpTo continues the running warp split at block pc, and notifies the policy if necessary.
func jumpTo(w *machine.Warp, pc int32) {
	if pc == w.ReconvergeAt || w.NotifyEveryBlock {
		enterBlock(w, pc)
		return
	}
	w.PC = pc
}

// enterBlock jumps to a block at which the policy may have to act.
func enterBlock(w *machine.Warp, pc int32) {
	from := w.PC
	w.PC = pc
	if pc == w.ReconvergeAt || len(w.WaitingSplits) > 0 {
		w.Reconverger.Arrive(w, from)
	}
}

// findMergeable returns the index of a waiting warp split that c can merge with; -1 if there is none.
func findMergeable(w *machine.Warp, c *machine.WarpSplit) int {
	for i := range w.WaitingSplits {
		other := &w.WaitingSplits[i]
		if c.PC == other.PC && c.Reconvergence == other.Reconvergence && c.Deferred == other.Deferred && other.Wait == nil && c.Frame.SameCalls(other.Frame) {
			return i
		}
	}
	return -1
}

// mergeSplits merges waiting warp splits at the same place in the same calls.
func mergeSplits(w *machine.Warp) {
	for i := len(w.WaitingSplits) - 1; i > 0; i-- {
		c := w.WaitingSplits[i]
		if k := findMergeable(w, &c); c.Wait == nil && k < i {
			w.WaitingSplits[i].Mask |= w.WaitingSplits[k].Mask
			countReconvergence(w, &w.WaitingSplits[i])
			takeSplit(w, k)
		}
	}
}

// scheduleSplit makes a ready warp split the running split if none runs. If no split can run, the warp arrives at a barrier,
// traps or ends.
func scheduleSplit(w *machine.Warp) {
	for w.State == machine.ReadyToRun && w.Err == nil {
		switch {
		case w.Mask != 0:
			return
		case w.Live|w.AtExit == 0:
			w.State = machine.HasEnded
			event.EmitLanes(w, probe.OnWarpEnd, nil, 0)
		case w.Reconverger.Next(w) || w.Reconverger.ReleaseEarly(w):
			if w.PC == w.ReconvergeAt {
				w.Reconverger.Arrive(w, w.PC)
			}
		default:
			checkAlignedBarrier(w)
		}
	}
}

// WindowSize returns the number of register rows of each slot that the warp splits use.
func WindowSize(w *machine.Warp) (n regfile.Size) {
	for _, c := range w.Splits() {
		top := c.Frame.Base.Add(c.Frame.Func.Frame)
		n.R, n.Q, n.P = max(n.R, top.R), max(n.Q, top.Q), max(n.P, top.P)
	}
	return n
}

// HashWarp adds the state that determines how the warp continues, without registers and memory, to a hash.
func HashWarp(w *machine.Warp, h *maphash.Hash) {
	for _, c := range w.Splits() {
		hashSplit(w, h, &c)
	}
	if w.TimeSliced {
		maphash.WriteComparable(h, w.SliceLeft)
		maphash.WriteComparable(h, w.Changed)
	}
}

// hashSplit adds the state of a warp split to a hash.
func hashSplit(w *machine.Warp, h *maphash.Hash, c *machine.WarpSplit) {
	type place struct {
		pc    int32
		mask  uint64
		frame int
	}
	maphash.WriteComparable(h, place{c.PC, c.Mask, c.Frame.Depth})
	maphash.WriteComparable(h, c.LoopInstrs)
	maphash.WriteComparable(h, c.Deferred)
	for fr := c.Frame; fr.Caller != nil; fr = fr.Caller {
		maphash.WriteComparable(h, fr.Call)
		maphash.WriteComparable(h, fr.Local)
	}
	for j := c.Reconvergence; j != nil; j = j.Outer {
		maphash.WriteComparable(h, [2]uint64{j.Lanes, j.Arrived})
		maphash.WriteComparable(h, place{pc: j.PC, frame: j.Frame.Depth})
	}
	if b := c.Wait; b != nil {
		wait := *b
		wait.Generation = 0
		maphash.WriteComparable(h, wait)
	}
}
