package affinetrack_test

// This file checks the rules against lane-by-lane execution on integers of unlimited size (model_test.go). The models
// are a second implementation, written from the manual.

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/internal/part"
	"gemu/ptx"
)

// TestRulesHaveModels checks that every rule has a model.
func TestRulesHaveModels(t *testing.T) {
	hasModel := map[ptx.Affine]bool{ptx.AffineCompare: true} // see TestCompareRandomly
	for _, m := range models {
		hasModel[m.rule] = true
	}
	for r, rule := range Rules {
		if (rule.Apply != nil) != hasModel[ptx.Affine(r)] {
			t.Errorf("rule %s: in the table %v, with a model %v", ptx.Affine(r), rule.Apply != nil, hasModel[ptx.Affine(r)])
		}
	}
}

// TestRulesExhaustively runs every rule on all operands of tiny types. It proves the rules for these types; as rules
// depend on a type's width only through 2^width, it is strong evidence for all types. Without GEMU_TEST it tries a third
// of the operands with their ranges of lanes, in CI half of them.
func TestRulesExhaustively(t *testing.T) {
	part.SkipShort(t)
	for _, m := range models {
		t.Run(m.rule.String(), func(t *testing.T) {
			t.Parallel()
			var affine, refused int
			n, isTried := 0, part.Share(t, 3, 2, 1)
			for _, s := range m.tiny() {
				a := Args{Operation: s.operation(m.rule, s.slot)}
				operands(&a, m.n, func() {
					if m.rule == ptx.AffineSelect {
						a.Values[2].Base ^= 1
					}
					for _, r := range [][2]int{{0, 3}, {1, 3}, {2, 2}} {
						if n++; !isTried(n + n/3) { // n/3: another range for the next operands
							continue
						}
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

// tinyShape is a shape with types of few bits, and the width of the result's slot.
type tinyShape struct {
	shape
	slot int
}

// tiny returns small types: a type with the width of its slot, a narrower type and, if the instruction changes the
// width, a wider and a narrower result.
func (m *ruleModel) tiny() []tinyShape {
	list := []tinyShape{{shape{3, 3, false}, 3}, {shape{3, 3, true}, 3}, {shape{2, 2, false}, 3}, {shape{2, 2, true}, 3}}
	switch m.rule {
	case ptx.AffineMul:
		list = append(list, tinyShape{shape{2, 4, false}, 4}, tinyShape{shape{2, 4, true}, 4})
	case ptx.AffineMad: // 3 bits instead of 4, because there are three operands
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

// operands calls f for all values of the first n operands of a, which have the width of a slot. Of a third operand it uses
// only some values.
func operands(a *Args, n int, f func()) {
	if n == 0 {
		f()
		return
	}
	size, increment := uint64(1)<<int(a.Slot), uint64(1)
	if n == 3 {
		increment = size/4 + 1
	}
	for b := uint64(0); b < size; b += increment {
		for s := uint64(0); s < size; s += increment {
			a.Values[n-1] = Value{Base: b, Stride: s}
			operands(a, n-1, f)
		}
	}
}

// TestRulesNearWrapping runs every rule on operands of PTX's types, mostly near the numbers where they wrap.
func TestRulesNearWrapping(t *testing.T) {
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

// slotOf returns the width of the slot of a register.
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

// edges draws numbers near the wrapping points of a type with width bits.
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

// strides draws strides: 0, 1, powers of two and their negatives, numbers that wrap.
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
			s = (1<<width - 1) / 31 // the whole range within a warp
		}
		if rapid.Bool().Draw(t, "negative") {
			s = -s
		}
		return s
	})
}

// values draws compact values, often with the value of an active lane near a wrapping point.
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

// factors draws factors and divisors.
func factors(width int) *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.Uint64Range(0, 40), edges(width))
}

// masks draws masks: a run of bits, or its complement.
func masks(width int) *rapid.Generator[uint64] {
	return rapid.OneOf(edges(width), rapid.Custom(func(t *rapid.T) uint64 {
		m := ^uint64(0) >> (64 - rapid.IntRange(1, width).Draw(t, "length")) << rapid.IntRange(0, width-1).Draw(t, "place")
		if rapid.Bool().Draw(t, "complement") {
			m = ^m
		}
		return m
	}))
}
