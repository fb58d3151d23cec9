package lower

// This file finds out what of a module a kernel can get to, and what of that matters to
// the whole of it.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/ptx"
)

// reached is a function that a kernel can get to.
type reached struct {
	fn     *ptx.Func
	direct bool // by calls that name it, not only through its address
	uses   map[*ptx.Var]bool
}

// reachable lists the kernel, the functions it calls, and, if any of these
// calls through pointers, every function of the module whose address is taken.
func reachable(m *ptx.Module, k *ptx.Func, env Env) []reached {
	var list []reached
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
		at := len(list)
		list = append(list, reached{fn: f, direct: direct})
		uses := map[*ptx.Var]bool{}
		f.EachInstr(func(in *ptx.Instr) {
			in.EachSymbol(func(s ptx.Symbol) {
				if v, ok := s.(*ptx.Var); ok {
					uses[v] = true
				}
			})
			if c := in.Call; c != nil {
				if callee, ok := c.Target.Sym().(*ptx.Func); ok {
					add(callee, direct)
				} else {
					indirect = true
				}
			}
		})
		list[at].uses = uses
	}
	add(k, true)
	if indirect {
		for _, f := range env.AddressTaken() {
			add(f, false)
		}
	}
	return list
}

// callsMayWait reports whether one of the functions has something that may wait for
// other lanes, or makes a loop around its call one that may.
func callsMayWait(list []reached) bool {
	waits := false
	for _, r := range list {
		r.fn.EachInstr(func(in *ptx.Instr) {
			waits = waits || in.Form.Effects.Any(ptx.Atomic|ptx.Strong|ptx.Fences|ptx.Barrier|ptx.Collective|ptx.Waits|ptx.Yields)
		})
	}
	return waits
}

// AddressTaken lists the functions whose address a module uses as a value.
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
			d.EachInstr(func(in *ptx.Instr) {
				in.EachSymbol(func(s ptx.Symbol) {
					if in.Call == nil || in.Call.Target.Sym() != s {
						add(s)
					}
				})
			})
		}
	}
	return list
}

// orderFree reports whether the order of all atomics on global memory in the
// functions cannot be seen: each is the same commutative integer operation, its
// result is not used, and nothing else looks at memory before the kernel ends.
func orderFree(reach []reached) bool {
	free := true
	var same commuting
	for _, r := range reach {
		var live *ptx.Liveness
		for _, b := range r.fn.Blocks {
			if !slices.ContainsFunc(b.Instrs, ordered) {
				continue
			}
			if slices.ContainsFunc(b.Instrs, func(in *ptx.Instr) bool { return ordered(in) && !commutes(in) }) {
				return false
			}
			if live == nil {
				live = r.fn.Liveness()
			}
			for i, lives := range live.Behind(b) {
				in := b.Instrs[i]
				if !ordered(in) {
					continue
				}
				op, _ := atomicOf(in)
				// Operations of different widths do not commute, nor do signed
				// and unsigned comparisons.
				kind := commuting{op, in.Type().Bits(), in.Type().IsSigned() && (op == code.AtomMin || op == code.AtomMax)}
				if same != (commuting{}) && same != kind {
					return false
				}
				same = kind
				if in.Form.Operand("d") < 0 {
					continue
				}
				if d := in.Arg("d"); d.Kind == ptx.RegOperand && lives(d.Reg) {
					free = false
				}
			}
		}
	}
	return free
}

// ordered reports whether an instruction touches global memory in an order that may be seen.
func ordered(in *ptx.Instr) bool {
	return in.MayTouchGlobal() && in.Form.Effects.Any(ptx.Strong|ptx.Atomic)
}

// commutes reports whether it is an atomic operation that others of its kind may come before or behind.
func commutes(in *ptx.Instr) bool {
	_, ok := atomicOf(in)
	return ok && in.Form.Effects.Has(ptx.Commutes)
}

// commuting is what atomics share whose order is not seen in memory.
type commuting struct {
	op     code.AtomicOp
	bits   int
	signed bool
}
