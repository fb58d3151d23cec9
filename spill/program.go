package spill

// This file represents a function as operations on variables. It computes live variables and webs: the definitions and
// uses of a register that belong together.

import (
	"slices"

	"gemu/ptx"
)

// ref is the place of a counted register in an instruction: its variable there, and the kind of access.
type ref struct {
	v           int32
	read, write bool
}

// op is an instruction of the function, or a reload of a variable.
type op struct {
	instr     *ptx.Instr // nil for a reload
	index     int        // index of the instruction or, for a reload, of the instruction after it
	reloads   int32      // the variable of a reload
	refs      []ref      // in the order of registers
	reads     []int32    // variables read, without duplicates; includes variables written only in some lanes
	defs      []int32    // variables written, without duplicates
	unguarded bool       // it writes them in all lanes, because it has no guard
	calls     bool

	removed bool    // it is omitted, because its result is not used
	stores  []int32 // variables of defs stored to memory after it
}

// block is a basic block of the function, by index.
type block struct {
	ops          []op
	succs, preds []int
}

// program is a function as operations on variables 0 to n-1.
type program struct {
	blocks []block
	n      int
	units  []int // by variable: its size in 32-bit registers
}

// registers calls do for every register of an instruction except its guard, in a fixed order.
func registers(instr *ptx.Instr, do func(r *ptx.RegID, access ptx.Access)) {
	var visit func(o *ptx.Operand, access ptx.Access)
	visit = func(o *ptx.Operand, access ptx.Access) {
		switch o.Kind {
		case ptx.RegOperand:
			do(&o.Reg, access)
		case ptx.AddrOperand:
			if access = ptx.Read; o.Reg != ptx.NoReg {
				do(&o.Reg, access)
			}
		}
		elems := o.Elems()
		for i := range elems {
			visit(&elems[i], access)
		}
	}
	for i := range instr.Ops {
		visit(&instr.Ops[i], instr.Form.Operands[i].Access)
	}
	if c := instr.Call; c != nil {
		visit(&c.Target, ptx.Read)
		for i := range c.Args {
			visit(&c.Args[i], ptx.Read)
		}
		for i := range c.Rets {
			visit(&c.Rets[i], ptx.Write)
		}
	}
}

// registerUnits returns the number of physical registers for a register type: none for a predicate.
func registerUnits(t ptx.Type) int {
	if t == ptx.Pred {
		return 0
	}
	return max(1, t.Bits()/32)
}

// newProgram returns a program with the registers of a function as variables.
func newProgram(f *ptx.Func) *program {
	p := &program{n: len(f.Regs), units: make([]int, len(f.Regs)), blocks: make([]block, len(f.Blocks))}
	for i, r := range f.Regs {
		p.units[i] = registerUnits(r.Type)
	}
	for i, b := range f.Blocks {
		out := &p.blocks[i]
		for _, s := range b.Succs {
			out.succs = append(out.succs, s.Index)
		}
		for _, s := range b.Preds {
			out.preds = append(out.preds, s.Index)
		}
		for k, instr := range b.Instrs {
			o := op{instr: instr, index: k, unguarded: instr.Guard.Reg == ptx.NoReg, calls: instr.Form.Effects.HasAll(ptx.Calls)}
			registers(instr, func(r *ptx.RegID, access ptx.Access) {
				if p.units[*r] > 0 {
					o.refs = append(o.refs, ref{int32(*r), access&ptx.Read != 0, access&ptx.Write != 0})
				}
			})
			o.collectVariables()
			out.ops = append(out.ops, o)
		}
	}
	p.addPartialReads()
	return p
}

// collectVariables sets the variables of an operation from its refs.
func (o *op) collectVariables() {
	o.reads, o.defs = nil, nil
	for _, r := range o.refs {
		if r.read && !slices.Contains(o.reads, r.v) {
			o.reads = append(o.reads, r.v)
		}
		if r.write && !slices.Contains(o.defs, r.v) {
			o.defs = append(o.defs, r.v)
		}
	}
}

// addPartialReads adds the destinations of guarded operations to their reads, because skipped lanes keep their values.
// It adds a destination only if it is live before the operation.
func (p *program) addPartialReads() {
	l := p.liveness()
	for b := range p.blocks {
		live := l.out[b].clone()
		for i := len(p.blocks[b].ops) - 1; i >= 0; i-- {
			o := &p.blocks[b].ops[i]
			for _, v := range o.defs {
				if !o.unguarded && live.contains(v) && !slices.Contains(o.reads, v) {
					o.reads = append(o.reads, v)
				}
			}
			live.before(o)
		}
	}
}

// set is a sorted set of variables. Its size depends on its elements, not on the number of variables: few variables are
// live at the same place, even in a long function.
type set []int32

func (s set) contains(v int32) bool {
	_, ok := slices.BinarySearch(s, v)
	return ok
}

func (s *set) add(v int32) {
	if i, ok := slices.BinarySearch(*s, v); !ok {
		*s = slices.Insert(*s, i, v)
	}
}

