package simt

// This file lends machine code the strands of a warp, which parts and joins them as policy stack does, and takes them
// back: whatever Go does next, it has them all.

import (
	"gemu/interp/internal/native"
)

// loan is what machine code has been lent.
type loan struct {
	joins []*join // by number
	outer *join   // what is outside of them
}

// stacked is a policy whose strands machine code may keep.
type stacked interface{ stacks() *joins }

func (s *stack) stacks() *joins { return &s.joins }

// lend lends machine code the joins that the running strand is in, and the strands that are to come to them, as far as they
// are in the same function; none if strands run, or wait, in another order than that of the stack.
func (w *warp) lend() {
	n := w.lent
	n.Since = w.settled
	n.out, n.State, w.cta.native.out = true, native.Ready, true
	n.Most, n.Ends, n.Meetings, n.Others = 0, 0, 0, 0
	n.loan.joins, n.loan.outer = n.loan.joins[:0], w.join
	if w.ways == nil || w.sliced || w.waiting > 0 {
		return
	}
	n.Most = native.MostWays
	if w.join != nil {
		w.lendJoins(&n.loan)
	}
	if n.loan.outer == nil {
		n.Ends = 1
	}
}

// lendJoins lends what there is; none if they are too many, and all are outside then.
func (w *warp) lendJoins(l *loan) {
	n := w.lent
	j := w.join
	for ; j != nil && j.frame == w.frame; j = j.outer {
		l.joins = append(l.joins, j)
	}
	depth := len(l.joins)
	if depth > native.MostWays {
		n.Most, l.joins = 0, l.joins[:0]
		return
	}
	l.outer, n.Meetings = j, uint32(depth)
	for i, j := range l.joins {
		n.Meeting[depth-1-i] = native.Meeting{PC: j.pc, Lanes: uint32(j.lanes), Here: uint32(j.here), Arrivals: uint32(j.arrivals), Known: uint32(1 + i)}
	}
	// The strands that come next are the last, and those of inner joins come before those of outer ones.
	first, at := len(w.others), 0
	for first > 0 && len(w.others)-first < native.MostWays {
		c := &w.others[first-1]
		for at < depth && c.join != l.joins[at] {
			at++
		}
		if at == depth || c.frame != w.frame || c.owed != 0 {
			break
		}
		first--
	}
	for i := range w.others[first:] {
		c := &w.others[first+i]
		for at = 0; c.join != l.joins[at]; at++ {
		}
		n.Routes[i] = native.Route{PC: c.pc, Lanes: uint32(c.mask), Meetings: uint32(depth - at)}
	}
	n.Others = uint32(len(w.others) - first)
	w.others = w.others[:first]
}

// reclaim takes strands back.
func (w *warp) reclaim() {
	n := w.lent
	n.out, n.State = false, native.Out
	w.mask, w.live, w.stop = uint64(n.Mask), uint64(n.Live), n.Stop
	if n.Meetings != 0 || len(n.loan.joins) != 0 {
		w.reclaimJoins(&n.loan)
	}
	w.files[0].SetActive(n.Mask)
}

// reclaimJoins takes them back.
func (w *warp) reclaimJoins(l *loan) {
	n := w.lent
	outer := l.outer
	var joins [native.MostWays]*join
	for i := range n.Meetings {
		m := &n.Meeting[i]
		var j *join
		if m.Known != 0 {
			j, l.joins[m.Known-1] = l.joins[m.Known-1], nil
		} else {
			j = w.ways.take()
			*j = join{pc: m.PC, frame: w.frame, outer: outer}
			if outer != nil {
				j.depth = outer.depth + 1
			}
		}
		j.lanes, j.here, j.arrivals = uint64(m.Lanes), uint64(m.Here), int32(m.Arrivals)
		joins[i], outer = j, j
	}
	w.join = outer
	for i := range n.Others {
		o := &n.Routes[i]
		w.others = append(w.others, strand{pc: o.PC, mask: uint64(o.Lanes), frame: w.frame, join: joins[o.Meetings-1]})
	}
	for _, j := range l.joins {
		if j != nil { // all have come
			w.ways.free = append(w.ways.free, j)
		}
	}
	l.joins = l.joins[:0] // for released
}
