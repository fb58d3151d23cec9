package phases

// This file finds the live registers and the live variables of shared memory of each instruction.

import (
	"math/bits"
	"slices"

	"gemu/ptx"
)

// units returns the registers of 32 bits of a virtual register: none for a predicate.
func (k *Kernel) units(r ptx.RegID) int {
	if t := k.Func.Regs[r].Type; t != ptx.Pred {
		return max(1, t.Bits()/32)
	}
	return 0
}

// findLive finds the live registers of each instruction. They are live before or after it; a register that only the instruction writes counts, too.
func (k *Kernel) findLive() {
	l := k.Func.Liveness()
	for _, b := range k.Func.Blocks {
		live := map[ptx.RegID]bool{}
		for _, s := range b.Succs {
			for r := range l.EachLiveIn(s.Index) {
				live[r] = true
			}
		}
		for _, instr := range slices.Backward(b.Instrs) {
			o := &k.Instrs[k.index[instr]]
			after, before := 0, 0
			for r := range instr.Defs() {
				live[r] = true
			}
			for r := range live {
				after += k.units(r)
				o.live = append(o.live, r)
			}
			if instr.Guard.Reg == ptx.NoReg {
				for r := range instr.Defs() {
					delete(live, r)
				}
			}
			for r := range instr.Uses() {
				if !live[r] {
					live[r] = true
					if !slices.Contains(o.live, r) {
						o.live = append(o.live, r)
					}
				}
			}
			for r := range live {
				before += k.units(r)
			}
			slices.Sort(o.live)
			o.Live.Registers = max(before, after)
		}
	}
}

// numberRegisters gives each live register numbers of the registers of its phase. It goes through the text. A register keeps its numbers while
// it is live, unless they are beyond the registers of a phase that begins; a register that becomes live gets the lowest free numbers. A
// register that is not live in between can have other numbers later. The registers of the sources of an instruction can be those of its results.
func (k *Kernel) numberRegisters() {
	numbers := map[ptx.RegID][]int{}
	taken := []bool{}
	give := func(r ptx.RegID) {
		for n := 0; len(numbers[r]) < k.units(r); n++ {
			if n == len(taken) {
				taken = append(taken, false)
			}
			if !taken[n] {
				taken[n] = true
				numbers[r] = append(numbers[r], n)
			}
		}
	}
	release := func(r ptx.RegID) {
		for _, n := range numbers[r] {
			taken[n] = false
		}
		delete(numbers, r)
	}
	firsts := map[*ptx.Instr]int{}
	for _, p := range k.Phases {
		firsts[p.First] = p.Registers
	}
	for i := range k.Instrs {
		o := &k.Instrs[i]
		limit, begins := firsts[o.Instr]
		var before, dead []ptx.RegID // live before the instruction, and no longer live
		defs := slices.Collect(o.Defs())
		uses := slices.Collect(o.Uses())
		for r := range numbers {
			if !slices.Contains(o.live, r) || begins && slices.ContainsFunc(numbers[r], func(n int) bool { return n >= limit }) {
				dead = append(dead, r)
			}
		}
		for _, r := range dead {
			release(r)
		}
		for _, r := range o.live {
			if slices.Contains(uses, r) || !slices.Contains(defs, r) || o.Guard.Reg != ptx.NoReg {
				before = append(before, r)
			}
		}
		for _, r := range before {
			give(r)
		}
		set := func(r ptx.RegID, to *RegisterSets) {
			for _, n := range numbers[r] {
				*to |= 1 << min(n/SetRegisters, 63)
				n = min(n, 64*len(o.Numbers)-1)
				o.Numbers[n/64] |= 1 << (n % 64)
			}
		}
		for _, r := range uses {
			set(r, &o.Reads)
		}
		for _, r := range before {
			if !slices.Contains(defs, r) && !k.liveAfter(i, r) {
				release(r)
			}
		}
		for _, r := range defs {
			give(r)
			set(r, &o.Writes)
		}
	}
}

// liveAfter reports whether a register is live at a later instruction of the block, or after it. Instruction i does not write it.
func (k *Kernel) liveAfter(i int, r ptx.RegID) bool {
	if i+1 < len(k.Instrs) && k.Instrs[i+1].block == k.Instrs[i].block {
		next := &k.Instrs[i+1]
		_, found := slices.BinarySearch(next.live, r)
		return found && (slices.Contains(slices.Collect(next.Uses()), r) || !slices.Contains(slices.Collect(next.Defs()), r) || next.Guard.Reg != ptx.NoReg)
	}
	for _, j := range k.after(k.Instrs[i].block) {
		if _, found := slices.BinarySearch(k.Instrs[j].live, r); found {
			return true
		}
	}
	return false
}

