package ptx

import (
	"iter"
	"strings"
	"testing"
)

// TestEffectsOfTable checks that every row of the table states its effects, that its effects are compatible, and that
// every operand is read or written, or is a label or a constant.
func TestEffectsOfTable(t *testing.T) {
	var operand func(f *Form, o *OperandSpec)
	operand = func(f *Form, o *OperandSpec) {
		if none := o.Label || o.Const; none != (o.Access == 0) {
			t.Errorf("%s: operand %s: access %d", f.Syntax, o.Name, o.Access)
		}
		if o.Address && o.Writes() {
			t.Errorf("%s: operand %s: an address is written", f.Syntax, o.Name)
		}
		for i := range o.AddressParts {
			operand(f, &o.AddressParts[i])
		}
		if o.Alt != nil {
			operand(f, o.Alt)
		}
	}
	for _, op := range Ops() {
		for _, f := range op.Forms() {
			e := f.Effects
			switch {
			case e == 0 || e >= effectsEnd:
				t.Errorf("%s states no effects", f.Syntax)
			case e.HasAll(Pure) && e&^(Pure|CarryIn|CarryOut|Partial) != 0:
				t.Errorf("%s is pure, but also has the effects %v", f.Syntax, e)
			case e.HasAll(Atomic) && !e.HasAll(Reads|Writes), e.HasAll(Commutes) && !e.HasAll(Atomic), e.Any(Strong) && !e.Any(Reads|Writes):
				t.Errorf("%s: %v", f.Syntax, e)
			case e.Any(Reads|Writes) && !e.HasAll(MayTrap) && op.Name != "discard":
				t.Errorf("%s accesses memory and cannot trap", f.Syntax)
			case strings.Contains(f.Syntax, ".aligned") && !e.HasAll(Aligned):
				t.Errorf("%s: %v", f.Syntax, e)
			}
			for i := range f.Operands {
				operand(f, &f.Operands[i])
			}
		}
	}
	if 1<<len(effectNames) != effectsEnd {
		t.Errorf("%d names of effects", len(effectNames))
	}
}

// TestFamilies checks that the families of the table agree with its effects.
func TestFamilies(t *testing.T) {
	has := map[Family]Effects{
		FamilyCompute: Pure, FamilyMove: Pure, FamilyConvert: Pure, FamilyLoad: Reads, FamilyStore: Writes, FamilyAtomic: Reads | Writes | Atomic,
		FamilyBra: Jumps, FamilyBrx: Jumps, FamilyRet: Returns, FamilyExit: Exits, FamilyCall: Calls, FamilyShfl: Collective, FamilyVote: Collective,
	}
	for _, op := range Ops() {
		for _, f := range op.Forms() {
			if !f.Effects.HasAll(has[f.Family]) {
				t.Errorf("%s: effects %v, want those of its family, %v", f.Syntax, f.Effects, has[f.Family])
			}
			if f.Family == FamilyLoad && f.Effects.Any(Writes) || f.Family == FamilyStore && f.Effects.Any(Reads) {
				t.Errorf("%s: effects %v of a load or store", f.Syntax, f.Effects)
			}
		}
	}
}

// TestEffects checks the effects of single instructions against their description in the manual.
func TestEffects(t *testing.T) {
	for text, want := range map[string]Effects{
		"add.s32":                    Pure,
		"add.cc.u32":                 Pure | CarryOut,
		"addc.u32":                   Pure | CarryIn,
		"addc.cc.u32":                Pure | CarryIn | CarryOut,
		"bra.uni":                    Jumps,
		"brx.idx":                    Jumps | MayTrap,
		"ret":                        Returns,
		"exit":                       Exits,
		"ld.global.u32":              Reads | MayTrap,
		"ld.global.cv.u32":           Reads | Strong | MayTrap,
		"ld.volatile.u32":            Reads | Strong | MayTrap,
		"ld.acquire.gpu.global.u32":  Reads | Strong | MayTrap,
		"st.relaxed.sys.global.u32":  Writes | Strong | MayTrap,
		"atom.global.add.u32":        Reads | Writes | Atomic | Commutes | MayTrap,
		"atom.global.add.f32":        Reads | Writes | Atomic | MayTrap,
		"atom.global.cas.b32":        Reads | Writes | Atomic | MayTrap,
		"red.global.max.s64":         Reads | Writes | Atomic | Commutes | MayTrap,
		"bar.sync":                   Barrier | Waits | Aligned | MayTrap,
		"barrier.sync":               Barrier | Waits | MayTrap,
		"barrier.cta.arrive.aligned": Barrier | Aligned | MayTrap,
		"bar.warp.sync":              Collective | Waits | MayTrap,
		"vote.sync.any.pred":         Collective | MayTrap,
		"membar.gl":                  Fences,
		"nanosleep.u32":              Yields,
		"trap":                       MayTrap | SideEffect,
		"mbarrier.arrive.shared.b64": Barrier | Reads | Writes | Atomic | MayTrap,
		"cp.async.wait_all":          Waits,
	} {
		v, err := LookupVariant(text)
		if err != nil {
			t.Error(err)
		} else if v.Form.Effects != want {
			t.Errorf("%s: %v, want %v", text, v.Form.Effects, want)
		}
	}
}

