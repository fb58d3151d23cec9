package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Operation contains the properties of an instruction that do not depend on its operands.
type Operation struct {
	Rule   ptx.Affine // affine rule of the instruction's form
	Width  uint8      // width in bits of the type as which the operands are read
	Signed bool       // the operands are read as two's complement
	Out    uint8      // width of the result's type in bits
	Slot   uint8      // width of the result's slot in bits: 32 or 64
	Cmp    Cmp        // comparison operator; NoCmp unless the instruction compares

	// Fast is the fast form of the rule for these widths, as found by FindFast; nil if there is none.
	Fast *FastForm
}

// Args is an instruction with compact operands. An operand is the value of its slot; a predicate is the number 0 or 1.
type Args struct {
	Operation
	Values [4]Value // operands in the order of the instruction; zero for an absent operand
	First  int      // lowest active lane
	Last   int      // highest active lane
}

// Rule states what an instruction does in both domains: Apply executes it on compact operands, at least one of them
// affine; Spacing computes the spacing of its result if an operand is not uniform.
type Rule struct {
	AffineOperands Shape // the operands that may be affine

	// Apply computes the compact result, or reports that there is none. A comparison with the same outcome in every
	// active lane gives 1 if it holds and 0 if not.
	Apply func(a *Args) (Value, bool)

	Fast    []FastForm    // fast forms, by widths
	Spacing []SpacingForm // transfers on spacings, by widths; without a form nothing is known of the result
}

// Shape states which operands of an instruction may be affine; the remaining operands must be uniform.
type Shape uint8

// The shapes.
const (
	NoOperand    Shape = iota // no operand may be affine
	AnyOperand                // all of them
	OneFactor                 // either the first or the second; and any later operands
	FirstOperand              // the first
)

// Allows reports whether the operands whose bits are set may be affine.
func (s Shape) Allows(affine uint8) bool {
	switch s {
	case AnyOperand:
		return true
	case OneFactor:
		return affine&3 != 3
	case FirstOperand:
		return affine <= 1
	}
	return false
}

// Execute applies the rule to operands of any shape.
func (r *Rule) Execute(a *Args) (Value, bool) {
	affine := uint8(0)
	for i := range a.Values {
		if !a.Values[i].Uniform() {
			affine |= 1 << i
		}
	}
	if !r.AffineOperands.Allows(affine) {
		return Value{}, false
	}
	return r.Apply(a)
}

// Table contains a rule for each entry of the instruction table. Launches use Rules; tests use tables with planted
// faults.
type Table [ptx.AffineCount]Rule

