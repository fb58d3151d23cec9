package lower

// This file lowers the tensor cores of the fifth generation and their memory (manual 9.7.16).

import (
	"slices"
	"strconv"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// pairOf reports whether an instruction is of a pair of CTAs. That of every instruction of a
// kernel must be the same, which the manual says and nobody checks.
func pairOf(in *ptx.Instr) bool { return in.Has("cta_group::2") }

// tensorAddress is the row of an address in tensor memory.
func (l *lowerer) tensorAddress(o *ptx.Operand) int32 {
	switch {
	case o.Kind != ptx.AddrOperand:
		return l.source(o, ptx.B32, code.R)
	case o.Sym() != nil:
		l.refuse("the address of %s as one in tensor memory", o.Sym().SymbolName())
	case o.Reg == ptx.NoReg:
		return l.konst(code.R, uint64(uint32(o.Off())))
	}
	row := l.source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.B32, code.R)
	if o.Off() != 0 {
		row = l.op2(code.AddU32, code.R, row, l.konst(code.R, uint64(uint32(o.Off()))))
	}
	return row
}

// ofFamily107 reports whether the module is for sm_107 or a later one of its family, whose tensor cores do more.
func (l *lowerer) ofFamily107() bool { return l.module.SM() >= 107 && l.module.SM() < 110 }

func lowerTensorAlloc(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	imm := code.TensorImm{Pair: pairOf(in), Exclusive: in.Has("exclusive"), Columns: matrix.TensorColumns}
	if l.ofFamily107() {
		imm.Columns = matrix.WideColumns
	}
	switch {
	case in.Form.Operand("b") < 0:
		l.emit(code.Instr{Op: code.TensorRelinquish, Imm: imm.Imm()})
	case in.Arg("a").Kind == ptx.AddrOperand:
		o := code.Instr{Op: code.TensorAlloc, D: l.temp(code.R)}
		space, _ := in.Space()
		o.A, imm.Space = l.place(in, in.Arg("a"), space)
		o.B, o.Imm = l.source(in.Arg("b"), ptx.U32, code.R), imm.Imm()
		l.emit(o)
		a, addr := l.accessOf(in, in.Arg("a"))
		a.Store, a.Once, a.Bytes, a.Elems, a.Move = true, true, a.Size, []code.Elem{{Slot: code.R, Row: o.D}}, mem.StridedOf(a.Size, false)
		l.access(storeOp(a), a, addr)
	default:
		l.emit(code.Instr{Op: code.TensorDealloc, A: l.source(in.Arg("a"), ptx.B32, code.R), B: l.source(in.Arg("b"), ptx.U32, code.R), Imm: imm.Imm()})
	}
}

// tensorTile is what tcgen05.ld or .st accesses; split is the operand that the second half of
// .16x32bx2 is at.
func (l *lowerer) tensorTile(in *ptx.Instr, split string) *matrix.TensorTile {
	l.wholeWarps(in)
	num, _ := strconv.Atoi(strings.TrimPrefix(in.Slot("num"), "x"))
	shape := in.Slot("shape")
	for _, s := range []string{"32x32b", "16x32bx2"} { // where the form has no other
		if shape == "" && in.Has(s) {
			shape = s
		}
	}
	t := matrix.NewTensorTile(shape, num)
	t.Packed = in.Has("pack::16b") || in.Has("unpack::16b")
	if i := in.Form.Operand(split); i >= 0 && t.Halves {
		t.Split = int(uint32(in.Ops[i].Imm.As(ptx.U32)))
	}
	return t
}

func (l *lowerer) tensorFragments(op code.Op, f code.Fragments) {
	l.tables.Fragments = append(l.tables.Fragments, f)
	l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Fragments) - 1)})
}

func address(row int32) []code.Elem { return []code.Elem{{Slot: code.R, Row: row}} }

func lowerTensorLoad(l *lowerer, in *ptx.Instr) {
	t := &code.TensorAccess{Tile: l.tensorTile(in, "b")}
	f := code.Fragments{Memory: t, E: address(l.tensorAddress(in.Arg("a"))), D: l.fragment(in.Arg("d"), ptx.B32, false)}
	if in.Has("spcompress") {
		c := code.TensorCompression{Compression: matrix.NewCompression(32, 2, 2, 4, t.Tile.Registers), Choice: matrix.Choice{Type: ptx.F32, Least: in.Has("min"), Magnitude: in.Has("abs")}}
		t.Compress = &c
		f.D = append(f.D, l.fragment(in.Arg("p"), ptx.B32, false)...)
	}
	if in.Has("red") {
		t.Reduce = &code.TensorReduction{Integer: code.Reduction{Op: entry(atomicOps, in.Slot("op")), Type: in.Type()}}
		if in.Type() == ptx.F32 {
			m := alu.Modifiers{Abs: in.Has("abs"), NaN: in.Has("NaN")}
			t.Reduce.Float = code.FloatReduction{Op: code.Named(in.Slot("op") + ".any.f32"), Imm: uint32(m.Imm())}
		}
		f.D = append(f.D, l.fragment(in.Arg("q"), ptx.B32, false)...)
	}
	l.tensorFragments(code.TensorLoad, f)
}

func lowerTensorStore(l *lowerer, in *ptx.Instr) {
	t := &code.TensorAccess{Tile: l.tensorTile(in, "c")}
	l.tensorFragments(code.TensorStore, code.Fragments{Memory: t, E: address(l.tensorAddress(in.Arg("a"))), A: l.fragment(in.Arg("b"), ptx.B32, true)})
}

