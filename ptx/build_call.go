package ptx

import "gemu/ptx/internal/syntax"

// resolveCall resolves a call: {(rets),} target {, (args)} {, list}. list is a prototype, a list of targets or a call table.
func (b *funcBuilder) resolveCall(instr *Instr, s *syntax.Instr) bool {
	ops := s.Operands
	call := &Call{}
	instr.Call = call
	ok := true
	if len(ops) > 0 && ops[0].Kind == syntax.List {
		call.Rets, ok = resolvePassed(ops[0].Elems, instr, b.resolveResult)
		ops = ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != syntax.Name {
		b.errorf(Pos(s.Pos), "%s: want a function or a register that holds its address", instr.Text)
		return false
	}
	target := &ops[0]
	if !b.resolveOperand(&call.Target, target, instr, &callTarget, NoType) {
		return false
	}
	ops = ops[1:]
	if len(ops) > 0 && ops[0].Kind == syntax.List {
		var valid bool
		call.Args, valid = resolvePassed(ops[0].Elems, instr, b.resolveArgument)
		ok = ok && valid
		ops = ops[1:]
	}
	if !b.checkCallTarget(instr, target, ops, Pos(s.Pos)) {
		return false
	}
	var list *syntax.Operand
	if len(ops) > 0 {
		list = &ops[0]
		if !b.resolveCallList(instr, list) {
			return false
		}
		ops = ops[1:]
	}
	if len(ops) > 0 {
		b.errorf(Pos(ops[0].Pos), "%s: too many operands", instr.Text)
		return false
	}
	signatures, known := call.Targets()
	switch {
	case known && len(signatures) == 0:
		b.errorf(Pos(list.Pos), "%s: %s contains no function", instr.Text, list.Sym)
		return false
	case known:
	case call.List != nil:
		signatures = []*Func{call.List.Proto}
	default:
		signatures = []*Func{call.Target.Sym().(*Func)}
	}
	for _, f := range signatures {
		ok = ok && b.checkCallTypes(instr, f, Pos(s.Pos))
	}
	return ok
}

// checkCallTarget checks the target of a call. ops are the operands after the arguments, and pos is the place of the call.
func (b *funcBuilder) checkCallTarget(instr *Instr, target *syntax.Operand, ops []syntax.Operand, pos Pos) bool {
	o := &instr.Call.Target
	switch o.Kind {
	case SymOperand:
		f, isFunc := o.Sym().(*Func)
		switch {
		case !isFunc:
			b.errorf(Pos(target.Pos), "%s: %s is not a function", instr.Text, target.Sym)
		case f.Entry:
			b.errorf(Pos(target.Pos), "%s: %s is a kernel; only a .func can be called", instr.Text, target.Sym)
		case len(ops) > 0:
			b.errorf(Pos(ops[0].Pos), "%s: a prototype or a list of targets is allowed only for a call through a register; %s is a function", instr.Text, target.Sym)
		default:
			return true
		}
	case RegOperand:
		t := b.fn.Regs[o.Reg].Type
		switch {
		case !t.holdsAddress():
			b.errorf(Pos(target.Pos), "%s: %s (%s) cannot hold an address", instr.Text, target.Sym, t)
		case len(ops) == 0:
			b.errorf(pos, "%s: a call through a register needs a prototype or a list of targets", instr.Text)
		default:
			return true
		}
	default:
		b.errorf(Pos(target.Pos), "%s: the call target must be a function, or a register that holds its address", instr.Text)
	}
	return false
}

// resolveCallList resolves the name of a call's prototype, list of targets or call table.
func (b *funcBuilder) resolveCallList(instr *Instr, parsed *syntax.Operand) bool {
	e, found := b.scope.lookup(parsed.Sym)
	switch {
	case found && e.kind == entTable:
		instr.Call.List = e.table
	case found && e.kind == entVar:
		instr.Call.Var = e.v
	case b.mod.symbols[parsed.Sym] != nil:
		v, isVar := b.mod.symbols[parsed.Sym].(*Var)
		if !isVar {
			b.errorf(Pos(parsed.Pos), "%s: %s is not a call table", instr.Text, parsed.Sym)
			return false
		}
		instr.Call.Var = v
	default:
		b.unknown(Pos(parsed.Pos), instr.Text+": unknown prototype or target list", parsed.Sym, b.nearestName(parsed.Sym))
		return false
	}
	return true
}

// callTarget and callOperand are the specs of a call's operands. The callee's signature decides their types.
var (
	callTarget  = OperandSpec{Name: "target", Symbol: true, Access: Read}
	callOperand = OperandSpec{Name: "argument", Symbol: true, element: true, Access: Read, Vector: true, count: count{kind: countAny}}
)

// resolvePassed resolves the arguments or results of a call by the function resolve. A vector register is passed as its
// components, like a vector parameter.
func resolvePassed(written []syntax.Operand, instr *Instr, resolve func(o *Operand, parsed *syntax.Operand, instr *Instr) bool) (list []Operand, ok bool) {
	list, ok = make([]Operand, 0, len(written)), true
	for i := range written {
		var o Operand
		if !resolve(&o, &written[i], instr) {
			ok = false
		}
		if o.Kind == VecOperand {
			list = append(list, o.Elems()...)
		} else {
			list = append(list, o)
		}
	}
	return list, ok
}

// resolveArgument resolves an argument of a call.
func (b *funcBuilder) resolveArgument(o *Operand, parsed *syntax.Operand, instr *Instr) bool {
	if parsed.Kind == syntax.Vector {
		b.errorf(Pos(parsed.Pos), "%s: a vector argument must be in a vector register", instr.Text)
		return false
	}
	return b.resolveOperand(o, parsed, instr, &callOperand, NoType)
}

// resolveResult resolves the destination of a result of a call: a register, a .param variable, or the sink _.
func (b *funcBuilder) resolveResult(o *Operand, parsed *syntax.Operand, instr *Instr) bool {
	if parsed.Kind == syntax.Name && parsed.Sym == "_" {
		o.Kind = SinkOperand
		return true
	}
	if !b.resolveArgument(o, parsed, instr) {
		return false
	}
	v, _ := o.Sym().(*Var)
	if o.Kind != RegOperand && o.Kind != VecOperand && (v == nil || v.Space != Param || o.Offset() != 0) {
		b.errorf(Pos(parsed.Pos), "%s: a result must be a register, a .param variable or _", instr.Text)
		return false
	}
	return true
}

// checkCallTypes checks arguments and results against the callee's signature. It gives constants the type of their
// parameter.
func (b *funcBuilder) checkCallTypes(instr *Instr, head *Func, pos Pos) bool {
	check := func(noun string, ops []Operand, vars []*Var) bool {
		variadic := len(vars) > 0 && vars[len(vars)-1].Unbounded()
		if len(ops) != len(vars) && !(variadic && len(ops) >= len(vars)-1) {
			b.errorf(pos, "%s: the call has %s, but %s has %d", instr.Text, counted(len(ops), noun), head.Name, len(vars))
			return false
		}
		for i := range ops {
			if i >= len(vars) || vars[i].Unbounded() {
				break
			}
			o := &ops[i]
			size, alignment := vars[i].Size(), vars[i].Alignment()
			var got, aligned int
			var typ Type
			switch o.Kind {
			case ImmOperand:
				if !b.checkImmediate(o, instr, &callOperand, vars[i].Type, pos) {
					return false
				}
				o.Imm = o.Imm.convert(vars[i].Type)
				continue
			case RegOperand:
				typ = b.fn.Regs[o.Reg].Type
				got = (typ.Bits() + 7) / 8
				aligned = got
			case SymOperand:
				v, isVar := o.Sym().(*Var)
				if !isVar || v.Space != Param && v.Space != Local {
					continue // an address as a value
				}
				typ, got, aligned = v.Type, v.Size(), v.Alignment()
			default:
				continue
			}
			if got != size {
				b.errorf(pos, "%s: %s %d has %d bytes, but %s declares %d", instr.Text, noun, i+1, got, head.Name, size)
				return false
			}
			if aligned != alignment {
				b.errorf(pos, "%s: %s %d is aligned to %s, but %s declares %d", instr.Text, noun, i+1, counted(aligned, "byte"), head.Name, alignment)
				return false
			}
			if !typ.passesTo(vars[i].Type) {
				b.errorf(pos, "%s: %s %d has type %s, but %s declares %s", instr.Text, noun, i+1, typ, head.Name, vars[i].Type)
				return false
			}
		}
		return true
	}
	return check("result", instr.Call.Rets, head.Rets) && check("argument", instr.Call.Args, head.Params)
}
