package native

// This file compares the compact stencils with the rules of package affinetrack.

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/internal/part"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/ptx"
	"gemu/regfile"
)

// withoutStencils has the affine rules without compact stencils: Go executes their instructions if an operand is affine.
var withoutStencils = []ptx.Affine{ptx.AffineBfe, ptx.AffineAbs}

// ruleTest is an operation with a compact stencil, as a program of one instruction.
type ruleTest struct {
	*rand.Rand
	op   code.Op
	sig  *code.Signature
	prog *code.Program
	code *Code

	affine, refused int // results of operands that are not all uniform
}

// The registers of the program: operands in rows 0 to 2, the result in row 3 or predicate 3.
const resultRow = 3

var ruleFrame = regfile.Size{R: 4, Q: 4, P: 4}

// newRuleTest returns the test of an operation.
func newRuleTest(rng *rand.Rand, l *Library, op code.Op) *ruleTest {
	s := op.Signature()
	instr := code.Instr{Op: op, A: 0, B: 1, C: 2, D: resultRow, F: code.NoRow}
	instr.Plan = code.ExecPlan{Exec: code.CompactOne + code.Exec(s.Sources()-1), Materialise: 7, LeavesStale: s.Dst != code.P}
	switch {
	case s.Compares():
		instr.Plan.Exec, instr.Imm = code.CompactCompare, alu.BoolNone
	case slices.Contains(s.Src[:], code.P):
		instr.Plan.Exec = code.CompactMixed
	}
	p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: ruleFrame}}, Instrs: []code.Instr{instr, {Op: code.Exit}}}
	p.Blocks = []code.Block{{First: 0, Last: 1}}
	p.Consts.Layout()
	p.Link()
	return &ruleTest{Rand: rng, op: op, sig: s, prog: p, code: l.New(p)}
}

// value returns a number of a slot: often small, or near a number at which arithmetic wraps.
func (r *ruleTest) value(slot code.Slot) uint64 {
	v := uint64(r.IntN(70)) - 5
	switch r.IntN(6) {
	case 0, 1:
		v += 1 << r.IntN(64)
	case 2:
		v = r.Uint64() >> r.IntN(64)
	case 3:
		v <<= r.IntN(30)
	}
	return v & (1<<slot.Bits() - 1)
}

// operand returns operand i: often affine if it is the first, often uniform if not.
func (r *ruleTest) operand(i int) affinetrack.Value {
	slot := r.sig.Src[i]
	v := affinetrack.Value{Base: r.value(slot)}
	if r.IntN(4) > min(i, 2) {
		v.Stride = r.value(slot)
		if r.IntN(3) == 0 {
			v.Stride = -v.Stride & (1<<slot.Bits() - 1)
		}
	}
	return v
}

// masks of active lanes, besides random ones.
var ruleMasks = []uint32{regfile.Full, regfile.Full, 1, 1 << 31, 0xffff, 0xffff0000, 0x80000001, 0x7ffffffe}

// activeMask returns a mask of active lanes.
func (r *ruleTest) activeMask() uint32 {
	if n := r.IntN(len(ruleMasks) + 2); n < len(ruleMasks) {
		return ruleMasks[n]
	}
	return r.Uint32() | 1<<r.IntN(32)
}

// shadow returns the shadow of a register.
func shadow(f *regfile.File, slot code.Slot, row int32) *regfile.Compact {
	if slot == code.Q {
		return f.Shadow64(row)
	}
	return f.Shadow32(row)
}

