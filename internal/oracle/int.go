package oracle

// This file executes integer arithmetic (manual 9.7.1) and extended-precision arithmetic (9.7.2). Integers are computed
// exactly and cut to their width when written.

import (
	"math/big"

	"gemu/ptx"
)

// integer returns the value of the n-bit integer v.
func integer(v uint64, n int, signed bool) *big.Int {
	v = low(v, n)
	if signed {
		return big.NewInt(int64(signExtend(v, n)))
	}
	return new(big.Int).SetUint64(v)
}

// wrap cuts x to n bits, two's complement.
func wrap(x *big.Int, n int) uint64 {
	return new(big.Int).And(x, mask(n)).Uint64()
}

func mask(n int) *big.Int {
	m := new(big.Int).Lsh(big.NewInt(1), uint(n))
	return m.Sub(m, big.NewInt(1))
}

// clamp limits x to the range of n bits.
func clamp(x *big.Int, n int, signed bool) *big.Int {
	lo, hi := new(big.Int), mask(n)
	if signed {
		hi = mask(n - 1)
		lo.Not(hi)
	}
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// intOperand reads an operand as an integer of its type.
func (t *thread) intOperand(name string) *big.Int {
	o, typ := t.operand(name)
	return integer(t.read(o, typ).lo, typ.Bits(), typ.IsSigned())
}

// setInt writes the low bits of an integer result.
func (t *thread) setInt(name string, x *big.Int) {
	_, typ := t.operand(name)
	t.setOperand(name, wrap(x, typ.Bits()))
}

// setSaturated writes an integer result, clamped if the instruction has .sat.
func (t *thread) setSaturated(name string, x *big.Int) {
	if t.hasModifier("sat") {
		_, typ := t.operand(name)
		x = clamp(x, typ.Bits(), typ.IsSigned())
	}
	t.setInt(name, x)
}

// applyToElements applies op to each integer in operands of packed types, .u8x4 or .s16x2.
func (t *thread) applyToElements(op func(a, b *big.Int) *big.Int) {
	elem, count := t.instr.Type().Elements()
	n, signed := elem.Bits(), elem.IsSigned()
	a, b := t.operandValue("a"), uint64(0)
	if t.hasOperand("b") {
		b = t.operandValue("b")
	}
	d := uint64(0)
	for i := range count {
		x := op(integer(a>>(i*n), n, signed), integer(b>>(i*n), n, signed))
		if t.hasModifier("sat") {
			x = clamp(x, n, signed)
		}
		d |= wrap(x, n) << (i * n)
	}
	t.setOperand("d", d)
}

func (t *thread) isPacked() bool {
	_, count := t.instr.Type().Elements()
	return count > 1
}

// add (9.7.1.1): d = a + b.
func add(t *thread) {
	plus := func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }
	if t.isPacked() {
		t.applyToElements(plus)
		return
	}
	t.setSaturated("d", plus(t.intOperand("a"), t.intOperand("b")))
}

// sub (9.7.1.2): d = a - b.
func sub(t *thread) {
	minus := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	if t.isPacked() {
		t.applyToElements(minus)
		return
	}
	t.setSaturated("d", minus(t.intOperand("a"), t.intOperand("b")))
}

// clmad (PTX ISA 9.3, 9.7.1.5): the carry-less product of a and b (as polynomials modulo 2), its lower or upper half,
// plus c modulo 2.
func clmad(t *thread) {
	a, b, c := t.intOperand("a"), t.intOperand("b"), t.intOperand("c")
	p := new(big.Int)
	for i := range 64 {
		if a.Bit(i) == 1 {
			p.Xor(p, new(big.Int).Lsh(b, uint(i)))
		}
	}
	t.setInt("d", p.Xor(t.selectHalf(p, 64), c))
}

// product returns the product of a and b as mul, mad and their relatives select it: all of it (.wide), or its upper or
// lower half.
func (t *thread) product() *big.Int {
	p := new(big.Int).Mul(t.intOperand("a"), t.intOperand("b"))
	_, typ := t.operand("a")
	return t.selectHalf(p, uint(typ.Bits()))
}

