package affinetrack_test

// This file compares Unit's methods for one, two and three operands, which use fast forms, with the rules.

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// drawValue draws a compact register of a slot, including corner cases such as wrapping.
func drawValue(t *rapid.T, slot int, name string) Value {
	mask := ^uint64(0) >> (64 - slot)
	small := rapid.SampledFrom([]uint64{0, 1, 4, ^uint64(0), ^uint64(3), 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1})
	number := rapid.OneOf(small, rapid.Map(rapid.IntRange(-200, 200), func(n int) uint64 { return uint64(n) }), rapid.Uint64())
	return Value{Base: number.Draw(t, name) & mask, Stride: rapid.OneOf(rapid.Just(uint64(0)), number).Draw(t, name+" stride") & mask}
}

// drawLanes draws a mask of at least one lane.
func drawLanes(t *rapid.T, name string) uint32 {
	return rapid.OneOf(rapid.Just(^uint32(0)), rapid.Uint32Range(1, 1<<32-1), rapid.Map(rapid.IntRange(0, 31), func(i int) uint32 { return 1 << i })).Draw(t, name)
}

// executeFast executes an instruction with the method for its number of operands.
func executeFast(u *Unit, op *Operation, src []Operand, m uint32) (Value, Execution) {
	lanes := ^uint32(0)
	for i := range src {
		lanes &= src[i].Lanes
	}
	switch len(src) {
	case 1:
		return u.Unary(op, src[0].Value, lanes, m)
	case 2:
		return u.Binary(op, src[0].Value, src[1].Value, lanes, m)
	}
	return u.Ternary(op, src[0].Value, src[1].Value, src[2].Value, lanes, m)
}

// TestFastFormsEqualRules compares fast forms with the rules under every policy, for every operation and any operands.
func TestFastFormsEqualRules(t *testing.T) {
	forms := map[*FastForm]int{} // number of results by form
	for _, p := range Policies {
		u := NewUnit(p, Rules)
		for _, m := range append(models, &ruleModel{rule: ptx.AffineCompare, n: 2, types: plainTypes}) {
			if m.rule == ptx.AffineSelect { // these methods cannot check the predicate, which must come first
				continue
			}
			for _, s := range m.types {
				rapid.Check(t, func(t *rapid.T) {
					op := s.operation(m.rule, slotOf(s.out))
					if m.rule == ptx.AffineCompare {
						op.Cmp = rapid.SampledFrom([]Cmp{NoCmp, Eq, Ne, Lt, Le, Gt, Ge}).Draw(t, "cmp")
					}
					op.Fast = FindFast(&op)
					src := make([]Operand, m.n)
					for i := range src {
						slot := slotOf(s.width)
						switch {
						case m.amount && i > 0:
							slot = 32
						case m.rule == ptx.AffineMad && i == 2:
							slot = int(op.Slot)
						}
						src[i] = Operand{drawValue(t, slot, "operand"), ^uint32(0)}
						if rapid.IntRange(0, 9).Draw(t, "masked") == 0 {
							src[i].Lanes = drawLanes(t, "held")
						}
					}
					if m.n > 1 && rapid.Bool().Draw(t, "same stride") {
						src[1].Stride = src[0].Stride & (^uint64(0) >> (64 - slotOf(s.width)))
					}
					lanes := drawLanes(t, "lanes")
					v, answer := executeFast(&u, &op, src, lanes)
					want, wantExecution := u.Execute(&op, src, lanes)
					if answer != wantExecution {
						t.Fatalf("%s of %v, lanes %#x: the fast answer is %d, the rule's %d", m.rule, src, lanes, answer, wantExecution)
					}
					if answer != CompactResult {
						return
					}
					if p == Policies[0] {
						forms[op.Fast]++
					}
					if v, want = v.Truncate(int(op.Slot)), want.Truncate(int(op.Slot)); v != want {
						t.Fatalf("%s of %v, lanes %#x: %v, want %v", m.rule, src, lanes, v, want)
					}
				})
			}
		}
	}
	for r := range Rules {
		for i := range Rules[r].Fast {
			if f := &Rules[r].Fast[i]; forms[f] == 0 {
				t.Errorf("fast form %s of rule %s never had a result", f.Name, ptx.Affine(r))
			}
		}
	}
	if forms[nil] == 0 {
		t.Error("no rule without a fast form had a result")
	}
}

// TestWidenedAddresses compares the widening of an address register with the addresses of the lanes.
func TestWidenedAddresses(t *testing.T) {
	widened := 0
	rapid.Check(t, func(t *rapid.T) {
		v, lanes := drawValue(t, 32, "address"), drawLanes(t, "lanes")
		wide, ok := Widen(v, false, lanes)
		if !ok {
			return
		}
		widened++
		for m := lanes; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m)
			if got, want := wide.At(i), uint64(uint32(v.At(i))); got != want {
				t.Fatalf("%v, lanes %#x: lane %d has %#x, want %#x", v, lanes, i, got, want)
			}
		}
	})
	if widened == 0 {
		t.Error("Widen never gave a result")
	}
}
