package code

// This file verifies programs: the properties that lowering must guarantee.

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gemu/ptx"
)

// Verify returns the faults of a function, with a *Fault for each of the first maxFaults: operands whose types and rows
// disagree, control that leaves the function, blocks without an end, reads of rows before they are written, and plan
// decisions that do not fit the operands.
func (p *Program) Verify(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	if len(v.faults) == 0 {
		v.definitions()
	}
	return errors.Join(v.faults...)
}

// VerifyShape is Verify without the search for reads before writes. Its time is linear in the length of the function.
func (p *Program) VerifyShape(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	return errors.Join(v.faults...)
}

// VerifyReference is VerifyShape for reference code. All its instructions must execute on lanes, and none must be replaced
// by a constant.
func (p *Program) VerifyReference(f *Func) error {
	v := newVerifier(p, f)
	v.shape()
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		for pc := p.Blocks[b].First; pc <= p.Blocks[b].Last; pc++ {
			if p.Instrs[pc].Plan != (ExecPlan{}) {
				v.fault(pc, "the plan of the reference must be to execute on lanes")
			}
			if instr := &p.Instrs[pc]; instr.Op.Signature().Side == AccessSide && p.Access[instr.Side].Pattern != AnyPattern {
				v.fault(pc, "an access of the reference must not have a pattern")
			}
		}
	}
	for i := range p.Fixed {
		in := &p.Fixed[i]
		if slices.ContainsFunc(p.Results(nil, &in.Instr), func(r Row) bool { return r.Slot != NoSlot && r.Row < 0 && r.Row != NoRow }) {
			v.fault(in.BeforePC, "it has a constant as its result")
		}
	}
	return errors.Join(v.faults...)
}

// shape does the checks that need no data flow.
func (v *verifier) shape() {
	p, f := v.Program, v.fn
	if !v.starts[f.Begin] || !v.starts[f.Exit] {
		v.fault(f.Begin, "the function's entry %d or exit %d is not the start of a block", f.Begin, f.Exit)
	}
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		v.block(&p.Blocks[b])
	}
	v.constants()
	v.places()
}

// constants checks that the instructions executed before a launch depend only on constants, and give each constant a
// single value.
func (v *verifier) constants() {
	computed := map[Row]bool{}
	for i := range v.Fixed {
		in := &v.Fixed[i]
		results := v.Results(nil, &in.Instr)
		if !slices.ContainsFunc(results, func(r Row) bool { return r.Slot != NoSlot && r.Row < 0 && r.Row != NoRow }) {
			continue // an instruction of the reference, whose result is a row
		}
		if in.Guard != 0 {
			v.fault(in.BeforePC, "a constant of the launch has a guard")
		}
		for _, r := range v.Operands(nil, &in.Instr) {
			if r.Slot != NoSlot && r.Row >= 0 {
				v.fault(in.BeforePC, "%s%d is no constant of the launch", r.Slot, r.Row)
			}
		}
		for _, r := range results {
			if r.Slot != NoSlot && computed[r] {
				v.fault(in.BeforePC, "the constant %s%d has another value already", r.Slot, r.Row)
			}
			computed[r] = true
		}
	}
}

// places checks the rows that the fields of the function name, and the rows that ends of blocks write. They must exist.
// Except for rows in Func.Zero, their values must always be in the rows, because calls and barriers do not write shadows.
func (v *verifier) places() {
	size := [P + 1]int{R: v.fn.Frame.R, Q: v.fn.Frame.Q, P: v.fn.Frame.P}
	check := func(noun string, r Row) {
		if r.Slot != NoSlot && (r.Row < 0 || int(r.Row) >= size[r.Slot]) {
			v.fault(v.fn.Begin, "%s is in row %s%d, of %d", noun, r.Slot, r.Row, size[r.Slot])
		}
	}
	checkFrame := func(noun string, r Row) {
		check(noun, r)
		if r.Slot != NoSlot && v.fn.KeepingOf(r) != StorageLanes {
			v.fault(v.fn.Begin, "%s is not always in its row, %s%d", noun, r.Slot, r.Row)
		}
	}
	for _, r := range v.fn.Zero {
		check("a row that may be read before it is written", r)
	}
	for _, p := range v.fn.Formals {
		checkFrame("a parameter", Row{p.Slot, p.Row})
	}
	for _, p := range v.fn.Results {
		checkFrame("a result", Row{p.Slot, p.Row})
	}
	if v.fn.Allocates {
		checkFrame("the size of the stack", Row{R, v.fn.AddressTaken})
	}
	for b := v.fn.Blocks.First; b < v.fn.Blocks.End; b++ {
		for _, r := range v.Writes(nil, v.End(&v.Blocks[b])) {
			checkFrame("the result of a call or a barrier", r)
		}
	}
}

