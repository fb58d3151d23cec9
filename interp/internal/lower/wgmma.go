package lower

// This file lowers the multiplications of a warpgroup, which are asynchronous (manual 9.7.15). A multiplication uses its
// registers until a wait completes it, so these registers are also operands of the wait. Thereby they keep their rows until
// then, and analyses of operands include them.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// findProducts reserves an entry in the table of fragments for each multiplication of the function, because in a loop a
// wait that comes first in the code may refer to it.
func (l *lowerer) findProducts() {
	l.products = map[*ptx.Instr]int32{}
	for _, b := range l.fn.Func.Blocks {
		for _, instr := range b.Instrs {
			if instr.IsMultiply() {
				l.products[instr] = int32(len(l.tables.Fragments))
				l.tables.Fragments = append(l.tables.Fragments, code.Fragments{})
				l.fn.Multiply = true
			}
		}
	}
}

func lowerWgmmaFence(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	l.emit(code.Instr{Op: code.WgmmaFence})
}

func lowerWgmmaCommit(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	l.emit(code.Instr{Op: code.WgmmaCommit})
}

func lowerWgmmaWait(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	l.emitCompletion(instr, code.WaitGroups{Last: int(min(instr.Arg("a").Imm.Bits, 1<<30))})
}

// lowerWgmma lowers wgmma.mma_async.
func lowerWgmma(l *lowerer, instr *ptx.Instr) {
	l.wholeWarps(instr)
	side, types := l.products[instr], instr.Types()
	immediate := func(name string) int64 { // the value of the named operand; 0 if it is absent
		if i := instr.Form.Operand(name); i >= 0 && instr.Ops[i].Kind != ptx.NoOperand {
			return int64(instr.Ops[i].Imm.Bits)
		}
		return 0
	}
	m := matrix.NewWgmma(instr.Extent('n'), instr.Extent('k'), types[0], types[1], types[2], instr.Has("sp"), int(immediate("f")))
	m.Saturate = instr.Has("satfinite")
	m.Negate = immediate("g")*immediate("h") < 0
	o := code.Instr{Op: code.WgmmaIssue, Side: side, A: l.constant(code.Q, 0), C: l.constant(code.R, 0)}
	f := code.Fragments{Wgmma: m, D: l.fragmentRegisters(instr, "d"), A: l.fragmentRegisters(instr, "a")}
	f.C = f.D
	if len(f.A) == 0 {
		o.A = l.source(instr.Arg("a"), ptx.B64, code.Q)
		m.SharedA.Transposed, m.SharedB.Transposed = immediate("i") != 0, immediate("j") != 0
	} else {
		m.SharedB.Transposed = immediate("i") != 0
	}
	if m.Sparse != nil {
		o.C = l.source(instr.Arg("e"), ptx.B32, code.R)
	}
	o.B, o.E = l.source(instr.Arg("b"), ptx.B64, code.Q), l.source(instr.Arg("c"), ptx.Pred, code.P)
	l.tables.Fragments[side] = f
	l.emit(o)
}

// fragmentRegisters returns the rows of the named operand, which is a fragment; nil if it is a descriptor.
func (l *lowerer) fragmentRegisters(instr *ptx.Instr, operand string) []code.Elem {
	var elems []code.Elem
	for _, e := range instr.Fragment(operand) {
		switch e.Kind {
		case ptx.RegOperand:
			elems = append(elems, code.Elem{Slot: code.R, Row: l.rows[e.Reg].Row})
		case ptx.ImmOperand:
			elems = append(elems, code.Elem{Slot: code.R, Row: l.constant(code.R, e.Imm.Encode(ptx.B32))})
		default:
			elems = append(elems, code.Elem{Slot: code.NoSlot, Row: code.NoRow})
		}
	}
	return elems
}

// emitCompletion emits a wait for the multiplications that may be pending at the instruction (instr.Pending).
func (l *lowerer) emitCompletion(instr *ptx.Instr, which code.WaitGroups) {
	f := code.Fragments{}
	if p := instr.Pending; p != nil {
		for _, other := range p.Completes {
			f.Pending = append(f.Pending, l.products[other])
		}
		for _, r := range p.Writes {
			f.D = append(f.D, code.Elem{Slot: code.R, Row: l.rows[r].Row})
		}
		for _, r := range p.Reads {
			f.A = append(f.A, code.Elem{Slot: code.R, Row: l.rows[r].Row})
		}
	}
	l.tables.Fragments = append(l.tables.Fragments, f)
	l.emit(code.Instr{Op: code.WgmmaWait, Side: int32(len(l.tables.Fragments) - 1), Imm: which.Imm()})
}

// trapIfPending emits a check before an instruction that may use registers of a pending multiplication: it traps if such a
// multiplication is pending when the instruction executes.
func (l *lowerer) trapIfPending(instr *ptx.Instr) {
	if instr.Pending == nil || len(instr.Pending.Disturbs) == 0 {
		return
	}
	f := code.Fragments{}
	for _, other := range instr.Pending.Disturbs {
		f.Pending = append(f.Pending, l.products[other])
	}
	l.emitFragments(code.WgmmaDisturb, f)
}
