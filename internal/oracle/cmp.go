package oracle

// This file executes comparison and selection (manual 9.7.6).

import (
	"fmt"

	"gemu/ptx"
)

// compareBits applies the comparison of the current instruction (9.3.1) to the bits a and b of type typ. Operands are
// unordered if either is NaN: then eq to ge are false, equ to geu true.
func (t *thread) compareBits(typ ptx.Type, a, b uint64) bool {
	op := t.instr.Slot("cmp")
	if !typ.IsFloat() {
		c := integer(a, typ.Bits(), typ.IsSigned()).Cmp(integer(b, typ.Bits(), typ.IsSigned()))
		return compareHolds(op, c)
	}
	f := formatOf(typ)
	if t.hasModifier("ftz") {
		a, b = f.flush(a), f.flush(b)
	}
	unordered := f.isNaN(a) || f.isNaN(b)
	switch op {
	case "num":
		return !unordered
	case "nan":
		return unordered
	}
	if unordered {
		return len(op) == 3 // equ neu ltu leu gtu geu
	}
	return compareHolds(op[:2], order(f.decode(a), f.decode(b)))
}

// compareHolds reports whether c, the order of two values, satisfies the comparison.
func compareHolds(op string, c int) bool {
	switch op {
	case "eq":
		return c == 0
	case "ne":
		return c != 0
	case "lt", "lo":
		return c < 0
	case "le", "ls":
		return c <= 0
	case "gt", "hi":
		return c > 0
	case "ge", "hs":
		return c >= 0
	}
	panic(fmt.Sprintf("BUG: comparison %s", op))
}

// boolOp combines the comparison with predicate c, if the instruction has it.
func (t *thread) boolOp(p bool) bool {
	switch t.instr.Slot("bool") {
	case "and":
		return p && t.predOperand("c")
	case "or":
		return p || t.predOperand("c")
	case "xor":
		return p != t.predOperand("c")
	}
	return p
}

// comparisons compares a and b; for packed types the low halves, then the high halves.
func (t *thread) comparisons() []bool {
	typ := t.instr.SlotType("stype")
	if typ == ptx.NoType {
		typ = t.instr.Type()
	}
	a, b := t.operandValue("a"), t.operandValue("b")
	var elemType ptx.Type
	switch typ {
	case ptx.F16x2:
		elemType = ptx.F16
	case ptx.BF16x2:
		elemType = ptx.BF16
	default:
		return []bool{t.compareBits(typ, a, b)}
	}
	return []bool{t.compareBits(elemType, low(a, 16), low(b, 16)), t.compareBits(elemType, a>>16, b>>16)}
}

// set (9.7.6.1, 9.7.7.1): all bits set, or 1.0, if the comparison is true; in each half of d, if halves are compared.
func set(t *thread) {
	if !t.instr.Form.HasSlot("dtype") {
		setPacked(t)
		return
	}
	dtype := t.instr.SlotType("dtype")
	tests := t.comparisons()
	width := dtype.Bits() / len(tests)
	d := uint64(0)
	for i, holds := range tests {
		if !t.boolOp(holds) {
			continue
		}
		yes := uint64(1)<<width - 1
		switch {
		case dtype == ptx.F16x2 || dtype == ptx.BF16x2:
			f, _ := packing(dtype)
			yes = f.one()
		case dtype.IsFloat():
			yes = formatOf(dtype).one()
		}
		d |= yes << (i * width)
	}
	t.setOperand("d", d)
}

// setp (9.7.6.2): p = BoolOp(a cmp b, c), q = BoolOp(!(a cmp b), c). For packed types (9.7.7.2) q is the result of the
// high halves.
func setp(t *thread) {
	tests := t.comparisons()
	p, q := t.boolOp(tests[0]), t.boolOp(!tests[0])
	if len(tests) > 1 {
		q = t.boolOp(tests[1])
	}
	t.setPred("p", p)
	if t.instr.Form.Operand("q") >= 0 {
		t.setPred("q", q)
	}
}

// selp (9.7.6.3): d = c ? a : b.
func selp(t *thread) {
	if t.predOperand("c") {
		t.setOperand("d", t.operandValue("a"))
	} else {
		t.setOperand("d", t.operandValue("b"))
	}
}

// slct (9.7.6.4): d = c >= 0 ? a : b. -0 counts as >= 0, NaN does not.
func slct(t *thread) {
	_, typ := t.operand("c")
	c := t.operandValue("c")
	nonNegative := c>>31 == 0
	if typ.IsFloat() {
		if t.hasModifier("ftz") {
			c = single.flush(c)
		}
		nonNegative = !single.isNaN(c) && order(single.decode(c), number{}) >= 0
	}
	if nonNegative {
		t.setOperand("d", t.operandValue("a"))
	} else {
		t.setOperand("d", t.operandValue("b"))
	}
}
