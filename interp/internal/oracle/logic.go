package oracle

// This file executes logic and shift instructions (manual 9.7.8).

// and (9.7.8.1): d = a & b.
func and(t *thread) { t.put("d", t.arg("a")&t.arg("b")) }

// or (9.7.8.2): d = a | b.
func or(t *thread) { t.put("d", t.arg("a")|t.arg("b")) }

// xor (9.7.8.3): d = a ^ b.
func xor(t *thread) { t.put("d", t.arg("a")^t.arg("b")) }

// not (9.7.8.4): d = ~a.
func not(t *thread) { t.put("d", ^t.arg("a")) }

// cnot (9.7.8.5): d = a == 0.
func cnot(t *thread) { t.put("d", bit(t.arg("a") == 0)) }

// lop3 (9.7.8.6): bit by bit, the entry of the table e that a, b and c select.
func lop3(t *thread) {
	a, b, c, lut := t.arg("a"), t.arg("b"), t.arg("c"), t.arg("e")
	d := uint64(0)
	for i := range 32 {
		entry := a>>i&1<<2 | b>>i&1<<1 | c>>i&1
		d |= lut >> entry & 1 << i
	}
	if t.given("p") {
		q := t.pred("f")
		if t.has("or") {
			t.putPred("p", d != 0 || q)
		} else {
			t.putPred("p", d != 0 && q)
		}
	}
	t.put("d", d)
}

// shf (9.7.8.7): the upper half of b:a shifted left, or the lower half of it
// shifted right.
func shf(t *thread) {
	ba := t.arg("b")<<32 | t.arg("a")
	n := t.arg("c")
	if t.has("clamp") {
		n = min(n, 32)
	} else {
		n &= 0x1f
	}
	if t.has("l") {
		t.put("d", ba<<n>>32)
	} else {
		t.put("d", ba>>n)
	}
}

// shl (9.7.8.8): d = a << b. Amounts beyond the width count as the width.
func shl(t *thread) {
	n := uint64(t.in.Type().Bits())
	t.put("d", t.arg("a")<<min(t.arg("b"), n))
}

// shr (9.7.8.9): d = a >> b, filled with the sign if signed.
func shr(t *thread) {
	n := uint64(t.in.Type().Bits())
	a := t.int("a")
	t.putInt("d", a.Rsh(a, uint(min(t.arg("b"), n))))
}
