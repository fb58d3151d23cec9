package core

import (
	"math/bits"

	"gemu/machine/stream"
)

// Observer receives what happens on the multiprocessors. It must not change anything.
type Observer interface {
	// Begin begins a launch in a cycle. CTAs and warps that follow are those of the launch.
	Begin(l *stream.Launch, at int64)
	// CTA passes a CTA that has ended.
	CTA(c *CTASpan)
	// Warp passes a part of the life of a warp. The spans of a slot have ascending times, and the spans of a warp have no gap: the first
	// begins with its CTA, the last ends when the warp ends.
	Warp(w *WarpSpan)
	// Cycle is called after each cycle in which something happens.
	Cycle(now int64)
	// End ends the launch, before the given cycle.
	End(at int64)
}

// CTASpan is the life of a CTA on a multiprocessor.
type CTASpan struct {
	SM, Place int   // multiprocessor, and place of the CTA there
	CTA       int   // index in the grid
	From, To  int64 // first cycle, and the cycle after the last
}

// WarpSpan is cycles in which a warp has the same reason to wait, or the cycle in which it issues.
type WarpSpan struct {
	SM, Slot  int   // multiprocessor, and slot of the warp there
	CTA, Warp int   // index of the CTA in the grid, and of the warp in the CTA
	From, To  int64 // first cycle, and the cycle after the last
	WarpState
}

// WarpState is what a warp does in a cycle.
type WarpState struct {
	Reason Reason // why it does not issue, or that it does
	// Instr is the index of the instruction that is issued, or of the next one, or of the barrier; -1 if the warp waits for its results
	// after its last instruction, or at the end of the CTA.
	Instr int32
	// Cause is the instruction that causes the wait; -1: none is known. With WaitsForData its result is missing, or it is a branch or
	// barrier that delays the next instruction. With WaitsForMemory it is the instruction that the memory unit serves.
	Cause int32
}

// Reason is the reason why a warp does not issue in a cycle, if it does not.
type Reason uint8

// Reasons.
const (
	Issues            Reason = iota
	WaitsForTurn             // it could issue, but its scheduler issues an instruction of another warp
	WaitsForUnit             // it could issue, but the unit of its instruction is busy
	WaitsForMemory           // it could issue, but the memory unit is full
	WaitsForData             // of registers, of asynchronous copies, or the end of a branch or a barrier
	WaitsForBarrier          // for other warps
	WaitsForResources        // for registers, shared memory or a slot (Residency)
)

// String names a reason as Stalls does.
func (r Reason) String() string {
	return [...]string{"issue", "other warp", "compute", "memory", "data", "barrier", "resources"}[r]
}

// observation is the states of the warps of a multiprocessor that an observer has not received.
type observation struct {
	open  [maxSlots]WarpSpan // the last span of each slot so far
	state [maxSlots]slotState
	ready []uint64 // by scheduler: warps that it could issue in this cycle
}

// slotState is what is known about a slot.
type slotState uint8

const (
	noSpan    slotState = iota // it has no warp, or its warp has no state so far
	hasSpan                    // open has its state
	warpEnded                  // its warp has ended
)

// change notes the state of a warp from a cycle on.
func (s *sm) change(slot int, at int64, to WarpState) {
	o := &s.observation.open[slot]
	if s.observation.state[slot] == hasSpan {
		if o.WarpState == to && to.Reason != Issues {
			return
		}
		s.closeSpan(slot, at)
	}
	w := &s.slots[slot]
	*o = WarpSpan{SM: s.number, Slot: slot, CTA: w.cta.Index, Warp: w.index, From: at, WarpState: to}
	s.observation.state[slot] = hasSpan
}

// closeSpan passes the state of a slot, which ends before a cycle.
func (s *sm) closeSpan(slot int, at int64) {
	if o := &s.observation.open[slot]; o.From < at {
		o.To = at
		s.run.Observer.Warp(o)
	}
}

// observe notes the states of the warps of scheduler i that issue nothing in a cycle, and from it on. ready is the set of those that the
// scheduler could issue.
func (s *sm) observe(i int, at int64, ready uint64) {
	for set := s.used & s.schedulers[i].slots; set != 0; set &= set - 1 {
		slot := bits.TrailingZeros64(set)
		w, bit, last := &s.slots[slot], uint64(1)<<slot, &s.observation.open[slot]
		known := s.observation.state[slot]
		if known == warpEnded || known == hasSpan && last.Reason == Issues && last.From == at {
			continue
		}
		state := WarpState{Instr: -1, Cause: -1}
		if w.next < len(w.Executed) {
			state.Instr = w.Executed[w.next].Instr
		}
		switch {
		case s.atBarrier&bit != 0:
			state.Reason, state.Instr = WaitsForBarrier, w.barrier
		case s.lacksResources(slot):
			state.Reason = WaitsForResources
		case state.Instr < 0:
			state.Reason, state.Cause = WaitsForData, w.lastResult(at)
		case s.waiting&bit != 0 || s.assists != nil && s.assists.blocked&bit != 0:
			state.Reason, state.Cause = WaitsForData, w.cause
		case ready&bit != 0:
			state.Reason = WaitsForTurn
		case w.isMemory:
			state.Reason, state.Cause = WaitsForMemory, s.servedInstr()
		default:
			state.Reason = WaitsForUnit
		}
		s.change(slot, at, state)
	}
}

// lastResult returns the instruction whose result comes last of those that are missing in a cycle; -1: none is missing.
func (w *warp) lastResult(now int64) int32 {
	instr := int32(-1)
	for i := range w.pending {
		if p := &w.pending[i]; p.at > now {
			instr, now = p.instr, p.at
		}
	}
	return instr
}

// observeCycle notes the states of all warps after the schedulers have issued in a cycle.
func (s *sm) observeCycle(now int64) {
	for i, ready := range s.observation.ready {
		s.observe(i, now, ready)
	}
}

// observeNext notes the states of all warps from the cycle after now on.
func (s *sm) observeNext(now int64) {
	for i := range s.schedulers {
		s.observe(i, now+1, s.candidates(i, now+1))
	}
}

// observeBegin notes that a CTA begins in the cycle after now.
func (s *sm) observeBegin(c *cta, now int64) {
	for m := c.slots; m != 0; m &= m - 1 {
		s.observation.state[bits.TrailingZeros64(m)] = noSpan
	}
	c.from = now + 1
	s.observeNext(now)
}

// observeEnd notes that a warp ends in cycle now.
func (s *sm) observeEnd(slot int, now int64) {
	if o := &s.observation.open[slot]; s.observation.state[slot] == hasSpan {
		if o.Reason == Issues && o.From == now {
			now++
		}
		s.closeSpan(slot, now)
	}
	s.observation.state[slot] = warpEnded
}
