package affinetrack

// This file contains fast forms of rules for engines that execute on compact values: rules that are ring identities
// modulo the width of the slot, and rules on 32-bit numbers. A fast form gives the same result as its rule, and none if
// the rule gives none. The tests compare the two.

import "gemu/ptx"

// Fast is the fast form of a rule for certain operand and result widths.
type Fast uint8

// The fast forms.
const (
	NoFast Fast = iota // the rule has no fast form
	FastMove
	FastAdd
	FastSub
	FastMul
	FastMad
	FastShl
	FastNeg
	FastNot
	FastNarrow  // 64 to 32 bits
	FastWiden   // 32 to 64 bits
	FastMulWide // 32×32 bits to 64
	FastMadWide
	FastCompare // 32-bit numbers
)

// FindFast returns the fast form of an operation's rule.
func FindFast(op *Operation) Fast {
	switch width, out, slot := op.Width, op.Out, op.Slot; {
	case op.Rule == ptx.AffineCompare:
		if width == 32 {
			return FastCompare
		}
	case width == slot && out == slot:
		switch op.Rule {
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
		case ptx.AffineNeg:
			return FastNeg
		case ptx.AffineNot:
			return FastNot
		}
	case width == 64 && out == 32 && slot == 32 && op.Rule == ptx.AffineConvert:
		return FastNarrow
	case width == 32 && out == 64:
		switch op.Rule {
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

// Unary is Unit.Execute for one operand, which is compact in lanes. The operation must have a rule.
func (u *Unit) Unary(op *Operation, a Value, lanes, m uint32) (Value, Execution) {
	switch {
	case lanes&m != m:
		return Value{}, PerLane
	case a.Stride == 0:
		return Value{}, Scalar
	case !u.fast:
		return u.applyAffine(op, a, Value{}, Value{}, m)
	}
	switch op.Fast {
	case FastMove, FastNarrow: // the register truncates the value to its slot
		return a, CompactResult
	case FastNeg:
		return Value{-a.Base, -a.Stride}, CompactResult
	case FastNot:
		return Value{^a.Base, -a.Stride}, CompactResult
	case FastWiden:
		return toExecution(Widen(a, op.Signed, m))
	}
	return u.applyAffine(op, a, Value{}, Value{}, m)
}

// Binary is Unary for two operands, which are both compact in lanes.
func (u *Unit) Binary(op *Operation, a, b Value, lanes, m uint32) (Value, Execution) {
	switch {
	case lanes&m != m:
		return Value{}, PerLane
	case a.Stride|b.Stride == 0:
		return Value{}, Scalar
	case !u.fast:
		return u.applyAffine(op, a, b, Value{}, m)
	}
	switch op.Fast {
	case FastAdd:
		return Value{a.Base + b.Base, a.Stride + b.Stride}, CompactResult
	case FastSub:
		return Value{a.Base - b.Base, a.Stride - b.Stride}, CompactResult
	case FastMul:
		return toExecution(ringProduct(a, b))
	case FastShl:
		k := uint32(b.Base)
		return toExecution(Value{a.Base << k, a.Stride << k}, b.Stride == 0)
	case FastMulWide:
		return toExecution(mulWide(a, b, op.Signed, m))
	case FastCompare:
		return toExecution(compare32(op.Cmp, a, b, op.Signed, m))
	}
	return u.applyAffine(op, a, b, Value{}, m)
}

// Ternary is Unary for three operands, which are all compact in lanes.
func (u *Unit) Ternary(op *Operation, a, b, c Value, lanes, m uint32) (Value, Execution) {
	switch {
	case lanes&m != m:
		return Value{}, PerLane
	case a.Stride|b.Stride|c.Stride == 0:
		return Value{}, Scalar
	case !u.fast:
		return u.applyAffine(op, a, b, c, m)
	}
	var v Value
	ok := false
	switch op.Fast {
	case FastMad:
		v, ok = ringProduct(a, b)
	case FastMadWide:
		v, ok = mulWide(a, b, op.Signed, m)
	default:
		return u.applyAffine(op, a, b, c, m)
	}
	return toExecution(Value{v.Base + c.Base, v.Stride + c.Stride}, ok)
}

// toExecution converts the result of a fast form. Without a result the instruction executes lane by lane, as under the
// rule.
func toExecution(v Value, ok bool) (Value, Execution) {
	if !ok {
		return Value{}, PerLane
	}
	return v, CompactResult
}

// applyAffine applies the rule to operands that are compact in all lanes of m.
func (u *Unit) applyAffine(op *Operation, a, b, c Value, m uint32) (Value, Execution) {
	return u.apply(op, [4]Value{a, b, c}, m)
}

// ringProduct multiplies modulo a power of two. It fails unless one side is uniform.
func ringProduct(a, b Value) (Value, bool) {
	return Value{a.Base * b.Base, a.Stride*b.Base + a.Base*b.Stride}, a.Stride == 0 || b.Stride == 0
}

// Widen extends a 32-bit register to 64 bits. It fails if the progression leaves the range of 32-bit numbers between
// the lanes of m.
func Widen(v Value, signed bool, m uint32) (Value, bool) {
	first, last := firstLane(m), lastLane(m)
	s := int64(int32(v.Stride))
	if signed {
		x := int64(int32(v.At(first)))
		end := x + int64(last-first)*s
		return Value{uint64(x - int64(first)*s), uint64(s)}, end == int64(int32(end))
	}
	x := int64(uint32(v.At(first)))
	end := x + int64(last-first)*s
	return Value{uint64(x - int64(first)*s), uint64(s)}, end == int64(uint32(end))
}

// mulWide multiplies two 32-bit numbers, one of which must be uniform.
func mulWide(a, b Value, signed bool, m uint32) (Value, bool) {
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
	v, ok := Widen(a, signed, m)
	return Value{v.Base * u, v.Stride * u}, ok
}

// compare32 compares 32-bit numbers by the signs of their difference in the first and the last lane.
func compare32(c Cmp, x, y Value, signed bool, m uint32) (Value, bool) {
	if x == y {
		return equal(c)
	}
	p, ok0 := Widen(x, signed, m)
	q, ok1 := Widen(y, signed, m)
	if !ok0 || !ok1 {
		return Value{}, false
	}
	base, step := int64(p.Base-q.Base), int64(p.Stride-q.Stride)
	d0, d1 := base+int64(firstLane(m))*step, base+int64(lastLane(m))*step
	switch c {
	case Lt:
		return predicateValue(d0 < 0), d0 < 0 == (d1 < 0)
	case Ge:
		return predicateValue(d0 >= 0), d0 >= 0 == (d1 >= 0)
	case Gt:
		return predicateValue(d0 > 0), d0 > 0 == (d1 > 0)
	case Le:
		return predicateValue(d0 <= 0), d0 <= 0 == (d1 <= 0)
	case Eq, Ne:
		return predicateValue(c == Ne), d0 < 0 && d1 < 0 || d0 > 0 && d1 > 0
	}
	return Value{}, false
}
