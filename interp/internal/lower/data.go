package lower

// This file lowers computations and moves within a thread. See mov.go, convert.go and compare.go for moves, conversions
// and comparisons.

import (
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/probe"
	"gemu/ptx"
)

// lowerers contains the lowering function of each family of PTX instructions.
var lowerers [ptx.FamilyCount]func(l *lowerer, instr *ptx.Instr)

func init() {
	lowerers = [...]func(l *lowerer, instr *ptx.Instr){
		ptx.FamilyNone: func(l *lowerer, instr *ptx.Instr) { panic(unsupported{instr.Pos, instr.Text, instr.Form.NotRun()}) },

		ptx.FamilyCompute: lowerCompute, ptx.FamilyMove: lowerMov, ptx.FamilyConvert: lowerCvt, ptx.FamilyPack: lowerCvtPack, ptx.FamilyMixed: lowerMixed,
		ptx.FamilyAddress: lowerCvta, ptx.FamilyIsspacep: lowerIsspacep, ptx.FamilySetp: lowerSetp, ptx.FamilySet: lowerSet,
		ptx.FamilySlct: lowerSlct, ptx.FamilyLop3: lowerLop3, ptx.FamilyMapa: lowerMapa, ptx.FamilyGetctarank: lowerGetctarank,
		ptx.FamilyVideo: lowerVideo, ptx.FamilyVideo2: lowerVideo, ptx.FamilyVideo4: lowerVideo, ptx.FamilyVmad: lowerVideo,

		ptx.FamilyLoad: lowerLd, ptx.FamilyStore: lowerSt, ptx.FamilyAtomic: lowerAtom, ptx.FamilyHint: lowerHint,
		ptx.FamilyCreatepolicy: lowerCreatepolicy,
		ptx.FamilyStacksave:    lowerStacksave, ptx.FamilyStackrestore: lowerStackrestore, ptx.FamilyAlloca: lowerAlloca,

		ptx.FamilyBra: lowerBra, ptx.FamilyBrx: lowerBrx, ptx.FamilyRet: lowerRet, ptx.FamilyExit: lowerExit, ptx.FamilyCall: lowerCall,
		ptx.FamilyTrap: lowerTrap, ptx.FamilyBrkpt: lowerBrkpt,
		ptx.FamilyBarrier: lowerBar, ptx.FamilyNothing: lowerNop, ptx.FamilyNanosleep: lowerNanosleep,
		ptx.FamilyShfl: lowerShfl, ptx.FamilyVote: lowerVote, ptx.FamilyMatch: lowerMatch, ptx.FamilyActivemask: lowerActivemask,
		ptx.FamilyRedux: lowerRedux, ptx.FamilyElect: lowerElect,
		ptx.FamilyTryCancel: lowerTryCancel, ptx.FamilyQueryCancel: lowerQueryCancel,
		ptx.FamilyMbarrier: lowerMbarrier, ptx.FamilyAsync: lowerAsync, ptx.FamilyAsyncStore: lowerAsyncStore, ptx.FamilyTensormap: lowerTensormap,
		ptx.FamilyTexture: lowerTexture, ptx.FamilySurface: lowerSurface, ptx.FamilyTextureQuery: lowerTextureQuery,
		ptx.FamilySurfaceQuery: lowerSurfaceQuery, ptx.FamilyIstypep: lowerIstypep,
		ptx.FamilyTile: lowerTile, ptx.FamilyFragment: lowerFragment, ptx.FamilyMovmatrix: lowerMovmatrix, ptx.FamilySparse: lowerSparse, ptx.FamilyMma: lowerMma, ptx.FamilyWmma: lowerWmma,
		ptx.FamilyWgmma: lowerWgmma, ptx.FamilyWgmmaFence: lowerWgmmaFence, ptx.FamilyWgmmaCommit: lowerWgmmaCommit, ptx.FamilyWgmmaWait: lowerWgmmaWait,
		ptx.FamilyTensorAlloc: lowerTensorAlloc, ptx.FamilyTensorLoad: lowerTensorLoad, ptx.FamilyTensorStore: lowerTensorStore, ptx.FamilyTensorWait: lowerTensorWait,
		ptx.FamilyTensorCopy: lowerTensorCopy, ptx.FamilyTensorShift: lowerTensorShift, ptx.FamilyTensorMma: lowerTensorMma, ptx.FamilyTensorCommit: lowerTensorCommit,
	}
}

