package affinetrack

import (
	"math/bits"

	"gemu/ptx"
)

// Args is an instruction with compact operands.
type Args struct {
	V      [4]Value // operands, in terms of their slots
	P      bool     // the value of a uniform predicate operand
	Width  int      // bits of the type the operands are read as
	Signed bool     // … as two's complement
	Out    int      // bits of the result's type
	Slot   int      // bits of the result's slot: 32 or 64
	First  int      // the lowest and highest active lane
	Last   int
	Imm    uint64
	Cmp    Cmp
}

// Rule computes the compact result, or says that there is none.
type Rule func(a *Args) (Value, bool)

// Decision is the rule of comparisons: whether it holds in every active lane, if
// that is the same in all of them.
type Decision func(a *Args) (holds, ok bool)

// Table holds a rule per entry of the instruction table. Launches use Rules; tests
// break it on purpose.
type Table struct {
	Rules   [ptx.AffineCount]Rule
	Compare Decision
}

// Rules is the table of sound rules. An instruction whose operands are all
// uniform executes once, whatever its rule.
var Rules = &Table{
	Rules: [ptx.AffineCount]Rule{
		ptx.AffineMove:    move,
		ptx.AffineAdd:     add,
		ptx.AffineSub:     sub,
		ptx.AffineMul:     mul,
		ptx.AffineMad:     mad,
		ptx.AffineShl:     shl,
		ptx.AffineShr:     shr,
		ptx.AffineDiv:     div,
		ptx.AffineRem:     rem,
		ptx.AffineBfe:     bfe,
		ptx.AffineNeg:     neg,
		ptx.AffineNot:     not,
		ptx.AffineAbs:     abs,
		ptx.AffineMin:     minimum,
		ptx.AffineMax:     maximum,
		ptx.AffineAnd:     and,
		ptx.AffineOr:      or,
		ptx.AffineXor:     xor,
		ptx.AffineSelect:  selectOne,
		ptx.AffineConvert: convert,
	},
	Compare: compare,
}

// out brings a result modulo 2^Out to its slot.
func (a *Args) out(v Value) (Value, bool) { return fit(v, a.Out, a.Slot, a.First, a.Last) }

// numbers reads operand i as numbers of the instruction's type.
func (a *Args) numbers(i int) (progression, bool) {
	return numbers(a.V[i].reduce(a.Width), a.Width, a.Signed, a.First, a.Last)
}

// V(i) = a(i): no condition.
func move(a *Args) (Value, bool) { return a.out(a.V[0]) }

// (b0 + i·s0) + (b1 + i·s1) = (b0+b1) + i·(s0+s1): a ring identity, no condition.
func add(a *Args) (Value, bool) {
	return a.out(Value{a.V[0].Base + a.V[1].Base, a.V[0].Stride + a.V[1].Stride})
}

// As add: no condition.
func sub(a *Args) (Value, bool) {
	return a.out(Value{a.V[0].Base - a.V[1].Base, a.V[0].Stride - a.V[1].Stride})
}

// (b + i·s)·u = b·u + i·(s·u): one side must be uniform. The wide form multiplies
// numbers of twice the width, so there the other side must not wrap.
func mul(a *Args) (Value, bool) {
	v, ok := product(a)
	if !ok {
		return v, false
	}
	return a.out(v)
}

func product(a *Args) (Value, bool) {
	x, u := a.V[0], a.V[1]
	xi := 0
	if !u.Uniform() {
		x, u, xi = u, x, 1
	}
	if !u.Uniform() {
		return Value{}, false
	}
	if a.Out == a.Width {
		return Value{x.Base * u.Base, x.Stride * u.Base}, true
	}
	p, ok := a.numbers(xi)
	q, _ := a.numbers(1 - xi) // uniform: cannot wrap
	f := q.first
	return Value{(p.first - uint64(a.First)*uint64(p.step)) * f, uint64(p.step) * f}, ok
}

// mul, then add. The addend of the wide form has the result's width.
func mad(a *Args) (Value, bool) {
	v, ok := product(a)
	if !ok {
		return v, false
	}
	return a.out(Value{v.Base + a.V[2].Base, v.Stride + a.V[2].Stride})
}

// A shift by a uniform amount k is multiplication by 2^k: no further condition.
func shl(a *Args) (Value, bool) {
	if !a.V[1].Uniform() {
		return Value{}, false
	}
	k := uint32(a.V[1].Base)
	return a.out(Value{a.V[0].Base << k, a.V[0].Stride << k}) // Go's shift of 64 or more is 0, too
}

// ⌊(b + i·s)/2^k⌋ by a uniform amount, on numbers that do not wrap: see floorDiv.
// An amount of the width or more shifts everything out.
func shr(a *Args) (Value, bool) {
	if !a.V[1].Uniform() {
		return Value{}, false
	}
	p, ok := a.numbers(0)
	k := uint64(uint32(a.V[1].Base))
	if !ok || k >= uint64(a.Width) {
		return Value{}, false
	}
	exact := uint64(p.step)&ones(int(k)) == 0
	if a.Signed {
		return floorDiv(a, uint64(int64(p.first)>>k), uint64(int64(p.last)>>k), p.step>>k, exact)
	}
	return floorDiv(a, p.first>>k, p.last>>k, p.step>>k, exact)
}