// Rules is the table of sound rules. An instruction executes once if all its operands are uniform, under every rule.
var Rules = &Table{
	ptx.AffineMove: {AffineOperands: AnyOperand, Apply: convert,
		Fast:    []FastForm{{"move", FullWidth, false, fastMove}},
		Spacing: []SpacingForm{{FullWidth, moveSpacing}},
	},
	ptx.AffineAdd: {AffineOperands: AnyOperand, Apply: add,
		Fast:    []FastForm{{"add", FullWidth, false, fastAdd}},
		Spacing: []SpacingForm{{FullWidth, addSpacing}},
	},
	ptx.AffineSub: {AffineOperands: AnyOperand, Apply: sub,
		Fast:    []FastForm{{"sub", FullWidth, false, fastSub}},
		Spacing: []SpacingForm{{FullWidth, subSpacing}},
	},
	ptx.AffineMul: {AffineOperands: OneFactor, Apply: mul,
		Fast:    []FastForm{{"mul", FullWidth, false, fastMul}, {"mulwide", Widening, true, fastMulWide}},
		Spacing: []SpacingForm{{FullWidth, mulSpacing}, {Widening, mulWideSpacing}},
	},
	ptx.AffineMad: {AffineOperands: OneFactor, Apply: mad,
		Fast:    []FastForm{{"mad", FullWidth, false, fastMad}, {"madwide", Widening, true, fastMadWide}},
		Spacing: []SpacingForm{{FullWidth, madSpacing}, {Widening, madWideSpacing}},
	},
	ptx.AffineShl: {AffineOperands: FirstOperand, Apply: shl,
		Fast:    []FastForm{{"shl", FullWidth, false, fastShl}},
		Spacing: []SpacingForm{{FullWidth, shlSpacing}},
	},
	ptx.AffineShr: {AffineOperands: FirstOperand, Apply: shr},
	ptx.AffineDiv: {AffineOperands: FirstOperand, Apply: div},
	ptx.AffineRem: {AffineOperands: FirstOperand, Apply: rem},
	ptx.AffineBfe: {AffineOperands: FirstOperand, Apply: bfe},
	ptx.AffineNeg: {AffineOperands: AnyOperand, Apply: neg,
		Fast:    []FastForm{{"neg", FullWidth, false, fastNeg}},
		Spacing: []SpacingForm{{FullWidth, negSpacing}},
	},
	ptx.AffineNot: {AffineOperands: AnyOperand, Apply: not,
		Fast:    []FastForm{{"not", FullWidth, false, fastNot}},
		Spacing: []SpacingForm{{FullWidth, negSpacing}},
	},
	ptx.AffineAbs:    {AffineOperands: AnyOperand, Apply: abs},
	ptx.AffineMin:    {AffineOperands: AnyOperand, Apply: minimum, Spacing: []SpacingForm{{FullWidth, minSpacing}}},
	ptx.AffineMax:    {AffineOperands: AnyOperand, Apply: maximum, Spacing: []SpacingForm{{FullWidth, maxSpacing}}},
	ptx.AffineAnd:    {AffineOperands: OneFactor, Apply: and},
	ptx.AffineOr:     {AffineOperands: OneFactor, Apply: or},
	ptx.AffineXor:    {AffineOperands: OneFactor, Apply: xor},
	ptx.AffineSelect: {AffineOperands: AnyOperand, Apply: selectOne, Spacing: []SpacingForm{{AnyWidth, selectSpacing}}},
	ptx.AffineConvert: {AffineOperands: AnyOperand, Apply: convert,
		Fast:    []FastForm{{"move", FullWidth, false, fastMove}, {"narrow", Narrowing, false, fastMove}, {"widen", Widening, true, fastWiden}},
		Spacing: []SpacingForm{{FullWidth, moveSpacing}, {Narrowing, narrowSpacing}, {Widening, widenSpacing}},
	},
	ptx.AffineCompare: {AffineOperands: AnyOperand, Apply: compare, Fast: []FastForm{{"compare", Numbers32, true, fastCompare}}},
}

// resultValue converts a result modulo 2^Out to its slot.
func (a *Args) resultValue(v Value) (Value, bool) {
	return fitToSlot(v, int(a.Out), int(a.Slot), a.First, a.Last)
}

// operandProgression returns operand i as numbers of the instruction's type.
func (a *Args) operandProgression(i int) (progression, bool) {
	width := int(a.Width)
	return toProgression(a.Values[i], width, a.Signed, a.First, a.Last)
}

// (b0 + i·s0) + (b1 + i·s1) = (b0+b1) + i·(s0+s1): a ring identity, no condition.
func add(a *Args) (Value, bool) {
	return a.resultValue(Value{a.Values[0].Base + a.Values[1].Base, a.Values[0].Stride + a.Values[1].Stride})
}

// As add: no condition.
func sub(a *Args) (Value, bool) {
	return a.resultValue(Value{a.Values[0].Base - a.Values[1].Base, a.Values[0].Stride - a.Values[1].Stride})
}

// (b + i·s)·u = b·u + i·(s·u): either side must be uniform. The wide form multiplies numbers of twice the width, so the
// affine side must not wrap.
func mul(a *Args) (Value, bool) {
	v, ok := product(a)
	if !ok {
		return v, false
	}
	return a.resultValue(v)
}

// product returns the product of the first two operands, before it is fitted to the result's slot.
func product(a *Args) (Value, bool) {
	x, u := a.Values[0], a.Values[1]
	xi := 0
	if !u.Uniform() {
		x, u, xi = u, x, 1
	}
	if a.Out == a.Width {
		return Value{x.Base * u.Base, x.Stride * u.Base}, true
	}
	p, ok := a.operandProgression(xi)
	q, _ := a.operandProgression(1 - xi) // a uniform value cannot wrap
	f := q.first
	return Value{(p.first - uint64(a.First)*uint64(p.step)) * f, uint64(p.step) * f}, ok
}