// maxVars is the maximum number of variables of shared memory that are told apart.
const maxVars = 64

// findShared finds the variables of shared memory that are live at each instruction: an instruction before it or itself, and an instruction
// after it or itself, can access them. The last of maxVars variables stands for all further ones.
func (k *Kernel) findShared() error {
	bit := map[*ptx.Var]uint64{}
	varBit := func(s ptx.Symbol) uint64 {
		v, ok := s.(*ptx.Var)
		if !ok || v.Space != ptx.Shared {
			return 0
		}
		if bit[v] == 0 {
			bit[v] = 1 << min(len(k.vars), maxVars-1)
			k.vars = append(k.vars, v)
		}
		return bit[v]
	}
	// pointers are the variables to which a register can point.
	pointers := make([]uint64, len(k.Func.Regs))
	for changed := true; changed; {
		changed = false
		for i := range k.Instrs {
			instr := k.Instrs[i].Instr
			if instr.Form.Effects.Any(ptx.Reads) {
				continue // a pointer in memory is unknown
			}
			set := uint64(0)
			instr.EachSymbol(func(s ptx.Symbol) { set |= varBit(s) })
			for r := range instr.Uses() {
				set |= pointers[r]
			}
			for r := range instr.Defs() {
				if set&^pointers[r] != 0 {
					pointers[r] |= set
					changed = true
				}
			}
		}
	}
	unknown := false
	for i := range k.Instrs {
		o := &k.Instrs[i]
		if !o.Form.Effects.Any(ptx.Reads | ptx.Writes | ptx.Async) {
			continue
		}
		o.EachSymbol(func(s ptx.Symbol) { o.shared |= varBit(s) })
		for r := range o.Uses() {
			o.shared |= pointers[r]
		}
		if space, _ := o.Space(); space == ptx.Shared && o.shared == 0 {
			o.shared, unknown = ^uint64(0), true
		}
	}
	if unknown { // a pointer in memory: any variable
		for _, list := range [][]*ptx.Var{k.Func.Vars, k.Func.Module().Vars()} {
			for _, v := range list {
				varBit(v)
			}
		}
	}
	all := uint64(0)
	for _, v := range k.vars {
		all |= bit[v]
		if v.Unbounded() && k.dynamic < 0 {
			return errorAt(k.Func, k.Func.Pos, "%s has dynamic shared memory: give its size with --dynamic-shared", k.Func.Name)
		}
	}
	sizes := [maxVars]int{}
	dynamic := false
	for _, v := range k.vars {
		if n := bits.TrailingZeros64(bit[v]); v.Unbounded() {
			if !dynamic { // all such variables are the same memory
				sizes[n] += k.dynamic
			}
			dynamic = true
		} else {
			sizes[n] += v.Size()
		}
	}
	before, after := k.flow(all, true), k.flow(all, false)
	for i := range k.Instrs {
		o := &k.Instrs[i]
		o.shared &= all
		o.liveShared = before[i] & after[i] & all
		for set := o.liveShared; set != 0; set &= set - 1 {
			o.Live.Shared += sizes[bits.TrailingZeros64(set)]
		}
	}
	return nil
}

// flow returns, for each instruction, the variables that it or an instruction before it (forward) or after it can access.
func (k *Kernel) flow(all uint64, forward bool) []uint64 {
	at := make([]uint64, len(k.Instrs)) // after the instruction in the direction of the flow
	ends := make([]uint64, len(k.Func.Blocks))
	for changed := true; changed; {
		changed = false
		for b, block := range k.Func.Blocks {
			state := uint64(0)
			from := block.Preds
			if !forward {
				from = block.Succs
			}
			for _, p := range from {
				state |= ends[p.Index]
			}
			instrs := slices.Clone(block.Instrs)
			if !forward {
				slices.Reverse(instrs)
			}
			for _, instr := range instrs {
				i := k.index[instr]
				state |= k.Instrs[i].shared & all
				at[i] = state
			}
			if state != ends[b] {
				ends[b] = state
				changed = true
			}
		}
	}
	return at
}
