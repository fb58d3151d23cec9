package affinetrack_test

// This file checks the rules against execution lane by lane, written here a
// second time, from the manual, on integers of unlimited size.

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// ruleModel is what an instruction does to one lane, and what its rule promises.
type ruleModel struct {
	rule ptx.Affine
	n    int // operands

	// lane computes on the operands as numbers of the instruction's type; the
	// result is taken modulo two to the width of the result.
	lane func(a *Args, x [3]*big.Int) *big.Int

	// promise reports whether the rule must find a result, provided that the
	// lanes' results make one in their slot.
	promise func(c *instance) bool

	second func(width int) *rapid.Generator[uint64] // values that matter as a uniform second operand
	amount bool                                     // it is a .u32, whatever the type
	types  []shape
}

// shape is the types of an instruction.
type shape struct {
	width, out int
	signed     bool
}

// operation is an instruction of these types.
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

// models has every rule there is; TestRulesHaveModels sees to that.
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
			// The field holds all bits in which the lanes differ, or none.
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

// multiplies: one factor is uniform; the wide form wants the other not to wrap.
func multiplies(c *instance) bool {
	u, v := c.a.Values[0].Uniform(), c.a.Values[1].Uniform()
	if c.a.Out == c.a.Width {
		return u || v
	}
	return u && c.steady(1) || v && c.steady(0)
}

// isDivisor: not negative by positive, and the quotient is affine.
func isDivisor(c *instance) bool {
	d := c.x[1][0]
	return c.dividend() && c.steady(0) && (c.sameQuotient(d) || multiple(c.step(0), d))
}

func (c *instance) dividend() bool {
	return c.a.Values[1].Uniform() && c.x[1][0].Sign() > 0 && c.all(0, func(v *big.Int) bool { return v.Sign() >= 0 })
}

func (c *instance) sameQuotient(d *big.Int) bool {
	return c.all(0, func(v *big.Int) bool { return floor(v, d).Cmp(floor(c.x[0][0], d)) == 0 })
}

// ordered: one side is the smaller in every lane.
func ordered(c *instance) bool {
	le, ge := true, true
	for i := range c.x[0] {
		s := c.x[0][i].Cmp(c.x[1][i])
		le, ge = le && s <= 0, ge && s >= 0
	}
	return c.steady(0) && c.steady(1) && (le || ge)
}

// masked: one side is uniform, and has all bits in which the lanes of the other
// differ, or none.
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

