package oracle

// This file executes conversions (manual 9.7.9.21, 9.7.9.22).

import (
	"math/big"
	"strconv"

	"gemu/ptx"
)

// cvt (9.7.9.21): conversions between numbers.
func cvt(t *thread) {
	if t.hasModifier("pack") {
		cvtPack(t)
		return
	}
	to, from := t.instr.Conversion()
	if _, count := to.Elements(); count > 1 {
		t.convertPacked(to, from)
		return
	}
	t.setOperand("d", t.convert(t.operandValue("a"), from, to))
}

// convert converts the bits a of type from to type to.
func (t *thread) convert(a uint64, from, to ptx.Type) uint64 {
	switch {
	case from.IsInt() && to.IsInt():
		i := integer(a, from.Bits(), from.IsSigned())
		if t.hasModifier("sat") {
			i = clamp(i, to.Bits(), to.IsSigned())
		}
		return wrap(i, to.Bits())
	case to.IsInt():
		return t.toInt(a, from, to)
	case from.IsInt():
		return t.toFloat(fromInt(integer(a, from.Bits(), from.IsSigned())), to)
	}
	if f := formatOf(from); f.isNaN(a) && to != ptx.TF32 {
		return t.convertNaN(a, from, to)
	}
	n := t.sourceNumber(a, from)
	if rnd := t.integral(); rnd != "" {
		n = n.integral(rnd)
	}
	return t.toFloat(n, to)
}

// convertNaN converts a NaN between floating-point types. It keeps the payload if either type is .f64, and all bits in
// a conversion that changes no number: between the same types, or from .bf16 to .f32.
func (t *thread) convertNaN(a uint64, from, to ptx.Type) uint64 {
	f, g := formatOf(from), formatOf(to)
	switch unchanged := from == to && t.integral() == "" && from.Bits() >= 32; {
	case t.hasModifier("sat"):
		return 0
	case t.hasModifier("ftz") && to == ptx.F64:
		return f.convertNaN(f.nan, g)
	case t.hasModifier("ftz") && from != ptx.F64:
	case unchanged:
		return a
	case from == ptx.BF16 && to == ptx.F32:
		return a << 16
	case from == ptx.F64 || to == ptx.F64:
		return f.convertNaN(a, g)
	}
	return g.nan
}

// sourceNumber decodes a floating-point operand. With .ftz a .f32 operand is flushed, as the manual says; but a GPU's
// conversion to .f16 ignores .ftz.
func (t *thread) sourceNumber(a uint64, from ptx.Type) number {
	f := formatOf(from)
	if from == ptx.F32 && t.instr.SlotType("dtype") != ptx.F16 {
		a = t.ftz(f, a)
	}
	return f.decode(a)
}

// integral returns the mode of rounding to an integer (rni, rzi, rmi, rpi), without its last i; "" if the instruction
// does not round to an integer.
func (t *thread) integral() string {
	if rnd := t.instr.Slot("rnd"); len(rnd) == 3 && rnd[2] == 'i' {
		return rnd[:2]
	}
	return ""
}

// toInt converts to an integer. Values out of range saturate, with or without .sat. NaN gives zero, but 100…0 if source
// or destination has 64 bits.
func (t *thread) toInt(a uint64, from, to ptx.Type) uint64 {
	n := t.sourceNumber(a, from)
	switch n.class {
	case notANumber:
		if from == ptx.F64 || to.Bits() == 64 {
			return 1 << (to.Bits() - 1)
		}
		return 0
	case infinite:
		huge := new(big.Int).Lsh(big.NewInt(1), 64)
		if n.neg {
			huge.Neg(huge)
		}
		return wrap(clamp(huge, to.Bits(), to.IsSigned()), to.Bits())
	}
	return wrap(clamp(n.integral(t.integral()).integer(), to.Bits(), to.IsSigned()), to.Bits())
}

// toFloat rounds to a floating-point type, and applies .ftz, .sat, .relu and .satfinite.
func (t *thread) toFloat(n number, to ptx.Type) uint64 {
	if to == ptx.TF32 {
		rnd := t.rounding()
		if t.hasModifier("rna") {
			rnd = "rna"
		}
		return t.modified(tensorFloat.round(n, rnd), tensorFloat) << 13
	}
	f := formatOf(to)
	d := f.round(n, t.rounding())
	if to == ptx.F32 && t.hasModifier("ftz") && f.isTiny(n, t.rounding()) {
		d = f.signed(n.neg, 0)
	}
	return t.modified(d, f)
}

// modified applies .pzo, .satfinite, .relu and .sat to a result.
func (t *thread) modified(d uint64, f format) uint64 {
	if t.hasModifier("pzo") && d == f.sign() {
		d = 0
	}
	if t.hasModifier("satfinite") && !f.isNaN(d) && d&^f.sign() == f.inf() {
		d--
	}
	if t.hasModifier("relu") && !f.isNaN(d) && d&f.sign() != 0 {
		d = 0
	}
	if t.hasModifier("sat") {
		d = f.saturate(d)
	}
	return d
}

// cvtPack (9.7.9.22): a and b saturated to a narrow type; b in the lowest bits of d, a above, then c.
func cvtPack(t *thread) {
	to := t.instr.Slot("dtype") // u2 and s2 exist only here
	n, _ := strconv.Atoi(to[1:])
	narrow := func(name string) uint64 { return wrap(clamp(t.intOperand(name), n, to[0] == 's'), n) }
	d := narrow("a")<<n | narrow("b")
	if t.hasOperand("c") {
		d |= t.operandValue("c") << (2 * n)
	}
	t.setOperand("d", d)
}
