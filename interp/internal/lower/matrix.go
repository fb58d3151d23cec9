package lower

// This file lowers matrix instructions.

import (
	"strconv"
	"strings"

	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// wholeWarps refuses an instruction that takes 32 lanes, where warps are less. In warps of 64
// each half executes it for itself.
func (l *lowerer) wholeWarps(in *ptx.Instr) {
	if l.prog.Width%matrix.Lanes != 0 {
		l.refuse("%s with warps of %d lanes instead of 32", in.Text, l.prog.Width)
	}
}

// tile is the matrices that ldmatrix or stmatrix names.
func tile(in *ptx.Instr) *matrix.Tile {
	count, _ := strconv.Atoi(strings.TrimPrefix(in.Slot("num"), "x"))
	if in.Has("s4") {
		return matrix.NewSignedTile(count)
	}
	packed := map[string]int{"": 0, "b6x16_p32": 6, "b4x16_p64": 4}
	return matrix.NewTile(in.Slot("shape"), in.Has("trans"), count, entry(packed, in.Slot("sfmt")))
}

// lowerTile lowers ldmatrix and stmatrix.
func lowerTile(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	a, addr := l.accessOf(in, in.Arg("a"))
	op, registers := code.LoadMatrix, "d"
	if a.Store = in.Form.Effects.Has(ptx.Writes); a.Store {
		op, registers = code.StoreMatrix, "b"
	}
	a.Size, a.Tile = 4, tile(in)
	l.elements(a, in.Arg(registers), ptx.B32, a.Store)
	a.Bytes = a.Tile.Bytes
	l.access(op, a, addr)
}

func lowerMovmatrix(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	l.emit(code.Instr{Op: code.MoveMatrix, D: l.target(in.Arg("d"), code.R), A: l.source(in.Arg("a"), ptx.B32, code.R)})
}

// lowerFragment lowers wmma.load and wmma.store: lane i accesses the matrix's row i, or the column
// that is one in memory.
func lowerFragment(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	op, registers, stride := code.LoadMatrix, "d", "b"
	if in.Form.Effects.Has(ptx.Writes) {
		op, registers, stride = code.StoreMatrix, "b", "c"
	}
	name, t := matrix.WmmaC, in.Type()
	switch {
	case in.Has("a"):
		name = matrix.WmmaA
	case in.Has("b"):
		name = matrix.WmmaB
	}
	w := l.wmma(in)
	col := in.Has("col")
	w.ACol, w.BCol = col, col
	a, base := l.accessOf(in, in.Arg("a"))
	a.Store, a.Tile, a.Size, a.Fixed = op == code.StoreMatrix, w.Tile(name, t, col), max(t.Size(), 4), nil
	rt := ptx.B32
	if a.Size == 8 {
		rt = ptx.F64
	}
	l.elements(a, in.Arg(registers), rt, a.Store)
	a.Bytes = a.Tile.Bytes

	s := a.Addr
	if s == code.NoSlot {
		s, base = code.Q, l.konst(code.Q, 0)
	}
	l.same(base, s)
	a.Addr = s
	lane := l.temp(code.R)
	l.emit(code.Instr{Op: code.AndB32, D: lane, A: l.sreg(ptx.LaneID, code.R, code.NoRow), B: l.konst(code.R, matrix.Lanes-1)})
	if s == code.Q {
		lane = l.wide(lane)
	}
	// The stride is in elements, of b1 and of 4 bits parts of a byte.
	var step int32
	if o := in.Arg(stride); o.Kind == ptx.RegOperand || o.Kind == ptx.SRegOperand {
		step = l.source(o, ptx.U32, code.R)
		l.same(step, code.R)
		if s == code.Q {
			step = l.wide(step)
		}
		step = l.op2(bySlot(s, code.MulLoU32, code.MulLoU64), s, step, l.konst(s, uint64(t.Bits())))
		step = l.op2(bySlot(s, code.ShrU32, code.ShrU64), s, step, l.konst(code.R, 3))
	} else {
		n := uint64(w.Stride(name, col))
		if o.Kind == ptx.ImmOperand {
			n = o.Imm.As(ptx.U32)
		}
		step = l.konst(s, n*uint64(t.Bits())/8)
	}
	step = l.op2(bySlot(s, code.MulLoU32, code.MulLoU64), s, lane, step)
	l.access(op, a, l.op2(addOp(s), s, base, step))
}

// same emits a check that lanes agree in a row.
func (l *lowerer) same(row int32, s code.Slot) {
	if s == code.R {
		row = l.wide(row)
	}
	l.emit(code.Instr{Op: code.CheckSame, A: row})
}

// wide is a 32-bit row in a 64-bit one.
func (l *lowerer) wide(row int32) int32 {
	d := l.temp(code.Q)
	l.emit(code.Instr{Op: code.ZextB64, D: d, A: row})
	return d
}

// op2 emits an operation on two rows.
func (l *lowerer) op2(op code.Op, s code.Slot, a, b int32) int32 {
	d := l.temp(s)
	l.emit(code.Instr{Op: op, D: d, A: a, B: b})
	return d
}

// wmma is the multiplication whose shape a wmma instruction has.
func (l *lowerer) wmma(in *ptx.Instr) matrix.Wmma {
	return matrix.Wmma{
		SM: l.env.SM(), M: in.Extent('m'), N: in.Extent('n'), K: in.Extent('k'),
		ACol: in.Slot("alayout") == "col", BCol: in.Slot("blayout") == "col",
	}
}

// lowerWmma lowers wmma.mma.
func lowerWmma(l *lowerer, in *ptx.Instr) {
	types := in.Types()
	if len(types) == 2 { // those of A and B are left out
		types = []ptx.Type{types[0], ptx.F16, ptx.F16, types[1]}
	}
	w := l.wmma(in)
	l.multiply(in, w.Multiply(types[0], types[1], types[2], types[3]))
}

func lowerMma(l *lowerer, in *ptx.Instr) {
	types := in.Types()
	m := matrix.Mma{
		M: in.Extent('m'), N: in.Extent('n'), K: in.Extent('k'), D: types[0], A: types[1], B: types[2], C: types[3],
		ACol: in.Slot("alayout") == "col", BRow: in.Slot("blayout") == "row",
	}
	if in.Has("kind::f8f6f4") || in.Has("kind::mxf8f6f4") {
		m.Container = 8
	}
	if in.Has("block_scale") {
		m.Scales = &matrix.Scales{Vec: 1, UE4M3: in.Has("ue4m3")}
		switch {
		case in.Has("scale_vec::4X"):
			m.Scales.Vec = 4
		case m.Container == 0:
			m.Scales.Vec = 2
		}
	}
	if m.Sparse = in.Slot("sp") != ""; m.Sparse {
		m.Ordered, m.Selector = in.Has("sp::ordered_metadata"), int(in.Arg("f").Imm.As(ptx.U32))
	}
	l.multiply(in, m.Multiply())
}

// multiply emits a multiplication, whose operands behind C, but for constants, are the metadata of a
// sparse A and scales with their selectors.
func (l *lowerer) multiply(in *ptx.Instr, m *matrix.Multiply) {
	l.wholeWarps(in)
	m.Saturate, m.Xor, m.Rounding = in.Has("satfinite"), in.Has("xor"), entry(roundings, in.Slot("rnd"))
	f := code.Fragments{Multiply: m}
	for i, spec := range in.Form.Operands {
		o := &in.Ops[i]
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
	l.tables.Fragments = append(l.tables.Fragments, f)
	l.emit(code.Instr{Op: code.Multiply, Side: int32(len(l.tables.Fragments) - 1)})
}

// registerType is the type of the registers that hold a matrix.
func registerType(o *matrix.Operand) ptx.Type {
	if o.Bits == 64 {
		return ptx.F64
	}
	return ptx.B32
}

// fragment is the registers of an operand, of which each lane has its part of a matrix.
func (l *lowerer) fragment(o *ptx.Operand, t ptx.Type, source bool) []code.Elem {
	list := []ptx.Operand{*o}
	if o.Kind == ptx.VecOperand {
		list = o.Elems()
	}
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
