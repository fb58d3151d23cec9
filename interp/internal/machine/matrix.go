package machine

import (
	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/regfile"
)

// RequireAllLanes reports whether m, the lanes of half h that execute an instruction together, are all lanes of the half.
// If not, it traps. The manual leaves the behaviour with missing lanes undefined.
func (w *Warp) RequireAllLanes(h int, instr *code.Instr, m uint32) bool {
	if m == regfile.Full {
		return true
	}
	absent := uint64(^m) << (32 * h)
	t := w.Fail(w.SourceOf(instr), uint64(m)<<(32*h), probe.ErrDivergent, "%v: all 32 lanes of a warp must execute %s together; missing: %s", probe.ErrDivergent, w.SourceOf(instr).Text, probe.LaneText(absent))
	t.Notes = append(t.Notes, w.Whereabouts(absent&w.Live)...)
	return false
}
