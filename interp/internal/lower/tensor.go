package lower

// This file lowers the fifth generation of tensor cores and their memory (manual 9.7.16).

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

// pairOf reports whether an instruction works on a pair of CTAs. The manual requires that all instructions of a kernel
// have the same .cta_group; nothing here checks it.
func pairOf(instr *ptx.Instr) bool { return instr.Has("cta_group::2") }

// tensorAddress returns the row of the address in tensor memory that an operand contains.
func (l *lowerer) tensorAddress(o *ptx.Operand) int32 {
	switch {
	case o.Kind != ptx.AddrOperand:
		return l.source(o, ptx.B32, code.R)
	case o.Sym() != nil:
		l.refuse("the address of %s as one in tensor memory", o.Sym().SymbolName())
	case o.Reg == ptx.NoReg:
		return l.constant(code.R, uint64(uint32(o.Offset())))
	}
	row := l.source(&ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}, ptx.B32, code.R)
	if o.Offset() != 0 {
		row = l.emitBinary(code.AddU32, code.R, row, l.constant(code.R, uint64(uint32(o.Offset()))))
	}
	return row
}

// ofFamily107 reports whether the module's target is sm_107 or a later target below sm_110. Their tensor cores have more
// features.
func (l *lowerer) ofFamily107() bool { return l.module.SM() >= 107 && l.module.SM() < 110 }

// lowerTensorAlloc lowers tcgen05.alloc, tcgen05.dealloc and tcgen05.relinquish_alloc_permit.
func lowerTensorAlloc(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	imm := code.TensorImm{Pair: pairOf(instr), Exclusive: instr.Has("exclusive"), Columns: matrix.TensorColumns}
	if l.ofFamily107() {
		imm.Columns = matrix.WideColumns
	}
	switch {
	case instr.Form.Operand("b") < 0:
		l.emit(code.Instr{Op: code.TensorRelinquish, Imm: imm.Imm()})
	case instr.Arg("a").Kind == ptx.AddrOperand:
		o := code.Instr{Op: code.TensorAlloc, D: l.newTemp(code.R)}
		space, _ := instr.Space()
		o.A, imm.Space = l.addressRow(instr, instr.Arg("a"), space)
		o.B, o.Imm = l.source(instr.Arg("b"), ptx.U32, code.R), imm.Imm()
		l.emit(o)
		a, addr := l.accessOf(instr, instr.Arg("a"))
		a.Store, a.SingleLane, a.Bytes, a.Elems, a.Strided = true, true, a.Size, []code.Elem{{Slot: code.R, Row: o.D}}, mem.StridedOf(a.Size, false)
		l.emitAccess(storeOp(a), a, addr)
	default:
		l.emit(code.Instr{Op: code.TensorDealloc, A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.U32, code.R), Imm: imm.Imm()})
	}
}

// tensorTile returns the tile that a tcgen05.ld or tcgen05.st accesses. split is the name of the operand with the place of
// the second half of .16x32bx2.
func (l *lowerer) tensorTile(instr *ptx.Instr, split string) *matrix.TensorTile {
	l.wholeWarps(instr)
	num, _ := strconv.Atoi(strings.TrimPrefix(instr.Slot("num"), "x"))
	shape := instr.Slot("shape")
	for _, s := range []string{"32x32b", "16x32bx2"} { // forms with a fixed shape
		if shape == "" && instr.Has(s) {
			shape = s
		}
	}
	t := matrix.NewTensorTile(shape, num)
	t.Packed = instr.Has("pack::16b") || instr.Has("unpack::16b")
	if i := instr.Form.Operand(split); i >= 0 && t.Halves {
		t.Split = int(uint32(instr.Ops[i].Imm.Encode(ptx.U32)))
	}
	return t
}