func (t *thread) selectHalf(p *big.Int, n uint) *big.Int {
	if t.hasModifier("hi") {
		return p.Rsh(p, n)
	}
	return p
}

// mul (9.7.1.3): d = a * b.
func mul(t *thread) {
	t.setInt("d", t.product())
}

// mad (9.7.1.4): d = a * b + c.
func mad(t *thread) {
	_, typ := t.operand("c")
	p := t.product()
	if t.hasModifier("lo") {
		p = integer(wrap(p, typ.Bits()), typ.Bits(), typ.IsSigned())
	}
	t.setSaturated("d", p.Add(p, t.intOperand("c")))
}

// product24 is the 48-bit product of the low 24 bits of a and b, or its bits
// 47..16, or 31..0.
func (t *thread) product24() *big.Int {
	signed := t.instr.Type().IsSigned()
	p := new(big.Int).Mul(integer(t.operandValue("a"), 24, signed), integer(t.operandValue("b"), 24, signed))
	return t.selectHalf(p, 16)
}

// mul24 (9.7.1.5): d = a * b of 24-bit integers.
func mul24(t *thread) {
	t.setInt("d", t.product24())
}

// mad24 (9.7.1.6): d = a * b + c of 24-bit integers a and b.
func mad24(t *thread) {
	p := t.product24()
	t.setSaturated("d", p.Add(p, t.intOperand("c")))
}

// sad (9.7.1.7): d = c + |a - b|.
func sad(t *thread) {
	d := new(big.Int).Sub(t.intOperand("a"), t.intOperand("b"))
	t.setInt("d", d.Abs(d).Add(d, t.intOperand("c")))
}

// div (9.7.1.8): d = a / b, towards zero. A division by zero gives a machine-specific value; here all bits are set.
func div(t *thread) {
	a, b := t.intOperand("a"), t.intOperand("b")
	if b.Sign() == 0 {
		t.setInt("d", big.NewInt(-1))
		return
	}
	t.setInt("d", new(big.Int).Quo(a, b))
}

// rem (9.7.1.9): d = a % b, with the sign of a. For b = 0 all bits are set, as for div.
func rem(t *thread) {
	a, b := t.intOperand("a"), t.intOperand("b")
	if b.Sign() == 0 {
		t.setInt("d", big.NewInt(-1))
		return
	}
	t.setInt("d", new(big.Int).Rem(a, b))
}

// abs (9.7.1.10): d = |a|.
func abs(t *thread) {
	a := t.intOperand("a")
	t.setInt("d", a.Abs(a))
}

// neg (9.7.1.11): d = -a.
func neg(t *thread) {
	if t.isPacked() {
		t.applyToElements(func(a, _ *big.Int) *big.Int { return new(big.Int).Neg(a) })
		return
	}
	a := t.intOperand("a")
	t.setInt("d", a.Neg(a))
}

// minimum (9.7.1.12): d = min(a, b); with .relu at least zero.
func minimum(t *thread) {
	t.selectOperand(func(a, b *big.Int) bool { return a.Cmp(b) < 0 })
}

// maximum (9.7.1.13): d = max(a, b); with .relu at least zero.
func maximum(t *thread) {
	t.selectOperand(func(a, b *big.Int) bool { return a.Cmp(b) > 0 })
}

// selectOperand selects a if first(a, b), else b.
func (t *thread) selectOperand(first func(a, b *big.Int) bool) {
	op := func(a, b *big.Int) *big.Int {
		d := b
		if first(a, b) {
			d = a
		}
		if t.hasModifier("relu") && d.Sign() < 0 {
			return new(big.Int)
		}
		return d
	}
	if t.isPacked() {
		t.applyToElements(op)
		return
	}
	t.setInt("d", op(t.intOperand("a"), t.intOperand("b")))
}

// popc (9.7.1.14): the number of set bits.
func popc(t *thread) {
	d := uint64(0)
	for a := t.operandValue("a"); a != 0; a >>= 1 {
		d += a & 1
	}
	t.setOperand("d", d)
}

