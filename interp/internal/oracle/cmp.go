package oracle

// This file executes comparison and selection (manual 9.7.6).

import (
	"fmt"

	"gemu/ptx"
)

// compareBits is the comparison of the current instruction (9.3.1) on the bits a
// and b of type typ. Operands in which one is NaN are unordered: eq to ge are
// false for them, equ to geu true.
func (t *thread) compareBits(typ ptx.Type, a, b uint64) bool {
	op := t.in.Slot("cmp")
	if !typ.IsFloat() {
		c := integer(a, typ.Bits(), typ.IsSigned()).Cmp(integer(b, typ.Bits(), typ.IsSigned()))
		return holds(op, c)
	}
	f := formatOf(typ)
	if t.has("ftz") {
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
	return holds(op[:2], order(f.decode(a), f.decode(b)))
}

// holds reports whether c, the order of two values, satisfies the comparison.
func holds(op string, c int) bool {
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

// boolOp combines the comparison with predicate c, if the instruction has one.
func (t *thread) boolOp(p bool) bool {
	switch t.in.Slot("bool") {
	case "and":
		return p && t.pred("c")
	case "or":
		return p || t.pred("c")
	case "xor":
		return p != t.pred("c")
	}
	return p
}

// test compares a and b.
func (t *thread) test() bool {
	_, typ := t.operand("a")
	return t.compareBits(typ, t.arg("a"), t.arg("b"))
}

// set (9.7.6.1): all ones, or 1.0, if the comparison holds.
func set(t *thread) {
	d := uint64(0)
	if t.boolOp(t.test()) {
		if d = ^uint64(0); t.in.SlotType("dtype").IsFloat() {
			d = single.one()
		}
	}
	t.put("d", d)
}

// setp (9.7.6.2): p = BoolOp(a cmp b, c), q = BoolOp(!(a cmp b), c).
func setp(t *thread) {
	holds := t.test()
	p, q := t.boolOp(holds), t.boolOp(!holds)
	t.putPred("p", p)
	t.putPred("q", q)
}

// selp (9.7.6.3): d = c ? a : b.
func selp(t *thread) {
	if t.pred("c") {
		t.put("d", t.arg("a"))
	} else {
		t.put("d", t.arg("b"))
	}
}

// slct (9.7.6.4): d = c >= 0 ? a : b. A NaN is not >= 0, -0 is.
func slct(t *thread) {
	_, typ := t.operand("c")
	c := t.arg("c")
	nonNegative := c>>31 == 0
	if typ.IsFloat() {
		if t.has("ftz") {
			c = single.flush(c)
		}
		nonNegative = !single.isNaN(c) && order(single.decode(c), number{}) >= 0
	}
	if nonNegative {
		t.put("d", t.arg("a"))
	} else {
		t.put("d", t.arg("b"))
	}
}
