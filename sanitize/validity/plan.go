package validity

// This file prepares what a kernel's instructions do to valid bits.

import (
	"slices"
	"sync"
	"sync/atomic"

	"gemu/interp"
	"gemu/ptx"
)

// plan is the instructions of a kernel and of all that it can call.
type plan struct {
	program     interp.Program
	steps       []step
	events      []interp.Events // by instruction, what is told of it
	easedEvents []interp.Events // … in warps whose registers are all valid

	mu    sync.Mutex
	funcs map[*ptx.Func]*function
}

// function is where a function has its registers: rows of 32 bits first, then those of 64, then
// predicates.
type function struct {
	fn              *ptx.Func
	r, q, rows      int
	unset           []interp.Operand // registers that may be read before they are written
	params, results []interp.Operand

	carry      int  // the row of the carry flag; -1: no instruction accesses it
	readsCarry bool // an instruction may read the flag where nothing has written it
}

// row is the row of an operand, -1 if it is in none.
func (f *function) row(o *interp.Operand) int {
	if o.Kind != interp.RowOperand {
		return -1
	}
	switch o.Bits {
	case 1:
		return f.r + f.q + o.Row
	case 64:
		return f.r + o.Row
	}
	return o.Row
}

// step is an instruction.
type step struct {
	fn              *function
	instr           *ptx.Instr
	guard           int // the row of its predicate; -1 without
	guardKind       kind
	uses            []use
	actions         []action
	call            *interp.Operations // of a call
	readsUnsetCarry bool               // it reads the carry flag, and there nothing may have written it
	crossesPlaces   bool               // lanes at different places may execute it together
	singleAccess    bool               // all that it does is one access to memory

	register, load atomic.Uint32 // origins: where an unset register is first read, and memory that was never written
}

// use is a register whose value has to be valid.
type use struct {
	row, high int // high: of 128 bits, the row of the upper half, else -1
	kind      kind
	reg       ptx.RegID
}

// action is an operation.
type action struct {
	op       *interp.Operation
	sources  []int // rows; -1: a constant
	results  []int
	behavior behavior

	scale int   // of wgmma: the source that says whether the accumulator is read; -1: there is none
	added []int // of wgmma: the sources that are the accumulator

	once sync.Once
	rule rule // of behaviorCompute
}

// behavior is what an operation does to valid bits.
type behavior uint8

const (
	behaviorAny  behavior = iota // each bit of its results depends on each of its sources, lane by lane
	behaviorNone                 // its results are valid
	behaviorCompute
	behaviorCompare
	behaviorLoad
	behaviorStore
	behaviorAtomic
	behaviorTile // rows of matrices, by the addresses of some lanes
	behaviorShuffle
	behaviorVote
	behaviorBallot
	behaviorWarp // each bit depends on the sources in all lanes
)

// isMemory reports whether it is about memory.
func (d behavior) isMemory() bool { return d >= behaviorLoad && d <= behaviorTile }

// newPlan prepares a kernel.
func newPlan(l *interp.LaunchInfo) *plan {
	p := &plan{program: l.Program, steps: make([]step, l.Program.Len()), funcs: map[*ptx.Func]*function{}}
	for i := range p.steps {
		s := &p.steps[i]
		instr, fn := p.program.At(i)
		s.instr, s.fn, s.guard = instr, p.function(fn), -1
		operations := p.program.Operations(i)
		if instr.Guard.Reg != ptx.NoReg {
			s.guard, s.guardKind = s.fn.row(&operations.Guard), unsetGuard
			if instr.EndsBlock() {
				s.guardKind = unsetBranch
			}
		}
		if instr.Call != nil {
			s.call = operations
		}
		s.actions = make([]action, len(operations.Operations))
		for k := range s.actions {
			s.actions[k].prepare(s, &operations.Operations[k])
		}
		s.findUses(operations)
		s.findCarry()
		for k := range operations.Operations {
			s.crossesPlaces = s.crossesPlaces || operations.Operations[k].Member >= 0
		}
		s.singleAccess = !s.crossesPlaces && s.call == nil && len(s.actions) == 1 && s.actions[0].behavior.isMemory()
		p.events = append(p.events, s.fullEvents())
		p.easedEvents = append(p.easedEvents, s.easedEvents(l.Kernel))
	}
	for _, f := range p.funcs {
		f.findUnset(p)
	}
	return p
}

// fullEvents is what is told of an instruction that is followed operation by operation.
func (s *step) fullEvents() interp.Events {
	if s.crossesPlaces {
		return interp.OnBefore | interp.OnOperation | interp.OnAfter
	}
	return interp.OnBefore | interp.OnOperation
}

