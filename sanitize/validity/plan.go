package validity

// This file prepares, for each instruction, its effect on valid bits.

import (
	"slices"
	"sync"
	"sync/atomic"

	"gemu/probe"
	"gemu/ptx"
)

// plan holds the instructions of a kernel and of all functions that it can call.
type plan struct {
	program     probe.Program
	kernel      *function
	steps       []step
	events      []probe.Events // full events, by instruction
	easedEvents []probe.Events // events in an eased warp, by instruction
	easesUnset  bool           // a warp with unwritten registers may be eased: the events of tainted instructions suffice

	mu    sync.Mutex
	funcs map[*ptx.Func]*function
}

// function numbers the registers of a function as rows: first rows of 32 bits, then of 64 bits, then
// predicates.
type function struct {
	fn              *ptx.Func
	r, q, rows      int
	unset           []probe.Operand // registers that may be read before they are written
	params, results []probe.Operand

	carry      int  // row of the carry flag; -1: no instruction accesses it
	readsCarry bool // an instruction may read the flag before it is written
}

// row returns the row of an operand, -1 if it has none.
func (f *function) row(o *probe.Operand) int {
	if o.Kind != probe.RowOperand {
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
	guard           int // the row of its predicate; -1: unguarded
	guardKind       kind
	uses            []use
	actions         []action
	call            *probe.Operations // operands of a call; else nil
	readsUnsetCarry bool              // may read an unwritten carry flag
	crossesPlaces   bool              // lanes at different places may execute it together
	singleAccess    bool              // consists of a single access to memory
	tainted         bool              // may use or write a register that is unwritten, or computed from unwritten registers

	register, load atomic.Uint32 // origins: the first read of an unwritten register here, and a read of unwritten local memory here
}

// use is a register whose value must be valid.
type use struct {
	row, high int // high: the row of the upper half of a 128-bit register, else -1
	kind      kind
	reg       ptx.RegID
}

// action is an operation of an instruction.
type action struct {
	op       *probe.Operation
	sources  []int // rows; -1: a constant
	results  []int
	behavior behavior

	scale int   // wgmma: index of the source that enables the accumulator; -1: none
	added []int // wgmma: indices of the accumulator sources

	once sync.Once
	rule rule // rule for behaviorCompute, after once
}

// behavior is the effect of an operation on valid bits.
type behavior uint8

const (
	behaviorAny  behavior = iota // lane by lane, each bit of the results depends on each bit of the sources
	behaviorNone                 // the results are valid
	behaviorCompute
	behaviorCompare
	behaviorLoad
	behaviorStore
	behaviorAtomic
	behaviorTile // matrix rows at the addresses of some lanes
	behaviorShuffle
	behaviorVote
	behaviorBallot
	behaviorWarp // each bit of the results depends on the sources of all lanes
)

// isMemory reports whether the operation accesses memory.
func (d behavior) isMemory() bool { return d >= behaviorLoad && d <= behaviorTile }

// newPlan returns the plan of a launch's kernel.
func newPlan(l *probe.LaunchInfo) *plan {
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
	}
	for _, f := range p.funcs {
		f.findUnset(p)
	}
	p.kernel = p.function(l.Kernel)
	p.findTainted()
	for i := range p.steps {
		p.easedEvents = append(p.easedEvents, p.steps[i].easedEvents(l.Kernel))
	}
	return p
}

// fullEvents returns the events for an instruction that is tracked operation by operation.
func (s *step) fullEvents() probe.Events {
	if s.crossesPlaces {
		return probe.OnBefore | probe.OnOperation | probe.OnAfter
	}
	return probe.OnBefore | probe.OnOperation
}

// easedEvents returns the events for an instruction in an eased warp. Only instructions that may handle an invalid register, that may
// make a register invalid, or that access memory need events; other computations need none.
func (s *step) easedEvents(kernel *ptx.Func) probe.Events {
	if s.call != nil || s.tainted {
		return s.fullEvents()
	}
	switch s.instr.Form.Family {
	case ptx.FamilyAsyncStore, ptx.FamilyWgmma, ptx.FamilyWgmmaWait: // asynchronous effects may come at this instruction
		return s.fullEvents()
	}
	if space, _ := s.instr.Space(); space == ptx.Const {
		return 0 // always valid
	}
	for i := range s.instr.Ops { // kernel parameters are always valid
		if v, ok := s.instr.Ops[i].Sym().(*ptx.Var); ok && s.fn.fn == kernel && slices.Contains(kernel.Params, v) {
			return 0
		}
	}
	if s.singleAccess {
		return probe.OnAccess
	}
	for i := range s.actions {
		if s.actions[i].behavior.isMemory() {
			return s.fullEvents()
		}
	}
	return 0
}

