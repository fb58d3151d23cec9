package bounds

// This file finds out what a launch's instructions do to pointers, before it runs: which
// registers can have one to a variable at all, and what each instruction makes of it. Nearly all
// instructions do nothing.

import (
	"gemu/interp"
	"gemu/ptx"
)

// variable is a variable that pointers are to, and where it lies: of shared memory from the
// beginning of that, of local memory from the beginning of the function's frame on.
type variable struct {
	*ptx.Var
	off  uint64
	size uint64 // bytes; all that there can be of one without a bound
	open bool   // it is one

	frame bool // it is in a function's frame
}

// The ids of what a register can be derived from: those of variables follow.
const (
	nothing = iota // no variable, as far as is known
	lost           // several variables, or one in a way that nobody follows
	firstID
)

// rule is what an instruction makes of what its sources are derived from.
type rule uint8

const (
	noRule   rule = iota
	same          // the results are derived from what all the sources are that are derived from something
	sum           // from the one source that is derived from something
	diff          // the same, but that two of one variable have a distance, which is derived from nothing
	agree         // from what both sources are, if that is the same
	addend        // from the third, a sum with the product of the others
	choose        // from one of the first two sources, by the third, a predicate
	exchange      // from what lanes of the warp have that are the same
	losing        // from nothing that anybody follows
	load          // from what is there, in local memory
	store         // it keeps it there
	access        // there is no result
	call
)

// source is what an instruction reads: a row of the function's registers, the address of a
// variable, or else nothing that is derived from one.
type source struct {
	row int32 // -1: none
	id  uint32
}

// address is an operand that is an address.
type address struct {
	source
	sym    uint32 // id of the variable that it names
	reg    ptx.RegID
	off    int64
	space  ptx.Space
	bytes  uint64       // that are accessed, if no event says so; 0: this is not looked at
	length *ptx.Operand // … unless this says how many
	kind   interp.AccessKind
	told   bool // the event says where it goes
}

// action is what an instruction does.
type action struct {
	rule
	sources [3]source
	more    []source
	results []int32 // rows
	addr    []address
	elems   []elem // of a load or store
	pred    ptx.RegID
	size    int  // of an element
	builtin bool // a call of what the machine provides
}

// elem is a register that a load or store has an element of: -1 if it can be derived from
// nothing.
type elem struct{ row int32 }

// function is a function's registers that can be derived from a variable.
type function struct {
	*ptx.Func
	rows   []int32 // by register: its row; -1 if it has none
	n      int
	places map[*ptx.Var]uint64 // what lies in its frame
	ids    map[*ptx.Var]uint32 // of its variables
}

func (f *function) row(r ptx.RegID) int32 {
	if r == ptx.NoReg {
		return -1
	}
	return f.rows[r]
}

// plan is what is known of a program.
type plan struct {
	actions []action        // by index
	chosen  []interp.Events // what is told of them
	of      []*function
	funcs   map[*ptx.Func]*function
	vars    []variable // by id
	rows    int        // the most of any function
	spills  bool       // what is derived from a variable can be in local memory
	shared  []interp.Variable
}

// id is that of a variable, nothing if pointers to it are not followed.
func (p *plan) id(f *function, s ptx.Symbol) uint32 {
	v, ok := s.(*ptx.Var)
	if !ok || v.Type.Kind() == ptx.Opaque {
		return nothing
	}
	if def, ok := f.Module().Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
		v = def
	}
	return f.ids[v]
}

// add gives a variable an id.
func (p *plan) add(v *ptx.Var, off int) uint32 {
	at := variable{Var: v, off: uint64(off), size: uint64(v.Size())}
	if at.size == 0 {
		if v.Space == ptx.Global || v.Space == ptx.Const {
			return nothing
		}
		at.size, at.open = interp.WindowSize, true
	}
	p.vars = append(p.vars, at)
	return uint32(len(p.vars) - 1)
}