// instance is an instruction with operands, and what its lanes have.
type instance struct {
	m *ruleModel
	a Args
	x [3][]*big.Int // operands as numbers, by active lane
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

// number is operand i of a lane as the instruction reads it.
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

// steady reports whether operand i is a progression of numbers, from lane to
// lane by the same step, which is a number of the type's width.
func (c *instance) steady(i int) bool { return progression(c.x[i], int(c.a.Width)) }

// steadyBits is steady for the operand read without a sign.
func (c *instance) steadyBits(i int) bool {
	var list []*big.Int
	for _, v := range c.x[i] {
		list = append(list, modulo(v, int(c.a.Width)))
	}
	return progression(list, int(c.a.Width))
}

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

// varying is the lowest bit in which lanes of operand i differ, and the one after
// the highest; the same if there is none.
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

// fits reports whether the results make a progression in the slot: if they are as
// wide as it, anything affine modulo its width does; narrower ones sit there
// zero-extended.
func (c *instance) fits() bool { return c.a.Out >= c.a.Slot || progression(c.y, int(c.a.Out)) }

// check compares a rule's answer with the lanes.
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

func integer(v uint64) *big.Int    { return new(big.Int).SetUint64(v) }
func add(a, b *big.Int) *big.Int   { return new(big.Int).Add(a, b) }
func sub(a, b *big.Int) *big.Int   { return new(big.Int).Sub(a, b) }
func mul(a, b *big.Int) *big.Int   { return new(big.Int).Mul(a, b) }
func power(k uint64) *big.Int      { return new(big.Int).Lsh(big.NewInt(1), uint(k)) }
func floor(a, b *big.Int) *big.Int { return new(big.Int).Div(a, b) } // Euclidean, as b is positive
func multiple(a, b *big.Int) bool  { return new(big.Int).Mod(a, b).Sign() == 0 }
func modulo(a *big.Int, n int) *big.Int {
	return new(big.Int).Mod(a, power(uint64(n)))
}

// fieldPart is the position or length of a bit field in a number of n bits, cut
// where more makes no difference.
func fieldPart(n int, x *big.Int) uint64 {
	if n == 32 {
		return x.Uint64() & 0xff
	}
	return min(x.Uint64(), 255)
}

// TestRulesHaveModels: no rule goes untested.
func TestRulesHaveModels(t *testing.T) {
	have := map[ptx.Affine]bool{ptx.AffineCompare: true} // see TestCompare
	for _, m := range models {
		have[m.rule] = true
	}
	for r, rule := range Rules {
		if (rule.Apply != nil) != have[ptx.Affine(r)] {
			t.Errorf("rule %s: in the table %v, with a model %v", ptx.Affine(r), rule.Apply != nil, have[ptx.Affine(r)])
		}
	}
}

// TestRulesExhaustively runs every rule on all operands of tiny types. That is
// the whole truth for them, and as no rule looks at how wide a type is but through
// 2^width, nearly so for the others.
func TestRulesExhaustively(t *testing.T) {
	for _, m := range models {
		t.Run(m.rule.String(), func(t *testing.T) {
			t.Parallel()
			var affine, refused int
			for _, s := range m.tiny() {
				a := Args{Operation: s.operation(m.rule, s.slot)}
				operands(&a, m.n, func() {
					if m.rule == ptx.AffineSelect {
						a.Values[2].Base ^= 1
					}
					for _, r := range [][2]int{{0, 3}, {1, 3}, {2, 2}} {
						a.First, a.Last = r[0], r[1]
						c := newInstance(m, a)
						v, ok := Rules[m.rule].Execute(&a)
						if err := c.check(v, ok); err != nil {
							t.Fatalf("%v: %v", c, err)
						}
						switch {
						case !ok:
							refused++
						case !v.Uniform():
							affine++
						}
					}
				})
			}
			if affine == 0 || refused == 0 {
				t.Errorf("%d affine results and %d refusals, want some of both", affine, refused)
			}
		})
	}
}

type tinyShape struct {
	shape
	slot int
}

// tiny are small types: one as wide as its slot, one narrower, and where the
// instruction changes the width one wider and one narrower result.
func (m *ruleModel) tiny() []tinyShape {
	list := []tinyShape{{shape{3, 3, false}, 3}, {shape{3, 3, true}, 3}, {shape{2, 2, false}, 3}, {shape{2, 2, true}, 3}}
	switch m.rule {
	case ptx.AffineMul:
		list = append(list, tinyShape{shape{2, 4, false}, 4}, tinyShape{shape{2, 4, true}, 4})
	case ptx.AffineMad: // of 3 bits instead of 4, for there are three operands
		list = append(list, tinyShape{shape{2, 3, false}, 3}, tinyShape{shape{2, 3, true}, 3})
	case ptx.AffineConvert:
		list = append(list, tinyShape{shape{2, 4, false}, 4}, tinyShape{shape{2, 4, true}, 4}, tinyShape{shape{3, 2, false}, 3}, tinyShape{shape{2, 3, true}, 4})
	case ptx.AffineBfe:
		return []tinyShape{{shape{3, 3, false}, 3}}
	case ptx.AffineAbs:
		return []tinyShape{{shape{3, 3, true}, 3}, {shape{2, 2, true}, 3}}
	}
	return list
}

// operands sets a's operands to all values of its slot in turn, a third one to a
// few, and calls f.
func operands(a *Args, n int, f func()) {
	if n == 0 {
		f()
		return
	}
	size, by := uint64(1)<<int(a.Slot), uint64(1)
	if n == 3 {
		by = size/4 + 1
	}
	for b := uint64(0); b < size; b += by {
		for s := uint64(0); s < size; s += by {
			a.Values[n-1] = Value{Base: b, Stride: s}
			operands(a, n-1, f)
		}
	}
}

// TestRules runs every rule on operands of the types PTX has, mostly near the
// places where numbers wrap.
func TestRules(t *testing.T) {
	for _, m := range models {
		for _, s := range m.types {
			t.Run(fmt.Sprintf("%s/%s", m.rule, s), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) {
					a := m.args(t, s)
					c := newInstance(m, a)
					v, ok := Rules[m.rule].Execute(&a)
					if err := c.check(v, ok); err != nil {
						t.Fatalf("%v: %v", c, err)
					}
				})
			})
		}
	}
}

