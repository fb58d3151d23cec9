package rig

// This file tries what is between instructions: blocks and their ends, guards, counts, ways out.

import (
	"fmt"
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// passes is how often a program goes in and out of machine code, at most.
const passes = 20

// control tries programs of several blocks, with loops and ways out.
func (t *trier) control(round int) bool {
	for n := range 60 {
		p := t.blocks()
		m := uint32(regfile.Full)
		if n%2 == 1 {
			m = t.mask(n/2 + 7*round)
		}
		c := t.lib.New(p.Program)
		stop, heed := t.Int32N(4)-1, uint32(0)
		if stop >= 0 {
			stop = p.Blocks[t.IntN(len(p.Blocks))].First
		}
		if t.IntN(6) == 0 {
			heed = 1
		}
		ctx := &native.Context{Mask: m, Stop: stop, Heed: heed}
		t.lib.Take()
		if !c.Ready(ctx) {
			return false
		}
		t.Stencils = append(t.Stencils, t.lib.Take()...)
		w := &walk{program: p, file: p.copied(), context: *ctx}
		at, begins := p.Blocks[t.IntN(len(p.Blocks))].First, true
		for range passes {
			ctx.Count, ctx.Held, ctx.Branches = t.Int64N(1<<40), t.Int64N(100), t.Int64N(100)
			ctx.Enough = ctx.Count + t.Int64N(30)
			w.context.Count, w.context.Held, w.context.Branches, w.context.Enough = ctx.Count, ctx.Held, ctx.Branches, ctx.Enough
			if begins {
				c.Block(ctx, p.file, p.Block(at).Index)
			} else {
				c.Instr(ctx, p.file, at)
			}
			w.run(at, begins)
			t.Compared++
			diff := p.differs(w.file)
			if g, x := ctx, &w.context; g.Reason != x.Reason || g.PC != x.PC || g.Count != x.Count || g.Held != x.Held || g.Branches != x.Branches {
				diff = fmt.Sprintf("it stops at %d for %d, count %d, held %d, branches %d, not at %d for %d, count %d, held %d, branches %d", g.PC, g.Reason, g.Count, g.Held, g.Branches, x.PC, x.Reason, x.Count, x.Held, x.Branches)
			}
			if diff != "" {
				t.Differs = fmt.Sprintf("control, lanes %#x, from %d, stop %d, heed %d, enough %d: %s\n%v", m, at, stop, heed, ctx.Enough, diff, p)
				return false
			}
			switch ctx.Reason {
			case native.Lacks:
				next := ctx.PC + 1
				for p.Instrs[next].Op == lacking {
					next++
				}
				if at, begins = c.Next(ctx, ctx.PC+1), false; at != next {
					t.Differs = fmt.Sprintf("control: behind %d it goes on at %d, not %d\n%v", ctx.PC, at, next, p)
					return false
				}
				continue
			case native.Used:
				at, begins = ctx.PC, true
				continue
			}
			break
		}
	}
	return true
}

// lacking is an operation that has no machine code and, here, does nothing.
const lacking = code.Nothing

// String is the blocks and the registers before.
func (p *program) String() string {
	var text string
	for i := range p.Blocks {
		b := &p.Blocks[i]
		text += fmt.Sprintf("block %d: %d PTX instructions, next %d, target %d, caution %d\n", i, b.Sources.Len(), b.Next, b.Target, b.Caution)
		for pc := b.First; pc <= b.Last; pc++ {
			in := &p.Instrs[pc]
			text += fmt.Sprintf("%5d guard %d skips %v: %v %d, %d, %d\n", pc, in.Guard, in.Skips, in.Op, in.D, in.A, in.B)
		}
	}
	return text
}

// blocks makes a program of blocks.
func (t *trier) blocks() *program {
	p := &code.Program{}
	guard := func() int32 {
		if t.IntN(2) == 0 {
			return 0
		}
		return code.Guard(t.Int32N(int32(frame.P)), t.IntN(2) == 0)
	}
	ops := []code.Op{code.Named("add.s32"), code.Named("xor.b32"), code.Named("not.pred"), lacking}
	for range 1 + t.IntN(4) {
		b := code.Block{First: int32(len(p.Instrs))}
		b.Sources.First = t.Int32N(10)
		b.Sources.End = b.Sources.First + 1 + t.Int32N(9)
		if t.IntN(12) == 0 {
			b.Caution = code.Visible
		}
		for range t.IntN(5) {
			in := code.Instr{Op: ops[t.IntN(len(ops))], Guard: guard(), F: code.NoRow, D: t.Int32N(5), A: t.Int32N(5), B: t.Int32N(5)}
			in.Skips = in.Guard != 0 && t.IntN(2) == 0
			p.Instrs = append(p.Instrs, in)
		}
		end := code.Instr{Op: []code.Op{code.Jump, code.Branch, code.Branch, code.Branch, code.Return, code.Exit}[t.IntN(6)]}
		if end.Op != code.Jump {
			end.Guard = guard()
		}
		b.Last = int32(len(p.Instrs))
		p.Instrs = append(p.Instrs, end)
		p.Blocks = append(p.Blocks, b)
	}
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.Next, b.Target = p.Blocks[t.IntN(len(p.Blocks))].First, p.Blocks[t.IntN(len(p.Blocks))].First
		if i+1 < len(p.Blocks) && t.IntN(2) == 0 {
			b.Next = p.Blocks[i+1].First
		}
	}
	made := t.newProgram(p)
	for i := range int32(frame.P) { // of which many hold in all lanes, or in none
		if t.IntN(3) > 0 {
			made.file.SetP(i, regfile.Full, -(t.Uint32() & 1))
		}
	}
	return made
}

// walk is a run of a program as package simt says it is.
type walk struct {
	*program
	file    *regfile.File
	context native.Context
}

// run goes from the beginning of a block, or an instruction, to where the machine has to do something.
func (w *walk) run(pc int32, begins bool) {
	x := &w.context
	stop := func(pc int32, why native.Reason) { x.PC, x.Reason = pc, why }
	holds := func(guard int32) uint32 {
		p, negated := code.GuardRow(guard)
		v := w.file.Pred(p)
		if negated {
			v = ^v
		}
		return v & x.Mask
	}
	for ; ; begins = true {
		b := w.Block(pc)
		if begins {
			if b.Caution != 0 {
				stop(b.First, native.Cautious)
				return
			}
			x.Count += int64(b.Sources.Len())
		}
		for ; pc < b.Last; pc++ {
			in, m := &w.Instrs[pc], x.Mask
			if in.Op == lacking {
				stop(pc, native.Lacks)
				return
			}
			if in.Guard != 0 {
				m = holds(in.Guard)
				if in.Skips {
					x.Held += int64(bits.OnesCount32(x.Mask &^ m))
				}
			}
			if m != 0 {
				alu.Vec[in.Op](w.file, in, m)
			}
		}
		end, to, branches := w.End(b), b.Next, int64(1)
		switch {
		case end.Op == code.Jump:
			branches = 0
		case end.Op == code.Exit:
			stop(b.Last, native.Control)
			return
		case end.Guard == 0 || holds(end.Guard) == x.Mask:
			to = b.Target
		case holds(end.Guard) != 0 && b.Target != b.Next:
			stop(b.Last, native.Parts)
			return
		}
		if to == x.Stop || x.Heed != 0 {
			stop(b.Last, native.Meets)
			return
		}
		x.Branches += branches
		if x.Count >= x.Enough {
			stop(to, native.Used)
			return
		}
		pc = to
	}
}