// newPlan looks at the program of a launch.
func newPlan(l *interp.LaunchInfo) *plan {
	prog := l.Program
	p := &plan{funcs: map[*ptx.Func]*function{}, vars: make([]variable, firstID), shared: prog.Shared()}
	p.actions, p.of = make([]action, prog.Len()), make([]*function, prog.Len())
	ids := map[*ptx.Var]uint32{}
	for _, v := range p.shared {
		ids[v.Var] = p.add(v.Var, v.Off)
	}
	instrs := make([]*ptx.Instr, prog.Len())
	for i := range instrs {
		in, fn := prog.At(i)
		f := p.funcs[fn]
		if f == nil {
			f = &function{Func: fn, rows: make([]int32, len(fn.Regs)), places: map[*ptx.Var]uint64{}, ids: map[*ptx.Var]uint32{}}
			p.funcs[fn] = f
			for r := range f.rows {
				f.rows[r] = -1
			}
			for _, v := range prog.Locals(fn) {
				f.places[v.Var] = uint64(v.Off)
				f.ids[v.Var] = p.add(v.Var, v.Off)
				p.vars[f.ids[v.Var]].frame = true
			}
			for _, v := range fn.Params {
				if fn.Entry {
					f.ids[v] = p.add(v, 0)
				}
			}
		}
		instrs[i], p.of[i] = in, f
		in.EachSymbol(func(s ptx.Symbol) {
			v, ok := s.(*ptx.Var)
			if !ok {
				return
			}
			if def, ok := fn.Module().Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
				v = def
			}
			if f.ids[v] != nothing {
				return
			}
			if v.Space == ptx.Global || v.Space == ptx.Const {
				if ids[v] == nothing {
					ids[v] = p.add(v, 0)
				}
			}
			f.ids[v] = ids[v]
		})
	}
	for changed := true; changed; {
		changed = false
		for i, in := range instrs {
			changed = p.spread(p.of[i], in) || changed
		}
	}
	for i, in := range instrs {
		p.actions[i] = p.action(p.of[i], in)
	}
	p.settle(instrs)
	for i, in := range instrs {
		kinds := interp.Events(0)
		if p.actions[i].rule != noRule {
			if kinds = interp.OnAfter; p.actions[i].onlyAccesses(in) {
				kinds = interp.OnAccess
			}
		}
		p.chosen = append(p.chosen, kinds)
	}
	return p
}

// onlyAccesses reports whether there is no more to an instruction than one access, of which an event
// tells.
func (a *action) onlyAccesses(in *ptx.Instr) bool {
	switch in.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic:
		return a.rule == access
	}
	return false
}

// derived reports whether an operand can be derived from a variable, or one of its elements.
func (p *plan) derived(f *function, o *ptx.Operand) bool {
	switch o.Kind {
	case ptx.RegOperand:
		return f.row(o.Reg) >= 0
	case ptx.SymOperand:
		return p.id(f, o.Sym()) != nothing
	case ptx.VecOperand:
		for i := range o.Elems() {
			if p.derived(f, &o.Elems()[i]) {
				return true
			}
		}
	}
	return false
}

// mark gives a register a row.
func (p *plan) mark(f *function, r ptx.RegID) bool {
	if r == ptx.NoReg || f.rows[r] >= 0 || f.Regs[r].Type == ptx.Pred || f.Regs[r].Type.Bits() < 32 {
		return false
	}
	f.rows[r] = int32(f.n)
	f.n++
	p.rows = max(p.rows, f.n)
	return true
}

// inLocal reports whether a load or store can be of a thread's local memory, where parameters
// of functions are, too.
func inLocal(f *function, in *ptx.Instr, o *ptx.Operand) bool {
	s, _ := in.Space()
	if v, ok := o.Sym().(*ptx.Var); ok {
		s = v.Space
	}
	switch s {
	case ptx.Local, ptx.Generic:
		return true
	case ptx.Param:
		_, frame := f.places[symbolOf(o)]
		return !f.Entry || frame
	}
	return false
}

func symbolOf(o *ptx.Operand) *ptx.Var { v, _ := o.Sym().(*ptx.Var); return v }

// callees are the functions that a call can be of.
func (p *plan) callees(in *ptx.Instr) (list []*function) {
	if fn, ok := in.Call.Target.Sym().(*ptx.Func); ok {
		if def, ok := fn.Module().Lookup(fn.Name).(*ptx.Func); ok {
			fn = def
		}
		if f := p.funcs[fn]; f != nil {
			list = append(list, f)
		}
		return list
	}
	for _, f := range p.funcs {
		if !f.Entry {
			list = append(list, f)
		}
	}
	return list
}

