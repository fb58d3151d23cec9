package lower

// This file lowers what moves and computes data within a thread.

import (
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/mem"
	"gemu/ptx"
)

// lowerers say what becomes of the instructions of a family.
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

// source gives the row of a source operand of type t, in slot s.
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
	case ptx.SinkOperand: // of mov.b32
		return l.constant(s, 0)
	}
	panic("BUG: no source operand")
}

// symbol gives the row that holds the address of a variable or function plus an
// offset; it goes to row d unless that is code.NoRow.
func (l *lowerer) symbol(s ptx.Symbol, offset int64, slot code.Slot, d int32) int32 {
	v, isVar := s.(*ptx.Var)
	if isVar {
		if at, ok := l.locals[v]; ok && (v.Space == ptx.Local || v.Space == ptx.Param) {
			if l.fn.Entry {
				return l.moveConstant(slot, uint64(int64(4*l.fn.Align+at)+offset), d)
			}
			if d == code.NoRow {
				d = l.newTemp(slot)
			}
			l.emit(code.Instr{Op: bySlot(slot, code.Frame32, code.Frame64), D: d, Imm: uint64(int64(at) + offset)})
			return d
		}
		if at, ok := l.moduleLocals[v]; ok {
			return l.moveConstant(slot, at+uint64(offset), d)
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

// address is the address of a symbol that has the same one in every thread.
func (l *lowerer) address(s ptx.Symbol) uint64 {
	if v, ok := s.(*ptx.Var); ok {
		switch v.Space {
		case ptx.Shared:
			if at, ok := l.sharedAddresses[definitionOf(l.module, v)]; ok {
				return at
			}
		case ptx.Param:
			for _, p := range l.prog.Params {
				if p.Var == v {
					return mem.ParamBase + uint64(p.Offset)
				}
			}
		}
	}
	a, ok := l.env.Address(s)
	if f, isFunc := s.(*ptx.Func); isFunc && !f.Defined {
		def, found := l.module.Lookup(f.Name).(*ptx.Func)
		ok = ok && found && def.Defined // a call of it has nowhere to go
	}
	if !ok {
		l.refuse("the address of %s, which is declared but not defined,", s.SymbolName())
	}
	return a
}

func (l *lowerer) moveConstant(s code.Slot, bits uint64, d int32) int32 {
	k := l.constant(s, bits)
	if d == code.NoRow {
		return k
	}
	l.emit(code.Instr{Op: movOp(s), D: d, A: k})
	return d
}

// movOp copies a row.
func movOp(s code.Slot) code.Op {
	if s == code.P {
		return code.MovPred
	}
	return bySlot(s, code.MovB32, code.MovB64)
}

// target gives the row of a destination; a sink gets a temporary.
func (l *lowerer) target(o *ptx.Operand, s code.Slot) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].Row
	}
	return l.newTemp(s)
}

// predicate gives the row of a predicate destination, or code.NoRow.
func (l *lowerer) predicate(o *ptx.Operand) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].Row
	}
	return code.NoRow
}

// regBits is the width of the register an operand names, want for others.
func (l *lowerer) regBits(o *ptx.Operand, want int) int {
	if o.Kind == ptx.RegOperand {
		return l.fn.Func.Regs[o.Reg].Type.Bits()
	}
	return want
}

// result gives a row to compute a result of type t into, and a function that
// finishes the destination when the register is wider than the type: the value
// is extended as its type says (manual 9.4.1).
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
	return d, func() {} // slots are zero-extended
}

