package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// kernel wraps a body with %t, the lane, %p, the address of a buffer of 64 KiB, and tile, 64 KiB of shared
// memory. Measured instructions have a comment with their name.
func kernel(body string) string {
	return `.version 8.0
.target sm_90
.address_size 64
.func inner (.reg .u32 %x)
{
	.reg .u32 %y;
	add.u32 %y, %x, 1;	// inner
	ret;
}
.const .u32 table[64];
.entry k(.param .u64 buf)
{
	.reg .u32 %t, %i, %j, %s, %x, %y, %z, %w;
	.reg .u64 %p, %a, %b;
	.reg .f64 %d;
	.reg .pred %q;
	.local .align 16 .b8 own[256];
	.shared .align 128 .b8 tile[32768];
	mov.u32 %t, %laneid;
	ld.param.u64 %p, [buf];
	mov.u32 %s, tile;
` + body + `
	ret;
}
`
}

// profiled runs a kernel in a single warp, or as set by prepare.
func profiled(t *testing.T, src string, prepare func(l *interp.Launch)) *Profile {
	t.Helper()
	p := New()
	dev := interp.NewDevice(interp.Config{})
	mod, err := dev.Load("k.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	buf, err := dev.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	l := &interp.Launch{Kernel: "k", Grid: ptx.Dim(1), Block: ptx.Dim(32), Args: []any{buf}, Mode: interp.Vector, Probes: []probe.Probe{p}}
	if prepare != nil {
		prepare(l)
	}
	if _, err := mod.Run(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	return p.Profile()
}

// marked returns the counts of the instructions with a comment, by its text.
func marked(p *Profile) map[string]Counts {
	out := map[string]Counts{}
	for _, l := range p.Lines(true) {
		if _, name, ok := strings.Cut(l.Instrs[0].Func.Module().Line(l.Line), "// "); ok {
			out[name] = l.Counts
		}
	}
	return out
}

// TestSectorsOfRequests: requests of known shapes to global memory. The touched sectors follow from the
// addresses: buffers are aligned to 256 bytes.
func TestSectorsOfRequests(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Traffic
	}{
		{"unit stride", "mad.wide.u32 %a, %t, 4, %p; ld.global.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 128, Sectors: 4, Ideal: 4, Lines: 1}},
		{"stride 2", "mad.wide.u32 %a, %t, 8, %p; ld.global.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 128, Sectors: 8, Ideal: 4, Lines: 2}},
		{"stride 32", "mad.wide.u32 %a, %t, 128, %p; ld.global.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 128, Sectors: 32, Ideal: 4, Lines: 32}},
		{"off by a word", "mad.wide.u32 %a, %t, 4, %p; st.global.u32 [%a+4], %t;", Traffic{Requests: 1, Bytes: 128, Sectors: 5, Ideal: 4, Lines: 2}},
		{"one word", "ld.global.u32 %x, [%p];", Traffic{Requests: 1, Bytes: 4, Sectors: 1, Ideal: 1, Lines: 1}},
		{"bytes", "cvt.u64.u32 %a, %t; add.u64 %a, %a, %p; ld.global.u8 %x, [%a];", Traffic{Requests: 1, Bytes: 32, Sectors: 1, Ideal: 1, Lines: 1}},
		{"64 bits", "mad.wide.u32 %a, %t, 8, %p; ld.global.u64 %b, [%a];", Traffic{Requests: 1, Bytes: 256, Sectors: 8, Ideal: 8, Lines: 2}},
		{"128 bits", "mad.wide.u32 %a, %t, 16, %p; ld.global.v4.u32 {%x, %y, %z, %w}, [%a];", Traffic{Requests: 1, Bytes: 512, Sectors: 16, Ideal: 16, Lines: 4}},
		{"generic", "mad.wide.u32 %a, %t, 8, %p; ld.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 128, Sectors: 8, Ideal: 4, Lines: 2}},
		{"reversed", "sub.u32 %i, 31, %t; mad.wide.u32 %a, %i, 4, %p; ld.global.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 128, Sectors: 4, Ideal: 4, Lines: 1}},
		{"half of them", "setp.lt.u32 %q, %t, 16; mad.wide.u32 %a, %t, 4, %p; @%q ld.global.u32 %x, [%a];", Traffic{Requests: 1, Bytes: 64, Sectors: 2, Ideal: 2, Lines: 1}},
		{"none of them", "setp.lt.u32 %q, %t, 0; @%q ld.global.u32 %x, [%p];", Traffic{}},
		{"all add to one", "atom.global.add.u32 %x, [%p], 1;", Traffic{Requests: 1, Bytes: 4, Sectors: 1, Ideal: 1, Lines: 1, Atomics: 1, SameAddress: 32}},
		{"pairs add", "shr.u32 %i, %t, 1; mad.wide.u32 %a, %i, 4, %p; red.global.add.u32 [%a], 1;", Traffic{Requests: 1, Bytes: 64, Sectors: 2, Ideal: 2, Lines: 1, Atomics: 1, SameAddress: 2}},
		{"ten add to one", "max.u32 %i, %t, 9; mad.wide.u32 %a, %i, 4, %p; red.global.add.u32 [%a], 1;", Traffic{Requests: 1, Bytes: 92, Sectors: 3, Ideal: 3, Lines: 1, Atomics: 1, SameAddress: 10}},
		{"each copies", "mad.wide.u32 %a, %t, 16, %p; shl.b32 %i, %t, 4; add.u32 %i, %i, %s; cp.async.ca.shared.global [%i], [%a], 16; cp.async.wait_all;", Traffic{Requests: 1, Bytes: 512, Sectors: 16, Ideal: 16, Lines: 4}},
		{"each copies a part", "mad.wide.u32 %a, %t, 32, %p; shl.b32 %i, %t, 4; add.u32 %i, %i, %s; cp.async.ca.shared.global [%i], [%a], 4; cp.async.wait_all;", Traffic{Requests: 1, Bytes: 128, Sectors: 32, Ideal: 4, Lines: 8}},
		{"a bulk copy", "setp.eq.u32 %q, %t, 0; @%q cp.async.bulk.global.shared::cta.bulk_group [%p+16], [%s], 4096; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", Traffic{Requests: 1, Bytes: 4096, Sectors: 129, Ideal: 128, Lines: 33}},
	} {
		total := profiled(t, kernel(c.text), nil).Total()
		if diff := cmp.Diff(c.want, total.Global); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestLocalMemoryIsInterleaved: the words of all lanes at the same place are adjacent.
func TestLocalMemoryIsInterleaved(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Traffic
	}{
		{"the same word", "st.local.u32 [own], %t;", Traffic{Requests: 1, Bytes: 128, Sectors: 4, Ideal: 4, Lines: 1}},
		{"two words", "st.local.v2.u32 [own+8], {%t, %t};", Traffic{Requests: 1, Bytes: 256, Sectors: 8, Ideal: 8, Lines: 2}},
		{"each another", "shl.b32 %i, %t, 2; mov.u32 %j, own; add.u32 %i, %i, %j; st.local.u32 [%i], %t;", Traffic{Requests: 1, Bytes: 128, Sectors: 32, Ideal: 4, Lines: 32}},
		{"a byte", "st.local.u8 [own+1], %t;", Traffic{Requests: 1, Bytes: 32, Sectors: 4, Ideal: 1, Lines: 1}},
	} {
		total := profiled(t, kernel(c.text), nil).Total()
		if diff := cmp.Diff(c.want, total.Local); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestBankConflicts: requests of known shapes to shared memory, of 32 banks of 4 bytes.
func TestBankConflicts(t *testing.T) {
	stride := func(bytes int, access string) string {
		return fmt.Sprintf("mad.lo.u32 %%i, %%t, %d, %%s; %s", bytes, access)
	}
	const load, load64, load128 = "ld.shared.u32 %x, [%i];", "ld.shared.u64 %b, [%i];", "ld.shared.v4.u32 {%x, %y, %z, %w}, [%i];"
	for _, c := range []struct {
		name, text      string
		passes, minimum int64
		bytes           int64
	}{
		{"unit stride", stride(4, load), 1, 1, 128},
		{"stride 2", stride(8, load), 2, 1, 128},
		{"stride 3", stride(12, load), 1, 1, 128},
		{"stride 4", stride(16, load), 4, 1, 128},
		{"stride 32", stride(128, load), 32, 1, 128},
		{"stride 33", stride(132, load), 1, 1, 128},
		{"broadcast", stride(0, load), 1, 1, 4},
		{"pairs of a word", "shr.u32 %i, %t, 1; mad.lo.u32 %i, %i, 4, %s; " + load, 1, 1, 64},
		{"two words of a bank", "and.b32 %i, %t, 1; mad.lo.u32 %i, %i, 128, %s; " + load, 2, 1, 8},
		{"bytes of words", "add.u32 %i, %t, %s; ld.shared.u8 %x, [%i];", 1, 1, 32},
		{"64 bits", stride(8, load64), 2, 2, 256},
		{"64 bits, stride 2", stride(16, load64), 4, 2, 256},
		{"64 bits, all the same", stride(0, load64), 2, 2, 8},
		{"128 bits", stride(16, load128), 4, 4, 512},
		{"128 bits, stride 2", stride(32, load128), 8, 4, 512},
		{"store", stride(128, "st.shared.u32 [%i], %t;"), 32, 1, 128},
		{"eight lanes", "setp.lt.u32 %q, %t, 8; mad.lo.u32 %i, %t, 128, %s; @%q " + load, 8, 1, 32},
		{"half of the groups", "setp.lt.u32 %q, %t, 16; mad.lo.u32 %i, %t, 8, %s; @%q " + load64, 1, 1, 128},
		{"generic", "cvt.u64.u32 %a, %s; cvta.shared.u64 %a, %a; mad.wide.u32 %a, %t, 8, %a; ld.u32 %x, [%a];", 2, 1, 128},
		{"all add to one", stride(0, "atom.shared.add.u32 %x, [%i], 1;"), 32, 1, 4},
		{"all add", stride(4, "atom.shared.add.u32 %x, [%i], 1;"), 1, 1, 128},
		{"rows of matrices", stride(16, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x, %y, %z, %w}, [%i];"), 4, 4, 512},
		{"rows in the same banks", stride(128, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x, %y, %z, %w}, [%i];"), 32, 4, 512},
	} {
		total := profiled(t, kernel(c.text), nil).Total()
		got := total.Shared
		if want := (Banked{Requests: 1, Bytes: c.bytes, Passes: c.passes, Ideal: c.minimum, Atomics: got.Atomics, SameAddress: got.SameAddress}); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// TestPassesOfConstantLoads: a pass for each different word.
func TestPassesOfConstantLoads(t *testing.T) {
	for text, want := range map[string]int64{
		"ld.const.u32 %x, [table];": 1,
		"shl.b32 %i, %t, 2; mov.u32 %j, table; add.u32 %i, %i, %j; ld.const.u32 %x, [%i];":                    32,
		"shr.u32 %i, %t, 3; shl.b32 %i, %i, 2; mov.u32 %j, table; add.u32 %i, %i, %j; ld.const.u32 %x, [%i];": 4,
	} {
		const parameter = 1 // ld.param of the kernel
		total := profiled(t, kernel(text), nil).Total()
		if got := total.Constant; got.Requests != 1+parameter || got.Passes != want+parameter || got.Ideal != 1+parameter {
			t.Errorf("%s: %+v, want %d passes", text, got, want)
		}
	}
}
