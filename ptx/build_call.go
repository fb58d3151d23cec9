package ptx

import "gemu/ptx/internal/syntax"

// resolveCall resolves a call: {(rets),} target {, (args)} {, list}.
func (b *funcBuilder) resolveCall(instr *Instr, s *syntax.Instr) bool {
	ops := s.Operands
	call := &Call{}
	instr.Call = call
	ok := true
	if len(ops) > 0 && ops[0].Kind == syntax.List {
		call.Rets = make([]Operand, 0, len(ops[0].Elems))
		for i := range ops[0].Elems {
			var o Operand
			if !b.resolveResult(&o, &ops[0].Elems[i], instr) {
				ok = false
			}
			call.Rets = passedOperands(call.Rets, o)
		}
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
		call.Args = make([]Operand, 0, len(ops[0].Elems))
		for i := range ops[0].Elems {
			var o Operand
			if !b.resolveArgument(&o, &ops[0].Elems[i], instr) {
				ok = false
			}
			call.Args = passedOperands(call.Args, o)
		}
		ops = ops[1:]
	}
	var signatures []*Func // functions or prototypes whose signatures the arguments and results must match
	switch call.Target.Kind {
	case SymOperand:
		f, isFunc := call.Target.Sym().(*Func)
		if !isFunc {
			b.errorf(Pos(target.Pos), "%s: %s is not a function", instr.Text, target.Sym)
			return false
		}
		signatures = []*Func{f}
		if f.Entry {
			b.errorf(Pos(target.Pos), "%s: %s is a kernel", instr.Text, target.Sym)
			return false
		}
		if len(ops) > 0 {
			b.errorf(Pos(ops[0].Pos), "%s: a prototype or a list of targets is allowed only for a call through a register; %s is a function", instr.Text, target.Sym)
			return false
		}
	case RegOperand:
		if t := b.fn.Regs[call.Target.Reg].Type; !t.holdsAddress() {
			b.errorf(Pos(target.Pos), "%s: %s (%s) cannot hold an address", instr.Text, target.Sym, t)
			return false
		}
		if len(ops) == 0 {
			b.errorf(Pos(s.Pos), "%s: a call through a register needs a prototype or a list of targets", instr.Text)
			return false
		}
	default:
		b.errorf(Pos(target.Pos), "%s: the call target must be a function, or a register that holds its address", instr.Text)
		return false
	}
	var listed *syntax.Operand // the written name of the prototype, target list or call table
	if len(ops) > 0 {
		listed = &ops[0]
		w := listed
		e, found := b.scope.lookup(w.Sym)
		switch {
		case found && e.kind == entTable:
			call.List = e.table
			if p := e.table.Proto; p != nil {
				signatures = []*Func{p}
			}
		case found && e.kind == entVar:
			call.Var = e.v
		case b.mod.symbols[w.Sym] != nil:
			v, isVar := b.mod.symbols[w.Sym].(*Var)
			if !isVar {
				b.errorf(Pos(w.Pos), "%s: %s is not a call table", instr.Text, w.Sym)
				return false
			}
			call.Var = v
		default:
			b.unknown(Pos(w.Pos), instr.Text+": unknown prototype or target list", w.Sym, b.nearestName(w.Sym))
			return false
		}
		ops = ops[1:]
	}
	if len(ops) > 0 {
		b.errorf(Pos(ops[0].Pos), "%s: too many operands", instr.Text)
		return false
	}
	if targets, known := call.Targets(); known {
		if signatures = targets; len(signatures) == 0 {
			b.errorf(Pos(listed.Pos), "%s: %s contains no function", instr.Text, listed.Sym)
			return false
		}
	}
	for _, head := range signatures {
		ok = ok && b.checkCallTypes(instr, head, Pos(s.Pos))
	}
	return ok
}

// callTarget and callOperand are the specs of a call's operands. The callee's signature decides their types.
var (
	callTarget  = OperandSpec{Name: "target", Symbol: true, Access: Read}
	callOperand = OperandSpec{Name: "argument", Symbol: true, element: true, Access: Read, Vector: true, count: count{kind: countAny}}
)

// passedOperands appends an argument or result of a call to list. A vector register is passed as its components, like a
// vector parameter.
func passedOperands(list []Operand, o Operand) []Operand {
	if o.Kind == VecOperand {
		return append(list, o.Elems()...)
	}
	return append(list, o)
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
			b.errorf(pos, "%s: the call has %d %ss, but %s has %d", instr.Text, len(ops), noun, head.Name, len(vars))
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
