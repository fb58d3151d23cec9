package rig

// This file tries what is between instructions: blocks and their ends, guards, counts, ways out.

import (
	"cmp"
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
		p := t.blocks(4)
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
		ctx := &native.Context{Mask: m, Stop: stop, Heed: heed, Live: regfile.Full}
		t.lib.Take()
		if !c.Ready(&native.Context{Mask: 1}) || !c.Ready(&native.Context{Mask: regfile.Full}) { // lanes part where there is both
			return false
		}
		if heed == 0 {
			t.ways(p, ctx)
		}
		t.Stencils = append(t.Stencils, t.lib.Take()...)
		w := &walk{program: p, file: p.copied(), context: *ctx}
		at, begins := p.Blocks[t.IntN(len(p.Blocks))].First, true
		for range passes {
			ctx.Count, ctx.Held, ctx.Branches = t.Int64N(1<<40), t.Int64N(100), t.Int64N(100)
			ctx.Enough, ctx.Since = ctx.Count+t.Int64N(30), ctx.Count-t.Int64N(3)
			w.context.Count, w.context.Held, w.context.Branches, w.context.Enough, w.context.Since = ctx.Count, ctx.Held, ctx.Branches, ctx.Enough, ctx.Since
			if begins {
				c.Block(ctx, p.file, p.Block(at).Index)
			} else {
				c.Instr(ctx, p.file, at)
			}
			w.run(at, begins)
			t.Compared++
			diff := cmp.Or(p.differs(w.file), waysDiffer(ctx, &w.context))
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
			case native.Parts, native.Meets: // Go would see to it
				at, begins = p.Blocks[t.IntN(len(p.Blocks))].First, true
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

// blocks makes a program of blocks, of whose instructions one in so many has no machine code.
func (t *trier) blocks(lacks int) *program {
	p := &code.Program{}
	p.Barriers = []code.BarrierOp{{}, {Kind: code.BarArrive}}
	guard := func() int32 {
		if t.IntN(2) == 0 {
			return 0
		}
		return code.Guard(t.Int32N(int32(frame.P)), t.IntN(2) == 0)
	}
	ops := []code.Op{code.Named("add.s32"), code.Named("xor.b32"), code.Named("not.pred")}
	for range 1 + t.IntN(4) {
		b := code.Block{First: int32(len(p.Instrs))}
		b.Sources.First = t.Int32N(10)
		b.Sources.End = b.Sources.First + 1 + t.Int32N(9)
		if t.IntN(12) == 0 {
			b.Caution = code.Visible
		}
		leaves := t.IntN(4) == 0 // it is no more than the end of its lanes
		for range t.IntN(5) {
			if leaves {
				break
			}
			op := ops[t.IntN(len(ops))]
			if t.IntN(lacks) == 0 {
				op = lacking
			}
			in := code.Instr{Op: op, Guard: guard(), F: code.NoRow, D: t.Int32N(5), A: t.Int32N(5), B: t.Int32N(5)}
			in.Skips = in.Guard != 0 && t.IntN(2) == 0
			p.Instrs = append(p.Instrs, in)
		}
		end := code.Instr{Op: []code.Op{code.Jump, code.Branch, code.Branch, code.Branch, code.Return, code.Exit, code.Barrier, code.Barrier}[t.IntN(8)]}
		switch {
		case leaves:
			end.Op = code.Exit
		case end.Op == code.Barrier:
			end.A, end.B = p.Consts.Add32([]uint32{0, 0, 3, 3, 16}[t.IntN(5)]), code.NoRow
			if t.IntN(12) == 0 {
				end.A, end.B = t.Int32N(int32(frame.R)), p.Consts.Add32(64)
			}
			if t.IntN(12) == 0 {
				end.Side = 1
			}
		}
		if end.Op != code.Jump && !leaves && (end.Op != code.Barrier || t.IntN(8) == 0) {
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
		b.Join = []int32{-1, -1, b.Next, b.Target, p.Blocks[t.IntN(len(p.Blocks))].First}[t.IntN(5)]
		b.Leaves = b.First == b.Last && p.Instrs[b.Last].Op == code.Exit && p.Instrs[b.Last].Guard == 0
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
	crew    *crew // that it is of
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
			switch {
			case b.Caution == 0 || w.crew != nil && w.crew.May != 0:
			case w.crew == nil:
				stop(b.First, native.Cautious)
				return
			default:
				w.settle()
				x.PC, x.State, x.Touched, w.crew.Dirty = b.First, native.Stands, 1, 1
				w.crew.turn(w)
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
		case end.Op == code.Exit || end.Op == code.Barrier:
			next, goesOn := w.crew.stops(w, b, end)
			switch {
			case !goesOn:
				stop(b.Last, native.Control)
				return
			case next == nil: // another has its turn
				w.crew.turn(w)
				return
			}
			branches = 0
		case end.Guard == 0 || holds(end.Guard) == x.Mask:
			to = b.Target
		case holds(end.Guard) != 0 && b.Target != b.Next:
			goes, ended, ok := w.part(b, holds(end.Guard))
			if !ok {
				stop(b.Last, native.Parts)
				return
			}
			if to = goes; !ended {
				branches = -1 // they are under way, wherever that is
			}
		}
		if branches >= 0 {
			if to == x.Stop || x.Heed != 0 {
				goes, ok := w.arrive(to)
				if !ok {
					stop(b.Last, native.Meets)
					return
				}
				if to = goes; x.Mask == 0 {
					x.Branches += branches
					stop(b.Last, native.Nobody)
					return
				}
			}
			x.Branches += branches
		}
		if x.Count >= x.Enough {
			stop(to, native.Used)
			return
		}
		pc = to
	}
}

// ways lends lanes that have parted, and that may part.
func (t *trier) ways(p *program, ctx *native.Context) {
	ctx.Most, ctx.Ends = uint32(t.IntN(native.MostWays+1)), uint32(t.IntN(2))
	rest := ctx.Live &^ ctx.Mask
	ctx.Stop = -1
	for n := min(t.Uint32N(4), ctx.Most); ctx.Meetings < n; { // each has the lanes of the one inside of it
		m := native.Meeting{PC: p.Blocks[t.IntN(len(p.Blocks))].First, Arrivals: t.Uint32N(3), Known: t.Uint32N(2)}
		if m.Arrivals > 0 {
			m.Here = t.Uint32() & t.Uint32() & rest
			rest &^= m.Here
		}
		if o := t.Uint32() & t.Uint32() & rest; o != 0 && ctx.Others < ctx.Most {
			rest &^= o
			ctx.Routes[ctx.Others] = native.Route{PC: p.Blocks[t.IntN(len(p.Blocks))].First, Lanes: o, Meetings: ctx.Meetings + 1}
			ctx.Others++
			m.Lanes = o
		}
		m.Lanes |= m.Here
		ctx.Meeting[ctx.Meetings], ctx.Stop = m, m.PC
		ctx.Meetings++
	}
	inside := ctx.Mask
	for i := int(ctx.Meetings) - 1; i >= 0; i-- {
		m := &ctx.Meeting[i]
		m.Lanes |= inside
		inside = m.Lanes
	}
	if t.IntN(3) == 0 && ctx.Meetings > 0 { // lanes of which Go knows
		ctx.Meeting[0].Lanes |= rest
	}
}

// waysDiffer says how what is known of lanes that have parted differs; "" for not at all.
func waysDiffer(got, want *native.Context) string {
	known := func(c *native.Context) string {
		return fmt.Sprintf("lanes %#x of %#x, stop %d, enough %d, slots %d since %d, divergent %d, met %d, left %d, meetings %v, routes %v", c.Mask, c.Live, c.Stop, c.Enough,
			c.Slots, c.Since, c.Divergent, c.Met, c.Leaves, c.Meeting[:c.Meetings], c.Routes[:c.Others])
	}
	if g, w := known(got), known(want); g != w {
		return fmt.Sprintf("it has %s\nnot %s", g, w)
	}
	return ""
}

// settle counts what the lanes that execute have executed.
func (w *walk) settle() {
	x := &w.context
	x.Slots += (x.Count - x.Since) * int64(bits.OnesCount32(x.Mask))
	x.Since = x.Count
}

// part has lanes take a branch, others not, and reports where those go on that execute now; whether the others have ended,
// and those have yet to go there; and whether there is room for it at all.
func (w *walk) part(b *code.Block, taken uint32) (to int32, ended, ok bool) {
	x := &w.context
	rest := x.Mask &^ taken
	if gone, to := taken, b.Next; w.Block(b.Target).Leaves || w.Block(b.Next).Leaves {
		if !w.Block(b.Target).Leaves {
			gone, to = rest, b.Target
		}
		if x.Ends == 0 {
			return 0, false, false
		}
		w.settle()
		x.Slots += int64(bits.OnesCount32(gone))
		x.Count++
		x.Since++
		x.Enough++
		if w.crew != nil {
			w.crew.End++
		}
		x.Divergent++
		x.Leaves++
		x.Mask &^= gone
		x.Live &^= gone
		for i := range x.Meeting[:x.Meetings] {
			x.Meeting[i].Lanes &^= gone
		}
		return to, true, true
	}
	is := x.Meetings > 0 && x.Meeting[x.Meetings-1].PC == b.Join
	waits := b.Target == b.Join || b.Next == b.Join
	if n := x.Meetings; !is && n+1 > x.Most || n > x.Most || !waits && x.Others+1 > x.Most || x.Others > x.Most {
		return 0, false, false
	}
	w.settle()
	x.Branches++
	x.Divergent++
	if !is {
		x.Meeting[x.Meetings] = native.Meeting{PC: b.Join, Lanes: x.Mask}
		x.Meetings++
	}
	x.Stop = b.Join
	m := &x.Meeting[x.Meetings-1]
	switch b.Join {
	case b.Target:
		m.Here |= taken
		m.Arrivals++
		x.Mask = rest
		return b.Next, false, true
	case b.Next:
		m.Here |= rest
		m.Arrivals++
		x.Mask = taken
		return b.Target, false, true
	}
	x.Routes[x.Others] = native.Route{PC: b.Target, Lanes: taken, Meetings: x.Meetings}
	x.Others++
	x.Mask = rest
	return b.Next, false, true
}

// arrive has lanes come to where others are to meet them, and reports where those go on that execute then: no lanes do if
// the others are none of those known.
func (w *walk) arrive(pc int32) (to int32, ok bool) {
	x := &w.context
	next := func(n uint32) bool { return x.Others > 0 && x.Routes[x.Others-1].Meetings == n }
	if n := x.Meetings; n == 0 || x.Meeting[n-1].Here|x.Mask != x.Meeting[n-1].Lanes && !next(n) {
		return 0, false
	}
	w.settle()
	for {
		m := &x.Meeting[x.Meetings-1]
		m.Here |= x.Mask
		m.Arrivals++
		if m.Here != m.Lanes {
			if !next(x.Meetings) {
				x.Mask = 0
				return 0, true
			}
			x.Others--
			o := x.Routes[x.Others]
			x.Mask, pc = o.Lanes, o.PC
			break
		}
		if m.Arrivals > 1 {
			x.Met++
		}
		x.Mask = m.Lanes
		if x.Meetings--; x.Meetings == 0 || x.Meeting[x.Meetings-1].PC != pc {
			break
		}
	}
	x.Stop = -1
	if x.Meetings > 0 {
		x.Stop = x.Meeting[x.Meetings-1].PC
	}
	return pc, true
}
