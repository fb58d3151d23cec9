package lower

import (
	"slices"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
)

// lowerSetp lowers setp. Its results p and q are a comparison and its complement or, for packed operands, the comparisons
// of the low and of the high halves.
func lowerSetp(l *lowerer, instr *ptx.Instr) {
	a, t := l.comparands(instr, instr.Arg("a"), instr.Type())
	b, _ := l.comparands(instr, instr.Arg("b"), instr.Type())
	p, q := l.predicate(instr.Arg("p")), int32(code.NoRow)
	if instr.Form.Operand("q") >= 0 {
		q = l.predicate(instr.Arg("q"))
	}
	if len(a) == 1 {
		l.compare(instr, t, p, q, a[0], b[0])
		return
	}
	results := []code.Instr{{Op: code.MovPred, D: p}, {Op: code.MovPred, D: q}}
	for i := range results {
		results[i].A = l.newTemp(code.P)
		l.compare(instr, t, results[i].A, code.NoRow, a[i], b[i])
	}
	// Write the instruction's own guard last.
	if g := instr.Guard.Reg; g != ptx.NoReg && p == l.rows[g].Row {
		slices.Reverse(results)
	}
	for _, o := range results {
		if o.D != code.NoRow {
			l.emit(o)
		}
	}
}

// lowerSet lowers set. Its result is 0 in lanes where the comparison fails. Elsewhere it is 1.0 for a float type, and all
// bits set for an integer type. Packed halves are compared separately.
func lowerSet(l *lowerer, instr *ptx.Instr) {
	if !instr.Form.HasSlot("dtype") {
		l.setPacked(instr)
		return
	}
	dt, st := instr.SlotType("dtype"), instr.SlotType("stype")
	a, t := l.comparands(instr, instr.Arg("a"), st)
	b, _ := l.comparands(instr, instr.Arg("b"), st)
	p := l.newTemp(code.P)
	d := l.target(instr.Arg("d"), code.R)
	if len(a) == 2 {
		parts := [2]int32{l.newTemp(code.R), l.newTemp(code.R)}
		for i, part := range parts {
			l.compare(instr, t, p, code.NoRow, a[i], b[i])
			l.emit(code.Instr{Op: code.SelpB32, D: part, A: l.constant(code.R, setTrue(dt)&0xffff), B: l.constant(code.R, 0), C: p})
		}
		l.emit(code.Instr{Op: code.PackB32, D: d, A: parts[0], B: parts[1]})
		return
	}
	l.compare(instr, t, p, code.NoRow, a[0], b[0])
	switch dt {
	case ptx.U32, ptx.S32:
		l.emit(code.Instr{Op: code.MaskU32, D: d, A: p})
	case ptx.F32:
		l.emit(code.Instr{Op: code.MaskF32, D: d, A: p})
	default:
		l.emit(code.Instr{Op: code.SelpB32, D: d, A: l.constant(code.R, setTrue(dt)), B: l.constant(code.R, 0), C: p})
	}
}

// boolOps maps the boolean operators of setp and set to operators in Imm.
var boolOps = map[string]uint64{"": alu.BoolNone, "and": alu.BoolAnd, "or": alu.BoolOr, "xor": alu.BoolXor}

// compare emits the comparison of rows a and b, of type t, into predicates p and q, combined with the instruction's
// operand c.
func (l *lowerer) compare(instr *ptx.Instr, t ptx.Type, p, q, a, b int32) {
	o := code.Instr{Op: code.OpNamed("cmp." + instr.Slot("cmp") + t.String()), D: p, F: q, A: a, B: b, Imm: lookUp(boolOps, instr.Slot("bool"))}
	o.C = l.constant(code.P, 0) // if there is no operand c; BoolNone ignores it
	if c := instr.Arg("c"); c.Kind != ptx.NoOperand {
		plain := *c
		plain.Neg = false
		o.C = l.source(&plain, ptx.Pred, code.P)
		if c.Neg {
			o.Imm |= alu.ComplementC
		}
	}
	l.emit(o)
}

// comparands returns rows with the numbers of a source operand of type t, the low half first, and the type as which to
// compare them. Numbers of 16 bits are widened to f32, in which comparisons have the same results.
func (l *lowerer) comparands(instr *ptx.Instr, o *ptx.Operand, t ptx.Type) (rows []int32, as ptx.Type) {
	row := l.source(o, t, code.SlotOf(t))
	ftz := instr.Has("ftz")
	widen := func(op code.Op, row int32) int32 {
		d := l.newTemp(code.R)
		if ftz && op == code.CvtF32F16 {
			flushed := l.newTemp(code.R)
			l.emit(code.Instr{Op: code.FtzF16, D: flushed, A: row})
			row = flushed
		}
		l.emit(code.Instr{Op: op, D: d, A: row})
		return d
	}
	half := func(i int) int32 {
		d := l.newTemp(code.R)
		l.emit(code.Instr{Op: code.ExtractB32, D: d, A: row, Imm: uint64(16*i | 16<<8)})
		return d
	}
	switch t {
	case ptx.F16:
		return []int32{widen(code.CvtF32F16, row)}, ptx.F32
	case ptx.BF16:
		return []int32{widen(code.CvtF32Bf16, row)}, ptx.F32
	case ptx.F16x2:
		return []int32{widen(code.CvtF32F16, half(0)), widen(code.CvtF32F16, half(1))}, ptx.F32
	case ptx.BF16x2:
		return []int32{widen(code.CvtF32Bf16, half(0)), widen(code.CvtF32Bf16, half(1))}, ptx.F32
	}
	if ftz {
		row = l.flushed(row)
	}
	return []int32{row}, t
}

// flushed returns a row with the f32 numbers of a row, in which subnormal numbers are replaced by zero.
func (l *lowerer) flushed(row int32) int32 {
	t := l.newTemp(code.R)
	l.emit(code.Instr{Op: code.FtzF32, D: t, A: row})
	return t
}

// packedComparisons maps the comparison operators of set to operators on packed integers, in Imm.
var packedComparisons = map[string]uint64{
	"eq": alu.PackedEq, "ne": alu.PackedNe, "lt": alu.PackedLt, "lo": alu.PackedLt, "le": alu.PackedLe, "ls": alu.PackedLe,
	"gt": alu.PackedGt, "hi": alu.PackedGt, "ge": alu.PackedGe, "hs": alu.PackedGe,
}

// setPacked lowers set on packed integers. Bits 0 to 7 of Imm are the width of an integer, bit 8 is set for signed
// integers, and the bits from 16 on are the comparison.
func (l *lowerer) setPacked(instr *ptx.Instr) {
	elem, count := instr.Type().Elements()
	imm := lookUp(packedComparisons, instr.Slot("cmp")) | uint64(instr.Type().Bits()/count)
	if elem.IsSigned() {
		imm |= 1 << 8
	}
	l.emit(code.Instr{Op: code.SetPacked, D: l.target(instr.Arg("d"), code.R), A: l.source(instr.Arg("a"), ptx.B32, code.R), B: l.source(instr.Arg("b"), ptx.B32, code.R), Imm: imm})
}

// setTrue returns the result of type t of a set whose comparison holds.
func setTrue(t ptx.Type) uint64 {
	switch t {
	case ptx.F16, ptx.F16x2:
		return 0x3c00
	case ptx.BF16, ptx.BF16x2:
		return 0x3f80
	}
	return 1<<t.Bits() - 1
}
