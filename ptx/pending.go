package ptx

// This file finds which asynchronous multiplications (manual 9.7.15) may still be pending
// where: wgmma.mma_async reads and writes registers up to the wait that its group is waited
// for by, which names none of them.

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Pending is what an instruction has to do with multiplications that may be pending.
type Pending struct {
	Completes []*Instr // those that it may complete: wgmma.wait_group; a call of a function that has wgmma completes all
	Disturbs  []*Instr // those that it must not come to before they have been waited for: it writes their registers, or reads their results

	Reads, Writes []RegID // by what it completes
}

// IsMultiply reports whether the instruction is a multiplication that goes on behind the next
// instruction: wgmma.mma_async.
func (in *Instr) IsMultiply() bool { return in.Form.Family == FamilyWgmma }

// Fragment goes through the registers of an operand of a multiplication: "d", or "a", which
// has none if it is a descriptor.
func (in *Instr) Fragment(operand string) []Operand {
	if o := in.Arg(operand); o.Kind == VecOperand {
		return o.Elems()
	}
	return nil
}

// findPending finds what instructions of the module's functions have to do with pending
// multiplications.
func (m *Module) findPending(funcs []*Func) {
	has := map[*Func]bool{} // wgmma, or a call of a function that has
	for _, f := range funcs {
		f.EachInstr(func(in *Instr) {
			switch in.Form.Family {
			case FamilyWgmma, FamilyWgmmaFence, FamilyWgmmaCommit, FamilyWgmmaWait:
				has[f] = true
			}
		})
	}
	if len(has) == 0 {
		return
	}
	calls := func(in *Instr) bool {
		if in.Call == nil {
			return false
		}
		f, direct := in.Call.Target.Sym().(*Func)
		if direct {
			f, _ = m.Lookup(f.Name).(*Func)
		}
		return !direct || has[f]
	}
	multiply := slices.Collect(maps.Keys(has))
	for more := true; more; {
		more = false
		for _, f := range funcs {
			f.EachInstr(func(in *Instr) {
				if !has[f] && calls(in) {
					has[f], more = true, true
				}
			})
		}
	}
	for _, f := range multiply {
		f.findPending(calls)
	}
}

// age is how many groups have been committed since a multiplication was issued.
type age uint8

// oldest is the greatest age that is told apart.
const oldest age = 254

// pendingFlow is the search in a function. Multiplications, accumulators and matrices A in registers
// have numbers: those with the same registers are one accumulator or one A, however many
// multiplications have it.
type pendingFlow struct {
	list         []product
	index        map[*Instr]int
	accumulators fragments
	sources      fragments
	calls        func(in *Instr) bool
}

// product is a multiplication, with the numbers of its accumulator and its A.
type product struct {
	in             *Instr
	accumulator, a int
}

// fragments is what multiplications have in registers.
type fragments struct {
	number map[string]int
	list   [][]RegID       // by number
	having map[RegID][]int // those that have a register
}

// of is the number of a fragment of a type.
func (f *fragments) of(t Type, operands []Operand) int {
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
			if !slices.Contains(f.having[r], n) {
				f.having[r] = append(f.having[r], n)
			}
		}
	}
	return n
}

// pendingState is the multiplications that may be pending, with the number of groups committed
// before each, the greatest that it can be, and how many of them have an accumulator and an A.
type pendingState struct {
	groups                map[int]int
	committed             int
	accumulators, sources map[int]int
}

// age is the least that a multiplication can have.
func (s *pendingState) age(i int) age { return age(min(s.committed-s.groups[i], int(oldest))) }

func (p *pendingFlow) state(ages map[int]age) *pendingState {
	s := &pendingState{groups: map[int]int{}, accumulators: map[int]int{}, sources: map[int]int{}}
	for i, a := range ages {
		p.issue(s, i, a)
	}
	return s
}

func (p *pendingFlow) issue(s *pendingState, i int, a age) {
	if _, pending := s.groups[i]; !pending {
		s.accumulators[p.list[i].accumulator]++
		s.sources[p.list[i].a]++
	}
	s.groups[i] = s.committed - int(a)
}

