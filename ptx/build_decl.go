package ptx

import (
	"strconv"

	"gemu/ptx/internal/syntax"
)

// copyStatics declares the module's .local and .reg variables in the function (Func.Statics).
func (b *funcBuilder) copyStatics() {
	inner, regs := b.scope, len(b.fn.Regs)
	b.scope = inner.parent
	for _, s := range b.mod.statics {
		if _, dup := inner.names[s.v.Name]; dup {
			b.errorf(s.v.Pos, "%s is declared twice: as a parameter of %s, and here", s.v.Name, b.fn.Name)
			continue
		}
		v := *s.v
		if v.Space == RegSpace {
			b.declareRegisters(&v, s.d)
		} else {
			b.declareLocal(&v, s.d)
		}
	}
	b.scope = inner
	for r := regs; r < len(b.fn.Regs); r++ {
		b.fn.staticRegs = append(b.fn.staticRegs, RegID(r))
	}
	b.fn.staticVars = len(b.fn.Vars)
}

// declareLocals declares the registers or variables of a declaration in the body.
func (b *funcBuilder) declareLocals(d *syntax.Var) {
	for i := range d.Names {
		n := &d.Names[i]
		if !d.IsRegister() {
			for _, v := range b.variables(d, i, Internal) {
				b.declareLocal(v, n)
			}
		} else if v := b.variable(d, i, Internal); v != nil {
			b.declareRegisters(v, n)
		}
	}
}

// parameterLists is the first version in which a kernel has a list of parameters. Kernels of older versions declare
// them in their body (manual 11.1.1).
var parameterLists = Version{1, 4}

// declareLocal declares a variable of the body; n is its declarator.
func (b *funcBuilder) declareLocal(v *Var, n *syntax.Declarator) {
	switch v.Space {
	case Local, Shared, Param, Global, Const:
	default:
		b.errorf(v.Pos, "%s: want a state space (.reg, .local, .shared, .param …)", v.Name)
		return
	}
	if v.Type.Kind() == Opaque {
		b.errorf(v.Pos, "%s: a %s must be declared at module level or as a kernel parameter", v.Name, v.Type)
		return
	}
	if v.Space == Param && v.Unbounded() {
		b.errorf(v.Pos, "%s: only a parameter of the function can be an array without a size", v.Name)
		return
	}
	b.declareName(v.Pos, v.Name, entity{kind: entVar, v: v})
	v.Name = b.unique(v.Name)
	if b.fn.Entry && v.Space == Param && n.Init == nil && b.mod.Version.Less(parameterLists) {
		b.fn.Params = append(b.fn.Params, v)
		return
	}
	b.fn.Vars = append(b.fn.Vars, v)
	if n.Init != nil {
		b.initialiser(v, n.Init, b.scope)
	}
}

// maxRegs bounds the registers of a function: a single line can declare any number.
const maxRegs = 1 << 20

// declareRegisters declares a register, a vector register or a range of registers.
func (b *funcBuilder) declareRegisters(v *Var, n *syntax.Declarator) {
	switch {
	case n.Init != nil:
		b.errorf(v.Pos, "%s: a register cannot have an initialiser", v.Name)
		return
	case len(b.fn.Regs)+max(n.Count, 1)*v.Vec > maxRegs:
		b.errorf(v.Pos, "%s: more than %d registers in a function", v.Name, maxRegs)
		b.broken[v.Name] = true
		return
	}
	e := entity{kind: entReg, vec: v.Vec, typ: v.Type, reg: RegID(len(b.fn.Regs))}
	if !n.Range {
		b.declareName(v.Pos, v.Name, e)
		b.declareReg(v, v.Name)
		return
	}
	if _, dup := b.scope.ranges[v.Name]; dup {
		b.errorf(v.Pos, "%s<%d> is declared twice in this scope", v.Name, n.Count)
		return
	}
	for name := range b.scope.names {
		if prefix, i, ok := splitRange(name); ok && prefix == v.Name && i < n.Count {
			b.errorf(v.Pos, "%s<%d> contains %s, which is already declared in this scope", v.Name, n.Count, name)
			return
		}
	}
	e.count = n.Count
	if v.Vec == 1 {
		b.newRange(v.Name, n.Count, v.Type)
	} else {
		for j := range n.Count {
			b.declareReg(v, v.Name+strconv.Itoa(j))
		}
	}
	b.scope.ranges[v.Name] = e
}

// declareReg makes the register of a name, or the registers of a vector's components.
func (b *funcBuilder) declareReg(v *Var, name string) {
	if v.Vec > 1 {
		b.newVector(name, v.Type, v.Vec)
	} else {
		b.newReg(name, v.Type)
	}
}
