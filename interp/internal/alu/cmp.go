package alu

// This file holds comparisons (manual sections 9.3.1, 9.7.6.1 and 9.7.6.2). If an operand is NaN, an ordered comparison of
// floats is false, and an unordered comparison (its name ends in u) is true.

import (
	"golang.org/x/exp/constraints"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

type number interface {
	constraints.Integer | constraints.Float
}

//gemu:compare eq.$T; T = b16|u16|s16 b32|u32|s32 b64|u64|s64 f32 f64
func eq[T number](a, b T) bool { return a == b }

//gemu:compare ne.$T; T = b16|u16|s16 b32|u32|s32 b64|u64|s64
func ne[T number](a, b T) bool { return a != b }

//gemu:compare lt.$T; T = u16 u32 u64 s16 s32 s64 f32 f64
func lt[T number](a, b T) bool { return a < b }

//gemu:compare le.$T; T = u16 u32 u64 s16 s32 s64 f32 f64
func le[T number](a, b T) bool { return a <= b }

//gemu:compare gt.$T; T = u16 u32 u64 s16 s32 s64 f32 f64
func gt[T number](a, b T) bool { return a > b }

//gemu:compare ge.$T; T = u16 u32 u64 s16 s32 s64 f32 f64
func ge[T number](a, b T) bool { return a >= b }

//gemu:compare lo.$T; T = u16 u32 u64
func lo[T number](a, b T) bool { return a < b }

//gemu:compare ls.$T; T = u16 u32 u64
func ls[T number](a, b T) bool { return a <= b }

//gemu:compare hi.$T; T = u16 u32 u64
func hi[T number](a, b T) bool { return a > b }

//gemu:compare hs.$T; T = u16 u32 u64
func hs[T number](a, b T) bool { return a >= b }

// neOrdered is the ordered "not equal" of floats.
//
//gemu:compare ne.$T; T = f32 f64
func neOrdered[T number](a, b T) bool { return a < b || a > b }

//gemu:compare equ.$T; T = f32 f64
func equ[T number](a, b T) bool { return !(a < b || a > b) }

//gemu:compare neu.$T; T = f32 f64
func neu[T number](a, b T) bool { return a != b }

//gemu:compare ltu.$T; T = f32 f64
func ltu[T number](a, b T) bool { return !(a >= b) }

//gemu:compare leu.$T; T = f32 f64
func leu[T number](a, b T) bool { return !(a > b) }

//gemu:compare gtu.$T; T = f32 f64
func gtu[T number](a, b T) bool { return !(a <= b) }

//gemu:compare geu.$T; T = f32 f64
func geu[T number](a, b T) bool { return !(a < b) }

//gemu:compare num.$T; T = f32 f64
func num[T number](a, b T) bool { return a == a && b == b }

//gemu:compare nan.$T; T = f32 f64
func nan[T number](a, b T) bool { return a != a || b != b }

// Boolean operators of setp, in Instr.Imm.
const (
	BoolNone = iota // no operator: the outcome of the comparison is the result
	BoolAnd
	BoolOr
	BoolXor
)

// setPredicates writes the results of a comparison for the lanes of m. t has the outcome of each lane.
func setPredicates(f *regfile.File, instr *code.Instr, m, t uint32) {
	c := uint32(0)
	if instr.Imm != BoolNone {
		c = f.SrcP(instr.C)
	}
	p, q := Combine(t, c, instr.Imm)
	if instr.D != code.NoRow {
		f.SetP(instr.D, m, p)
	}
	if instr.F != code.NoRow {
		f.SetP(instr.F, m, q)
	}
}

// Combine returns p = t op c and q = !t op c, lane by lane (manual 9.7.6.2). imm holds the boolean operator op, and
// ComplementC if c is negated first.
func Combine(t, c uint32, imm uint64) (p, q uint32) {
	if imm&ComplementC != 0 {
		c = ^c
	}
	switch imm &^ ComplementC {
	case BoolAnd:
		return t & c, ^t & c
	case BoolOr:
		return t | c, ^t | c
	case BoolXor:
		return t ^ c, ^t ^ c
	}
	return t, ^t
}

// ComplementC in Instr.Imm negates the third operand of a comparison, a predicate, before it is combined.
const ComplementC = 1 << 8
