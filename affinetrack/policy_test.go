package affinetrack_test

// This file checks the policies, and that Unit obeys them.

import (
	"maps"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	. "gemu/affinetrack"
	"gemu/ptx"
)

// TestPoliciesByName shows that each policy is found by its name and has a description.
func TestPoliciesByName(t *testing.T) {
	var names []string
	for _, p := range Policies {
		names = append(names, p.Name)
		if PolicyByName(p.Name) != p {
			t.Errorf("PolicyByName(%q) returns a different policy", p.Name)
		}
		if p.Doc == "" {
			t.Errorf("policy %s has no description", p.Name)
		}
	}
	if diff := cmp.Diff([]string{"gemu", "kim", "collange", "ideal"}, names); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
	if PolicyByName("no such policy") != nil {
		t.Error("PolicyByName returns a policy for an unknown name")
	}
}

// TestRuleSet shows that a set has exactly the rules from which it was made.
func TestRuleSet(t *testing.T) {
	s := NewRuleSet(ptx.AffineAdd, ptx.AffineWarp)
	for r := range ptx.AffineCount {
		if want := r == ptx.AffineAdd || r == ptx.AffineWarp; s.Has(r) != want {
			t.Errorf("a set of add and warp has %s: %v", r, s.Has(r))
		}
	}
}

// TestPolicyNamesEveryRule checks that each rule is either in Rules or in Excluded of each policy. So whoever adds a rule
// must decide about it for each machine. AffineNone is no rule.
func TestPolicyNamesEveryRule(t *testing.T) {
	for _, p := range slices.Concat(Policies, Variants) {
		for r := ptx.AffineNone + 1; r < ptx.AffineCount; r++ {
			if p.Rules.Has(r) == p.Excluded.Has(r) {
				t.Errorf("policy %s has rule %s: %v, and excludes it: %v", p.Name, r, p.Rules.Has(r), p.Excluded.Has(r))
			}
		}
	}
}

// TestRulesOfMachines checks the compact operations of each machine against its paper.
func TestRulesOfMachines(t *testing.T) {
	// Kim et al. 4.2: "addition, subtraction, multiplication, and shifts"; mad consists of them, and so do conversions
	// of 64-bit addresses. Figure 1: moves. Affine branches, and memory operations, which "are load instructions".
	kim := map[ptx.Affine]bool{
		ptx.AffineMove: true, ptx.AffineAdd: true, ptx.AffineSub: true, ptx.AffineMul: true, ptx.AffineMad: true, ptx.AffineShl: true, ptx.AffineShr: true,
		ptx.AffineConvert: true, ptx.AffineAddress: true, ptx.AffineCompare: true, ptx.AffineBranch: true, ptx.AffineLoad: true,
	}
	// 4.2: only uniform branches.
	fgsimt := maps.Clone(kim)
	delete(fgsimt, ptx.AffineCompare)
	// "[7] does not consider affine multiplication" (Kim et al. 2.3), nor branches or memory.
	collange := map[ptx.Affine]bool{
		ptx.AffineMove: true, ptx.AffineAdd: true, ptx.AffineSub: true, ptx.AffineShl: true, ptx.AffineConvert: true, ptx.AffineAddress: true, ptx.AffineUniform: true,
	}
	for r := ptx.AffineUniform; r < ptx.AffineCount; r++ {
		for name, want := range map[string]bool{"gemu": true, "ideal": true, "kim": kim[r], "kim-wide": kim[r], "kim-const": kim[r], "fgsimt": fgsimt[r], "fgsimt-narrow": fgsimt[r], "fgsimt-wide": fgsimt[r], "fgsimt-const": fgsimt[r], "collange": collange[r]} {
			if PolicyByName(name).Rules.Has(r) != want {
				t.Errorf("policy %s has rule %s: %v, want %v", name, r, !want, want)
			}
		}
	}
}

