package machine

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// LaneFunc executes an instruction that is no kernel of package alu, for the lanes of m in half h of the warp. Bit i of m is
// lane 32h+i; f has the registers of the half.
type LaneFunc func(w *Warp, h int, f *regfile.File, instr *code.Instr, m uint32)

// SourceOf returns the PTX instruction to which an instruction belongs.
func (w *Warp) SourceOf(instr *code.Instr) *code.Source { return &w.CTA.Code.Sources[instr.Src] }