// spread marks the registers that an instruction can give something that is derived from a
// variable, and reports whether there are new ones.
func (p *plan) spread(f *function, in *ptx.Instr) (changed bool) {
	if c := in.Call; c != nil {
		for _, callee := range p.callees(in) {
			for i := range min(len(c.Args), len(callee.Params)) {
				if !p.derived(f, &c.Args[i]) {
					continue
				}
				if to := callee.Params[i]; to.Space == ptx.RegSpace {
					changed = p.mark(callee, to.Reg) || changed
				} else if !p.spills {
					p.spills, changed = true, true
				}
			}
			for i := range min(len(c.Rets), len(callee.Rets)) {
				if from := callee.Rets[i]; from.Space != ptx.RegSpace {
					if c.Rets[i].Kind == ptx.RegOperand && p.spills {
						changed = p.mark(f, c.Rets[i].Reg) || changed
					}
					continue
				} else if callee.row(from.Reg) < 0 {
					continue
				}
				if c.Rets[i].Kind == ptx.RegOperand {
					changed = p.mark(f, c.Rets[i].Reg) || changed
				} else if !p.spills {
					p.spills, changed = true, true
				}
			}
			if p.spills { // an argument in a register comes from a .param variable
				for i := range min(len(c.Args), len(callee.Params)) {
					if to := callee.Params[i]; to.Space == ptx.RegSpace && c.Args[i].Kind == ptx.SymOperand {
						changed = p.mark(callee, to.Reg) || changed
					}
				}
			}
		}
		return changed
	}
	switch in.Form.Family {
	case ptx.FamilyStore:
		a, b := in.Arg("a"), in.Arg("b")
		if !p.spills && p.derived(f, b) && inLocal(f, in, a) {
			p.spills, changed = true, true
		}
		return changed
	case ptx.FamilyLoad:
		if !p.spills || !inLocal(f, in, in.Arg("a")) || in.Type().Size() < 4 || in.Type().Size() > 8 {
			return false
		}
	default:
		if !in.Form.Effects.Has(ptx.Pure) && in.Form.Family != ptx.FamilyShfl {
			return false // results are of memory, or of other threads
		}
		any := false
		for i := range in.Ops {
			any = any || in.IsSource(i) && p.derived(f, &in.Ops[i])
		}
		if !any {
			return false
		}
	}
	for r := range in.Defs() {
		changed = p.mark(f, r) || changed
	}
	return changed
}

// source is an operand as a source.
func (p *plan) source(f *function, o *ptx.Operand) source {
	switch o.Kind {
	case ptx.RegOperand:
		return source{row: f.row(o.Reg)}
	case ptx.SymOperand:
		return source{row: -1, id: p.id(f, o.Sym())}
	}
	return source{row: -1}
}

// action is what an instruction does.
func (p *plan) action(f *function, in *ptx.Instr) (a action) {
	if in.Call != nil {
		a.rule, a.builtin = call, in.Call.Target.Sym() != nil && len(p.callees(in)) == 0
		return a
	}
	for r := range in.Defs() {
		if row := f.row(r); row >= 0 {
			a.results = append(a.results, row)
		}
	}
	var list []source
	for i := range in.Ops {
		o := &in.Ops[i]
		if o.Kind == ptx.AddrOperand {
			p.address(f, in, i, &a)
		}
		if !in.IsSource(i) {
			continue
		}
		if o.Kind == ptx.VecOperand {
			for k := range o.Elems() {
				list = append(list, p.source(f, &o.Elems()[k]))
			}
		} else if o.Kind != ptx.AddrOperand {
			list = append(list, p.source(f, o))
		}
	}
	switch in.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore:
		o := in.Arg("a")
		a.size = in.Type().Size()
		if p.spills && inLocal(f, in, o) {
			a.rule = load
			name := "d"
			if in.Form.Family == ptx.FamilyStore {
				a.rule, name = store, "b"
			}
			if in.Form.Operand(name) < 0 { // zeros
				break
			}
			each := func(e *ptx.Operand) {
				row := int32(-1)
				if e.Kind == ptx.RegOperand {
					row = f.row(e.Reg)
				}
				a.elems = append(a.elems, elem{row})
			}
			if b := in.Arg(name); b.Kind == ptx.VecOperand {
				for k := range b.Elems() {
					each(&b.Elems()[k])
				}
			} else {
				each(b)
			}
			if len(a.addr) == 0 {
				p.follow(f, in, in.Form.Operand("a"), &a)
			}
			return a
		}
	}
	if len(a.results) == 0 {
		if len(a.addr) > 0 {
			a.rule = access
		}
		return a
	}
	a.rule = losing
	switch form := in.Form; {
	case form.Family == ptx.FamilyShfl:
		a.rule = exchange
		list = []source{p.source(f, in.Arg("a"))}
	case !form.Effects.Has(ptx.Pure) || form.Effects.Any(ptx.CarryIn|ptx.CarryOut):
	default:
		switch form.Affine {
		case ptx.AffineMove, ptx.AffineAddress, ptx.AffineConvert:
			a.rule = same
		case ptx.AffineMin, ptx.AffineMax:
			a.rule = agree
		case ptx.AffineAdd, ptx.AffineOr, ptx.AffineXor:
			a.rule = sum
		case ptx.AffineSub:
			a.rule = diff
		case ptx.AffineMad:
			a.rule = addend
		case ptx.AffineAnd: // with a constant that clears low bits it aligns
			for i := range in.Ops {
				if o := &in.Ops[i]; o.Kind == ptx.ImmOperand {
					if t := in.Type(); o.Imm.As(t)>>(t.Bits()-1) != 0 {
						a.rule = same
					}
				}
			}
		case ptx.AffineSelect:
			if c := in.Arg("c"); c.Kind == ptx.RegOperand {
				a.rule, a.pred = choose, c.Reg
				list = list[:2]
			}
		}
		if form.Family == ptx.FamilyMapa {
			a.rule, list = same, list[:1]
		}
	}
	n := copy(a.sources[:], list)
	for i := n; i < len(a.sources); i++ {
		a.sources[i].row = -1
	}
	a.more = list[n:]
	return a
}