// source returns a row in slot s with the value of a source operand of type t. If the operand is a register in another
// slot, a negated predicate, a special register or an address, it emits instructions that compute the value.
func (l *lowerer) source(o *ptx.Operand, t ptx.Type, s code.Slot) int32 {
	switch o.Kind {
	case ptx.RegOperand:
		ref := l.rows[o.Reg]
		row := ref.Row
		switch {
		case ref.Slot == code.P && o.Neg:
			row = l.newTemp(code.P)
			l.emit(code.Instr{Op: code.NotPred, D: row, A: ref.Row})
		case ref.Slot == code.Q && s == code.R:
			row = l.newTemp(code.R)
			l.emit(code.Instr{Op: code.CvtU32U64, D: row, A: ref.Row})
		case ref.Slot == code.R && s == code.Q:
			row = l.newTemp(code.Q)
			l.emit(code.Instr{Op: code.ZextB64, D: row, A: ref.Row})
		}
		return row
	case ptx.ImmOperand:
		bits := o.Imm.Encode(t)
		if t == ptx.NoType {
			bits = o.Imm.Bits
		}
		if o.Neg {
			bits ^= 1
		}
		return l.constant(s, bits)
	case ptx.SRegOperand:
		return l.sreg(o.SReg, s, code.NoRow)
	case ptx.SymOperand:
		return l.symbol(o.Sym(), o.Offset(), s, code.NoRow)
	case ptx.SinkOperand: // an element of a vector that mov packs
		return l.constant(s, 0)
	}
	panic("BUG: no source operand")
}

// operandElems returns the elements of a vector operand; otherwise the operand itself.
func operandElems(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VecOperand {
		return o.Elems()
	}
	return []ptx.Operand{*o}
}

// symbol returns a row with the address of a variable or function plus an offset in bytes. If d is not code.NoRow, it is
// this row.
func (l *lowerer) symbol(s ptx.Symbol, offset int64, slot code.Slot, d int32) int32 {
	v, isVar := s.(*ptx.Var)
	if isVar {
		if place, ok := l.locals[v]; ok && (v.Space == ptx.Local || v.Space == ptx.Param) {
			if l.fn.Entry {
				return l.moveConstant(slot, uint64(int64(4*l.fn.Align+place)+offset), d)
			}
			if d == code.NoRow {
				d = l.newTemp(slot)
			}
			l.emit(code.Instr{Op: bySlot(slot, code.Frame32, code.Frame64), D: d, Imm: uint64(int64(place) + offset)})
			return d
		}
		if addr, ok := l.moduleLocals[v]; ok {
			return l.moveConstant(slot, addr+uint64(offset), d)
		}
		if v.Space == ptx.Shared && l.opt.Cluster {
			if d == code.NoRow {
				d = l.newTemp(slot)
			}
			l.emit(code.Instr{Op: bySlot(slot, code.Shared32, code.Shared64), D: d, Imm: l.address(s) + uint64(offset)})
			return d
		}
	}
	return l.moveConstant(slot, l.address(s)+uint64(offset), d)
}

