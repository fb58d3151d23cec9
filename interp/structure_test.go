package interp_test

// This file checks the value structure of launches: counts derived by hand, and their independence of everything but the
// launch.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/affinetrack"
	. "gemu/interp"
	"gemu/ptx"
	"gemu/structure"
	"gemu/texture"
)

type (
	counts = affinetrack.Counts
	shares = affinetrack.ClassCounts
)

var u, a, g = shares{Uniform: 1}, shares{Affine: 1}, shares{Generic: 1}

// sum adds up shares.
func sum(list ...shares) (s shares) {
	for _, o := range list {
		s.Add(o)
	}
	return s
}

// lazyKernel overwrites compact registers under divergence and guards.
const lazyKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u32 n)
{
	.reg .u32 %t, %n, %r, %g, %s;
	.reg .pred %p;
	mov.u32 %t, %tid.x;
	ld.param.u32 %n, [n];
	mov.u32 %r, 5;
	setp.lt.u32 %p, %t, 16;
	@%p bra MEET;
	xor.b32 %g, %t, %r;
	add.u32 %r, %t, 1;
	add.u32 %r, %t, 2;
MEET:
	add.u32 %s, %r, 1;
	@%p mov.u32 %n, 7;
	ret;
}
`

// lazyCounts returns the counts of lazyKernel for one warp of 32 lanes, by instruction.
//
// The thread index is affine, the parameter and the constant are uniform: three compact results. tid < 16 differs between
// lanes, so its predicate is generic and the branch is not decided; lanes 0 to 15 wait at MEET while lanes 16 to 31 execute
// the next three instructions diverged. xor with 5 flips only some of the bits in which the tids 16 to 31 differ: generic
// under every policy.
//
// tid+1 could be compact. In the single-ASRF scheme (Kim et al. 4.3) it is suppressed, and %r, which was compact (5), is
// materialised for the waiting lanes. tid+2 is suppressed, too, but %r is generic by now and needs no materialisation. After
// MEET %r is generic. The guarded mov is suppressed although the warp has converged, "since some threads might not execute",
// and the compact %n is materialised.
func lazyCounts() []counts {
	return []counts{
		{Execs: 1, Lanes: 32, Label: a, Compact: 1, Writes: a},                                                // mov %t
		{Execs: 1, Lanes: 32, Label: u, Compact: 1, Writes: u, Addresses: u, Data: u},                         // ld.param
		{Execs: 1, Lanes: 32, Label: u, Compact: 1, Writes: u},                                                // mov %r, 5
		{Execs: 1, Lanes: 32, Label: g, Reads: a},                                                             // setp
		{Execs: 1, Lanes: 32, Label: u, Branches: 1},                                                          // bra
		{Execs: 1, Lanes: 16, Diverged: 1, Label: g, Reads: sum(a, u), Writes: g},                             // xor
		{Execs: 1, Lanes: 16, Diverged: 1, Label: a, Suppressed: 1, Materialisations: 1, Reads: a, Writes: g}, // add %r, %t, 1
		{Execs: 1, Lanes: 16, Diverged: 1, Label: a, Suppressed: 1, Reads: a, Writes: g},                      // add %r, %t, 2
		{Execs: 1, Lanes: 32, Label: g, Reads: g, Writes: g},                                                  // add %s
		{Execs: 1, Lanes: 32, Label: u, Suppressed: 1, Materialisations: 1, Writes: g},                        // @%p mov
		{Execs: 1, Lanes: 32, Label: u},                                                                       // ret
	}
}

// lazyMasked returns the counts with masked tags: results stay compact for the lanes that compute them. The first add
// materialises 5 for the waiting lanes, and the mov materialises the parameter for the lanes with a false guard. The second
// add overwrites the same lanes as the first.
func lazyMasked() []counts {
	list := lazyCounts()
	for _, i := range []int{6, 7, 9} {
		list[i].Compact, list[i].Suppressed = list[i].Suppressed, 0
	}
	list[6].Writes, list[7].Writes, list[9].Writes = a, a, u
	return list
}

// lazyIdeal returns the counts of the bound that looks at lanes and keeps no value that it would have to materialise.
func lazyIdeal() []counts {
	list := lazyMasked()
	for i := range list {
		list[i].Materialisations = 0
	}
	return list
}

// memoryKernel has a branch that its end points decide, and loads and stores of all classes.
const memoryKernel = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 buf, .param .u32 n)
{
	.reg .u32 %t, %n, %x, %y, %z;
	.reg .u64 %p, %o, %a, %b;
	.reg .pred %q;
	mov.u32 %t, %tid.x;
	ld.param.u64 %p, [buf];
	ld.param.u32 %n, [n];
	setp.ge.u32 %q, %t, %n;
	@%q bra END;
	mul.wide.u32 %o, %t, 4;
	add.u64 %a, %p, %o;
	ld.global.u32 %x, [%a];
	ld.global.u32 %y, [%p];
	add.u32 %x, %x, %y;
	and.b32 %z, %x, 28;
	cvt.u64.u32 %o, %z;
	add.u64 %b, %p, %o;
	ld.global.u32 %y, [%b];
	st.global.u32 [%a], %y;
END:
	ret;
}
`

