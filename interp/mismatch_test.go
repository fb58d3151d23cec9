package interp

// This file breaks compact execution in every possible place: check mode must find each fault and
// report it completely.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/grid"
	"gemu/interp/internal/machine"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// mutation is an instruction that executes by a rule on compact operands: %t is
// the thread index, %n minus the thread index, %q false. A warp has 32 lanes.
type mutation struct {
	rule   ptx.Affine
	instr  string            // its last line executes by the rule
	v      affinetrack.Value // expected result, derived by hand
	inputs []string          // operands as the report has them
	wide   bool              // the result has 64 bits
}

const (
	tidText   = "affine(0x0, 0x1)"
	minusText = "affine(0x0, 0xffffffff)"
)

// mutations has an instruction for every rule.
var mutations = []mutation{
	{rule: ptx.AffineMove, instr: "mov.u32 %d, %t", v: affinetrack.Value{Stride: 1}, inputs: []string{tidText}},
	{rule: ptx.AffineAdd, instr: "add.u32 %d, %t, %t", v: affinetrack.Value{Stride: 2}, inputs: []string{tidText, tidText}},
	{rule: ptx.AffineSub, instr: "sub.u32 %d, 9, %t", v: affinetrack.Value{Base: 9, Stride: 1<<32 - 1}, inputs: []string{tidText}},
	{rule: ptx.AffineMul, instr: "mul.lo.u32 %d, %t, 12", v: affinetrack.Value{Stride: 12}, inputs: []string{tidText}},
	{rule: ptx.AffineMad, instr: "mad.lo.u32 %d, %t, 12, %t", v: affinetrack.Value{Stride: 13}, inputs: []string{tidText, tidText}},
	{rule: ptx.AffineShl, instr: "shl.b32 %d, %t, 3", v: affinetrack.Value{Stride: 8}, inputs: []string{tidText}},
	{rule: ptx.AffineShr, instr: "shl.b32 %d, %t, 3; shr.u32 %d, %d, 1", v: affinetrack.Value{Stride: 4}, inputs: []string{"affine(0x0, 0x8)"}},
	{rule: ptx.AffineDiv, instr: "shl.b32 %d, %t, 3; div.u32 %d, %d, 4", v: affinetrack.Value{Stride: 2}, inputs: []string{"affine(0x0, 0x8)"}},
	{rule: ptx.AffineRem, instr: "add.u32 %d, %t, 100; rem.u32 %d, %d, 100", v: affinetrack.Value{Stride: 1}, inputs: []string{"affine(0x64, 0x1)"}},
	{rule: ptx.AffineBfe, instr: "shl.b32 %d, %t, 3; bfe.u32 %d, %d, 3, 8", v: affinetrack.Value{Stride: 1}, inputs: []string{"affine(0x0, 0x8)"}},
	{rule: ptx.AffineNeg, instr: "neg.s32 %d, %n", v: affinetrack.Value{Stride: 1}, inputs: []string{minusText}},
	{rule: ptx.AffineNot, instr: "not.b32 %d, %t", v: affinetrack.Value{Base: 1<<32 - 1, Stride: 1<<32 - 1}, inputs: []string{tidText}},
	{rule: ptx.AffineAbs, instr: "abs.s32 %d, %n", v: affinetrack.Value{Stride: 1}, inputs: []string{minusText}},
	{rule: ptx.AffineMin, instr: "min.u32 %d, %t, 40", v: affinetrack.Value{Stride: 1}, inputs: []string{tidText}},
	{rule: ptx.AffineMax, instr: "max.s32 %d, %t, %n", v: affinetrack.Value{Stride: 1}, inputs: []string{tidText, minusText}},
	{rule: ptx.AffineAnd, instr: "and.b32 %d, %t, 31", v: affinetrack.Value{Stride: 1}, inputs: []string{tidText}},
	{rule: ptx.AffineOr, instr: "or.b32 %d, %t, 64", v: affinetrack.Value{Base: 64, Stride: 1}, inputs: []string{tidText}},
	{rule: ptx.AffineXor, instr: "xor.b32 %d, %t, 31", v: affinetrack.Value{Base: 31, Stride: 1<<32 - 1}, inputs: []string{tidText}},
	{rule: ptx.AffineSelect, instr: "selp.b32 %d, 7, %t, %q", v: affinetrack.Value{Stride: 1}, inputs: []string{tidText, "a predicate, set in no lanes"}},
	{rule: ptx.AffineConvert, instr: "cvt.s64.s32 %l, %n", v: affinetrack.Value{Stride: 1<<64 - 1}, inputs: []string{minusText}, wide: true},
}

