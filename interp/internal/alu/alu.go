// Package alu holds the semantics of the instructions that only compute: what
// they do to one lane, as a short function beside its manual section, and made
// from it the kernel that does it to a row of lanes.
//
// A function's //gemu:kernel directive names the opcodes it implements; the
// program in _gen writes the lane loops and tables of them by operation (zkernels.go). The
// signature of the function says where the operands are: types of up to 32 bits
// in 32-bit rows, 64-bit types in 64-bit rows, bool in predicates.
package alu

//go:generate go run ./_gen

import (
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// Kernel executes an instruction for the lanes of mask m.
type Kernel func(f *regfile.File, instr *code.Instr, m uint32)

// One executes an instruction on single values: the sources A, B, C, E as the
// low bits of a uint64 (predicates as 0 or 1), the result likewise, and the
// second result (a carry or second predicate) if it has one.
type One func(a, b, c, e, imm uint64) (d, d2 uint64)
