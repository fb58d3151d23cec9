package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
)

// AccessOf is what a memory instruction accesses.
func (w *Warp) AccessOf(instr *code.Instr) *code.Access { return &w.CTA.Code.Access[instr.Side] }

// RequestOf is an access in the words of package mem, with the faults that the device tolerates.
func (w *Warp) RequestOf(a *code.Access) mem.Access {
	r, g := a.Request(), w.CTA.Grid
	r.Tolerate, r.Unit = g.Device.Tolerance, g.SharedUnit
	return r
}
