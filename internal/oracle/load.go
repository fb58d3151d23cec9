package oracle

// This file loads modules: it assigns addresses to variables and functions, and values to variables (manual 5.4); and
// it lays out shared memory.

import (
	"fmt"
	"math/bits"

	"gemu/ptx"
)

// Module is a module loaded into a device.
type Module struct {
	*ptx.Module
	dev        *Device
	addresses  map[ptx.Symbol]uint64
	maxArgSize int // size in bytes of the largest variable that a call passes
}

// Load loads a module.
func (d *Device) Load(m *ptx.Module) (*Module, error) {
	mod := &Module{Module: m, dev: d, addresses: map[ptx.Symbol]uint64{}}
	var vars []*ptx.Var
	for _, v := range mod.variables() {
		if v.Space != ptx.Global && v.Space != ptx.Const || mod.resolveSymbol(v) != ptx.Symbol(v) {
			continue
		}
		k := variable
		if v.Space == ptx.Const {
			k = constant
		}
		if v.Type.Kind() == ptx.Opaque {
			k = hidden
		}
		addr, err := d.allocate(k, uint64(v.Size()))
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		mod.addresses[v] = addr
		vars = append(vars, v)
	}
	for _, decl := range m.Decls {
		if f, ok := decl.(*ptx.Func); ok && mod.resolveSymbol(f) == ptx.Symbol(f) {
			mod.addresses[f] = functions + functionSize*d.functions
			d.functions++
		}
	}
	for _, v := range vars {
		mod.initialise(v)
		if v.Type == ptx.SamplerRef {
			mod.defineSampler(v)
		}
	}
	mod.forEachInstr(func(instr *ptx.Instr) {
		if instr.Call == nil {
			return
		}
		for _, arg := range instr.Call.Args {
			if v, ok := arg.Sym().(*ptx.Var); ok && v.Space == ptx.Param {
				mod.maxArgSize = max(mod.maxArgSize, v.Size())
			}
		}
	})
	return mod, nil
}

// variables returns the variables of module scope and of the bodies of functions, in the order of their declaration.
func (m *Module) variables() []*ptx.Var {
	var list []*ptx.Var
	for _, decl := range m.Decls {
		switch decl := decl.(type) {
		case *ptx.Var:
			list = append(list, decl)
		case *ptx.Func:
			list = append(list, decl.Vars...)
		}
	}
	return list
}

// resolveSymbol returns the definition of a symbol: for a variable that is declared .extern, and for a function, the
// module's symbol of this name.
func (m *Module) resolveSymbol(s ptx.Symbol) ptx.Symbol {
	if v, ok := s.(*ptx.Var); ok && v.Linkage != ptx.Extern {
		return s
	}
	if def := m.Lookup(s.SymbolName()); def != nil {
		return def
	}
	return s
}

// Address is the generic address of a .global or .const variable or of a function.
func (m *Module) Address(s ptx.Symbol) (uint64, bool) {
	addr, ok := m.addresses[m.resolveSymbol(s)]
	return addr, ok
}

// functionAt returns the function at an address; nil if there is none.
func (m *Module) functionAt(addr uint64) *ptx.Func {
	for s, address := range m.addresses {
		if f, ok := s.(*ptx.Func); ok && address == addr {
			return f
		}
	}
	return nil
}

// initialise sets the initial value of a variable (manual 5.4.4).
func (m *Module) initialise(v *ptx.Var) {
	data, size := m.dev.Bytes(m.addresses[v]), v.Type.Size()
	for _, e := range v.Init {
		numbers := e.Data
		if e.Sym != nil {
			numbers = bytesOf(value{lo: m.pointerValue(e)}, size)
		}
		copy(data[e.Elem*size:], numbers)
	}
}

// pointerValue returns the value of an element that is an address. The offset of a shared variable is not known here:
// its name stands for the beginning of shared memory.
func (m *Module) pointerValue(e ptx.Init) uint64 {
	addr, _ := m.Address(e.Sym)
	if s, ok := e.Sym.(*ptx.Var); ok && s.Space == ptx.Shared && e.Generic {
		addr = sharedWindow
	}
	addr += uint64(e.Offset)
	if e.Mask != 0 { // a part of the address: its bits, shifted down
		addr = addr & e.Mask >> bits.TrailingZeros64(e.Mask)
	}
	return addr
}

// sharedVarLayout is the layout of a kernel's shared memory.
type sharedVarLayout struct {
	offsets map[*ptx.Var]uint64
	static  uint64 // bytes of variables with a known size
	dynamic uint64 // offset of variables without a size
}

// sharedLayout lays out the shared memory of a kernel.
func (m *Module) sharedLayout(k *ptx.Func) sharedVarLayout {
	l := sharedVarLayout{offsets: map[*ptx.Var]uint64{}}
	runs := m.reachableFuncs(k)
	used := map[*ptx.Var]bool{}
	for f := range runs {
		for _, v := range f.Vars {
			used[v] = true
		}
		f.EachInstr(func(instr *ptx.Instr) {
			instr.EachSymbol(func(s ptx.Symbol) {
				if v, ok := m.resolveSymbol(s).(*ptx.Var); ok {
					used[v] = true
				}
			})
		})
	}
	var open []*ptx.Var
	alignment := uint64(16)
	for _, v := range m.variables() {
		switch {
		case v.Space != ptx.Shared || !used[v] || m.resolveSymbol(v) != ptx.Symbol(v):
		case v.Unbounded() || v.Linkage == ptx.Extern && v.Size() == 0:
			open = append(open, v)
			alignment = max(alignment, uint64(v.Alignment()))
		default:
			l.offsets[v] = align(l.static, uint64(v.Alignment()))
			l.static = l.offsets[v] + uint64(v.Size())
		}
	}
	l.dynamic = align(l.static, alignment)
	for _, v := range open {
		l.offsets[v] = l.dynamic
	}
	return l
}

// reachableFuncs returns the functions that can run in a launch of a kernel.
func (m *Module) reachableFuncs(k *ptx.Func) map[*ptx.Func]bool {
	runs := map[*ptx.Func]bool{}
	var visit func(s ptx.Symbol)
	visit = func(s ptx.Symbol) {
		f, ok := m.resolveSymbol(s).(*ptx.Func)
		if !ok || !f.Defined || runs[f] {
			return
		}
		runs[f] = true
		f.EachInstr(func(instr *ptx.Instr) {
			switch {
			case instr.Call == nil:
			case instr.Call.Target.Sym() != nil:
				visit(instr.Call.Target.Sym())
			default: // through a pointer
				m.forEachPointer(visit)
			}
		})
	}
	visit(k)
	return runs
}

// forEachPointer calls visit with the symbols that the module uses as values.
func (m *Module) forEachPointer(visit func(s ptx.Symbol)) {
	for _, v := range m.variables() {
		for _, e := range v.Init {
			if e.Sym != nil {
				visit(e.Sym)
			}
		}
	}
	for _, decl := range m.Decls {
		if f, ok := decl.(*ptx.Func); ok {
			for _, t := range f.Tables {
				for _, target := range t.Funcs {
					visit(target)
				}
			}
		}
	}
	m.forEachInstr(func(instr *ptx.Instr) {
		instr.EachSymbol(func(s ptx.Symbol) {
			if instr.Call == nil || instr.Call.Target.Sym() != s {
				visit(s)
			}
		})
	})
}

// forEachInstr calls visit with every instruction of the module.
func (m *Module) forEachInstr(visit func(instr *ptx.Instr)) {
	for _, decl := range m.Decls {
		if f, ok := decl.(*ptx.Func); ok {
			f.EachInstr(visit)
		}
	}
}
