package ptx

import (
	"strings"
	"testing"
)

// TestTable checks that every row of the table is complete, and that every form has a variant that parses.
func TestTable(t *testing.T) {
	for _, op := range Ops() {
		for _, f := range op.Forms() {
			if f.Class == NoClass || f.Class >= classCount || f.Section == "" || f.Affine >= AffineCount {
				t.Errorf("%s: class %v, section %q, affine rule %v", f.Syntax, f.Class, f.Section, f.Affine)
			}
			list := f.Variants()
			if len(list) == 0 {
				t.Errorf("%s has no variant", f.Syntax)
				continue
			}
			good := 0
			var err error
			for _, v := range list {
				if v.Form != f && v.Form.Op != op {
					t.Errorf("%s: %s resolves to another instruction, %s", f.Syntax, v.Text, v.Form.Syntax)
				}
				src := v.Example()
				if _, e := Parse("example.ptx", []byte(src)); e == nil {
					good++
				} else {
					err = e
				}
			}
			if good == 0 {
				t.Errorf("%s: none of %d variants parses: %v", f.Syntax, len(list), err)
			}
		}
	}
}

// TestLookupVariant looks up a sample of opcodes as compilers emit them, from the manual's examples.
func TestLookupVariant(t *testing.T) {
	for _, text := range []string{
		"add.s32", "add.sat.s32", "add.rn.ftz.f32", "mad.lo.s32", "mul.wide.u32", "fma.rn.f64", "ld.global.nc.v4.f32",
		"ld.volatile.global.u32", "ld.global.relaxed.gpu.u32", "ld.param.u64", "st.shared::cta.release.cta.u32", "setp.lt.and.s32",
		"setp.neu.f32", "cvt.rzi.s32.f32", "cvt.f64.bf16.rp", "cvt.rn.satfinite.e4m3x2.f32", "atom.global.cas.b32", "atom.acq_rel.gpu.global.add.u32",
		"red.global.v8.f16.add.noftz", "shfl.sync.bfly.b32", "vote.sync.ballot.b32", "bar.sync", "barrier.cta.red.popc.aligned.u32", "membar.gl",
		"fence.sc.cta", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
		"cp.async.ca.shared.global", "tex.2d.v4.f32.s32", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "vadd.s32.s32.s32", "ex2.approx.ftz.f32",
		"call.uni", "bra.uni", "ret", "ld.global.L1::no_allocate.L2::128B.f32", "createpolicy.fractional.L2::evict_last.b64", "fence.proxy.async.shared::cta",
	} {
		v, err := LookupVariant(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v.Text != text || v.Mnemonic() != strings.SplitN(text, ".", 2)[0] {
			t.Errorf("%s: got %s of %s", text, v.Text, v.Mnemonic())
		}
	}
	for text, hint := range map[string]string{
		"ad.s32": "add", "add.s23": ".s32", "mul.s32": "", "frobnicate.f32": "", "fma.f32": "", "ld.globl.f32": ".global", "setp.lt": "", "add.f32.s32": "",
	} {
		_, err := LookupVariant(text)
		if err == nil {
			t.Errorf("%s: no error", text)
		} else if hint != "" && !strings.Contains(err.Error(), "did you mean "+hint+"?") {
			t.Errorf("%s: %v does not suggest %s", text, err, hint)
		}
	}
}

// TestParseShape: a shape has three numbers, each after its letter, and nothing else.
func TestParseShape(t *testing.T) {
	for mod, want := range map[string][3]int{"m16n8k16": {16, 8, 16}, "m64n256k8": {64, 256, 8}, "m8n8": {}, "m16n8k": {}, "m16n8k16x": {}, "": {}, "k1m2n3": {}, "sync": {}} {
		got, ok := parseShape(mod)
		if ok != (want != [3]int{}) || ok && got != want {
			t.Errorf("%s: %v, %v, want %v", mod, got, ok, want)
		}
	}
}
