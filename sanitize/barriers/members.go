package barriers

// This file checks the membermasks of collective instructions.

import (
	"fmt"
	"math/bits"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// members notes the membermasks and the source lanes of an instruction before its execution, because its
// results may overwrite its operands.
func (c *cta) members(e *probe.Event, a *action) {
	w := c.warp(e.Warp)
	constantMask := a.member == ptx.NoReg
	if constantMask {
		for i := range w.member {
			w.member[i] = uint64(a.mask)
		}
	} else if e.ReadTo(&c.values[0], a.member) {
		copy(w.member[:], c.values[0].Low)
	}
	w.sources, w.takers = 0, 0
	if a.concern&shuffles == 0 || w.live == 1<<32-1 && a.namesAll() {
		return
	}
	value := func(name string, scratch *probe.Value) func(lane int) int {
		switch o := e.Instr.Arg(name); {
		case o.Kind == ptx.RegOperand && e.ReadTo(scratch, o.Reg):
			return func(lane int) int { return int(uint32(scratch.Low[lane])) }
		case o.Kind == ptx.ImmOperand:
			return func(int) int { return int(uint32(o.Imm.Bits)) }
		}
		return func(int) int { return 0 }
	}
	b, k := value("b", &c.values[1]), value("c", &c.values[2])
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if j, ok := a.mode(lane, b(lane)&31, k(lane)); ok && w.member[lane]&w.live>>j&1 == 0 {
			w.sources |= 1 << j
			w.takers |= 1 << lane
		}
	}
}

// describeSources says why lanes cannot supply the value that a shuffle reads from them. The text fits a
// lane whose membermask names either all of the lanes or none.
func (w *warp) describeSources(taker int) string {
	switch member := w.member[taker]; {
	case w.sources&^w.lanes != 0:
		return "not in the warp"
	case w.sources&w.live == 0:
		return "ended"
	case w.sources&member == 0:
		return "not in its membermask"
	}
	return "ended or not in its membermask"
}

// checkTogether checks lanes that executed an instruction together.
func (c *cta) checkTogether(e *probe.Event, a *action, w *warp) {
	if w.takers != 0 {
		lane := bits.TrailingZeros64(w.takers)
		f := finding.Finding{
			Tool: Name, Kind: Source, Severity: finding.Notice, Place: finding.PlaceOf(e, "shuffle", lane),
			Message: fmt.Sprintf("%s reads an undefined value from %s (%s)", e.Instr.Text, probe.LaneText(w.sources), w.describeSources(lane)),
		}
		f.Place.Lanes = finding.Lanes(w.takers)
		c.log.Add(e, f)
		w.takers = 0
	}
	if a.member == ptx.NoReg {
		return
	}
	first := w.member[bits.TrailingZeros64(e.Lanes)]
	same := true
	for m := e.Lanes; m != 0 && same; m &= m - 1 {
		same = w.member[bits.TrailingZeros64(m)] == first
	}
	if same {
		return
	}
	// A lane named in a membermask must have the same membermask.
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		for n := w.member[lane] & e.Lanes; n != 0; n &= n - 1 {
			other := bits.TrailingZeros64(n)
			if w.member[other] == w.member[lane] {
				continue
			}
			f := finding.Finding{
				Tool: Name, Kind: Membermask, Place: finding.PlaceOf(e, "executed", lane),
				Message: fmt.Sprintf("%s has membermask %#x in lane %d, but %#x in lane %d, which is in that membermask", e.Instr.Text, w.member[lane], lane, w.member[other], other),
			}
			f.Place.Lanes = finding.Lanes(e.Lanes)
			c.log.Add(e, f)
			return
		}
	}
}