// name is the last instruction's opcode.
func (m *mutation) name() string {
	list := strings.Split(m.instr, "; ")
	name, _, _ := strings.Cut(list[len(list)-1], " ")
	return name
}

// run runs the instruction in check mode with a table of rules.
func (m *mutation) run(t *testing.T, table *affinetrack.Table) error {
	t.Helper()
	return checkedKernel(t, "\t"+strings.ReplaceAll(m.instr, "; ", ";\n\t")+";\n", &Launch{rules: table})
}

// checkedKernel runs a kernel with a single warp in check mode. Its body has the registers of a
// mutation.
func checkedKernel(t *testing.T, body string, l *Launch) error {
	t.Helper()
	mod := loadBody(t, body)
	l.Grid, l.Block, l.CompileEagerly = ptx.Dim(1), ptx.Dim(32), true
	_, err := mod.Run(t.Context(), l)
	return err
}

// loadBody loads a kernel with the body. Before the body it sets the registers of a mutation that the
// body uses.
func loadBody(t *testing.T, body string) *Module {
	t.Helper()
	src := `.version 8.0
.target sm_80
.address_size 64
.global .align 8 .b64 buf[64] = {1, 2, 3};
.entry k()
{
	.reg .b32 %t, %n, %d, %x;
	.reg .b64 %l, %addr;
	.reg .pred %q, %p;
	mov.u32 %t, %tid.x;
` + body + "\tret;\n}\n"
	if strings.Contains(body, "%n") {
		src = strings.Replace(src, "%tid.x;\n", "%tid.x;\n\tsub.u32 %n, 0, %t;\n", 1)
	}
	if strings.Contains(body, "%q") {
		src = strings.Replace(src, "%tid.x;\n", "%tid.x;\n\tsetp.ne.u32 %q, 0, 0;\n", 1)
	}
	mod, err := NewDevice(Config{Workers: 1}).Load("body.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// breakRule makes a table with a wrong result of rule r.
func breakRule(r ptx.Affine, change func(v affinetrack.Value) affinetrack.Value) (table *affinetrack.Table, used *int) {
	broken, n := *affinetrack.Rules, 0
	rule := broken[r].Apply
	broken[r].Apply = func(a *affinetrack.Args) (affinetrack.Value, bool) {
		v, ok := rule(a)
		if ok {
			n++
			v = change(v)
		}
		return v, ok
	}
	return &broken, &n
}

// wantReport checks that an error is a complete report of a mismatch.
func wantReport(t *testing.T, err error, parts ...string) {
	t.Helper()
	var trap *probe.Trap
	if !errors.Is(err, probe.ErrMismatch) || !errors.As(err, &trap) {
		t.Errorf("got %v, want a mismatch", err)
		return
	}
	report := trap.Report()
	for _, p := range parts {
		if !strings.Contains(report, p) {
			t.Errorf("want %q in the report:\n%s", p, report)
		}
	}
}

// TestBrokenRules breaks every rule, in the base and in the stride. The report
// names the rule, the instruction and its line, the operands, and both values.
func TestBrokenRules(t *testing.T) {
	covered := map[ptx.Affine]bool{}
	for _, m := range mutations {
		covered[m.rule] = true
		t.Run(m.rule.String(), func(t *testing.T) {
			if err := m.run(t, affinetrack.Rules); err != nil {
				t.Fatalf("with sound rules: %v", err)
			}
			mask := uint64(1<<32 - 1)
			if m.wide {
				mask = 1<<64 - 1
			}
			reduce := func(v affinetrack.Value) affinetrack.Value {
				return affinetrack.Value{Base: v.Base & mask, Stride: v.Stride & mask}
			}
			for _, c := range []struct {
				lane   int // first lane with a different value
				change func(v affinetrack.Value) affinetrack.Value
			}{
				{0, func(v affinetrack.Value) affinetrack.Value { v.Base++; return reduce(v) }},
				{1, func(v affinetrack.Value) affinetrack.Value { v.Stride++; return reduce(v) }},
			} {
				table, used := breakRule(m.rule, c.change)
				err := m.run(t, table)
				if *used == 0 {
					t.Fatal("the rule was not used")
				}
				parts := []string{
					"rule " + m.rule.String() + " of " + m.name() + ":", "\t" + m.name() + " ", // message and source line
					fmt.Sprintf("the compact result is %s, but lane %d has %#x", c.change(m.v), c.lane, m.v.At(c.lane)&mask),
				}
				for i, text := range m.inputs {
					parts = append(parts, fmt.Sprintf("operand %d: %s", i, text))
				}
				wantReport(t, err, parts...)
			}
		})
	}
	for r, rule := range affinetrack.Rules {
		if rule.Apply != nil && ptx.Affine(r) != ptx.AffineCompare && !covered[ptx.Affine(r)] {
			t.Errorf("no program breaks rule %s", ptx.Affine(r))
		}
	}
}

// TestBrokenComparison breaks the rule of comparisons.
func TestBrokenComparison(t *testing.T) {
	broken := *affinetrack.Rules
	broken[ptx.AffineCompare].Apply = func(a *affinetrack.Args) (affinetrack.Value, bool) {
		v, ok := affinetrack.Rules[ptx.AffineCompare].Apply(a)
		v.Base ^= 1
		return v, ok
	}
	const body = "\tsetp.lt.u32 %p, %t, 32;\n"
	if err := checkedKernel(t, body, &Launch{}); err != nil {
		t.Fatalf("with the sound rule: %v", err)
	}
	wantReport(t, checkedKernel(t, body, &Launch{rules: &broken}),
		"rule compare of setp.lt.u32:", body[:len(body)-1], "the predicate is false in lanes 0-31, want true", "operand 0: "+tidText)
}

// spoil makes the kernel's popc instruction corrupt the shadow register file. The instruction has a
// guard that always holds; therefore it executes separately.
func spoil(t *testing.T, mod *Module, spoil func(c *machine.Kernel, f *regfile.File)) {
	t.Helper()
	fn, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	launch := machine.Launch{Block: ptx.Dim(32), WarpSize: 32, Mode: machine.Check, CompileEagerly: true, Reconverge: Reconvergers()[0].policy}
	c, err := mod.lowered(kernelKey{fn, mod.dev.cfg.SM, grid.Lowering(&launch)})
	if err != nil {
		t.Fatal(err)
	}
	popc := alu.Vec[code.PopcB32]
	alu.Vec[code.PopcB32] = func(f *regfile.File, instr *code.Instr, m uint32) {
		popc(f, instr, m)
		if f.Tracked() {
			spoil(c, f)
		}
	}
	t.Cleanup(func() { alu.Vec[code.PopcB32] = popc })
}

// TestBrokenCompactCopies: compact addresses and predicates are compared with the lanes at their use,
// too.
func TestBrokenCompactCopies(t *testing.T) {
	const addr = "\tcvt.u64.u32 %l, %t;\n\tshl.b64 %l, %l, 2;\n\tmov.u64 %addr, buf;\n\tadd.u64 %addr, %addr, %l;\n\t@!%q popc.b32 %d, %t;\n"
	later := func(c *machine.Kernel, f *regfile.File) { // adds four bytes to the address
		for _, instr := range c.Instrs {
			if instr.Op.Signature().Side == code.AccessSide && c.Access[instr.Side].Addr == code.Q {
				f.Shadow64(instr.A).Base += 4
			}
		}
	}
	const square = "\tmul.lo.u32 %d, %t, %t;\n" // generic
	rows := func(c *machine.Kernel, f *regfile.File) {
		for i := range int32(f.WindowSize().R) {
			if f.Row32(i)[3] == 9 {
				f.Row32(i)[3] = 0x49
			}
		}
	}
	for _, c := range []struct {
		name  string
		body  string
		spoil func(c *machine.Kernel, f *regfile.File)
		want  []string
	}{
		{"load", addr + "\tld.global.u32 %d, [%addr];\n", later, []string{"rule", "of ld.global.u32:", "the compact address is affine(", "but lane 0 has"}},
		{"store", addr + "\tst.global.u32 [%addr], %d;\n", later, []string{"of st.global.u32:", "the compact address is affine(", "but lane 0 has"}},
		{"branch", "\tsetp.lt.u32 %p, %t, 32;\n\t@!%q popc.b32 %d, %t;\n\t@%p bra END;\n\tmov.u32 %d, 0;\nEND:\n", func(c *machine.Kernel, f *regfile.File) {
			for _, instr := range c.Instrs {
				if instr.Op == code.Branch {
					f.SetP(instr.Guard-1, regfile.Full, 0)
				}
			}
		}, []string{"@%p bra END", "applies to no lanes, want lanes 0-31"}},
		{"uniform load", "\tmov.u32 %x, %ctaid.x;\n\tcvt.u64.u32 %l, %x;\n\tmov.u64 %addr, buf;\n\tadd.u64 %addr, %addr, %l;\n\t@!%q popc.b32 %d, %t;\n\tld.global.u32 %d, [%addr];\n", later, []string{"of ld.global.u32:", "the compact address is uniform(", "but lane 0 has"}},
		{"operand", "\tadd.u32 %x, %t, 5;\n\t@!%q popc.b32 %d, %t;\n\tadd.u32 %d, %t, %x;\n", func(c *machine.Kernel, f *regfile.File) {
			for i := range int32(f.WindowSize().R) {
				if f.Shadow32(i).Mask == regfile.Full && f.Shadow32(i).Base == 5 { // %x
					f.Shadow32(i).Base = 6
				}
			}
		}, []string{"rule add of add.u32:", "the result is 0x6 in lane 0, want 0x5", "operand 1: affine(0x6, 0x1)"}},
		{"failure", "\t@!%q popc.b32 %d, %t;\n\tadd.u32 %x, %t, 5;\n", func(c *machine.Kernel, f *regfile.File) {
			for i := range c.Instrs {
				if c.Instrs[i].Op == code.AddU32 {
					c.Instrs[i].A = 1 << 20
				}
			}
		}, []string{"rule add of add.u32:", "it fails: runtime error: index out of range [1048576]", "operand 0: " + tidText}},
		{"proof", "\tmov.u32 %x, %ctaid.x;\n\t@!%q popc.b32 %d, %t;\n\tadd.u32 %x, %x, 5;\n", func(c *machine.Kernel, f *regfile.File) {
			for i := range int32(f.WindowSize().R) {
				f.Shadow32(i).Mask &= 0xff
			}
		}, []string{"rule add of add.u32:", "the plan expects operand 0 to be uniform, but it is uniform(0x0) for lanes 0-7"}},
		// In a run with other instructions, the fault is found at the instruction with the wrong
		// value.
		{"load at once", strings.ReplaceAll(addr, "@!%q ", "") + "\tld.global.u32 %d, [%addr];\n", later, []string{"of add.u64:", "the compact result is affine(", "later instructions executed"}},
		{"a row that is read", square + "\t@!%q popc.b32 %x, %t;\n\tmul.lo.u32 %n, %d, %d;\n", rows, []string{"of mul.lo.u32:", "it reads 0x49 in lane 3, which holds 0x9"}},
		{"a row that is read and overwritten", square + "\t@!%q popc.b32 %x, %t;\n\tmul.lo.u32 %d, %d, %d;\n", rows, []string{"of mul.lo.u32:", "it reads 0x49 in lane 3, which holds 0x9"}},
		{"a row that is read, at once", square + "\tpopc.b32 %x, %t;\n\tmul.lo.u32 %n, %d, %d;\n", rows, []string{"of mul.lo.u32:", "the result is 0x49 in lane 3, want 0x9"}},
		{"a guard", square + "\tsetp.ne.u32 %p, %d, 4;\n\t@!%q popc.b32 %x, %t;\n\t@%p mul.lo.u32 %d, %d, %d;\n", func(c *machine.Kernel, f *regfile.File) {
			for i := range int32(f.WindowSize().P) {
				f.SetP(i, regfile.Full, ^f.Pred(i))
			}
		}, []string{"of mul.lo.u32:", "the guard holds for lane 2 and does not hold for lanes 0-1,3-31"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loadBody(t, c.body)
			l := &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), CompileEagerly: true}
			if _, err := mod.Run(context.Background(), l); err != nil {
				t.Fatalf("before anything is broken: %v", err)
			}
			spoil(t, mod, c.spoil)
			_, err := mod.Run(context.Background(), l)
			wantReport(t, err, c.want...)
		})
	}
}

