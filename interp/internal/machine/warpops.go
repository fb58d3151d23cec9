package machine

import (
	"math/bits"

	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/regfile"
)

// MembersPresent checks the membermask of a .sync instruction: each executing lane must be in its membermask. It
// reports whether all lanes of the membermask execute it. If not, the lanes wait for the missing lanes, or trap if the
// policy does not allow a wait.
func (w *Warp) MembersPresent(instr *code.Instr, member *regfile.Row32, m uint32) bool {
	absent, mask := uint32(0), uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if !w.IsMember(w.SourceOf(instr), i, member[i]) {
			return false
		}
		if absent == 0 {
			mask = member[i]
			absent = mask & uint32(w.Live) &^ m
		}
	}
	switch {
	case absent == 0:
		return true
	case w.CTA.Grid.Reconverge.TrapOnAbsentLanes:
		t := w.MissingMembersTrap(w.SourceOf(instr), m, absent, mask)
		t.Notes = append(t.Notes, w.CTA.Grid.Reconverge.Advice())
	default:
		w.Err, w.BlockedInstr = ErrAbsentLanes, instr
	}
	return false
}

// IsMember reports whether a lane is in mask, its own membermask. If not, it traps.
func (w *Warp) IsMember(src *code.Source, lane int, mask uint32) bool {
	if mask>>lane&1 == 0 {
		w.Fail(src, 1<<lane, probe.ErrMembermask, "%v: lane %d executes %s with membermask %#x, which does not contain the lane", probe.ErrMembermask, lane, src.Text, mask)
		return false
	}
	return true
}

// MissingMembersTrap stops the warp with a trap: the lanes of m wait for the lanes of absent, which cannot arrive.
func (w *Warp) MissingMembersTrap(src *code.Source, m, absent, mask uint32) *probe.Trap {
	t := w.Fail(src, uint64(m), probe.ErrDeadlock, "%v: %s with membermask %#x waits for %s, which cannot reach it", probe.ErrDeadlock, src.Text, mask, probe.LaneText(uint64(absent)))
	t.Notes = append(t.Notes, w.Whereabouts(uint64(absent))...)
	return t
}

// BoolBit returns 1 for true and 0 for false.
func BoolBit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
