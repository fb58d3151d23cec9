package interp

// This file lowers what moves and computes data within a thread.

import (
	"math/bits"
	"slices"
	"strings"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// lowerers are the instructions that are more than one kernel of package alu.
var lowerers map[string]func(l *lowerer, in *ptx.Instr)

func init() {
	lowerers = map[string]func(l *lowerer, in *ptx.Instr){
		"mov": lowerMov, "cvt": lowerCvt, "cvta": lowerCvta, "isspacep": lowerIsspacep,
		"setp": lowerSetp, "set": lowerSet, "lop3": lowerLop3, "slct": lowerSlct,
		"mapa": lowerMapa, "getctarank": lowerGetctarank,

		"ld": lowerLd, "ldu": lowerLd, "st": lowerSt, "atom": lowerAtom, "red": lowerAtom,
		"prefetch": lowerHint, "prefetchu": lowerHint, "applypriority": lowerHint, "discard": lowerHint,
		"createpolicy": lowerCreatepolicy,
		"stacksave":    lowerStacksave, "stackrestore": lowerStackrestore, "alloca": lowerAlloca,

		"bra": lowerBra, "brx": lowerBrx, "ret": lowerRet, "exit": lowerExit, "call": lowerCall,
		"trap": lowerTrap, "brkpt": lowerBrkpt,
		"bar": lowerBar, "barrier": lowerBar, "membar": lowerNop, "fence": lowerNop,
		"nanosleep": lowerNanosleep, "pmevent": lowerNop, "griddepcontrol": lowerNop, "setmaxnreg": lowerNop,
		"shfl": lowerShfl, "vote": lowerVote, "match": lowerMatch, "activemask": lowerActivemask,
		"redux": lowerRedux, "elect": lowerElect,
	}
}

// source gives the row of a source operand of type t, in slot s.
func (l *lowerer) source(o *ptx.Operand, t ptx.Type, s alu.Slot) int32 {
	switch o.Kind {
	case ptx.RegOperand:
		ref := l.rows[o.Reg]
		row := ref.row
		switch {
		case ref.slot == alu.P && o.Neg:
			row = l.temp(alu.P)
			l.op("not.pred", regfile.Operands{D: row, A: ref.row})
		case ref.slot == alu.Q && s == alu.R:
			row = l.temp(alu.R)
			l.op("cvt.u32.u64", regfile.Operands{D: row, A: ref.row})
		case ref.slot == alu.R && s == alu.Q:
			row = l.temp(alu.Q)
			l.op("zext.b64", regfile.Operands{D: row, A: ref.row})
		}
		return row
	case ptx.ImmOperand:
		bits := o.Imm.As(t)
		if t == ptx.NoType {
			bits = o.Imm.Bits
		}
		if o.Neg {
			bits ^= 1
		}
		return l.konst(s, bits)
	case ptx.SRegOperand:
		return l.sreg(o.SReg, s, noRow)
	case ptx.SymOperand:
		return l.symbol(o.Sym, o.Off, s, noRow)
	}
	panic("BUG: no source operand")
}

// symbol gives the row that holds the address of a variable or function plus an
// offset; it goes to row d unless that is noRow.
func (l *lowerer) symbol(s ptx.Symbol, off int64, slot alu.Slot, d int32) int32 {
	v, isVar := s.(*ptx.Var)
	if isVar {
		if at, ok := l.locals[v]; ok && (v.Space == ptx.Local || v.Space == ptx.Param) {
			if l.fn.fn.Entry {
				return l.moveKonst(slot, uint64(int64(4*l.fn.align+at)+off), d)
			}
			if d == noRow {
				d = l.temp(slot)
			}
			fn := frameAddress32
			if slot == alu.Q {
				fn = frameAddress64
			}
			l.emit(inst{Operands: regfile.Operands{D: d, Imm: uint64(int64(at) + off)}, lane: fn, form: &compactForm{kind: asSource, source: frameSource}}, nil, rows(slot, d))
			return d
		}
	}
	return l.moveKonst(slot, l.address(s)+uint64(off), d)
}

// address is the address of a symbol that has the same one in every thread.
func (l *lowerer) address(s ptx.Symbol) uint64 {
	if v, ok := s.(*ptx.Var); ok {
		switch v.Space {
		case ptx.Shared:
			if at, ok := l.code.shared[l.mod.definition(v)]; ok {
				return at
			}
		case ptx.Param:
			for _, p := range l.params {
				if p.v == v {
					return mem.ParamBase + uint64(p.off)
				}
			}
		}
	}
	a, ok := l.mod.symbolAddress(s)
	if !ok {
		l.refuse("the address of %s, which is declared but not defined,", s.SymbolName())
	}
	return a
}

func (l *lowerer) moveKonst(s alu.Slot, bits uint64, d int32) int32 {
	k := l.konst(s, bits)
	if d == noRow {
		return k
	}
	l.op(movKey(s), regfile.Operands{D: d, A: k})
	return d
}

func movKey(s alu.Slot) string {
	switch s {
	case alu.P:
		return "mov.pred"
	case alu.Q:
		return "mov.b64"
	}
	return "mov.b32"
}

// target gives the row of a destination; a sink gets a temporary.
func (l *lowerer) target(o *ptx.Operand, s alu.Slot) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].row
	}
	return l.temp(s)
}

