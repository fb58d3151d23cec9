package warp

// This file keeps the reconvergence points of a warp. Where a branch diverges, its lanes reconverge at the branch's
// immediate post-dominator: arrived lanes wait there, and when the last lane has arrived all continue as one warp
// split. Reconvergence points nest as branches do.

import (
	"cmp"
	"slices"

	"gemu/interp/internal/machine"
)

// Reconvergences keeps the reconvergence points of a warp for a policy. The policy chooses which warp split runs.
type Reconvergences struct {
	Free []*machine.Reconvergence // for use again
}

// open makes a reconvergence point for the lanes of the running warp split, unless they have a reconvergence at this
// block already.
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

// arriveAtReconvergence adds lanes to the waiting lanes.
func arriveAtReconvergence(j *machine.Reconvergence, lanes uint64) {
	j.Arrived |= lanes
	j.Arrivals++
}

// NewReconvergence returns a free reconvergence point, without contents.
func (t *Reconvergences) NewReconvergence() *machine.Reconvergence {
	n := len(t.Free)
	if n == 0 {
		return new(machine.Reconvergence)
	}
	j := t.Free[n-1]
	t.Free = t.Free[:n-1]
	return j
}

// Split makes the first group outside the reconvergence point the running warp split. The remaining groups follow in
// reverse order. With time slices, groups that leave a spin-wait loop come first: other lanes may wait for them.
func (t *Reconvergences) Split(w *machine.Warp, groups []machine.BranchGroup, pc int32) {
	j, open := w.Reconvergence, w.TimeSliced && w.CTA.ReleasedBlocks[pc]
	if !open {
		j = t.open(w, pc)
	}
	if w.TimeSliced {
		p := w.CTA.Code
		slices.SortStableFunc(groups, func(a, b machine.BranchGroup) int { return cmp.Compare(urgency(p.Block(a.PC)), urgency(p.Block(b.PC))) })
	}
	var now machine.BranchGroup
	for _, g := range groups {
		switch {
		case g.PC == pc && !open:
			arriveAtReconvergence(j, g.Mask)
		case now.Mask == 0:
			now = g
		default:
			c := w.WarpSplit
			c.PC, c.Mask, c.Reconvergence = g.PC, g.Mask, j
			w.WaitingSplits = append(w.WaitingSplits, c)
		}
	}
	w.PC, w.Mask = now.PC, now.Mask
	if open {
		if w.PC == w.ReconvergeAt {
			t.Arrive(w, w.PC)
		}
		return
	}
	w.Reconvergence, w.ReconvergeAt = j, pc
	markAtExit(w, pc, j.Arrived)
}

// Enter makes the lanes of a call reconverge after it.
func (t *Reconvergences) Enter(w *machine.Warp, fr *machine.Frame, m uint64) {
	j := t.open(w, fr.Call.Next)
	if rest := w.Mask &^ m; rest != 0 {
		arriveAtReconvergence(j, rest)
	}
	ResumeSplit(w, machine.WarpSplit{PC: fr.Func.Begin, Mask: m, Frame: fr, Reconvergence: j})
}

// Arrive lets the running warp split wait at its reconvergence point.
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

// pass lets the running warp split continue past its reconvergence point, where lanes had to continue alone before.
func (t *Reconvergences) pass(w *machine.Warp, j *machine.Reconvergence) {
	j.Lanes &^= w.Mask
	c := w.WarpSplit
	c.Reconvergence = j.Outer
	if j.Lanes == j.Arrived { // the waiting lanes have waited for it
		w.WaitingSplits = append(w.WaitingSplits, machine.WarpSplit{PC: j.PC, Mask: j.Lanes, Frame: j.Frame, Reconvergence: j.Outer})
		t.Free = append(t.Free, j)
	}
	ResumeSplit(w, c)
	if w.PC == w.ReconvergeAt {
		t.Arrive(w, w.PC)
	}
}

// complete lets the lanes of a reconvergence point continue as the running warp split if all have arrived. If they
// thereby arrive at the next reconvergence point, it does the same there.
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

// End removes ended lanes from the reconvergence points where they were expected.
func (t *Reconvergences) End(w *machine.Warp, lanes uint64) {
	for j := w.Reconvergence; j != nil; j = j.Outer {
		j.Lanes &^= lanes
	}
	if w.Mask == 0 {
		t.complete(w, w.Reconvergence)
	}
}

// ReleaseEarly lets the lanes waiting at the innermost reconvergence point continue alone, as the running warp split.
// They arrive at the next reconvergence point before the missing lanes. Lanes waiting at the kernel's end stay there:
// no lanes wait for them.
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
