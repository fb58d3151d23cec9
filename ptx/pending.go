package ptx

// This file finds which asynchronous multiplications (manual 9.7.15) may still be pending
// where: wgmma.mma_async reads and writes registers up to the wait that its group is waited
// for by, which names none of them.

import (
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
func (in *Instr) IsMultiply() bool { return in.Op == opByName["wgmma"] && in.Has("mma_async") }

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
	wgmma := opByName["wgmma"]
	has := map[*Func]bool{} // wgmma, or a call of a function that has
	for _, f := range funcs {
		f.EachInstr(func(in *Instr) {
			if in.Op == wgmma {
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
const oldest age = 255

// pendingFlow is the search in a function. A state is the multiplications that may be pending,
// by index, with the least age that they can have.
type pendingFlow struct {
	list    []*Instr
	index   map[*Instr]int
	results map[RegID][]int // multiplications that have the register in their accumulator
	sources map[RegID][]int // … in their matrix A
	calls   func(in *Instr) bool
}

func (f *Func) findPending(calls func(in *Instr) bool) {
	p := pendingFlow{index: map[*Instr]int{}, results: map[RegID][]int{}, sources: map[RegID][]int{}, calls: calls}
	f.EachInstr(func(in *Instr) {
		if !in.IsMultiply() {
			return
		}
		n := len(p.list)
		p.index[in] = n
		p.list = append(p.list, in)
		note := func(operand string, to map[RegID][]int) {
			for _, e := range in.Fragment(operand) {
				if e.Kind == RegOperand && !slices.Contains(to[e.Reg], n) {
					to[e.Reg] = append(to[e.Reg], n)
				}
			}
		}
		note("d", p.results)
		note("a", p.sources)
	})
	if len(p.list) == 0 {
		return
	}
	before := make([]map[int]age, len(f.Blocks)) // by block; nil: not reached
	before[0] = map[int]age{}
	for work := []*Block{f.Blocks[0]}; len(work) > 0; {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		state := maps.Clone(before[b.Index])
		for _, in := range b.Instrs {
			p.step(in, state)
		}
		for _, s := range b.Succs {
			changed := before[s.Index] == nil
			if changed {
				before[s.Index] = map[int]age{}
			}
			for i, a := range state {
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
		state := maps.Clone(before[b.Index])
		for _, in := range b.Instrs {
			if len(state) > 0 {
				p.note(in, state)
			}
			p.step(in, state)
		}
	}
}

// step is what an instruction does to a state.
func (p *pendingFlow) step(in *Instr, state map[int]age) {
	always := in.Guard.Reg == NoReg
	switch {
	case in.Call != nil:
		if always && p.calls(in) {
			clear(state)
		}
	case in.Op != opByName["wgmma"] || state == nil:
	case in.Has("mma_async"):
		state[p.index[in]] = 0
	case in.Has("commit_group") && always:
		for i, a := range state {
			state[i] = min(a+1, oldest-1)
		}
	case in.Has("wait_group") && always:
		n := in.Arg("a").Imm.Bits
		maps.DeleteFunc(state, func(_ int, a age) bool { return uint64(a) > n })
	}
}

// note notes what an instruction has to do with those of a state.
func (p *pendingFlow) note(in *Instr, state map[int]age) {
	completes := in.Call != nil && p.calls(in) || in.Op == opByName["wgmma"] && in.Has("wait_group")
	if completes {
		in.pend().complete(p.list, slices.Sorted(maps.Keys(state)))
		if in.Call == nil {
			return
		}
		state = nil
	}
	disturbed := map[int]bool{}
	add := func(list []int, but func(other *Instr) bool) {
		for _, i := range list {
			if _, pending := state[i]; pending && !but(p.list[i]) {
				disturbed[i] = true
			}
		}
	}
	never := func(*Instr) bool { return false }
	if in.IsMultiply() {
		chained := func(other *Instr) bool { return in.accumulatesAs(other) }
		for _, e := range in.Fragment("d") {
			if e.Kind == RegOperand {
				add(p.results[e.Reg], chained)
				add(p.sources[e.Reg], never)
			}
		}
		for _, e := range in.Fragment("a") {
			if e.Kind == RegOperand {
				add(p.results[e.Reg], never)
			}
		}
	} else {
		for r := range in.Uses() {
			add(p.results[r], never)
		}
		for r := range in.Defs() {
			add(p.results[r], never)
			add(p.sources[r], never)
		}
	}
	if len(disturbed) > 0 {
		n := in.pend()
		for _, i := range slices.Sorted(maps.Keys(disturbed)) {
			n.Disturbs = append(n.Disturbs, p.list[i])
		}
	}
}

// accumulatesAs reports whether two multiplications have the same accumulator, in the same
// registers: they are ordered then without a wait.
func (in *Instr) accumulatesAs(o *Instr) bool {
	d, e := in.Fragment("d"), o.Fragment("d")
	return in.Types()[0] == o.Types()[0] && slices.EqualFunc(d, e, func(a, b Operand) bool { return a.Kind == b.Kind && a.Reg == b.Reg })
}

func (in *Instr) pend() *Pending {
	if in.Pending == nil {
		in.Pending = &Pending{}
	}
	return in.Pending
}

// complete notes what the instruction may complete.
func (p *Pending) complete(list []*Instr, which []int) {
	reads, writes := map[RegID]bool{}, map[RegID]bool{}
	for _, i := range which {
		p.Completes = append(p.Completes, list[i])
		for _, e := range list[i].Fragment("d") {
			if e.Kind == RegOperand {
				reads[e.Reg], writes[e.Reg] = true, true
			}
		}
		for _, e := range list[i].Fragment("a") {
			if e.Kind == RegOperand {
				reads[e.Reg] = true
			}
		}
	}
	p.Reads, p.Writes = slices.Sorted(maps.Keys(reads)), slices.Sorted(maps.Keys(writes))
}
