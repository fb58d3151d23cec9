package race

// This file finds intervals between barriers in which shared memory is only read. Loads of shared memory in such an interval are
// in no race: all earlier writes happened before the barrier at its beginning, and all later ones happen after the barrier at its
// end. So machine code does not log them.

import (
	"gemu/ptx"
)

// findQuiet sets role.quietAfter.
func (r *run) findQuiet() {
	if r.perCTAs > 1 || r.lockstep > 0 {
		return
	}
	roles := map[*ptx.Instr]*role{}
	for i := range r.roles {
		instr, fn := r.Program.At(i)
		if fn != r.Kernel || !isSynchronous(instr) {
			return
		}
		roles[instr] = &r.roles[i]
	}
	for _, b := range r.Kernel.Blocks {
		for i, instr := range b.Instrs {
			if isWholeBarrier(instr) {
				s := interval{visited: make([]bool, len(r.Kernel.Blocks))}
				s.walk(b, i+1)
				roles[instr].quietAfter = !s.writes && !(s.exits && s.ends)
			}
		}
	}
}

// isSynchronous reports whether the effects of an instruction on memory, if it has any, are over when the next instruction of its
// thread begins, and belong to the instruction itself.
func isSynchronous(instr *ptx.Instr) bool {
	switch instr.Form.Family {
	case ptx.FamilyLoad, ptx.FamilyStore, ptx.FamilyAtomic, ptx.FamilyTile, ptx.FamilyFragment, ptx.FamilyTexture, ptx.FamilyBarrier:
		return !instr.Has("bulk")
	}
	return !instr.Form.Effects.Any(ptx.Reads|ptx.Writes|ptx.Atomic|ptx.Async|ptx.Calls) && instr.Form.Family != ptx.FamilyMbarrier
}

// isWholeBarrier reports whether an instruction is a barrier that all threads of the CTA wait at.
func isWholeBarrier(instr *ptx.Instr) bool {
	effects := instr.Form.Effects
	if instr.Form.Family != ptx.FamilyBarrier || effects.HasAll(ptx.Collective) || !effects.HasAll(ptx.Waits) || instr.Has("cluster") || instr.Guard.Reg != ptx.NoReg {
		return false
	}
	if instr.Form.Operand("b") >= 0 && instr.Arg("b").Kind != ptx.NoOperand {
		return false
	}
	a := instr.Form.Operand("a")
	return a < 0 || instr.Ops[a].Kind == ptx.ImmOperand && instr.Ops[a].Imm.Bits == 0
}

// interval is the instructions that a thread may execute after a barrier of the whole CTA, up to the next one.
type interval struct {
	visited []bool // by block: walked from its beginning

	writes bool // shared memory may be written
	exits  bool // the thread may exit
	ends   bool // the thread may come to another barrier of the whole CTA
}

// walk follows the control flow from instruction first of a block on.
func (s *interval) walk(b *ptx.Block, first int) {
	for _, instr := range b.Instrs[first:] {
		if isWholeBarrier(instr) {
			s.ends = true
			return
		}
		effects := instr.Form.Effects
		if effects.Any(ptx.Writes | ptx.Atomic) {
			space, _ := instr.Space()
			s.writes = s.writes || space != ptx.Global && space != ptx.Local && space != ptx.Param
		}
		s.exits = s.exits || effects.Any(ptx.Exits|ptx.Returns)
	}
	s.exits = s.exits || len(b.Succs) == 0
	for _, next := range b.Succs {
		if !s.visited[next.Index] {
			s.visited[next.Index] = true
			s.walk(next, 0)
		}
	}
}
