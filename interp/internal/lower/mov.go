package lower

import (
	"gemu/interp/internal/code"
	"gemu/ptx"
)

func lowerMov(l *lowerer, instr *ptx.Instr) {
	d, a := &instr.Ops[0], &instr.Ops[1]
	t := instr.Type()
	switch {
	case d.Kind == ptx.SinkOperand:
	case a.Kind == ptx.VecOperand:
		l.pack(d, a.Elems(), t)
	case d.Kind == ptx.VecOperand:
		l.unpack(d.Elems(), a, t)
	case t == ptx.B128:
		dr := l.rows[d.Reg].Row
		ar := l.rows[a.Reg].Row
		l.emit(code.Instr{Op: code.MovB64, D: dr, A: ar})
		l.emit(code.Instr{Op: code.MovB64, D: l.rows[d.Reg].High, A: l.rows[a.Reg].High})
	default:
		s := code.SlotOf(t)
		dr := l.rows[d.Reg].Row
		switch a.Kind {
		case ptx.SRegOperand:
			l.sreg(a.SReg, s, dr)
		case ptx.SymOperand:
			l.symbol(a.Sym(), a.Offset(), s, dr)
		default:
			l.emit(code.Instr{Op: movOp(s), D: dr, A: l.source(a, t, s)})
		}
	}
}

// pack combines parts into a register; the first part is the lowest.
func (l *lowerer) pack(d *ptx.Operand, parts []ptx.Operand, t ptx.Type) {
	n := t.Bits() / len(parts)
	row := l.target(d, code.SlotOf(t))
	switch {
	case t == ptx.B128 && n == 64:
		for i := range parts {
			l.emit(code.Instr{Op: code.MovB64, D: row + int32(i), A: l.source(&parts[i], ptx.B64, code.Q)})
		}
	case t == ptx.B128: // four parts of 32 bits
		for i := 0; i < 4; i += 2 {
			l.emit(code.Instr{Op: code.PackB64, D: row + int32(i/2), A: l.source(&parts[i], ptx.B32, code.R), B: l.source(&parts[i+1], ptx.B32, code.R)})
		}
	case t == ptx.B64 && n == 32:
		l.emit(code.Instr{Op: code.PackB64, D: row, A: l.source(&parts[0], ptx.B32, code.R), B: l.source(&parts[1], ptx.B32, code.R)})
	case t == ptx.B32 && n == 16:
		l.emit(code.Instr{Op: code.PackB32, D: row, A: l.source(&parts[0], ptx.B16, code.R), B: l.source(&parts[1], ptx.B16, code.R)})
	default:
		op := bySlot(code.SlotOf(t), code.InsertB32, code.InsertB64)
		acc := l.constant(code.SlotOf(t), 0)
		for i := range parts {
			l.emit(code.Instr{Op: op, D: row, A: acc, B: l.source(&parts[i], bitsType(n), code.R), Imm: uint64(i * n)})
			acc = row
		}
	}
}

func bitsType(n int) ptx.Type {
	switch n {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	}
	return ptx.B64
}

// unpack splits a register into parts.
func (l *lowerer) unpack(parts []ptx.Operand, a *ptx.Operand, t ptx.Type) {
	n := t.Bits() / len(parts)
	s := code.SlotOf(t)
	row := l.source(a, t, s)
	for i := range parts {
		if parts[i].Kind != ptx.RegOperand {
			continue
		}
		d := l.rows[parts[i].Reg].Row
		at := i * n
		switch {
		case t == ptx.B128 && n == 64:
			l.emit(code.Instr{Op: code.MovB64, D: d, A: row + int32(i)})
		case s == code.Q:
			l.emit(code.Instr{Op: code.ExtractB64, D: d, A: row + int32(at/64), Imm: uint64(at%64 | n<<8)})
		default:
			l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(at | n<<8)})
		}
	}
}