// TestNoFalseMismatch: no mismatch is reported for instructions that check mode must not execute
// together, or must execute in step.
func TestNoFalseMismatch(t *testing.T) {
	const scattered = `
	mov.u32 %r1, %tid.x;
	mul.lo.u32 %r2, %r1, 5;
	and.b32 %r2, %r2, 31; // a permutation that is not affine
	shl.b32 %r2, %r2, 2;
	mov.u32 %r7, s;
	add.u32 %r2, %r2, %r7;
	mul.lo.u32 %r3, %r1, 13;
	st.shared.u32 [%r2], %r3;
	bar.sync 0;
	sub.u32 %r2, %r2, %r7;
	and.b32 %r2, %r2, 127;
	add.u32 %r2, %r2, %r7;
`
	at := func(t int) int { return 5 * t & 31 } // thread t has stored 13·t here
	for _, c := range []struct {
		name  string
		block int
		body  string
		want  func(t int) int
	}{
		{"a pointer goes on behind a load", 32, scattered + `
	ld.shared.u32 %r4, [%r2];
	add.u32 %r2, %r2, 4;
	add.u32 %r6, %r2, %r1;
	sub.u32 %r6, %r6, %r7;
	add.u32 %r5, %r4, %r6;
`, func(t int) int { return 13*t + 4*at(t) + 4 + t }},
		{"a load from what is loaded", 32, scattered + `
	ld.shared.u32 %r2, [%r2];
	add.u32 %r6, %r2, %r1;
	and.b32 %r2, %r2, 31;
	mul.lo.u32 %r2, %r2, 5;
	and.b32 %r2, %r2, 31;
	shl.b32 %r2, %r2, 2;
	add.u32 %r2, %r2, %r7;
	ld.shared.u32 %r2, [%r2];
	add.u32 %r5, %r2, %r6;
`, func(t int) int { return 13*(13*t&31) + 13*t + t }},
		{"a load of what another lane stores behind it", 64, `
	mov.u32 %r1, %tid.x;
	mov.u32 %r7, s;
	mul.lo.u32 %r3, %r1, 13;
	and.b32 %r3, %r3, 63;
	shl.b32 %r4, %r3, 2;
	add.u32 %r4, %r4, %r7;
	st.shared.u32 [%r4], %r1;
	shl.b32 %r8, %r1, 2;
	add.u32 %r8, %r8, %r7;
	st.shared.u32 [%r8+512], %r4;
	ld.shared.u32 %r4, [%r8+512]; // what is loaded the plan knows to be generic
	bar.sync 0;
	xor.b32 %r6, %r4, 128; // where thread t ^ 32 has stored
	ld.shared.u32 %r5, [%r6];
	st.shared.u32 [%r4], %r3;
`, func(t int) int { return t ^ 32 }},
	} {
		src := ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 256 .b32 s[256];\n.global .align 8 .b32 out[64];\n.entry k()\n{\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<3>;\n" + c.body +
			"\tmov.u64 %rd1, out;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd1, %rd1, %rd2;\n\tst.global.u32 [%rd1], %r5;\n\tret;\n}\n"
		want := make([]byte, 4*64)
		for i := range c.block {
			binary.LittleEndian.PutUint32(want[4*i:], uint32(c.want(i)))
		}
		for _, width := range []int{32, 64} {
			if c.block > width {
				continue // several warps would race
			}
			for _, mode := range []Mode{Vector, Affine, Check} {
				for _, eager := range []bool{false, true} {
					mod, err := NewDevice(Config{Workers: 1}).Load("body.ptx", []byte(src))
					if err != nil {
						t.Fatal(err)
					}
					if _, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(c.block), WarpSize: width, Mode: mode, CompileEagerly: eager}); err != nil {
						t.Errorf("%s, width %d, %v mode, eager %v: %v", c.name, width, mode, eager, err)
						continue
					}
					if got := mod.Var("out").Bytes(); !bytes.Equal(got, want) {
						t.Errorf("%s, width %d, %v mode, eager %v: %v, want %v", c.name, width, mode, eager, got, want)
					}
				}
			}
		}
	}
}

