package ptx

import "gemu/ptx/internal/syntax"

// addInstr checks an instruction and appends it to the current block.
func (b *funcBuilder) addInstr(s *syntax.Instr) {
	v, oerr := lookupVariant(s.Op)
	if oerr == nil && !b.mod.supports(v.Form) {
		_, oerr = resolveVariant(s.Op, b.mod.supports)
	}
	if oerr != nil {
		b.report(Pos(s.Pos), oerr.hint, "%s", oerr.msg)
		return
	}
	instr := b.newInstr()
	*instr = Instr{Variant: v, Pos: Pos(s.Pos), Loc: b.currentLoc(), Guard: Guard{Reg: NoReg}}
	if s.Guard != "" {
		e, ok := b.scope.lookup(s.Guard)
		switch {
		case !ok:
			b.unknown(Pos(s.GuardPos), "unknown predicate", s.Guard, b.nearestName(s.Guard))
			return
		case e.kind != entReg || e.typ != Pred || e.vec > 1:
			b.errorf(Pos(s.GuardPos), "guard %s is not a predicate register", s.Guard)
			return
		}
		instr.Guard = Guard{e.reg, s.GuardNot}
	}
	var ok bool
	if v.Form.Effects.HasAll(Calls) {
		ok = b.resolveCall(instr, s)
	} else {
		ok = b.resolveOperands(instr, s)
	}
	if !ok {
		return
	}
	if msg := checkRules(b.fn, instr); msg != "" {
		b.errorf(Pos(s.Pos), "%s: %s", v.Text, msg)
		return
	}
	switch {
	case v.Form.Family == FamilyMove && v.VecLen() > 1:
		b.moveVector(instr)
		return
	case v.Type() == Pred && v.Form.Effects.HasAll(Pure), v.Form.Affine == AffineSelect, v.Form.Family == FamilyAsync:
		b.replaceComplements(instr)
	}
	b.cur.Instrs = append(b.cur.Instrs, instr)
	if instr.EndsBlock() {
		b.startBlock()
	}
}

// emit adds an instruction for a part of instr, with the guard of instr.
func (b *funcBuilder) emit(instr *Instr, opcode string, ops ...Operand) {
	v, err := lookupVariant(opcode)
	if err != nil {
		panic("BUG: " + opcode + ": " + err.msg)
	}
	part := b.newInstr()
	*part = Instr{Variant: v, Pos: instr.Pos, Loc: instr.Loc, Guard: instr.Guard, Ops: ops}
	b.cur.Instrs = append(b.cur.Instrs, part)
}

// moveVector adds a mov of vectors as movs of their elements. The values pass through new registers, because the
// vectors may overlap.
func (b *funcBuilder) moveVector(instr *Instr) {
	opcode, t := "mov"+instr.Type().String(), instr.Type()
	d, a := instr.Ops[0].Elems(), instr.Ops[1].Elems()
	if a == nil { // a constant or an address: the remaining elements are zero
		a = make([]Operand, len(d))
		zero := Imm{Kind: IntImm}.convert(t)
		for i := range a {
			a[i] = Operand{Kind: ImmOperand, Imm: zero}
		}
		a[0] = instr.Ops[1]
	}
	first := len(b.fn.Regs)
	for range d {
		b.newReg("%move", t)
	}
	for i := range d {
		if a[i].Kind == SinkOperand {
			a[i] = Operand{Kind: ImmOperand, Imm: Imm{Kind: IntImm}.convert(t)}
		}
		b.emit(instr, opcode, Operand{Kind: RegOperand, Reg: RegID(first + i)}, a[i])
	}
	for i := range d {
		if d[i].Kind != SinkOperand {
			b.emit(instr, opcode, d[i], Operand{Kind: RegOperand, Reg: RegID(first + i)})
		}
	}
}

// replaceComplements replaces each negated predicate operand (!p) by a new register with the complement. Callers use
// it for logic on predicates and for selections by a predicate.
func (b *funcBuilder) replaceComplements(instr *Instr) {
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if !o.Neg {
			continue
		}
		r := b.newReg("%not", Pred)
		b.emit(instr, "not.pred", Operand{Kind: RegOperand, Reg: r}, Operand{Kind: RegOperand, Reg: o.Reg})
		*o = Operand{Kind: RegOperand, Reg: r}
	}
}

// addOffset replaces the register of an operand by a new register with the sum of the register and a constant, because
// ptxas accepts %r+4 wherever it accepts %r. It returns false if the register cannot have an offset.
func (b *funcBuilder) addOffset(o *Operand, instr *Instr, offset int64) bool {
	t := b.fn.Regs[o.Reg].Type
	sum := map[int]Type{16: U16, 32: U32, 64: U64}[t.Bits()]
	if sum == NoType || t.IsFloat() {
		return false
	}
	r := b.newReg("%sum", t)
	b.emit(instr, "add"+sum.String(), Operand{Kind: RegOperand, Reg: r}, *o, Operand{Kind: ImmOperand, Imm: Imm{IntImm, uint64(offset)}})
	o.Reg = r
	return true
}

// operandSlab allocates many small objects of a module from larger pieces of memory.
type operandSlab[T any] struct {
	free []T // unused rest of the last piece
	size int // length of the last piece, in objects
}

// cut returns a slice of n elements.
func (s *operandSlab[T]) cut(n int) []T {
	if len(s.free) < n {
		s.size = min(max(2*s.size, 64), 2048)
		s.free = make([]T, max(n, s.size))
	}
	list := s.free[:n:n]
	s.free = s.free[n:]
	return list
}

// newInstr returns a new instruction, without fields.
func (b *funcBuilder) newInstr() *Instr { return &b.instrs.cut(1)[0] }

// newOps returns n new operands of kind NoOperand.
func (b *funcBuilder) newOps(n int) []Operand { return b.ops.cut(n) }
