package lower

// This file finds the functions of a module reachable from a kernel, and properties of all of them together.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// reachedFunc is a function reachable from a kernel.
type reachedFunc struct {
	fn        *ptx.Func
	direct    bool              // reachable by calls by name alone, without a call through a pointer
	variables map[*ptx.Var]bool // variables that its instructions name
}

// reachable returns the kernel and the functions that it may call, the kernel first. If one of them contains a call
// through a pointer, these are also all functions of the module whose address is taken.
func reachable(m *ptx.Module, k *ptx.Func, env Env) []reachedFunc {
	var list []reachedFunc
	seen := map[*ptx.Func]int{}
	indirect := false
	var add func(f *ptx.Func, direct bool)
	add = func(f *ptx.Func, direct bool) {
		if def, ok := m.Lookup(f.Name).(*ptx.Func); ok {
			f = def
		}
		if !f.Defined {
			return
		}
		if i, ok := seen[f]; ok {
			list[i].direct = list[i].direct || direct
			return
		}
		seen[f] = len(list)
		index := len(list)
		list = append(list, reachedFunc{fn: f, direct: direct})
		variables := map[*ptx.Var]bool{}
		f.EachInstr(func(instr *ptx.Instr) {
			instr.EachSymbol(func(s ptx.Symbol) {
				if v, ok := s.(*ptx.Var); ok {
					variables[v] = true
				}
			})
			if c := instr.Call; c != nil {
				if callee, ok := c.Target.Sym().(*ptx.Func); ok {
					add(callee, direct)
				} else {
					indirect = true
				}
			}
		})
		list[index].variables = variables
	}
	add(k, true)
	if indirect {
		for _, f := range env.AddressTaken() {
			add(f, false)
		}
	}
	return list
}

// anyMayWait reports whether one of the functions contains an instruction that may wait for other threads, or that may
// make a loop around a call of the function a spin-wait.
func anyMayWait(list []reachedFunc) bool {
	mayWait := false
	for _, r := range list {
		r.fn.EachInstr(func(instr *ptx.Instr) {
			mayWait = mayWait || instr.Form.Effects.Any(ptx.Atomic|ptx.Strong|ptx.Fences|ptx.Barrier|ptx.Collective|ptx.Waits|ptx.Yields)
		})
	}
	return mayWait
}

// AddressTaken returns the functions whose address is used as a value in a module.
func AddressTaken(m *ptx.Module) []*ptx.Func {
	list := []*ptx.Func{}
	seen := map[*ptx.Func]bool{}
	add := func(s ptx.Symbol) {
		if f, ok := s.(*ptx.Func); ok && !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	for _, d := range m.Decls {
		switch d := d.(type) {
		case *ptx.Var:
			for _, e := range d.Init {
				add(e.Sym)
			}
		case *ptx.Func:
			for _, v := range d.Vars {
				for _, e := range v.Init {
					add(e.Sym)
				}
			}
			for _, t := range d.Tables {
				for _, f := range t.Funcs {
					add(f)
				}
			}
			d.EachInstr(func(instr *ptx.Instr) {
				instr.EachSymbol(func(s ptx.Symbol) {
					if instr.Call == nil || instr.Call.Target.Sym() != s {
						add(s)
					}
				})
			})
		}
	}
	return list
}

// isOrderFree reports whether the order of all atomics on global memory in the functions is unobservable: all are the
// same commutative integer operation, their results are not used, and nothing else observes the memory before the
// kernel ends.
func isOrderFree(reach []reachedFunc) bool {
	free := true
	var common atomicKind
	for _, r := range reach {
		var live *ptx.Liveness
		for _, b := range r.fn.Blocks {
			if !slices.ContainsFunc(b.Instrs, isOrdered) {
				continue
			}
			if slices.ContainsFunc(b.Instrs, func(instr *ptx.Instr) bool { return isOrdered(instr) && !commutes(instr) }) {
				return false
			}
			if live == nil {
				live = r.fn.Liveness()
			}
			for i, isLive := range live.LiveAfter(b) {
				instr := b.Instrs[i]
				if !isOrdered(instr) {
					continue
				}
				op, _ := atomicOf(instr)
				// Operations of different widths do not commute, nor do signed and unsigned comparisons.
				kind := atomicKind{op, instr.Type().Bits(), instr.Type().IsSigned() && (op == code.AtomMin || op == code.AtomMax)}
				if common != (atomicKind{}) && common != kind {
					return false
				}
				common = kind
				if instr.Form.Operand("d") < 0 {
					continue
				}
				if d := instr.Arg("d"); d.Kind == ptx.RegOperand && isLive(d.Reg) {
					free = false
				}
			}
		}
	}
	return free
}

// isOrdered reports whether an instruction may access global memory such that other threads observe the order.
func isOrdered(instr *ptx.Instr) bool {
	return instr.MayTouchGlobal() && instr.Form.Effects.Any(ptx.Strong|ptx.Atomic)
}

// commutes reports whether an instruction is an atomic operation that commutes with all operations of its atomicKind.
func commutes(instr *ptx.Instr) bool {
	_, ok := atomicOf(instr)
	return ok && instr.Form.Effects.HasAll(ptx.Commutes)
}

// atomicKind contains the properties of atomics that must be equal for them to commute.
type atomicKind struct {
	op     code.AtomicOp
	bits   int
	signed bool
}
