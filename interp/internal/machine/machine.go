package machine

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// LaneFunc executes an instruction for the lanes of m in half h of the warp (lanes 32h to 32h+31), where the
// instruction is more than a kernel of package alu.
type LaneFunc func(w *Warp, h int, f *regfile.File, instr *code.Instr, m uint32)

// SourceOf returns the PTX instruction to which an instruction belongs.
func (w *Warp) SourceOf(instr *code.Instr) *code.Source { return &w.CTA.Code.Sources[instr.Src] }