// predicate gives the row of a predicate destination, or alu.NoPred.
func (l *lowerer) predicate(o *ptx.Operand) int32 {
	if o.Kind == ptx.RegOperand {
		return l.rows[o.Reg].row
	}
	return alu.NoPred
}

// regBits is the width of the register an operand names, want for others.
func (l *lowerer) regBits(o *ptx.Operand, want int) int {
	if o.Kind == ptx.RegOperand {
		return l.fn.fn.Regs[o.Reg].Type.Bits()
	}
	return want
}

// result gives a row to compute a result of type t into, and a function that
// finishes the destination when the register is wider than the type: the value
// is extended as its type says (manual 9.4.1).
func (l *lowerer) result(o *ptx.Operand, t ptx.Type) (row int32, finish func()) {
	have := l.regBits(o, t.Bits())
	s := slotOf(t)
	if o.Kind != ptx.RegOperand || have == t.Bits() {
		return l.target(o, s), func() {}
	}
	d := l.rows[o.Reg].row
	switch {
	case have == 64:
		row = l.temp(s)
		key := "widen.u32.b64"
		if t.IsSigned() {
			key = "widen." + strings.TrimPrefix(t.String(), ".") + ".b64"
		}
		return row, func() { l.op(key, regfile.Operands{D: d, A: row}) }
	case t == ptx.S8 && have == 16:
		return d, func() { l.op("widen.s8.b16", regfile.Operands{D: d, A: d}) }
	case t.IsSigned():
		return d, func() {
			l.op("widen."+strings.TrimPrefix(t.String(), ".")+".b32", regfile.Operands{D: d, A: d})
		}
	}
	return d, func() {} // slots are zero-extended
}

// kernelKeyOf is the name of the kernel of a pure instruction: the opcode with
// the modifiers that make no difference left out.
func kernelKeyOf(in *ptx.Instr) string {
	key := in.Canonical()
	switch in.Op.Name {
	case "add", "sub", "mul", "fma", "mad":
		if in.Form.Class == ptx.ClassFP {
			key = strings.Replace(key, ".rn", "", 1)
			key = strings.Replace(key, "mad.", "fma.", 1)
		}
	case "selp":
		key = "selp.b32"
		if in.Type().Bits() == 64 {
			key = "selp.b64"
		}
	}
	return key
}