// TestBrokenLowering: lowered code that does not fit its operations is refused.
func TestBrokenLowering(t *testing.T) {
	mod := loadBody(t, "\tadd.u32 %x, %t, 5;\n")
	add := &code.Signatures[code.AddU32]
	defer func(s code.Signature) { *add = s }(*add)
	add.Slot, add.Dst = 64, code.Q
	_, err := mod.Run(t.Context(), &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), CompileEagerly: true})
	wantReport(t, err, "the lowered code differs from the selected code: after pass ", "(add.u32): ", "add.u32 %x, %t, 5;", "body.ptx:11:2")
}

// TestBrokenPolicy: check mode also compares the compact values of a policy with rules of its own.
func TestBrokenPolicy(t *testing.T) {
	broken := *affinetrack.PolicyByName("kim")
	broken.NarrowRules = map[ptx.Affine]affinetrack.Rule{ptx.AffineShl: {AffineOperands: affinetrack.FirstOperand, Apply: func(a *affinetrack.Args) (affinetrack.Value, bool) {
		return affinetrack.Value{Base: a.Values[0].Base, Stride: 7}, true
	}}}
	const body = "\tshl.b32 %d, %t, 3;\n"
	if err := checkedKernel(t, body, &Launch{Structure: true, Policy: affinetrack.PolicyByName("kim")}); err != nil {
		t.Errorf("with sound rules: %v", err)
	}
	err := checkedKernel(t, body, &Launch{Structure: true, Policy: &broken})
	wantReport(t, err, "body.ptx:11", "rule shl of shl.b32", "the compact result is affine(0x0, 0x7), but lane 1 has 0x8", "operand 0: "+tidText)
}