func (p *pendingFlow) complete(s *pendingState, i int) {
	delete(s.groups, i)
	release := func(of map[int]int, n int) {
		if of[n]--; of[n] == 0 {
			delete(of, n)
		}
	}
	release(s.accumulators, p.list[i].accumulator)
	release(s.sources, p.list[i].a)
}

func (f *Func) findPending(calls func(in *Instr) bool) {
	none := func() fragments { return fragments{number: map[string]int{}, having: map[RegID][]int{}} }
	p := pendingFlow{index: map[*Instr]int{}, accumulators: none(), sources: none(), calls: calls}
	f.EachInstr(func(in *Instr) {
		if in.IsMultiply() {
			p.index[in] = len(p.list)
			p.list = append(p.list, product{in, p.accumulators.of(in.Types()[0], in.Fragment("d")), p.sources.of(NoType, in.Fragment("a"))})
		}
	})
	if len(p.list) == 0 {
		return
	}
	before := make([]map[int]age, len(f.Blocks)) // by block; nil: not reached
	before[0] = map[int]age{}
	for work := []*Block{f.Blocks[0]}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		state := p.state(before[b.Index])
		for _, in := range b.Instrs {
			p.step(in, state)
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
		state := p.state(before[b.Index])
		for _, in := range b.Instrs {
			if len(state.groups) > 0 {
				p.note(in, state)
			}
			p.step(in, state)
		}
	}
}

// step is what an instruction does to a state.
func (p *pendingFlow) step(in *Instr, state *pendingState) {
	always := in.Guard.Reg == NoReg
	switch {
	case in.Call != nil:
		if always && p.calls(in) {
			*state = *p.state(nil)
		}
	case in.IsMultiply():
		p.issue(state, p.index[in], 0)
	case in.Form.Family == FamilyWgmmaCommit && always:
		state.committed++
	case in.Form.Family == FamilyWgmmaWait && always:
		n := in.Arg("a").Imm.Bits
		for i := range state.groups {
			if uint64(state.age(i)) > n {
				p.complete(state, i)
			}
		}
	}
}

// note notes what an instruction has to do with those of a state.
func (p *pendingFlow) note(in *Instr, state *pendingState) {
	if in.Call != nil && p.calls(in) || in.Form.Family == FamilyWgmmaWait {
		p.completes(in.pend(), state)
		return
	}
	accumulators, sources := map[int]bool{}, map[int]bool{} // disturbed
	chained := -1                                           // that which a multiplication adds to: they are ordered without a wait
	result := func(r RegID) {
		for _, n := range p.accumulators.having[r] {
			if n != chained && state.accumulators[n] > 0 {
				accumulators[n] = true
			}
		}
	}
	source := func(r RegID) {
		for _, n := range p.sources.having[r] {
			if state.sources[n] > 0 {
				sources[n] = true
			}
		}
	}
	if in.IsMultiply() {
		m := p.list[p.index[in]]
		chained = m.accumulator
		for _, r := range p.accumulators.list[m.accumulator] {
			result(r)
			source(r)
		}
		chained = -1
		for i := range in.Ops {
			if in.Form.Operands[i].Name != "d" {
				in.Ops[i].eachRegister(Read, Read, func(r RegID) bool { result(r); return true })
			}
		}
	} else {
		for r := range in.Uses() {
			result(r)
		}
		for r := range in.Defs() {
			result(r)
			source(r)
		}
	}
	if len(accumulators)+len(sources) == 0 {
		return
	}
	for _, i := range slices.Sorted(maps.Keys(state.groups)) {
		if m := p.list[i]; accumulators[m.accumulator] || sources[m.a] {
			in.pend().Disturbs = append(in.pend().Disturbs, m.in)
		}
	}
}

func (in *Instr) pend() *Pending {
	if in.Pending == nil {
		in.Pending = &Pending{}
	}
	return in.Pending
}

// completes notes that an instruction may complete what is pending.
func (p *pendingFlow) completes(n *Pending, state *pendingState) {
	for _, i := range slices.Sorted(maps.Keys(state.groups)) {
		n.Completes = append(n.Completes, p.list[i].in)
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
