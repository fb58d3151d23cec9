package interp

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gemu/internal/part"
	"gemu/probe"
	"gemu/ptx"
)

// trapping are kernels that end with a trap, by the kind at the beginning of its text. Each gets a buffer of zeros.
var trapping = []struct {
	name string
	kind error
	decl string
	body string
}{
	{"recursion", probe.ErrStackOverflow, ".func f(.reg .u32 %a) { .reg .u32 %b; add.u32 %b, %a, 1; call f, (%b); ret; }", "call f, (%i);"},
	{"recursion that keeps nothing", probe.ErrStackOverflow, ".func f() { call f; ret; }", "call f;"},
	{"recursion through an address", probe.ErrStackOverflow,
		".func f() { .reg .u64 %a; P: .callprototype _ (); mov.u64 %a, f; call %a, (), P; ret; }", "mov.u64 %a, f; P: .callprototype _ (); call %a, (), P;"},
	{"recursion that keeps registers", probe.ErrStackOverflow, `.func (.reg .u32 %d) f(.reg .u32 %a) {
		.reg .u32 %b<6>; .reg .u64 %q<3>; .reg .pred %p;
		mul.lo.u32 %b0, %a, 3; mul.lo.u32 %b1, %a, %a; add.u32 %b2, %a, 7; cvt.u64.u32 %q0, %b1; mul.lo.u64 %q1, %q0, 5; setp.gt.u32 %p, %b1, %b2;
		call (%b3), f, (%b2);
		add.u32 %d, %b0, %b1; add.u32 %d, %d, %b2; cvt.u32.u64 %b4, %q1; add.u32 %d, %d, %b4; @%p add.u32 %d, %d, %b3; ret; }`, "call (%v), f, (%i); st.global.u32 [%o], %v;"},
	{"recursion that keeps constants", probe.ErrStackOverflow, `.func (.reg .u32 %d) f(.reg .u32 %a) {
		.reg .u32 %b<6>; .reg .u64 %q<3>;
		mov.u32 %b0, %ntid.x; mov.u32 %b1, %tid.x; mov.u32 %b2, %ctaid.x; mov.u64 %q0, 0x123456789a;
		call (%b3), f, (%a);
		add.u32 %d, %b0, %b1; add.u32 %d, %d, %b2; add.u32 %d, %d, %b3; cvt.u32.u64 %b4, %q0; add.u32 %d, %d, %b4; ret; }`, "call (%v), f, (5); st.global.u32 [%o], %v;"},
	{"recursion with local memory", probe.ErrStackOverflow, ".func f(.reg .u32 %a) { .local .align 16 .b8 x[100]; .reg .u32 %b; st.local.u32 [x], %a; ld.local.u32 %b, [x]; call f, (%b); ret; }", "call f, (%i);"},
	{"mutual recursion", probe.ErrStackOverflow, ".func g(.param .b64 a); .func f() { .param .b64 x; .reg .u64 %a; mov.u64 %a, 5; st.param.b64 [x], %a; call g, (x); ret; } .func g(.param .b64 a) { call f; ret; }", "call f;"},
	{"half a warp recurses", probe.ErrStackOverflow, ".func f(.reg .u32 %a) { call f, (%a); ret; }", "and.b32 %v, %i, 1; setp.eq.u32 %p, %v, 0; @%p call f, (%i);"},

	{"steps", probe.ErrStepLimit, "", "L: add.u32 %v, %v, 1; st.global.u32 [%o], %v; bra L;"},
	{"steps of a long loop", probe.ErrStepLimit, "", "L: add.u32 %v, %v, 1; xor.b32 %w, %v, %i; mul.lo.u32 %w, %w, 3; st.global.u32 [%o], %v; add.u32 %w, %w, %v; setp.eq.u32 %p, %w, 0xffffffff; @%p bra E; shl.b32 %w, %w, 1; bra L; E:"},
	{"steps of a loop of two ways", probe.ErrStepLimit, "", "L: add.u32 %v, %v, 1; and.b32 %w, %i, 1; setp.eq.u32 %p, %w, 0; @%p bra A; add.u32 %v, %v, 2; bra L; A: st.global.u32 [%o], %v; add.u32 %v, %v, 3; bra L;"},
	{"steps of an affine loop", probe.ErrStepLimit, "", "mov.u64 %a, 0; L: add.u64 %a, %a, 1; setp.lt.u64 %p, %a, 0x7fffffffffffffff; @%p bra L; st.global.u64 [%o], %a;"},
	{"steps in a function", probe.ErrStepLimit, ".func (.reg .u32 %d) f(.reg .u32 %a) { add.u32 %d, %a, 1; add.u32 %d, %d, 1; ret; }", "L: call (%v), f, (%v); st.global.u32 [%o], %v; bra L;"},
	{"steps of atomics", probe.ErrStepLimit, "", "L: atom.global.add.u32 %v, [%o], 1; add.u32 %w, %w, %v; bra L;"},
	{"steps between barriers", probe.ErrStepLimit, "", "L: bar.sync 0; add.u32 %v, %v, 1; st.global.u32 [%o], %v; bra L;"},

	{"endless", probe.ErrEndlessLoop, "", "add.u32 %v, %v, 1; L: bra L;"},
	{"endless for one lane", probe.ErrEndlessLoop, "", "setp.eq.u32 %p, %i, 0; @!%p bra E; L: bra L; E: bar.sync 0;"},
	{"spins on a flag", probe.ErrDeadlock, "", "L: ld.volatile.global.u32 %v, [%o]; setp.eq.u32 %p, %v, 0; @%p bra L;"},
	{"spins on a lock", probe.ErrDeadlock, "", "L: atom.global.cas.b32 %v, [%o], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L; M: atom.global.cas.b32 %v, [%o+4], 1, 2; setp.ne.u32 %p, %v, 1; @%p bra M;"},
	{"spins on shared memory", probe.ErrDeadlock, ".shared .u32 s;", "L: ld.volatile.shared.u32 %v, [s]; setp.ne.u32 %p, %v, 77; @%p bra L;"},
	{"an mbarrier that nobody reaches", probe.ErrDeadlock, ".shared .align 8 .b64 mb;", "mbarrier.init.shared.b64 [mb], 1000; bar.sync 0; L: mbarrier.test_wait.parity.shared.b64 %p, [mb], 0; @!%p bra L;"},
	{"a barrier that one lane misses", probe.ErrDeadlock, "", "setp.eq.u32 %p, %i, 0; @%p bra L; bar.sync 0; bra E; L: ld.volatile.global.u32 %v, [%o]; setp.eq.u32 %q, %v, 0; @%q bra L; E:"},
	{"barriers of different names", probe.ErrDeadlock, "", "bar.sync 1, 1024;"},

	{"out of bounds", probe.ErrOutOfBounds, "", "mad.wide.u32 %a, %i, 4096, %o; st.global.u32 [%a+128], %i;"},
	{"misaligned", probe.ErrMisaligned, "", "st.global.u32 [%o+2], %i;"},
	{"trap", probe.ErrTrap, "", "setp.eq.u32 %p, %i, 0; @%p trap;"},
	{"alloca", probe.ErrStackOverflow, "", "L: alloca.u64 %a, 4096; bra L;"},
	{"a target", probe.ErrBadTarget, ".func f() { ret; }", "P: .callprototype _ (.reg .u32 _); mov.u64 %a, f; call %a, (%i), P;"},
}

