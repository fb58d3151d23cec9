package simt

// This file notes, for launches that may pause, what a debugger asks of the past: when each lane began
// an instruction last, and which blocks were begun at all.

import "gemu/ptx"

// latestInstr is when lanes of a warp began an instruction last.
type latestInstr struct {
	lanes uint64
	step  int64
}

// noteBegun counts instructions that the running warp split has begun, where somebody wants all events in
// one order.
func (w *warp) noteBegun(n int64) {
	g := w.cta.grid
	if !g.inOrder || n == 0 {
		return
	}
	g.steps += n
	if !g.mayPause {
		return
	}
	if k := len(w.latest) - 1; k >= 0 && w.latest[k].lanes == w.mask {
		w.latest[k].step = g.steps - 1
		return
	}
	kept := w.latest[:0]
	for _, l := range w.latest {
		if l.lanes &^= w.mask; l.lanes != 0 {
			kept = append(kept, l)
		}
	}
	w.latest = append(kept, latestInstr{w.mask, g.steps - 1})
}

// Latest is what a lane of a CTA in flight did last.
type Latest struct {
	Step  int64       // of the instruction that it began last (Event.Step); -1: it has begun none
	Stack []*ptx.Func // the functions that it is in, the kernel first; nil: it has ended
}

// Latest is what a lane did last; false of one whose CTA is not in flight.
func (g *Grid) Latest(cta, warp, lane int) (Latest, bool) {
	return findLatest(g.flights, cta, warp, lane)
}

// Latest is what a lane had done last as the state was saved; false of one whose CTA was not in flight.
func (s *State) Latest(cta, warp, lane int) (Latest, bool) {
	return findLatest(s.flights, cta, warp, lane)
}

// InFlight calls do with the index of each CTA that was in flight at some moment from one state to a later one,
// nil being the launch's end, until it gives false. Some may not have begun yet.
func (g *Grid) InFlight(from, to *State, visit func(cta int) bool) {
	begin, end := from.next, g.numCTAs
	if to != nil {
		end = to.next
	}
	for i := range from.flights {
		if f := &from.flights[i]; f.status != ctaEnded && !visit(g.dim.Linear(g.ctaID(f.index))) {
			return
		}
	}
	for order := begin; order < end; order++ {
		if !visit(g.dim.Linear(g.ctaID(order))) {
			return
		}
	}
}

func findLatest(flights []flight, cta, warp, lane int) (Latest, bool) {
	for i := range flights {
		if c := flights[i].cta; c != nil && c.index == cta && flights[i].status != ctaEnded {
			w := &c.warps[warp]
			l := Latest{Step: -1}
			for _, p := range w.latest {
				if p.lanes>>lane&1 != 0 {
					l.Step = p.step
				}
			}
			if fr := w.frameOf(lane); fr != nil {
				l.Stack = make([]*ptx.Func, fr.depth+1)
				for ; fr != nil; fr = fr.caller {
					l.Stack[fr.depth] = fr.fn.Func
				}
			}
			return l, true
		}
	}
	return Latest{}, false
}

// frameOf is the frame that a lane is in; nil if it has ended.
func (w *warp) frameOf(lane int) *frame {
	for _, s := range w.splits() {
		if s.mask>>lane&1 != 0 {
			return s.frame
		}
		for j := s.reconvergence; j != nil; j = j.outer {
			if j.arrived>>lane&1 != 0 {
				return j.frame
			}
		}
	}
	return nil
}

// Visited adds to a list, by Event.Index, the instructions that may have begun since it was asked for last:
// all those of the blocks of which one has.
func (g *Grid) Visited(list []bool) {
	for i, v := range g.visited {
		if v {
			g.visited[i] = false
			for k := g.kernel.Blocks[i].Sources.First; k < g.kernel.Blocks[i].Sources.End; k++ {
				list[k] = true
			}
		}
	}
}
