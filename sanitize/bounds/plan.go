package bounds

// This file finds out what a launch's instructions do to pointers, before it runs: which
// registers can have one at all, which always have one to the same buffer, and what each instruction
// makes of it. Nearly all instructions do nothing.

import (
	"slices"

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

// point gives ids to the buffers that the kernel's parameters point into.
func (p *plan) point(l *interp.LaunchInfo, bufferOf []int) {
	p.buffers = uint32(len(p.vars))
	if len(bufferOf) == 0 {
		return
	}
	p.slots, p.word = map[int]uint32{}, l.Module.AddressSize/8
	for i, pointer := range l.Pointers {
		id := uint32(maybePointer) // it points in between, perhaps right behind one
		if bufferOf[i] >= 0 {
			id = p.buffers + uint32(bufferOf[i])
			for uint32(len(p.vars)) <= id {
				p.vars = append(p.vars, variable{})
			}
		}
		p.slots[pointer.Offset] = id
	}
}

// unknownOrigin is what a value of some bytes is derived from that memory or a function had.
func (p *plan) unknownOrigin(bytes int) uint32 {
	if bytes >= p.word && p.word > 0 { // of two addresses, too
		return loaded
	}
	return notPointer
}

// element is what element k is derived from that a load of other than local memory loads.
func (p *plan) element(f *function, instr *ptx.Instr, k int) uint32 {
	o, size := instr.Arg("a"), instr.Type().Size()
	if v := symbolOf(o); size == p.word && f.Entry && v != nil && v.Space == ptx.Param && o.Reg == ptx.NoReg {
		for _, at := range p.params {
			if at.Var == v {
				return p.slots[at.Offset+int(o.Offset())+k*size]
			}
		}
	}
	return p.unknownOrigin(size)
}

// derived reports whether an operand can be derived from anything, or one of its elements.
func (p *plan) derived(f *function, o *ptx.Operand) bool {
	return p.anyOperand(f, o, func(id uint32) bool { return id != notPointer })
}

// mayBePointer reports whether an operand can be a pointer that is followed, or one of its elements.
func (p *plan) mayBePointer(f *function, o *ptx.Operand) bool {
	return p.anyOperand(f, o, func(id uint32) bool { return id >= firstID })
}

// anyOperand reports whether an operand or one of its elements has a row, or is always derived from what is
// asked for.
func (p *plan) anyOperand(f *function, o *ptx.Operand, matches func(id uint32) bool) bool {
	switch o.Kind {
	case ptx.RegOperand:
		s := p.source(f, o)
		return s.row >= 0 || s.id != unset && matches(s.id)
	case ptx.SymOperand:
		return p.id(f, o.Sym()) != notPointer
	case ptx.VecOperand:
		for i := range o.Elems() {
			if p.anyOperand(f, &o.Elems()[i], matches) {
				return true
			}
		}
	}
	return false
}

// isTracked reports whether anything is known of what a register is derived from.
func (f *function) isTracked(r ptx.RegID) bool {
	return r != ptx.NoReg && f.Regs[r].Type != ptx.Pred && f.Regs[r].Type.Bits() >= 32
}

// set is for an instruction that derives a register from what an id says: it is that, or has a row if
// others derive it from something else, or, as a pointer to a variable, from nothing where it is read before
// that.
func (p *plan) set(f *function, r ptx.RegID, id uint32) bool {
	switch {
	case id == unset || !f.isTracked(r) || f.rows[r] >= 0 || f.fixedOrigin[r] == id:
		return false
	case f.fixedOrigin[r] != unset || p.variable(id) && slices.Contains(f.readUnset, r):
		return p.addRow(f, r)
	}
	f.fixedOrigin[r] = id
	return true
}

// addRow gives a register a row.
func (p *plan) addRow(f *function, r ptx.RegID) bool {
	if !f.isTracked(r) || f.rows[r] >= 0 {
		return false
	}
	f.rows[r] = int32(f.n)
	f.n++
	p.rows = max(p.rows, f.n)
	return true
}

// inLocal reports whether a load or store can be of a thread's local memory, where parameters
// of functions are, too.
func inLocal(f *function, instr *ptx.Instr, o *ptx.Operand) bool {
	s, _ := instr.Space()
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
func (p *plan) callees(instr *ptx.Instr) (list []*function) {
	if fn, ok := instr.Call.Target.Sym().(*ptx.Func); ok {
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
func (p *plan) spread(f *function, instr *ptx.Instr) (changed bool) {
	if c := instr.Call; c != nil {
		for _, callee := range p.callees(instr) {
			for i := range min(len(c.Args), len(callee.Params)) {
				if !p.derived(f, &c.Args[i]) {
					continue
				}
				if to := callee.Params[i]; to.Space == ptx.RegSpace {
					changed = p.addRow(callee, to.Reg) || changed
				} else if !p.spills && p.mayBePointer(f, &c.Args[i]) {
					p.spills, changed = true, true
				}
			}
			for i := range min(len(c.Rets), len(callee.Rets)) {
				if from := callee.Rets[i]; from.Space != ptx.RegSpace {
					if c.Rets[i].Kind == ptx.RegOperand && p.spills {
						changed = p.addRow(f, c.Rets[i].Reg) || changed
					}
					continue
				} else if o := (ptx.Operand{Kind: ptx.RegOperand, Reg: from.Reg}); !p.derived(callee, &o) {
					continue
				}
				if c.Rets[i].Kind == ptx.RegOperand {
					changed = p.addRow(f, c.Rets[i].Reg) || changed
				} else if !p.spills {
					p.spills, changed = true, true
				}
			}
			if p.spills { // an argument in a register comes from a .param variable
				for i := range min(len(c.Args), len(callee.Params)) {
					if to := callee.Params[i]; to.Space == ptx.RegSpace && c.Args[i].Kind == ptx.SymOperand {
						changed = p.addRow(callee, to.Reg) || changed
					}
				}
			}
		}
		for i := range c.Rets {
			if o := &c.Rets[i]; o.Kind == ptx.RegOperand {
				changed = p.set(f, o.Reg, p.unknownOrigin(f.Regs[o.Reg].Type.Size())) || changed
			}
		}
		return changed
	}
	switch instr.Form.Family {
	case ptx.FamilyStore:
		a, b := instr.Arg("a"), instr.Arg("b")
		if !p.spills && p.mayBePointer(f, b) && inLocal(f, instr, a) {
			p.spills, changed = true, true
		}
		return changed
	case ptx.FamilyLoad:
		if p.spills && inLocal(f, instr, instr.Arg("a")) && instr.Type().Size() >= 4 && instr.Type().Size() <= 8 {
			break
		}
		for k, e := range elements(instr.Arg("d")) {
			changed = e.Kind == ptx.RegOperand && p.set(f, e.Reg, p.element(f, instr, k)) || changed
		}
		return changed
	default:
		if !instr.Form.Effects.HasAll(ptx.Pure) && instr.Form.Family != ptx.FamilyShfl { // results are of memory, or of other threads
			for r := range instr.Defs() {
				changed = p.set(f, r, p.unknownOrigin(f.Regs[r].Type.Size())) || changed
			}
			return changed
		}
		if id, always := p.result(f, instr); always {
			for r := range instr.Defs() {
				changed = p.set(f, r, id) || changed
			}
			return changed
		}
	}
	for r := range instr.Defs() {
		changed = p.addRow(f, r) || changed
	}
	return changed
}

// result is what the results of an instruction are derived from, if that is always the same; unset, if
// nothing is known yet.
func (p *plan) result(f *function, instr *ptx.Instr) (id uint32, always bool) {
	r, list, _ := p.rule(f, instr)
	var from [3]origin
	for i, s := range list {
		switch {
		case s.row >= 0 || s.id != unset && !p.isConstantOrigin(s.id):
			return 0, false
		case s.id == unset:
			id = unset
		case i < len(from):
			from[i].id = s.id
		}
	}
	switch {
	case id == unset:
		return unset, true
	case r == ruleSelect:
		return from[0].id, from[0].id == from[1].id
	}
	o := p.derive(r, from[0], from[1], from[2])
	for _, s := range list[min(len(list), len(from)):] {
		o = p.addSource(r, o, origin{id: s.id})
	}
	return o.id, true
}

// elements are those of an operand, itself if it is no vector.
func elements(o *ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VecOperand {
		return o.Elems()
	}
	return []ptx.Operand{*o}
}

// source is an operand as a source.
func (p *plan) source(f *function, o *ptx.Operand) source {
	switch o.Kind {
	case ptx.RegOperand:
		if s := (source{row: f.row(o.Reg)}); s.row >= 0 || !f.isTracked(o.Reg) {
			return s
		}
		return source{row: -1, id: f.fixedOrigin[o.Reg]}
	case ptx.SymOperand:
		return source{row: -1, id: p.id(f, o.Sym())}
	}
	return source{row: -1}
}

// action is what an instruction does.
func (p *plan) action(f *function, instr *ptx.Instr) (a action) {
	if instr.Call != nil {
		a.rule, a.builtin = call, instr.Call.Target.Sym() != nil && len(p.callees(instr)) == 0
		return a
	}
	for r := range instr.Defs() {
		if row := f.row(r); row >= 0 {
			a.results = append(a.results, row)
		}
	}
	for i := range instr.Ops {
		if instr.Ops[i].Kind == ptx.AddrOperand {
			p.address(f, instr, i, &a)
		}
	}
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore:
		o := instr.Arg("a")
		a.size = instr.Type().Size()
		if p.spills && inLocal(f, instr, o) {
			a.rule = load
			name := "d"
			if instr.Form.Family == ptx.FamilyStore {
				a.rule, name = store, "b"
			}
			if instr.Form.Operand(name) < 0 { // zeros
				break
			}
			for k, o := range elements(instr.Arg(name)) {
				e := elem{row: -1}
				if o.Kind == ptx.RegOperand {
					e = elem(p.source(f, &o))
				}
				if a.rule == load {
					e.id = p.element(f, instr, k)
				}
				a.elems = append(a.elems, e)
			}
			if len(a.addr) == 0 {
				p.addAccess(f, instr, instr.Form.Operand("a"), &a)
			}
			return a
		}
	}
	if len(a.results) == 0 {
		if len(a.addr) > 0 {
			a.rule = access
			to := &a.addr[0]
			a.plain = len(a.addr) == 1 && to.hasEvent && to.row < 0 && to.baseID >= firstID && p.isConstantOrigin(to.baseID)
		}
		return a
	}
	if !instr.Form.Effects.HasAll(ptx.Pure) && instr.Form.Family != ptx.FamilyShfl {
		a.rule = ruleFixed
		if instr.Form.Family == ptx.FamilyLoad {
			for k, o := range elements(instr.Arg("d")) {
				if o.Kind == ptx.RegOperand && f.row(o.Reg) >= 0 {
					a.elems = append(a.elems, elem{f.row(o.Reg), p.element(f, instr, k)})
				}
			}
			return a
		}
		for r := range instr.Defs() {
			if row := f.row(r); row >= 0 {
				a.elems = append(a.elems, elem{row, p.unknownOrigin(f.Regs[r].Type.Size())})
			}
		}
		return a
	}
	r, list, pred := p.rule(f, instr)
	a.rule, a.pred = r, pred
	n := copy(a.sources[:], list)
	for i := n; i < len(a.sources); i++ {
		a.sources[i].row = -1
	}
	a.more = list[n:]
	return a
}

// rule is what an instruction makes of its sources that does nothing but compute, or exchanges values
// between lanes; pred is that of choose.
func (p *plan) rule(f *function, instr *ptx.Instr) (r rule, list []source, pred ptx.RegID) {
	halves := false
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if !instr.IsSource(i) {
			continue
		}
		if o.Kind == ptx.VecOperand {
			for k := range o.Elems() {
				list = append(list, p.source(f, &o.Elems()[k]))
			}
			halves = o.Elems()[len(o.Elems())-1].Kind != ptx.ImmOperand && instr.Type().Size() == p.word
		} else if o.Kind != ptx.AddrOperand {
			list = append(list, p.source(f, o))
		}
	}
	r = ruleLost
	switch form := instr.Form; {
	case form.Family == ptx.FamilyShfl:
		r = exchange
		list = []source{p.source(f, instr.Arg("a"))}
	case form.Family == ptx.FamilyMapa:
		r, list = ruleCopy, list[:1]
	case form.Effects.Any(ptx.CarryIn | ptx.CarryOut):
	default:
		switch form.Affine {
		case ptx.AffineMove, ptx.AffineAddress, ptx.AffineConvert:
			if r = ruleCopy; halves {
				r = pack
			}
		case ptx.AffineMin, ptx.AffineMax:
			r = ruleIfEqual
		case ptx.AffineAdd, ptx.AffineOr, ptx.AffineXor:
			r = sum
		case ptx.AffineSub:
			r = diff
		case ptx.AffineMad:
			r = addend
		case ptx.AffineMul, ptx.AffineShl, ptx.AffineShr, ptx.AffineDiv, ptx.AffineRem, ptx.AffineBfe:
			r = scaling
		case ptx.AffineAnd: // with a constant that clears low bits it aligns
			for i := range instr.Ops {
				if o := &instr.Ops[i]; o.Kind == ptx.ImmOperand {
					if t := instr.Type(); o.Imm.Encode(t)>>(t.Bits()-1) != 0 {
						r = ruleCopy
					}
				}
			}
		case ptx.AffineSelect:
			if c := instr.Arg("c"); c.Kind == ptx.RegOperand {
				r, pred, list = ruleSelect, c.Reg, list[:2]
			}
		}
	}
	return r, list, pred
}

// variable reports whether an id is that of a variable; buffer, of a buffer.
func (p *plan) variable(id uint32) bool { return id >= firstID && id < p.buffers }
func (p *plan) buffer(id uint32) bool   { return id >= p.buffers && id < unset }

// isConstantOrigin reports whether a register that is always derived from what an id says needs no row: that is the
// same all the time, and to name it is enough.
func (p *plan) isConstantOrigin(id uint32) bool {
	return !p.variable(id) || p.vars[id].Space == ptx.Shared
}

// either is what a sum is derived from.
func (p *plan) either(x, y origin) origin {
	switch {
	case x.id == notPointer:
		return y
	case y.id == notPointer:
		return x
	case x.id == unknownBase || y.id == unknownBase || p.variable(x.id) && p.variable(y.id):
	case p.variable(x.id) && !p.buffer(y.id):
		return x
	case p.variable(y.id) && !p.buffer(x.id):
		return y
	case !p.variable(x.id) && !p.variable(y.id):
		return origin{id: maybePointer}
	}
	return origin{id: unknownBase}
}

// mergeOrigins is what a value is derived from that is one of two, or is made of both.
func (p *plan) mergeOrigins(x, y origin) origin {
	if x == y {
		return x
	}
	return p.either(x, y)
}

// combineOrigins is the origin of a value that an untracked operation makes of two values.
func (p *plan) combineOrigins(x, y origin) origin {
	id := uint32(notPointer)
	for _, variableID := range [2]uint32{x.id, y.id} {
		switch {
		case id == unknownBase || variableID == unknownBase || p.variable(variableID):
			id = unknownBase
		case p.buffer(variableID):
			id = maybePointer
		default:
			id = max(id, variableID)
		}
	}
	return origin{id: id}
}

// addSource is what a rule makes of one source more than derive has been given.
func (p *plan) addSource(r rule, o, x origin) origin {
	if r == ruleCopy || r == pack {
		return p.mergeOrigins(o, x)
	}
	return p.combineOrigins(o, x)
}

// derive is what a rule makes of up to three sources.
func (p *plan) derive(r rule, x, y, z origin) origin {
	switch r {
	case sum:
		return p.either(x, y)
	case ruleIfEqual:
		if x == y {
			return x
		}
	case addend:
		return p.either(p.derive(scaling, x, y, origin{}), z)
	case diff:
		switch {
		case y.id == notPointer:
			return x
		case x == y && y.id >= firstID: // a distance
			return origin{}
		case p.variable(x.id) && (y.id == loaded || y.id == maybePointer):
			return x
		case x.id == notPointer || x.id == unknownBase || y.id == unknownBase || y.id >= firstID:
		default:
			return origin{id: maybePointer}
		}
	case ruleCopy, exchange:
		return p.mergeOrigins(p.mergeOrigins(x, y), z)
	case pack:
		if o := p.mergeOrigins(p.mergeOrigins(x, y), z); o.id != notPointer {
			return o
		}
		return origin{id: loaded}
	}
	o := p.combineOrigins(p.combineOrigins(x, y), z)
	if r == scaling && o.id == loaded {
		o.id = notPointer
	}
	return o
}

// address adds what an operand accesses, if it is derived from a variable and may be outside.
func (p *plan) address(f *function, instr *ptx.Instr, i int, a *action) {
	o := &instr.Ops[i]
	if o.Sym() != nil && o.Reg == ptx.NoReg {
		v := &p.vars[p.id(f, o.Sym())]
		if p.id(f, o.Sym()) == notPointer || v.open && o.Offset() >= 0 {
			return
		}
		switch instr.Form.Family {
		case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyMbarrier:
			if n := uint64(instr.Type().Size() * instr.VecLen()); n > 0 && o.Offset() >= 0 && uint64(o.Offset())+n <= v.size {
				return // it is always inside
			}
		}
	} else if r := (ptx.Operand{Kind: ptx.RegOperand, Reg: o.Reg}); o.Sym() == nil && !p.mayBePointer(f, &r) {
		return
	}
	p.addAccess(f, instr, i, a)
}

// addAccess adds what an operand accesses.
func (p *plan) addAccess(f *function, instr *ptx.Instr, i int, a *action) {
	o, spec := &instr.Ops[i], &instr.Form.Operands[i]
	to := address{source: source{row: f.row(o.Reg)}, reg: o.Reg, off: o.Offset(), space: instr.SpaceOf(spec)}
	always := uint32(notPointer)
	if o.Reg != ptx.NoReg && to.row < 0 {
		always = f.fixedOrigin[o.Reg]
	}
	if to.baseID = always; o.Sym() != nil {
		to.baseID = p.either(origin{id: p.id(f, o.Sym())}, origin{id: always}).id
		if v := symbolOf(o); v != nil {
			to.space = v.Space
			if o.IndexSize() > 0 {
				to.index, to.array = o, p.id(f, v)
			}
		}
	}
	size := func(name string) { // the operand that says how many bytes it is
		if k := instr.Form.Operand(name); k >= 0 && instr.Ops[k].Kind != ptx.NoOperand {
			to.length = &instr.Ops[k]
		}
	}
	effects := instr.Form.Effects
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyTile, ptx.FamilyFragment:
		to.hasEvent = true
	case ptx.FamilyMbarrier:
		to.bytes, to.kind = 8, interp.AccessAtomic
	case ptx.FamilyAsyncStore:
		to.bytes, to.kind = uint64(instr.Type().Size()*instr.VecLen()), interp.AccessStore
		if spec.Name == "c" {
			to.bytes, to.kind = 8, interp.AccessAtomic
		}
	case ptx.FamilyAsync:
		switch tensor := len(spec.AddressParts) > 0 || !effects.HasAll(ptx.Reads|ptx.Writes); {
		case spec.Name == "a" && !tensor:
			to.kind = interp.AccessStore
			size("c")
		case spec.Name == "b" && !tensor:
			if e := instr.Form.Operand("e"); e >= 0 && instr.Ops[e].Kind != ptx.NoOperand && !instr.Form.Operands[e].Address {
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
