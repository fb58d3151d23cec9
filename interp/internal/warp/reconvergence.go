package warp

// This file keeps the reconvergence points of a warp. Lanes that diverge at a branch reconverge at the branch's immediate
// post-dominator: lanes that arrive wait there, and when the last lane has arrived, all continue as one warp split.
// Reconvergence points nest as branches do.

import (
	"cmp"
	"slices"

	"gemu/interp/internal/machine"
)

// Reconvergences keeps the reconvergence points of a warp for a policy. The policy chooses which warp split runs.
type Reconvergences struct {
	Free []*machine.Reconvergence // unused objects
}

// open returns a reconvergence of the running warp split at block pc: its innermost, if that is at this block in the same
// call, otherwise a new one inside it.
func (t *Reconvergences) open(w *machine.Warp, pc int32) *machine.Reconvergence {
	outer := w.Reconvergence
	if outer != nil && outer.PC == pc && outer.Frame == w.Frame {
		return outer
	}
	j := t.NewReconvergence()
	*j = machine.Reconvergence{PC: pc, Frame: w.Frame, Outer: outer, Lanes: w.Mask}
	if outer != nil {
		j.Depth = outer.Depth + 1
	}
	return j
}

// arriveAtReconvergence adds the lanes of a warp split to the lanes that wait at a reconvergence point.
func arriveAtReconvergence(j *machine.Reconvergence, lanes uint64) {
	j.Arrived |= lanes
	j.Arrivals++
}

// NewReconvergence returns an unused object, whose fields the caller must set.
func (t *Reconvergences) NewReconvergence() *machine.Reconvergence {
	n := len(t.Free)
	if n == 0 {
		return new(machine.Reconvergence)
	}
	j := t.Free[n-1]
	t.Free = t.Free[:n-1]
	return j
}

// Split opens a reconvergence point at block pc, unless pc is released (CTASync.ReleasedBlocks). The first group that is
// not at the reconvergence point becomes the running warp split; of the others, the last runs next. Under time slices,
// groups outside possible spin-waits come first, because other lanes may wait for them.
func (t *Reconvergences) Split(w *machine.Warp, groups []machine.BranchGroup, pc int32) {
	j, released := w.Reconvergence, w.TimeSliced && w.CTA.ReleasedBlocks[pc]
	if !released {
		j = t.open(w, pc)
	}
	if w.TimeSliced {
		p := w.CTA.Code
		slices.SortStableFunc(groups, func(a, b machine.BranchGroup) int { return cmp.Compare(urgency(p.Block(a.PC)), urgency(p.Block(b.PC))) })
	}
	var running machine.BranchGroup
	for _, g := range groups {
		switch {
		case g.PC == pc && !released:
			arriveAtReconvergence(j, g.Mask)
		case running.Mask == 0:
			running = g
		default:
			c := w.WarpSplit
			c.PC, c.Mask, c.Reconvergence = g.PC, g.Mask, j
			w.WaitingSplits = append(w.WaitingSplits, c)
		}
	}
	w.PC, w.Mask = running.PC, running.Mask
	if w.TimeSliced && w.CTA.Grid.Reconverge.ExactSlices {
		beginTimeSlice(w) // the side that runs first does not depend on the remainder of the time slice
	}
	if released {
		if w.PC == w.ReconvergeAt {
			t.Arrive(w, w.PC)
		}
		return
	}
	w.Reconvergence, w.ReconvergeAt = j, pc
	markAtExit(w, pc, j.Arrived)
}

// Enter executes a call: its lanes, and the lanes that do not make the call, reconverge after it.
func (t *Reconvergences) Enter(w *machine.Warp, fr *machine.Frame, m uint64) {
	j := t.open(w, fr.Call.Next)
	if rest := w.Mask &^ m; rest != 0 {
		arriveAtReconvergence(j, rest)
	}
	ResumeSplit(w, machine.WarpSplit{PC: fr.Func.Begin, Mask: m, Frame: fr, Reconvergence: j})
}