// args draws an instruction's operands.
func (m *ruleModel) args(t *rapid.T, s shape) Args {
	a := Args{Operation: s.operation(m.rule, slotOf(s.out))}
	a.First, a.Last = lanes(t)
	for i := range m.n {
		width := s.width
		if m.rule == ptx.AffineMad && i == 2 {
			width = s.out
		}
		if m.amount && i > 0 {
			width = 32
		}
		v := values(width, a.First, a.Last).Draw(t, fmt.Sprint("operand ", i))
		if i > 0 && m.second != nil && rapid.IntRange(0, 7).Draw(t, "uniform") > 0 && !(m.rule == ptx.AffineMad && i == 2) {
			v = Value{Base: m.second(width).Draw(t, fmt.Sprint("uniform ", i))}
		}
		a.Values[i] = v.Truncate(slotOf(width))
	}
	if m.rule == ptx.AffineSelect {
		a.Values[2].Base = rapid.Uint64Range(0, 1).Draw(t, "predicate")
	}
	if m.second != nil && !m.amount && m.rule != ptx.AffineDiv && m.rule != ptx.AffineRem && rapid.Bool().Draw(t, "swap") {
		a.Values[0], a.Values[1] = a.Values[1], a.Values[0]
	}
	return a
}

// slotOf is the width of the slot that holds a register.
func slotOf(width int) int {
	if width > 32 {
		return 64
	}
	return 32
}

// lanes draws the lowest and highest active lane.
func lanes(t *rapid.T) (first, last int) {
	switch rapid.IntRange(0, 3).Draw(t, "lanes") {
	case 0:
		return 0, 31
	case 1:
		first = rapid.IntRange(0, 31).Draw(t, "lane")
		return first, first
	}
	first = rapid.IntRange(0, 30).Draw(t, "first")
	return first, rapid.IntRange(first, 31).Draw(t, "last")
}

// edges draws numbers near those where a type of so many bits wraps.
func edges(width int) *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 {
		offset := uint64(rapid.IntRange(-40, 40).Draw(t, "near"))
		switch rapid.IntRange(0, 5).Draw(t, "edge") {
		case 0:
			return offset
		case 1:
			return 1<<(width-1) + offset
		case 2:
			return ^uint64(0)>>(64-width) + offset
		case 3:
			return 1<<rapid.IntRange(0, width-1).Draw(t, "bit") + offset
		case 4:
			return rapid.Uint64().Draw(t, "any") >> rapid.IntRange(0, 63).Draw(t, "shift")
		}
		return 0
	})
}

// strides draws strides: none, one, powers of two and their negatives, numbers
// that wrap.
func strides(width int) *rapid.Generator[uint64] {
	return rapid.Custom(func(t *rapid.T) uint64 {
		s := uint64(0)
		switch rapid.IntRange(0, 6).Draw(t, "stride") {
		case 0:
		case 1:
			s = 1
		case 2, 3:
			s = 1 << rapid.IntRange(0, width-1).Draw(t, "bit")
		case 4:
			s = rapid.Uint64Range(0, 100).Draw(t, "small")
		case 5:
			s = edges(width).Draw(t, "edge")
		case 6:
			s = (1<<width - 1) / 31 // the whole range in a warp
		}
		if rapid.Bool().Draw(t, "negative") {
			s = -s
		}
		return s
	})
}

// values draws descriptions, often with one of the active lanes at an edge.
func values(width, first, last int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		v := Value{Base: edges(width).Draw(t, "base"), Stride: strides(width).Draw(t, "stride")}
		if rapid.Bool().Draw(t, "anchored") {
			lane := rapid.SampledFrom([]int{first, last, (first + last) / 2}).Draw(t, "anchor")
			v.Base -= uint64(lane) * v.Stride
		}
		return v
	})
}

// amounts draws shift amounts and lengths of fields.
func amounts(int) *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Range(0, 70), rapid.SampledFrom([]uint64{0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 31, 1<<32 - 1}))
}

// factors draws what one multiplies and divides by.
func factors(width int) *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Range(0, 40), edges(width))
}

// masks draws what one masks with: a run of bits, or all but one.
func masks(width int) *rapid.Generator[uint64] {
	return rapid.OneOf(edges(width), rapid.Custom(func(t *rapid.T) uint64 {
		m := ^uint64(0) >> (64 - rapid.IntRange(1, width).Draw(t, "length")) << rapid.IntRange(0, width-1).Draw(t, "place")
		if rapid.Bool().Draw(t, "complement") {
			m = ^m
		}
		return m
	}))
}