// TestTrapTexts: the text of a trap, with its place and notes, is the same in every mode, in machine code and in Go,
// for every number of host threads. It may depend on the width of warps and on the block.
func TestTrapTexts(t *testing.T) {
	type setting struct {
		name   string
		launch Launch
	}
	backends := []Engine{Portable}
	if Native.Available() {
		backends = append(backends, Native)
	}
	var settings []setting
	for i, b := range backends {
		for _, l := range []Launch{{Mode: Vector}, {Mode: Affine}, {Mode: Affine, CompileEagerly: true}, {Mode: Check}, {Mode: Check, CompileEagerly: true}} {
			l.Engine = b
			settings = append(settings, setting{fmt.Sprintf("%s, eager %t, backend %d", l.Mode, l.CompileEagerly, i), l})
		}
	}
	shapes := []struct{ grid, block, warp int }{{1, 1, 32}, {2, 64, 32}, {1, 33, 16}, {1, 70, 64}}
	for i, k := range trapping {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			src := ".version 8.0\n.target sm_80\n.address_size 64\n" + k.decl + "\n.visible .entry k(.param .u64 out)\n{\n\t.reg .pred %p, %q;\n\t.reg .u32 %i, %v, %w;\n\t.reg .u64 %o, %a;\n\tld.param.u64 %o, [out];\n\tmov.u32 %i, %tid.x;\n\tmov.u32 %v, 0;\n\tmov.u32 %w, 0;\n\t" + k.body + "\n\tret;\n}\n"
			for j, s := range shapes {
				if !part.TryAll() && i%len(shapes) != j {
					continue
				}
				want, first := "", ""
				for n, set := range settings {
					dev := NewDevice(Config{Workers: 1 + n%3, Stack: 32 << 10})
					mod, err := dev.Load("trap.ptx", []byte(src))
					if err != nil {
						t.Fatal(err)
					}
					output, err := NewBuffer(dev, make([]uint32, 32))
					if err != nil {
						t.Fatal(err)
					}
					l := set.launch
					l.Kernel, l.Grid, l.Block, l.WarpSize, l.MaxSteps, l.Args = "k", ptx.Dim(s.grid), ptx.Dim(s.block), s.warp, 1<<21, []any{output}
					if k.kind == probe.ErrStepLimit {
						l.MaxSteps = 1 << 16
					}
					_, err = mod.Run(context.Background(), &l)
					var trap *probe.Trap
					switch {
					case !errors.As(err, &trap):
						t.Errorf("%v, %s: %v, want a trap", s, set.name, err)
					case want == "":
						want, first = trap.Report(), set.name
						if !errors.Is(trap, k.kind) {
							t.Errorf("%v, %s: want %v\n%s", s, set.name, k.kind, want)
						}
					case trap.Report() != want:
						t.Errorf("%v, %s:\n%s\nand %s:\n%s", s, set.name, trap.Report(), first, want)
					}
				}
			}
		})
	}
}