// easedEvents is what has to be told of an instruction in a warp whose registers are all valid: something of
// one that may make a register invalid, or looks at memory that may be, which is what does anything but
// compute.
func (s *step) easedEvents(kernel *ptx.Func) interp.Events {
	if s.crossesPlaces || s.call != nil {
		return s.fullEvents()
	}
	switch s.instr.Form.Family {
	case ptx.FamilyAsyncStore, ptx.FamilyWgmma, ptx.FamilyWgmmaWait: // its effects may come where it is executed
		return s.fullEvents()
	}
	if space, _ := s.instr.Space(); space == ptx.Const {
		return 0 // always valid
	}
	for i := range s.instr.Ops { // so are parameters of the kernel
		if v, ok := s.instr.Ops[i].Sym().(*ptx.Var); ok && s.fn.fn == kernel && slices.Contains(kernel.Params, v) {
			return 0
		}
	}
	if s.singleAccess {
		return interp.OnAccess
	}
	for i := range s.actions {
		if s.actions[i].behavior.isMemory() {
			return s.fullEvents()
		}
	}
	return 0
}

// function is a function of it.
func (p *plan) function(fn *ptx.Func) *function {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.funcs[fn]; f != nil {
		return f
	}
	size := p.program.Frame(fn)
	f := &function{fn: fn, r: size.R, q: size.Q, rows: size.R + size.Q + size.P, carry: -1}
	for _, u := range fn.UnwrittenReads() {
		f.readsCarry = f.readsCarry || u.Carry
	}
	f.params, f.results = p.program.Arguments(fn)
	p.funcs[fn] = f
	return f
}

// prepare describes an operation.
func (a *action) prepare(s *step, o *interp.Operation) {
	a.op, a.scale = o, -1
	for i := range o.Sources {
		a.sources = append(a.sources, s.fn.row(&o.Sources[i]))
	}
	for i := range o.Results {
		a.results = append(a.results, s.fn.row(&o.Results[i]))
	}
	switch family := s.instr.Form.Family; {
	case o.Kind == interp.OperationCompute && o.Rule == ptx.AffineCompare:
		a.behavior = behaviorCompare
	case o.Kind == interp.OperationCompute:
		a.behavior = behaviorCompute
	case o.Kind == interp.OperationRead:
		a.behavior = behaviorNone
	case o.Kind == interp.OperationLoad:
		a.behavior = behaviorLoad
	case o.Kind == interp.OperationStore:
		a.behavior = behaviorStore
	case family == ptx.FamilyLoad:
		a.behavior = behaviorLoad
	case family == ptx.FamilyStore:
		a.behavior = behaviorStore
	case family == ptx.FamilyAtomic:
		a.behavior = behaviorAtomic
	case family == ptx.FamilyTile, family == ptx.FamilyFragment:
		a.behavior = behaviorTile
	case family == ptx.FamilyShfl:
		a.behavior = behaviorShuffle
	case family == ptx.FamilyVote && len(o.Results) > 0 && o.Results[0].Bits == 1:
		a.behavior = behaviorVote
	case family == ptx.FamilyVote:
		a.behavior = behaviorBallot
	case family == ptx.FamilyWgmma:
		a.behavior = behaviorWarp
		a.findAccumulator(s.instr)
	case family == ptx.FamilyMatch, family == ptx.FamilyRedux, family == ptx.FamilyMma, family == ptx.FamilyWmma, family == ptx.FamilyMovmatrix:
		a.behavior = behaviorWarp
	case family == ptx.FamilyActivemask, family == ptx.FamilyElect, family == ptx.FamilyMbarrier, s.instr.Call != nil:
		a.behavior = behaviorNone
	}
}

// findAccumulator finds the sources of wgmma that are its accumulator, and the source that says whether they are read
// (scale-d, manual 9.7.15.5.2).
func (a *action) findAccumulator(instr *ptx.Instr) {
	d := map[ptx.RegID]bool{}
	for _, o := range instr.Fragment("d") {
		if o.Kind == ptx.RegOperand {
			d[o.Reg] = true
		}
	}
	for i := range a.op.Sources {
		switch o := &a.op.Sources[i]; {
		case o.Bits == 1:
			a.scale = i
		case o.Kind == interp.RowOperand && d[o.Reg]:
			a.added = append(a.added, i)
		}
	}
}