// lowerCompute lowers an instruction that is one kernel.
func lowerCompute(l *lowerer, instr *ptx.Instr) {
	if instr.Has("2pi") {
		spec := alu.ConvertSpec{Dst: ptx.F32, Src: ptx.F32, Sine: instr.Form.Op.Name == "sin", Cosine: instr.Form.Op.Name == "cos"}
		l.emit(code.Instr{Op: code.ConvertB32B32, D: l.target(&instr.Ops[0], code.R), A: l.source(&instr.Ops[1], ptx.F32, code.R), Imm: spec.Imm()})
		return
	}
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
		default: // a source this form does not have
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

// generalForm finds the operation of float arithmetic that takes modifiers in its Imm, for a
// form that has none of its own.
func generalForm(instr *ptx.Instr) (code.Op, uint64) {
	rnd := instr.Slot("rnd")
	if rnd == "" {
		rnd = instr.Slot("mode")
	}
	r, known := roundings[rnd]
	if !known {
		return code.Invalid, 0
	}
	m := alu.Modifiers{
		Rnd: r, FTZ: instr.Has("ftz"), Sat: instr.Has("sat"), NaN: instr.Has("NaN"), XorSign: instr.Has("xorsign"), Abs: instr.Has("abs"),
		ThreeOperands: instr.Sources() > 2, Relu: instr.Has("relu"), OutOfBounds: instr.Has("oob"),
	}
	return code.GeneralOpOf(instr.Variant), m.Imm()
}

func lowerMov(l *lowerer, instr *ptx.Instr) {
	d, a := &instr.Ops[0], &instr.Ops[1]
	t := instr.Type()
	switch {
	case d.Kind == ptx.SinkOperand:
	case a.Kind == ptx.VecOperand:
		l.pack(d, a.Elems(), t)
	case d.Kind == ptx.VecOperand:
		l.unpack(d.Elems(), a, t)
	case t == ptx.B128:
		dr := l.rows[d.Reg].Row
		ar := l.rows[a.Reg].Row
		l.emit(code.Instr{Op: code.MovB64, D: dr, A: ar})
		l.emit(code.Instr{Op: code.MovB64, D: l.rows[d.Reg].High, A: l.rows[a.Reg].High})
	default:
		s := code.SlotOf(t)
		dr := l.rows[d.Reg].Row
		switch a.Kind {
		case ptx.SRegOperand:
			l.sreg(a.SReg, s, dr)
		case ptx.SymOperand:
			l.symbol(a.Sym(), a.Offset(), s, dr)
		default:
			l.emit(code.Instr{Op: movOp(s), D: dr, A: l.source(a, t, s)})
		}
	}
}

// pack makes a register of its parts, the first the lowest.
func (l *lowerer) pack(d *ptx.Operand, parts []ptx.Operand, t ptx.Type) {
	n := t.Bits() / len(parts)
	row := l.target(d, code.SlotOf(t))
	switch {
	case t == ptx.B128 && n == 64:
		for i := range parts {
			l.emit(code.Instr{Op: code.MovB64, D: row + int32(i), A: l.source(&parts[i], ptx.B64, code.Q)})
		}
	case t == ptx.B128: // four of 32 bits
		for i := 0; i < 4; i += 2 {
			l.emit(code.Instr{Op: code.PackB64, D: row + int32(i/2), A: l.source(&parts[i], ptx.B32, code.R), B: l.source(&parts[i+1], ptx.B32, code.R)})
		}
	case t == ptx.B64 && n == 32:
		l.emit(code.Instr{Op: code.PackB64, D: row, A: l.source(&parts[0], ptx.B32, code.R), B: l.source(&parts[1], ptx.B32, code.R)})
	case t == ptx.B32 && n == 16:
		l.emit(code.Instr{Op: code.PackB32, D: row, A: l.source(&parts[0], ptx.B16, code.R), B: l.source(&parts[1], ptx.B16, code.R)})
	default:
		op := bySlot(code.SlotOf(t), code.InsertB32, code.InsertB64)
		acc := l.constant(code.SlotOf(t), 0)
		for i := range parts {
			l.emit(code.Instr{Op: op, D: row, A: acc, B: l.source(&parts[i], bitsType(n), code.R), Imm: uint64(i * n)})
			acc = row
		}
	}
}

func bitsType(n int) ptx.Type {
	switch n {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	}
	return ptx.B64
}

// unpack takes a register apart.
func (l *lowerer) unpack(parts []ptx.Operand, a *ptx.Operand, t ptx.Type) {
	n := t.Bits() / len(parts)
	s := code.SlotOf(t)
	row := l.source(a, t, s)
	for i := range parts {
		if parts[i].Kind != ptx.RegOperand {
			continue
		}
		d := l.rows[parts[i].Reg].Row
		at := i * n
		switch {
		case t == ptx.B128 && n == 64:
			l.emit(code.Instr{Op: code.MovB64, D: d, A: row + int32(i)})
		case s == code.Q:
			l.emit(code.Instr{Op: code.ExtractB64, D: d, A: row + int32(at/64), Imm: uint64(at%64 | n<<8)})
		default:
			l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(at | n<<8)})
		}
	}
}