// TestInstructionsExecutedOnce checks the instructions that execute once on uniform operands. Kim et al. 4.2 list
// addition, subtraction, multiplication and shifts, of integers and floats; branches need comparisons.
func TestInstructionsExecutedOnce(t *testing.T) {
	for _, c := range []struct {
		rule              ptx.Affine
		class             ptx.Class
		kim, fgsimt, wide bool
	}{
		{ptx.AffineAdd, ptx.ClassInt, true, true, true},
		{ptx.AffineUniform, ptx.ClassFP, true, true, true},
		{ptx.AffineUniform, ptx.ClassMul, true, true, true}, // mul.hi
		{ptx.AffineCompare, ptx.ClassInt, true, true, true},
		{ptx.AffineUniform, ptx.ClassSFU, false, false, true},
		{ptx.AffineDiv, ptx.ClassSFU, false, false, true},
		{ptx.AffineAnd, ptx.ClassInt, false, false, true},
		{ptx.AffineSelect, ptx.ClassInt, false, false, true},
		{ptx.AffineMin, ptx.ClassInt, false, false, true},
	} {
		for name, want := range map[string]bool{"kim": c.kim, "fgsimt": c.fgsimt, "fgsimt-narrow": c.fgsimt && c.class != ptx.ClassFP, "fgsimt-wide": c.wide, "fgsimt-const": c.wide, "kim-wide": c.wide, "kim-const": c.wide, "collange": true, "gemu": true, "ideal": true} {
			if got := PolicyByName(name).AllowsScalar(c.rule, c.class); got != want {
				t.Errorf("policy %s, rule %s, class %s: once %v, want %v", name, c.rule, c.class, got, want)
			}
		}
	}
}

// TestSourcesOfStructure checks which loads and special registers may give compact values under a policy.
func TestSourcesOfStructure(t *testing.T) {
	for _, c := range []struct {
		space               ptx.Space
		kim, kimConst, gemu bool
	}{{ptx.Param, true, true, true}, {ptx.Const, false, true, true}, {ptx.Global, false, false, true}, {ptx.Shared, false, false, true}} {
		for name, want := range map[string]bool{"kim": c.kim, "kim-wide": c.kim, "fgsimt": c.kim, "fgsimt-narrow": c.kim, "fgsimt-wide": c.kim, "fgsimt-const": c.kimConst, "kim-const": c.kimConst, "gemu": c.gemu} {
			if got := PolicyByName(name).Loads.AllowsUniform(c.space); got != want {
				t.Errorf("policy %s allows uniform results of loads from space %v: %v, want %v", name, c.space, got, want)
			}
		}
	}
	for r, want := range map[ptx.SpecialReg]bool{ptx.TidX: true, ptx.TidZ: true, ptx.NtidY: true, ptx.CtaidX: true, ptx.NctaidZ: true, ptx.LaneID: false, ptx.WarpID: false, ptx.Clock: false} {
		if got := PolicyByName("kim").AllowsIndex(r); got != want {
			t.Errorf("policy kim allows a compact %s: %v, want %v", r, got, want)
		}
		if !PolicyByName("gemu").AllowsIndex(r) {
			t.Errorf("policy gemu does not allow a compact %s", r)
		}
	}
}

// TestAffineLoadsOfFGSIMT checks the affine accesses of FG-SIMT. It requires "s = {1,2,4} for byte, halfword, and word
// accesses respectively", and has them for loads only.
func TestAffineLoadsOfFGSIMT(t *testing.T) {
	for _, c := range []struct {
		rule   ptx.Affine
		stride uint64
		size   int
		want   bool
	}{
		{ptx.AffineLoad, 4, 4, true}, {ptx.AffineLoad, 2, 2, true}, {ptx.AffineLoad, 1, 1, true}, {ptx.AffineLoad, 8, 8, false}, {ptx.AffineLoad, 4, 2, false},
		{ptx.AffineLoad, 1<<64 - 4, 4, false}, {ptx.AffineStore, 4, 4, false},
	} {
		if got := PolicyByName("fgsimt").IsVectorAccess(c.rule, Value{Stride: c.stride}, 64, c.size); got != c.want {
			t.Errorf("%s of %d bytes with stride %d: %v, want %v", c.rule, c.size, int64(c.stride), got, c.want)
		}
		if !PolicyByName("kim").IsVectorAccess(c.rule, Value{Stride: c.stride}, 64, c.size) {
			t.Errorf("policy kim does not allow %s of %d bytes with stride %d", c.rule, c.size, int64(c.stride))
		}
	}
}

