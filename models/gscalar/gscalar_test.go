package gscalar

import (
	"fmt"
	"testing"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// run runs a kernel of one parameter, a buffer of 64 numbers from 100 on, with one CTA of a warp.
func run(t *testing.T, body string, width int) Counts {
	t.Helper()
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", fmt.Appendf(nil, `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out)
{
	.reg .u32 %%t, %%m, %%r<9>;
	.reg .u64 %%o, %%d<4>;
	.reg .pred %%p, %%q;
%s
	ret;
}
`, body))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]uint32, 64)
	for i := range data {
		data[i] = 100 + uint32(i*i)
	}
	b, err := interp.NewBuffer(dev, data)
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Verify: true}
	l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(width), Args: []any{b}, WarpSize: width, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []probe.Probe{m}}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return m.Counts(width)
}

// load gives %r1 the number of the lane, which differs between lanes in its last bytes.
const load = `
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %d1, %t, 4, %o;
	ld.global.u32 %r1, [%d1];
`

// lanesOf sets %p in the lanes of a mask.
func lanesOf(mask uint) string {
	return fmt.Sprintf("\tmov.u32 %%m, %d;\n\tshr.u32 %%m, %%m, %%t;\n\tand.b32 %%m, %%m, 1;\n\tsetp.ne.u32 %%p, %%m, 0;\n", mask)
}

// differenceOf returns the counts of body: the counts of a run with it minus the counts of a run without it.
func differenceOf(t *testing.T, before, body string, width int) (Eligible, Counts) {
	t.Helper()
	a, b := run(t, before, width), run(t, before+body, width)
	x, y := &a.Eligible[Headline], &b.Eligible[Headline]
	return Eligible{y.ALU - x.ALU, y.SFU - x.SFU, y.Memory - x.Memory, y.Half - x.Half, y.Divergent - x.Divergent}, b
}

// TestScalarUnderDivergence has the examples of section 4.2, on warps of 8 lanes: figure 6, AAABAABC with
// the mask 10101100, and figure 7, registers of one path that are read on the other.
func TestScalarUnderDivergence(t *testing.T) {
	for _, c := range []struct {
		name string
		body string
		want int64 // divergent scalar instructions
	}{
		{"figure 6, the same mask", "@%p mov.u32 %r1, 7;\n@%p add.u32 %r2, %r1, %r1;", 2},
		{"figure 6, the others", "@%p mov.u32 %r1, 7;\n@!%p add.u32 %r2, %r1, %r1;", 1},
		{"not written under it", "@%p add.u32 %r2, %r1, %r1;", 0},
		{"of different values", "@%p add.u32 %r1, %r1, 1;\n@%p add.u32 %r2, %r1, %r1;", 0},
		{"written whole", "mov.u32 %r1, 7;\n@%p add.u32 %r2, %r1, %r1;", 1},
		// The value is the same in fewer lanes, too, but not by the mask.
		{"fewer lanes", "@%p mov.u32 %r1, 7;\nsetp.eq.u32 %q, %t, 2;\n@%q add.u32 %r2, %r1, %r1;", 1},
		{"one of two sources", "@%p mov.u32 %r3, 7;\n@%p add.u32 %r2, %r1, %r3;", 1},
		// Figure 7: r2 = r2·2 where r1 = r2, then r1 = |r2| in the other lanes.
		{"figure 7", "@%p bra A;\nabs.s32 %r1, %r2;\nbra B;\nA: mov.u32 %r2, 3;\nadd.u32 %r2, %r2, %r2;\nB:\n", 2},
	} {
		got, n := differenceOf(t, load+lanesOf(0b10101100), c.body, 8)
		if got.Divergent != c.want {
			t.Errorf("%s: %d divergent scalar instructions, want %d", c.name, got.Divergent, c.want)
		}
		if got.Divergent > n.ByValue {
			t.Errorf("%s: %d by mask, %d by value", c.name, got.Divergent, n.ByValue)
		}
	}
}

// TestEligibilityByUnit: the eligibility of instructions, by unit, in a warp that does not diverge.
func TestEligibilityByUnit(t *testing.T) {
	const before = load + "\tmov.u32 %r3, 5;\n\tmov.u32 %r5, 6;\n\t.shared .u32 s;\n\t.local .u32 l;\n"
	for _, c := range []struct {
		body string
		want Eligible
	}{
		{"add.u32 %r4, %r3, %r5;", Eligible{ALU: 1}},
		{"add.u32 %r4, %r3, %r1;", Eligible{}},
		{"mov.u32 %r4, 5;", Eligible{ALU: 1}},
		{"mov.u32 %r4, %ctaid.x;", Eligible{ALU: 1}},
		{"mov.u32 %r4, %laneid;", Eligible{}},
		{"mov.u32 %r4, %tid.y;", Eligible{}},
		{"div.u32 %r4, %r3, %r5;", Eligible{SFU: 1}},
		{"ld.global.u32 %r4, [%o];", Eligible{Memory: 1}},
		{"ld.global.u32 %r4, [%d1];", Eligible{}},
		{"ld.param.u64 %d2, [out];", Eligible{Memory: 1}},
		{"st.shared.u32 [s], %r3;", Eligible{Memory: 1}},
		{"st.shared.u32 [s], %r1;", Eligible{}},
		{"st.local.u32 [l], %r3;", Eligible{}},
		{"mov.u64 %d2, l;\ncvta.local.u64 %d2, %d2;\nst.u32 [%d2], %r3;", Eligible{ALU: 2}},
		{"atom.global.add.u32 %r4, [%o], %r3;", Eligible{}},
		{"shfl.sync.idx.b32 %r4, %r3, 0, 31, -1;", Eligible{}},
		{"vote.sync.any.pred %q, 1, -1;", Eligible{}},
		{"bar.sync 0;", Eligible{}},
		{"bra.uni X;\nX:", Eligible{}},
		{"add.cc.u32 %r4, %r3, %r5;\naddc.u32 %r4, %r3, %r5;", Eligible{ALU: 1}},
		{"setp.lt.u32 %q, %r3, %r5;\nselp.u32 %r4, %r3, %r5, %q;", Eligible{ALU: 2}},
		{"and.b32 %r4, %t, 1;\nsetp.eq.u32 %q, %r4, 0;\nselp.u32 %r4, %r3, %r5, %q;", Eligible{}},
		{"setp.lt.u32 %q, %t, 5;\nselp.u32 %r4, %r3, %r5, %q;", Eligible{Half: 1}}, // the second half has false
		// A scalar low word, and a high word that is not.
		{"mov.b64 %d2, {%r3, %t};\nmov.b64 %d3, %d2;", Eligible{}},
		// Half scalar: the first 16 lanes (of the result), or both with different values.
		{"setp.lt.u32 %q, %t, 16;\nselp.u32 %r4, %r3, %r1, %q;\nnot.b32 %r6, %r4;", Eligible{Half: 1}},
		{"setp.lt.u32 %q, %t, 16;\nselp.u32 %r4, %r3, %r5, %q;\nnot.b32 %r6, %r4;", Eligible{Half: 2}},
	} {
		if got, _ := differenceOf(t, before, c.body, 32); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.body, got, c.want)
		}
	}
}

// TestInterpretationsDiffer: the differences between the interpretations.
func TestInterpretationsDiffer(t *testing.T) {
	for _, c := range []struct {
		body string
		want [InterpretationCount]int64
	}{
		{"bra.uni X;\nX:", [InterpretationCount]int64{WithControl: 1}},
		{"mov.u32 %r4, 5;", [InterpretationCount]int64{1, 1, 0, 1, 1, 1}},
		{"mov.u32 %r4, %tid.y;", [InterpretationCount]int64{SpecialByValue: 1}},
		{"mov.u32 %r4, %tid.x;", [InterpretationCount]int64{}},
		{"and.b32 %r4, %t, 1;\nsetp.eq.u32 %q, %r4, 0;\nselp.u32 %r4, 1, 2, %q;", [InterpretationCount]int64{NoPredicates: 1}},
		{"mov.b64 %d2, {%r3, %t};\nmov.b64 %d3, %d2;", [InterpretationCount]int64{LowWords: 1}},
	} {
		const before = load + "mov.u32 %r3, 5;\n"
		a, b := run(t, before, 32), run(t, before+c.body, 32)
		for r := range InterpretationCount {
			if got := b.Eligible[r].Total() - a.Eligible[r].Total(); got != c.want[r] {
				t.Errorf("%s, %s: %d, want %d", c.body, r, got, c.want[r])
			}
		}
	}
}

// TestArrayAccesses: arrays, small arrays and moves of a few instructions, by hand.
func TestArrayAccesses(t *testing.T) {
	type counts struct{ arrays, banks, small, moves int64 }
	const before = load + "\tmov.u32 %r3, 5;\n\tsetp.lt.u32 %q, %t, 6;\n"
	for _, c := range []struct {
		body string
		want [schemeCount]counts
	}{
		// %r3 is scalar: no array in the compressed files; BDI has it in one array. The same holds for
		// the result.
		{"not.b32 %r4, %r3;", [schemeCount]counts{{16, 2, 0, 0}, {0, 0, 2, 0}, {2, 2, 0, 0}, {2, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 2, 0}, {0, 0, 2, 0}}},
		// %t shares three bytes and is affine, its complement too.
		{"not.b32 %r4, %t;", [schemeCount]counts{{16, 2, 0, 0}, {16, 2, 0, 0}, {6, 2, 0, 0}, {6, 2, 0, 0}, {4, 2, 2, 0}, {4, 2, 2, 0}, {0, 0, 2, 0}}},
		// A write of lanes 0 to 5, in two arrays of four lanes, to a register that was never written.
		{"@%q mov.u32 %r4, 1;", [schemeCount]counts{{2, 1, 0, 0}, {2, 1, 0, 0}, {2, 1, 0, 0}, {2, 1, 0, 0}, {8, 1, 1, 0}, {8, 1, 1, 0}, {8, 1, 1, 0}}},
		// To a scalar register: a move first reads it and writes all arrays.
		{"@%q mov.u32 %r3, 1;", [schemeCount]counts{{2, 1, 0, 0}, {10, 2, 1, 1}, {11, 3, 0, 1}, {11, 3, 0, 1}, {16, 2, 3, 1}, {16, 2, 3, 1}, {16, 2, 3, 1}}},
		// Two writes to a scalar register: a move is necessary only before the first.
		{"@%q mov.u32 %r3, 1;\n@%q mov.u32 %r3, 1;", [schemeCount]counts{{4, 2, 0, 0}, {12, 3, 1, 1}, {13, 4, 0, 1}, {13, 4, 0, 1}, {24, 3, 4, 1}, {24, 3, 4, 1}, {24, 3, 4, 1}}},
	} {
		a, b := run(t, before, 32), run(t, before+c.body, 32)
		for i := range schemes {
			x, y := a.Scheme(i), b.Scheme(i)
			if got := (counts{y.Arrays - x.Arrays, y.Banks - x.Banks, y.Small - x.Small, y.Moves - x.Moves}); got != c.want[i] {
				t.Errorf("%s, %s: %+v, want %+v", c.body, schemes[i].name, got, c.want[i])
			}
		}
	}
}

// TestRegistersOfCalls: each call of a function has its own registers, which are not written at its beginning.
func TestRegistersOfCalls(t *testing.T) {
	const module = `.version 8.0
.target sm_80
.address_size 64
.func (.param .u32 r) down(.param .u32 n)
{
	.reg .u32 %%x, %%y;
	.reg .pred %%p;
	ld.param.u32 %%x, [n];
	mov.u32 %%y, %%x;
	setp.eq.u32 %%p, %%x, 0;
@%%p	bra L;
	sub.u32 %%y, %%x, 1;
	{
		.param .u32 a, b;
		st.param.u32 [a], %%y;
		call (b), down, (a);
		ld.param.u32 %%y, [b];
	}
	add.u32 %%y, %%y, %%x;
L:
	st.param.u32 [r], %%y;
	ret;
}
.func keep(.param .u32 n)
{
	.reg .u32 %%x, %%t;
	.reg .pred %%p, %%q;
	ld.param.u32 %%t, [n];
	setp.lt.u32 %%p, %%t, 7;
	mov.u32 %%t, %%tid.x;
	setp.lt.and.u32 %%q, %%t, 7, !%%p;
@%%p	mov.u32 %%x, 5;
@%%q	mov.u32 %%x, 6;
	ret;
}
.entry k(.param .u32 out)
{
	.reg .u32 %%r;
%s
	ret;
}
`
	count := func(body string) Counts {
		dev := interp.NewDevice(interp.Config{})
		mod, err := dev.Load("k.ptx", fmt.Appendf(nil, module, body))
		if err != nil {
			t.Fatal(err)
		}
		m := &Model{Verify: true}
		l := &interp.Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{uint32(3)}, Mode: interp.Vector, Reconverge: interp.ReconvergerNamed("stack"), Probes: []probe.Probe{m}}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		return m.Counts(32)
	}
	call := func(f string, n int) string {
		return fmt.Sprintf("{ .param .u32 a%[2]d, b%[2]d; mov.u32 %%r, %[2]d; st.param.u32 [a%[2]d], %%r; call %[1]s; }\n", fmt.Sprintf(f, n), n)
	}
	// The sum from 3 down: the model checks that %x of each call is unchanged after the return.
	if n := count(call("(b%[1]d), down, (a%[1]d)", 3)); n.Divergent != 0 || n.Instructions < 30 {
		t.Errorf("%d of %d instructions are divergent", n.Divergent, n.Instructions)
	}
	// The first call writes %x whole and leaves it compressed; the second writes some lanes of it, which
	// it has not written before, so that nothing is moved.
	if n := count(call("keep, (a%d)", 1) + call("keep, (a%d)", 9)); n.Scheme(Bytewise).Moves != 0 || n.Writes[0][DivergentAccess] != 1 {
		t.Errorf("%d moves, %d divergent writes", n.Scheme(Bytewise).Moves, n.Writes[0][DivergentAccess])
	}
}