// shrExact is shr where 2^k divides the stride.
func shrExact(a *Args) (Value, bool) {
	if a.V[0].Stride&ones(int(uint32(a.V[1].Base))) != 0 {
		return Value{}, false
	}
	return shr(a)
}

// floorDiv is the result of dividing a progression of numbers by a positive d and
// rounding down, which is monotonic: where the quotient is the same at both ends
// it is so in every lane; and where d divides the stride exactly,
// ⌊(x + n·s)/d⌋ = ⌊x/d⌋ + n·s/d.
func floorDiv(a *Args, first, last uint64, step int64, exact bool) (Value, bool) {
	switch {
	case first == last:
		return a.out(Value{Base: first})
	case exact:
		return a.out(anchored(a, first, uint64(step)))
	}
	return Value{}, false
}

// dividends reads operand 0 as numbers that are not negative in any lane, for
// then division rounds down, and operand 1 as a uniform positive divisor.
func dividends(a *Args) (p progression, d uint64, ok bool) {
	if !a.V[1].Uniform() {
		return p, 0, false
	}
	p, ok = a.numbers(0)
	q, _ := a.numbers(1)
	d = q.first
	if a.Signed && (int64(p.first) < 0 || int64(p.last) < 0 || int64(d) < 0) {
		ok = false
	}
	return p, d, ok && d != 0
}

// Division of numbers that are not negative by a positive uniform divisor: see
// floorDiv.
func div(a *Args) (Value, bool) {
	p, d, ok := dividends(a)
	if !ok {
		return Value{}, false
	}
	if int64(d) < 0 { // unsigned, and so large that quotients are 0 or 1
		return floorDiv(a, p.first/d, p.last/d, 0, false)
	}
	return floorDiv(a, p.first/d, p.last/d, p.step/int64(d), p.step%int64(d) == 0)
}

// The remainder x − d·⌊x/d⌋ of the same: affine where the quotient is the same in
// every lane, uniform where d divides the stride.
func rem(a *Args) (Value, bool) {
	p, d, ok := dividends(a)
	switch {
	case !ok:
		return Value{}, false
	case p.first/d == p.last/d:
		return a.out(anchored(a, p.first%d, uint64(p.step)))
	case int64(d) > 0 && p.step%int64(d) == 0:
		return a.out(Value{Base: p.first % d})
	}
	return Value{}, false
}

// A bit field of unsigned numbers, at a uniform place: shr, then and with the
// field's length in ones.
func bfe(a *Args) (Value, bool) {
	if a.Signed || !a.V[1].Uniform() || !a.V[2].Uniform() {
		return Value{}, false
	}
	used := uint64(0xff) // the bits of position and length that count
	if a.Width == 64 {
		used = 0xffffffff
	}
	pos, n := a.V[1].Base&used, min(a.V[2].Base&used, 64)
	b := *a
	b.V[1] = Value{Base: pos}
	v, ok := shr(&b)
	if !ok {
		return Value{}, false
	}
	b.V[0], b.V[1] = v, Value{Base: ones(int(n))}
	return and(&b)
}

// −(b + i·s) = −b + i·(−s): no condition.
func neg(a *Args) (Value, bool) { return a.out(Value{-a.V[0].Base, -a.V[0].Stride}) }

// ¬v = −v − 1: no condition.
func not(a *Args) (Value, bool) { return a.out(Value{^a.V[0].Base, -a.V[0].Stride}) }

// Where the sign is the same in every lane: the value or its negation. The ends
// decide, for numbers that do not wrap are monotonic.
func abs(a *Args) (Value, bool) {
	p, ok := a.numbers(0)
	switch {
	case !ok:
		return Value{}, false
	case int64(p.first) >= 0 && int64(p.last) >= 0:
		return a.out(a.V[0])
	case int64(p.first) <= 0 && int64(p.last) <= 0:
		return neg(a)
	}
	return Value{}, false
}