// lowerPure lowers an instruction that is one kernel.
func lowerPure(l *lowerer, in *ptx.Instr) {
	var o regfile.Operands
	key := kernelKeyOf(in)
	k := alu.Lookup(key)
	if k == nil || k.Sources() < in.Sources() {
		k, o.Imm = floatKernel(in)
	}
	if k == nil {
		l.refuse("%s", in.Text)
	}
	rows := []*int32{&o.A, &o.B, &o.C, &o.E}
	n := 0
	for i := range in.Form.Operands {
		op := &in.Ops[i]
		if in.Form.Operands[i].Const {
			o.Imm = op.Imm.Bits
		}
		if !in.IsSource(i) {
			continue
		}
		*rows[n] = l.source(op, in.OperandType(i), k.Src[n])
		n++
	}
	for ; n < len(k.Src) && k.Src[n] != alu.NoSlot; n++ {
		switch {
		case k.Src[n] == alu.P: // the carry flag
			*rows[n] = l.carry
		default: // a source this form does not have
			*rows[n] = o.A
		}
	}
	o.F = l.carry
	d := &in.Ops[0]
	if k.Dst == alu.P {
		if d.Kind != ptx.RegOperand {
			return
		}
		o.D = l.rows[d.Reg].row
	} else {
		o.D = l.target(d, k.Dst)
	}
	l.emitKernel(k, o, key, in.Form.Affine)
}

var roundings = map[string]fp.Rounding{
	"": fp.RN, "rn": fp.RN, "rz": fp.RZ, "rm": fp.RM, "rp": fp.RP, "rni": fp.RN, "rzi": fp.RZ, "rmi": fp.RM, "rpi": fp.RP,
}

// floatKernel finds the general kernel of float arithmetic for a form that has
// none of its own.
func floatKernel(in *ptx.Instr) (*alu.Op, uint64) {
	t := in.Type()
	if in.Form.Class != ptx.ClassFP && in.Form.Class != ptx.ClassSFU || t != ptx.F32 && t != ptx.F64 && t != ptx.F32x2 {
		return nil, 0
	}
	ops := map[string]alu.FloatOp{
		"add": alu.FAdd, "sub": alu.FSub, "mul": alu.FMul, "fma": alu.FFma, "mad": alu.FFma,
		"div": alu.FDiv, "rcp": alu.FRcp, "sqrt": alu.FSqrt, "min": alu.FMin, "max": alu.FMax,
	}
	op, ok := ops[in.Op.Name]
	rnd := in.Slot("rnd")
	if rnd == "" {
		rnd = in.Slot("mode")
	}
	r, known := roundings[rnd]
	if !ok || !known || in.SlotType("atype") != ptx.NoType {
		return nil, 0
	}
	three := len(in.Ops) > 3 && in.Ops[3].Kind != ptx.NoOperand && op >= alu.FMin
	spec := alu.FloatSpec{Op: op, Rnd: r, FTZ: in.Has("ftz"), Sat: in.Has("sat"), NaN: in.Has("NaN"), XorSign: in.Has("xorsign"), Abs: in.Has("abs"), Three: three}
	return alu.Lookup("float" + t.String()), spec.Imm()
}

func lowerMov(l *lowerer, in *ptx.Instr) {
	d, a := &in.Ops[0], &in.Ops[1]
	t := in.Type()
	switch {
	case d.Kind == ptx.SinkOperand:
	case a.Kind == ptx.VecOperand:
		l.pack(d, a.Elems, t)
	case d.Kind == ptx.VecOperand:
		l.unpack(d.Elems, a, t)
	case t == ptx.B128:
		dr := l.rows[d.Reg].row
		ar := l.rows[a.Reg].row
		l.op("mov.b64", regfile.Operands{D: dr, A: ar})
		l.op("mov.b64", regfile.Operands{D: dr + 1, A: ar + 1})
	default:
		s := slotOf(t)
		dr := l.rows[d.Reg].row
		switch a.Kind {
		case ptx.SRegOperand:
			l.sreg(a.SReg, s, dr)
		case ptx.SymOperand:
			l.symbol(a.Sym, a.Off, s, dr)
		default:
			l.op(movKey(s), regfile.Operands{D: dr, A: l.source(a, t, s)})
		}
	}
}