// mul, then add. The addend of the wide form has the result's width.
func mad(a *Args) (Value, bool) {
	v, ok := product(a)
	if !ok {
		return v, false
	}
	return a.resultValue(Value{v.Base + a.Values[2].Base, v.Stride + a.Values[2].Stride})
}

// A shift by a uniform amount k is multiplication by 2^k: no further condition.
func shl(a *Args) (Value, bool) {
	k := uint32(a.Values[1].Base)
	return a.resultValue(Value{a.Values[0].Base << k, a.Values[0].Stride << k}) // Go's shift of 64 or more is 0, too
}

// ⌊(b + i·s)/2^k⌋ by a uniform amount, on numbers that do not wrap: see floorDiv. An amount of at least the width
// leaves only the sign.
func shr(a *Args) (Value, bool) {
	p, ok := a.operandProgression(0)
	if !ok {
		return Value{}, false
	}
	k := uint32(a.Values[1].Base)
	exact := uint64(p.step)&lowMask(int(k)) == 0
	if a.Signed {
		return floorDiv(a, uint64(int64(p.first)>>k), uint64(int64(p.last)>>k), p.step>>k, exact)
	}
	return floorDiv(a, p.first>>k, p.last>>k, p.step>>k, exact)
}

// shrExact is shr if 2^k divides the stride.
func shrExact(a *Args) (Value, bool) {
	if a.Values[0].Stride&lowMask(int(uint32(a.Values[1].Base))) != 0 {
		return Value{}, false
	}
	return shr(a)
}

// floorDiv divides a progression of numbers by a positive d and rounds down, which is monotonic. If the quotient is the
// same at both ends, it is the same in every lane. If d divides the stride, ⌊(x + n·s)/d⌋ = ⌊x/d⌋ + n·s/d.
func floorDiv(a *Args, first, last uint64, step int64, exact bool) (Value, bool) {
	switch {
	case first == last:
		return a.resultValue(Value{Base: first})
	case exact:
		return a.resultValue(valueAt(a, first, uint64(step)))
	}
	return Value{}, false
}

// dividends reads operand 0 as non-negative numbers, whose division rounds down, and operand 1 as a uniform positive
// divisor. It fails if a lane is negative.
func dividends(a *Args) (p progression, d uint64, ok bool) {
	p, ok = a.operandProgression(0)
	q, _ := a.operandProgression(1)
	d = q.first
	if a.Signed && (int64(p.first) < 0 || int64(p.last) < 0 || int64(d) < 0) {
		ok = false
	}
	return p, d, ok && d != 0
}

// Division of non-negative numbers by a positive uniform divisor: see floorDiv.
func div(a *Args) (Value, bool) {
	p, d, ok := dividends(a)
	if !ok {
		return Value{}, false
	}
	return floorDiv(a, p.first/d, p.last/d, p.step/int64(d), isDivisor(d, p.step))
}

// isDivisor reports whether d divides a nonzero stride. A d of 2^63 or more divides none.
func isDivisor(d uint64, step int64) bool { return d>>63 == 0 && step%int64(d) == 0 }

// The remainder x − d·⌊x/d⌋ under the conditions of div: affine if the quotient is the same in every lane, uniform if d
// divides the stride.
func rem(a *Args) (Value, bool) {
	p, d, ok := dividends(a)
	switch {
	case !ok:
	case p.first/d == p.last/d:
		return a.resultValue(valueAt(a, p.first%d, uint64(p.step)))
	case isDivisor(d, p.step):
		return a.resultValue(Value{Base: p.first % d})
	}
	return Value{}, false
}

// A bit field of unsigned numbers at a uniform position: shr, then and with a mask of as many set bits as the field has.
func bfe(a *Args) (Value, bool) {
	if a.Signed {
		return Value{}, false
	}
	used := uint64(0xff) // the significant bits of position and length
	if a.Width == 64 {
		used = 0xffffffff
	}
	pos, n := a.Values[1].Base&used, a.Values[2].Base&used
	b := *a
	b.Values[1] = Value{Base: pos}
	v, ok := shr(&b)
	if !ok {
		return Value{}, false
	}
	b.Values[0], b.Values[1] = v, Value{Base: lowMask(int(n))}
	return and(&b)
}

// −(b + i·s) = −b + i·(−s): no condition.
func neg(a *Args) (Value, bool) { return a.resultValue(Value{-a.Values[0].Base, -a.Values[0].Stride}) }

