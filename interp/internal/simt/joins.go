package simt

// This file is the joins of a warp: places where lanes that have parted wait for
// each other. Where a branch splits a strand, its lanes are to meet at the branch's
// immediate post-dominator; those that get there wait, and when the last is there all
// go on as one strand. Joins lie within each other, as branches do.

import (
	"cmp"
	"slices"
)

// join is lanes that meet.
type join struct {
	pc       int32
	arrivals int32 // how often lanes have come
	frame    *frame
	outer    *join  // where they wait next
	depth    int    // joins outside
	lanes    uint64 // that are to meet here, and have not ended
	here     uint64 // of them those that wait
}

// joins is the part of a policy that keeps them. Which strand runs is up to the
// policy's order.
type joins struct {
	free []*join // for use again
}

// join makes a join for the lanes of the running strand, unless the place is that of
// the one they have.
func (t *joins) join(w *warp, pc int32) *join {
	outer := w.join
	if outer != nil && outer.pc == pc && outer.frame == w.frame {
		return outer
	}
	j := t.take()
	*j = join{pc: pc, frame: w.frame, outer: outer, lanes: w.mask}
	if outer != nil {
		j.depth = outer.depth + 1
	}
	return j
}

// come has lanes wait.
func (j *join) come(lanes uint64) {
	j.here |= lanes
	j.arrivals++
}

// take is room for a join.
func (t *joins) take() *join {
	n := len(t.free)
	if n == 0 {
		return new(join)
	}
	j := t.free[n-1]
	t.free = t.free[:n-1]
	return j
}

// split makes the first group that does not wait at the join the running strand; the
// others are behind it in reverse order. Where strands take turns, those that leave a loop
// that may wait come first, for others may wait for them.
func (t *joins) split(w *warp, groups []group, pc int32) {
	j, open := w.join, w.sliced && w.cta.open[pc]
	if !open {
		j = t.join(w, pc)
	}
	if w.sliced {
		p := w.cta.code
		slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(urgency(p.Block(a.pc)), urgency(p.Block(b.pc))) })
	}
	var now group
	for _, g := range groups {
		switch {
		case g.pc == pc && !open:
			j.come(g.mask)
		case now.mask == 0:
			now = g
		default:
			c := w.strand
			c.pc, c.mask, c.join = g.pc, g.mask, j
			w.others = append(w.others, c)
		}
	}
	w.pc, w.mask = now.pc, now.mask
	if open {
		if w.pc == w.stop {
			t.arrive(w, w.pc)
		}
		return
	}
	w.join, w.stop = j, pc
	w.rest(pc, j.here)
}

// enter has the lanes of a call meet behind it.
func (t *joins) enter(w *warp, fr *frame, m uint64) {
	j := t.join(w, fr.call.Next)
	if rest := w.mask &^ m; rest != 0 {
		j.come(rest)
	}
	w.resume(strand{pc: fr.fn.Begin, mask: m, frame: fr, join: j})
}

// arrive leaves the running strand, which has come to its join, there.
func (t *joins) arrive(w *warp, from int32) {
	j := w.join
	if w.sliced && w.cta.open[j.pc] && j.lanes != j.here|w.mask {
		t.pass(w, j)
		return
	}
	lanes, pc := w.mask, j.pc
	j.come(lanes)
	w.mask = 0
	if !t.meet(w, j) {
		w.rest(pc, lanes)
		w.schedule()
	}
}

// pass lets the running strand go on past its join, where lanes have had to go on alone
// before.
func (t *joins) pass(w *warp, j *join) {
	j.lanes &^= w.mask
	c := w.strand
	c.join = j.outer
	if j.lanes == j.here { // those that wait have waited for it
		w.others = append(w.others, strand{pc: j.pc, mask: j.lanes, frame: j.frame, join: j.outer})
		t.free = append(t.free, j)
	}
	w.resume(c)
	if w.pc == w.stop {
		t.arrive(w, w.pc)
	}
}

// meet lets the lanes of a join go on if all are there, as the running strand; and if
// they come to the next join by that, those of that one.
func (t *joins) meet(w *warp, j *join) bool {
	for j != nil && j.here == j.lanes {
		c := strand{pc: j.pc, mask: j.lanes, frame: j.frame, join: j.outer}
		if j.arrivals > 1 && c.mask != 0 {
			w.reunites(&c)
		}
		t.free = append(t.free, j)
		if j = c.join; c.mask == 0 {
			continue
		}
		if j == nil || j.pc != c.pc || j.frame != c.frame {
			w.resume(c)
			return true
		}
		j.come(c.mask)
	}
	return false
}

// end takes lanes that have ended out of the joins they were to come to.
func (t *joins) end(w *warp, lanes uint64) {
	for j := w.join; j != nil; j = j.outer {
		j.lanes &^= lanes
	}
	if w.mask == 0 {
		t.meet(w, w.join)
	}
}

// part lets the lanes that wait at the innermost join go on alone, as the running strand.
// They come to the next join before the others. Lanes that rest there go on resting, for nobody waits for
// them.
func (t *joins) part(w *warp) bool {
	var inner *join
	for i := len(w.others) - 1; i >= 0; i-- {
		for j := w.others[i].join; j != nil; j = j.outer {
			if j.here&^w.rests != 0 && (inner == nil || j.depth > inner.depth) {
				inner = j
			}
		}
	}
	if inner == nil {
		return false
	}
	w.cta.parted = true
	lanes := inner.here
	w.parts(inner.lanes, group{inner.pc, lanes}, group{noBlock, inner.lanes &^ lanes})
	inner.lanes &^= lanes
	inner.here, inner.arrivals = 0, 0
	w.resume(strand{pc: inner.pc, mask: lanes, frame: inner.frame, join: inner.outer})
	return true
}