// pack makes a register of its parts, the first the lowest.
func (l *lowerer) pack(d *ptx.Operand, parts []ptx.Operand, t ptx.Type) {
	n := t.Bits() / len(parts)
	row := l.target(d, slotOf(t))
	switch {
	case t == ptx.B128 && n == 64:
		for i := range parts {
			l.op("mov.b64", regfile.Operands{D: row + int32(i), A: l.source(&parts[i], ptx.B64, alu.Q)})
		}
	case t == ptx.B128: // four of 32 bits
		for i := 0; i < 4; i += 2 {
			l.op("pack.b64", regfile.Operands{D: row + int32(i/2), A: l.source(&parts[i], ptx.B32, alu.R), B: l.source(&parts[i+1], ptx.B32, alu.R)})
		}
	case t == ptx.B64 && n == 32:
		l.op("pack.b64", regfile.Operands{D: row, A: l.source(&parts[0], ptx.B32, alu.R), B: l.source(&parts[1], ptx.B32, alu.R)})
	case t == ptx.B32 && n == 16:
		l.op("pack.b32", regfile.Operands{D: row, A: l.source(&parts[0], ptx.B16, alu.R), B: l.source(&parts[1], ptx.B16, alu.R)})
	default:
		key := "insert.b32"
		if t == ptx.B64 {
			key = "insert.b64"
		}
		acc := l.konst(slotOf(t), 0)
		for i := range parts {
			l.op(key, regfile.Operands{D: row, A: acc, B: l.source(&parts[i], bitsType(n), alu.R), Imm: uint64(i * n)})
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
	s := slotOf(t)
	row := l.source(a, t, s)
	for i := range parts {
		if parts[i].Kind != ptx.RegOperand {
			continue
		}
		d := l.rows[parts[i].Reg].row
		at := i * n
		switch {
		case t == ptx.B128 && n == 64:
			l.op("mov.b64", regfile.Operands{D: d, A: row + int32(i)})
		case s == alu.Q:
			l.op("extract.b64", regfile.Operands{D: d, A: row + int32(at/64), Imm: uint64(at%64 | n<<8)})
		default:
			l.op("extract.b32", regfile.Operands{D: d, A: row, Imm: uint64(at | n<<8)})
		}
	}
}

func lowerCvt(l *lowerer, in *ptx.Instr) {
	if in.Has("pack") {
		lowerCvtPack(l, in)
		return
	}
	dt, at := in.SlotType("dtype"), in.SlotType("atype")
	if at == ptx.NoType && in.Has("f32") {
		at = ptx.F32
	}
	spec := alu.ConvertSpec{
		Dst: dt, Src: at, Rnd: roundings[in.Slot("rnd")], Integral: strings.HasSuffix(in.Slot("rnd"), "i"),
		FTZ: in.Has("ftz"), Sat: in.Has("sat"), Relu: in.Has("relu"), SatFinite: in.Has("satfinite"),
	}
	if dt == ptx.F16x2 || dt == ptx.BF16x2 {
		if in.Has("rs") || at != ptx.F32 {
			l.refuse("%s", in.Text)
		}
		spec.Dst = ptx.F16
		if dt == ptx.BF16x2 {
			spec.Dst = ptx.BF16
		}
		hi, lo := l.temp(alu.R), l.temp(alu.R)
		l.op("convert.b32.b32", regfile.Operands{D: hi, A: l.source(&in.Ops[1], at, alu.R), Imm: spec.Imm()})
		l.op("convert.b32.b32", regfile.Operands{D: lo, A: l.source(&in.Ops[2], at, alu.R), Imm: spec.Imm()})
		l.op("pack.b32", regfile.Operands{D: l.target(&in.Ops[0], alu.R), A: lo, B: hi})
		return
	}
	plain := func(t ptx.Type) bool {
		return t.IsInt() || slices.Contains([]ptx.Type{ptx.F16, ptx.BF16, ptx.F32, ptx.F64}, t)
	}
	if !plain(dt) || !plain(at) || dt.Bits() < 8 {
		l.refuse("%s", in.Text)
	}
	d, finish := l.result(&in.Ops[0], dt)
	a := l.source(&in.Ops[1], at, slotOf(at))
	if k := alu.Lookup(in.Canonical()); k != nil {
		l.emitKernel(k, regfile.Operands{D: d, A: a}, in.Canonical(), in.Form.Affine)
	} else {
		size := map[alu.Slot]string{alu.R: ".b32", alu.Q: ".b64"}
		l.op("convert"+size[slotOf(dt)]+size[slotOf(at)], regfile.Operands{D: d, A: a, Imm: spec.Imm()})
	}
	finish()
}

func lowerCvtPack(l *lowerer, in *ptx.Instr) {
	imm := uint64(16)
	if dt := in.Slot("dtype"); dt[1:] != "16" {
		imm = uint64(dt[1] - '0')
	} else {
		imm |= 1 << 10
	}
	if in.Slot("dtype")[0] == 's' {
		imm |= 1 << 8
	}
	if in.Slot("stype") == "s32" {
		imm |= 1 << 9
	}
	o := regfile.Operands{A: l.source(&in.Ops[1], ptx.B32, alu.R), B: l.source(&in.Ops[2], ptx.B32, alu.R), Imm: imm}
	o.C = o.A
	if len(in.Ops) > 3 {
		o.C = l.source(&in.Ops[3], ptx.B32, alu.R)
	}
	o.D = l.target(&in.Ops[0], alu.R)
	l.emitKernel(alu.Lookup("cvt.pack"), o, "cvt.pack", in.Form.Affine)
}

// lowerCvta: global, constant and parameter addresses are generic as they are;
// shared and local ones gain or lose the base of their window.
func lowerCvta(l *lowerer, in *ptx.Instr) {
	s := slotOf(in.Type())
	d := l.target(&in.Ops[0], s)
	a := l.source(&in.Ops[1], in.Type(), s)
	base := uint64(0)
	switch space, _ := in.Space(); space {
	case ptx.Shared:
		base = mem.SharedWindow
	case ptx.Local:
		base = mem.LocalWindow
	}
	if base == 0 {
		l.op(movKey(s), regfile.Operands{D: d, A: a})
		return
	}
	if in.Has("to") {
		base = -base
	}
	key := "add.u32"
	if s == alu.Q {
		key = "add.u64"
	}
	l.op(key, regfile.Operands{D: d, A: a, B: l.konst(s, base)})
}

func lowerIsspacep(l *lowerer, in *ptx.Instr) {
	a := &in.Ops[1]
	row := l.source(a, ptx.U64, alu.Q)
	space, _ := in.Space()
	d := l.predicate(&in.Ops[0])
	l.emit(inst{Operands: regfile.Operands{D: d, A: row, Imm: uint64(space)}, lane: isspacep}, rows(alu.Q, row), rows(alu.P, d))
}

// flushed gives a row with the subnormals of an f32 operand flushed.
func (l *lowerer) flushed(row int32) int32 {
	t := l.temp(alu.R)
	l.op("ftz.f32", regfile.Operands{D: t, A: row})
	return t
}

var boolOps = map[string]uint64{"": alu.BoolNone, "and": alu.BoolAnd, "or": alu.BoolOr, "xor": alu.BoolXor}

// compare emits the comparison of a and b into predicates p and q.
func (l *lowerer) compare(in *ptx.Instr, t ptx.Type, p, q int32, a, b, c *ptx.Operand) {
	key := "cmp." + in.Slot("cmp") + t.String()
	if alu.Lookup(key) == nil {
		l.refuse("%s", in.Text)
	}
	s := slotOf(t)
	o := regfile.Operands{D: p, E: q, A: l.source(a, t, s), B: l.source(b, t, s), Imm: boolOps[in.Slot("bool")]}
	if in.Has("ftz") {
		o.A, o.B = l.flushed(o.A), l.flushed(o.B)
	}
	if c != nil {
		plain := *c
		plain.Neg = false
		o.C = l.source(&plain, ptx.Pred, alu.P)
		if c.Neg {
			o.Imm |= alu.ComplementC
		}
	}
	l.op(key, o)
}

func lowerSetp(l *lowerer, in *ptx.Instr) {
	var c *ptx.Operand
	if len(in.Ops) > 4 {
		c = &in.Ops[4]
	}
	l.compare(in, in.Type(), l.predicate(&in.Ops[0]), l.predicate(&in.Ops[1]), &in.Ops[2], &in.Ops[3], c)
}

func lowerSet(l *lowerer, in *ptx.Instr) {
	dt := in.SlotType("dtype")
	if in.Form.Class == ptx.ClassFP {
		l.refuse("%s", in.Text)
	}
	var c *ptx.Operand
	if len(in.Ops) > 3 {
		c = &in.Ops[3]
	}
	p := l.temp(alu.P)
	l.compare(in, in.SlotType("stype"), p, alu.NoPred, &in.Ops[1], &in.Ops[2], c)
	key := "mask.u32"
	if dt == ptx.F32 {
		key = "mask.f32"
	}
	l.op(key, regfile.Operands{D: l.target(&in.Ops[0], alu.R), A: p})
}

func lowerLop3(l *lowerer, in *ptx.Instr) {
	if !in.Form.HasSlot("bool") {
		lowerPure(l, in)
		return
	}
	d := l.temp(alu.R)
	l.op("lop3.b32", regfile.Operands{
		D: d, A: l.source(in.Arg("a"), ptx.B32, alu.R), B: l.source(in.Arg("b"), ptx.B32, alu.R), C: l.source(in.Arg("c"), ptx.B32, alu.R), Imm: in.Arg("e").Imm.Bits,
	})
	p := l.temp(alu.P)
	l.op("nonzero.b32", regfile.Operands{D: p, A: d})
	q := l.source(in.Arg("f"), ptx.Pred, alu.P)
	// The predicate last: it may be the instruction's own guard.
	if o := in.Arg("d"); o.Kind == ptx.RegOperand {
		l.op("mov.b32", regfile.Operands{D: l.rows[o.Reg].row, A: d})
	}
	if o := in.Arg("p"); o.Kind == ptx.RegOperand {
		l.op(in.Slot("bool")+".pred", regfile.Operands{D: l.rows[o.Reg].row, A: p, B: q})
	}
}

func lowerSlct(l *lowerer, in *ptx.Instr) {
	t := in.SlotType("dtype")
	s := slotOf(t)
	key := "slct.b32"
	if s == alu.Q {
		key = "slct.b64"
	}
	ct := in.OperandType(3)
	o := regfile.Operands{D: l.target(&in.Ops[0], s), A: l.source(&in.Ops[1], t, s), B: l.source(&in.Ops[2], t, s), C: l.source(&in.Ops[3], ct, alu.R)}
	if in.Has("ftz") {
		o.C = l.flushed(o.C)
	}
	l.op(key+ct.String(), o)
}

// lowerMapa: clusters are of one CTA, so every shared address is its own.
func lowerMapa(l *lowerer, in *ptx.Instr) {
	s := slotOf(in.Type())
	rank := l.source(in.Arg("b"), ptx.U32, alu.R)
	l.emit(inst{Operands: regfile.Operands{C: rank}, lane: checkRank}, rows(alu.R, rank), nil)
	l.op(movKey(s), regfile.Operands{D: l.target(&in.Ops[0], s), A: l.source(&in.Ops[1], in.Type(), s)})
}

// checkRank traps where the CTA rank of a lane is not that of its own CTA, the only
// one in its cluster.
func checkRank(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	rank := f.Src32(in.C)
	for ; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros32(m) & 31; rank[i] != 0 {
			w.fail(in.src, 1<<(i+32*h), ErrCTARank, "%v: %d, in a cluster of one cta", ErrCTARank, rank[i])
			return
		}
	}
}

func lowerGetctarank(l *lowerer, in *ptx.Instr) {
	l.op("mov.b32", regfile.Operands{D: l.target(&in.Ops[0], alu.R), A: l.konst(alu.R, 0)})
}

func lowerCreatepolicy(l *lowerer, in *ptx.Instr) {
	l.op("mov.b64", regfile.Operands{D: l.target(&in.Ops[0], alu.Q), A: l.konst(alu.Q, 0)})
}

func lowerNop(l *lowerer, in *ptx.Instr) {}
