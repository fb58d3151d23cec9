package native

// This file makes machine code of matrix multiplications.

import (
	"strconv"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// Fragments is the working memory of the stencils in matrix.c. Its layout is that of struct fragments there.
type Fragments struct {
	a       [3][matrix.MaxColumns][16]int32
	b       [3][matrix.MaxColumns][8]int32
	c       [8][16]int32
	special uint32
}

// SetFragments sets the working memory of matrix instructions, which warps that do not run at the same time may share.
func (c *Context) SetFragments(f *Fragments) { c.fragments = f }

// The size of an element of Fragments in bytes.
const fragmentBytes = int64(unsafe.Sizeof(int32(0)))

// decoders has the part of the stencils' names that says how elements of A and B are decoded.
var decoders = map[ptx.Type]string{ptx.F16: "f16", ptx.BF16: "bf16", ptx.TF32: "tf32", ptx.S8: "s8", ptx.U8: "u8"}

// multiplyCost is the cost of a multiplication in machine code, in instructions.
const multiplyCost = 80

// putMultiply makes the code of mma for all lanes, if package matrix has its multiplication by columns. Before it writes a
// register, the code exits to Go if A or B has an infinity or NaN, or if a sum is infinite, NaN or subnormal.
func (a *assembler) putMultiply(pc int32, instr *code.Instr, suffix string) {
	frags := &a.prog.Fragments[instr.Side]
	m, ok := frags.Multiply.ByColumns()
	if suffix != "_full" || !ok {
		a.leaveToGo()
		return
	}
	exit := a.exitLabel(pc, Unsupported)
	a.addCost(multiplyCost)
	a.put("matrix_begin", holes{})
	for i, e := range frags.A {
		row, col := m.CornerA(i)
		a.putFragment("matrix_a_"+decoders[m.TypeA], e, holes{n0: fragmentBytes * int64(16*col+row), n1: int64(m.ShiftA)})
	}
	for i, e := range frags.B {
		row, _ := m.CornerB(i)
		a.putFragment("matrix_b_"+decoders[m.TypeB], e, holes{n0: fragmentBytes * int64(8*row), n1: int64(m.ShiftB)})
	}
	for i, e := range frags.C {
		row, col := m.CornerC(i)
		a.putFragment("matrix_c", e, holes{n0: fragmentBytes * int64(16*col+row)})
	}
	if m.Block > 0 {
		a.put("multiply_floats"+strconv.Itoa(m.Block), holes{n0: int64(m.Columns), n1: int64(m.Bits - m.LeastExponent<<8), leave: exit})
	} else {
		a.put("multiply_integers", holes{n0: int64(m.Columns)})
	}
	for i, e := range frags.D {
		row, col := m.CornerC(i)
		h := holes{n0: fragmentBytes * int64(16*col+row)}
		a.setRegister(&h, 'D', e.Slot, e.Row)
		a.put("matrix_d", h)
	}
}

// putFragment makes the code that decodes a register of a matrix.
func (a *assembler) putFragment(name string, e code.Elem, h holes) {
	a.setPlace(&h, 'A', e.Slot, e.Row)
	a.putOrLeave(name, h)
}
