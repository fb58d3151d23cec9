package lower

import (
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// lowerMov lowers mov, including moves that pack or unpack a vector.
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
		to, from := l.rows[d.Reg], l.rows[a.Reg]
		l.emit(code.Instr{Op: code.MovB64, D: to.Row, A: from.Row})
		l.emit(code.Instr{Op: code.MovB64, D: to.High, A: from.High})
	default:
		s := code.SlotOf(t)
		row := l.rows[d.Reg].Row
		switch a.Kind {
		case ptx.SRegOperand:
			l.sreg(a.SReg, s, row)
		case ptx.SymOperand:
			l.symbol(a.Sym(), a.Offset(), s, row)
		default:
			l.emit(code.Instr{Op: movOp(s), D: row, A: l.source(a, t, s)})
		}
	}
}

// pack combines parts of equal size into a register of type t. The first part becomes the lowest bits.
func (l *lowerer) pack(d *ptx.Operand, parts []ptx.Operand, t ptx.Type) {
	width := t.Bits() / len(parts)
	row := l.target(d, code.SlotOf(t))
	switch {
	case t == ptx.B128 && width == 64:
		for i := range parts {
			l.emit(code.Instr{Op: code.MovB64, D: row + int32(i), A: l.source(&parts[i], ptx.B64, code.Q)})
		}
	case t == ptx.B128: // four parts of 32 bits
		for i := 0; i < 4; i += 2 {
			l.emit(code.Instr{Op: code.PackB64, D: row + int32(i/2), A: l.source(&parts[i], ptx.B32, code.R), B: l.source(&parts[i+1], ptx.B32, code.R)})
		}
	case t == ptx.B64 && width == 32:
		l.emit(code.Instr{Op: code.PackB64, D: row, A: l.source(&parts[0], ptx.B32, code.R), B: l.source(&parts[1], ptx.B32, code.R)})
	case t == ptx.B32 && width == 16:
		l.emit(code.Instr{Op: code.PackB32, D: row, A: l.source(&parts[0], ptx.B16, code.R), B: l.source(&parts[1], ptx.B16, code.R)})
	default:
		op := bySlot(code.SlotOf(t), code.InsertB32, code.InsertB64)
		packed := l.constant(code.SlotOf(t), 0)
		for i := range parts {
			l.emit(code.Instr{Op: op, D: row, A: packed, B: l.source(&parts[i], bitsType(width), code.R), Imm: uint64(i * width)})
			packed = row
		}
	}
}

// bitsType returns the untyped-bits type with a width in bits.
func bitsType(width int) ptx.Type {
	switch width {
	case 8:
		return ptx.B8
	case 16:
		return ptx.B16
	case 32:
		return ptx.B32
	}
	return ptx.B64
}

// unpack splits a register of type t into parts of equal size. The first part gets the lowest bits.
func (l *lowerer) unpack(parts []ptx.Operand, a *ptx.Operand, t ptx.Type) {
	width := t.Bits() / len(parts)
	s := code.SlotOf(t)
	row := l.source(a, t, s)
	for i := range parts {
		if parts[i].Kind != ptx.RegOperand {
			continue
		}
		d := l.rows[parts[i].Reg].Row
		bit := i * width
		switch {
		case t == ptx.B128 && width == 64:
			l.emit(code.Instr{Op: code.MovB64, D: d, A: row + int32(i)})
		case s == code.Q:
			l.emit(code.Instr{Op: code.ExtractB64, D: d, A: row + int32(bit/64), Imm: uint64(bit%64 | width<<8)})
		default:
			l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(bit | width<<8)})
		}
	}
}
