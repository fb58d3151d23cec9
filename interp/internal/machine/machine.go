package machine

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// LaneFunc executes an instruction that is more than a kernel for the lanes of m in
// half h of the warp (lanes 32h to 32h+31).
type LaneFunc func(w *Warp, h int, f *regfile.File, instr *code.Instr, m uint32)

// SourceOf is the PTX instruction that an instruction is part of.
func (w *Warp) SourceOf(instr *code.Instr) *code.Source { return &w.CTA.Code.Sources[instr.Src] }
