package lower

// This file lowers the multiplications of a warpgroup, which go on behind the next instruction
// (manual 9.7.15). The registers that they read and write up to the wait are operands of that
// too: so they keep their rows, and whoever looks at what instructions name sees them.

import (
	"gemu/interp/internal/code"
	"gemu/interp/internal/matrix"
	"gemu/ptx"
)

// findProducts gives each multiplication of the function its fragments, which a wait before it
// may name.
func (l *lowerer) findProducts() {
	l.products = map[*ptx.Instr]int32{}
	for _, b := range l.fn.Func.Blocks {
		for _, in := range b.Instrs {
			if in.IsMultiply() {
				l.products[in] = int32(len(l.tables.Fragments))
				l.tables.Fragments = append(l.tables.Fragments, code.Fragments{})
				l.fn.Multiply = true
			}
		}
	}
}

func lowerWgmmaFence(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	l.emit(code.Instr{Op: code.WgmmaFence})
}

func lowerWgmmaCommit(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	l.emit(code.Instr{Op: code.WgmmaCommit})
}

func lowerWgmmaWait(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	l.completes(in, code.Awaited{Last: int(min(in.Arg("a").Imm.Bits, 1<<30))})
}

// lowerWgmma lowers wgmma.mma_async.
func lowerWgmma(l *lowerer, in *ptx.Instr) {
	l.wholeWarps(in)
	side, types := l.products[in], in.Types()
	flag := func(name string) int64 {
		if i := in.Form.Operand(name); i >= 0 && in.Ops[i].Kind != ptx.NoOperand {
			return int64(in.Ops[i].Imm.Bits)
		}
		return 0
	}
	m := matrix.NewWgmma(in.Extent('n'), in.Extent('k'), types[0], types[1], types[2], in.Has("sp"), int(flag("f")))
	m.Saturate = in.Has("satfinite")
	m.Negate = flag("g")*flag("h") < 0
	o := code.Instr{Op: code.WgmmaIssue, Side: side, A: l.konst(code.Q, 0), C: l.konst(code.R, 0)}
	f := code.Fragments{Wgmma: m, D: l.held(in, "d"), A: l.held(in, "a")}
	f.C = f.D
	if len(f.A) == 0 {
		o.A = l.source(in.Arg("a"), ptx.B64, code.Q)
		m.From.Across, m.To.Across = flag("i") != 0, flag("j") != 0
	} else {
		m.To.Across = flag("i") != 0
	}
	if m.Sparse != nil {
		o.C = l.source(in.Arg("e"), ptx.B32, code.R)
	}
	o.B, o.E = l.source(in.Arg("b"), ptx.B64, code.Q), l.source(in.Arg("c"), ptx.Pred, code.P)
	l.tables.Fragments[side] = f
	l.emit(o)
}

// held is the registers of a fragment; none of an operand that is a descriptor.
func (l *lowerer) held(in *ptx.Instr, operand string) []code.Elem {
	var elems []code.Elem
	for _, e := range in.Fragment(operand) {
		switch e.Kind {
		case ptx.RegOperand:
			elems = append(elems, code.Elem{Slot: code.R, Row: l.rows[e.Reg].Row})
		case ptx.ImmOperand:
			elems = append(elems, code.Elem{Slot: code.R, Row: l.konst(code.R, e.Imm.As(ptx.B32))})
		default:
			elems = append(elems, code.Elem{Slot: code.NoSlot, Row: code.NoRow})
		}
	}
	return elems
}

// completes emits what completes multiplications that may be pending at an instruction.
func (l *lowerer) completes(in *ptx.Instr, which code.Awaited) {
	f := code.Fragments{}
	if p := in.Pending; p != nil {
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

// disturbs emits what traps if an instruction comes to registers of a multiplication that is
// pending.
func (l *lowerer) disturbs(in *ptx.Instr) {
	if in.Pending == nil || len(in.Pending.Disturbs) == 0 {
		return
	}
	f := code.Fragments{}
	for _, other := range in.Pending.Disturbs {
		f.Pending = append(f.Pending, l.products[other])
	}
	l.tables.Fragments = append(l.tables.Fragments, f)
	l.emit(code.Instr{Op: code.WgmmaDisturb, Side: int32(len(l.tables.Fragments) - 1)})
}