func lowerCvt(l *lowerer, instr *ptx.Instr) {
	dt, at := instr.Conversion()
	spec := alu.ConvertSpec{
		Dst: dt, Src: at, Rnd: lookUp(roundings, instr.Slot("rnd")), Integral: strings.HasSuffix(instr.Slot("rnd"), "i"),
		FTZ: instr.Has("ftz"), Sat: instr.Has("sat"), Relu: instr.Has("relu"), SatFinite: instr.Has("satfinite"), PlusZero: instr.Has("pzo"),
	}
	switch {
	case instr.Has("rs"):
		spec.Rnd = fp.RS
	case instr.Has("rna"):
		spec.Rnd = fp.RNA
	}
	if _, n := dt.Elements(); n > 1 {
		l.convertPacked(instr, spec)
		return
	}
	d, finish := l.result(&instr.Ops[0], dt)
	a := l.source(&instr.Ops[1], at, code.SlotOf(at))
	conversion := code.Instr{Op: code.OpOf(instr.Variant), D: d, A: a}
	if conversion.Op == code.Invalid {
		conversion.Op, conversion.Imm = convertOps[code.SlotOf(dt)][code.SlotOf(at)], spec.Imm()
	}
	l.emit(conversion)
	finish()
}

// convertPacked emits a cvt that packs its results. The first number is the uppermost.
func (l *lowerer) convertPacked(instr *ptx.Instr, spec alu.ConvertSpec) {
	d, packed := instr.Arg("d"), spec.Src
	to, n := spec.Dst.Elements()
	from, sources := packed.Elements()
	width := spec.Dst.Bits() / n
	spec.Dst, spec.Src = to, from
	name := "c"
	if sources > 1 {
		name = "b"
	}
	with := new(ptx.Operand) // random bits or scales
	if i := instr.Form.Operand(name); i >= 0 {
		with = &instr.Ops[i]
	}
	parts := make([]int32, n)
	for i := range parts {
		var a int32
		switch o := instr.Arg("a"); {
		case sources > 1:
			a = l.extract(l.source(o, packed, code.R), (n-1-i)*packed.Bits()/n, packed.Bits()/n)
		case o.Kind == ptx.VecOperand:
			a = l.source(&o.Elems()[i], from, code.R)
		case i == 0:
			a = l.source(o, from, code.R)
		default:
			a = l.source(instr.Arg("b"), from, code.R)
		}
		o := code.Instr{Op: code.ConvertB32B32, A: a}
		switch {
		case with.Kind == ptx.NoOperand:
		case spec.Rnd == fp.RS:
			o.Op, o.B = code.ConvertWithB32, l.random(l.source(with, ptx.B32, code.R), to, n, i)
		case instr.Has("scaled::n1::ue8m0"):
			o.Op, o.B, spec.Flush = code.ConvertWithB32, l.extract(l.source(with, ptx.B8, code.R), 0, 8), true
		default:
			o.Op, o.B = code.ConvertWithB32, l.extract(l.source(with, ptx.B16, code.R), 8*(n-1-i), 8)
		}
		spec.HasSecond = o.Op == code.ConvertWithB32
		o.D, o.Imm = l.newTemp(code.R), spec.Imm()
		l.emit(o)
		parts[i] = o.D
	}
	row := l.target(d, code.R)
	if width == 16 {
		l.emit(code.Instr{Op: code.PackB32, D: row, A: parts[1], B: parts[0]})
		return
	}
	acc := l.constant(code.R, 0)
	for i, part := range parts {
		l.emit(code.Instr{Op: code.InsertB32, D: row, A: acc, B: part, Imm: uint64((n - 1 - i) * width)})
		acc = row
	}
}

// extract gives n bits of a row.
func (l *lowerer) extract(row int32, at, n int) int32 {
	d := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(at | n<<8)})
	return d
}

