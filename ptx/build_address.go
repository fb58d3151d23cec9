package ptx

import "gemu/ptx/internal/syntax"

// resolveAddress resolves an address, [base+offset] or array[index], with its further parts.
func (b *funcBuilder) resolveAddress(o *Operand, parsed *syntax.Operand, instr *Instr, spec *OperandSpec) bool {
	pos := Pos(parsed.Pos)
	o.Kind, o.Reg, o.Imm.Bits, o.Unified = AddrOperand, NoReg, parsed.Const.Bits, parsed.Selector == ".unified"
	if parsed.Selector != "" && !o.Unified {
		b.errorf(pos, "%s: unknown suffix %s of an address", instr.Text, parsed.Selector)
		return false
	}
	if parsed.Const.Kind >= syntax.F32 {
		b.errorf(pos, "%s: a float is not an address", instr.Text)
		return false
	}
	if parsed.Kind == syntax.Address && (parsed.Element || parsed.Index != "") {
		b.errorf(pos, "%s: an array element %s[…] must not be in brackets", instr.Text, parsed.Sym)
		return false
	}
	space := instr.SpaceOf(spec)
	if parsed.Sym == "" && space != Local {
		b.errorf(pos, "%s: a number can be an address only in .local space", instr.Text)
		return false
	}
	ok := true
	if parsed.Index != "" {
		if o.Reg, ok = b.resolveAddressRegister(parsed.Index, instr, pos); !ok {
			return false
		}
	}
	if parsed.Sym != "" {
		e, found := b.scope.lookup(parsed.Sym)
		switch {
		case found && e.kind == entReg && !parsed.Element && parsed.Index == "":
			if o.Reg, ok = b.resolveAddressRegister(parsed.Sym, instr, pos); !ok {
				return false
			}
			if t := b.fn.Regs[o.Reg].Type; spec.Base != NoType && t != spec.Base && !(spec.Base.IsInt() && spec.Base.agrees(t, false)) {
				b.errorf(pos, "%s: %s is %s, want %s as the address", instr.Text, parsed.Sym, t, spec.Base)
				return false
			}
		case spec.Base != NoType && (found && e.kind == entVar || !found && b.mod.symbols[parsed.Sym] != nil):
			b.errorf(pos, "%s: operand %s must be in a register, not the address of %s", instr.Text, spec.Name, parsed.Sym)
			return false
		case found && e.kind == entVar:
			o.extra().sym = e.v
		case !found && b.mod.symbols[parsed.Sym] != nil:
			o.extra().sym = b.mod.symbols[parsed.Sym]
		case found:
			b.errorf(pos, "%s: %s is not a variable", instr.Text, parsed.Sym)
			return false
		default:
			b.unknown(pos, instr.Text+": unknown name", parsed.Sym, b.nearestName(parsed.Sym))
			return false
		}
		v, isVar := o.Sym().(*Var)
		if !isVar && (parsed.Element || parsed.Index != "") {
			b.errorf(pos, "%s: %s is not an array", instr.Text, parsed.Sym)
			return false
		}
		if _, isFunc := o.Sym().(*Func); isFunc {
			b.errorf(pos, "%s: %s is a function, not memory", instr.Text, parsed.Sym)
			return false
		}
		if isVar && instr.Form.Class == ClassTexture && v.Type.Kind() != Opaque {
			b.errorf(pos, "%s: %s is not a texture, sampler or surface", instr.Text, parsed.Sym)
			return false
		}
		if isVar {
			valid := space == v.Space || space == Param && v.Space == Local
			if space == Generic {
				valid = v.Space == Global || v.Space == Shared || v.Space == Local || v.Type.Kind() == Opaque
			}
			if !valid {
				want := "." + space.String()
				if space == Generic {
					want = ".global, .shared or .local"
				}
				b.errorf(pos, "%s: %s is in .%s space, want %s", instr.Text, parsed.Sym, v.Space, want)
				return false
			}
			o.Imm.Bits = uint64(offset(v, &parsed.Expr))
		}
	}
	if len(parsed.Elems) == 0 && len(spec.AddressParts) == 0 {
		return ok
	}
	parts := make([]*syntax.Operand, len(parsed.Elems))
	for i := range parts {
		parts[i] = &parsed.Elems[i]
	}
	places, placed := instr.place(nil, spec.AddressParts, parts)
	if !placed {
		b.errorf(pos, "%s: the address has %d parts, want %s", instr.Text, 1+len(parts), spec)
		return false
	}
	elems := b.newOps(len(parts))
	o.extra().elems = elems
	for i, index := range places {
		part := &spec.AddressParts[i]
		if index >= 0 && !b.resolveOperand(&elems[index], parts[index], instr, part, instr.specType(part)) {
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