// compareLane is the comparison of a lane.
func compareLane(op Cmp, x, y *big.Int) bool {
	s := x.Cmp(y)
	switch op {
	case Eq:
		return s == 0
	case Ne:
		return s != 0
	case Lt:
		return s < 0
	case Le:
		return s <= 0
	case Gt:
		return s > 0
	}
	return s >= 0
}

// checkCompare compares a decision with the lanes.
func checkCompare(a *Args) (decided bool, err error) {
	c := newInstance(&ruleModel{n: 2, lane: func(a *Args, x [3]*big.Int) *big.Int { return x[0] }}, *a)
	want, same := compareLane(a.Cmp, c.x[0][0], c.x[1][0]), true
	le, ge := true, true // … in every lane
	for i := range c.x[0] {
		same = same && compareLane(a.Cmp, c.x[0][i], c.x[1][i]) == want
		le, ge = le && c.x[0][i].Cmp(c.x[1][i]) <= 0, ge && c.x[0][i].Cmp(c.x[1][i]) >= 0
	}
	v, ok := Rules[ptx.AffineCompare].Execute(a)
	holds := v.Base != 0
	// It promises a decision where the outcome is the same in all lanes, numbers do
	// not wrap, and, of (in)equality, one side stays below the other.
	promise := same && c.steady(0) && c.steady(1) && len(c.x[0]) > 1
	if a.Cmp == Eq || a.Cmp == Ne {
		promise = promise && (le || ge) || a.Values[0].Truncate(int(a.Width)) == a.Values[1].Truncate(int(a.Width))
	}
	switch {
	case ok && !same:
		return ok, fmt.Errorf("%v %d: decided as %v, but lanes differ", c, a.Cmp, holds)
	case ok && holds != want:
		return ok, fmt.Errorf("%v %d: decided as %v, but every lane has %v", c, a.Cmp, holds, want)
	case !ok && promise:
		return ok, fmt.Errorf("%v %d: not decided, but every lane has %v", c, a.Cmp, want)
	}
	return ok, nil
}

