package native

// This file makes machine code of matrix instructions: mma, ldmatrix, stmatrix.

import (
	"strconv"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// Fragments is the working memory of the stencils in matrix.c. Its layout is that of struct fragments there.
type Fragments struct {
	_ [3][matrix.MaxColumns][16]int32 // A: three numbers of each element, by column and row
	_ [3][matrix.MaxColumns][8]int32  // B: the same, by row and column
	_ [8][16]int32                    // C, then D, by column and row
	_ uint32                          // not 0: A or B has an infinity or a NaN
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