// verifier collects the faults of a function.
type verifier struct {
	*Program
	fn     *Func
	starts map[int32]bool    // pcs at which blocks of the function begin
	fixed  map[int32][]int32 // for each pc, indices of the instructions in Program.Fixed that stood before it
	faults []error
}

func newVerifier(p *Program, f *Func) *verifier {
	v := &verifier{Program: p, fn: f, starts: map[int32]bool{}, fixed: map[int32][]int32{}}
	for b := f.Blocks.First; b < f.Blocks.End; b++ {
		v.starts[p.Blocks[b].First] = true
	}
	for i := range p.Fixed {
		v.fixed[p.Fixed[i].BeforePC] = append(v.fixed[p.Fixed[i].BeforePC], int32(i))
	}
	return v
}

// Fault is a fault of a function.
type Fault struct {
	Func  *Func
	PC    int32      // pc of the instruction with the fault
	Op    Op         // operation of this instruction
	Instr *ptx.Instr // the PTX instruction to which this instruction belongs; nil if there is none
	Msg   string
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s, instruction %d (%s): %s", f.Func.Name, f.PC, f.Op, f.Msg)
}

// maxFaults is the largest number of reported faults. Further faults mostly follow from the first.
const maxFaults = 8

func (v *verifier) fault(pc int32, format string, args ...any) {
	if len(v.faults) == maxFaults {
		return
	}
	f := &Fault{Func: v.fn, PC: pc, Msg: fmt.Sprintf(format, args...)}
	if int(pc) < len(v.Instrs) {
		instr := &v.Instrs[pc]
		if f.Op = instr.Op; instr.Src >= 0 && int(instr.Src) < len(v.Sources) {
			f.Instr = v.Sources[instr.Src].Instr
		}
	}
	v.faults = append(v.faults, f)
}

// block checks the instructions of a block, and the blocks that control can reach from its end.
func (v *verifier) block(b *Block) {
	for pc := b.First; pc <= b.Last; pc++ {
		instr := &v.Instrs[pc]
		if instr.Op == Invalid || instr.Op >= Count {
			v.fault(pc, "no operation")
			return
		}
		if control := instr.Op.Signature().Kind == Control; control != (pc == b.Last) {
			v.fault(pc, "a block ends at %d", b.Last)
			return
		}
		if instr.Src >= 0 && (instr.Src < b.Sources.First || instr.Src >= b.Sources.End) {
			v.fault(pc, "it is part of PTX instruction %d; the block has %d to %d", instr.Src, b.Sources.First, b.Sources.End-1)
		}
		first := pc == b.First || v.Instrs[pc-1].Src != instr.Src
		if instr.CountsSkipped != (first && instr.Guard != 0 && instr.Src >= 0 && !v.Sources[instr.Src].EndsBlock()) {
			v.fault(pc, "its flag CountsSkipped is %v, not as its guard requires", instr.CountsSkipped)
		}
		v.operands(pc, instr)
		v.plan(pc, instr)
	}
	var next []int32
	for _, pc := range append(v.Successors(next, b, v.End(b)), b.Next) {
		if !v.starts[pc] {
			v.fault(b.Last, "control goes to %d, where no block of the function begins", pc)
		}
	}
	switch v.End(b).Op {
	case Branch, BranchIndex, Return:
		if !v.starts[b.Reconverge] {
			v.fault(b.Last, "its lanes reconverge at %d, where no block of the function begins", b.Reconverge)
		}
	}
}