// memoryCounts returns the counts of memoryKernel for one warp of 32 lanes and n = 32.
//
// No tid is ≥ 32: the comparison is decided (its predicate is uniform, so the instruction is compact and as affine as its
// operands), and so is the branch. Addresses are affine by mul and add; the loaded values are generic. In Kim's machine only
// parameter loads have uniform results (4.1), so a load from a uniform address gives a generic value, and so does everything
// computed from it. %o is overwritten while affine, but by the whole warp: no materialisation. The affine memory operations of
// the machine are loads (4.2), so the store executes lane by lane.
func memoryCounts() []counts {
	list := []counts{
		{Label: a, Compact: 1, Writes: a},                        // mov %t
		{Label: u, Compact: 1, Writes: u, Addresses: u, Data: u}, // ld.param
		{Label: u, Compact: 1, Writes: u, Addresses: u, Data: u}, // ld.param
		{Label: a, Compact: 1, Reads: sum(a, u)},                 // setp
		{Label: u, Branches: 1, Decided: 1, Affine: 1},           // bra
		{Label: a, Compact: 1, Reads: a, Writes: a},              // mul.wide
		{Label: a, Compact: 1, Reads: sum(u, a), Writes: a},      // add %a
		{Label: a, Reads: a, Writes: g, Addresses: a, Data: g},   // ld %x, [%a]
		{Label: u, Reads: u, Writes: g, Addresses: u, Data: g},   // ld %y, [%p]
		{Label: g, Reads: sum(g, g), Writes: g},                  // add %x
		{Label: g, Reads: g, Writes: g},                          // and
		{Label: g, Reads: g, Writes: g},                          // cvt
		{Label: g, Reads: sum(u, g), Writes: g},                  // add %b
		{Label: g, Reads: g, Writes: g, Addresses: g, Data: g},   // ld %y, [%b]
		{Label: g, Reads: sum(a, g), Addresses: g, Data: g},      // st [%a]
		{Label: u}, // ret
	}
	for i := range list {
		list[i].Execs, list[i].Lanes = 1, 32
	}
	return list
}

// memoryUniform returns the counts where a load from any uniform address has a uniform result.
func memoryUniform() []counts {
	list := memoryCounts()
	list[8].Compact, list[8].Writes, list[8].Data = 1, u, u
	list[9].Reads = sum(g, u)
	list[14].Label, list[14].Addresses = a, a
	return list
}