// address returns the address of a symbol with the same address in every thread.
func (l *lowerer) address(s ptx.Symbol) uint64 {
	if v, ok := s.(*ptx.Var); ok {
		switch v.Space {
		case ptx.Shared:
			if offset, ok := l.sharedAddresses[definitionOf(l.module, v)]; ok {
				return offset
			}
		case ptx.Param:
			for _, p := range l.prog.Params {
				if p.Var == v {
					return probe.ParamBase + uint64(p.Offset)
				}
			}
		}
	}
	addr, ok := l.env.Address(s)
	if f, isFunc := s.(*ptx.Func); isFunc && !f.Defined {
		def, found := l.module.Lookup(f.Name).(*ptx.Func)
		ok = ok && found && def.Defined // an undefined function has no code to call
	}
	if !ok {
		l.refuse("the address of %s, which is declared but not defined,", s.SymbolName())
	}
	return addr
}

// moveConstant returns a row with a constant. If d is not code.NoRow, it copies the constant to this row.
func (l *lowerer) moveConstant(s code.Slot, bits uint64, d int32) int32 {
	row := l.constant(s, bits)
	if d == code.NoRow {
		return row
	}
	l.emit(code.Instr{Op: movOp(s), D: d, A: row})
	return d
}

// movOp returns the operation for a copy of a row.
func movOp(s code.Slot) code.Op {
	if s == code.P {
		return code.MovPred
	}
	return bySlot(s, code.MovB32, code.MovB64)
}

// target returns the row of a destination in slot s. For a sink it is a temporary.
func (l *lowerer) target(o *ptx.Operand, s code.Slot) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].Row
	}
	return l.newTemp(s)
}

// predicate returns the row of a predicate destination; code.NoRow for a sink or an absent operand.
func (l *lowerer) predicate(o *ptx.Operand) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].Row
	}
	return code.NoRow
}

// regBits returns the width of the operand's register in bits, or otherwise if the operand is no register.
func (l *lowerer) regBits(o *ptx.Operand, otherwise int) int {
	if o.Kind == ptx.RegOperand {
		return l.fn.Func.Regs[o.Reg].Type.Bits()
	}
	return otherwise
}

// result returns a row for a result of type t. The caller must call finish after emitting the instruction that writes the
// row: if the destination register is wider than the type, finish emits the extension of the value (manual 9.4.1).
func (l *lowerer) result(o *ptx.Operand, t ptx.Type) (row int32, finish func()) {
	width := l.regBits(o, t.Bits())
	s := code.SlotOf(t)
	if o.Kind != ptx.RegOperand || width == t.Bits() {
		return l.target(o, s), func() {}
	}
	d := l.rows[o.Reg].Row
	switch {
	case width == 64:
		row = l.newTemp(s)
		op := code.WidenU32B64
		if t.IsSigned() {
			op = code.OpNamed("widen" + t.String() + ".b64")
		}
		return row, func() { l.emit(code.Instr{Op: op, D: d, A: row}) }
	case t == ptx.S8 && width == 16:
		return d, func() { l.emit(code.Instr{Op: code.WidenS8B16, D: d, A: d}) }
	case t.IsSigned():
		return d, func() {
			l.emit(code.Instr{Op: code.OpNamed("widen" + t.String() + ".b32"), D: d, A: d})
		}
	}
	return d, func() {} // values of fewer bits than their slot are zero-extended already
}

// lowerCompute lowers an instruction to a single kernel of package alu.
func lowerCompute(l *lowerer, instr *ptx.Instr) {
	o := code.Instr{Op: code.OpOf(instr.Variant)}
	if o.Op == code.Invalid || o.Op.Signature().Sources() < instr.Sources() {
		o.Op, o.Imm = generalForm(instr)
	}
	if o.Op == code.Invalid {
		l.refuse("%s", instr.Text)
	}
	s := o.Op.Signature()
	rows := []*int32{&o.A, &o.B, &o.C, &o.E}
	n := 0
	for i := range instr.Form.Operands {
		op := &instr.Ops[i]
		if instr.Form.Operands[i].Const {
			o.Imm = op.Imm.Bits
		}
		if !instr.IsSource(i) {
			continue
		}
		*rows[n] = l.source(op, instr.OperandType(i), s.Src[n])
		n++
	}
	for ; n < s.Sources(); n++ {
		switch {
		case s.Src[n] == code.P: // the carry flag
			*rows[n] = l.carry
		default: // the instruction lacks this source; the kernel ignores it
			*rows[n] = o.A
		}
	}
	if s.Dst2 != code.NoSlot {
		o.F = l.carry
	}
	d := &instr.Ops[0]
	if s.Dst == code.P {
		if d.Kind != ptx.RegOperand {
			return
		}
		o.D = l.rows[d.Reg].Row
	} else {
		o.D = l.target(d, s.Dst)
	}
	l.emit(o)
}

