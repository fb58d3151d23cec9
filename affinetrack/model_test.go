package affinetrack_test

import (
	"fmt"
	"math/big"
	"strings"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// ruleModel is the model of an instruction: its effect on one lane, and the cases in which its rule must find a result.
type ruleModel struct {
	rule ptx.Affine
	n    int // number of operands

	// lane computes on the operands as numbers of the instruction's type. The result is taken modulo 2^Out.
	lane func(a *Args, x [3]*big.Int) *big.Int

	// promise reports whether the rule must find a result, provided that the lanes' results are a progression in their
	// slot.
	promise func(c *instance) bool

	second func(width int) *rapid.Generator[uint64] // values of a uniform second operand; nil if no special values are needed
	amount bool                                     // the second operand is always a .u32
	types  []shape
}

// shape contains the types of an instruction.
type shape struct {
	width, out int
	signed     bool
}

// operation returns an instruction of these types.
func (s shape) operation(rule ptx.Affine, slot int) Operation {
	return Operation{Rule: rule, Width: uint8(s.width), Out: uint8(s.out), Signed: s.signed, Slot: uint8(slot)}
}

func (s shape) String() string {
	sign := "u"
	if s.signed {
		sign = "s"
	}
	return fmt.Sprintf("%s%d-%d", sign, s.width, s.out)
}

var (
	plainTypes = []shape{{8, 8, false}, {8, 8, true}, {16, 16, false}, {16, 16, true}, {32, 32, false}, {32, 32, true}, {64, 64, false}, {64, 64, true}}
	mulTypes   = append([]shape{{8, 16, false}, {16, 32, false}, {16, 32, true}, {32, 64, false}, {32, 64, true}}, plainTypes...)
	cvtTypes   = func() (list []shape) {
		for _, w := range []int{8, 16, 32, 64} {
			for _, out := range []int{8, 16, 32, 64} {
				list = append(list, shape{w, out, false}, shape{w, out, true})
			}
		}
		return list
	}()
)

// models contains a model of every rule but AffineCompare, as TestRulesHaveModels checks.
var models = []*ruleModel{
	{rule: ptx.AffineMove, n: 1, types: plainTypes, promise: always,
		lane: func(a *Args, x [3]*big.Int) *big.Int { return x[0] }},
	{rule: ptx.AffineAdd, n: 2, types: plainTypes, promise: always, // 9.7.1.1
		lane: func(a *Args, x [3]*big.Int) *big.Int { return add(x[0], x[1]) }},
	{rule: ptx.AffineSub, n: 2, types: plainTypes, promise: always, // 9.7.1.2
		lane: func(a *Args, x [3]*big.Int) *big.Int { return sub(x[0], x[1]) }},
	{rule: ptx.AffineMul, n: 2, types: mulTypes, promise: multiplies, second: factors, // 9.7.1.3
		lane: func(a *Args, x [3]*big.Int) *big.Int { return mul(x[0], x[1]) }},
	{rule: ptx.AffineMad, n: 3, types: mulTypes, promise: multiplies, second: factors, // 9.7.1.4
		lane: func(a *Args, x [3]*big.Int) *big.Int { return add(mul(x[0], x[1]), x[2]) }},
	{rule: ptx.AffineShl, n: 2, types: plainTypes, second: amounts, amount: true, // 9.7.8.8: amounts are clamped to the width
		promise: func(c *instance) bool { return c.a.Values[1].Uniform() },
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			return mul(x[0], power(min(x[1].Uint64(), uint64(a.Width))))
		}},
	{rule: ptx.AffineShr, n: 2, types: plainTypes, second: amounts, amount: true, // 9.7.8.9: fills with the sign
		promise: func(c *instance) bool {
			k := c.x[1][0].Uint64()
			return c.a.Values[1].Uniform() && k < uint64(c.a.Width) && c.steady(0) && (c.constant() || multiple(c.step(0), power(k)))
		},
		lane: func(a *Args, x [3]*big.Int) *big.Int { return floor(x[0], power(min(x[1].Uint64(), uint64(a.Width)))) }},
	{rule: ptx.AffineDiv, n: 2, types: plainTypes, second: factors, promise: isDivisor, // 9.7.1.8: rounds to zero
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			if x[1].Sign() == 0 {
				return nil // undefined
			}
			return new(big.Int).Quo(x[0], x[1])
		}},
	{rule: ptx.AffineRem, n: 2, types: plainTypes, second: factors, // 9.7.1.9
		promise: func(c *instance) bool {
			if !isDivisor(c) {
				d := c.x[1][0]
				return c.dividend() && c.steady(0) && c.sameQuotient(d)
			}
			return true
		},
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			if x[1].Sign() == 0 {
				return nil
			}
			return new(big.Int).Rem(x[0], x[1])
		}},
	{rule: ptx.AffineBfe, n: 3, types: []shape{{32, 32, false}, {64, 64, false}}, second: amounts, amount: true, // 9.7.1.19
		promise: func(c *instance) bool {
			if !c.a.Values[1].Uniform() || !c.a.Values[2].Uniform() {
				return false
			}
			pos, n := fieldPart(int(c.a.Width), c.x[1][0]), fieldPart(int(c.a.Width), c.x[2][0])
			if pos >= uint64(c.a.Width) || !c.steady(0) {
				return false
			}
			// The field contains all bits in which the lanes differ, or none.
			lo, hi := c.varying(0)
			return hi <= lo || pos <= uint64(lo) && uint64(hi) <= pos+n || uint64(hi) <= pos || pos+n <= uint64(lo) && multiple(c.step(0), power(pos))
		},
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			return modulo(floor(x[0], power(fieldPart(int(a.Width), x[1]))), int(fieldPart(int(a.Width), x[2])))
		}},
	{rule: ptx.AffineNeg, n: 1, types: plainTypes, promise: always, // 9.7.1.11
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).Neg(x[0]) }},
	{rule: ptx.AffineNot, n: 1, types: plainTypes, promise: always, // 9.7.8.4
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).Not(x[0]) }},
	{rule: ptx.AffineAbs, n: 1, types: []shape{{16, 16, true}, {32, 32, true}, {64, 64, true}}, // 9.7.1.10
		promise: func(c *instance) bool {
			return c.steady(0) && (c.all(0, func(v *big.Int) bool { return v.Sign() >= 0 }) || c.all(0, func(v *big.Int) bool { return v.Sign() <= 0 }))
		},
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).Abs(x[0]) }},
	{rule: ptx.AffineMin, n: 2, types: plainTypes, promise: ordered, // 9.7.1.12
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			if x[0].Cmp(x[1]) < 0 {
				return x[0]
			}
			return x[1]
		}},
	{rule: ptx.AffineMax, n: 2, types: plainTypes, promise: ordered, // 9.7.1.13
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			if x[0].Cmp(x[1]) > 0 {
				return x[0]
			}
			return x[1]
		}},
	{rule: ptx.AffineAnd, n: 2, types: plainTypes, second: masks, promise: masked, // 9.7.8.1
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).And(x[0], x[1]) }},
	{rule: ptx.AffineOr, n: 2, types: plainTypes, second: masks, promise: masked, // 9.7.8.2
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).Or(x[0], x[1]) }},
	{rule: ptx.AffineXor, n: 2, types: plainTypes, second: masks, promise: masked, // 9.7.8.3
		lane: func(a *Args, x [3]*big.Int) *big.Int { return new(big.Int).Xor(x[0], x[1]) }},
	{rule: ptx.AffineSelect, n: 2, types: plainTypes, promise: always, // 9.7.6.3
		lane: func(a *Args, x [3]*big.Int) *big.Int {
			if a.Values[2].Base != 0 {
				return x[0]
			}
			return x[1]
		}},
	{rule: ptx.AffineConvert, n: 1, types: cvtTypes, // 9.7.9.21
		promise: func(c *instance) bool { return c.a.Out <= c.a.Width || c.steady(0) },
		lane:    func(a *Args, x [3]*big.Int) *big.Int { return x[0] }},
}

