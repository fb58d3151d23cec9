package native

// This file puts the stencils of instructions: guards, operands, comparisons.

import (
	"math"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/regfile"
)

// putInstr makes the code of an instruction with its guard.
func (a *assembler) putInstr(pc int32, instr *code.Instr) {
	start, suffix, after := len(a.buf), a.suffix, 0
	if instr.Guard != 0 {
		suffix, after = "_masked", a.newLabel()
		p, negated := code.GuardRow(instr.Guard)
		a.put("guard", holes{a: int64(4 * p), n0: ones(negated), other: after})
	}
	a.putExecution(pc, instr, suffix)
	if instr.Guard != 0 {
		a.bind(after)
		name := "unguard"
		if instr.CountsSkipped {
			name = "unguard_counted"
		}
		a.put(name, holes{})
	}
	if !a.leftToGo {
		a.instrs[pc] = int32(start)
	}
}

// attempt calls emit and reports whether it made code. If emit leaves the instruction to Go, attempt removes all its code.
func (a *assembler) attempt(emit func()) (made bool) {
	start, fixes, stubs, recalls, asides, functions, before := len(a.buf), len(a.fixups), len(a.stubs), len(a.hitLookups), len(a.coldCode), len(a.functions), a.leftToGo
	emit()
	made, a.leftToGo = !a.leftToGo, before
	if !made {
		a.buf, a.fixups, a.stubs = a.buf[:start], a.fixups[:fixes], a.stubs[:stubs]
		a.hitLookups, a.coldCode = a.hitLookups[:recalls], a.coldCode[:asides]
		for _, name := range a.functions[functions:] {
			delete(a.functionLabels, name)
		}
		a.functions = a.functions[:functions]
	}
	return made
}

// putOperation makes the code of an instruction on the lanes, without its guard.
func (a *assembler) putOperation(pc int32, instr *code.Instr, suffix string) {
	s := instr.Op.Signature()
	switch {
	case s.Compares():
		a.putComparison(instr)
		a.putCombination(instr, suffix)
	case s.Kind == code.Arithmetic:
		name := a.kernelName(instr) + suffix
		a.requireSecondResult(instr)
		h := a.operandHoles(instr)
		h.n0 = int64(instr.Imm)
		a.putOrLeave(name, h)
		a.addStencilCost(name)
	case s.Kind == code.Load || s.Kind == code.Store || instr.Op == code.Atomic: // all other memory instructions are left to Go
		a.putAccess(pc, instr, suffix)
	case s.Kind == code.Read:
		a.putSpecial(instr, suffix)
	case instr.Op == code.Multiply:
		a.putMultiply(pc, instr, suffix)
	case instr.Op == code.LoadMatrix || instr.Op == code.StoreMatrix:
		a.putTile(pc, instr, suffix)
	case instr.Op == code.CheckSame:
		h := a.operandHoles(instr)
		h.leave = a.exitLabel(pc, Unsupported)
		a.putOrLeave("check_same"+suffix, h)
	case instr.Op == code.AsyncCopy || instr.Op == code.AsyncCommit || instr.Op == code.AsyncWait:
		a.putAsync(pc, instr, suffix)
	case instr.Op == code.MoveMatrix && suffix == "_full":
		a.putOrLeave("move_matrix", a.operandHoles(instr))
	default:
		a.putCollective(pc, instr, suffix)
	}
}

// requireSecondResult leaves an operation to Go if its second result has no register. The first result always has a row.
func (a *assembler) requireSecondResult(instr *code.Instr) {
	if instr.Op.Signature().Dst2 != code.NoSlot && instr.F == code.NoRow {
		a.leaveToGo()
	}
}

// kernelName returns the name of an instruction's kernel, or "" if it has none. It leaves an instruction to Go if its immediate
// does not fit the stencil's hole.
func (a *assembler) kernelName(instr *code.Instr) string {
	if instr.Imm > math.MaxInt32 {
		a.leaveToGo()
	}
	return a.lib.kernels[instr.Op.Signature().Name]
}

// addCost adds n instructions to the cost of the stretch.
func (a *assembler) addCost(n int) {
	if n > 0 {
		a.sinceExit += n
		a.put("add_cost", holes{n0: int64(n)})
	}
}

// addStencilCost adds the cost of a stencil, if it exists.
func (a *assembler) addStencilCost(name string) {
	if s := a.lib.stencil(name); s != nil {
		a.addCost(s.cost)
	}
}

// operandHoles returns the holes for an instruction's operands.
func (a *assembler) operandHoles(instr *code.Instr) (h holes) {
	s := instr.Op.Signature()
	a.setRegister(&h, 'D', s.Dst, instr.D)
	a.setRegister(&h, 'F', s.Dst2, instr.F)
	for i, row := range instr.Sources() {
		a.setPlace(&h, letters[i], s.Src[i], row)
	}
	return h
}

// rowSizes has the size of a row of each kind, in bytes.
var rowSizes = [...]int64{code.R: 4 * regfile.Lanes, code.Q: 8 * regfile.Lanes, code.P: 4}

// setPlace fills the hole with this letter with the place of an operand: the offset in bytes from the first row of its kind,
// or in the constants.
func (a *assembler) setPlace(h *holes, letter byte, slot code.Slot, row int32) {
	if slot == code.NoSlot || row >= 0 {
		a.setRegister(h, letter, slot, row)
		return
	}
	h.constant |= operandBit(letter)
	a.setHole(h.operand(letter), a.consts[slot]+rowSizes[slot]*int64(^row))
}

// setRegister is setPlace for a register. It does nothing for an operand without a row.
func (a *assembler) setRegister(h *holes, letter byte, slot code.Slot, row int32) {
	if row != code.NoRow {
		a.setHole(h.operand(letter), rowSizes[slot]*int64(row))
	}
}

// maxOperandBytes is larger than any operand, in bytes. Stencils add offsets within an operand to its place.
const maxOperandBytes = 4096

// setHole fills a hole with a place. It leaves the instruction to Go if the beginning or the end does not fit a hole.
func (a *assembler) setHole(hole *int64, place int64) {
	if *hole = place; place < 0 || place >= 1<<31-maxOperandBytes {
		a.leaveToGo()
	}
}

// checkOffset leaves the instruction to Go if an access's offset does not fit a stencil's hole.
func (a *assembler) checkOffset(n int64) {
	if n != int64(int32(n)) {
		a.leaveToGo()
	}
}

// putComparison makes code that compares, without writing a predicate. putCombination must follow.
func (a *assembler) putComparison(instr *code.Instr) {
	a.putOrLeave(a.lib.kernels[instr.Op.Signature().Name], a.operandHoles(instr))
}

// combinations has the parts of stencils' names for the boolean operation of setp, which combines the outcome with a predicate.
var combinations = map[uint64]string{alu.BoolNone: "", alu.BoolAnd: "_and", alu.BoolOr: "_or", alu.BoolXor: "_xor"}

// putCombination makes code to combine a comparison's outcome with a predicate and to write the result predicates.
func (a *assembler) putCombination(instr *code.Instr, suffix string) {
	op, known := combinations[instr.Imm&^alu.ComplementC]
	h := a.operandHoles(instr)
	h.n0 = ones(instr.Imm&alu.ComplementC != 0)
	if !known || op != "" && instr.F != code.NoRow && instr.C == instr.D { // the first result overwrites C
		a.leaveToGo()
	}
	if instr.D != code.NoRow {
		a.put("compared"+op+suffix, h)
	}
	if instr.F != code.NoRow {
		h.d = h.f
		a.put("uncompared"+op+suffix, h)
	}
}