// ¬v = −v − 1: no condition.
func not(a *Args) (Value, bool) { return a.resultValue(Value{^a.Values[0].Base, -a.Values[0].Stride}) }

// If the sign is the same in every lane: the value or its negation. The ends decide, because numbers that do not wrap
// are monotonic.
func abs(a *Args) (Value, bool) {
	p, ok := a.operandProgression(0)
	switch {
	case !ok:
	case int64(p.first) >= 0 && int64(p.last) >= 0:
		return a.resultValue(a.Values[0])
	case int64(p.first) <= 0 && int64(p.last) <= 0:
		return neg(a)
	}
	return Value{}, false
}

// ordered compares the first two operands: sign is −1 if the first is at most the second in every lane, 1 if it is at
// least the second, and 0 if they are equal at both ends. ok is false if the difference changes its sign. The difference
// of two progressions of numbers is linear, so its ends decide.
func ordered(a *Args) (sign int, ok bool) {
	p, ok0 := a.operandProgression(0)
	q, ok1 := a.operandProgression(1)
	if !ok0 || !ok1 {
		return 0, false
	}
	cmp := func(x, y uint64) int {
		switch {
		case x == y:
			return 0
		case p.less(x, y):
			return -1
		}
		return 1
	}
	s, t := cmp(p.first, q.first), cmp(p.last, q.last)
	if s*t < 0 {
		return 0, false
	}
	if s == 0 {
		s = t
	}
	return s, true
}

// The operand that is the smaller in every lane.
func minimum(a *Args) (Value, bool) {
	s, ok := ordered(a)
	if !ok {
		return Value{}, false
	}
	if s <= 0 {
		return a.resultValue(a.Values[0])
	}
	return a.resultValue(a.Values[1])
}

// The operand that is the larger in every lane.
func maximum(a *Args) (Value, bool) {
	s, ok := ordered(a)
	if !ok {
		return Value{}, false
	}
	if s >= 0 {
		return a.resultValue(a.Values[0])
	}
	return a.resultValue(a.Values[1])
}

// affineOperand returns a mask of the bits of operand i that may vary between lanes. Bits below the lowest set bit of
// the stride are constant. If the numbers do not wrap, the bits above the highest bit in which the ends differ are
// constant, too.
func affineOperand(a *Args, i int) uint64 {
	width := int(a.Width)
	v := a.Values[i]
	low := bits.TrailingZeros64(v.Stride)
	high := width
	if p, ok := toProgression(v, width, false, a.First, a.Last); ok {
		high = bits.Len64(p.first ^ p.last)
	}
	return lowMask(high) &^ lowMask(low)
}

// affineAndUniform returns the index of the affine operand and the value of the uniform operand.
func affineAndUniform(a *Args) (x int, u uint64) {
	if a.Values[1].Uniform() {
		return 0, a.Values[1].Base
	}
	return 1, a.Values[0].Base
}

// One operand is a uniform mask. If it keeps all varying bits, the same constant bits are cleared in every lane; if it
// clears all varying bits, the result is uniform.
func and(a *Args) (Value, bool) {
	x, u := affineAndUniform(a)
	vary := affineOperand(a, x)
	at := a.Values[x].At(a.First)
	switch {
	case u&vary == vary:
		return a.resultValue(valueAt(a, at&u, a.Values[x].Stride))
	case u&vary == 0:
		return a.resultValue(Value{Base: at & u})
	}
	return Value{}, false
}

// valueAt returns the progression with the value at in the first active lane.
func valueAt(a *Args, at, stride uint64) Value {
	return Value{at - uint64(a.First)*stride, stride}
}

// One operand is uniform. If it sets no varying bit, the same constant bits are set in every lane; if it sets all varying
// bits, the result is uniform.
func or(a *Args) (Value, bool) {
	x, u := affineAndUniform(a)
	vary := affineOperand(a, x)
	at := a.Values[x].At(a.First)
	switch {
	case u&vary == 0:
		return a.resultValue(valueAt(a, at|u, a.Values[x].Stride))
	case u&vary == vary:
		return a.resultValue(Value{Base: at | u})
	}
	return Value{}, false
}