// ordered compares two operands whose difference has one sign in every lane: −1,
// 0 (equal at one end), 1. The difference of two progressions of numbers is
// linear, so its ends decide.
func ordered(a *Args) (sign int, ok bool) {
	p, ok0 := a.numbers(0)
	q, ok1 := a.numbers(1)
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

// The side that is not larger in any lane.
func minimum(a *Args) (Value, bool) {
	s, ok := ordered(a)
	if !ok {
		return Value{}, false
	}
	if s <= 0 {
		return a.out(a.V[0])
	}
	return a.out(a.V[1])
}

// The side that is not smaller in any lane.
func maximum(a *Args) (Value, bool) {
	s, ok := ordered(a)
	if !ok {
		return Value{}, false
	}
	if s >= 0 {
		return a.out(a.V[0])
	}
	return a.out(a.V[1])
}

// varying is a mask outside of which the bits of operand i are the same in all
// lanes: below the lowest set bit of the stride nothing changes, and above the
// highest bit in which the ends differ nothing does if the numbers do not wrap.
func varying(a *Args, i int) uint64 {
	v := a.V[i].reduce(a.Width)
	low := bits.TrailingZeros64(v.Stride)
	high := a.Width
	if p, ok := numbers(v, a.Width, false, a.First, a.Last); ok {
		high = bits.Len64(p.first ^ p.last)
	}
	return ones(high) &^ ones(low)
}

// affineAndUniform finds which operand is uniform; ok is false if neither is.
func affineAndUniform(a *Args) (x int, u uint64, ok bool) {
	switch {
	case a.V[1].Uniform():
		return 0, a.V[1].Base, true
	case a.V[0].Uniform():
		return 1, a.V[0].Base, true
	}
	return 0, 0, false
}

// With a uniform mask: if it keeps all varying bits, constant bits are taken away
// from every lane; if it clears them all, the result is uniform.
func and(a *Args) (Value, bool) {
	x, u, ok := affineAndUniform(a)
	if !ok {
		return Value{}, false
	}
	vary := varying(a, x)
	at := a.V[x].At(a.First)
	switch {
	case u&vary == vary:
		return a.out(anchored(a, at&u, a.V[x].Stride))
	case u&vary == 0:
		return a.out(Value{Base: at & u})
	}
	return Value{}, false
}

// anchored is the progression with a value at the first active lane.
func anchored(a *Args, at, stride uint64) Value {
	return Value{at - uint64(a.First)*stride, stride}
}

// With a uniform value: if it sets no varying bit, constant bits are added to
// every lane; if it sets them all, the result is uniform.
func or(a *Args) (Value, bool) {
	x, u, ok := affineAndUniform(a)
	if !ok {
		return Value{}, false
	}
	vary := varying(a, x)
	at := a.V[x].At(a.First)
	switch {
	case u&vary == 0:
		return a.out(anchored(a, at|u, a.V[x].Stride))
	case u&vary == vary:
		return a.out(Value{Base: at | u})
	}
	return Value{}, false
}

// With a uniform value: if it flips no varying bit, constant bits change alike in
// every lane; if it flips them all, the varying part f becomes 2^n − 1 − f, and
// the stride changes its sign.
func xor(a *Args) (Value, bool) {
	x, u, ok := affineAndUniform(a)
	if !ok {
		return Value{}, false
	}
	vary := varying(a, x)
	at := a.V[x].At(a.First)
	switch {
	case u&vary == 0:
		return a.out(anchored(a, at^u, a.V[x].Stride))
	case u&vary == vary:
		return a.out(anchored(a, at^u, -a.V[x].Stride))
	}
	return Value{}, false
}

// By a uniform predicate: the operand it selects.
func selectOne(a *Args) (Value, bool) {
	if a.P {
		return a.out(a.V[0])
	}
	return a.out(a.V[1])
}

// To a type that is not wider a conversion only cuts bits off: no condition. To a
// wider one it extends each lane's number, so the numbers must not wrap.
func convert(a *Args) (Value, bool) {
	if a.Out <= a.Width {
		return a.out(a.V[0])
	}
	p, ok := a.numbers(0)
	if !ok {
		return Value{}, false
	}
	return a.out(anchored(a, p.first, uint64(p.step)))
}

// Cmp is a comparison of integers.
type Cmp uint8

// The comparisons; the manual's lo, ls, hi and hs are Lt, Le, Gt and Ge of unsigned
// types.
const (
	NoCmp Cmp = iota
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
)

// CmpByName reads a comparison operator of PTX for integers; NoCmp for others.
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

// A comparison of numbers that do not wrap has the same outcome in every lane if
// it has at both ends and the difference does not change its sign between them.
// Equality also holds in all lanes if base and stride agree, wrap or not.
func compare(a *Args) (holds, ok bool) {
	if a.Cmp == Eq || a.Cmp == Ne {
		if a.V[0].reduce(a.Width) == a.V[1].reduce(a.Width) {
			return a.Cmp == Eq, true
		}
	}
	p, ok0 := a.numbers(0)
	q, ok1 := a.numbers(1)
	if !ok0 || !ok1 {
		return false, false
	}
	lt0, lt1 := p.less(p.first, q.first), p.less(p.last, q.last)
	gt0, gt1 := p.less(q.first, p.first), p.less(q.last, p.last)
	switch a.Cmp {
	case Lt:
		return lt0, lt0 == lt1
	case Ge:
		return !lt0, lt0 == lt1
	case Gt:
		return gt0, gt0 == gt1
	case Le:
		return !gt0, gt0 == gt1
	case Eq, Ne:
		// Unequal in every lane if one stays below the other.
		return a.Cmp == Ne, lt0 && lt1 || gt0 && gt1
	}
	return false, false
}
