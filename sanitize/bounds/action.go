package bounds

// This file derives, for each instruction, its action on the origins of pointers.

import (
	"gemu/probe"
	"gemu/ptx"
)

// source returns the description of a source operand.
func (p *plan) source(f *function, o *ptx.Operand) source {
	switch o.Kind {
	case ptx.RegOperand:
		if s := (source{row: f.row(o.Reg)}); s.row >= 0 || !f.isTracked(o.Reg) {
			return s
		}
		return source{row: -1, id: f.fixedOrigin[o.Reg]}
	case ptx.SymOperand:
		return source{row: -1, id: p.id(f, o.Sym())}
	}
	return source{row: -1}
}

// action returns the action of an instruction.
func (p *plan) action(f *function, instr *ptx.Instr) (a action) {
	if instr.Call != nil {
		a.rule, a.builtin = call, instr.Call.Target.Sym() != nil && len(p.callees(instr)) == 0
		return a
	}
	for r := range instr.Defs() {
		if row := f.row(r); row >= 0 {
			a.results = append(a.results, row)
		}
	}
	for i := range instr.Ops {
		if instr.Ops[i].Kind == ptx.AddrOperand {
			p.address(f, instr, i, &a)
		}
	}
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore:
		o := instr.Arg("a")
		a.size = instr.Type().Size()
		if p.spills && inLocal(f, instr, o) {
			a.rule = load
			name := "d"
			if instr.Form.Family == ptx.FamilyStore {
				a.rule, name = store, "b"
			}
			if instr.Form.Operand(name) < 0 { // stores zeros
				break
			}
			for k, o := range elements(instr.Arg(name)) {
				e := elem{row: -1}
				if o.Kind == ptx.RegOperand {
					e = elem(p.source(f, &o))
				}
				if a.rule == load {
					e.id = p.element(f, instr, k)
				}
				a.elems = append(a.elems, e)
			}
			if len(a.addr) == 0 {
				p.addAccess(f, instr, instr.Form.Operand("a"), &a)
			}
			return a
		}
	}
	if len(a.results) == 0 {
		if len(a.addr) > 0 {
			a.rule = access
			to := &a.addr[0]
			a.plain = len(a.addr) == 1 && to.hasEvent && to.row < 0 && to.baseID >= firstID && p.isConstantOrigin(to.baseID)
		}
		return a
	}
	if !instr.Form.Effects.HasAll(ptx.Pure) && instr.Form.Family != ptx.FamilyShfl {
		a.rule = ruleFixed
		if instr.Form.Family == ptx.FamilyLoad {
			for k, o := range elements(instr.Arg("d")) {
				if o.Kind == ptx.RegOperand && f.row(o.Reg) >= 0 {
					a.elems = append(a.elems, elem{f.row(o.Reg), p.element(f, instr, k)})
				}
			}
			return a
		}
		for r := range instr.Defs() {
			if row := f.row(r); row >= 0 {
				a.elems = append(a.elems, elem{row, p.unknownOrigin(f.Regs[r].Type.Size())})
			}
		}
		return a
	}
	r, list, pred := p.rule(f, instr)
	a.rule, a.pred = r, pred
	n := copy(a.sources[:], list)
	for i := n; i < len(a.sources); i++ {
		a.sources[i].row = -1
	}
	a.more = list[n:]
	return a
}

// rule returns the rule, the sources and, for ruleSelect, the predicate of an instruction that only computes or
// exchanges values between lanes.
func (p *plan) rule(f *function, instr *ptx.Instr) (r rule, list []source, pred ptx.RegID) {
	halves := false
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if !instr.IsSource(i) {
			continue
		}
		if o.Kind == ptx.VecOperand {
			for k := range o.Elems() {
				list = append(list, p.source(f, &o.Elems()[k]))
			}
			halves = o.Elems()[len(o.Elems())-1].Kind != ptx.ImmOperand && instr.Type().Size() == p.word
		} else if o.Kind != ptx.AddrOperand {
			list = append(list, p.source(f, o))
		}
	}
	switch form := instr.Form; {
	case form.Family == ptx.FamilyShfl:
		return exchange, []source{p.source(f, instr.Arg("a"))}, pred
	case form.Family == ptx.FamilyMapa:
		return ruleCopy, list[:1], pred
	case form.Effects.Any(ptx.CarryIn | ptx.CarryOut):
		return ruleLost, list, pred
	case form.Affine == ptx.AffineAnd && !alignsPointer(instr):
		return ruleLost, list, pred
	default:
		r = resultRules[form.Affine]
	}
	switch {
	case r == ruleCopy && halves:
		r = pack
	case r == ruleSelect:
		c := instr.Arg("c")
		if c.Kind != ptx.RegOperand {
			return ruleLost, list, pred
		}
		pred, list = c.Reg, list[:2]
	}
	return r, list, pred
}