// plan checks that an instruction can execute as its plan says, and recomputes the other fields of the plan.
func (v *verifier) plan(pc int32, instr *Instr) {
	s := instr.Op.Signature()
	ok := true
	switch e := instr.Plan.Exec; {
	case e >= ExecCount:
		ok = false
	case e >= ProvedOne:
		ok = s.Kind == Arithmetic && int(e-ProvedOne) == s.Sources()-1
	case e == Materialised:
		ok = instr.Plan.Materialise != 0
	case e == CompactLocal:
		ok = s.Kind == Load || s.Kind == Store
	case e == CompactLoad:
		ok = s.Kind == Load
	case e == CompactStore:
		ok = s.Kind == Store
	case e == CompactSource:
		ok = s.Kind == Read
	case e == CompactCompare:
		ok = s.Compares()
	case e >= CompactOne && e <= CompactThree:
		ok = s.Kind == Arithmetic && int(e-CompactOne)+1 == s.Sources() && !hasMixedWidths(s)
	case e == CompactMixed:
		ok = s.Kind == Arithmetic && hasMixedWidths(s)
	}
	if e := instr.Plan.Exec; ok && (e == CompactLoad || e == CompactStore || e == CompactLocal) {
		a := &v.Access[instr.Side]
		ok = (e == CompactLocal) == (a.Space == ptx.Local) && a.Size <= 8 && (a.Strided != nil || e == CompactLocal) && (e == CompactLoad || a.Addr != NoSlot)
	}
	if !ok {
		v.fault(pc, "it cannot execute as %s", instr.Plan.Exec)
	}
	if want := v.PlanOf(instr, instr.Plan.Exec, v.fn.KeepingOf); instr.Plan != want {
		v.fault(pc, "it executes as %+v, its operands want %+v", instr.Plan, want)
	}
	v.storage(pc, instr)
}

// storage checks the operands of an instruction that executes without a test of shadow masks.
func (v *verifier) storage(pc int32, instr *Instr) {
	proved := func(r Row) bool { return r.Row < 0 || v.fn.KeepingOf(r)&(StorageProved|StorageFixed) != 0 }
	if instr.Op.Signature().Kind == Control {
		return // its execution tests shadow masks, and the method places checks the rows that it writes
	}
	all, predicates := true, false // all operands are proved; some are predicates
	for _, r := range v.Reads(nil, instr) {
		all, predicates = all && (r.Slot == P || proved(r)), predicates || r.Slot == P
		if instr.Plan.Exec == OnLanes && v.fn.KeepingOf(r)&(StorageShadow|StorageBoth) == StorageShadow {
			v.fault(pc, "%s%d may not be in its row", r.Slot, r.Row)
		}
	}
	for _, r := range v.Writes(nil, instr) {
		storage := v.fn.KeepingOf(r)
		if instr.Plan.Exec == OnLanes && storage != StorageLanes {
			v.fault(pc, "%s%d may be in its shadow as well", r.Slot, r.Row)
		}
		if storage&StorageProved == 0 {
			if instr.Plan.Exec >= ProvedOne {
				v.fault(pc, "%s%d is not proved to be uniform", r.Slot, r.Row)
			}
			continue
		}
		ok := all && instr.Guard == 0
		switch s := instr.Op.Signature(); s.Kind {
		case Arithmetic:
			ok = ok && instr.Plan.Exec != OnLanes && instr.Plan.Exec != Materialised // a compact execution of proved operands is uniform, too
		case Load:
			a := &v.Access[instr.Side]
			ok = ok && instr.Plan.Exec == CompactLoad && a.Space != ptx.Generic && a.Space != ptx.Local && !a.Frame
		case Read:
			ok = ok && instr.Plan.Exec == CompactSource
		default:
			ok = false
		}
		if !ok {
			v.fault(pc, "%s%d is proved uniform, but this instruction's result is not", r.Slot, r.Row)
		}
	}
	if instr.Plan.Exec >= ProvedOne && (!all || predicates) {
		v.fault(pc, "an operand is not proved uniform")
	}
}

// KeepingOf returns the storage of a row; StorageLanes for a constant.
func (f *Func) KeepingOf(r Row) Storage {
	if list := f.Keeping[r.Slot]; r.Row >= 0 && int(r.Row) < len(list) {
		return list[r.Row]
	}
	return StorageLanes
}

