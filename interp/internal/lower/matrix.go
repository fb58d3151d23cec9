package lower

// This file lowers matrix instructions.

import (
	"strconv"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// wholeWarps refuses an instruction that 32 lanes execute together, if a warp does not consist of groups of 32 lanes. In a
// warp of 64 lanes each half executes the instruction separately.
func (l *lowerer) wholeWarps(instr *ptx.Instr) {
	if l.prog.Width%matrix.Lanes != 0 {
		l.refuse("%s with warps of %d lanes instead of 32", instr.Text, l.prog.Width)
	}
}

// tile returns the matrices in memory that an ldmatrix or stmatrix accesses.
func tile(instr *ptx.Instr) *matrix.Tile {
	count, _ := strconv.Atoi(strings.TrimPrefix(instr.Slot("num"), "x"))
	if instr.Has("s4") {
		return matrix.NewSignedTile(count)
	}
	packed := map[string]int{"": 0, "b6x16_p32": 6, "b4x16_p64": 4}
	return matrix.NewTile(instr.Slot("shape"), instr.Has("trans"), count, lookUp(packed, instr.Slot("sfmt")))
}

// lowerTile lowers ldmatrix and stmatrix.
func lowerTile(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	a, addr := l.accessOf(instr, instr.Arg("a"))
	op, registers := code.LoadMatrix, "d"
	if a.Store = instr.Form.Effects.HasAll(ptx.Writes); a.Store {
		op, registers = code.StoreMatrix, "b"
	}
	a.Size, a.Tile = 4, tile(instr)
	l.elements(a, instr.Arg(registers), ptx.B32, a.Store)
	a.Bytes = a.Tile.Bytes
	l.emitAccess(op, a, addr)
}

// lowerMovmatrix lowers movmatrix, which transposes a matrix.
func lowerMovmatrix(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	l.emit(code.Instr{Op: code.MoveMatrix, D: l.target(instr.Arg("d"), code.R), A: l.source(instr.Arg("a"), ptx.B32, code.R)})
}

// lowerFragment lowers wmma.load and wmma.store. Lane i has the address of row i of the matrix or, if the columns are
// contiguous in memory, of column i.
func lowerFragment(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	op, registers, stride := code.LoadMatrix, "d", "b"
	if instr.Form.Effects.HasAll(ptx.Writes) {
		op, registers, stride = code.StoreMatrix, "b", "c"
	}
	name, t := matrix.WmmaC, instr.Type()
	switch {
	case instr.Has("a"):
		name = matrix.WmmaA
	case instr.Has("b"):
		name = matrix.WmmaB
	}
	w := l.wmma(instr)
	col := instr.Has("col")
	w.ACol, w.BCol = col, col
	a, base := l.accessOf(instr, instr.Arg("a"))
	a.Store, a.Tile, a.Size, a.Fixed = op == code.StoreMatrix, w.Tile(name, t, col), max(t.Size(), 4), nil
	registerType := ptx.B32
	if a.Size == 8 {
		registerType = ptx.F64
	}
	l.elements(a, instr.Arg(registers), registerType, a.Store)
	a.Bytes = a.Tile.Bytes

	s := a.Addr
	if s == code.NoSlot {
		s, base = code.Q, l.constant(code.Q, 0)
	}
	l.checkSame(base, s) // the address operand must be the same in all lanes
	a.Addr = s
	lane := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.AndB32, D: lane, A: l.sreg(ptx.LaneID, code.R, code.NoRow), B: l.constant(code.R, matrix.Lanes-1)})
	if s == code.Q {
		lane = l.widen(lane)
	}
	// The stride is a number of elements, which may have less than 8 bits. step is the row with the stride in bytes.
	var step int32
	if o := instr.Arg(stride); o.Kind == ptx.RegOperand || o.Kind == ptx.SRegOperand {
		step = l.source(o, ptx.U32, code.R)
		l.checkSame(step, code.R)
		if s == code.Q {
			step = l.widen(step)
		}
		step = l.emitBinary(bySlot(s, code.MulLoU32, code.MulLoU64), s, step, l.constant(s, uint64(t.Bits())))
		step = l.emitBinary(bySlot(s, code.ShrU32, code.ShrU64), s, step, l.constant(code.R, 3))
	} else {
		n := uint64(w.Stride(name, col))
		if o.Kind == ptx.ImmOperand {
			n = o.Imm.Encode(ptx.U32)
		}
		step = l.constant(s, n*uint64(t.Bits())/8)
	}
	distance := l.emitBinary(bySlot(s, code.MulLoU32, code.MulLoU64), s, lane, step)
	l.emitAccess(op, a, l.emitBinary(addOp(s), s, base, distance))
}