// memoryCollange returns the counts of a machine without multiplication, affine comparisons, branches or memory operations: only
// the thread index and parameters are compact.
func memoryCollange() []counts {
	list := memoryCounts()
	list[3].Label, list[3].Compact = g, 0
	list[4].Decided, list[4].Affine = 0, 0
	list[5] = counts{Execs: 1, Lanes: 32, Label: g, Reads: a, Writes: g}
	list[6] = counts{Execs: 1, Lanes: 32, Label: g, Reads: sum(u, g), Writes: g}
	list[7].Label, list[7].Reads, list[7].Addresses = g, g, g
	list[8].Label, list[8].Addresses = g, g
	list[14].Label, list[14].Reads, list[14].Addresses = g, sum(g, g), g
	return list
}

// structureOf runs a kernel with statistics.
func structureOf(t *testing.T, src string, cfg Config, l *Launch, args func(d *Device) []any) *structure.Structure {
	t.Helper()
	mod, err := NewDevice(cfg).Load("structure.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	l.Kernel, l.Args, l.Structure = "k", args(mod.Device()), true
	r, err := mod.Run(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return r.Structure
}

// countsOf returns a structure's counts by instruction.
func countsOf(s *structure.Structure) []counts {
	var list []counts
	for i := range s.Instrs {
		list = append(list, s.Instrs[i].Counts)
	}
	return list
}

func lazyArgs(*Device) []any { return []any{3} }

// memoryArgs returns a buffer of 32 words and its length. No two or three neighbouring words are in arithmetic progression.
func memoryArgs(d *Device) []any {
	data := make([]uint32, 32)
	for i := range data {
		data[i] = uint32(4 * (i * i % 37 % 8))
	}
	b, err := NewBuffer(d, data)
	if err != nil {
		panic(err)
	}
	return []any{b, 32}
}

// TestStructureCounts compares the counts with counts derived by hand.
func TestStructureCounts(t *testing.T) {
	for _, c := range []struct {
		name, src string
		args      func(d *Device) []any
		want      map[string][]counts // by policy
	}{
		{"lazy", lazyKernel, lazyArgs, map[string][]counts{"kim": lazyCounts(), "collange": lazyCounts(), "gemu": lazyMasked(), "ideal": lazyIdeal()}},
		{"memory", memoryKernel, memoryArgs, map[string][]counts{"kim": memoryCounts(), "gemu": memoryUniform(), "collange": memoryCollange()}},
	} {
		for policy, want := range c.want {
			for _, mode := range []Mode{Check, Affine} {
				p := affinetrack.PolicyByName(policy)
				if mode == Affine && p.Ideal {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s", c.name, policy, mode), func(t *testing.T) {
					s := structureOf(t, c.src, Config{}, &Launch{Mode: mode, Policy: p, Grid: ptx.Dim(1), Block: ptx.Dim(32)}, c.args)
					if s.Policy != p {
						t.Errorf("policy %s", s.Policy.Name)
					}
					if len(s.Instrs) != len(want) {
						t.Fatalf("%d instructions, want %d", len(s.Instrs), len(want))
					}
					for i, got := range countsOf(s) {
						if diff := cmp.Diff(want[i], got); diff != "" {
							t.Errorf("%s (-want +got):\n%s", strings.TrimSpace(s.Instrs[i].Text), diff)
						}
					}
				})
			}
		}
	}
}

// TestStructureSummary derives the columns of table 1 for lazyKernel under Kim's policy, from
// lazyCounts.
func TestStructureSummary(t *testing.T) {
	l := &Launch{Policy: affinetrack.PolicyByName("kim"), Grid: ptx.Dim(1), Block: ptx.Dim(32)}
	s := structureOf(t, lazyKernel, Config{}, l, lazyArgs)
	want := structure.Summary{
		Instructions: 11,
		ActiveLanes:  float64(8*32+3*16) / 11,
		Control:      100 * 2. / 11, // bra, ret
		Memory:       100 * 1. / 11,
		Diverged:     100 * 3. / 11,
		Affine:       100 * 3. / 11,
		Suppressed:   50, // 3 of 6 possible compact results
		Expansion:    100 * 2. / 11,
		ReadsSaved:   100 * 5. / 6,       // setp, xor (2), add, add; not the last add
		WritesSaved:  100 * (3. - 2) / 8, // three compact results, two materialisations
	}
	if diff := cmp.Diff(want, s.Summary()); diff != "" {
		t.Errorf("lazy (-want +got):\n%s", diff)
	}
	wantLanes := make([]int64, 33)
	wantLanes[32], wantLanes[16] = 8, 3
	if diff := cmp.Diff(wantLanes, s.Lanes); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}

	l = &Launch{Policy: affinetrack.PolicyByName("kim"), Grid: ptx.Dim(1), Block: ptx.Dim(32)}
	m := structureOf(t, memoryKernel, Config{}, l, memoryArgs).Summary()
	if m.Branches != 100 {
		t.Errorf("%v %% of branches decided, want 100", m.Branches)
	}
	if m.MemoryOps != 50 || m.Loads != 100*2./3 { // [%a] and [%p], but not [%b] nor st [%a]; without parameters
		t.Errorf("%v %% of accesses and %v %% of loads affine, want 50 and 66.7", m.MemoryOps, m.Loads)
	}
	if m.LongLatency != 100*1./16 { // mul.wide
		t.Errorf("%v %% long latency, want 6.25", m.LongLatency)
	}
}

