package oracle

// This file executes logic and shift instructions (manual 9.7.8).

// and (9.7.8.1): d = a & b.
func and(t *thread) { t.setOperand("d", t.operandValue("a")&t.operandValue("b")) }

// or (9.7.8.2): d = a | b.
func or(t *thread) { t.setOperand("d", t.operandValue("a")|t.operandValue("b")) }

// xor (9.7.8.3): d = a ^ b.
func xor(t *thread) { t.setOperand("d", t.operandValue("a")^t.operandValue("b")) }

// not (9.7.8.4): d = ~a.
func not(t *thread) { t.setOperand("d", ^t.operandValue("a")) }

// cnot (9.7.8.5): d = a == 0.
func cnot(t *thread) { t.setOperand("d", bit(t.operandValue("a") == 0)) }

// lop3 (9.7.8.6): bit by bit, the entry of the table e that a, b and c select.
func lop3(t *thread) {
	a, b, c, lut := t.operandValue("a"), t.operandValue("b"), t.operandValue("c"), t.operandValue("e")
	d := uint64(0)
	for i := range 32 {
		entry := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
		d |= lut >> entry & 1 << i
	}
	if t.hasOperand("p") {
		q := t.predOperand("f")
		if t.hasModifier("or") {
			t.setPred("p", d != 0 || q)
		} else {
			t.setPred("p", d != 0 && q)
		}
	}
	t.setOperand("d", d)
}

// shf (9.7.8.7): the upper half of b:a after a left shift, or the lower half after a right shift.
func shf(t *thread) {
	ba := t.operandValue("b")<<32 | t.operandValue("a")
	n := t.operandValue("c")
	if t.hasModifier("clamp") {
		n = min(n, 32)
	} else {
		n &= 0x1f
	}
	if t.hasModifier("l") {
		t.setOperand("d", ba<<n>>32)
	} else {
		t.setOperand("d", ba>>n)
	}
}

// shl (9.7.8.8): d = a << b. A larger amount than the width counts as the width.
func shl(t *thread) {
	n := uint64(t.instr.Type().Bits())
	t.setOperand("d", t.operandValue("a")<<min(t.operandValue("b"), n))
}

// shr (9.7.8.9): d = a >> b, filled with the sign if signed.
func shr(t *thread) {
	n := uint64(t.instr.Type().Bits())
	a := t.intOperand("a")
	t.setInt("d", a.Rsh(a, uint(min(t.operandValue("b"), n))))
}
