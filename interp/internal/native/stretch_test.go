package native

import (
	"math"
	"testing"

	"gemu/interp/internal/code"
	"gemu/regfile"
)

// TestStretch: code comes back after so many instructions, from a loop as from one long block.
func TestStretch(t *testing.T) { stretches(t) }

// TestIslands: so it does where constants lie between its instructions, because they can be no further away.
func TestIslands(t *testing.T) {
	near, far := *host, host
	near.reach = 4096
	host = &near
	defer func() { host = far }()
	stretches(t)
}

// TestFar: code in which some place is further than the host jumps is not executed.
func TestFar(t *testing.T) {
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	short, far := *host, host
	short.distance = func([]byte, int) bool { return false }
	host = &short
	defer func() { host = far }()
	p := &code.Program{Width: regfile.Lanes, Instrs: []code.Instr{{Op: code.Jump}}, Blocks: []code.Block{{}}, Funcs: []*code.Func{{}}}
	p.Consts.Lay()
	p.Link()
	if c := New(p); c.Ready(&Context{Mask: regfile.Full}) || c.Ready(&Context{Mask: 1}) {
		t.Error("it is ready")
	}
}

// stretches executes what comes back.
func stretches(t *testing.T) {
	t.Helper()
	if !Supported() {
		t.Skip("this host executes no machine code of ours")
	}
	add := code.Op(0)
	for add.Signature().Name != "add.f32" {
		add++
	}
	const long = 5 * Stretch
	p := &code.Program{Width: regfile.Lanes, Funcs: []*code.Func{{Frame: regfile.Size{R: 2}}}}
	for range long {
		p.Instrs = append(p.Instrs, code.Instr{Op: add, D: 1, A: 0, B: 1, C: code.NoRow, E: code.NoRow, F: code.NoRow})
	}
	p.Instrs = append(p.Instrs, code.Instr{Op: code.Exit}, p.Instrs[0], code.Instr{Op: code.Jump})
	p.Blocks = []code.Block{{First: 0, Last: long, Sources: code.Range{End: long}}, {First: long + 1, Last: long + 2, Next: long + 1, Sources: code.Range{First: long, End: long + 2}}}
	p.Consts.Lay()
	p.Link()
	for _, mask := range []uint32{regfile.Full, 1} {
		c, f := New(p), regfile.New(&p.Consts, false)
		f.Reset(p.Funcs[0].Frame)
		for lane := range regfile.Lanes {
			f.Row32(0)[lane] = 0x3f800000 // 1
		}
		ctx := &Context{Mask: mask, Stop: -1, Enough: Stretch}
		if !c.Ready(ctx) {
			t.Skip("this host gives no memory for machine code")
		}
		came := 0
		c.Block(ctx, f, 0)
		for ; ctx.Reason == Rests; came++ {
			if ctx.PC%Stretch != Stretch-1 {
				t.Fatalf("it comes back at %d", ctx.PC)
			}
			c.Instr(ctx, f, ctx.PC)
		}
		if ctx.Reason != Control || ctx.PC != long || came != long/Stretch {
			t.Errorf("a block of %d instructions comes back %d times, and then at %d for %d", long, came, ctx.PC, ctx.Reason)
		}
		if f.Row32(1)[0] != math.Float32bits(long) {
			t.Errorf("%d additions give %#x, want %#x", long, f.Row32(1)[0], math.Float32bits(long))
		}
		ctx.Count = 0
		c.Block(ctx, f, 1)
		if ctx.Reason != Used || ctx.Count != Stretch {
			t.Errorf("a loop comes back for %d, after %d instructions", ctx.Reason, ctx.Count)
		}
	}
}
