package phases_test

import (
	"slices"
	"strings"
	"testing"

	"gemu/kernels"
	"gemu/phases"
	"gemu/ptx"
)

func divide(t *testing.T, src string) (*phases.Kernel, error) {
	t.Helper()
	m, err := ptx.ParseString("k.ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	return phases.Divide(m.Kernels()[0], -1)
}

func resources(k *phases.Kernel) (list []phases.Resources) {
	for _, p := range k.Phases {
		list = append(list, p.Resources)
	}
	return list
}

// wide has three parts of ten instructions: with few registers; with eight more, written first and added up last; and with shared memory.
const wide = `.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 to) {
	.reg .b32 %r<20>;
	.reg .b64 %rd<4>;
	.reg .pred %p;
	.shared .align 4 .b8 big[1024];
	ld.param.u64 %rd1, [to];
	mov.u32 %r1, 1;
	BRANCH
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r1, %r1, 1;
	add.s32 %r2, %r1, 2;
	add.s32 %r3, %r1, 3;
	add.s32 %r4, %r1, 4;
	add.s32 %r5, %r1, 5;
	add.s32 %r6, %r1, 6;
	add.s32 %r2, %r2, %r3;
	add.s32 %r2, %r2, %r4;
	add.s32 %r2, %r2, %r5;
	add.s32 %r2, %r2, %r6;
	add.s32 %r1, %r2, %r1;
JOIN:
	mov.u32 %r7, %tid.x;
	shl.b32 %r7, %r7, 2;
	mov.u32 %r8, big;
	add.s32 %r8, %r8, %r7;
	st.shared.u32 [%r8], %r1;
	bar.sync 0;
	ld.shared.u32 %r9, [big];
	add.s32 %r1, %r1, %r9;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// TestPhases: phases worked out by hand. In the first part %rd1 (2 registers) and %r1 are live; in the second also %r2 to %r6; in the third
// %rd1, %r1, and at most two of %r7, %r8, %r9.
func TestPhases(t *testing.T) {
	k, err := divide(t, strings.Replace(wide, "BRANCH", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if want := []phases.Resources{{3, 0}, {8, 0}, {5, 1024}}; !slices.Equal(resources(k), want) {
		t.Errorf("phases %v, want %v", resources(k), want)
	}
	if k.Phases[1].First.Pos.Line != 20 || k.Phases[2].First.Pos.Line != 31 {
		t.Errorf("phases begin in lines %d and %d, want 20 and 31", k.Phases[1].First.Pos.Line, k.Phases[2].First.Pos.Line)
	}
}

// TestDivergence: no phase begins between a branch that can differ between lanes and the place where its paths join. One that is the same in all lanes
// does not matter, nor one after which lanes only end.
func TestDivergence(t *testing.T) {
	for _, test := range []struct {
		branch string
		want   []phases.Resources
	}{
		{"mov.u32 %r2, %tid.x; setp.eq.s32 %p, %r2, 0; @%p bra JOIN;", []phases.Resources{{8, 0}, {5, 1024}}},
		{"mov.u32 %r2, %ctaid.x; setp.eq.s32 %p, %r2, 0; @%p bra JOIN;", []phases.Resources{{4, 0}, {8, 0}, {5, 1024}}},
		{"mov.u32 %r2, %tid.x; setp.eq.s32 %p, %r2, 0; @%p ret;", []phases.Resources{{4, 0}, {8, 0}, {5, 1024}}},
	} {
		k, err := divide(t, strings.Replace(wide, "BRANCH", test.branch, 1))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(resources(k), test.want) {
			t.Errorf("%s: phases %v, want %v", test.branch, resources(k), test.want)
		}
	}
}

// TestAnnotate: a text with directives has the phases that it declares, and edited directives are taken, or refused with their place.
func TestAnnotate(t *testing.T) {
	src := strings.Replace(wide, "BRANCH", "", 1)
	k, err := divide(t, src)
	if err != nil {
		t.Fatal(err)
	}
	text, err := phases.Annotate("k.ptx", src, []*phases.Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	again, err := divide(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(resources(again), resources(k)) || again.Phases[1].Pragma.Line != 21 {
		t.Errorf("phases %v of the text\n%s", again.Phases, text)
	}
	if _, err := phases.Annotate("k.ptx", text, []*phases.Kernel{again}); err == nil || !strings.Contains(err.Error(), "k has phases already") {
		t.Errorf("a second annotation: %v", err)
	}
	for edit, want := range map[string]string{
		"registers=9 shared=64":         "",
		"registers=7 shared=0":          `k.ptx:21: .pragma "gemu.phase": registers=7, but 8 are live in the phase: want at least these`,
		"registers=8":                   `want shared=N`,
		"registers=8 shared=-1":         `shared=-1: want a number from 0 to 1048576`,
		"registers=8 shared=0 shared=0": `shared is given twice`,
		"regs=8 shared=0":               `regs=8: want registers=N and shared=N`,
		`registers=8 shared=0"; .pragma "gemu.phase registers=8 shared=0`: `the directive in line 21 is before the same instruction`,
	} {
		_, err := divide(t, strings.Replace(text, "registers=8 shared=0", edit, 1))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", edit, err, want)
		}
	}
}

// TestPlacesOfDirectives: a directive where lanes may have taken different paths, or outside of a kernel, is refused.
func TestPlacesOfDirectives(t *testing.T) {
	const directive = `.pragma "gemu.phase registers=30 shared=0";`
	const divergent = `mov.u32 %r2, %tid.x; setp.eq.s32 %p, %r2, 0; @%p bra JOIN;`
	src := strings.Replace(wide, "BRANCH", divergent+" "+directive, 1)
	for src, want := range map[string]string{
		src:                                    `k.ptx:11: .pragma "gemu.phase": lanes of a warp may have taken another path: move it to a place where all paths have joined`,
		strings.Replace(src, divergent, "", 1): "",
		strings.Replace(wide, ".visible", directive+"\n.visible", 1):                       `k.ptx:4: .pragma "gemu.phase": it is outside of a kernel`,
		strings.Replace(wide, ".visible", ".func f() { "+directive+" ret; }\n.visible", 1): `k.ptx:4: .pragma "gemu.phase": it is outside of a kernel`,
	} {
		_, err := divide(t, strings.Replace(src, "BRANCH", "", 1))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want %q\n%s", err, want, src)
		}
	}
}

// TestCalls: a kernel with calls has no phases.
func TestCalls(t *testing.T) {
	_, err := divide(t, ".version 7.0\n.target sm_70\n.address_size 64\n.func f() { ret; }\n.visible .entry k() {\n\tcall f;\n\tret;\n}\n")
	if err == nil || !strings.Contains(err.Error(), "k.ptx:6: k calls a function") {
		t.Error(err)
	}
}

// TestThesisPhases: NQU has three phases, as figure 30 of the thesis shows them: without shared memory, with all of it, and with an element of 4 bytes for each
// thread (384 bytes of 96 threads there). In DCT shared memory does not change once it is used, and the registers of the middle are
// at least 1.5 times those of the end (figure 31 has twice).
func TestThesisPhases(t *testing.T) {
	of := func(name string) (list []phases.Resources, k *phases.Kernel) {
		m, err := ptx.ParseString(name, kernels.Lookup(name).PTX())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Kernels() {
			if f.Name == strings.TrimPrefix(name, "gv100/") {
				if k, err = phases.Divide(f, -1); err != nil {
					t.Fatal(err)
				}
			}
		}
		return resources(k), k
	}
	list, k := of("nqueens")
	if len(list) < 3 || list[0].Shared != 0 || list[1].Shared != 17*64*(12+4)+64*4 || list[2].Shared != 64*4 || list[1].Registers != k.Most.Registers {
		t.Errorf("nqueens: phases %v", list)
	}
	list, k = of("gv100/dct8x8")
	used := slices.IndexFunc(list, func(r phases.Resources) bool { return r.Shared > 0 })
	if slices.ContainsFunc(list[used:], func(r phases.Resources) bool { return r.Shared != 33*32*4 }) || 2*k.Most.Registers < 3*list[len(list)-1].Registers {
		t.Errorf("dct8x8: phases %v", list)
	}
}