func always(c *instance) bool { return true }

// multiplies reports whether one factor is uniform and, in the wide form, the other does not wrap.
func multiplies(c *instance) bool {
	u, v := c.a.Values[0].Uniform(), c.a.Values[1].Uniform()
	if c.a.Out == c.a.Width {
		return u || v
	}
	return u && c.steady(1) || v && c.steady(0)
}

// isDivisor reports whether non-negative numbers are divided by a uniform positive number, and the quotient is a
// progression.
func isDivisor(c *instance) bool {
	d := c.x[1][0]
	return c.dividend() && c.steady(0) && (c.sameQuotient(d) || multiple(c.step(0), d))
}

// dividend reports whether the first operand is non-negative in all lanes, and the second uniform and positive.
func (c *instance) dividend() bool {
	return c.a.Values[1].Uniform() && c.x[1][0].Sign() > 0 && c.all(0, func(v *big.Int) bool { return v.Sign() >= 0 })
}

// sameQuotient reports whether the first operand divided by d is the same in all lanes.
func (c *instance) sameQuotient(d *big.Int) bool {
	return c.all(0, func(v *big.Int) bool { return floor(v, d).Cmp(floor(c.x[0][0], d)) == 0 })
}

// ordered reports whether the operands do not wrap, and the same operand is the smaller in every lane.
func ordered(c *instance) bool {
	le, ge := true, true
	for i := range c.x[0] {
		s := c.x[0][i].Cmp(c.x[1][i])
		le, ge = le && s <= 0, ge && s >= 0
	}
	return c.steady(0) && c.steady(1) && (le || ge)
}