// clz (9.7.1.15): the number of leading zeros.
func clz(t *thread) {
	n := t.instr.Type().Bits()
	a := t.operandValue("a")
	d := 0
	for d < n && a>>(n-1-d)&1 == 0 {
		d++
	}
	t.setOperand("d", uint64(d))
}

// bfind (9.7.1.16): the position of the most significant non-sign bit.
func bfind(t *thread) {
	msb := t.instr.Type().Bits() - 1
	a := t.operandValue("a")
	if t.instr.Type().IsSigned() && a>>msb&1 == 1 {
		a = ^a
	}
	d := uint64(0xffffffff)
	for i := msb; i >= 0; i-- {
		if a>>i&1 == 1 {
			d = uint64(i)
			if t.hasModifier("shiftamt") {
				d = uint64(msb - i)
			}
			break
		}
	}
	t.setOperand("d", d)
}

// fns (9.7.1.17): the c-th set bit of a from bit b on, downwards if c is
// negative.
func fns(t *thread) {
	a, base, offset := t.operandValue("a"), int64(t.operandValue("b")), int64(int32(t.operandValue("c")))
	set := func(pos int64) bool { return pos >= 0 && pos < 32 && a>>pos&1 == 1 }
	d := uint64(0xffffffff)
	if offset == 0 {
		if set(base) {
			d = uint64(base)
		}
		t.setOperand("d", d)
		return
	}
	count, inc := offset-1, int64(1)
	if offset < 0 {
		count, inc = -offset-1, -1
	}
	for pos := base; pos >= 0 && pos < 32; pos += inc {
		if set(pos) {
			if count == 0 {
				d = uint64(pos)
				break
			}
			count--
		}
	}
	t.setOperand("d", d)
}

// brev (9.7.1.18): the bits in reverse.
func brev(t *thread) {
	msb := t.instr.Type().Bits() - 1
	a, d := t.operandValue("a"), uint64(0)
	for i := range msb + 1 {
		d |= a >> (msb - i) & 1 << i
	}
	t.setOperand("d", d)
}

// fieldPart is a position or length of bfe and bfi: the low byte of the operand. The 64-bit forms use all 32 bits of
// it, in contradiction to the manual: GPUs have no instruction for them, and the shifts that replace it take the whole
// operand.
func (t *thread) fieldPart(name string) int {
	if t.instr.Type().Bits() == 64 {
		return int(t.operandValue(name))
	}
	return int(t.operandValue(name) & 0xff)
}

// bfe (9.7.1.19): the field of c bits from bit b of a, extended.
func bfe(t *thread) {
	msb := t.instr.Type().Bits() - 1
	a, pos, length := t.operandValue("a"), t.fieldPart("b"), t.fieldPart("c")
	sbit := uint64(0)
	if t.instr.Type().IsSigned() && length != 0 {
		sbit = a >> min(pos+length-1, msb) & 1
	}
	d := uint64(0)
	for i := range msb + 1 {
		if i < length && pos+i <= msb {
			d |= a >> (pos + i) & 1 << i
		} else {
			d |= sbit << i
		}
	}
	t.setOperand("d", d)
}

// bfi (9.7.1.20): the low e bits of a placed at bit c of b. The manual calls
// the destination f and the length d.
func bfi(t *thread) {
	msb := t.instr.Type().Bits() - 1
	a, d, pos, length := t.operandValue("a"), t.operandValue("b"), t.fieldPart("c"), t.fieldPart("e")
	for i := 0; i < length && pos+i <= msb; i++ {
		d = d&^(1<<(pos+i)) | a>>i&1<<(pos+i)
	}
	t.setOperand("d", d)
}

// szext (9.7.1.21): the low b bits of a, extended.
func szext(t *thread) {
	a, b := uint32(t.operandValue("a")), uint32(t.operandValue("b"))
	b1 := b & 0x1f
	tooLarge := b >= 32 && t.hasModifier("clamp")
	mask := ^uint32(0) << b1
	if tooLarge {
		mask = 0
	}
	d := a &^ mask
	if b1 != 0 && !tooLarge && t.instr.Type().IsSigned() && a>>((b1-1)&0x1f)&1 == 1 {
		d |= mask
	}
	t.setOperand("d", uint64(d))
}

