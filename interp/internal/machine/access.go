package machine

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
)

// AccessOf returns the access of a memory instruction.
func (w *Warp) AccessOf(instr *code.Instr) *code.Access { return &w.CTA.Code.Access[instr.Side] }

// RequestOf returns an access as a request to package mem, with the faults tolerated by the device.
func (w *Warp) RequestOf(a *code.Access) mem.Access {
	r, g := a.Request(), w.CTA.Grid
	r.Tolerate, r.Unit = g.Device.Tolerance, g.SharedUnit
	return r
}
