package ptx

import "gemu/ptx/internal/syntax"

// resolveAddress resolves an address, [base+offset] or array[index], with its further parts.
func (b *funcBuilder) resolveAddress(o *Operand, w *syntax.Operand, instr *Instr, spec *OperandSpec) bool {
	pos := Pos(w.Pos)
	o.Kind, o.Reg, o.Imm.Bits, o.Unified = AddrOperand, NoReg, w.Const.Bits, w.Selector == ".unified"
	if w.Selector != "" && !o.Unified {
		b.errorf(pos, "%s: unknown suffix %s of an address", instr.Text, w.Selector)
		return false
	}
	if w.Const.Kind >= syntax.F32 {
		b.errorf(pos, "%s: a float is not an address", instr.Text)
		return false
	}
	if w.Kind == syntax.Address && (w.Element || w.Index != "") {
		b.errorf(pos, "%s: an array element %s[…] must not be in brackets", instr.Text, w.Sym)
		return false
	}
	space := instr.SpaceOf(spec)
	if w.Sym == "" && space != Local {
		b.errorf(pos, "%s: a number can be an address only in .local space", instr.Text)
		return false
	}
	ok := true
	if w.Index != "" {
		if o.Reg, ok = b.resolveAddressRegister(w.Index, instr, pos); !ok {
			return false
		}
	}
	if w.Sym != "" {
		e, found := b.scope.lookup(w.Sym)
		switch {
		case found && e.kind == entReg && !w.Element && w.Index == "":
			if o.Reg, ok = b.resolveAddressRegister(w.Sym, instr, pos); !ok {
				return false
			}
			if t := b.fn.Regs[o.Reg].Type; spec.Base != NoType && t != spec.Base && !(spec.Base.IsInt() && spec.Base.agrees(t, false)) {
				b.errorf(pos, "%s: %s is %s, want %s as the address", instr.Text, w.Sym, t, spec.Base)
				return false
			}
		case spec.Base != NoType && (found && e.kind == entVar || !found && b.mod.symbols[w.Sym] != nil):
			b.errorf(pos, "%s: operand %s must be in a register, not the address of %s", instr.Text, spec.Name, w.Sym)
			return false
		case found && e.kind == entVar:
			o.extra().sym = e.v
		case !found && b.mod.symbols[w.Sym] != nil:
			o.extra().sym = b.mod.symbols[w.Sym]
		case found:
			b.errorf(pos, "%s: %s is not a variable", instr.Text, w.Sym)
			return false
		default:
			b.unknown(pos, instr.Text+": unknown name", w.Sym, b.nearestName(w.Sym))
			return false
		}
		v, isVar := o.Sym().(*Var)
		if !isVar && (w.Element || w.Index != "") {
			b.errorf(pos, "%s: %s is not an array", instr.Text, w.Sym)
			return false
		}
		if _, isFunc := o.Sym().(*Func); isFunc {
			b.errorf(pos, "%s: %s is a function, not memory", instr.Text, w.Sym)
			return false
		}
		if isVar && instr.Form.Class == ClassTexture && v.Type.Kind() != Opaque {
			b.errorf(pos, "%s: %s is not a texture, sampler or surface", instr.Text, w.Sym)
			return false
		}
		if isVar {
			valid := space == v.Space || space == Param && v.Space == Local
			if space == Generic {
				valid = v.Space == Global || v.Space == Shared || v.Space == Local || v.Type.Kind() == Opaque
			}
			if !valid {
				b.errorf(pos, "%s: %s is in .%s space", instr.Text, w.Sym, v.Space)
				return false
			}
			o.Imm.Bits = uint64(offset(v, &w.Expr))
		}
	}
	if len(w.Elems) == 0 && len(spec.AddressParts) == 0 {
		return ok
	}
	parts := make([]*syntax.Operand, len(w.Elems))
	for i := range parts {
		parts[i] = &w.Elems[i]
	}
	places := instr.place(spec.AddressParts, parts)
	if places == nil {
		b.errorf(pos, "%s: the address has %d parts, want %s", instr.Text, 1+len(parts), spec)
		return false
	}
	elems := b.newOps(len(parts))
	o.extra().elems = elems
	for i, at := range places {
		part := &spec.AddressParts[i]
		if at >= 0 && !b.resolveOperand(&elems[at], parts[at], instr, part, instr.specType(part)) {
			ok = false
		}
	}
	return ok
}

// resolveAddressRegister returns the register with the given name, and checks that it can hold an address.
func (b *funcBuilder) resolveAddressRegister(name string, instr *Instr, pos Pos) (RegID, bool) {
	e, found := b.scope.lookup(name)
	switch {
	case !found && b.mod.symbols[name] == nil:
		b.unknown(pos, instr.Text+": unknown name", name, b.nearestName(name))
	case e.kind != entReg:
		b.errorf(pos, "%s: %s is not a register", instr.Text, name)
	case e.vec > 1 || !e.typ.holdsAddress():
		b.errorf(pos, "%s: %s (%s) cannot hold an address", instr.Text, name, e.typ)
	case instr.Form.Class == ClassTexture && e.typ.Bits() != 64:
		b.errorf(pos, "%s: %s (%s) cannot hold a texture, sampler or surface", instr.Text, name, e.typ)
	default:
		return e.reg, true
	}
	return NoReg, false
}