var roundings = map[string]fp.Rounding{
	"": fp.RN, "rn": fp.RN, "rz": fp.RZ, "rm": fp.RM, "rp": fp.RP, "rni": fp.RN, "rzi": fp.RZ, "rmi": fp.RM, "rpi": fp.RP,
}

// generalForm returns the kernel for an instruction on floats without a kernel of its own, and the kernel's Imm, which
// contains the modifiers. The kernel is code.Invalid if there is none.
func generalForm(instr *ptx.Instr) (code.Op, uint64) {
	rnd := instr.Slot("rnd")
	if rnd == "" {
		rnd = instr.Slot("mode")
	}
	r, known := roundings[rnd]
	if !known {
		return code.Invalid, 0
	}
	name := instr.Form.Op.Name
	m := alu.Modifiers{
		Rnd: r, FTZ: instr.Has("ftz"), Sat: instr.Has("sat"), NaN: instr.Has("NaN"), XorSign: instr.Has("xorsign"), Abs: instr.Has("abs"),
		ThreeOperands: (name == "min" || name == "max") && instr.Sources() > 2, Relu: instr.Has("relu"), OutOfBounds: instr.Has("oob"),
	}
	return code.GeneralOpOf(instr.Variant), m.Imm()
}

// addOp returns the operation that adds two rows of slot s.
func addOp(s code.Slot) code.Op { return bySlot(s, code.AddU32, code.AddU64) }

// bySlot returns wide for 64-bit slots, and otherwise narrow.
func bySlot(s code.Slot, narrow, wide code.Op) code.Op {
	if s == code.Q {
		return wide
	}
	return narrow
}

func lowerIsspacep(l *lowerer, instr *ptx.Instr) {
	a := &instr.Ops[1]
	row := l.source(a, ptx.U64, code.Q)
	space, sub := instr.Space()
	imm := uint64(space)
	if sub == "cluster" {
		imm |= 1 << 8
	}
	d := l.predicate(&instr.Ops[0])
	l.emit(code.Instr{Op: code.Isspacep, D: d, A: row, Imm: imm})
}

// lowerLop3 lowers lop3 with a predicate as its second result.
func lowerLop3(l *lowerer, instr *ptx.Instr) {
	d := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.Lop3B32, D: d, A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R), C: l.source(instr.Arg("c"), ptx.B32, code.R), Imm: instr.Arg("e").Imm.Bits})
	p := l.newTemp(code.P)
	l.emit(code.Instr{Op: code.NonzeroB32, D: p, A: d})
	q := l.source(instr.Arg("f"), ptx.Pred, code.P)
	// Write the predicate last: it may be the instruction's own guard.
	if o := instr.Arg("d"); o.Kind == ptx.RegOperand {
		l.emit(code.Instr{Op: code.MovB32, D: l.rows[o.Reg].Row, A: d})
	}
	if o := instr.Arg("p"); o.Kind == ptx.RegOperand {
		l.emit(code.Instr{Op: code.OpNamed(instr.Slot("bool") + ".pred"), D: l.rows[o.Reg].Row, A: p, B: q})
	}
}