// TestValuesThatAPolicyHolds shows which progressions the policies kim and collange can hold. The limits are those of
// the papers.
func TestValuesThatAPolicyHolds(t *testing.T) {
	for _, c := range []struct {
		v    Value
		slot int
		kim  bool // a stride of 16 bits
		coll bool // a stride that is a power of two and divides the base
	}{
		{Value{Base: 0xdeadbeef}, 32, true, true},
		{Value{Base: 1<<64 - 1}, 64, true, true},
		{Value{0, 1}, 32, true, true},
		{Value{7, 1}, 32, true, true},
		{Value{8, 4}, 32, true, true},
		{Value{6, 4}, 32, true, false},
		{Value{0, 12}, 32, true, false},
		{Value{0, 0x7fff}, 32, true, false},
		{Value{0, 0x8000}, 32, false, true},
		{Value{0, 0xffff8000}, 32, true, true},   // −2^15
		{Value{0, 0xffff7fff}, 32, false, false}, // −2^15 − 1
		{Value{0, 0xffff8000}, 64, false, false},
		{Value{0, 1<<64 - 1<<15}, 64, true, true},
		{Value{0, 1 << 31}, 32, false, true},
		{Value{1 << 31, 1 << 31}, 32, false, true},
		{Value{1 << 30, 1 << 31}, 32, false, false},
		{Value{0, 1 << 63}, 64, false, true},
		{Value{0, 1<<32 - 4}, 32, true, true}, // −4
		{Value{2, 1<<32 - 4}, 32, true, false},
	} {
		for name, want := range map[string]bool{"gemu": true, "ideal": true, "kim": c.kim, "collange": c.coll} {
			if got := PolicyByName(name).Allows(c.v, c.slot); got != want {
				t.Errorf("policy %s allows %s in %d bits: %v, want %v", name, c.v, c.slot, got, want)
			}
		}
	}
}

// checkAllowed is a second implementation of Policy.Allows: strides are numbers in two's complement.
func checkAllowed(p *Policy, v Value, slot int) bool {
	s := integer(v.Stride)
	if s.Bit(slot-1) != 0 {
		s.Sub(s, power(uint64(slot)))
	}
	ok := true
	if p.StrideBits > 0 {
		limit := power(uint64(p.StrideBits - 1))
		ok = s.Cmp(limit) < 0 && new(big.Int).Neg(s).Cmp(limit) <= 0
	}
	if p.PowerOfTwo && s.Sign() != 0 {
		mag := new(big.Int).Abs(s)
		ok = ok && mag.Cmp(power(uint64(mag.BitLen()-1))) == 0 && multiple(integer(v.Base), mag)
	}
	return ok
}

// lanesOf returns the mask of the lanes from first to last.
func lanesOf(first, last int) uint32 { return ^uint32(0) >> (31 - last) &^ (1<<first - 1) }

// operandsOf returns n operands of an instruction, and the predicate of a selection, compact in all its lanes.
func operandsOf(a *Args, n int) []Operand {
	if a.Rule == ptx.AffineSelect {
		n++
	}
	src := make([]Operand, n)
	for i := range src {
		src[i] = Operand{a.Values[i], lanesOf(a.First, a.Last)}
	}
	return src
}

// executeLanes executes an instruction of n operands on a unit.
func executeLanes(u *Unit, a *Args, n int) (Value, Execution) {
	return u.Execute(&a.Operation, operandsOf(a, n), lanesOf(a.First, a.Last))
}

// TestUnitUnderEveryPolicy checks under every policy that instructions on uniform operands execute once, and that
// instructions on affine operands have a result exactly if the policy has the rule, the rule has a result, and the
// policy can hold it.
func TestUnitUnderEveryPolicy(t *testing.T) {
	for _, p := range Policies {
		t.Run(p.Name, func(t *testing.T) {
			u := NewUnit(p, Rules)
			rapid.Check(t, func(t *rapid.T) {
				m := rapid.SampledFrom(models).Draw(t, "rule")
				a := m.args(t, rapid.SampledFrom(m.types).Draw(t, "types"))
				uniform := true
				for i := range m.n {
					unseen := m.rule == ptx.AffineSelect && p.Rules.Has(m.rule) && i < 2 && (a.Values[2].Base == 0) == (i == 0)
					uniform = uniform && (unseen || a.Values[i].Uniform())
				}
				v, answer := executeLanes(&u, &a, m.n)
				if uniform {
					if answer != Scalar {
						t.Fatalf("%v: answer %d, want once", a, answer)
					}
					return
				}
				want, defined := Rules[m.rule].Execute(&a)
				v, want = v.Truncate(int(a.Slot)), want.Truncate(int(a.Slot))
				if m.rule == ptx.AffineShr && p.Name == "kim" && a.Values[1].Uniform() { // no rounding: the stride must be a multiple
					defined = defined && multiple(integer(a.Values[0].Stride), power(a.Values[1].Base))
				}
				defined = defined && p.Rules.Has(m.rule) && checkAllowed(p, want, int(a.Slot))
				if (answer == CompactResult) != defined || answer == Scalar || defined && v != want {
					t.Fatalf("%s of %v: %s, answer %d; want %s, %v", m.rule, a, v, answer, want, defined)
				}
			})
		})
	}
}

