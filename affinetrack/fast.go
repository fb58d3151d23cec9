package affinetrack

// This file contains fast forms of rules for engines that execute on compact values: rules that are ring identities
// modulo the width of the slot, and rules on 32-bit numbers. The field Fast of a rule lists its fast forms. The tests
// compare them with the rule.

// FastForm computes a rule for operands and results of certain widths. It gives the same result as the rule, and no
// result where the rule gives none.
type FastForm struct {
	Name   string // name of the form in stencils of machine code
	Widths Widths // operations for which the form computes the rule
	Signed bool   // the result depends on whether the operands are read as two's complement

	// Apply computes the result for operands that are compact in all lanes of m, and are not all uniform. Operands that
	// the instruction does not have are zero.
	Apply func(op *Operation, a, b, c Value, m uint32) (Value, bool)
}

// Widths selects operations by the widths of their operands and results.
type Widths uint8

// The widths.
const (
	FullWidth Widths = iota // operands and result are as wide as the slot of the result
	Narrowing               // from 64 to 32 bits
	Widening                // from 32 to 64 bits
	Numbers32               // from 32 bits to any result
	AnyWidth                // any widths
)

// Match reports whether an operation has these widths.
func (w Widths) Match(op *Operation) bool {
	switch w {
	case FullWidth:
		return op.Width == op.Slot && op.Out == op.Slot
	case Narrowing:
		return op.Width == 64 && op.Out == 32 && op.Slot == 32
	case Widening:
		return op.Width == 32 && op.Out == 64
	case Numbers32:
		return op.Width == 32
	}
	return true
}

// FindFast returns the fast form of an operation; nil if its rule has none for the operation's widths.
func FindFast(op *Operation) *FastForm {
	forms := Rules[op.Rule].Fast
	for i := range forms {
		if forms[i].Widths.Match(op) {
			return &forms[i]
		}
	}
	return nil
}

// Unary is Unit.Execute for a single operand, which must be compact in lanes. The operation must have a rule.
func (u *Unit) Unary(op *Operation, a Value, lanes, m uint32) (Value, Execution) {
	switch {
	case lanes&m != m:
		return Value{}, PerLane
	case a.Stride == 0:
		return Value{}, Scalar
	case u.fast && op.Fast != nil:
		return toExecution(op.Fast.Apply(op, a, Value{}, Value{}, m))
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
	case u.fast && op.Fast != nil:
		return toExecution(op.Fast.Apply(op, a, b, Value{}, m))
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
	case u.fast && op.Fast != nil:
		return toExecution(op.Fast.Apply(op, a, b, c, m))
	}
	return u.applyAffine(op, a, b, c, m)
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

// The functions fastX are FastForm.Apply for the rules of the same names. Those without conditions are identities modulo
// any power of two.

// fastMove returns the value unchanged; the caller truncates it to the slot of the result.
func fastMove(_ *Operation, a, _, _ Value, _ uint32) (Value, bool) { return a, true }

func fastNeg(_ *Operation, a, _, _ Value, _ uint32) (Value, bool) {
	return Value{-a.Base, -a.Stride}, true
}

func fastNot(_ *Operation, a, _, _ Value, _ uint32) (Value, bool) {
	return Value{^a.Base, -a.Stride}, true
}

func fastAdd(_ *Operation, a, b, _ Value, _ uint32) (Value, bool) {
	return Value{a.Base + b.Base, a.Stride + b.Stride}, true
}

func fastSub(_ *Operation, a, b, _ Value, _ uint32) (Value, bool) {
	return Value{a.Base - b.Base, a.Stride - b.Stride}, true
}

func fastShl(_ *Operation, a, b, _ Value, _ uint32) (Value, bool) {
	k := uint32(b.Base)
	return Value{a.Base << k, a.Stride << k}, b.Stride == 0
}

func fastMul(_ *Operation, a, b, _ Value, _ uint32) (Value, bool) { return ringProduct(a, b) }

func fastMad(_ *Operation, a, b, c Value, _ uint32) (Value, bool) {
	v, ok := ringProduct(a, b)
	return Value{v.Base + c.Base, v.Stride + c.Stride}, ok
}

func fastWiden(op *Operation, a, _, _ Value, m uint32) (Value, bool) { return Widen(a, op.Signed, m) }

func fastMulWide(op *Operation, a, b, _ Value, m uint32) (Value, bool) {
	return mulWide(a, b, op.Signed, m)
}

func fastMadWide(op *Operation, a, b, c Value, m uint32) (Value, bool) {
	v, ok := mulWide(a, b, op.Signed, m)
	return Value{v.Base + c.Base, v.Stride + c.Stride}, ok
}

func fastCompare(op *Operation, a, b, _ Value, m uint32) (Value, bool) {
	return compare32(op.Cmp, a, b, op.Signed, m)
}

// ringProduct multiplies modulo a power of two. It fails unless either side is uniform.
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

// mulWide multiplies two 32-bit numbers to 64 bits. It fails unless either is uniform, and if the other wraps.
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