// Arrive makes the running warp split wait at its reconvergence point, or pass it if it is released.
func (t *Reconvergences) Arrive(w *machine.Warp, from int32) {
	j := w.Reconvergence
	if w.TimeSliced && w.CTA.ReleasedBlocks[j.PC] && j.Lanes != j.Arrived|w.Mask {
		t.pass(w, j)
		return
	}
	lanes, pc := w.Mask, j.PC
	arriveAtReconvergence(j, lanes)
	w.Mask = 0
	if !t.complete(w, j) {
		markAtExit(w, pc, lanes)
		scheduleSplit(w)
	}
}

// pass lets the running warp split continue past its reconvergence point, which an early release has released before.
func (t *Reconvergences) pass(w *machine.Warp, j *machine.Reconvergence) {
	j.Lanes &^= w.Mask
	c := w.WarpSplit
	c.Reconvergence = j.Outer
	if j.Lanes == j.Arrived { // the waiting lanes have waited only for this warp split, and continue, too
		w.WaitingSplits = append(w.WaitingSplits, machine.WarpSplit{PC: j.PC, Mask: j.Lanes, Frame: j.Frame, Reconvergence: j.Outer})
		t.Free = append(t.Free, j)
	}
	ResumeSplit(w, c)
	if w.PC == w.ReconvergeAt {
		t.Arrive(w, w.PC)
	}
}

// complete makes the lanes of a reconvergence point the running warp split if all have arrived, and reports whether it did.
// If the next outer reconvergence point is at the same place, the lanes arrive there, and complete does the same for it.
func (t *Reconvergences) complete(w *machine.Warp, j *machine.Reconvergence) bool {
	for j != nil && j.Arrived == j.Lanes {
		c := machine.WarpSplit{PC: j.PC, Mask: j.Lanes, Frame: j.Frame, Reconvergence: j.Outer}
		if j.Arrivals > 1 && c.Mask != 0 {
			countReconvergence(w, &c)
		}
		t.Free = append(t.Free, j)
		if j = c.Reconvergence; c.Mask == 0 {
			continue
		}
		if j == nil || j.PC != c.PC || j.Frame != c.Frame {
			ResumeSplit(w, c)
			return true
		}
		arriveAtReconvergence(j, c.Mask)
	}
	return false
}

// End removes ended lanes from the reconvergence points of the running warp split.
func (t *Reconvergences) End(w *machine.Warp, lanes uint64) {
	for j := w.Reconvergence; j != nil; j = j.Outer {
		j.Lanes &^= lanes
	}
	if w.Mask == 0 {
		t.complete(w, w.Reconvergence)
	}
}

// ReleaseEarly makes the lanes that wait at the innermost reconvergence point the running warp split. They may arrive at the
// next reconvergence point before the missing lanes. Lanes that wait at the kernel's end stay there, because no lanes wait
// for them.
func (t *Reconvergences) ReleaseEarly(w *machine.Warp) bool {
	var inner *machine.Reconvergence
	for i := len(w.WaitingSplits) - 1; i >= 0; i-- {
		for j := w.WaitingSplits[i].Reconvergence; j != nil; j = j.Outer {
			if j.Arrived&^w.AtExit != 0 && (inner == nil || j.Depth > inner.Depth) {
				inner = j
			}
		}
	}
	if inner == nil {
		return false
	}
	w.CTA.ReleasedEarly = true
	lanes := inner.Arrived
	countSplits(w, inner.Lanes, machine.BranchGroup{PC: inner.PC, Mask: lanes}, machine.BranchGroup{PC: machine.NoBlock, Mask: inner.Lanes &^ lanes})
	inner.Lanes &^= lanes
	inner.Arrived, inner.Arrivals = 0, 0
	ResumeSplit(w, machine.WarpSplit{PC: inner.PC, Mask: lanes, Frame: inner.Frame, Reconvergence: inner.Outer})
	return true
}