// TestUnitLanes checks that an instruction executes lane by lane if an operand is not compact in all lanes, unless it is
// the operand that a selection does not select.
func TestUnitLanes(t *testing.T) {
	for _, p := range Policies {
		u := NewUnit(p, Rules)
		for _, m := range models {
			rapid.Check(t, func(t *rapid.T) {
				a := m.args(t, m.types[0])
				src, lanes := operandsOf(&a, m.n), lanesOf(a.First, a.Last)
				_, before := u.Execute(&a.Operation, src, lanes)
				i := rapid.IntRange(0, len(src)-1).Draw(t, "operand")
				src[i].Lanes &^= 1 << rapid.SampledFrom([]int{a.First, a.Last}).Draw(t, "lane")
				want := PerLane
				if m.rule == ptx.AffineSelect && p.Rules.Has(m.rule) && i < 2 && (a.Values[2].Base == 0) == (i == 0) {
					want = before
				}
				if u.HasCompactOperands(&a.Operation, src, lanes) != (want != PerLane) && before != PerLane {
					t.Fatalf("%s of %v: HasCompactOperands is %v", m.rule, src, want == PerLane)
				}
				if _, answer := u.Execute(&a.Operation, src, lanes); answer != want {
					t.Fatalf("%s of %v: answer %d, want %d", m.rule, src, answer, want)
				}
			})
		}
	}
}

// TestUnitWithoutRules checks instructions that, according to the instruction table, execute compactly only on uniform
// operands.
func TestUnitWithoutRules(t *testing.T) {
	u := NewUnit(Policies[0], Rules)
	for _, c := range []struct {
		rule   ptx.Affine
		stride uint64
		want   Execution
	}{
		{ptx.AffineUniform, 0, Scalar}, {ptx.AffineUniform, 1, PerLane}, {ptx.AffineBranch, 1, PerLane},
	} {
		a := Args{Operation: Operation{Rule: c.rule, Width: 32, Out: 32, Slot: 32}, Last: 31, Values: [4]Value{{Base: 1}, {Base: 2, Stride: c.stride}}}
		if v, answer := executeLanes(&u, &a, 2); answer != c.want {
			t.Errorf("stride %d, rule %s: %s, answer %d, want %d", c.stride, c.rule, v, answer, c.want)
		}
	}
}

// TestShiftRightKeepsProgressions checks right shifts. "Shift operations correspond to affine multiplication or division"
// (Kim et al. 4.2), so their result is a progression if 2^k divides the stride. For other strides policy gemu recognises a
// progression that results from rounding; policy kim does not.
func TestShiftRightKeepsProgressions(t *testing.T) {
	for _, c := range []struct {
		v         Value
		by        uint64
		want      Value
		gemu, kim bool
	}{
		{Value{0, 32}, 5, Value{0, 1}, true, true},
		{Value{65, 32}, 5, Value{2, 1}, true, true},
		{Value{0, 1}, 5, Value{}, true, false}, // lanes 0 to 31
		{Value{1, 1}, 5, Value{}, false, false},
		{Value{0, 16}, 5, Value{}, false, false},
	} {
		a := Args{Operation: shape{32, 32, false}.operation(ptx.AffineShr, 32), Last: 31, Values: [4]Value{c.v, {Base: c.by}}}
		for name, want := range map[string]bool{"gemu": c.gemu, "kim": c.kim, "collange": false} {
			u := NewUnit(PolicyByName(name), Rules)
			if v, answer := executeLanes(&u, &a, 2); (answer == CompactResult) != want || want && v != c.want {
				t.Errorf("policy %s: %s >> %d is %s, answer %d; want %s, %v", name, c.v, c.by, v, answer, c.want, want)
			}
		}
	}
}