// TestStructureOfTwoLaunches: Add sums the counts of two launches of one kernel and appends the counts of another
// kernel.
func TestStructureOfTwoLaunches(t *testing.T) {
	one := func(src string, args func(d *Device) []any) *structure.Structure {
		return structureOf(t, src, Config{}, &Launch{Grid: ptx.Dim(1), Block: ptx.Dim(32)}, args)
	}
	lazy, memory := one(lazyKernel, lazyArgs), one(memoryKernel, memoryArgs)
	total := &structure.Structure{Policy: lazy.Policy}
	for _, s := range []*structure.Structure{lazy, memory, lazy} {
		total.Add(s)
	}
	var want counts
	for range 2 {
		for _, c := range lazyMasked() {
			want.Add(&c)
		}
	}
	for _, c := range memoryUniform() {
		want.Add(&c)
	}
	if len(total.Instrs) != len(lazy.Instrs)+len(memory.Instrs) {
		t.Errorf("%d instructions, want %d and %d", len(total.Instrs), len(lazy.Instrs), len(memory.Instrs))
	}
	if diff := cmp.Diff(want, total.Total()); diff != "" {
		t.Errorf("total (-want +got):\n%s", diff)
	}
	if total.Lanes[32] != 2*8+16 || total.Lanes[16] != 2*3 {
		t.Errorf("lanes: %d of 32 and %d of 16, want 32 and 6", total.Lanes[32], total.Lanes[16])
	}
}

