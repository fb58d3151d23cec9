package native

// This file makes machine code of matrix instructions: mma, ldmatrix, stmatrix, wmma.load, wmma.store.

import (
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// Fragments is the working memory of the stencils in matrix.c. Its layout is that of struct fragments there.
type Fragments struct {
	_       uintptr        // the panel of B to multiply by; machine code sets it
	panels  unsafe.Pointer // of *rightPanel: the panels of B
	rows    unsafe.Pointer // rows of C and D in memory
	rowSize uintptr        // the distance of these rows in bytes

	_        [matrix.MaxColumns][matrix.ProductRows]int32                             // A: elements, by column and row
	_        [2 * matrix.MaxProducts][matrix.ProductColumns][matrix.ProductRows]int32 // C, then D; and C if it is added last
	_        [matrix.MaxColumns][matrix.ProductRows]int8                              // exponents of A
	scales   matrix.ColumnScales[[matrix.ProductRows]int32]                           // of A
	metadata matrix.PanelMetadata
	_        [matrix.ProductColumns][matrix.ProductRows]int8     // of a block: exponents
	_        [4][matrix.ProductColumns][matrix.ProductRows]int32 // exponents, sums and scales
	_        [8][matrix.ProductRows]uint32                       // columns of registers
	_        [4][matrix.ProductColumns][matrix.ProductRows]int32 // sums of groups
	flags    [5]int32                                            // exponent of the divisor of A, flags, places of scales
	_        rightPanel                                          // B of an mma
}

// rightPanel has eight columns of B. Its layout is that of struct right in matrix.c.
type rightPanel struct {
	_       [matrix.MaxColumns][matrix.ProductColumns]int32 // elements
	_       [matrix.MaxColumns][matrix.ProductColumns]int8  // exponents
	scales  matrix.ColumnScales[[matrix.ProductColumns]int32]
	_       int32  // exponent of the divisor
	special uint32 // not 0: there is an infinity or a NaN, or machine code does not multiply some element
}

// SetFragments sets the working memory of matrix instructions, which warps that do not run at the same time may share.
func (c *Context) SetFragments(f *Fragments) { c.fragments = f }

// productCost is the cost of the multiplication of a product in machine code, in instructions: its time over that of an fma.
const productCost = 40

// putMultiply makes the code of a multiplication for all lanes, if package matrix has it by columns, and if there are stencils
// for its types. Before it writes a register, the code exits to Go if it does not know a result: see matrix.c.
func (a *assembler) putMultiply(pc int32, instr *code.Instr, suffix string) {
	frags := &a.prog.Fragments[instr.Side]
	m, ok := frags.Multiply.ByColumns()
	if suffix != "_full" || !ok {
		a.leaveToGo()
		return
	}
	exit := a.exitLabel(pc, Unsupported)
	a.addCost(productCost * len(m.Products))
	a.put("matrix_begin", holes{})
	elemsA, elemsB := frags.A, frags.B
	if m.Exchanged {
		elemsA, elemsB = elemsB, elemsA
	}
	a.decodeExtra(frags.E, &m, exit)
	name, n0, n1 := multiplyFunction(&m)
	for i := range m.Products {
		x, number := &m.Products[i], int64(i)
		if i == 0 || !slices.Equal(x.A, m.Products[i-1].A) {
			a.decodeMatrix("_a", m.A, elemsA, x.A, &m, exit)
		}
		if i == 0 || !slices.Equal(x.B, m.Products[i-1].B) {
			a.decodeMatrix("_b", m.B, elemsB, x.B, &m, exit)
		}
		at := matrix.ProductColumns * number
		if m.CLast {
			a.callFunction("clear", 0, number, exit)
			at += matrix.ProductColumns * matrix.MaxProducts
		}
		for _, p := range x.C {
			a.decodePart("decode_"+sumType(m.C)+"_c", frags.C, p, holes{n0: at + int64(p.Column)})
		}
		a.callFunction(name, n0, n1|number, exit)
		if m.CLast {
			const elements = matrix.ProductRows * matrix.ProductColumns
			a.callFunction("add_"+sumType(m.D), elements, elements*number, exit)
		}
	}
	for i := range m.Products {
		for _, p := range m.Products[i].D {
			x, y := frags.D[p.Registers[0]], frags.D[p.Registers[1]]
			if x.Row == code.NoRow || y.Row == code.NoRow {
				a.leaveToGo()
				return
			}
			h := holes{n0: int64(matrix.ProductColumns*i + p.Column), other: a.function("encode_" + sumType(m.D))}
			a.setRegister(&h, 'D', x.Slot, x.Row)
			a.setRegister(&h, 'F', y.Slot, y.Row)
			a.putOrLeave("matrix_encode_"+x.Slot.String(), h)
		}
	}
}

// decodeExtra makes the code that decodes the registers that hold no matrix: metadata, and scales of A and of B with their
// selectors (matrix.Multiply.Extra).
func (a *assembler) decodeExtra(elems []code.Elem, m *matrix.Columns, exit int) {
	two := func(i, k int) matrix.Part { return matrix.Part{Registers: [2]int{i, k}} }
	if d := &m.Metadata; d.Size != 0 {
		name, check := "narrow", int64(0)
		if d.Wide {
			name = "wide"
		}
		a.decodePart("decode_metadata_"+name, elems, two(0, 0), holes{n0: int64(d.First), n1: int64(d.Lanes)})
		switch {
		case d.Size == 4:
			check = 2
		case d.Ordered:
			check = 1
		}
		a.callFunction("check_metadata", int64(d.Groups), check, exit)
		elems = elems[1:]
	}
	if m.ScalesPerRow == 0 {
		return
	}
	for i, threads := range []int64{2, 4} { // manual table 37
		first, format := 3*i, int64(0)
		if m.UE4M3 {
			format = 1
		}
		a.decodePart("select_scales", elems, two(first+1, first+2), holes{n0: int64(m.ScalesPerRow), n1: threads})
		a.decodePart("decode_scales_"+[]string{"a", "b"}[i], elems, two(first, first), holes{n0: int64(m.ScalesPerRow), n1: format})
	}
}

// multiplyFunction returns the function that multiplies a product, and its numbers but for the number of the product.
func multiplyFunction(m *matrix.Columns) (name string, n0, n1 int64) {
	numbers := func(list ...int) (n int64) { // of 8 bits each, as a number of 32 bits
		bits := uint32(0)
		for i, v := range list {
			bits |= uint32(v) << (8 * i)
		}
		return int64(int32(bits))
	}
	switch {
	case m.A == ptx.F64:
		return "multiply_doubles", int64(m.Columns), 0
	case m.A == ptx.B1 && m.Xor:
		return "multiply_bits_xor", int64(m.Columns), 0
	case m.A == ptx.B1:
		return "multiply_bits_and", int64(m.Columns), 0
	case m.A.IsInt() && m.Saturate:
		return "multiply_saturated", int64(m.Columns), 0
	case m.A.IsInt():
		return "multiply_integers", int64(m.Columns), 0
	case m.Group != 0:
		return "multiply_groups", numbers(m.Columns, m.Group, m.ScalesPerRow), numbers(0, m.Bits, m.SumScale, -m.LeastExponent)
	}
	n0, n1 = numbers(m.Columns, m.Block, m.Bits), numbers(0, m.ClearedBits, -m.LeastExponent, m.Exponent)
	switch {
	case m.ScalesPerRow != 0:
		return "multiply_scaled", n0, n1
	case m.SumF16:
		return "multiply_f16", n0, n1
	}
	return "multiply_f32", n0, n1
}

// sumType returns the part of a function's name for the type of C or D: 32 bits are copied.
func sumType(t ptx.Type) string {
	if t == ptx.S32 {
		t = ptx.F32
	}
	return t.String()[1:]
}

// decodeMatrix makes the code that decodes the registers of A or B for a product.
func (a *assembler) decodeMatrix(suffix string, t ptx.Type, elems []code.Elem, parts []matrix.Part, m *matrix.Columns, exit int) {
	name := "decode_" + t.String()[1:]
	switch {
	case m.Halves && t == ptx.E4M3:
		name += "_f16"
	case m.Group != 0:
		name += "p"
	}
	words, third, odd := m.Distances()
	for _, p := range parts {
		distances := words | third<<8 | odd<<16
		if suffix == "_a" {
			distances |= (m.Metadata.Size | p.Group<<3) << 24
		}
		a.decodePart(name+suffix, elems, p, holes{n0: int64(p.Column), n1: int64(distances)})
	}
	if t == ptx.BF16 || t == ptx.TF32 {
		a.callFunction("normalise"+suffix, int64(m.Columns), 0, exit)
	}
}

// decodePart makes the code that decodes two registers.
func (a *assembler) decodePart(name string, elems []code.Elem, p matrix.Part, h holes) {
	x, y := elems[p.Registers[0]], elems[p.Registers[1]]
	a.setPlace(&h, 'A', x.Slot, x.Row)
	a.setPlace(&h, 'B', y.Slot, y.Row)
	h.other = a.function(name)
	a.putOrLeave("matrix_decode_"+x.Slot.String(), h)
}

// callFunction makes the code that calls a function with two numbers, and goes to the label exit if its result is not 0.
func (a *assembler) callFunction(name string, n0, n1 int64, exit int) {
	a.put("matrix_call", holes{n0: n0, n1: n1, other: a.function(name), leave: exit})
}

// tileLoads and tileStores have the parts of stencils' names for tiles, by shape, with ".trans" if a row in memory is a column in the
// registers.
var (
	tileLoads  = map[string]string{"m8n8": "", "m8n8.trans": "_trans", "m8n16": "", "m16n16.trans": "_bytes"}
	tileStores = map[string]string{"m8n8": "", "m8n8.trans": "_trans", "m16n8.trans": "_bytes"}
)

// tileForm returns the part of the stencils' names for a tile; ok is false if there are no stencils.
func tileForm(t *matrix.Tile, store bool) (form string, ok bool) {
	shape, forms := t.Shape, tileLoads
	if t.Transposed {
		shape += ".trans"
	}
	if store {
		forms = tileStores
	}
	form, ok = forms[shape]
	switch {
	case t.Signed:
		form += "_signed"
	case t.Packed < 8:
		form += fmt.Sprintf("_%dbits", t.Packed)
	}
	return form, ok
}

// putTile makes the code of ldmatrix and stmatrix at addresses in shared memory, for all lanes. It exits to Go before the first access
// unless all rows are in bounds and aligned.
func (a *assembler) putTile(pc int32, instr *code.Instr, suffix string) {
	acc := &a.prog.Access[instr.Side]
	if acc.Tile.Shape == "" {
		a.putFragment(pc, instr, acc, suffix)
		return
	}
	form, ok := tileForm(acc.Tile, acc.Store)
	if suffix != "_full" || !ok || acc.Space != ptx.Shared || acc.Cluster || acc.Addr == code.NoSlot || acc.Frame {
		a.leaveToGo()
		return
	}
	name := "_" + acc.Addr.String()
	h := holes{n0: int64(acc.Offset), leave: a.exitLabel(pc, Unsupported)}
	a.checkOffset(h.n0)
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	lanes := uint32(1<<acc.Tile.Addresses() - 1)
	h.n1 = int64(int32(lanes))
	rows := "matrix_rows"
	if acc.Tile.Bytes < matrix.RowBytes {
		rows = "matrix_short_rows"
	}
	a.putOrLeave(rows+name, h)
	registers := len(acc.Elems) / acc.Tile.Count // of a matrix
	for i := 0; i < len(acc.Elems); i += registers {
		h.n1 = int64(acc.Tile.Rows * (i / registers))
		list := acc.Elems[i:][:registers]
		if acc.Store {
			a.setPlace(&h, 'B', list[0].Slot, list[0].Row)
			a.putOrLeave("store_matrix"+form+name, h)
			continue
		}
		for k, e := range list {
			if e.Slot == code.NoSlot || e.Slot == acc.Addr && e.Row == instr.A && i+registers != len(acc.Elems) {
				a.leaveToGo() // the load would overwrite the addresses of the remaining matrices
			}
			a.setRegister(&h, "DF"[k], e.Slot, e.Row)
		}
		a.putOrLeave("load_matrix"+form+name, h)
	}
}

// putFragment makes the code of wmma.load and wmma.store, for all lanes. It exits to Go before the first access unless all rows are
// in bounds, aligned and equally far apart.
func (a *assembler) putFragment(pc int32, instr *code.Instr, acc *code.Access, suffix string) {
	t := acc.Tile
	if suffix != "_full" || acc.Cluster || acc.Addr == code.NoSlot || acc.Frame || acc.Space == ptx.Local {
		a.leaveToGo()
		return
	}
	if a.catching && mayFault(instr, acc) {
		a.putExitAtFault(pc, instr, acc)
	}
	a.addCost(vectorCost)
	h := holes{n0: int64(acc.Offset), leave: a.exitLabel(pc, Unsupported), b: int64(t.Rows | (t.Align-1)<<8), c: int64(t.Bytes | t.Bits/8<<16)}
	a.checkOffset(h.n0)
	a.setPlace(&h, 'A', acc.Addr, instr.A)
	for i, s := range t.LaneSteps() {
		h.d |= fragmentStep(6, i, s.Row)
		h.f |= fragmentStep(6, i, s.Col)
	}
	a.putWithHitLookup(instr, acc, &h, func() { a.putOrLeave("fragment_"+acc.Addr.String()+spaceSuffix(acc), h) })
	for i, e := range acc.Elems {
		first, bits := t.RegisterSteps(i)
		element, last := t.Bits, len(bits)-1
		if last >= 0 && bits[0] == (matrix.Step{Col: 1}) && (last == 0 || bits[1] == matrix.Step{Col: 2}) {
			element, bits = 32, nil // the register has neighbouring elements of a row
		}
		var h holes
		for k, s := range append([]matrix.Step{first}, bits...) {
			h.n0 |= fragmentStep(10, k, s.Row)
			h.n1 |= fragmentStep(10, k, s.Col*t.Bits/8)
		}
		name := "_fragment_u" + strconv.Itoa(element)
		if acc.Store {
			a.setPlace(&h, 'B', e.Slot, e.Row)
			a.putOrLeave("store"+name, h)
		} else if e.Slot != code.NoSlot {
			a.setRegister(&h, 'D', e.Slot, e.Row)
			a.putOrLeave("load"+name, h)
		}
	}
}

// fragmentStep returns a step of a fragment as number i of several numbers of n bits.
func fragmentStep(n, i, step int) int64 {
	if step < 0 || step >= 1<<n {
		panic("BUG: a step of a fragment that does not fit")
	}
	return int64(step) << (n * i)
}
