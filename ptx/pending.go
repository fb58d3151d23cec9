package ptx

// This file finds, for each instruction, the asynchronous multiplications (manual 9.7.15) that may be pending there.
// wgmma.mma_async reads and writes its registers until the program waits for its group, and the wait names none of them.

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Pending is an instruction's relation to possibly pending multiplications.
type Pending struct {
	// Completes has the multiplications that a wgmma.wait_group may complete; for a call of a function with wgmma, all
	// pending ones.
	Completes []*Instr
	// Disturbs has the pending multiplications for which the program must wait before this instruction, because it writes
	// their registers or reads their results.
	Disturbs []*Instr

	Reads, Writes []RegID // the registers of the completed multiplications
}

// IsMultiply reports whether the instruction is an asynchronous multiplication, which continues after the next
// instruction: wgmma.mma_async.
func (instr *Instr) IsMultiply() bool { return instr.Form.Family == FamilyWgmma }

// Fragment returns the registers of operand "d" (the accumulator) or "a" (matrix A) of a multiplication; nil if "a" is a
// descriptor of a matrix in shared memory.
func (instr *Instr) Fragment(operand string) []Operand {
	if o := instr.Arg(operand); o.Kind == VecOperand {
		return o.Elems()
	}
	return nil
}

// findPending sets Pending for the instructions of the module's functions.
func (m *Module) findPending(funcs []*Func) {
	usesWgmma := map[*Func]bool{} // functions with wgmma instructions, or with a call of such a function
	for _, f := range funcs {
		f.EachInstr(func(instr *Instr) {
			switch instr.Form.Family {
			case FamilyWgmma, FamilyWgmmaFence, FamilyWgmmaCommit, FamilyWgmmaWait:
				usesWgmma[f] = true
			}
		})
	}
	if len(usesWgmma) == 0 {
		return
	}
	callsWgmma := func(instr *Instr) bool {
		if instr.Call == nil {
			return false
		}
		f, direct := instr.Call.Target.Sym().(*Func)
		if direct {
			f, _ = m.Lookup(f.Name).(*Func)
		}
		return !direct || usesWgmma[f]
	}
	withWgmma := slices.Collect(maps.Keys(usesWgmma))
	for more := true; more; {
		more = false
		for _, f := range funcs {
			f.EachInstr(func(instr *Instr) {
				if !usesWgmma[f] && callsWgmma(instr) {
					usesWgmma[f], more = true, true
				}
			})
		}
	}
	for _, f := range withWgmma {
		f.findPending(callsWgmma)
	}
}

// age is the number of groups committed since a multiplication was issued, at most maxAge.
type age uint8

// maxAge stands for itself and for all greater ages.
const maxAge age = 254

// multiplyFlow is the data flow of pending multiplications in a function. Multiplications, accumulators and A matrices
// in registers have numbers. Equal registers have the same number, so multiplications can share an accumulator or an A.
type multiplyFlow struct {
	list         []pendingMultiply // by number of the multiplication
	index        map[*Instr]int    // numbers of the multiplications
	accumulators fragmentTable
	sources      fragmentTable           // A matrices
	callsWgmma   func(instr *Instr) bool // reports whether the instruction calls a function with wgmma instructions
}

// pendingMultiply is a multiplication, with the numbers of its accumulator and its A.
type pendingMultiply struct {
	instr          *Instr
	accumulator, a int
}

// fragmentTable numbers the register fragments of multiplications.
type fragmentTable struct {
	number     map[string]int  // number of a fragment by its type and operands, encoded as a string
	list       [][]RegID       // registers of each fragment
	byRegister map[RegID][]int // fragments with the register
}

// numberOf returns the number of a fragment of type t; a new fragment gets a new number.
func (f *fragmentTable) numberOf(t Type, operands []Operand) int {
	key := []byte{byte(t)}
	var registers []RegID
	for i := range operands {
		o := &operands[i]
		key = append(key, byte(o.Kind))
		if o.Kind == RegOperand {
			key = binary.AppendUvarint(key, uint64(o.Reg))
			registers = append(registers, o.Reg)
		}
	}
	n, known := f.number[string(key)]
	if !known {
		n = len(f.list)
		f.number[string(key)] = n
		f.list = append(f.list, registers)
		for _, r := range registers {
			if !slices.Contains(f.byRegister[r], n) {
				f.byRegister[r] = append(f.byRegister[r], n)
			}
		}
	}
	return n
}

// multiplyState contains the possibly pending multiplications at a place.
type multiplyState struct {
	groups                map[int]int // for each such multiplication, the greatest possible value of committed at its issue
	committed             int         // groups committed since the start of the block
	accumulators, sources map[int]int // for each accumulator and A, the number of its pending multiplications
}

// age returns the minimum possible age of multiplication i.
func (s *multiplyState) age(i int) age { return age(min(s.committed-s.groups[i], int(maxAge))) }

// newState returns a state with the given multiplications pending.
func (p *multiplyFlow) newState(ages map[int]age) *multiplyState {
	s := &multiplyState{groups: map[int]int{}, accumulators: map[int]int{}, sources: map[int]int{}}
	for i, a := range ages {
		p.issue(s, i, a)
	}
	return s
}

// issue adds multiplication i with age a to the pending ones, or sets its age.
func (p *multiplyFlow) issue(s *multiplyState, i int, a age) {
	if _, pending := s.groups[i]; !pending {
		s.accumulators[p.list[i].accumulator]++
		s.sources[p.list[i].a]++
	}
	s.groups[i] = s.committed - int(a)
}