// random gives the random bits that cvt.rs rounds the i-th of n numbers by. Two numbers have 16
// bits of their own each. Of four, two share 16 bits, which the first of them takes from the
// lowest on: RATIONALE.md says where that is from. Those of .e2m1 come from both halves.
func (l *lowerer) random(row int32, to ptx.Type, n, i int) int32 {
	if n == 2 {
		return l.extract(row, 16*(1-i), alu.RandomBits(to))
	}
	upper := 1 - i/2
	bits := int32(0)
	if to == ptx.E2M1 {
		bits = l.newTemp(code.R)
		l.emit(code.Instr{Op: code.InsertB32, D: bits, A: l.extract(row, 8*upper, 8), B: l.extract(row, 16+8*upper, 8), Imm: 8})
	} else {
		bits = l.extract(row, 16*upper, 16)
	}
	if i%2 == 0 {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: code.BrevB32, D: d, A: bits})
		bits = l.extract(d, 16, 16)
	}
	return bits
}

// lowerMixed lowers arithmetic on packed numbers of different types. A source whose type the opcode does not
// name has that of the result.
func lowerMixed(l *lowerer, instr *ptx.Instr) {
	types := instr.Types()
	spec := alu.MixedSpec{Op: instr.Mnemonic(), Dst: types[0], Rnd: lookUp(roundings, instr.Slot("rnd")), FTZ: instr.Has("ftz"), SatFinite: instr.Has("satfinite")}
	if instr.Has("rz") {
		spec.Rnd = fp.RZ
	}
	for len(types) < len(instr.Ops) {
		types = append(types, types[0])
	}
	spec.A, spec.B = types[1], types[2]
	var o code.Instr
	switch d, a := code.SlotOf(types[0]), code.SlotOf(types[1]); {
	case d == code.Q:
		o.Op = code.MixedB64B32
	case a == code.Q:
		o.Op = code.MixedB32B64
	default:
		o.Op = code.MixedB32B32
	}
	s := o.Op.Signature()
	rows := []*int32{&o.A, &o.B, &o.C}
	for i := range s.Sources() {
		if i+1 < len(instr.Ops) {
			*rows[i] = l.source(&instr.Ops[i+1], types[i+1], s.Src[i])
		} else {
			o.C = o.B // there is none
		}
	}
	if len(instr.Ops) > 3 {
		spec.C = types[3]
	}
	o.D, o.Imm = l.target(&instr.Ops[0], s.Dst), spec.Imm()
	l.emit(o)
}

// convertOps are the conversions in full, by the slots of result and source.
var convertOps = [...][code.Q + 1]code.Op{
	code.R: {code.R: code.ConvertB32B32, code.Q: code.ConvertB32B64},
	code.Q: {code.R: code.ConvertB64B32, code.Q: code.ConvertB64B64},
}

func lowerCvtPack(l *lowerer, instr *ptx.Instr) {
	imm := uint64(16)
	if dt := instr.Slot("dtype"); dt[1:] != "16" {
		imm = uint64(dt[1] - '0')
	} else {
		imm |= 1 << 10
	}
	if instr.Slot("dtype")[0] == 's' {
		imm |= 1 << 8
	}
	if instr.Slot("stype") == "s32" {
		imm |= 1 << 9
	}
	o := code.Instr{Op: code.CvtPack, A: l.source(&instr.Ops[1], ptx.B32, code.R), B: l.source(&instr.Ops[2], ptx.B32, code.R), Imm: imm}
	o.C = o.A
	if len(instr.Ops) > 3 {
		o.C = l.source(&instr.Ops[3], ptx.B32, code.R)
	}
	o.D = l.target(&instr.Ops[0], code.R)
	l.emit(o)
}

// lowerCvta: global, constant and parameter addresses are generic as they are;
// shared and local ones gain or lose the base of their window.
func lowerCvta(l *lowerer, instr *ptx.Instr) {
	s := code.SlotOf(instr.Type())
	d := l.target(&instr.Ops[0], s)
	a := l.source(&instr.Ops[1], instr.Type(), s)
	base := uint64(0)
	switch space, _ := instr.Space(); space {
	case ptx.Shared:
		base = mem.SharedWindow
	case ptx.Local:
		base = mem.LocalWindow
	}
	if base == 0 {
		l.emit(code.Instr{Op: movOp(s), D: d, A: a})
		return
	}
	if instr.Has("to") {
		base = -base
	}
	l.emit(code.Instr{Op: addOp(s), D: d, A: a, B: l.constant(s, base)})
}