// checkSame emits a check that a row of slot s has the same value in all lanes.
func (l *lowerer) checkSame(row int32, s code.Slot) {
	if s == code.R {
		row = l.widen(row)
	}
	l.emit(code.Instr{Op: code.CheckSame, A: row})
}

// widen returns a 64-bit row with the value of a 32-bit row.
func (l *lowerer) widen(row int32) int32 {
	d := l.newTemp(code.Q)
	l.emit(code.Instr{Op: code.ZextB64, D: d, A: row})
	return d
}

// emitBinary emits an operation on two rows and returns the row of its result, a temporary in slot s.
func (l *lowerer) emitBinary(op code.Op, s code.Slot, a, b int32) int32 {
	d := l.newTemp(s)
	l.emit(code.Instr{Op: op, D: d, A: a, B: b})
	return d
}

// wmma returns the shape and the layouts of a wmma instruction.
func (l *lowerer) wmma(instr *ptx.Instr) matrix.Wmma {
	return matrix.Wmma{
		SM: l.env.SM(), M: instr.Extent('m'), N: instr.Extent('n'), K: instr.Extent('k'),
		ACol: instr.Slot("alayout") == "col", BCol: instr.Slot("blayout") == "col",
	}
}

// lowerWmma lowers wmma.mma.
func lowerWmma(l *lowerer, instr *ptx.Instr) {
	types := instr.Types()
	if len(types) == 2 { // the types of A and B are omitted
		types = []ptx.Type{types[0], ptx.F16, ptx.F16, types[1]}
	}
	w := l.wmma(instr)
	l.multiply(instr, w.Multiply(types[0], types[1], types[2], types[3]))
}

// lowerMma lowers mma.
func lowerMma(l *lowerer, instr *ptx.Instr) {
	types := instr.Types()
	m := matrix.Mma{
		SM: l.env.SM(), M: instr.Extent('m'), N: instr.Extent('n'), K: instr.Extent('k'), D: types[0], A: types[1], B: types[2], C: types[3],
		ACol: instr.Slot("alayout") == "col", BRow: instr.Slot("blayout") == "row",
	}
	if instr.Has("kind::f8f6f4") || instr.Has("kind::mxf8f6f4") {
		m.Container = 8
	}
	if instr.Has("block_scale") {
		m.Scales = &matrix.Scales{PerRow: 1, UE4M3: instr.Has("ue4m3")}
		switch {
		case instr.Has("scale_vec::4X"):
			m.Scales.PerRow = 4
		case m.Container == 0:
			m.Scales.PerRow = 2
		}
	}
	if m.Sparse = instr.Slot("sp") != ""; m.Sparse {
		m.Ordered, m.Selector = instr.Has("sp::ordered_metadata"), int(instr.Arg("f").Imm.Encode(ptx.U32))
	}
	l.multiply(instr, m.Multiply())
}

// multiply completes m with the modifiers of the instruction, and emits the multiplication. The operands after C, except
// constants, are the metadata of a sparse A, and scales with their selectors.
func (l *lowerer) multiply(instr *ptx.Instr, m *matrix.Multiply) {
	l.wholeWarps(instr)
	m.Saturate, m.Xor, m.Rounding = instr.Has("satfinite"), instr.Has("xor"), lookUp(roundings, instr.Slot("rnd"))
	f := code.Fragments{Multiply: m}
	for i, spec := range instr.Form.Operands {
		o := &instr.Ops[i]
		switch spec.Name {
		case "d":
			f.D = l.fragment(o, registerType(&m.D), false)
		case "a":
			f.A = l.fragment(o, registerType(&m.A), true)
		case "b":
			f.B = l.fragment(o, registerType(&m.B), true)
		case "c":
			f.C = l.fragment(o, registerType(&m.C), true)
		default:
			if !spec.Const {
				f.E = append(f.E, l.fragment(o, ptx.B32, true)...)
			}
		}
	}
	l.emitFragments(code.Multiply, f)
}

// registerType returns the type of the registers that hold a matrix.
func registerType(o *matrix.Operand) ptx.Type {
	if o.Bits == 64 {
		return ptx.F64
	}
	return ptx.B32
}

// fragment returns the rows of an operand whose registers, of type t, hold each lane's part of a matrix. source states
// that the instruction reads the operand.
func (l *lowerer) fragment(o *ptx.Operand, t ptx.Type, source bool) []code.Elem {
	list := operandElems(o)
	var elems []code.Elem
	s := code.SlotOf(t)
	for i := range list {
		e := code.Elem{Slot: s}
		if source {
			e.Row = l.source(&list[i], t, s)
		} else {
			e.Row = l.target(&list[i], s)
		}
		elems = append(elems, e)
	}
	return elems
}
