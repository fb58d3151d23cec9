package native

import (
	"math"
	"slices"
	"testing"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// TestStretch checks that code exits after a stretch of instructions, in a loop and in one long block.
func TestStretch(t *testing.T) { stretches(t) }

// TestIslands is TestStretch with constants between the instructions, as on hosts with a short reach.
func TestIslands(t *testing.T) {
	near, far := *host, host
	near.reach = 4096
	host = &near
	defer func() { host = far }()
	stretches(t)
}

// TestUnreachablePlaces checks that code with a place beyond the reach of the host's jumps is not executed.
func TestUnreachablePlaces(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	short, far := *host, host
	short.putDistance = func([]byte, int) bool { return false }
	host = &short
	defer func() { host = far }()
	p := &code.Program{Width: regfile.Lanes, Instrs: []code.Instr{{Op: code.Jump}}, Blocks: []code.Block{{}}, Funcs: []*code.Func{{}}}
	p.Consts.Layout()
	p.Link()
	if c := New(p); c.Ready(&Context{Mask: regfile.Full}) || c.Ready(&Context{Mask: 1}) {
		t.Error("it is ready")
	}
}

// TestCostOfSlowInstructions checks that code exits after fewer instructions in a block of slow ones, by their cost.
func TestCostOfSlowInstructions(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	shared := mem.NewMap(1<<20, 1<<20, nil).NewShared(256)
	one := []code.Elem{{Slot: code.R, Row: 1}}
	at := func(a code.Access) *code.Access {
		a.Space, a.Size, a.Bytes = ptx.Shared, 4, 4*len(a.Elems)
		return &a
	}
	for _, c := range []struct {
		name string
		in   code.Instr
		acc  *code.Access
		as   int // cost, in instructions beyond the first
	}{
		{"an addition", code.Instr{Op: code.OpNamed("add.f32")}, nil, 0},
		{"a load from anywhere", code.Instr{Op: code.LoadOp(4, false, code.R, code.R)}, at(code.Access{Addr: code.R, Elems: one}), GatherCost},
		{"a load from one place", code.Instr{Op: code.LoadOp(4, false, code.R, code.R)}, at(code.Access{Addr: code.R, Elems: one, Pattern: code.SameAddress}), 0},
		{"a load of a vector", code.Instr{Op: code.LoadVector}, at(code.Access{Addr: code.R, Elems: []code.Elem{one[0], {Slot: code.R, Row: 2}}}), vectorCost},
		{"an atomic", code.Instr{Op: code.Atomic}, at(code.Access{Addr: code.R, Elems: one, Atom: &code.Atom{Reduction: code.ReductionOn(code.AtomAdd, ptx.U32, ptx.Shared), Shared: true, B: one}}), atomicCost},
		{"a remainder", code.Instr{Op: code.OpNamed("rem.s32")}, nil, HostLibrary().stencil("rem_s32_full").cost},
	} {
		many := 4 * Stretch / (1 + c.as)
		p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: regfile.Size{R: 4}}}, Instrs: slices.Repeat([]code.Instr{c.in}, many)}
		for i := range p.Instrs {
			instr := &p.Instrs[i]
			instr.A, instr.B, instr.D, instr.C, instr.E, instr.F = 0, 0, 1, code.NoRow, code.NoRow, code.NoRow
		}
		p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit})
		p.Blocks = []code.Block{{Last: int32(many), Sources: code.Range{End: int32(many)}}}
		if c.acc != nil {
			p.Access = []code.Access{*c.acc}
		}
		p.Consts.Layout()
		p.Link()
		f, changed, last := regfile.New(&p.Consts, false), false, int32(0)
		f.Reset(p.Funcs[0].Frame)
		k, ctx := New(p), &Context{Mask: regfile.Full, ReconvergeAt: -1, CountLimit: 1 << 40}
		ctx.SetMemory(nil, shared, &changed)
		if !k.Ready(ctx) {
			t.Skip("this host gives no memory for machine code")
		}
		for k.RunBlock(ctx, f, 0); ctx.Reason == StretchEnded; k.RunInstr(ctx, f, ctx.PC) {
			if n := int(ctx.PC-last) * (1 + c.as); n < Stretch-2*(1+c.as) || n > Stretch+1+c.as {
				t.Errorf("%s counts as %d: code comes back after %d", c.name, 1+c.as, n)
			}
			last = ctx.PC
		}
		if n := (many - int(last)) * (1 + c.as); ctx.Reason != OtherEnd || n > Stretch+1+c.as || n < 0 {
			t.Errorf("%s counts as %d: code goes on for %d up to the end, and comes back for %d", c.name, 1+c.as, n, ctx.Reason)
		}
	}
}

// stretches executes a program in stretches, up to its end.
func stretches(t *testing.T) {
	t.Helper()
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	add := code.OpNamed("add.f32")
	const long = 5 * Stretch
	p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: regfile.Size{R: 2}}}}
	for range long {
		p.Instrs = append(p.Instrs, code.Instr{Op: add, D: 1, A: 0, B: 1, C: code.NoRow, E: code.NoRow, F: code.NoRow})
	}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit}, p.Instrs[0], code.Instr{Op: code.Jump})
	p.Blocks = []code.Block{{First: 0, Last: long, Sources: code.Range{End: long}}, {First: long + 1, Last: long + 2, Next: long + 1, Sources: code.Range{First: long, End: long + 2}}}
	p.Consts.Layout()
	p.Link()
	for _, mask := range []uint32{regfile.Full, 1} {
		c, f := New(p), regfile.New(&p.Consts, false)
		f.Reset(p.Funcs[0].Frame)
		for lane := range regfile.Lanes {
			f.Row32(0)[lane] = 0x3f800000 // 1
		}
		ctx := &Context{Mask: mask, ReconvergeAt: -1, CountLimit: Stretch}
		if !c.Ready(ctx) {
			t.Skip("this host gives no memory for machine code")
		}
		came := 0
		c.RunBlock(ctx, f, 0)
		for ; ctx.Reason == StretchEnded; came++ {
			if ctx.PC%Stretch != Stretch-1 {
				t.Fatalf("it comes back at %d", ctx.PC)
			}
			c.RunInstr(ctx, f, ctx.PC)
		}
		if ctx.Reason != OtherEnd || ctx.PC != long || came != long/Stretch {
			t.Errorf("a block of %d instructions comes back %d times, and then at %d for %d", long, came, ctx.PC, ctx.Reason)
		}
		if f.Row32(1)[0] != math.Float32bits(long) {
			t.Errorf("%d additions give %#x, want %#x", long, f.Row32(1)[0], math.Float32bits(long))
		}
		ctx.Count = 0
		c.RunBlock(ctx, f, 1)
		if ctx.Reason != BudgetUsed || ctx.Count != Stretch {
			t.Errorf("a loop comes back for %d, after %d instructions", ctx.Reason, ctx.Count)
		}
	}
}