// addOp adds rows.
func addOp(s code.Slot) code.Op { return bySlot(s, code.AddU32, code.AddU64) }

// bySlot chooses between an operation on 32-bit slots and one on 64-bit slots.
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

// flushed gives a row with the subnormals of an f32 operand flushed.
func (l *lowerer) flushed(row int32) int32 {
	t := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.FtzF32, D: t, A: row})
	return t
}

var boolOps = map[string]uint64{"": alu.BoolNone, "and": alu.BoolAnd, "or": alu.BoolOr, "xor": alu.BoolXor}

// compare emits the comparison of rows a and b, of type t, into predicates p and q, combined
// with the instruction's operand c.
func (l *lowerer) compare(instr *ptx.Instr, t ptx.Type, p, q, a, b int32) {
	o := code.Instr{Op: code.OpNamed("cmp." + instr.Slot("cmp") + t.String()), D: p, F: q, A: a, B: b, Imm: lookUp(boolOps, instr.Slot("bool"))}
	o.C = l.constant(code.P, 0) // which is combined with nothing, if there is no other
	if c := instr.Arg("c"); c.Kind != ptx.NoOperand {
		plain := *c
		plain.Neg = false
		o.C = l.source(&plain, ptx.Pred, code.P)
		if c.Neg {
			o.Imm |= alu.ComplementC
		}
	}
	l.emit(o)
}

// comparands gives what compare wants of a source operand: numbers of type as, one for each that
// the operand holds. Those of halves are numbers of f32, which compare as they do.
func (l *lowerer) comparands(instr *ptx.Instr, o *ptx.Operand, t ptx.Type) (rows []int32, as ptx.Type) {
	row := l.source(o, t, code.SlotOf(t))
	ftz := instr.Has("ftz")
	widen := func(op code.Op, row int32) int32 {
		d := l.newTemp(code.R)
		if ftz && op == code.CvtF32F16 {
			flushed := l.newTemp(code.R)
			l.emit(code.Instr{Op: code.FtzF16, D: flushed, A: row})
			row = flushed
		}
		l.emit(code.Instr{Op: op, D: d, A: row})
		return d
	}
	half := func(i int) int32 {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(16*i | 16<<8)})
		return d
	}
	switch t {
	case ptx.F16:
		return []int32{widen(code.CvtF32F16, row)}, ptx.F32
	case ptx.BF16:
		return []int32{widen(code.CvtF32Bf16, row)}, ptx.F32
	case ptx.F16x2:
		return []int32{widen(code.CvtF32F16, half(0)), widen(code.CvtF32F16, half(1))}, ptx.F32
	case ptx.BF16x2:
		return []int32{widen(code.CvtF32Bf16, half(0)), widen(code.CvtF32Bf16, half(1))}, ptx.F32
	}
	if ftz {
		row = l.flushed(row)
	}
	return []int32{row}, t
}

// lowerSetp: p and q are of a comparison and its complement, or of the low halves and of the
// high ones.
func lowerSetp(l *lowerer, instr *ptx.Instr) {
	a, t := l.comparands(instr, instr.Arg("a"), instr.Type())
	b, _ := l.comparands(instr, instr.Arg("b"), instr.Type())
	p, q := l.predicate(instr.Arg("p")), int32(code.NoRow)
	if instr.Form.Operand("q") >= 0 {
		q = l.predicate(instr.Arg("q"))
	}
	if len(a) == 1 {
		l.compare(instr, t, p, q, a[0], b[0])
		return
	}
	results := []code.Instr{{Op: code.MovPred, D: p}, {Op: code.MovPred, D: q}}
	for i := range results {
		results[i].A = l.newTemp(code.P)
		l.compare(instr, t, results[i].A, code.NoRow, a[i], b[i])
	}
	// The predicate last that is the instruction's own guard.
	if g := instr.Guard.Reg; g != ptx.NoReg && p == l.rows[g].Row {
		slices.Reverse(results)
	}
	for _, o := range results {
		if o.D != code.NoRow {
			l.emit(o)
		}
	}
}

