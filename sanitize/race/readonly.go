package race

// This file finds memory that a launch only reads. Its loads are in no race, so machine code does not log them. An analysis of the
// program finds the pointers through which the kernel writes: arguments and variables. A write that leaves the memory of its
// pointer is a notice.

import (
	"encoding/binary"
	"math/bits"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// targets is the global memory that a program writes, in terms of the program.
type targets struct {
	known  bool  // false: the program may write any memory
	params []int // pointers: offsets of words in the parameters
	vars   []*ptx.Var
}

// base is the pointer that a value derives from.
type base int32

const (
	noValue    base = iota // of a register that nothing has written so far
	number                 // no pointer, or one that is composed of parts: an offset if it is added to a pointer
	anyMemory              // a word from memory or a function: perhaps a pointer
	mixed                  // perhaps one of several pointers
	otherSpace             // a pointer to a variable outside global memory
	firstBase              // bases of parameters, by offset, then bases of variables
)

// bases is the analysis of a kernel.
type bases struct {
	prog   probe.Program
	kernel *ptx.Func
	word   int // size of an address in bytes
	of     []base
	params int // size of the parameters in bytes
	vars   []*ptx.Var
}

// findTargets analyses the program of a launch. Order of execution does not matter: a register has the base of all its values.
func findTargets(l *probe.LaunchInfo) (t targets) {
	p := &bases{prog: l.Program, kernel: l.Kernel, word: l.Module.AddressSize / 8, of: make([]base, len(l.Kernel.Regs)), params: len(l.Parameters)}
	list := make([]*ptx.Instr, l.Program.Len())
	for i := range list {
		instr, fn := l.Program.At(i)
		if fn != l.Kernel || instr.Form.Effects.HasAll(ptx.Calls) {
			return t
		}
		list[i] = instr
	}
	for changed := true; changed; {
		changed = false
		for _, instr := range list {
			changed = p.derive(instr) || changed
		}
	}
	written := map[base]bool{}
	for _, instr := range list {
		if !p.addTargets(instr, written) {
			return t
		}
	}
	for b := range written {
		switch i := int(b - firstBase); {
		case b == otherSpace:
		case i < p.params:
			t.params = append(t.params, i)
		default:
			t.vars = append(t.vars, p.vars[i-p.params])
		}
	}
	t.known = true
	return t
}

// either returns the base of a value that is one of two values, or has parts of both. A number may be all of a pointer then.
func either(a, b base) base {
	switch {
	case a == b || b == noValue:
		return a
	case a == noValue:
		return b
	}
	return mixed
}

// sum returns the base of a sum.
func sum(a, b base) base {
	switch {
	case a == noValue || b == number:
		return a
	case b == noValue || a == number:
		return b
	}
	return either(a, b)
}

// derive gives the results of an instruction their bases, and reports whether any is new.
func (p *bases) derive(instr *ptx.Instr) (changed bool) {
	set := func(r ptx.RegID, b base) {
		if p.kernel.Regs[r].Type == ptx.Pred {
			return
		}
		if n := either(p.of[r], b); n != p.of[r] {
			p.of[r], changed = n, true
		}
	}
	if instr.Form.Family == ptx.FamilyLoad {
		if d := instr.Arg("d"); d.Kind == ptx.VecOperand {
			for k := range d.Elems() {
				if e := &d.Elems()[k]; e.Kind == ptx.RegOperand {
					set(e.Reg, p.loaded(instr, k))
				}
			}
		} else if d.Kind == ptx.RegOperand {
			set(d.Reg, p.loaded(instr, 0))
		}
		return changed
	}
	b := anyMemory
	if instr.Form.Effects.HasAll(ptx.Pure) || instr.Form.Family == ptx.FamilyShfl {
		b = p.result(instr)
	}
	for r := range instr.Defs() {
		if b == anyMemory && p.kernel.Regs[r].Type.Size() < p.word {
			set(r, number)
		} else {
			set(r, b)
		}
	}
	return changed
}

// loaded returns the base of element k of a load.
func (p *bases) loaded(instr *ptx.Instr, k int) base {
	size, a := instr.Type().Size(), instr.Arg("a")
	if size < p.word {
		return number
	}
	v, ok := a.Sym().(*ptx.Var)
	if !ok || v.Space != ptx.Param || a.Reg != ptx.NoReg || size != p.word {
		return anyMemory
	}
	for _, param := range p.prog.Params() {
		if at := param.Offset + int(a.Offset()) + k*size; param.Var == v && at >= 0 && at < p.params {
			return firstBase + base(at)
		}
	}
	return anyMemory
}

// result returns the base of the results of an instruction that only computes.
func (p *bases) result(instr *ptx.Instr) (b base) {
	isNumber, isSum := true, false // isNumber: it has no operands but constants, predicates and special registers
	switch instr.Form.Affine {
	case ptx.AffineAdd, ptx.AffineSub, ptx.AffineMul, ptx.AffineMad, ptx.AffineShl, ptx.AffineShr, ptx.AffineDiv, ptx.AffineRem:
		b, isSum = number, true
	}
	add := func(operand base) {
		isNumber = false
		if isSum {
			b = sum(b, operand)
		} else {
			b = either(b, operand)
		}
	}
	for r := range instr.Uses() {
		if p.kernel.Regs[r].Type != ptx.Pred {
			add(p.of[r])
		}
	}
	instr.EachSymbol(func(s ptx.Symbol) { add(p.variable(s)) })
	if isNumber {
		return number
	}
	switch instr.Form.Affine {
	case ptx.AffineMul, ptx.AffineShl, ptx.AffineShr, ptx.AffineDiv, ptx.AffineRem:
		if b == anyMemory { // the product of a number is no address
			return number
		}
	case ptx.AffineMove:
		if b == number && len(instr.Ops) > 1 && instr.Ops[1].Kind == ptx.VecOperand { // perhaps the halves of an address
			return anyMemory
		}
	}
	return b
}

// variable returns the base of a variable's address.
func (p *bases) variable(s ptx.Symbol) base {
	v, ok := s.(*ptx.Var)
	if !ok {
		return mixed
	}
	if v.Space != ptx.Global {
		return otherSpace
	}
	for i, known := range p.vars {
		if known == v {
			return firstBase + base(p.params+i)
		}
	}
	p.vars = append(p.vars, v)
	return firstBase + base(p.params+len(p.vars)-1)
}

// addTargets adds the bases of global memory that an instruction writes. It returns false if a base is unknown.
func (p *bases) addTargets(instr *ptx.Instr, written map[base]bool) bool {
	if !instr.Form.Effects.Any(ptx.Writes | ptx.Atomic) {
		return true
	}
	space, _ := instr.Space()
	switch instr.Form.Family {
	case ptx.FamilyMbarrier: // in shared memory
		return true
	case ptx.FamilyAsync:
		return !instr.Has("bulk") // cp.async writes shared memory
	case ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyTile, ptx.FamilyFragment:
		if instr.IsMulticast() {
			return false
		}
		if space != ptx.Global && space != ptx.Generic {
			return true
		}
	default:
		return false
	}
	found := false
	for i := range instr.Ops {
		o := &instr.Ops[i]
		if o.Kind != ptx.AddrOperand {
			continue
		}
		b := number
		if o.Reg != ptx.NoReg {
			b = p.of[o.Reg]
		}
		if o.Sym() != nil {
			b = sum(b, p.variable(o.Sym()))
		}
		if b < otherSpace {
			return false
		}
		written[b], found = true, true
	}
	return found
}

// targetsOf returns the memory that a launch writes, as addresses; ok is false if it may write any memory.
func (p *Probe) targetsOf(l *probe.LaunchInfo) (addresses []uint64, ok bool) {
	t := p.targets.Get(l, findTargets)
	if !t.known {
		return nil, false
	}
	for _, at := range t.params {
		pointer := false
		for i := range l.Pointers {
			pointer = pointer || l.Pointers[i].Offset == at && l.Pointers[i].Memory != nil
		}
		if !pointer {
			return nil, false
		}
		var word [8]byte
		copy(word[:l.Module.AddressSize/8], l.Parameters[at:])
		addresses = append(addresses, binary.LittleEndian.Uint64(word[:]))
	}
	for _, v := range t.vars {
		found := false
		for _, g := range l.Program.Globals() {
			if g.Var == v {
				addresses, found = append(addresses, uint64(g.Offset)), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return addresses, true
}

// onlyReads reports whether the launch only reads an allocation, as far as is known. No other operation can be in flight then.
func (r *run) onlyReads(alloc *probe.Allocation) bool {
	s := r.shadow(alloc)
	if s.judged || !r.hasReadOnly {
		return s.readOnly.Load() != 0
	}
	s.judged = true
	if alloc.Kind != probe.BufferMemory && alloc.Kind != probe.VariableMemory {
		return false
	}
	for _, addr := range r.written {
		if addr-alloc.Base < alloc.Span {
			return false
		}
	}
	s.readOnly.Store(1)
	return true
}

// noteWrite handles a write x of an agent to n bytes, before it is recorded. From a write to memory for which onlyReads has been true
// on, all accesses to it are recorded.
func (r *run) noteWrite(alloc *probe.Allocation, offset uint64, n int, x *access, agent agent) {
	s := r.shadow(alloc)
	if !s.judged { // nothing has been left out
		s.judged = true
		return
	}
	if s.readOnly.Load() == 0 {
		return
	}
	s.readOnly.Store(0)
	f := &finding.Finding{Tool: Name, Kind: "write through another pointer", Severity: finding.Notice, Count: 1}
	f.Message = "the kernel writes memory through a pointer to other memory: races with earlier reads of this memory are not found"
	f.Place = finding.LaunchPlace(r.LaunchInfo, x.index(), "write", r.id(x.cta()), agent.warp(), agent.lane())
	f.Memory = finding.MemoryOf(r.LaunchInfo, alloc, offset, n)
	key := raceKey{kind: f.Kind, index: x.index(), operation: r.operation}
	if r.found[key] == nil {
		r.found[key] = f
		r.sequence = append(r.sequence, key)
	}
}

// allInside reports whether the accesses of all lanes are in an allocation of size bytes that begins at an address.
func allInside(a *probe.Access, lanes, begin, size uint64) bool {
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if offset := a.Addr[lane] - begin; offset >= size || uint64(a.Length(lane)) > size-offset {
			return false
		}
	}
	return true
}