// TestInstructionWithTwoAccesses: an instruction with two memory accesses, such as a future copy
// instruction, has an event for each. No instruction has two yet; the test merges a load and a store.
func TestInstructionWithTwoAccesses(t *testing.T) {
	for _, mode := range Modes() {
		name := mode.String()
		mod := loadBody(t, "\tmov.u64 %addr, buf;\n\tld.global.b32 %d, [%addr+8];\n\tst.global.b32 [%addr+16], %d;\n")
		var reports []string
		events := probe.Events(probe.OnAccess | probe.OnAfter)
		if mode == Check {
			events |= probe.OnResult
		}
		p := &tellTale{wants: probe.Subscription{Events: events, Addresses: true}, tell: func(e *probe.Event) {
			if e.Instr.Op.Name != "st" {
				return
			}
			s := e.Kind.String()
			for _, a := range e.Accesses {
				_, alloc, offset, ok := a.PlaceOf(3)
				s += fmt.Sprintf(", %s %s+%d %v", a.String(), alloc.Name, offset, ok)
			}
			reports = append(reports, s)
		}}
		l := &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32), Mode: mode, Probes: []probe.Probe{p}}
		fn, err := mod.Kernel("")
		if err != nil {
			t.Fatal(err)
		}
		launch := machine.Launch{Block: l.Block, WarpSize: 32, Mode: machine.Mode(mode), Reconverge: Reconvergers()[0].policy, Probes: l.Probes}
		k, err := mod.lowered(kernelKey{fn, mod.dev.cfg.SM, grid.Lowering(&launch)})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*code.Program{k.Program, k.Program.Reference} {
			if c == nil {
				continue
			}
			for i := range c.Instrs {
				if instr := &c.Instrs[i]; instr.Src >= 0 && c.Sources[instr.Src].Op.Name == "ld" {
					instr.Src++
				}
			}
		}
		if _, err := mod.Run(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		const load, store = ", global load buf+8 true", ", global store buf+16 true"
		want := []string{"access" + load, "access" + load + store, "after" + load + store}
		if mode == Check {
			want = []string{want[0], "result" + load, want[1], "result" + load + store, want[2]}
		}
		if fmt.Sprint(reports) != fmt.Sprint(want) {
			t.Errorf("%s: told %q, want %q", name, reports, want)
		}
	}
}

// tellTale is a probe that calls a function.
type tellTale struct {
	wants probe.Subscription
	tell  func(e *probe.Event)
}

func (p *tellTale) Subscription() probe.Subscription { return p.wants }

func (p *tellTale) OnEvent(e *probe.Event) {
	if e.Instr != nil {
		p.tell(e)
	}
}

func (p *tellTale) CTA(*probe.LaunchInfo, int, ptx.Dim3) probe.Sink { return p }