func lowerSlct(l *lowerer, instr *ptx.Instr) {
	t := instr.SlotType("dtype")
	s := code.SlotOf(t)
	ct := instr.OperandType(3)
	o := code.Instr{Op: code.OpNamed("slct" + [...]string{code.R: ".b32", code.Q: ".b64"}[s] + ct.String()), D: l.target(&instr.Ops[0], s), A: l.source(&instr.Ops[1], t, s), B: l.source(&instr.Ops[2], t, s), C: l.source(&instr.Ops[3], ct, code.R)}
	if instr.Has("ftz") {
		o.C = l.flushed(o.C)
	}
	l.emit(o)
}

// lowerMapa lowers mapa: it inserts the rank of a CTA into an address. In a cluster of one CTA the address stays the same.
func lowerMapa(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	rank := l.source(instr.Arg("b"), ptx.U32, code.R)
	l.emit(code.Instr{Op: code.CheckRank, A: rank})
	d, a := l.target(&instr.Ops[0], s), l.source(&instr.Ops[1], instr.Type(), s)
	if !l.opt.Cluster {
		l.emit(code.Instr{Op: movOp(s), D: d, A: a})
		return
	}
	insert := code.OpNamed("bfi.b32")
	if s == code.Q {
		wide := l.newTemp(code.Q)
		l.emit(code.Instr{Op: code.ZextB64, D: wide, A: rank})
		insert, rank = code.OpNamed("bfi.b64"), wide
	}
	l.emit(code.Instr{Op: insert, D: d, A: rank, B: a, C: l.constant(code.R, probe.RankShift), E: l.constant(code.R, rankBits)})
}

// rankBits is the number of bits for a CTA's rank in an address of shared memory.
const rankBits = 8

func lowerGetctarank(l *lowerer, instr *ptx.Instr) {
	d := l.target(&instr.Ops[0], code.R)
	if !l.opt.Cluster {
		l.emit(code.Instr{Op: code.MovB32, D: d, A: l.constant(code.R, 0)})
		return
	}
	s := code.SlotOf(instr.Type())
	o := code.Instr{Op: code.OpNamed("bfe.u32"), D: d, A: l.source(&instr.Ops[1], instr.Type(), s), B: l.constant(code.R, probe.RankShift), C: l.constant(code.R, rankBits)}
	if s == code.Q {
		o.Op, o.D = code.OpNamed("bfe.u64"), l.newTemp(code.Q)
		l.emit(o)
		o = code.Instr{Op: code.CvtU32U64, D: d, A: o.D}
	}
	l.emit(o)
}

func lowerCreatepolicy(l *lowerer, instr *ptx.Instr) {
	l.emit(code.Instr{Op: code.MovB64, D: l.target(&instr.Ops[0], code.Q), A: l.constant(code.Q, 0)})
}

// lowerNop emits nothing, for instructions without an effect.
func lowerNop(l *lowerer, instr *ptx.Instr) {}

// sreg emits the read of a special register into row d, or into a temporary if d is code.NoRow, and returns the row.
func (l *lowerer) sreg(r ptx.SpecialReg, s code.Slot, d int32) int32 {
	if d == code.NoRow {
		d = l.newTemp(s)
	}
	switch r {
	case ptx.LanemaskEq, ptx.LanemaskLe, ptx.LanemaskLt, ptx.LanemaskGe, ptx.LanemaskGt:
		l.warpOnly(l.src)
	}
	op, explicit := code.Sreg32, uint64(0)
	if l.opt.ExplicitCluster {
		explicit = 1
	}
	switch {
	case s == code.P: // %is_explicit_cluster
		l.emit(code.Instr{Op: code.MovPred, D: d, A: l.constant(code.P, explicit)})
		return d
	case s == code.Q:
		op = code.Sreg64
	case l.src.Type().Bits() == 16:
		op = code.Sreg16
	}
	l.emit(code.Instr{Op: op, D: d, Imm: uint64(r)})
	return d
}
