package machine

import (
	"gemu/probe"
	"gemu/ptx"
)

// LatestInstr is the last step in which lanes of a warp began an instruction.
type LatestInstr struct {
	Lanes uint64
	Step  int64 // see Observation.Steps; counted from 0
}

// Latest returns the last instruction that a lane had begun when the state was saved, or false if its CTA was not in
// flight. cta and warp are linear indices.
func (s *State) Latest(cta, warp, lane int) (probe.Latest, bool) {
	return FindLatest(s.Flights, cta, warp, lane)
}

// FindLatest returns the last instruction that a lane of a CTA among flights has begun, or false if the CTA is not in
// flight. cta and warp are linear indices.
func FindLatest(flights []Flight, cta, warp, lane int) (probe.Latest, bool) {
	for i := range flights {
		if c := flights[i].CTA; c != nil && c.Index == cta && flights[i].Status != CTAEnded {
			w := &c.Warps[warp]
			l := probe.Latest{Step: -1}
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
	return probe.Latest{}, false
}

// frameOf returns the frame of a lane, or nil if the lane has ended.
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