// findUses finds the registers whose values have to be valid.
func (s *step) findUses(operations *interp.Operations) {
	instr := s.instr
	add := func(reg ptx.RegID, k kind) {
		if reg == ptx.NoReg {
			return
		}
		for i := range operations.Reads {
			if o := &operations.Reads[i]; o.Reg == reg {
				u := use{row: -1, high: -1, kind: k, reg: reg}
				switch o.Kind {
				case interp.RowOperand:
					u.row = s.fn.row(o)
				case interp.WideOperand:
					u.row, u.high = s.fn.r+o.Row, s.fn.r+o.High
				default:
					return
				}
				for _, old := range s.uses {
					if old == u {
						return
					}
				}
				s.uses = append(s.uses, u)
				return
			}
		}
	}
	var values func(o *ptx.Operand, k kind)
	values = func(o *ptx.Operand, k kind) {
		if o.Kind == ptx.RegOperand {
			add(o.Reg, k)
		}
		for i := range o.Elems() {
			values(&o.Elems()[i], k)
		}
	}
	family := instr.Form.Family
	for i := range instr.Ops {
		o := &instr.Ops[i]
		spec := &instr.Form.Operands[i]
		switch {
		case o.Kind == ptx.AddrOperand:
			add(o.Reg, unsetAddress)
			if family == ptx.FamilyAsync { // the coordinates of a tensor
				for k := range o.Elems() {
					values(&o.Elems()[k], unsetAddress)
				}
			}
		case !instr.IsSource(i):
		case family == ptx.FamilyAtomic:
			values(o, unsetAtomic)
		case family == ptx.FamilyAsync: // how much is copied, and to whom
			values(o, unsetAddress)
		case family == ptx.FamilyBrx:
			values(o, unsetBranch)
		case instr.Form.Affine == ptx.AffineSelect && truth(&instr.Ops[1]) && truth(&instr.Ops[2]): // it makes a number of a predicate
		case family == ptx.FamilySlct && spec.Name == "c", instr.Form.Affine == ptx.AffineSelect && spec.Name == "c":
			values(o, unsetCondition)
		case family == ptx.FamilyBarrier && instr.Has("warp"):
			values(o, unsetMembermask)
		case family == ptx.FamilyBarrier:
			values(o, unsetCondition)
		}
	}
	if instr.Call != nil && instr.Call.Target.Kind == ptx.RegOperand {
		add(instr.Call.Target.Reg, unsetBranch)
	}
	for i := range operations.Operations {
		if o := &operations.Operations[i]; o.Member >= 0 {
			add(o.Sources[o.Member].Reg, unsetMembermask)
		}
	}
}

// findCarry finds the carry flag, a predicate that is no register: instructions with .cc have it as their second result.
func (s *step) findCarry() {
	if !s.fn.readsCarry || !s.instr.Form.Effects.Any(ptx.CarryIn|ptx.CarryOut) {
		return
	}
	for i := range s.actions {
		op := s.actions[i].op
		for _, list := range [][]interp.Operand{op.Sources, op.Results} {
			for k := range list {
				if o := &list[k]; o.Kind == interp.RowOperand && o.Bits == 1 && o.Reg == ptx.NoReg {
					s.fn.carry = s.fn.row(o)
				}
			}
		}
	}
	s.readsUnsetCarry = s.fn.carry >= 0 && s.instr.Form.Effects.HasAll(ptx.CarryIn)
}

// truth reports whether an operand is what a predicate becomes as a number: 0, 1 or -1.
func truth(o *ptx.Operand) bool {
	return o.Kind == ptx.ImmOperand && (o.Imm.Bits+1 <= 2 || int32(o.Imm.Bits) == -1 || int16(o.Imm.Bits) == -1)
}

// findUnset finds which registers may be read before they are written, of functions that run.
func (f *function) findUnset(owner *plan) {
	first := map[ptx.RegID]*interp.Operand{}
	for i := range owner.steps {
		if owner.steps[i].fn != f {
			continue
		}
		p := owner.program.Operations(i)
		for _, list := range [][]interp.Operand{p.Reads, p.Writes} { // a result of the function is read where it ends
			for k := range list {
				first[list[k].Reg] = &list[k]
			}
		}
		if g := &p.Guard; g.Kind != interp.NoOperand {
			first[g.Reg] = g
		}
	}
	for r := range f.fn.Liveness().EachLiveIn(0) {
		switch o := first[r]; {
		case o == nil:
		case o.Kind == interp.WideOperand:
			f.unset = append(f.unset, interp.Operand{Kind: interp.RowOperand, Bits: 64, Reg: r, Row: o.Row}, interp.Operand{Kind: interp.RowOperand, Bits: 64, Reg: r, Row: o.High})
		default:
			f.unset = append(f.unset, *o)
		}
	}
	if f.readsCarry && f.carry >= 0 {
		f.unset = append(f.unset, interp.Operand{Kind: interp.RowOperand, Bits: 1, Reg: ptx.NoReg, Row: f.carry - f.r - f.q})
	}
}