// emitFragments emits an instruction with f as its entry in the table of fragments.
func (l *lowerer) emitFragments(op code.Op, f code.Fragments) {
	l.tables.Fragments = append(l.tables.Fragments, f)
	l.emit(code.Instr{Op: op, Side: int32(len(l.tables.Fragments) - 1)})
}

// addressElems returns the operand E of an access to tensor memory: the row of its address.
func addressElems(row int32) []code.Elem { return []code.Elem{{Slot: code.R, Row: row}} }

func lowerTensorLoad(l *lowerer, instr *ptx.Instr) {
	t := &code.TensorAccess{Tile: l.tensorTile(instr, "b")}
	f := code.Fragments{Memory: t, E: addressElems(l.tensorAddress(instr.Arg("a"))), D: l.fragment(instr.Arg("d"), ptx.B32, false)}
	if instr.Has("spcompress") {
		c := code.TensorCompression{Compression: matrix.NewCompression(32, 2, 2, 4, t.Tile.Registers), Choice: matrix.Choice{Type: ptx.F32, Least: instr.Has("min"), Magnitude: instr.Has("abs")}}
		t.Compress = &c
		f.D = append(f.D, l.fragment(instr.Arg("p"), ptx.B32, false)...)
	}
	if instr.Has("red") {
		t.Reduce = &code.TensorReduction{Integer: code.Reduction{Op: lookUp(atomicOps, instr.Slot("op")), Type: instr.Type()}}
		if instr.Type() == ptx.F32 {
			m := alu.Modifiers{Abs: instr.Has("abs"), NaN: instr.Has("NaN")}
			t.Reduce.Float = code.FloatReduction{Op: code.OpNamed(instr.Slot("op") + ".any.f32"), Imm: uint32(m.Imm())}
		}
		f.D = append(f.D, l.fragment(instr.Arg("q"), ptx.B32, false)...)
	}
	l.emitFragments(code.TensorLoad, f)
}

func lowerTensorStore(l *lowerer, instr *ptx.Instr) {
	t := &code.TensorAccess{Tile: l.tensorTile(instr, "c")}
	f := code.Fragments{Memory: t, E: addressElems(l.tensorAddress(instr.Arg("a"))), A: l.fragment(instr.Arg("b"), ptx.B32, true)}
	l.emitFragments(code.TensorStore, f)
}

func lowerTensorWait(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	l.emit(code.Instr{Op: code.TensorWait, Imm: code.TensorImm{Store: instr.Has("wait::st")}.Imm()})
}

func lowerTensorCopy(l *lowerer, instr *ptx.Instr) {
	packed := map[string]int{"": 0, "b6x16_p32": 6, "b4x16_p64": 4}
	c := matrix.NewTensorCopy(instr.Slot("shape"), instr.Slot("multicast"), lookUp(packed, instr.Slot("sfmt")))
	l.tables.Fragments = append(l.tables.Fragments, code.Fragments{Memory: &code.TensorAccess{Copy: c}})
	l.emit(code.Instr{
		Op: code.TensorCopy, A: l.tensorAddress(instr.Arg("a")), B: l.source(instr.Arg("b"), ptx.B64, code.Q),
		Side: int32(len(l.tables.Fragments) - 1), Imm: code.TensorImm{Pair: pairOf(instr)}.Imm(),
	})
}

func lowerTensorShift(l *lowerer, instr *ptx.Instr) {
	l.emit(code.Instr{Op: code.TensorShift, A: l.tensorAddress(instr.Arg("a")), Imm: code.TensorImm{Pair: pairOf(instr)}.Imm()})
}

