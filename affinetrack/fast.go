package affinetrack

// This file is the rules in fast forms, for the machine that executes on compact
// values: those that are ring identities modulo the width of the slot, and those on
// numbers of 32 bits. Where a fast form has a result it is the rule's; where it has
// none, the rule itself is to be asked. The tests compare the two.

import "gemu/ptx"

// Fast is the fast form of a rule for operands and results of certain widths.
type Fast uint8

// The fast forms.
const (
	NoFast Fast = iota // there is none
	FastMove
	FastAdd
	FastSub
	FastMul
	FastMad
	FastShl
	FastWiden   // 32 to 64 bits
	FastMulWide // 32×32 bits to 64
	FastMadWide
)

// FastOf finds the fast form of a rule on operands of width bits with a result of
// out bits in a slot of slot bits.
func FastOf(rule ptx.Affine, width, out, slot int) Fast {
	switch {
	case width == slot && out == slot:
		switch rule {
		case ptx.AffineMove, ptx.AffineConvert:
			return FastMove
		case ptx.AffineAdd:
			return FastAdd
		case ptx.AffineSub:
			return FastSub
		case ptx.AffineMul:
			return FastMul
		case ptx.AffineMad:
			return FastMad
		case ptx.AffineShl:
			return FastShl
		}
	case width == 32 && out == 64:
		switch rule {
		case ptx.AffineConvert:
			return FastWiden
		case ptx.AffineMul:
			return FastMulWide
		case ptx.AffineMad:
			return FastMadWide
		}
	}
	return NoFast
}

// Unary is the result for one operand in lanes first to last, not reduced to the slot.
func (f Fast) Unary(a Value, signed bool, first, last int) (Value, bool) {
	switch f {
	case FastMove:
		return a, true
	case FastWiden:
		return numbers32(a, signed, first, last)
	}
	return Value{}, false
}

// Binary is Unary for two operands.
func (f Fast) Binary(a, b Value, signed bool, first, last int) (Value, bool) {
	switch f {
	case FastAdd:
		return Value{a.Base + b.Base, a.Stride + b.Stride}, true
	case FastSub:
		return Value{a.Base - b.Base, a.Stride - b.Stride}, true
	case FastMul:
		return ringProduct(a, b)
	case FastShl:
		k := uint32(b.Base)
		return Value{a.Base << k, a.Stride << k}, b.Stride == 0
	case FastMulWide:
		return mulWide(a, b, signed, first, last)
	}
	return Value{}, false
}

// Ternary is Unary for three operands.
func (f Fast) Ternary(a, b, c Value, signed bool, first, last int) (Value, bool) {
	var v Value
	ok := false
	switch f {
	case FastMad:
		v, ok = ringProduct(a, b)
	case FastMadWide:
		v, ok = mulWide(a, b, signed, first, last)
	}
	return Value{v.Base + c.Base, v.Stride + c.Stride}, ok
}

// ringProduct is a product modulo two to any width, of which one side is uniform.
func ringProduct(a, b Value) (Value, bool) {
	if b.Stride != 0 {
		a, b = b, a
	}
	return Value{a.Base * b.Base, a.Stride * b.Base}, b.Stride == 0
}

// numbers32 extends a 32-bit register to 64 bits. It fails where the progression
// leaves the range of 32-bit numbers between the lanes first and last.
func numbers32(v Value, signed bool, first, last int) (Value, bool) {
	n := int64(last - first)
	s := int64(int32(v.Stride))
	x := int64(uint32(v.Base) + uint32(first)*uint32(v.Stride))
	ok := false
	if signed {
		x = int64(int32(x))
		end := x + n*s
		ok = end == int64(int32(end))
	} else {
		end := x + n*s
		ok = end == int64(uint32(end))
	}
	return Value{uint64(x - int64(first)*s), uint64(s)}, ok
}

// mulWide multiplies 32-bit numbers, one of them uniform.
func mulWide(a, b Value, signed bool, first, last int) (Value, bool) {
	if b.Stride != 0 {
		a, b = b, a
	}
	if b.Stride != 0 {
		return Value{}, false
	}
	u := uint64(uint32(b.Base))
	if signed {
		u = uint64(int64(int32(b.Base)))
	}
	v, ok := numbers32(a, signed, first, last)
	return Value{v.Base * u, v.Stride * u}, ok
}

// Compare32 is the rule of comparisons for numbers of 32 bits: holds is the outcome
// in all lanes from first to last.
func Compare32(c Cmp, x, y Value, signed bool, first, last int) (holds, ok bool) {
	p, ok0 := numbers32(x, signed, first, last)
	q, ok1 := numbers32(y, signed, first, last)
	if !ok0 || !ok1 {
		return false, false
	}
	// The difference of the numbers, in the first lane and in the last.
	base, step := int64(p.Base-q.Base), int64(p.Stride-q.Stride)
	d0, d1 := base+int64(first)*step, base+int64(last)*step
	switch c {
	case Lt:
		return d0 < 0, d0 < 0 == (d1 < 0)
	case Ge:
		return d0 >= 0, d0 >= 0 == (d1 >= 0)
	case Gt:
		return d0 > 0, d0 > 0 == (d1 > 0)
	case Le:
		return d0 <= 0, d0 <= 0 == (d1 <= 0)
	case Eq, Ne:
		switch {
		case d0 == 0 && d1 == 0:
			return c == Eq, true
		case d0 < 0 && d1 < 0 || d0 > 0 && d1 > 0:
			return c == Ne, true
		}
	}
	return false, false
}
