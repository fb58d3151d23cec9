package alu

//go:generate go run ./_gen

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Kernel executes an instruction for the lanes of m.
type Kernel func(f *regfile.File, instr *code.Instr, m uint32)

// One executes an instruction on single values. Operands and results are in the low bits of a uint64; a predicate is 0 or
// 1. d2 is the second result, a carry or a second predicate, if the instruction has one.
type One func(a, b, c, e, imm uint64) (d, d2 uint64)