// address adds what an operand accesses, if it is derived from a variable and may be outside.
func (p *plan) address(f *function, in *ptx.Instr, i int, a *action) {
	o := &in.Ops[i]
	if o.Sym() != nil && o.Reg == ptx.NoReg {
		v := &p.vars[p.id(f, o.Sym())]
		if p.id(f, o.Sym()) == nothing || v.open && o.Off() >= 0 {
			return
		}
		switch in.Form.Family {
		case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyMbarrier:
			if n := uint64(in.Type().Size() * in.VecLen()); n > 0 && o.Off() >= 0 && uint64(o.Off())+n <= v.size {
				return // it is always inside
			}
		}
	} else if f.row(o.Reg) < 0 && o.Sym() == nil {
		return
	}
	p.follow(f, in, i, a)
}

// follow adds what an operand accesses.
func (p *plan) follow(f *function, in *ptx.Instr, i int, a *action) {
	o, spec := &in.Ops[i], &in.Form.Operands[i]
	to := address{source: source{row: f.row(o.Reg)}, reg: o.Reg, off: o.Off(), space: in.SpaceOf(spec)}
	if o.Sym() != nil {
		to.sym = p.id(f, o.Sym())
		if v := symbolOf(o); v != nil {
			to.space = v.Space
		}
	}
	size := func(name string) { // the operand that says how many bytes it is
		if k := in.Form.Operand(name); k >= 0 && in.Ops[k].Kind != ptx.NoOperand {
			to.length = &in.Ops[k]
		}
	}
	effects := in.Form.Effects
	switch in.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyTile, ptx.FamilyFragment:
		to.told = true
	case ptx.FamilyMbarrier:
		to.bytes, to.kind = 8, interp.AccessAtomic
	case ptx.FamilyAsyncStore:
		to.bytes, to.kind = uint64(in.Type().Size()*in.VecLen()), interp.AccessStore
		if spec.Name == "c" {
			to.bytes, to.kind = 8, interp.AccessAtomic
		}
	case ptx.FamilyAsync:
		switch tensor := len(spec.Parts) > 0 || !effects.Has(ptx.Reads|ptx.Writes); {
		case spec.Name == "a" && !tensor:
			to.kind = interp.AccessStore
			size("c")
		case spec.Name == "b" && !tensor:
			if e := in.Form.Operand("e"); e >= 0 && in.Ops[e].Kind != ptx.NoOperand && !in.Form.Operands[e].Address {
				return // which says how many bytes are read
			}
			size("c")
		case spec.Name == "e":
			to.bytes, to.kind = 8, interp.AccessAtomic
		default:
			return
		}
		if to.bytes == 0 && to.length == nil {
			return
		}
	default:
		return // a hint, a fence: nothing is accessed
	}
	a.addr = append(a.addr, to)
}
