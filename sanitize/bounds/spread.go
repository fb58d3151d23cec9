package bounds

// This file finds, before a launch, the registers and variables that may hold pointers.

import (
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// point gives ids to the buffers that the kernel's parameters point into.
func (p *plan) point(l *probe.LaunchInfo, bufferOf []int) {
	p.buffers = uint32(len(p.vars))
	if len(bufferOf) == 0 {
		return
	}
	p.slots, p.word = map[int]uint32{}, l.Module.AddressSize/8
	for i, pointer := range l.Pointers {
		id := uint32(maybePointer) // points between buffers, perhaps to the end of a buffer
		if bufferOf[i] >= 0 {
			id = p.buffers + uint32(bufferOf[i])
			for uint32(len(p.vars)) <= id {
				p.vars = append(p.vars, variable{})
			}
		}
		p.slots[pointer.Offset] = id
	}
}

// unknownOrigin returns the origin of a value of some bytes from memory or a function.
func (p *plan) unknownOrigin(bytes int) uint32 {
	if bytes >= p.word && p.word > 0 { // the value may hold several addresses
		return loaded
	}
	return notPointer
}

// element returns the origin of element k of a load that is not from local memory.
func (p *plan) element(f *function, instr *ptx.Instr, k int) uint32 {
	o, size := instr.Arg("a"), instr.Type().Size()
	if v := symbolOf(o); size == p.word && f.Entry && v != nil && v.Space == ptx.Param && o.Reg == ptx.NoReg {
		for _, at := range p.params {
			if at.Var == v {
				return p.slots[at.Offset+int(o.Offset())+k*size]
			}
		}
	}
	return p.unknownOrigin(size)
}

// derived reports whether an operand, or an element of it, can have an origin.
func (p *plan) derived(f *function, o *ptx.Operand) bool {
	return p.anyOperand(f, o, func(id uint32) bool { return id != notPointer })
}

// mayBePointer reports whether an operand, or an element of it, can be a tracked pointer.
func (p *plan) mayBePointer(f *function, o *ptx.Operand) bool {
	return p.anyOperand(f, o, func(id uint32) bool { return id >= firstID })
}

// anyOperand reports whether an operand, or an element of it, has a row or a constant origin that matches.
func (p *plan) anyOperand(f *function, o *ptx.Operand, matches func(id uint32) bool) bool {
	switch o.Kind {
	case ptx.RegOperand:
		s := p.source(f, o)
		return s.row >= 0 || s.id != unset && matches(s.id)
	case ptx.SymOperand:
		return p.id(f, o.Sym()) != notPointer
	case ptx.VecOperand:
		for i := range o.Elems() {
			if p.anyOperand(f, &o.Elems()[i], matches) {
				return true
			}
		}
	}
	return false
}

// isTracked reports whether origins of the register are tracked: it has at least 32 bits and is no predicate.
func (f *function) isTracked(r ptx.RegID) bool {
	return r != ptx.NoReg && f.Regs[r].Type != ptx.Pred && f.Regs[r].Type.Bits() >= 32
}

// set notes that an instruction gives a register the origin id. The register gets a row if other
// instructions give it a different origin, or if it points to a variable and may be read before it is
// written. set reports whether anything changed.
func (p *plan) set(f *function, r ptx.RegID, id uint32) bool {
	switch {
	case id == unset || !f.isTracked(r) || f.rows[r] >= 0 || f.fixedOrigin[r] == id:
		return false
	case f.fixedOrigin[r] != unset || p.variable(id) && slices.Contains(f.readUnset, r):
		return p.addRow(f, r)
	}
	f.fixedOrigin[r] = id
	return true
}

// addRow gives a register a row, and reports whether it is new.
func (p *plan) addRow(f *function, r ptx.RegID) bool {
	if !f.isTracked(r) || f.rows[r] >= 0 {
		return false
	}
	f.rows[r] = int32(f.n)
	f.n++
	p.rows = max(p.rows, f.n)
	return true
}

// inLocal reports whether a load or store may access local memory, including parameters of functions.
func inLocal(f *function, instr *ptx.Instr, o *ptx.Operand) bool {
	s, _ := instr.Space()
	if v, ok := o.Sym().(*ptx.Var); ok {
		s = v.Space
	}
	switch s {
	case ptx.Local, ptx.Generic:
		return true
	case ptx.Param:
		_, frame := f.places[symbolOf(o)]
		return !f.Entry || frame
	}
	return false
}

func symbolOf(o *ptx.Operand) *ptx.Var { v, _ := o.Sym().(*ptx.Var); return v }

// callees returns the functions that a call may call.
func (p *plan) callees(instr *ptx.Instr) (list []*function) {
	if fn, ok := instr.Call.Target.Sym().(*ptx.Func); ok {
		if def, ok := fn.Module().Lookup(fn.Name).(*ptx.Func); ok {
			fn = def
		}
		if f := p.funcs[fn]; f != nil {
			list = append(list, f)
		}
		return list
	}
	for _, f := range p.funcs {
		if !f.Entry {
			list = append(list, f)
		}
	}
	return list
}

// spread marks the registers that an instruction can give a tracked origin, and reports whether any is new.
func (p *plan) spread(f *function, instr *ptx.Instr) (changed bool) {
	if c := instr.Call; c != nil {
		for _, callee := range p.callees(instr) {
			for i := range min(len(c.Args), len(callee.Params)) {
				if !p.derived(f, &c.Args[i]) {
					continue
				}
				if to := callee.Params[i]; to.Space == ptx.RegSpace {
					changed = p.addRow(callee, to.Reg) || changed
				} else if !p.spills && p.mayBePointer(f, &c.Args[i]) {
					p.spills, changed = true, true
				}
			}
			for i := range min(len(c.Rets), len(callee.Rets)) {
				if from := callee.Rets[i]; from.Space != ptx.RegSpace {
					if c.Rets[i].Kind == ptx.RegOperand && p.spills {
						changed = p.addRow(f, c.Rets[i].Reg) || changed
					}
					continue
				} else if o := (ptx.Operand{Kind: ptx.RegOperand, Reg: from.Reg}); !p.derived(callee, &o) {
					continue
				}
				if c.Rets[i].Kind == ptx.RegOperand {
					changed = p.addRow(f, c.Rets[i].Reg) || changed
				} else if !p.spills {
					p.spills, changed = true, true
				}
			}
			if p.spills { // arguments in registers may come from .param variables
				for i := range min(len(c.Args), len(callee.Params)) {
					if to := callee.Params[i]; to.Space == ptx.RegSpace && c.Args[i].Kind == ptx.SymOperand {
						changed = p.addRow(callee, to.Reg) || changed
					}
				}
			}
		}
		for i := range c.Rets {
			if o := &c.Rets[i]; o.Kind == ptx.RegOperand {
				changed = p.set(f, o.Reg, p.unknownOrigin(f.Regs[o.Reg].Type.Size())) || changed
			}
		}
		return changed
	}
	switch instr.Form.Family {
	case ptx.FamilyStore:
		a, b := instr.Arg("a"), instr.Arg("b")
		if !p.spills && p.mayBePointer(f, b) && inLocal(f, instr, a) {
			p.spills, changed = true, true
		}
		return changed
	case ptx.FamilyLoad:
		if p.spills && inLocal(f, instr, instr.Arg("a")) && instr.Type().Size() >= 4 && instr.Type().Size() <= 8 {
			break
		}
		for k, e := range elements(instr.Arg("d")) {
			changed = e.Kind == ptx.RegOperand && p.set(f, e.Reg, p.element(f, instr, k)) || changed
		}
		return changed
	default:
		if !instr.Form.Effects.HasAll(ptx.Pure) && instr.Form.Family != ptx.FamilyShfl { // the results come from memory or other threads
			for r := range instr.Defs() {
				changed = p.set(f, r, p.unknownOrigin(f.Regs[r].Type.Size())) || changed
			}
			return changed
		}
		if id, always := p.result(f, instr); always {
			for r := range instr.Defs() {
				changed = p.set(f, r, id) || changed
			}
			return changed
		}
	}
	for r := range instr.Defs() {
		changed = p.addRow(f, r) || changed
	}
	return changed
}

// result returns the origin of an instruction's results if it is constant. id is unset if a source is not
// determined yet.
func (p *plan) result(f *function, instr *ptx.Instr) (id uint32, always bool) {
	r, list, _ := p.rule(f, instr)
	var from [3]origin
	for i, s := range list {
		switch {
		case s.row >= 0 || s.id != unset && !p.isConstantOrigin(s.id):
			return 0, false
		case s.id == unset:
			id = unset
		case i < len(from):
			from[i].id = s.id
		}
	}
	switch {
	case id == unset:
		return unset, true
	case r == ruleSelect:
		return from[0].id, from[0].id == from[1].id
	}
	o := p.derive(r, from[0], from[1], from[2])
	for _, s := range list[min(len(list), len(from)):] {
		o = p.addSource(r, o, origin{id: s.id})
	}
	return o.id, true
}

// elements returns the elements of a vector operand, or the operand itself.
func elements(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VecOperand {
		return o.Elems()
	}
	return []ptx.Operand{*o}
}
