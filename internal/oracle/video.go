package oracle

// This file executes video instructions (manual 9.7.18), by the steps of the manual's pseudo-code.

import (
	"math/big"
	"strings"

	"gemu/ptx"
)

// videoSource reads a source of a scalar instruction (partSelectSignExtend): a register, or its selected byte or half.
func (t *thread) videoSource(name string) *big.Int {
	o, typ := t.operand(name)
	v, bits := t.read(o, typ).lo, 32
	if sel := o.Sel(); sel != "" {
		if bits = 8; sel[0] == 'h' {
			bits = 16
		}
		v >>= bits * int(sel[1]-'0')
	}
	return integer(v, bits, typ.IsSigned())
}

// negatedSource is videoSource, negated if the operand is negated.
func (t *thread) negatedSource(name string) *big.Int {
	x := t.videoSource(name)
	if o, _ := t.operand(name); o.Neg {
		x.Neg(x)
	}
	return x
}

// videoOp is the operation of vop, vset and their SIMD relatives on two elements.
func (t *thread) videoOp(a, b *big.Int) *big.Int {
	sum := new(big.Int).Add(a, b)
	diff := new(big.Int).Sub(a, b)
	holds := map[string]bool{
		"eq": diff.Sign() == 0, "ne": diff.Sign() != 0, "lt": diff.Sign() < 0,
		"le": diff.Sign() <= 0, "gt": diff.Sign() > 0, "ge": diff.Sign() >= 0,
	}
	switch name := strings.TrimRight(t.instr.Op.Name, "24"); name {
	case "vadd":
		return sum
	case "vsub":
		return diff
	case "vabsdiff":
		return diff.Abs(diff)
	case "vmin":
		if diff.Sign() < 0 {
			return a
		}
		return b
	case "vmax":
		if diff.Sign() > 0 {
			return a
		}
		return b
	case "vavrg":
		if sum.Sign() >= 0 {
			sum.Add(sum, big.NewInt(1))
		}
		return sum.Rsh(sum, 1) // rounds down
	case "vset":
		return new(big.Int).SetUint64(bit(holds[t.instr.Slot("cmp")]))
	}
	panic("BUG: no video operation " + t.instr.Op.Name)
}

// cut returns the n-bit signed integer in the low bits of x.
func cut(x *big.Int, n int) *big.Int { return integer(wrap(x, n), n, true) }

// video executes scalar operations (9.7.18.1.1, 9.7.18.1.4).
func video(t *thread) {
	t.finishVideo(t.videoOp(t.negatedSource("a"), t.negatedSource("b")))
}

// videoShift executes vshl and vshr (9.7.18.1.2).
func videoShift(t *thread) {
	a, b := t.videoSource("a"), t.videoSource("b").Uint64()
	if t.hasModifier("wrap") {
		b &= 0x1f
	} else if b > 32 {
		b = 32
	}
	if t.instr.Op.Name == "vshl" {
		a.Lsh(a, uint(b))
	} else {
		a.Rsh(a, uint(b))
	}
	t.finishVideo(a)
}

// finishVideo executes optSaturate, optSecOp and optMerge. The intermediate result has 34 bits, and 33 from the second
// step on.
func (t *thread) finishVideo(tmp *big.Int) {
	tmp = cut(tmp, 34)
	o, typ := t.operand("d")
	sel := o.Sel()
	bits := 32
	switch {
	case sel == "":
	case sel[0] == 'h':
		bits = 16
	default:
		bits = 8
	}
	if t.hasModifier("sat") {
		tmp = clamp(tmp, bits, typ.IsSigned())
	}
	tmp = cut(tmp, 33)
	c := new(big.Int)
	if t.hasOperand("c") {
		c = t.intOperand("c")
	}
	switch t.instr.Slot("op2") {
	case "add":
		tmp.Add(tmp, c)
	case "min":
		if c.Cmp(tmp) < 0 {
			tmp = c
		}
	case "max":
		if c.Cmp(tmp) > 0 {
			tmp = c
		}
	}
	if sel != "" {
		shift := uint(bits) * uint(sel[1]-'0')
		low := new(big.Int).And(tmp, mask(bits))
		hole := new(big.Int).Lsh(mask(bits), shift)
		tmp = new(big.Int).AndNot(c, hole)
		tmp.Or(tmp, low.Lsh(low, shift))
	}
	t.setInt("d", tmp)
}

// vmad (9.7.18.1.3): d = (a * b) + c, the product or c negated, scaled.
func vmad(t *thread) {
	_, atype := t.operand("a")
	_, btype := t.operand("b")
	c, _ := t.operand("c")
	a, b := t.isNegated("a"), t.isNegated("b")
	signed := atype.IsSigned() || btype.IsSigned() || a != b || c.Neg
	tmp := new(big.Int).Mul(t.videoSource("a"), t.videoSource("b"))
	v, lsb := t.read(c, ptx.B32).lo, int64(0)
	switch {
	case t.hasModifier("po"):
		lsb = 1
	case a != b:
		tmp.Not(tmp)
		lsb = 1
	case c.Neg:
		v = ^v
		lsb = 1
	}
	tmp.Add(tmp, integer(v, 32, signed))
	tmp.Add(tmp, big.NewInt(lsb))
	switch t.instr.Slot("scale") {
	case "shr7":
		tmp.Rsh(tmp, 7)
	case "shr15":
		tmp.Rsh(tmp, 15)
	}
	if t.hasModifier("sat") {
		tmp = clamp(tmp, 32, signed)
	}
	t.setInt("d", tmp)
}

func (t *thread) isNegated(name string) bool {
	o, _ := t.operand(name)
	return o.Neg
}

// videoVector executes SIMD operations (9.7.18.2).
func videoVector(t *thread) {
	lanes := t.instr.VideoLanes()
	n := 32 / lanes
	a, b, c := t.operandValue("a"), t.operandValue("b"), t.operandValue("c")
	// extract returns lane i's element of a and b. A selector of the operand changes the source: its last digit stands
	// for lane 0.
	extract := func(name string, i int) *big.Int {
		o, typ := t.operand(name)
		k := i
		if name == "b" {
			k += lanes
		}
		if sel := o.Sel(); sel != "" {
			digits := sel[1:]
			k = int(digits[len(digits)-1-i] - '0')
		}
		from := a
		if k >= lanes {
			from, k = b, k-lanes
		}
		return integer(from>>(k*n), n, typ.IsSigned())
	}
	o, typ := t.operand("d")
	wanted := func(i int) bool { return o.Sel() == "" || strings.Contains(o.Sel(), string(rune('0'+i))) }
	d := new(big.Int)
	if t.hasModifier("add") {
		d = t.intOperand("c")
	}
	for i := range lanes {
		r := t.videoOp(extract("a", i), extract("b", i))
		if t.hasModifier("sat") {
			r = clamp(r, n, typ.IsSigned())
		}
		switch {
		case t.hasModifier("add") && wanted(i):
			d.Add(d, r)
		case t.hasModifier("add"):
		default:
			if !wanted(i) {
				r = integer(c>>(i*n), n, false)
			}
			r = new(big.Int).And(r, mask(n))
			d.Or(d, r.Lsh(r, uint(i*n)))
		}
	}
	t.setInt("d", d)
}