// function returns the description of a function, and creates it if necessary.
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

// prepare fills in the description of an operation.
func (a *action) prepare(s *step, o *probe.Operation) {
	a.op, a.scale = o, -1
	for i := range o.Sources {
		a.sources = append(a.sources, s.fn.row(&o.Sources[i]))
	}
	for i := range o.Results {
		a.results = append(a.results, s.fn.row(&o.Results[i]))
	}
	switch family := s.instr.Form.Family; {
	case o.Kind == probe.OperationCompute && o.Rule == ptx.AffineCompare:
		a.behavior = behaviorCompare
	case o.Kind == probe.OperationCompute:
		a.behavior = behaviorCompute
	case o.Kind == probe.OperationRead:
		a.behavior = behaviorNone
	case o.Kind == probe.OperationLoad:
		a.behavior = behaviorLoad
	case o.Kind == probe.OperationStore:
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

// findAccumulator finds the accumulator sources of wgmma and the source that enables them (scale-d, manual
// 9.7.15.5.2).
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
		case o.Kind == probe.RowOperand && d[o.Reg]:
			a.added = append(a.added, i)
		}
	}
}

// findUses finds the registers whose values must be valid.
func (s *step) findUses(operations *probe.Operations) {
	instr := s.instr
	add := func(reg ptx.RegID, k kind) {
		if reg == ptx.NoReg {
			return
		}
		for i := range operations.Reads {
			if o := &operations.Reads[i]; o.Reg == reg {
				u := use{row: -1, high: -1, kind: k, reg: reg}
				switch o.Kind {
				case probe.RowOperand:
					u.row = s.fn.row(o)
				case probe.WideOperand:
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
		case family == ptx.FamilyAsync: // size and destination of the copy
			values(o, unsetAddress)
		case family == ptx.FamilyBrx:
			values(o, unsetBranch)
		case instr.Form.Affine == ptx.AffineSelect && truth(&instr.Ops[1]) && truth(&instr.Ops[2]): // converts a predicate to a number
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

// findCarry finds the row of the carry flag, a predicate without a register: the second result of instructions
// with .cc.
func (s *step) findCarry() {
	if !s.fn.readsCarry || !s.instr.Form.Effects.Any(ptx.CarryIn|ptx.CarryOut) {
		return
	}
	for i := range s.actions {
		op := s.actions[i].op
		for _, list := range [][]probe.Operand{op.Sources, op.Results} {
			for k := range list {
				if o := &list[k]; o.Kind == probe.RowOperand && o.Bits == 1 && o.Reg == ptx.NoReg {
					s.fn.carry = s.fn.row(o)
				}
			}
		}
	}
	s.readsUnsetCarry = s.fn.carry >= 0 && s.instr.Form.Effects.HasAll(ptx.CarryIn)
}

// truth reports whether an operand is a number that stands for a predicate: 0, 1 or -1.
func truth(o *ptx.Operand) bool {
	return o.Kind == ptx.ImmOperand && (o.Imm.Bits+1 <= 2 || int32(o.Imm.Bits) == -1 || int16(o.Imm.Bits) == -1)
}

// findUnset finds the registers of a running function that may be read before they are written.
func (f *function) findUnset(owner *plan) {
	first := map[ptx.RegID]*probe.Operand{}
	for i := range owner.steps {
		if owner.steps[i].fn != f {
			continue
		}
		p := owner.program.Operations(i)
		for _, list := range [][]probe.Operand{p.Reads, p.Writes} { // a function's result is read at its end
			for k := range list {
				first[list[k].Reg] = &list[k]
			}
		}
		if g := &p.Guard; g.Kind != probe.NoOperand {
			first[g.Reg] = g
		}
	}
	for r := range f.fn.Liveness().EachLiveIn(0) {
		switch o := first[r]; {
		case o == nil:
		case o.Kind == probe.WideOperand:
			f.unset = append(f.unset, probe.Operand{Kind: probe.RowOperand, Bits: 64, Reg: r, Row: o.Row}, probe.Operand{Kind: probe.RowOperand, Bits: 64, Reg: r, Row: o.High})
		default:
			f.unset = append(f.unset, *o)
		}
	}
	if f.readsCarry && f.carry >= 0 {
		f.unset = append(f.unset, probe.Operand{Kind: probe.RowOperand, Bits: 1, Reg: ptx.NoReg, Row: f.carry - f.r - f.q})
	}
}