// masked reports whether one operand is uniform, and has all or none of the bits in which the lanes of the other differ.
func masked(c *instance) bool {
	x, u := 0, 1
	if !c.a.Values[1].Uniform() {
		x, u = 1, 0
	}
	if !c.a.Values[u].Uniform() || !c.steadyBits(x) {
		return false
	}
	lo, hi := c.varying(x)
	if hi <= lo {
		return true
	}
	field := floor(modulo(c.x[u][0], hi), power(uint64(lo)))
	return field.Sign() == 0 || add(field, big.NewInt(1)).Cmp(power(uint64(hi-lo))) == 0
}

// instance is an instruction with operands, and the numbers in its lanes.
type instance struct {
	m *ruleModel
	a Args
	x [3][]*big.Int // operands as numbers, for each active lane
	y []*big.Int    // results modulo 2^Out; nil if undefined
}

func newInstance(m *ruleModel, a Args) *instance {
	c := &instance{m: m, a: a}
	for lane := a.First; lane <= a.Last; lane++ {
		var x [3]*big.Int
		for i := range m.n {
			x[i] = c.number(i, lane)
			c.x[i] = append(c.x[i], x[i])
		}
		y := m.lane(&a, x)
		if y == nil {
			c.y = nil
			return c
		}
		c.y = append(c.y, modulo(y, int(a.Out)))
	}
	return c
}

// number returns operand i of a lane as the instruction reads it.
func (c *instance) number(i, lane int) *big.Int {
	width, signed := int(c.a.Width), c.a.Signed
	switch {
	case c.m.amount && i > 0:
		width, signed = min(32, int(c.a.Slot)), false
	case c.m.rule == ptx.AffineMad && i == 2:
		width = int(c.a.Out)
	}
	v := modulo(add(integer(c.a.Values[i].Base), mul(big.NewInt(int64(lane)), integer(c.a.Values[i].Stride))), width)
	if signed && v.Bit(width-1) != 0 {
		v.Sub(v, power(uint64(width)))
	}
	return v
}

// steady reports whether operand i is a progression of numbers: the step from lane to lane is the same everywhere, and fits
// the type's width as a signed number.
func (c *instance) steady(i int) bool { return progression(c.x[i], int(c.a.Width)) }