func (s *set) remove(v int32) {
	if i, ok := slices.BinarySearch(*s, v); ok {
		*s = slices.Delete(*s, i, i+1)
	}
}

func (s set) clone() set { return slices.Clone(s) }

func (s set) each(do func(int32)) {
	for _, v := range s {
		do(v)
	}
}

// union returns the union of two sets.
func (s set) union(o set) set {
	if len(s) == 0 {
		return o.clone()
	}
	both := make(set, 0, len(s)+len(o))
	for len(s) > 0 && len(o) > 0 {
		v := min(s[0], o[0])
		both = append(both, v)
		if s[0] == v {
			s = s[1:]
		}
		if o[0] == v {
			o = o[1:]
		}
	}
	return append(append(both, s...), o...)
}

// before changes the set of variables live after an operation to the set live before it.
func (s *set) before(o *op) {
	if o.unguarded {
		for _, v := range o.defs {
			s.remove(v)
		}
	}
	for _, v := range o.reads {
		s.add(v)
	}
}

// liveness contains the variables live at the start and end of blocks.
type liveness struct{ in, out []set }

func (p *program) liveness() *liveness {
	n := len(p.blocks)
	l := &liveness{make([]set, n), make([]set, n)}
	work := make([]int, n) // a stack: the last block first
	waits := make([]bool, n)
	for b := range work {
		work[b], waits[b] = b, true
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		waits[b] = false
		for _, s := range p.blocks[b].succs {
			l.out[b] = l.out[b].union(l.in[s])
		}
		live := l.out[b].clone()
		for i := len(p.blocks[b].ops) - 1; i >= 0; i-- {
			live.before(&p.blocks[b].ops[i])
		}
		if slices.Equal(live, l.in[b]) {
			continue
		}
		l.in[b] = live
		for _, q := range p.blocks[b].preds {
			if !waits[q] {
				waits[q] = true
				work = append(work, q)
			}
		}
	}
	return l
}

// webs splits variables into webs: definitions and uses that must be in the same register. It replaces variables by
// webs, and returns the variable of each web.
func (p *program) webs() (variableOf []int32) {
	l := p.liveness()
	var parent []int32
	fresh := func(v int32) int32 {
		parent = append(parent, int32(len(parent)))
		variableOf = append(variableOf, v)
		return parent[len(parent)-1]
	}
	find := func(a int32) int32 {
		for parent[a] != a {
			parent[a] = parent[parent[a]]
			a = parent[a]
		}
		return a
	}
	entry := make([]map[int32]int32, len(p.blocks))
	for b := range p.blocks {
		entry[b] = map[int32]int32{}
		l.in[b].each(func(v int32) { entry[b][v] = fresh(v) })
	}
	for b := range p.blocks {
		now := map[int32]int32{}
		for v, w := range entry[b] {
			now[v] = w
		}
		for i := range p.blocks[b].ops {
			o := &p.blocks[b].ops[i]
			if o.instr == nil {
				now[o.reloads] = fresh(o.reloads)
				o.reloads = now[o.reloads]
				o.defs[0] = o.reloads
				continue
			}
			read := func(v int32) int32 {
				w, ok := now[v]
				if !ok {
					w = fresh(v)
					now[v] = w
				}
				return w
			}
			for k, v := range o.reads {
				o.reads[k] = read(v)
			}
			old := map[int32]int32{}
			for k := range o.refs {
				if r := &o.refs[k]; r.read {
					old[r.v] = read(r.v)
				}
			}
			for k, v := range o.defs {
				// A place that is both read and written has a single register, and so has a destination written only in
				// some lanes.
				same := !o.unguarded
				for _, r := range o.refs {
					same = same || r.v == v && r.read && r.write
				}
				if !same {
					now[v] = fresh(v)
				}
				o.defs[k] = read(v)
			}
			for k := range o.refs {
				r := &o.refs[k]
				switch {
				case r.write:
					r.v = now[r.v]
				case r.read:
					r.v = old[r.v]
				}
			}
		}
		for _, s := range p.blocks[b].succs {
			for v, w := range entry[s] {
				if last, ok := now[v]; ok {
					parent[find(last)] = find(w)
				}
			}
		}
	}
	number := make([]int32, len(parent))
	var roots []int32
	for i := range number {
		number[i] = -1
	}
	name := func(w *int32) {
		r := find(*w)
		if number[r] < 0 {
			number[r] = int32(len(roots))
			roots = append(roots, variableOf[r])
		}
		*w = number[r]
	}
	for b := range p.blocks {
		for i := range p.blocks[b].ops {
			o := &p.blocks[b].ops[i]
			for k := range o.refs {
				name(&o.refs[k].v)
			}
			for k := range o.reads {
				name(&o.reads[k])
			}
			for k := range o.defs {
				name(&o.defs[k])
			}
			if o.instr == nil {
				o.reloads = o.defs[0]
			}
		}
	}
	units := make([]int, len(roots))
	for w, v := range roots {
		units[w] = p.units[v]
	}
	p.n, p.units = len(roots), units
	return roots
}
