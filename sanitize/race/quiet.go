package race

// This file finds intervals between barriers in which shared memory is only read. Loads of shared memory in such an interval are
// in no race: all earlier writes happened before the barrier at its beginning, and all later ones happen after the barrier at its
// end. So machine code does not log them.

import (
	"gemu/ptx"
)

// nextActions is the set of actions that a thread may take between a barrier of the whole CTA and the next such barrier.
type nextActions uint8

const (
	mayWrite nextActions = 1 << iota // write shared memory
	mayExit
	mayMeet // come to the next barrier of the whole CTA
)

// isQuiet reports whether the loads of shared memory in an interval are in no race, where n is what its threads may do: none of them
// writes, and either none exits, as the next barrier does not order the loads of a thread that has exited, or none comes to another
// barrier.
func (n nextActions) isQuiet() bool { return n&mayWrite == 0 && n&(mayExit|mayMeet) != mayExit|mayMeet }

// findQuiet sets role.next. The threads of a CTA may come to a barrier at different instructions, so only the union of their next
// actions (batch.next) tells whether the interval is quiet.
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
				s := interval{kernel: r.Kernel, visited: make([]bool, len(r.Kernel.Blocks))}
				s.walk(b, i+1)
				roles[instr].next = s.next
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
	kernel  *ptx.Func
	visited []bool // by block: walked from its beginning
	next    nextActions
}

// walk follows the control flow from instruction first of a block on.
func (s *interval) walk(b *ptx.Block, first int) {
	for _, instr := range b.Instrs[first:] {
		if isWholeBarrier(instr) {
			s.next |= mayMeet
			return
		}
		if instr.Form.Effects.Any(ptx.Writes | ptx.Atomic) {
			if space, _ := instr.Space(); space != ptx.Global && space != ptx.Local && space != ptx.Param {
				s.next |= mayWrite
			}
		}
	}
	if s.kernel.MayLeave(b) {
		s.next |= mayExit
	}
	for _, next := range b.Succs {
		if !s.visited[next.Index] {
			s.visited[next.Index] = true
			s.walk(next, 0)
		}
	}
}
