package affinetrack_test

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/internal/part"
	"gemu/ptx"
)

// compareLane compares two numbers of a lane.
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

// checkCompare compares the rule's decision with the lanes.
func checkCompare(a *Args) (decided bool, err error) {
	c := newInstance(&ruleModel{n: 2, lane: func(a *Args, x [3]*big.Int) *big.Int { return x[0] }}, *a)
	want, same := compareLane(a.Cmp, c.x[0][0], c.x[1][0]), true
	le, ge := true, true // in every lane x ≤ y, x ≥ y
	for i := range c.x[0] {
		same = same && compareLane(a.Cmp, c.x[0][i], c.x[1][i]) == want
		le, ge = le && c.x[0][i].Cmp(c.x[1][i]) <= 0, ge && c.x[0][i].Cmp(c.x[1][i]) >= 0
	}
	v, ok := Rules[ptx.AffineCompare].Execute(a)
	holds := v.Base != 0
	// The rule must decide if the outcome is the same in all lanes, the numbers do not wrap and, for Eq and Ne, one operand
	// is at most the other in every lane. It must also decide Eq and Ne of equal operands.
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

// TestCompareExhaustively checks, for all operands of tiny types, that the rule's outcome of a comparison is that of every
// lane.
func TestCompareExhaustively(t *testing.T) {
	part.SkipShort(t)
	for _, s := range []tinyShape{{shape{3, 3, false}, 3}, {shape{3, 3, true}, 3}, {shape{2, 2, false}, 3}, {shape{2, 2, true}, 3}} {
		for op := Eq; op <= Ge; op++ {
			a := Args{Operation: s.operation(ptx.AffineCompare, s.slot)}
			a.Cmp = op
			decided, undecided := 0, 0
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
						undecided++
					}
				}
			})
			if decided == 0 || undecided == 0 {
				t.Errorf("comparison %d: %d decided, %d not, want some of both", op, decided, undecided)
			}
		}
	}
}

// TestCompareRandomly checks, for random operands of PTX's types, that the rule's outcome of a comparison is that of every
// lane.
func TestCompareRandomly(t *testing.T) {
	for _, s := range plainTypes {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				a := Args{Operation: s.operation(ptx.AffineCompare, slotOf(s.width))}
				a.Cmp = rapid.SampledFrom([]Cmp{Eq, Ne, Lt, Le, Gt, Ge}).Draw(t, "comparison")
				a.First, a.Last = lanes(t)
				a.Values[0] = values(s.width, a.First, a.Last).Draw(t, "a").Truncate(int(a.Slot))
				a.Values[1] = values(s.width, a.First, a.Last).Draw(t, "b").Truncate(int(a.Slot))
				if rapid.IntRange(0, 3).Draw(t, "near") == 0 { // differ by about one step
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

// TestCmpByName checks the comparison operators for integers of the manual (9.3.1.1 and 9.7.6.2).
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
