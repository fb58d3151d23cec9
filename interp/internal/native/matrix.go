package native

// This file makes machine code of matrix instructions: mma, ldmatrix, stmatrix.

import (
	"strconv"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// The maximum numbers of rows of A and of columns of B.
const rowsOfA, columnsOfB = 16, 8

// Fragments is the working memory of the stencils in matrix.c. Its layout is that of struct fragments there.
type Fragments struct {
	_ [3][matrix.MaxColumns][rowsOfA]int32    // A: three numbers of each element, by column and row
	_ [3][matrix.MaxColumns][columnsOfB]int32 // B: the same, by row and column
	_ [columnsOfB][rowsOfA]int32              // C, then D, by column and row
	_ uint32                                  // not 0: A or B has an infinity or a NaN
}

// SetFragments sets the working memory of matrix instructions, which warps that do not run at the same time may share.
func (c *Context) SetFragments(f *Fragments) { c.fragments = f }

// aPlace and bPlace return the places in bytes of an element of A (also of C and D) and of B in Fragments.
func aPlace(row, col int) int64 { return int64(unsafe.Sizeof(int32(0))) * int64(rowsOfA*col+row) }
func bPlace(row, col int) int64 { return int64(unsafe.Sizeof(int32(0))) * int64(columnsOfB*row+col) }

// multiplyCost is the cost of a multiplication in machine code, in instructions: its time over that of an fma.
const multiplyCost = 80

// putMultiply makes the code of mma for all lanes, if package matrix has its multiplication by columns, and if there are
// stencils for the types of its factors. Before it writes a
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
		a.putFragment("matrix_a_"+m.TypeA.String()[1:], e, holes{n0: aPlace(m.CornerA(i)), n1: int64(m.ShiftA)})
	}
	for i, e := range frags.B {
		a.putFragment("matrix_b_"+m.TypeB.String()[1:], e, holes{n0: bPlace(m.CornerB(i)), n1: int64(m.ShiftB)})
	}
	for i, e := range frags.C {
		a.putFragment("matrix_c", e, holes{n0: aPlace(m.CornerC(i))})
	}
	if m.Block > 0 {
		a.putOrLeave("multiply_floats"+strconv.Itoa(m.Block), holes{n0: int64(m.Columns), n1: int64(m.Bits - m.LeastExponent<<8), leave: exit})
	} else {
		a.put("multiply_integers", holes{n0: int64(m.Columns)})
	}
	for i, e := range frags.D {
		h := holes{n0: aPlace(m.CornerC(i))}
		a.setRegister(&h, 'D', e.Slot, e.Row)
		a.put("matrix_d", h)
	}
}

// putFragment makes the code that decodes a register of a matrix.
func (a *assembler) putFragment(name string, e code.Elem, h holes) {
	a.setPlace(&h, 'A', e.Slot, e.Row)
	a.putOrLeave(name, h)
}

// putTile makes the code of ldmatrix and stmatrix of 8×8 matrices of 16-bit elements at addresses in shared memory, for all
// lanes. It exits to Go before the first access unless all rows are in bounds and aligned.
func (a *assembler) putTile(pc int32, instr *code.Instr, suffix string) {
	acc := &a.prog.Access[instr.Side]
	transposed, ok := acc.Tile.Is8x8()
	if suffix != "_full" || !ok || acc.Space != ptx.Shared || acc.Cluster || acc.Addr == code.NoSlot || acc.Frame {
		a.leaveToGo()
		return
	}
	name := "_" + acc.Addr.String()
	h := holes{n0: int64(acc.Offset), leave: a.exitLabel(pc, Unsupported)}
	a.checkOffset(h.n0)
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	lanes := uint32(1)<<acc.Tile.Addresses() - 1
	h.n1 = int64(int32(lanes))
	a.putOrLeave("matrix_rows"+name, h)
	if transposed {
		name = "_trans" + name
	}
	for i, e := range acc.Elems {
		h.n1 = int64(matrix.Rows8x8 * i)
		if acc.Store {
			a.setPlace(&h, 'B', e.Slot, e.Row)
			a.putOrLeave("store_matrix"+name, h)
			continue
		}
		if e.Slot == code.NoSlot || e.Slot == acc.Addr && e.Row == instr.A && i != len(acc.Elems)-1 {
			a.leaveToGo() // the load would overwrite the addresses of the remaining matrices
		}
		a.setRegister(&h, 'D', e.Slot, e.Row)
		a.putOrLeave("load_matrix"+name, h)
	}
}