// TestStructureOfTextureReads: textures are read-only, so a read at uniform coordinates is uniform under policies with
// uniform loads; a read of a surface is not.
func TestStructureOfTextureReads(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.global .texref t;
.entry k(.param .f32 u, .param .u64 s)
{
	.reg .f32 %u, %f<8>;
	.reg .u64 %s;
	.reg .u32 %w, %i;
	ld.param.f32 %u, [u];
	ld.param.u64 %s, [s];
	tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%u}];
	txq.width.b32 %w, [t];
	suld.b.1d.b32.trap %f4, [%s, {0}];
	mov.u32 %i, %tid.x;
	tex.1d.v4.f32.s32 {%f5, _, _, _}, [t, {%i}];
	ret;
}
`
	for policy, want := range map[string]string{"gemu": "u u u u g a g u", "ideal": "u u u u g a g u", "kim": "u u g g g a g u"} {
		dev := NewDevice(Config{})
		mod, err := dev.Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		line := func(text string) *Object {
			o, err := ParseObject(text, texture.DefaultSampler(), false)
			if err != nil {
				t.Fatal(err)
			}
			made, err := o.Make(dev, "x", []byte{0, 0, 128, 63, 0, 0, 0, 64})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		res, err := mod.Run(t.Context(), &Launch{
			Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{float32(1), line("surf.1d(f32[2])")}, Objects: map[string]*Object{"t": line("tex.1d(f32[2])")},
			Structure: true, Policy: affinetrack.PolicyByName(policy),
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, in := range res.Structure.Instrs {
			switch in.Label {
			case u:
				got += " u"
			case a:
				got += " a"
			default:
				got += " g"
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}

// TestIdealPolicyByType: the ideal policy classifies results. Integer division runs on the unit of special functions
// and still gives affine integers. Floats can only be uniform, even if their bits are affine. Registers of 16 bits
// wrap, as tid + 65520 does in lane 16.
func TestIdealPolicyByType(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u32 n)
{
	.reg .u32 %t, %x;
	.reg .u16 %h, %i;
	.reg .f32 %f;
	mov.u32 %t, %tid.x;
	mul.lo.u32 %x, %t, 8;
	div.u32 %x, %x, 4;
	cvt.u16.u32 %h, %t;
	add.u16 %i, %h, 65520;
	add.u16 %h, %i, %h;
	mov.b32 %f, %t;
	add.f32 %f, %f, 0f00000000;
	ret;
}
`
	p := affinetrack.PolicyByName("ideal")
	s := structureOf(t, src, Config{}, &Launch{Mode: Vector, Policy: p, Grid: ptx.Dim(1), Block: ptx.Dim(32)}, lazyArgs)
	want := []counts{
		{Label: a, Compact: 1, Writes: a},
		{Label: a, Compact: 1, Reads: a, Writes: a},
		{Label: a, Compact: 1, Reads: a, Writes: a},
		{Label: a, Compact: 1, Reads: a, Writes: a},
		{Label: a, Compact: 1, Reads: a, Writes: a},
		{Label: a, Compact: 1, Reads: sum(a, a), Writes: a},
		{Label: a, Compact: 1, Reads: a, Writes: a},
		{Label: g, Reads: a, Writes: a}, // the result is a progression of bits, which does not count
		{Label: u},
	}
	for i, got := range countsOf(s) {
		want[i].Execs, want[i].Lanes = 1, 32
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", strings.TrimSpace(s.Instrs[i].Text), diff)
		}
	}
}

// TestInterpretationsOfFGMachine: the interpretations of the FG-SIMT machine differ in the instructions that execute on
// uniform operands and in the instructions with uniform results.
func TestInterpretationsOfFGMachine(t *testing.T) {
	const src = `.version 8.0
.target sm_80
.address_size 64
.const .u32 c = 5;
.entry k(.param .f32 n)
{
	.reg .f32 %f;
	.reg .u32 %n, %c;
	ld.param.f32 %f, [n];
	add.f32 %f, %f, %f;
	ld.param.u32 %n, [n];
	mul.lo.u32 %n, %n, 3;
	and.b32 %n, %n, 7;
	ld.const.u32 %c, [c];
	add.u32 %c, %c, 1;
	ret;
}
`
	for policy, want := range map[string]string{
		"fgsimt":        "u u u u g u g u",
		"fgsimt-narrow": "u g u u g u g u",
		"fgsimt-wide":   "u u u u u u g u",
		"fgsimt-const":  "u u u u u u u u",
	} {
		s := structureOf(t, src, Config{}, &Launch{Mode: Check, Policy: affinetrack.PolicyByName(policy), Grid: ptx.Dim(1), Block: ptx.Dim(32)}, lazyArgs)
		var got []string
		for i := range s.Instrs {
			class := "g"
			switch s.Instrs[i].Label {
			case u:
				class = "u"
			case a:
				class = "a"
			}
			got = append(got, class)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %s, want %s", policy, got, want)
		}
	}
}