// bmsk (9.7.1.22): a mask of b bits from bit a.
func bmsk(t *thread) {
	a, b := uint32(t.operandValue("a")), uint32(t.operandValue("b"))
	a1, b1 := a&0x1f, b&0x1f
	mask0 := ^uint32(0) << a1
	sum := a1 + b1
	mask1 := ^uint32(0) << sum
	positionOverflow := t.hasModifier("clamp") && a >= 32
	widthOverflow := t.hasModifier("clamp") && b >= 32
	if positionOverflow {
		mask0 = 0
	}
	if sum >= 32 || positionOverflow || widthOverflow {
		mask1 = 0
	} else if b1 == 0 {
		mask1 = ^uint32(0)
	}
	t.setOperand("d", uint64(mask0&^mask1))
}

// field is the i-th field of n bits of v.
func field(v uint64, i, n int, typ ptx.Type) *big.Int { return integer(v>>(i*n), n, typ.IsSigned()) }

// dp4a (9.7.1.23): the dot product of four bytes, added to c.
func dp4a(t *thread) {
	a, b := t.operandValue("a"), t.operandValue("b")
	d := t.intOperand("c")
	for i := range 4 {
		p := field(a, i, 8, t.instr.SlotType("atype"))
		d.Add(d, p.Mul(p, field(b, i, 8, t.instr.SlotType("btype"))))
	}
	t.setInt("d", d)
}

// dp2a (9.7.1.24): the dot product of two halves of a with two bytes of b,
// added to c.
func dp2a(t *thread) {
	a, b := t.operandValue("a"), t.operandValue("b")
	d := t.intOperand("c")
	from := 0
	if t.hasModifier("hi") {
		from = 2
	}
	for i := range 2 {
		p := field(a, i, 16, t.instr.SlotType("atype"))
		d.Add(d, p.Mul(p, field(b, from+i, 8, t.instr.SlotType("btype"))))
	}
	t.setInt("d", d)
}

// addCarry writes a + b + in, all read as unsigned. With .cc it sets the carry flag to the carry out of the width of d.
func (t *thread) addCarry(a, b *big.Int, inRange bool) {
	n := t.instr.Type().Bits()
	s := new(big.Int).Add(a, b)
	s.Add(s, big.NewInt(int64(bit(inRange))))
	if t.hasModifier("cc") {
		t.carry = s.Bit(n) == 1
	}
	t.setInt("d", s)
}

// unsigned reads an operand's bits as an unsigned integer.
func (t *thread) unsigned(name string) *big.Int { return new(big.Int).SetUint64(t.operandValue(name)) }

// addCC (9.7.2.1, 9.7.2.2): add.cc, addc.
func addCC(t *thread) {
	t.addCarry(t.unsigned("a"), t.unsigned("b"), t.instr.Mnemonic() == "addc" && t.carry)
}

// subCC (9.7.2.3, 9.7.2.4): sub.cc, subc. The manual describes the flag as the borrow; on GPUs it is the opposite, and
// here, too.
func subCC(t *thread) {
	d := new(big.Int).Sub(t.unsigned("a"), t.unsigned("b"))
	if t.instr.Mnemonic() == "subc" && !t.carry {
		d.Sub(d, big.NewInt(1))
	}
	if t.hasModifier("cc") {
		t.carry = d.Sign() >= 0
	}
	t.setInt("d", d)
}

// madCC (9.7.2.5, 9.7.2.6): mad.cc, madc. The carry comes from the addition to the selected half of the product.
func madCC(t *thread) {
	n := t.instr.Type().Bits()
	p := new(big.Int).SetUint64(wrap(t.product(), n))
	t.addCarry(p, t.unsigned("c"), t.instr.Mnemonic() == "madc" && t.carry)
}