func lowerTensorWait(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	l.emit(code.Instr{Op: code.TensorWait, Imm: code.TensorImm{Store: in.Has("wait::st")}.Imm()})
}

func lowerTensorCopy(l *lowerer, in *ptx.Instr) {
	packed := map[string]int{"": 0, "b6x16_p32": 6, "b4x16_p64": 4}
	c := matrix.NewTensorCopy(in.Slot("shape"), in.Slot("multicast"), entry(packed, in.Slot("sfmt")))
	l.tables.Fragments = append(l.tables.Fragments, code.Fragments{Memory: &code.TensorAccess{Copy: c}})
	l.emit(code.Instr{
		Op: code.TensorCopy, A: l.tensorAddress(in.Arg("a")), B: l.source(in.Arg("b"), ptx.B64, code.Q),
		Side: int32(len(l.tables.Fragments) - 1), Imm: code.TensorImm{Pair: pairOf(in)}.Imm(),
	})
}

func lowerTensorShift(l *lowerer, in *ptx.Instr) {
	l.emit(code.Instr{Op: code.TensorShift, A: l.tensorAddress(in.Arg("a")), Imm: code.TensorImm{Pair: pairOf(in)}.Imm()})
}

func lowerTensorMma(l *lowerer, in *ptx.Instr) {
	m := &matrix.TensorMma{
		Kind: matrix.TensorKind(slices.Index(matrix.TensorKinds[:], in.Slot("kind"))), Pair: pairOf(in),
		Sparse: in.Has("sp"), Stationary: in.Has("ws"), InTensor: in.Arg("a").Kind == ptx.AddrOperand,
		Shifted: in.Has("ashift"), Table: in.Has("decompress::lut::b"), Newer: l.ofFamily107(),
	}
	if in.Has("block_scale") {
		switch m.Vec = 1; { // of .block16 and .block32 as of those that they are aliases for
		case m.Kind == matrix.KindMXF8F6F4:
		case in.Has("scale_vec::4X"), in.Has("block16"):
			m.Vec = 4
		default:
			m.Vec = 2
		}
	}
	given := func(name string) *ptx.Operand {
		if i := in.Form.Operand(name); i >= 0 && in.Ops[i].Kind != ptx.NoOperand {
			return &in.Ops[i]
		}
		return nil
	}
	zero := l.konst(code.R, 0)
	e := make([]code.Elem, code.TensorE)
	for i := range e {
		e[i] = code.Elem{Slot: code.R, Row: zero}
	}
	e[code.TensorZero] = code.Elem{Slot: code.Q, Row: l.konst(code.Q, 0)}
	e[code.TensorD].Row = l.tensorAddress(in.Arg("d"))
	o := code.Instr{Op: code.TensorMma, A: l.konst(code.Q, 0)}
	if m.InTensor {
		e[code.TensorA].Row = l.tensorAddress(in.Arg("a"))
	} else {
		o.A = l.source(in.Arg("a"), ptx.B64, code.Q)
	}
	if m.Sparse || m.Table {
		e[code.TensorMeta].Row = l.tensorAddress(in.Arg("e"))
	}
	enable := "g"
	switch {
	case m.Vec > 0:
		e[code.TensorScaleA].Row, e[code.TensorScaleB].Row = l.tensorAddress(in.Arg("f")), l.tensorAddress(in.Arg("g"))
		enable = "h"
	case m.Stationary:
		if z := given("h"); z != nil {
			e[code.TensorZero].Row = l.source(z, ptx.B64, code.Q)
		}
	default:
		if masks := given("f"); masks != nil {
			for i, mask := range l.fragment(masks, ptx.B32, true) {
				e[code.TensorDisabled+i] = mask
			}
		}
		if less := given("h"); less != nil && m.Kind != matrix.KindI8 { // that drops it
			m.Less = int(less.Imm.As(ptx.U32))
		}
	}
	o.B, o.C = l.source(in.Arg("b"), ptx.B64, code.Q), l.source(in.Arg("c"), ptx.B32, code.R)
	o.E = l.source(in.Arg(enable), ptx.Pred, code.P)
	o.Side, o.Imm = int32(len(l.tables.Fragments)), code.TensorImm{Pair: m.Pair}.Imm()
	l.tables.Fragments = append(l.tables.Fragments, code.Fragments{Memory: &code.TensorAccess{Mma: m}, E: e})
	l.emit(o)
}

func lowerTensorCommit(l *lowerer, in *ptx.Instr) {
	imm := code.TensorImm{Pair: pairOf(in), Multicast: in.Form.Operand("b") >= 0 && in.Arg("b").Kind != ptx.NoOperand, ReadA: in.Has("sync_restrict::shared::read::mma::a")}
	o := code.Instr{Op: code.TensorCommit, B: l.konst(code.R, 0)}
	space, sub := in.Space()
	o.A, imm.Space = l.placeIn(in, in.Arg("a"), space, sub == "cluster")
	if imm.Wide = in.Has("multicast::cluster::32b"); imm.Wide {
		o.B = l.source(in.Arg("b"), ptx.B32, code.R)
	} else if imm.Multicast {
		o.B = l.source(in.Arg("b"), ptx.B16, code.R)
	}
	o.Imm = imm.Imm()
	l.emit(o)
}