func TestCompareExhaustively(t *testing.T) {
	for _, s := range []tinyShape{{shape{3, 3, false}, 3}, {shape{3, 3, true}, 3}, {shape{2, 2, false}, 3}, {shape{2, 2, true}, 3}} {
		for op := Eq; op <= Ge; op++ {
			a := Args{Operation: s.operation(ptx.AffineCompare, s.slot)}
			a.Cmp = op
			decided, open := 0, 0
			operands(&a, 2, func() {
				for _, r := range [][2]int{{0, 3}, {1, 3}, {2, 2}} {
					a.First, a.Last = r[0], r[1]
					ok, err := checkCompare(&a)
					if err != nil {
						t.Fatal(err)
					}
					if ok {
						decided++
					} else {
						open++
					}
				}
			})
			if decided == 0 || open == 0 {
				t.Errorf("comparison %d: %d decided, %d not, want some of both", op, decided, open)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	for _, s := range plainTypes {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				a := Args{Operation: s.operation(ptx.AffineCompare, slotOf(s.width))}
				a.Cmp = rapid.SampledFrom([]Cmp{Eq, Ne, Lt, Le, Gt, Ge}).Draw(t, "comparison")
				a.First, a.Last = lanes(t)
				a.Values[0] = values(s.width, a.First, a.Last).Draw(t, "a").Truncate(int(a.Slot))
				a.Values[1] = values(s.width, a.First, a.Last).Draw(t, "b").Truncate(int(a.Slot))
				if rapid.IntRange(0, 3).Draw(t, "near") == 0 { // as far apart as a step or so
					offset := uint64(rapid.IntRange(-2, 2).Draw(t, "apart"))
					lane := uint64(rapid.SampledFrom([]int{a.First, a.Last}).Draw(t, "lane"))
					a.Values[1] = Value{Base: a.Values[0].Base + lane*a.Values[0].Stride + offset}.Truncate(int(a.Slot))
				}
				if _, err := checkCompare(&a); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestCmpByName has the comparison operators of the manual for integers, 9.3.1.1
// and 9.7.6.2.
func TestCmpByName(t *testing.T) {
	want := map[string]Cmp{"eq": Eq, "ne": Ne, "lt": Lt, "le": Le, "gt": Gt, "ge": Ge, "lo": Lt, "ls": Le, "hi": Gt, "hs": Ge}
	for name, cmp := range want {
		if got := CmpByName(name); got != cmp {
			t.Errorf("%s is %d, want %d", name, got, cmp)
		}
	}
	for _, name := range []string{"", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "EQ"} {
		if got := CmpByName(name); got != NoCmp {
			t.Errorf("%q is comparison %d of integers", name, got)
		}
	}
}

// executions tells what the functional unit makes of an instruction on operands of
// classes: whether it has a compact result for some, and a uniform one for all.
type executions struct{ some, uniform bool }

// classesOf runs a rule on all operands of tiny types, sorted by their classes.
// run is an execution; operands that are all uniform execute once.
func classesOf(m *ruleModel, run func(a *Args) (Value, bool)) map[[3]Class]executions {
	found := map[[3]Class]executions{}
	for _, s := range m.tiny() {
		a := Args{Operation: s.operation(m.rule, s.slot), Last: 3}
		operands(&a, m.n, func() {
			var key [3]Class
			for i := range m.n {
				key[i] = a.Values[i].Class()
			}
			e, seen := found[key]
			for p := range uint64(2) {
				if m.rule == ptx.AffineSelect {
					a.Values[2].Base = p
				}
				v, ok := run(&a)
				e.some = e.some || ok
				e.uniform = (e.uniform || !seen) && ok && v.Uniform()
				seen = true
			}
			found[key] = e
		})
	}
	return found
}

// checkTransfer compares what Transfer says of classes of operands with executions
// on all operands of these classes.
func checkTransfer(t *testing.T, rule ptx.Affine, n int, found map[[3]Class]executions) {
	t.Helper()
	if want := 1 << n; len(found) != want {
		t.Fatalf("rule %s: operands of %d combinations of classes, want %d", rule, len(found), want)
	}
	for key, e := range found {
		want := Affine
		switch {
		case !e.some:
			want = Generic
		case e.uniform:
			want = Uniform
		}
		if got := Transfer(rule, key[:n]); got != want {
			t.Errorf("rule %s of %s: class %s, executions want %s", rule, key[:n], got, want)
		}
		// With less structure in any operand there is none in the result.
		for i := range n {
			weaker := key
			weaker[i] = Generic
			if got := Transfer(rule, weaker[:n]); got != Generic {
				t.Errorf("rule %s of %s: class %s, want g", rule, weaker[:n], got)
			}
		}
	}
}

// TestTransfer: of every rule, Transfer finds Generic where no operands of the
// classes have a compact result, Uniform where all have a uniform one, and Affine
// in between.
func TestTransfer(t *testing.T) {
	u := NewUnit(Policies[0], Rules)
	for _, m := range models {
		checkTransfer(t, m.rule, m.n, classesOf(m, func(a *Args) (Value, bool) {
			v, answer := executeLanes(&u, a, m.n)
			return v, answer != PerLane // once: whatever it is, it is uniform
		}))
	}
	compared := &ruleModel{rule: ptx.AffineCompare, n: 2}
	checkTransfer(t, ptx.AffineCompare, 2, classesOf(compared, func(a *Args) (v Value, ok bool) {
		// Lt stands for all: that they decide the same sorts of operands is
		// TestCompareExhaustively's. Decisions are uniform, but whether there is one is
		// up to the operands.
		a.Cmp = Lt
		_, answer := executeLanes(&u, a, 2)
		if answer == CompactResult {
			v.Stride = 1
		}
		return v, answer != PerLane
	}))
}

// TestTransferWithoutRules: rules that are none of arithmetic have a result for
// uniform operands at most.
func TestTransferWithoutRules(t *testing.T) {
	for _, c := range []struct {
		rule     ptx.Affine
		operands []Class
		want     Class
	}{
		{ptx.AffineNone, []Class{Uniform}, Generic},
		{ptx.AffineUniform, []Class{Uniform, Uniform}, Uniform},
		{ptx.AffineUniform, []Class{Uniform, Affine}, Generic},
		{ptx.AffineUniform, []Class{Generic}, Generic},
		{ptx.AffineUniform, nil, Uniform},
		// A selection by a predicate that may be uniform, and by one that never is.
		{ptx.AffineSelect, []Class{Uniform, Uniform, Affine}, Affine},
		{ptx.AffineSelect, []Class{Affine, Uniform, Affine}, Affine},
		{ptx.AffineSelect, []Class{Uniform, Uniform, Generic}, Generic},
		{ptx.AffineSelect, []Class{Affine, Affine, Generic}, Generic},
	} {
		if got := Transfer(c.rule, c.operands); got != c.want {
			t.Errorf("rule %s of %s: class %s, want %s", c.rule, c.operands, got, c.want)
		}
	}
}