// resultRules are the rules of instructions that only compute, by their affine rule.
var resultRules = [...]rule{
	ptx.AffineNone:    ruleLost,
	ptx.AffineUniform: ruleLost,
	ptx.AffineMove:    ruleCopy,
	ptx.AffineAdd:     sum,
	ptx.AffineSub:     diff,
	ptx.AffineMul:     scaling,
	ptx.AffineMad:     addend,
	ptx.AffineShl:     scaling,
	ptx.AffineShr:     scaling,
	ptx.AffineDiv:     scaling,
	ptx.AffineRem:     scaling,
	ptx.AffineBfe:     scaling,
	ptx.AffineNeg:     ruleLost,
	ptx.AffineNot:     ruleLost,
	ptx.AffineAbs:     ruleLost,
	ptx.AffineMin:     ruleIfEqual,
	ptx.AffineMax:     ruleIfEqual,
	ptx.AffineAnd:     ruleCopy, // if alignsPointer
	ptx.AffineOr:      sum,
	ptx.AffineXor:     sum,
	ptx.AffineSelect:  ruleSelect,
	ptx.AffineConvert: ruleCopy,
	ptx.AffineCompare: ruleLost,
	ptx.AffineAddress: ruleCopy,
	ptx.AffineLoad:    ruleLost, // not of this table: loads, stores, branches and votes do more than compute
	ptx.AffineStore:   ruleLost,
	ptx.AffineBranch:  ruleLost,
	ptx.AffineWarp:    ruleLost,
}

// A new affine rule at the end of ptx's list does not compile without an entry; TestResultRules finds one in its middle.
var _ [ptx.AffineCount]rule = resultRules

// alignsPointer reports whether an and instruction has a constant that keeps the high bits: it clears low bits of a pointer.
func alignsPointer(instr *ptx.Instr) bool {
	for i := range instr.Ops {
		if o, t := &instr.Ops[i], instr.Type(); o.Kind == ptx.ImmOperand && o.Imm.Encode(t)>>(t.Bits()-1) != 0 {
			return true
		}
	}
	return false
}

// address adds the access of an address operand, if it has a tracked origin and may be out of bounds.
func (p *plan) address(f *function, instr *ptx.Instr, i int, a *action) {
	o := &instr.Ops[i]
	if o.Sym() != nil && o.Reg == ptx.NoReg {
		v := &p.vars[p.id(f, o.Sym())]
		if p.id(f, o.Sym()) == notPointer || v.open && o.Offset() >= 0 {
			return
		}
		switch instr.Form.Family {
		case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyMbarrier:
			if n := uint64(instr.Type().Size() * instr.VecLen()); n > 0 && o.Offset() >= 0 && uint64(o.Offset())+n <= v.size {
				return // always in bounds
			}
		}
	} else if r := (ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}); o.Sym() == nil && !p.mayBePointer(f, &r) {
		return
	}
	p.addAccess(f, instr, i, a)
}

// addAccess adds the access of an address operand.
func (p *plan) addAccess(f *function, instr *ptx.Instr, i int, a *action) {
	o, spec := &instr.Ops[i], &instr.Form.Operands[i]
	to := address{source: source{row: f.row(o.Reg)}, reg: o.Reg, off: o.Offset(), space: instr.SpaceOf(spec)}
	always := uint32(notPointer)
	if o.Reg != ptx.NoReg && to.row < 0 {
		always = f.fixedOrigin[o.Reg]
	}
	if to.baseID = always; o.Sym() != nil {
		to.baseID = p.either(origin{id: p.id(f, o.Sym())}, origin{id: always}).id
		if v := symbolOf(o); v != nil {
			to.space = v.Space
			if o.IndexSize() > 0 {
				to.index, to.array = o, p.id(f, v)
			}
		}
	}
	size := func(name string) { // the operand with the length in bytes
		if k := instr.Form.Operand(name); k >= 0 && instr.Ops[k].Kind != ptx.NoOperand {
			to.length = &instr.Ops[k]
		}
	}
	effects := instr.Form.Effects
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyTile, ptx.FamilyFragment:
		to.hasEvent = true
	case ptx.FamilyMbarrier:
		to.bytes, to.kind = 8, probe.AccessAtomic
	case ptx.FamilyAsyncStore:
		to.bytes, to.kind = uint64(instr.Type().Size()*instr.VecLen()), probe.AccessStore
		if spec.Name == "c" {
			to.bytes, to.kind = 8, probe.AccessAtomic
		}
	case ptx.FamilyAsync:
		switch tensor := len(spec.AddressParts) > 0 || !effects.HasAll(ptx.Reads|ptx.Writes); {
		case spec.Name == "a" && !tensor:
			to.kind = probe.AccessStore
			size("c")
		case spec.Name == "b" && !tensor:
			if e := instr.Form.Operand("e"); e >= 0 && instr.Ops[e].Kind != ptx.NoOperand && !instr.Form.Operands[e].Address {
				return // that operand has the number of read bytes
			}
			size("c")
		case spec.Name == "e":
			to.bytes, to.kind = 8, probe.AccessAtomic
		default:
			return
		}
		if to.bytes == 0 && to.length == nil {
			return
		}
	default:
		return // a hint or a fence: no access
	}
	a.addr = append(a.addr, to)
}