// steadyBits is steady for the operand as an unsigned number.
func (c *instance) steadyBits(i int) bool {
	var list []*big.Int
	for _, v := range c.x[i] {
		list = append(list, modulo(v, int(c.a.Width)))
	}
	return progression(list, int(c.a.Width))
}

// progression reports whether the numbers have the same distance from one to the next, which fits width bits as a signed
// number.
func progression(x []*big.Int, width int) bool {
	if len(x) < 2 {
		return true
	}
	d := sub(x[1], x[0])
	for i := range x[1:] {
		if sub(x[i+1], x[i]).Cmp(d) != 0 {
			return false
		}
	}
	return d.BitLen() < width || d.Cmp(new(big.Int).Neg(power(uint64(width-1)))) == 0
}

func (c *instance) step(i int) *big.Int {
	if len(c.x[i]) < 2 {
		return new(big.Int)
	}
	return sub(c.x[i][1], c.x[i][0])
}

func (c *instance) all(i int, ok func(v *big.Int) bool) bool {
	for _, v := range c.x[i] {
		if !ok(v) {
			return false
		}
	}
	return true
}

// constant reports whether all lanes have the same result.
func (c *instance) constant() bool {
	for _, y := range c.y {
		if y.Cmp(c.y[0]) != 0 {
			return false
		}
	}
	return true
}

// varying returns the lowest bit in which lanes of operand i differ, and the bit after the highest; equal numbers if
// there is none.
func (c *instance) varying(i int) (lo, hi int) {
	differ := new(big.Int)
	for _, v := range c.x[i] {
		differ.Or(differ, new(big.Int).Xor(modulo(v, int(c.a.Width)), modulo(c.x[i][0], int(c.a.Width))))
	}
	if differ.Sign() == 0 {
		return 0, 0
	}
	return int(differ.TrailingZeroBits()), differ.BitLen()
}

// fits reports whether a compact result can be stored in the slot. It can if the result is as wide as the slot. A narrower
// result is zero-extended in the slot, so it must be a progression of unsigned numbers.
func (c *instance) fits() bool { return c.a.Out >= c.a.Slot || progression(c.y, int(c.a.Out)) }

// check compares a rule's result with the lanes.
func (c *instance) check(v Value, ok bool) error {
	if !ok {
		if c.y != nil && c.m.promise(c) && c.fits() {
			return fmt.Errorf("no result, want one: lanes have %v", c.y)
		}
		return nil
	}
	if c.y == nil {
		return nil // undefined in some lane
	}
	for i, want := range c.y {
		lane := c.a.First + i
		got := modulo(add(integer(v.Base), mul(big.NewInt(int64(lane)), integer(v.Stride))), int(c.a.Slot))
		if got.Cmp(want) != 0 {
			return fmt.Errorf("%v: lane %d has %#x, want %#x", v, lane, got, want)
		}
	}
	return nil
}

func (c *instance) String() string {
	var ops []string
	for i := range c.m.n {
		ops = append(ops, c.a.Values[i].String())
	}
	return fmt.Sprintf("%s %s predicate %d slot %d lanes %d to %d", shape{int(c.a.Width), int(c.a.Out), c.a.Signed}, strings.Join(ops, ", "), c.a.Values[2].Base, c.a.Slot, c.a.First, c.a.Last)
}

func integer(v uint64) *big.Int { return new(big.Int).SetUint64(v) }

func add(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }

func sub(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

func mul(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }

func power(k uint64) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(k)) }

func floor(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) } // Euclidean, because b is positive

func multiple(a, b *big.Int) bool { return new(big.Int).Mod(a, b).Sign() == 0 }

func modulo(a *big.Int, n int) *big.Int {
	return new(big.Int).Mod(a, power(uint64(n)))
}

// fieldPart returns the position or length of a bit field in a number of n bits, limited to the values that make a
// difference.
func fieldPart(n int, x *big.Int) uint64 {
	if n == 32 {
		return x.Uint64() & 0xff
	}
	return min(x.Uint64(), 255)
}