// run executes the instruction on random operands, and describes a difference between the machine code and the rule.
func (r *ruleTest) run(rules *affinetrack.Table) string {
	m := r.activeMask()
	f := regfile.New(&r.prog.Consts, true)
	f.Reset(ruleFrame)
	args := affinetrack.Args{Operation: r.sig.Operation, First: bits.TrailingZeros32(m), Last: 31 - bits.LeadingZeros32(m)}
	held, affine := true, false // all operands are compact; an operand is affine
	for i := range r.sig.Sources() {
		switch slot := r.sig.Src[i]; {
		case slot == code.P && r.sig.Compares(): // not an operand: the instruction has no boolean operator
		case slot == code.P:
			p := [...]uint32{0, regfile.Full, r.Uint32()}[r.IntN(3)]
			f.SetP(int32(i), regfile.Full, p)
			held = held && (p&m == 0 || p&m == m)
			args.Values[i].Base = uint64(p >> args.First & 1)
		default:
			args.Values[i] = r.operand(i)
			if i == 1 && slot == r.sig.Src[0] && r.IntN(8) == 0 {
				args.Values[1] = args.Values[0]
			}
			v := args.Values[i]
			c := regfile.Compact{Base: v.Base, Stride: v.Stride, Mask: regfile.Full}
			if r.IntN(16) == 0 {
				c.Mask = r.Uint32()
			}
			*shadow(f, slot, int32(i)) = c
			affine = affine || !v.Uniform()
		}
	}
	for i := range r.sig.Sources() { // a selection does not read the operand that it does not select
		if slot := r.sig.Src[i]; slot != code.P && (r.sig.Rule != ptx.AffineSelect || (args.Values[2].Base != 0) == (i == 0)) {
			held = held && shadow(f, slot, int32(i)).Holds(m)
		}
	}
	ctx := &Context{Mask: m, Live: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
	r.code.RunBlock(ctx, f, 0)
	if ctx.Reason != OtherEnd || ctx.PC != 1 {
		return fmt.Sprintf("it stops at %d for %d", ctx.PC, ctx.Reason)
	}
	want, ok := rules[r.sig.Rule].Execute(&args)
	if !affine && !ok {
		return "" // computed once: the rule need not have a result
	}
	diff := r.compare(f, m, want.Truncate(int(r.sig.Slot)), held && ok)
	if diff != "" {
		return fmt.Sprintf("%v, lanes %#x, of %v: %s", r.op, m, args.Values, diff)
	}
	switch {
	case affine && held && ok:
		r.affine++
	case affine && held:
		r.refused++
	}
	return ""
}

// compare describes a difference between the registers and the rule's result; compact is false if there is none.
func (r *ruleTest) compare(f *regfile.File, m uint32, want affinetrack.Value, compact bool) string {
	if r.sig.Compares() { // an instruction on the lanes materialises its operands
		got := f.Shadow32(0)
		if r.sig.Src[0] == code.Q {
			got = f.Shadow64(0)
		}
		switch p := f.Pred(resultRow) & m; {
		case got.Holds(m) && (got.Materialised&m == 0) != compact:
			return fmt.Sprintf("decided compactly: %v, the rule %v", !compact, compact)
		case compact && p != m*uint32(want.Base):
			return fmt.Sprintf("holds in lanes %#x, the rule gives %v", p, want)
		}
		return ""
	}
	got := shadow(f, r.sig.Dst, resultRow)
	switch {
	case got.Holds(m) != compact || !compact && got.Mask&m != 0:
		return fmt.Sprintf("the result is compact in lanes %#x, by the rule %v", got.Mask, compact)
	case compact && (got.Base != want.Base || got.Stride != want.Stride):
		return fmt.Sprintf("base %#x and stride %#x, the rule gives %v", got.Base, got.Stride, want)
	}
	return ""
}

// compactOperations returns the operations with a compact stencil of their affine rule.
func compactOperations() (list []code.Op) {
	for op := range code.Count {
		s := op.Signature()
		if s.Kind == code.Arithmetic && affinetrack.Rules[s.Rule].Apply != nil && HasKernel(op) && (formName(s) != "" || ruleName(s) != "") {
			list = append(list, op)
		}
	}
	return list
}

// TestRulesOfStencils executes the compact stencils of every affine rule on random and boundary values, and compares base
// and stride of each result with the rule; where the rule has none, the instruction must execute on the lanes. It covers
// each rule, each fast form and each stencil whose name begins with affine_.
func TestRulesOfStencils(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	for _, level := range Levels() {
		t.Run(level.Name, func(t *testing.T) { compareRules(t, level.Library()) })
	}
}

func compareRules(t *testing.T, l *Library) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 4))
	affine, refused := map[ptx.Affine]int{}, map[ptx.Affine]int{}
	forms := map[*affinetrack.FastForm]int{}
	l.TakeUsed()
	for _, op := range compactOperations() {
		r := newRuleTest(rng, l, op)
		for range part.Count(300, 1000, 100_000) {
			if diff := r.run(affinetrack.Rules); diff != "" {
				t.Error(diff)
				break
			}
		}
		affine[r.sig.Rule] += r.affine
		refused[r.sig.Rule] += r.refused
		forms[r.sig.Fast] += r.affine
	}
	used := l.TakeUsed()
	for rule := range ptx.AffineCount {
		if without := slices.Contains(withoutStencils, rule); affinetrack.Rules[rule].Apply != nil && (affine[rule] == 0) != without {
			t.Errorf("rule %s: %d compact results in machine code, in withoutStencils: %v", rule, affine[rule], without)
		}
		for i := range affinetrack.Rules[rule].Fast {
			if f := &affinetrack.Rules[rule].Fast[i]; forms[f] == 0 {
				t.Errorf("fast form %s of rule %s never had a compact result", f.Name, rule)
			}
		}
	}
	for name := range l.Names() {
		if strings.HasPrefix(name, "affine_") && !slices.Contains(used, name) {
			t.Errorf("stencil %s is not tested", name)
		}
	}
	t.Logf("compact results %v, refused %v", affine, refused)
}

// TestRulesOfStencilsFindFaults plants a fault in each rule: a wrong base, a wrong stride, no result. The comparison with
// machine code must find each.
func TestRulesOfStencilsFindFaults(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	faults := map[string]func(v affinetrack.Value, ok bool) (affinetrack.Value, bool){
		"base":      func(v affinetrack.Value, ok bool) (affinetrack.Value, bool) { v.Base ^= 1; return v, ok },
		"stride":    func(v affinetrack.Value, ok bool) (affinetrack.Value, bool) { v.Stride++; return v, ok },
		"no result": func(v affinetrack.Value, ok bool) (affinetrack.Value, bool) { return v, false },
	}
	for _, op := range compactOperations() {
		r := newRuleTest(rand.New(rand.NewPCG(part.Seed(t), 5)), HostLibrary(), op)
		for name, fault := range faults {
			if r.sig.Compares() && name == "stride" {
				continue // a predicate has none
			}
			broken := *affinetrack.Rules
			apply := broken[r.sig.Rule].Apply
			broken[r.sig.Rule].Apply = func(a *affinetrack.Args) (affinetrack.Value, bool) { return fault(apply(a)) }
			found := false
			for n := 0; n < 10_000 && !found; n++ {
				found = r.run(&broken) != ""
			}
			if !found {
				t.Errorf("%v: a wrong rule (%s) is not found", op, name)
			}
		}
	}
}
