package bounds

// This file analyses a launch's program before it runs: which registers can hold pointers, which always point
// into the same buffer, and the action of each instruction. Nearly all instructions have none.

import (
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// variable is a variable that pointers can refer to, and its position: an offset from the beginning of shared
// memory, or of the function's frame in local memory; the address of a variable in global or constant memory.
type variable struct {
	*ptx.Var
	off  uint64
	size uint64 // in bytes; the largest possible size for a variable without a declared size
	open bool   // without a declared size

	frame bool // in a function's frame
}

// The ids of origins. The ids of variables follow firstID, then the ids of buffers, i.e. of memory that
// arguments of the kernel point into. Without such arguments, loaded and maybePointer do not occur.
const (
	notPointer   = iota // a number, as far as is known
	unknownBase         // derived from several variables, or from a variable by an untracked operation
	loaded              // as wide as an address, from memory or a function: perhaps a pointer to an unknown variable
	maybePointer        // derived from pointers by an untracked operation: perhaps the distance of two pointers
	firstID

	unset = ^uint32(0) // while the plan is built: no instruction that sets the register has been analysed
)

// rule determines the origin of an instruction's results from the origins of its sources.
type rule uint8

const (
	noRule      rule = iota
	ruleCopy         // the common origin of all sources with an origin
	pack             // the common origin of sources that are halves of an address; loaded if no half has an origin
	sum              // the origin of the only source with an origin
	diff             // the origin of the first source, if only it has one; two pointers to the same variable give none
	ruleIfEqual      // the origin of both sources, if equal
	addend           // the origin of the third source, to which a product of the first two is added
	ruleSelect       // the origin of the first or second source, by a predicate
	exchange         // the common origin of the values in all lanes of the warp
	ruleLost         // an untracked operation
	scaling          // as ruleLost, but values from memory (loaded) give no address
	ruleFixed        // constant origins, from the plan
	load             // the origins in local memory
	store            // stores the origins in local memory
	access           // no result
	call
)

// source is a source operand: a row, or a constant origin such as the address of a variable.
type source struct {
	row int32 // -1: constant
	id  uint32
}

// address is an address operand.
type address struct {
	source
	baseID   uint32 // id of the variable that it names, or of the buffer that its register always points into
	reg      ptx.RegID
	off      int64
	index    *ptx.Operand // set if register and offset count elements of array
	array    uint32       // id of the indexed variable
	space    ptx.Space
	bytes    uint64       // accessed bytes, for instructions without access events; 0: not checked
	length   *ptx.Operand // operand with the number of bytes, instead of bytes
	kind     probe.AccessKind
	hasEvent bool // access events have the addresses
}

// action is the effect of an instruction on origins, and its accesses.
type action struct {
	rule
	sources [3]source
	more    []source
	results []int32 // rows
	addr    []address
	elems   []elem // elements of a load or store
	pred    ptx.RegID
	size    int  // size of an element, in bytes
	builtin bool // a call of a function that the machine provides
	plain   bool // a single access with an event, through a register that always points into the same variable or buffer
}

// elem is a register that holds an element of a load or store. id is the origin of a loaded element that is not
// in local memory.
type elem source

// function holds the registers of a function and their possible origins.
type function struct {
	*ptx.Func
	rows        []int32             // by register; -1: no row
	fixedOrigin []uint32            // by register without a row: its origin whenever it has a value
	readUnset   []ptx.RegID         // registers that may be read before they are written
	n           int                 // number of rows
	places      map[*ptx.Var]uint64 // offsets of the variables in its frame
	ids         map[*ptx.Var]uint32 // ids of the variables that its instructions name, and of its own
}

func (f *function) row(r ptx.RegID) int32 {
	if r == ptx.NoReg {
		return -1
	}
	return f.rows[r]
}

// plan is the analysis of a program.
type plan struct {
	actions    []action       // by index of the instruction
	chosen     []probe.Events // the subscribed events, by index
	functionOf []*function
	funcs      map[*ptx.Func]*function
	vars       []variable // by id
	isNeeded   bool       // there is an access to check
	rows       int        // number of rows of a call depth: the maximum over all functions
	spills     bool       // a pointer can be stored in local memory
	shared     []probe.Variable
	params     []probe.Variable
	buffers    uint32         // first id of a buffer
	slots      map[int]uint32 // origin ids of the kernel's pointer parameters, by offset
	word       int            // size of an address in bytes, if there are slots
}

// id returns the id of a variable, notPointer if pointers to it are not tracked.
func (p *plan) id(f *function, s ptx.Symbol) uint32 {
	v, ok := s.(*ptx.Var)
	if !ok || v.Type.Kind() == ptx.Opaque {
		return notPointer
	}
	return f.ids[v]
}

// add gives a variable an id.
func (p *plan) add(v *ptx.Var, offset int) uint32 {
	added := variable{Var: v, off: uint64(offset), size: uint64(v.Size())}
	if added.size == 0 {
		if v.Space == ptx.Global || v.Space == ptx.Const {
			return notPointer
		}
		added.size, added.open = probe.WindowSize, true
	}
	p.vars = append(p.vars, added)
	return uint32(len(p.vars) - 1)
}

// newPlan analyses the program of a launch. bufferOf holds, for each pointer of the launch, the index of its
// buffer or -1.
func newPlan(l *probe.LaunchInfo, bufferOf []int) *plan {
	prog := l.Program
	p := &plan{funcs: map[*ptx.Func]*function{}, vars: make([]variable, firstID), shared: prog.Shared(), params: prog.Params()}
	p.actions, p.functionOf = make([]action, prog.Len()), make([]*function, prog.Len())
	ids := map[*ptx.Var]uint32{}
	for _, v := range slices.Concat(p.shared, prog.Globals()) {
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
		instr.EachSymbol(func(s ptx.Symbol) { // the definition of a variable that is declared .extern, if the module has it
			if v, ok := s.(*ptx.Var); ok && f.ids[v] == notPointer {
				f.ids[v] = ids[v]
			}
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
		p.isNeeded = p.isNeeded || len(p.actions[i].addr) > 0
		kinds := probe.Events(0)
		if p.actions[i].rule != noRule {
			if kinds = probe.OnAfter; p.actions[i].onlyAccesses(instr) {
				kinds = probe.OnAccess
			}
		}
		p.chosen = append(p.chosen, kinds)
	}
	return p
}

// onlyAccesses reports whether the instruction consists of a single access that has an event.
func (a *action) onlyAccesses(instr *ptx.Instr) bool {
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic:
		return a.rule == access
	}
	return false
}