func lowerTensorMma(l *lowerer, instr *ptx.Instr) {
	m := &matrix.TensorMma{
		Kind: matrix.TensorKind(slices.Index(matrix.TensorKinds[:], instr.Slot("kind"))), Pair: pairOf(instr),
		Sparse: instr.Has("sp"), Stationary: instr.Has("ws"), InTensor: instr.Arg("a").Kind == ptx.AddrOperand,
		Shifted: instr.Has("ashift"), Table: instr.Has("decompress::lut::b"), Newer: l.ofFamily107(),
	}
	if instr.Has("block_scale") {
		switch m.ScalesPerRow = 1; { // .block16 and .block32 count as the modifiers of which they are aliases
		case m.Kind == matrix.KindMXF8F6F4:
		case instr.Has("scale_vec::4X"), instr.Has("block16"):
			m.ScalesPerRow = 4
		default:
			m.ScalesPerRow = 2
		}
	}
	present := func(name string) *ptx.Operand { // the named operand; nil if it is absent
		if i := instr.Form.Operand(name); i >= 0 && instr.Ops[i].Kind != ptx.NoOperand {
			return &instr.Ops[i]
		}
		return nil
	}
	zero := l.constant(code.R, 0)
	e := make([]code.Elem, code.TensorE)
	for i := range e {
		e[i] = code.Elem{Slot: code.R, Row: zero}
	}
	e[code.TensorZero] = code.Elem{Slot: code.Q, Row: l.constant(code.Q, 0)}
	e[code.TensorD].Row = l.tensorAddress(instr.Arg("d"))
	o := code.Instr{Op: code.TensorMma, A: l.constant(code.Q, 0)}
	if m.InTensor {
		e[code.TensorA].Row = l.tensorAddress(instr.Arg("a"))
	} else {
		o.A = l.source(instr.Arg("a"), ptx.B64, code.Q)
	}
	if m.Sparse || m.Table {
		e[code.TensorMeta].Row = l.tensorAddress(instr.Arg("e"))
	}
	enable := "g"
	switch {
	case m.ScalesPerRow > 0:
		e[code.TensorScaleA].Row, e[code.TensorScaleB].Row = l.tensorAddress(instr.Arg("f")), l.tensorAddress(instr.Arg("g"))
		enable = "h"
	case m.Stationary:
		if mask := present("h"); mask != nil {
			e[code.TensorZero].Row = l.source(mask, ptx.B64, code.Q)
		}
	default:
		if masks := present("f"); masks != nil {
			for i, mask := range l.fragment(masks, ptx.B32, true) {
				e[code.TensorDisabled+i] = mask
			}
		}
		if exponent := present("h"); exponent != nil && m.Kind != matrix.KindI8 { // kind::i8 ignores it
			m.InputScaleExponent = int(exponent.Imm.Encode(ptx.U32))
		}
	}
	o.B, o.C = l.source(instr.Arg("b"), ptx.B64, code.Q), l.source(instr.Arg("c"), ptx.B32, code.R)
	o.E = l.source(instr.Arg(enable), ptx.Pred, code.P)
	o.Side, o.Imm = int32(len(l.tables.Fragments)), code.TensorImm{Pair: m.Pair}.Imm()
	l.tables.Fragments = append(l.tables.Fragments, code.Fragments{Memory: &code.TensorAccess{Mma: m}, E: e})
	l.emit(o)
}

func lowerTensorCommit(l *lowerer, instr *ptx.Instr) {
	imm := code.TensorImm{Pair: pairOf(instr), Multicast: instr.Form.Operand("b") >= 0 && instr.Arg("b").Kind != ptx.NoOperand, ReadA: instr.Has("sync_restrict::shared::read::mma::a")}
	o := code.Instr{Op: code.TensorCommit, B: l.constant(code.R, 0)}
	space, sub := instr.Space()
	o.A, imm.Space = l.addressRowIn(instr, instr.Arg("a"), space, sub == "cluster")
	if imm.Wide = instr.Has("multicast::cluster::32b"); imm.Wide {
		o.B = l.source(instr.Arg("b"), ptx.B32, code.R)
	} else if imm.Multicast {
		o.B = l.source(instr.Arg("b"), ptx.B16, code.R)
	}
	o.Imm = imm.Imm()
	l.emit(o)
}