// TestDefsAndUses checks the registers that instructions write and read against the manual's syntax.
func TestDefsAndUses(t *testing.T) {
	const decls = `
	.reg .pred p, q; .reg .b16 h; .reg .b32 a, b, c, d, e, i, j, k, l; .reg .b64 x, y, z; .reg .b128 w;
	.reg .f32 f0, f1, f2, f3;
	`
	for text, want := range map[string]string{ // writes <- reads
		"@p add.u32 a, b, c":                                                             "a <- p b c",
		"setp.lt.and.u32 p|q, a, b, !p":                                                  "p q <- a b p",
		"mov.b64 {a, _}, x":                                                              "a <- x",
		"ld.v2.u32 {a, b}, [x]":                                                          "a b <- x",
		"st.v2.u32 [x], {a, b}":                                                          "<- x a b",
		"atom.add.u32 a, [x], b":                                                         "a <- x b",
		"red.add.u32 [x], b":                                                             "<- x b",
		"shfl.sync.idx.b32 a|p, b, c, d, e":                                              "a p <- b c d e",
		"bar.red.popc.u32 a, b, c, p":                                                    "a <- b c p",
		"multimem.st.u32 [x], a":                                                         "<- x a",
		"mbarrier.arrive.b64 x, [y], a":                                                  "x <- y a",
		"mbarrier.try_wait.parity.b64 p, [x], a, b":                                      "p <- x a b",
		"cp.async.ca.shared.global [a], [x], 4, b":                                       "<- a x b",
		"stmatrix.sync.aligned.m8n8.x1.b16 [x], {a}":                                     "<- x a",
		"ldmatrix.sync.aligned.m8n8.x2.b16 {a,b},[x]":                                    "a b <- x",
		"tex.2d.v4.f32.f32 {f0,f1,f2,f3}|p, [x, {f0,f1}], f2":                            "f0 f1 f2 f3 p <- x f0 f1 f2",
		"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {a,b}, {c}, {d}, {i,j}":          "a b <- c d i j",
		"wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {a,b,c,d}, x, y, p":             "a b c d <- a b c d x y p",
		"tcgen05.dealloc.cta_group::1.sync.aligned.b32 a, 32":                            "<- a",
		"tcgen05.st.sync.aligned.32x32b.x1.b32 [a], {b}":                                 "<- a b",
		"clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, w":                   "p <- w",
		"vadd.s32.s32.s32 a.h0, b.b1, c, d":                                              "a <- b c d",
		"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [a], [x], b, [c]": "<- a x b c",
		"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [x, {a, b}], [c]":         "<- x a b c",
		"tcgen05.mma.cta_group::1.kind::f16 [a], [b], x, c, p":                           "<- a b x c p",
		"fence.proxy.tensormap::generic.acquire.gpu [x], 128":                            "<- x",
		"sured.b.add.1d.u32.trap [x, {a}], b":                                            "<- x a b",
		"lop3.or.b32 a|p, b, c, d, 1, q":                                                 "a p <- b c d q",
	} {
		m, err := Parse("x.ptx", []byte(".version 8.8\n.target sm_100a\n.address_size 64\n.entry k() {"+decls+text+"; }"))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		f := m.Kernels()[0]
		names := func(regs iter.Seq[RegID]) (s string) {
			for r := range regs {
				s += f.Regs[r].Name + " "
			}
			return s
		}
		instr := f.Blocks[0].Instrs[0]
		if got := names(instr.Defs()) + "<- " + names(instr.Uses()); strings.TrimSpace(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