// complete removes multiplication i from the pending ones.
func (p *multiplyFlow) complete(s *multiplyState, i int) {
	delete(s.groups, i)
	release := func(counts map[int]int, n int) {
		if counts[n]--; counts[n] == 0 {
			delete(counts, n)
		}
	}
	release(s.accumulators, p.list[i].accumulator)
	release(s.sources, p.list[i].a)
}

// findPending sets Pending for the instructions of the function; see multiplyFlow.callsWgmma.
func (f *Func) findPending(calls func(instr *Instr) bool) {
	none := func() fragmentTable { return fragmentTable{number: map[string]int{}, byRegister: map[RegID][]int{}} }
	p := multiplyFlow{index: map[*Instr]int{}, accumulators: none(), sources: none(), callsWgmma: calls}
	f.EachInstr(func(instr *Instr) {
		if instr.IsMultiply() {
			p.index[instr] = len(p.list)
			p.list = append(p.list, pendingMultiply{instr, p.accumulators.numberOf(instr.Types()[0], instr.Fragment("d")), p.sources.numberOf(NoType, instr.Fragment("a"))})
		}
	})
	if len(p.list) == 0 {
		return
	}
	before := make([]map[int]age, len(f.Blocks)) // for each block, the minimum ages on entry; nil if not reached
	before[0] = map[int]age{}
	for work := []*Block{f.Blocks[0]}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		state := p.newState(before[b.Index])
		for _, instr := range b.Instrs {
			p.step(instr, state)
		}
		for _, s := range b.Succs {
			changed := before[s.Index] == nil
			if changed {
				before[s.Index] = map[int]age{}
			}
			for i := range state.groups {
				a := state.age(i)
				if old, ok := before[s.Index][i]; !ok || a < old {
					before[s.Index][i], changed = a, true
				}
			}
			if changed {
				work = append(work, s)
			}
		}
	}
	for _, b := range f.Blocks {
		if before[b.Index] == nil {
			continue
		}
		state := p.newState(before[b.Index])
		for _, instr := range b.Instrs {
			if len(state.groups) > 0 {
				p.recordRelation(instr, state)
			}
			p.step(instr, state)
		}
	}
}

// step applies the effect of an instruction to a state.
func (p *multiplyFlow) step(instr *Instr, state *multiplyState) {
	always := instr.Guard.Reg == NoReg
	switch {
	case instr.Call != nil:
		if always && p.callsWgmma(instr) {
			*state = *p.newState(nil)
		}
	case instr.IsMultiply():
		p.issue(state, p.index[instr], 0)
	case instr.Form.Family == FamilyWgmmaCommit && always:
		state.committed++
	case instr.Form.Family == FamilyWgmmaWait && always:
		n := instr.Arg("a").Imm.Bits
		for i := range state.groups {
			if uint64(state.age(i)) > n {
				p.complete(state, i)
			}
		}
	}
}

// recordRelation records the relation of an instruction to the pending multiplications of a state.
func (p *multiplyFlow) recordRelation(instr *Instr, state *multiplyState) {
	if instr.Call != nil && p.callsWgmma(instr) || instr.Form.Family == FamilyWgmmaWait {
		p.recordCompletion(instr.ensurePending(), state)
		return
	}
	accumulators, sources := map[int]bool{}, map[int]bool{} // numbers of disturbed fragments
	// chained is the accumulator to which this multiplication adds, -1 if there is none. Pending multiplications that add
	// to the same accumulator need no wait.
	chained := -1
	result := func(r RegID) {
		for _, n := range p.accumulators.byRegister[r] {
			if n != chained && state.accumulators[n] > 0 {
				accumulators[n] = true
			}
		}
	}
	source := func(r RegID) {
		for _, n := range p.sources.byRegister[r] {
			if state.sources[n] > 0 {
				sources[n] = true
			}
		}
	}
	if instr.IsMultiply() {
		m := p.list[p.index[instr]]
		chained = m.accumulator
		for _, r := range p.accumulators.list[m.accumulator] {
			result(r)
			source(r)
		}
		chained = -1
		for i := range instr.Ops {
			if instr.Form.Operands[i].Name != "d" {
				instr.Ops[i].eachRegister(Read, Read, func(r RegID) bool { result(r); return true })
			}
		}
	} else {
		for r := range instr.Uses() {
			result(r)
		}
		for r := range instr.Defs() {
			result(r)
			source(r)
		}
	}
	if len(accumulators)+len(sources) == 0 {
		return
	}
	for _, i := range slices.Sorted(maps.Keys(state.groups)) {
		if m := p.list[i]; accumulators[m.accumulator] || sources[m.a] {
			instr.ensurePending().Disturbs = append(instr.ensurePending().Disturbs, m.instr)
		}
	}
}

// ensurePending returns Pending, which it allocates if necessary.
func (instr *Instr) ensurePending() *Pending {
	if instr.Pending == nil {
		instr.Pending = &Pending{}
	}
	return instr.Pending
}

// recordCompletion records in n that the instruction may complete all pending multiplications.
func (p *multiplyFlow) recordCompletion(n *Pending, state *multiplyState) {
	for _, i := range slices.Sorted(maps.Keys(state.groups)) {
		n.Completes = append(n.Completes, p.list[i].instr)
	}
	for i := range state.accumulators {
		n.Writes = append(n.Writes, p.accumulators.list[i]...)
	}
	n.Reads = slices.Clone(n.Writes)
	for i := range state.sources {
		n.Reads = append(n.Reads, p.sources.list[i]...)
	}
	for _, list := range []*[]RegID{&n.Reads, &n.Writes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}
