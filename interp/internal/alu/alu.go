package alu

//go:generate go run ./_gen

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Kernel executes an instruction for the lanes of mask m.
type Kernel func(f *regfile.File, instr *code.Instr, m uint32)

// One executes an instruction on single values. The sources A, B, C, E and the result are in the low bits of a uint64
// (predicates as 0 or 1), and so is the second result (a carry or second predicate), if any.
type One func(a, b, c, e, imm uint64) (d, d2 uint64)