// PlanOf returns the plan of an instruction that executes as exec; storageOf gives the storage of rows.
func (t *Tables) PlanOf(instr *Instr, exec Exec, storageOf func(Row) Storage) ExecPlan {
	h := ExecPlan{Exec: exec}
	if exec == OnLanes {
		return h
	}
	s := instr.Op.Signature()
	named := s.Sources()
	if s.Side == AccessSide {
		named = 1 // only the address is a named operand
	}
	var buffer [24]Row
	for i, r := range t.Operands(buffer[:0], instr) {
		switch {
		case r.Slot == NoSlot || r.Row < 0 || storageOf(r)&(StorageShadow|StorageBoth) != StorageShadow:
		case i < named:
			h.Materialise |= 1 << i
		default:
			h.Materialise |= OperandList
		}
	}
	results := StorageLanes
	for _, r := range t.Writes(buffer[:0], instr) {
		results |= storageOf(r)
	}
	h.LeavesStale, h.WritesBoth = results&StorageShadow != 0, results&StorageBoth != 0
	return h
}

// definitions checks that every row is written before it is read on every path, unless it is in Func.Zero. A row
// written under a guard counts as written only within the same PTX instruction.
func (v *verifier) definitions() {
	known := rowSet{}
	for _, r := range v.fn.Zero {
		known[r] = true
	}
	for _, p := range v.fn.Formals {
		known[Row{p.Slot, p.Row}] = true
	}
	in := make([]rowSet, v.fn.Blocks.Len()) // by block; nil: not reached yet
	blockIndex := func(pc int32) int32 { return v.blockAt[pc].Index - v.fn.Blocks.First }
	in[blockIndex(v.fn.Begin)] = known
	var rows []Row
	transfer := func(b *Block, report bool) rowSet {
		out := in[blockIndex(b.First)].clone()
		guarded, source := rowSet{}, int32(-1)
		for pc := b.First; pc <= b.Last; pc++ {
			for _, k := range v.fixed[pc] {
				for _, r := range v.Writes(nil, &v.Fixed[k].Instr) {
					out[r] = true
				}
			}
			instr := &v.Instrs[pc]
			if instr.Src != source {
				guarded, source = rowSet{}, instr.Src
			}
			rows = v.Reads(rows[:0], instr)
			if instr.Guard != 0 {
				p, _ := GuardRow(instr.Guard)
				rows = append(rows, Row{P, p})
			}
			for _, r := range rows {
				if report && !out[r] && !guarded[r] {
					v.fault(pc, "row %s%d is read before it is written", r.Slot, r.Row)
				}
			}
			rows = v.Writes(rows[:0], instr)
			for _, r := range rows {
				if instr.Guard == 0 {
					out[r] = true
				} else {
					guarded[r] = true
				}
			}
		}
		return out
	}
	v.fixpoint(blockIndex(v.fn.Begin), func(b *Block) func(next int32) bool {
		out := transfer(b, false)
		return func(next int32) bool {
			if k := blockIndex(next); in[k] == nil {
				in[k] = out.clone()
			} else {
				return in[k].intersect(out)
			}
			return true
		}
	})
	for instr := range in {
		if in[instr] != nil {
			transfer(&v.Blocks[v.fn.Blocks.First+int32(instr)], true)
		}
	}
}

// fixpoint visits blocks of the function until nothing changes, starting with the block of index first. visit returns a
// function that propagates the result to a successor, given by its pc, and reports whether it has changed the successor's
// state; then the successor must be visited again. Indices of blocks are counted from the function's first block. Of the
// waiting blocks, the first in program order is visited next, because most transfers of control are forward.
func (v *verifier) fixpoint(first int32, visit func(b *Block) func(next int32) (changed bool)) {
	waits := make([]bool, v.fn.Blocks.Len())
	waits[first] = true
	var list []int32
	for i := int32(0); int(i) < len(waits); {
		if !waits[i] {
			i++
			continue
		}
		waits[i] = false
		b := &v.Blocks[v.fn.Blocks.First+i]
		propagate := visit(b)
		i++
		list = v.Successors(list[:0], b, v.End(b))
		for _, pc := range list {
			if propagate(pc) {
				k := v.blockAt[pc].Index - v.fn.Blocks.First
				waits[k] = true
				i = min(i, k)
			}
		}
	}
}

// rowSet is a set of rows.
type rowSet map[Row]bool

func (s rowSet) clone() rowSet { return maps.Clone(s) }

// intersect removes the rows missing in other, and reports whether the set changed.
func (s rowSet) intersect(other rowSet) bool {
	n := len(s)
	for r := range s {
		if !other[r] {
			delete(s, r)
		}
	}
	return len(s) != n
}
