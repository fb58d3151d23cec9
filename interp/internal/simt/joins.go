package simt

// This file is the joins of a warp: places where lanes that have diverged wait for
// each other. Where a branch splits a warp split, its lanes are to meet at the branch's
// immediate post-dominator; those that get there wait, and when the last is there all
// go on as one warp split. Joins lie within each other, as branches do.

import (
	"cmp"
	"slices"
)

// reconvergence is lanes that meet.
type reconvergence struct {
	pc       int32
	arrivals int32 // how often lanes have come
	frame    *frame
	outer    *reconvergence // where they wait next
	depth    int            // joins outside
	lanes    uint64         // that are to meet here, and have not ended
	arrived  uint64         // of them those that wait
}

// reconvergences is the part of a policy that keeps them. Which warp split runs is up to the
// policy's order.
type reconvergences struct {
	free []*reconvergence // for use again
}

// open makes a join for the lanes of the running warp split, unless the place is that of
// the one they have.
func (t *reconvergences) open(w *warp, pc int32) *reconvergence {
	outer := w.reconvergence
	if outer != nil && outer.pc == pc && outer.frame == w.frame {
		return outer
	}
	j := t.newReconvergence()
	*j = reconvergence{pc: pc, frame: w.frame, outer: outer, lanes: w.mask}
	if outer != nil {
		j.depth = outer.depth + 1
	}
	return j
}

// arrive has lanes wait.
func (j *reconvergence) arrive(lanes uint64) {
	j.arrived |= lanes
	j.arrivals++
}

// newReconvergence is room for a join.
func (t *reconvergences) newReconvergence() *reconvergence {
	n := len(t.free)
	if n == 0 {
		return new(reconvergence)
	}
	j := t.free[n-1]
	t.free = t.free[:n-1]
	return j
}

// split makes the first group that does not wait at the join the running warp split; the
// others are behind it in reverse order. Where warp splits take turns, those that leave a loop
// that may wait come first, for others may wait for them.
func (t *reconvergences) split(w *warp, groups []laneGroup, pc int32) {
	j, open := w.reconvergence, w.timeSliced && w.cta.releasedBlocks[pc]
	if !open {
		j = t.open(w, pc)
	}
	if w.timeSliced {
		p := w.cta.code
		slices.SortStableFunc(groups, func(a, b laneGroup) int { return cmp.Compare(urgency(p.Block(a.pc)), urgency(p.Block(b.pc))) })
	}
	var now laneGroup
	for _, g := range groups {
		switch {
		case g.pc == pc && !open:
			j.arrive(g.mask)
		case now.mask == 0:
			now = g
		default:
			c := w.warpSplit
			c.pc, c.mask, c.reconvergence = g.pc, g.mask, j
			w.waitingSplits = append(w.waitingSplits, c)
		}
	}
	w.pc, w.mask = now.pc, now.mask
	if open {
		if w.pc == w.reconvergeAt {
			t.arrive(w, w.pc)
		}
		return
	}
	w.reconvergence, w.reconvergeAt = j, pc
	w.markAtExit(pc, j.arrived)
}

// enter has the lanes of a call meet behind it.
func (t *reconvergences) enter(w *warp, fr *frame, m uint64) {
	j := t.open(w, fr.call.Next)
	if rest := w.mask &^ m; rest != 0 {
		j.arrive(rest)
	}
	w.resume(warpSplit{pc: fr.fn.Begin, mask: m, frame: fr, reconvergence: j})
}

// arrive leaves the running warp split, which has come to its join, there.
func (t *reconvergences) arrive(w *warp, from int32) {
	j := w.reconvergence
	if w.timeSliced && w.cta.releasedBlocks[j.pc] && j.lanes != j.arrived|w.mask {
		t.pass(w, j)
		return
	}
	lanes, pc := w.mask, j.pc
	j.arrive(lanes)
	w.mask = 0
	if !t.complete(w, j) {
		w.markAtExit(pc, lanes)
		w.schedule()
	}
}

// pass lets the running warp split go on past its join, where lanes have had to go on alone
// before.
func (t *reconvergences) pass(w *warp, j *reconvergence) {
	j.lanes &^= w.mask
	c := w.warpSplit
	c.reconvergence = j.outer
	if j.lanes == j.arrived { // those that wait have waited for it
		w.waitingSplits = append(w.waitingSplits, warpSplit{pc: j.pc, mask: j.lanes, frame: j.frame, reconvergence: j.outer})
		t.free = append(t.free, j)
	}
	w.resume(c)
	if w.pc == w.reconvergeAt {
		t.arrive(w, w.pc)
	}
}

// complete lets the lanes of a join go on if all are there, as the running warp split; and if
// they come to the next join by that, those of that one.
func (t *reconvergences) complete(w *warp, j *reconvergence) bool {
	for j != nil && j.arrived == j.lanes {
		c := warpSplit{pc: j.pc, mask: j.lanes, frame: j.frame, reconvergence: j.outer}
		if j.arrivals > 1 && c.mask != 0 {
			w.countReconvergence(&c)
		}
		t.free = append(t.free, j)
		if j = c.reconvergence; c.mask == 0 {
			continue
		}
		if j == nil || j.pc != c.pc || j.frame != c.frame {
			w.resume(c)
			return true
		}
		j.arrive(c.mask)
	}
	return false
}

// end takes lanes that have ended out of the joins they were to come to.
func (t *reconvergences) end(w *warp, lanes uint64) {
	for j := w.reconvergence; j != nil; j = j.outer {
		j.lanes &^= lanes
	}
	if w.mask == 0 {
		t.complete(w, w.reconvergence)
	}
}

// releaseEarly lets the lanes that wait at the innermost join go on alone, as the running warp split.
// They come to the next join before the others. Lanes that rest there go on resting, for nobody waits for
// them.
func (t *reconvergences) releaseEarly(w *warp) bool {
	var inner *reconvergence
	for i := len(w.waitingSplits) - 1; i >= 0; i-- {
		for j := w.waitingSplits[i].reconvergence; j != nil; j = j.outer {
			if j.arrived&^w.atExit != 0 && (inner == nil || j.depth > inner.depth) {
				inner = j
			}
		}
	}
	if inner == nil {
		return false
	}
	w.cta.releasedEarly = true
	lanes := inner.arrived
	w.countSplits(inner.lanes, laneGroup{inner.pc, lanes}, laneGroup{noBlock, inner.lanes &^ lanes})
	inner.lanes &^= lanes
	inner.arrived, inner.arrivals = 0, 0
	w.resume(warpSplit{pc: inner.pc, mask: lanes, frame: inner.frame, reconvergence: inner.outer})
	return true
}