// One operand is uniform. If it flips no varying bit, the same constant bits change in every lane. If it flips all
// varying bits, their number f becomes 2^n − 1 − f, where n is the number of these bits, and the stride changes its sign.
func xor(a *Args) (Value, bool) {
	x, u := affineAndUniform(a)
	vary := affineOperand(a, x)
	at := a.Values[x].At(a.First)
	switch {
	case u&vary == 0:
		return a.resultValue(valueAt(a, at^u, a.Values[x].Stride))
	case u&vary == vary:
		return a.resultValue(valueAt(a, at^u, -a.Values[x].Stride))
	}
	return Value{}, false
}

// By a uniform predicate: the selected operand.
func selectOne(a *Args) (Value, bool) {
	if a.Values[2].Base != 0 {
		return a.resultValue(a.Values[0])
	}
	return a.resultValue(a.Values[1])
}

// A conversion to a type of at most the same width only truncates: no condition. A conversion to a wider type extends each
// lane's number, so the numbers must not wrap.
func convert(a *Args) (Value, bool) {
	if a.Out <= a.Width {
		return a.resultValue(a.Values[0])
	}
	p, ok := a.operandProgression(0)
	if !ok {
		return Value{}, false
	}
	return a.resultValue(valueAt(a, p.first, uint64(p.step)))
}

// Cmp is a comparison of integers.
type Cmp uint8

// The comparisons by the names of PTX (.eq, .ne …); NoCmp is none. The manual's lo, ls, hi and hs are Lt, Le, Gt and Ge of
// unsigned types.
const (
	NoCmp Cmp = iota
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
)

// CmpByName returns the comparison of integers with the name of a PTX operator; NoCmp for unknown operators.
func CmpByName(name string) Cmp {
	switch name {
	case "eq":
		return Eq
	case "ne":
		return Ne
	case "lt", "lo":
		return Lt
	case "le", "ls":
		return Le
	case "gt", "hi":
		return Gt
	case "ge", "hs":
		return Ge
	}
	return NoCmp
}

// A comparison of numbers that do not wrap has the same outcome in every lane if it has the same outcome at both ends
// and the difference does not change its sign between them. If base and stride agree, all lanes agree, even if they
// wrap.
func compare(a *Args) (Value, bool) {
	if width := int(a.Width); a.Values[0].Truncate(width) == a.Values[1].Truncate(width) {
		return equal(a.Cmp)
	}
	p, ok0 := a.operandProgression(0)
	q, ok1 := a.operandProgression(1)
	if !ok0 || !ok1 {
		return Value{}, false
	}
	lt0, lt1 := p.less(p.first, q.first), p.less(p.last, q.last)
	gt0, gt1 := p.less(q.first, p.first), p.less(q.last, p.last)
	switch a.Cmp {
	case Lt:
		return predicateValue(lt0), lt0 == lt1
	case Ge:
		return predicateValue(!lt0), lt0 == lt1
	case Gt:
		return predicateValue(gt0), gt0 == gt1
	case Le:
		return predicateValue(!gt0), gt0 == gt1
	case Eq, Ne:
		// Unequal in every lane if either side stays below the other.
		return predicateValue(a.Cmp == Ne), lt0 && lt1 || gt0 && gt1
	}
	return Value{}, false
}

// A comparison of a uniform number with a progression, if the number is greater or less than all of its elements.
func compareRanges(a *Args) (Value, bool) {
	p, ok0 := a.operandProgression(0)
	q, ok1 := a.operandProgression(1)
	allBelow := p.less(p.first, q.first) && p.less(p.last, q.last)
	allAbove := p.less(q.first, p.first) && p.less(q.last, p.last)
	if !ok0 || !ok1 || !allBelow && !allAbove {
		return Value{}, false
	}
	switch a.Cmp {
	case Lt, Le:
		return predicateValue(allBelow), true
	case Gt, Ge:
		return predicateValue(allAbove), true
	case Eq, Ne:
		return predicateValue(a.Cmp == Ne), true
	}
	return Value{}, false
}

// equal returns the outcome of comparing equal integers.
func equal(c Cmp) (Value, bool) {
	return predicateValue(c == Eq || c == Le || c == Ge), c != NoCmp
}

// predicateValue returns a predicate with the same value in all lanes.
func predicateValue(holds bool) Value {
	if holds {
		return Value{Base: 1}
	}
	return Value{}
}