// TestUnitCompares shows that comparisons execute once on uniform operands, and on affine operands only if the policy
// has the rule.
func TestUnitCompares(t *testing.T) {
	for _, p := range slices.Concat(Policies, Variants) {
		u := NewUnit(p, Rules)
		a := Args{Operation: shape{32, 1, true}.operation(ptx.AffineCompare, 32), Last: 31, Values: [4]Value{{Base: 3}, {Base: 5}}}
		a.Cmp = Lt
		if _, answer := executeLanes(&u, &a, 2); answer != Scalar {
			t.Errorf("policy %s, uniform operands: answer %d, want once", p.Name, answer)
		}
		affine := p.Rules.Has(ptx.AffineCompare)
		// "If the uniform value is greater than or less than all elements" (Kim et al. 4.2): not if it equals one of
		// them.
		touching := affine && len(p.NarrowRules) == 0
		for _, c := range []struct {
			cmp       Cmp
			v         Value
			holds, ok bool
		}{
			{Lt, Value{0, 1}, true, affine}, // tid < 32
			{Lt, Value{1, 1}, false, false}, // lane 31 has 32
			{Lt, Value{32, 1}, false, touching},
			{Ge, Value{32, 1}, true, touching},
			{Le, Value{1, 1}, true, touching},
			{Gt, Value{1, 1}, false, touching},
			{Lt, Value{33, 1}, false, affine},
			{Ge, Value{33, 1}, true, affine},
			{Gt, Value{33, 1}, true, affine},
			{Le, Value{33, 1}, false, affine},
			{Eq, Value{33, 1}, false, affine},
			{Ne, Value{33, 1}, true, affine},
			{Ne, Value{32, 1}, false, false}, // equal in lane 0 only
			{Eq, Value{30, 1}, false, false},
			{NoCmp, Value{0, 1}, false, false},
		} {
			a.Values, a.Cmp = [4]Value{c.v, {Base: 32}}, c.cmp
			v, answer := executeLanes(&u, &a, 2)
			if (answer == CompactResult) != c.ok || answer == Scalar || c.ok && (v.Base != 0) != c.holds {
				t.Errorf("policy %s: comparison %d of %s with 32: %v, answer %d; want %v, %v", p.Name, c.cmp, c.v, v, answer, c.holds, c.ok)
			}
		}
	}
}

// TestUnitUsesGivenRules checks that the unit uses the given table, even a broken one.
func TestUnitUsesGivenRules(t *testing.T) {
	broken := *Rules // with a wrong rule for additions
	broken[ptx.AffineAdd].Apply = func(*Args) (Value, bool) { return Value{7, 7}, true }
	u := NewUnit(Policies[0], &broken)
	op := shape{32, 32, false}.operation(ptx.AffineAdd, 32)
	op.Fast = FindFast(&op)
	a := Args{Operation: op, Last: 31, Values: [4]Value{{5, 1}, {Base: 0}}}
	if v, answer := executeLanes(&u, &a, 2); answer != CompactResult || v != (Value{7, 7}) {
		t.Errorf("add is %s, answer %d", v, answer)
	}
	if v, answer := u.Binary(&op, a.Values[0], a.Values[1], ^uint32(0), ^uint32(0)); answer != CompactResult || v != (Value{7, 7}) {
		t.Errorf("add of two is %s, answer %d", v, answer)
	}
}

// TestClassCounts shows the sums of counted classes.
func TestClassCounts(t *testing.T) {
	var s ClassCounts
	for _, c := range []Class{Uniform, Affine, Affine, Generic, Generic, Generic, Unknown} {
		s.Count(c)
	}
	if want := (ClassCounts{1, 2, 3}); s != want || s.Total() != 6 || s.Compact() != 3 {
		t.Errorf("%+v, total %d, compact %d; want %+v, 6, 3", s, s.Total(), s.Compact(), want)
	}
}

// TestAddedCounts fills every field with a different number and adds, so that a missing field is detected.
func TestAddedCounts(t *testing.T) {
	var a, want Counts
	fill(reflect.ValueOf(&a).Elem(), 1, new(int64))
	fill(reflect.ValueOf(&want).Elem(), 3, new(int64))
	sum := a
	sum.Add(&a)
	sum.Add(&a)
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("three times the same (-want +got):\n%s", diff)
	}
}

// fill sets the numbers of a struct to factor, 2·factor, …
func fill(v reflect.Value, factor int64, n *int64) {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			fill(v.Field(i), factor, n)
		}
		return
	}
	*n++
	v.SetInt(factor * *n)
}
