package lower

// This file places parameters, shared variables and local variables in memory.

import (
	"gemu/interp/internal/code"
	"gemu/probe"
	"gemu/ptx"
)

// layoutParams places the kernel parameters in the parameter block, each at its natural alignment (manual 5.1.6.1).
func (l *lowerer) layoutParams() {
	offset := 0
	for _, v := range l.kernel.Params {
		a := v.Alignment()
		offset = (offset + a - 1) / a * a
		l.prog.Params = append(l.prog.Params, probe.Variable{Var: v, Offset: offset})
		offset += v.Size()
	}
	l.prog.ParamLen = offset
	l.env.Params(offset)
}

// layoutShared places the shared variables of the reachable functions, and the module's shared variables used by
// them, in the order of declaration, followed by dynamic shared memory.
func (l *lowerer) layoutShared(reach []reachedFunc) {
	offset, align := uint64(0), uint64(16)
	var dynamic []*ptx.Var
	reached := map[*ptx.Func]bool{}
	named := map[*ptx.Var]bool{}
	for _, r := range reach {
		reached[r.fn] = true
		for v := range r.variables {
			named[definitionOf(l.module, v)] = true
		}
	}
	place := func(v *ptx.Var) {
		if v.Space != ptx.Shared || definitionOf(l.module, v) != v {
			return
		}
		if v.Unbounded() || v.Linkage == ptx.Extern && v.Size() == 0 {
			dynamic = append(dynamic, v)
			align = max(align, uint64(v.Alignment()))
			return
		}
		a := uint64(v.Alignment())
		offset = (offset + a - 1) / a * a
		l.sharedAddresses[v] = offset
		l.prog.Shared = append(l.prog.Shared, probe.Variable{Var: v, Offset: int(offset)})
		offset += uint64(v.Size())
	}
	for _, d := range l.module.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			if named[d] {
				place(d)
			}
		case *ptx.Func:
			if reached[d] {
				for _, v := range d.Vars {
					place(v)
				}
			}
		}
	}
	l.prog.SharedLen = offset
	l.prog.SharedDyn = (offset + align - 1) / align * align
	for _, v := range dynamic {
		l.sharedAddresses[v] = l.prog.SharedDyn
		l.prog.Shared = append(l.prog.Shared, probe.Variable{Var: v, Offset: int(l.prog.SharedDyn)})
	}
}

// listGlobals lists the variables of the device that the reachable functions name, in the order of declaration.
func (l *lowerer) listGlobals(reach []reachedFunc) {
	named := map[*ptx.Var]bool{}
	for _, r := range reach {
		for v := range r.variables {
			named[definitionOf(l.module, v)] = true
		}
	}
	add := func(v *ptx.Var) {
		if !named[v] || v.Space == ptx.Shared {
			return
		}
		if addr, ok := l.env.Address(v); ok {
			l.prog.Globals = append(l.prog.Globals, probe.Variable{Var: v, Offset: int(addr)})
		}
	}
	for _, d := range l.module.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			add(d)
		case *ptx.Func:
			for _, v := range d.Vars {
				add(v)
			}
		}
	}
}

// layoutLocals places the function's parameters, results and variables in .local and .param space in its local frame,
// in the order of declaration.
func (l *lowerer) layoutLocals() {
	f := l.fn.Func
	l.locals = map[*ptx.Var]int{}
	offset := 0
	l.fn.Align = code.FrameAlign
	_, shared := f.Statics()
	lists := [][]*ptx.Var{f.Params, f.Rets, f.Vars[len(shared):]}
	if f.Entry { // a kernel's parameters are in the parameter block; the module's variables are in the kernel's frame
		lists = [][]*ptx.Var{f.Vars}
	}
	for _, vars := range lists {
		for _, v := range vars {
			if v.Space == ptx.Local || v.Space == ptx.Param {
				a := max(v.Alignment(), 4)
				offset = (offset + a - 1) / a * a
				l.locals[v] = offset
				l.fn.Locals = append(l.fn.Locals, probe.Variable{Var: v, Offset: offset})
				offset += l.frameSize(v)
				l.fn.Align = max(l.fn.Align, a/4)
			}
		}
	}
	l.fn.Local = (offset + 3) / 4
	_, kernelVars := l.kernel.Statics()
	for i, v := range shared {
		if f.Entry {
			l.moduleLocals[v] = uint64(4*l.fn.Align + l.locals[v])
		} else {
			l.moduleLocals[v] = l.moduleLocals[kernelVars[i]]
		}
	}
	f.EachInstr(func(instr *ptx.Instr) {
		l.fn.Allocates = l.fn.Allocates || instr.Form.Effects.HasAll(ptx.Stack)
	})
}

// formalPlace returns the place of a formal parameter or result of the function.
func (l *lowerer) formalPlace(v *ptx.Var) code.ParamPlace {
	if v.Space == ptx.RegSpace {
		r := l.rows[v.Reg]
		return code.ParamPlace{Slot: r.Slot, Row: r.Row, Size: (v.Type.Bits() + 7) / 8}
	}
	return code.ParamPlace{Offset: l.locals[v], Size: l.frameSize(v)}
}

// frameSize returns the size of a variable in a frame. A parameter whose type is an unbounded array has the size of
// the largest variable passed by a call of the module.
func (l *lowerer) frameSize(v *ptx.Var) int {
	if v.Space == ptx.Param && v.Unbounded() {
		return largestArgument(l.module)
	}
	return v.Size()
}

// definitionOf returns the definition of a declared variable, because an .extern variable may be defined in the same
// module; otherwise it returns v.
func definitionOf(m *ptx.Module, v *ptx.Var) *ptx.Var {
	if def, ok := m.Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
		return def
	}
	return v
}

// largestArgument returns the size in bytes of the largest variable passed by a call.
func largestArgument(m *ptx.Module) int {
	largest := 0
	for _, d := range m.Decls {
		if f, ok := d.(*ptx.Func); ok {
			f.EachInstr(func(instr *ptx.Instr) {
				if instr.Call == nil {
					return
				}
				for i := range instr.Call.Args {
					if v, ok := instr.Call.Args[i].Sym().(*ptx.Var); ok && v.Space == ptx.Param {
						largest = max(largest, v.Size())
					}
				}
			})
		}
	}
	return largest
}
