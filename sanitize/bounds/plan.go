package bounds

// This file finds out what a launch's instructions do to pointers, before it runs: which
// registers can have one at all, which always have one to the same buffer, and what each instruction
// makes of it. Nearly all instructions do nothing.

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

// The ids of what a register can be derived from: those of variables follow, and those of buffers,
// which are memory that arguments of the kernel point into. Where none does, nothing is loaded or vague.
const (
	notPointer   = iota // a number, as far as is known
	unknownBase         // several variables, or one through an operation that is not tracked
	loaded              // as wide as an address, and from memory or a function: perhaps a pointer, to an unknown variable
	maybePointer        // derived from pointers by an operation that is not tracked: perhaps the distance of two
	firstID

	unset = ^uint32(0) // of a register in a plan in the making: no instruction that sets it has been looked at
)

// rule is what an instruction makes of what its sources are derived from.
type rule uint8

const (
	noRule      rule = iota
	ruleCopy         // the results are derived from what all the sources are that are derived from something
	pack             // the same, of the halves of an address, which are not known by their looks
	sum              // from the one source that is derived from something
	diff             // the same, but that two of one variable have a distance, which is derived from nothing
	ruleIfEqual      // from what both sources are, if that is the same
	addend           // from the third, a sum with the product of the others
	ruleSelect       // from one of the first two sources, by the third, a predicate
	exchange         // from what lanes of the warp have that are the same
	ruleLost         // from nothing that anybody follows
	scaling          // the same; but what is scaled is no address
	ruleFixed        // from what the plan says
	load             // from what is there, in local memory
	store            // it keeps it there
	access           // there is no result
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
	baseID   uint32 // id of the variable that it names, or of the buffer that its register always points into
	reg      ptx.RegID
	off      int64
	index    *ptx.Operand // the operand, if register and offset count elements of …
	array    uint32       // … this variable
	space    ptx.Space
	bytes    uint64       // that are accessed, if no event says so; 0: this is not looked at
	length   *ptx.Operand // … unless this says how many
	kind     interp.AccessKind
	hasEvent bool // the event says where it goes
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
	plain   bool // it only accesses memory, by a register that always points into the same, and is told of that
}

// elem is a register that a load or store has an element of. What a load puts there is of its id,
// unless local memory knows more.
type elem source

// function is a function's registers, and what they can be derived from.
type function struct {
	*ptx.Func
	rows        []int32     // by register: its row; -1 if it has none
	fixedOrigin []uint32    // by register that has none: what it is derived from whenever it has a value
	readUnset   []ptx.RegID // those that may be read before anything has written them
	n           int
	places      map[*ptx.Var]uint64 // what lies in its frame
	ids         map[*ptx.Var]uint32 // of its variables
}

func (f *function) row(r ptx.RegID) int32 {
	if r == ptx.NoReg {
		return -1
	}
	return f.rows[r]
}

// plan is what is known of a program.
type plan struct {
	actions    []action        // by index
	chosen     []interp.Events // what is told of them
	functionOf []*function
	funcs      map[*ptx.Func]*function
	vars       []variable // by id
	rows       int        // the most of any function
	spills     bool       // what is derived from a variable can be in local memory
	shared     []interp.Variable
	params     []interp.Variable
	buffers    uint32         // the first id of one
	slots      map[int]uint32 // what words of the kernel's parameters point into, by offset
	word       int            // bytes of an address, if there are any slots
}

// id is that of a variable, nothing if pointers to it are not followed.
func (p *plan) id(f *function, s ptx.Symbol) uint32 {
	v, ok := s.(*ptx.Var)
	if !ok || v.Type.Kind() == ptx.Opaque {
		return notPointer
	}
	if def, ok := f.Module().Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
		v = def
	}
	return f.ids[v]
}

// add gives a variable an id.
func (p *plan) add(v *ptx.Var, offset int) uint32 {
	at := variable{Var: v, off: uint64(offset), size: uint64(v.Size())}
	if at.size == 0 {
		if v.Space == ptx.Global || v.Space == ptx.Const {
			return notPointer
		}
		at.size, at.open = interp.WindowSize, true
	}
	p.vars = append(p.vars, at)
	return uint32(len(p.vars) - 1)
}

// newPlan looks at the program of a launch; of is the kind of memory that each of its pointers points
// into.
func newPlan(l *interp.LaunchInfo, bufferOf []int) *plan {
	prog := l.Program
	p := &plan{funcs: map[*ptx.Func]*function{}, vars: make([]variable, firstID), shared: prog.Shared(), params: prog.Params()}
	p.actions, p.functionOf = make([]action, prog.Len()), make([]*function, prog.Len())
	ids := map[*ptx.Var]uint32{}
	for _, v := range p.shared {
		ids[v.Var] = p.add(v.Var, v.Offset)
	}
	instrs := make([]*ptx.Instr, prog.Len())
	for i := range instrs {
		instr, fn := prog.At(i)
		f := p.funcs[fn]
		if f == nil {
			f = &function{Func: fn, rows: make([]int32, len(fn.Regs)), fixedOrigin: make([]uint32, len(fn.Regs)), places: map[*ptx.Var]uint64{}, ids: map[*ptx.Var]uint32{}}
			p.funcs[fn] = f
			for r := range f.rows {
				f.rows[r] = -1
			}
			for r := range fn.Liveness().EachLiveIn(0) {
				f.readUnset = append(f.readUnset, r)
			}
			for _, v := range prog.Locals(fn) {
				f.places[v.Var] = uint64(v.Offset)
				f.ids[v.Var] = p.add(v.Var, v.Offset)
				p.vars[f.ids[v.Var]].frame = true
			}
			for _, v := range fn.Params {
				if fn.Entry {
					f.ids[v] = p.add(v, 0)
				}
			}
		}
		instrs[i], p.functionOf[i] = instr, f
		for r := range instr.Defs() {
			f.fixedOrigin[r] = unset
		}
		instr.EachSymbol(func(s ptx.Symbol) {
			v, ok := s.(*ptx.Var)
			if !ok {
				return
			}
			if def, ok := fn.Module().Lookup(v.Name).(*ptx.Var); ok && v.Linkage == ptx.Extern {
				v = def
			}
			if f.ids[v] != notPointer {
				return
			}
			if v.Space == ptx.Global || v.Space == ptx.Const {
				if ids[v] == notPointer {
					ids[v] = p.add(v, 0)
				}
			}
			f.ids[v] = ids[v]
		})
	}
	p.point(l, bufferOf)
	for changed := true; changed; {
		changed = false
		for i, instr := range instrs {
			changed = p.spread(p.functionOf[i], instr) || changed
		}
	}
	for _, f := range p.funcs {
		for r := range f.fixedOrigin {
			if f.fixedOrigin[r] == unset {
				f.fixedOrigin[r] = notPointer
			}
		}
	}
	for i, instr := range instrs {
		p.actions[i] = p.action(p.functionOf[i], instr)
		kinds := interp.Events(0)
		if p.actions[i].rule != noRule {
			if kinds = interp.OnAfter; p.actions[i].onlyAccesses(instr) {
				kinds = interp.OnAccess
			}
		}
		p.chosen = append(p.chosen, kinds)
	}
	return p
}

// onlyAccesses reports whether there is no more to an instruction than one access, of which an event
// tells.
func (a *action) onlyAccesses(instr *ptx.Instr) bool {
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic:
		return a.rule == access
	}
	return false
}
