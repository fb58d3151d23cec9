package affinetrack_test

import (
	"testing"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// executions summarises the executions of an instruction on operands of certain classes.
type executions struct {
	some    bool // the result is compact for some operands
	uniform bool // the result is uniform for all operands
}

// classesOf executes an instruction by run on all operands of tiny types, and groups the executions by the classes of the
// operands. run must give a result if all operands are uniform.
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

// checkTransfer compares Transfer for classes of operands with executions on all operands of these classes.
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
			t.Errorf("rule %s of %s: class %s, want %s by the executions", rule, key[:n], got, want)
		}
		// If any operand becomes generic, the result is generic.
		for i := range n {
			weaker := key
			weaker[i] = Generic
			if got := Transfer(rule, weaker[:n]); got != Generic {
				t.Errorf("rule %s of %s: class %s, want g", rule, weaker[:n], got)
			}
		}
	}
}

// TestTransferOfClasses checks for every rule that Transfer returns Generic if no operands of the classes have a
// compact result, Uniform if all have a uniform result, and Affine otherwise.
func TestTransferOfClasses(t *testing.T) {
	u := NewUnit(Policies[0], Rules)
	for _, m := range models {
		checkTransfer(t, m.rule, m.n, classesOf(m, func(a *Args) (Value, bool) {
			v, answer := executeLanes(&u, a, m.n)
			return v, answer != PerLane // an instruction that executes once has a uniform result
		}))
	}
	compared := &ruleModel{rule: ptx.AffineCompare, n: 2}
	checkTransfer(t, ptx.AffineCompare, 2, classesOf(compared, func(a *Args) (v Value, ok bool) {
		// Lt represents all comparisons: TestCompareExhaustively checks that they decide the same kinds of operands.
		// Decisions are uniform, but the operands determine whether there is one.
		a.Cmp = Lt
		_, answer := executeLanes(&u, a, 2)
		if answer == CompactResult {
			v.Stride = 1
		}
		return v, answer != PerLane
	}))
}

// TestTransferOfUniformOnly checks that rules other than arithmetic have a result only for uniform operands.
func TestTransferOfUniformOnly(t *testing.T) {
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
		// A selection by a predicate that may be uniform, and by a predicate that never is.
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
