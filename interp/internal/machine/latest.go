package machine

import (
	"gemu/ptx"
)

// LatestInstr is when lanes of a warp began an instruction last.
type LatestInstr struct {
	Lanes uint64
	Step  int64
}

// Latest is what a lane of a CTA in flight did last.
type Latest struct {
	Step  int64       // of the instruction that it began last (Event.Step); -1: it has begun none
	Stack []*ptx.Func // the functions that it is in, the kernel first; nil: it has ended
}

// Latest is what a lane had done last as the state was saved; false of one whose CTA was not in flight.
func (s *State) Latest(cta, warp, lane int) (Latest, bool) {
	return FindLatest(s.Flights, cta, warp, lane)
}

func FindLatest(flights []Flight, cta, warp, lane int) (Latest, bool) {
	for i := range flights {
		if c := flights[i].CTA; c != nil && c.Index == cta && flights[i].Status != CTAEnded {
			w := &c.Warps[warp]
			l := Latest{Step: -1}
			for _, p := range w.Latest {
				if p.Lanes>>lane&1 != 0 {
					l.Step = p.Step
				}
			}
			if fr := w.frameOf(lane); fr != nil {
				l.Stack = make([]*ptx.Func, fr.Depth+1)
				for ; fr != nil; fr = fr.Caller {
					l.Stack[fr.Depth] = fr.Func.Func
				}
			}
			return l, true
		}
	}
	return Latest{}, false
}

// frameOf is the frame that a lane is in; nil if it has ended.
func (w *Warp) frameOf(lane int) *Frame {
	for _, s := range w.Splits() {
		if s.Mask>>lane&1 != 0 {
			return s.Frame
		}
		for j := s.Reconvergence; j != nil; j = j.Outer {
			if j.Arrived>>lane&1 != 0 {
				return j.Frame
			}
		}
	}
	return nil
}