// lowerSet: where the comparison holds, a one of a float type or ones in all bits of an
// integer; for each of two halves, if they are compared.
func lowerSet(l *lowerer, instr *ptx.Instr) {
	if !instr.Form.HasSlot("dtype") {
		l.setPacked(instr)
		return
	}
	dt, st := instr.SlotType("dtype"), instr.SlotType("stype")
	a, t := l.comparands(instr, instr.Arg("a"), st)
	b, _ := l.comparands(instr, instr.Arg("b"), st)
	p := l.newTemp(code.P)
	d := l.target(instr.Arg("d"), code.R)
	if len(a) == 2 {
		parts := [2]int32{l.newTemp(code.R), l.newTemp(code.R)}
		for i, part := range parts {
			l.compare(instr, t, p, code.NoRow, a[i], b[i])
			l.emit(code.Instr{Op: code.SelpB32, D: part, A: l.constant(code.R, setTrue(dt)&0xffff), B: l.constant(code.R, 0), C: p})
		}
		l.emit(code.Instr{Op: code.PackB32, D: d, A: parts[0], B: parts[1]})
		return
	}
	l.compare(instr, t, p, code.NoRow, a[0], b[0])
	switch dt {
	case ptx.U32, ptx.S32:
		l.emit(code.Instr{Op: code.MaskU32, D: d, A: p})
	case ptx.F32:
		l.emit(code.Instr{Op: code.MaskF32, D: d, A: p})
	default:
		l.emit(code.Instr{Op: code.SelpB32, D: d, A: l.constant(code.R, setTrue(dt)), B: l.constant(code.R, 0), C: p})
	}
}

// packedComparisons are the comparisons of packed integers.
var packedComparisons = map[string]uint64{
	"eq": alu.PackedEq, "ne": alu.PackedNe, "lt": alu.PackedLt, "lo": alu.PackedLt, "le": alu.PackedLe, "ls": alu.PackedLe,
	"gt": alu.PackedGt, "hi": alu.PackedGt, "ge": alu.PackedGe, "hs": alu.PackedGe,
}

// setPacked lowers set on packed integers.
func (l *lowerer) setPacked(instr *ptx.Instr) {
	elem, count := instr.Type().Elements()
	imm := lookUp(packedComparisons, instr.Slot("cmp")) | uint64(instr.Type().Bits()/count)
	if elem.IsSigned() {
		imm |= 1 << 8
	}
	l.emit(code.Instr{Op: code.SetPacked, D: l.target(instr.Arg("d"), code.R), A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R), Imm: imm})
}

// setTrue is what set writes in a number of type t where the comparison holds.
func setTrue(t ptx.Type) uint64 {
	switch t {
	case ptx.F16, ptx.F16x2:
		return 0x3c00
	case ptx.BF16, ptx.BF16x2:
		return 0x3f80
	}
	return 1<<t.Bits() - 1
}

// lowerLop3 lowers lop3 with a predicate.
func lowerLop3(l *lowerer, instr *ptx.Instr) {
	d := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.Lop3B32, D: d, A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R), C: l.source(instr.Arg("c"), ptx.B32, code.R), Imm: instr.Arg("e").Imm.Bits})
	p := l.newTemp(code.P)
	l.emit(code.Instr{Op: code.NonzeroB32, D: p, A: d})
	q := l.source(instr.Arg("f"), ptx.Pred, code.P)
	// The predicate last: it may be the instruction's own guard.
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

// lowerMapa puts the rank of a CTA into an address; in clusters of one CTA every address is
// its own.
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
	l.emit(code.Instr{Op: insert, D: d, A: rank, B: a, C: l.constant(code.R, mem.RankShift), E: l.constant(code.R, rankBits)})
}

// rankBits is how many bits of an address of shared memory may have the rank of a CTA.
const rankBits = 8

func lowerGetctarank(l *lowerer, instr *ptx.Instr) {
	d := l.target(&instr.Ops[0], code.R)
	if !l.opt.Cluster {
		l.emit(code.Instr{Op: code.MovB32, D: d, A: l.constant(code.R, 0)})
		return
	}
	s := code.SlotOf(instr.Type())
	o := code.Instr{Op: code.OpNamed("bfe.u32"), D: d, A: l.source(&instr.Ops[1], instr.Type(), s), B: l.constant(code.R, mem.RankShift), C: l.constant(code.R, rankBits)}
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

func lowerNop(l *lowerer, instr *ptx.Instr) {}

// sreg reads a special register into row d, or a temporary if d is code.NoRow.
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
