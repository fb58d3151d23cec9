package harness

// This file tests control flow: blocks and their ends, guards, counts, divergence, exits.

import (
	"cmp"
	"fmt"
	"math/bits"

	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// controlPrograms is the number of programs in a round, large enough for each stencil of control flow to occur.
const controlPrograms = 300

// maxPasses is the maximum number of entries into machine code for one program.
const maxPasses = 20

// testControl tests programs of several blocks, with loops and exits. It returns false if the host executes no machine code or
// a program differed.
func (t *tester) testControl(round int) bool {
	for n := range controlPrograms {
		p := t.newBlocks(4)
		m := uint32(regfile.Full)
		if n%2 == 1 {
			m = t.mask(n/2 + 7*round)
		}
		c := t.lib.New(p.Program)
		stop, notify := t.Int32N(4)-1, uint32(0)
		if stop >= 0 {
			stop = p.Blocks[t.IntN(len(p.Blocks))].First
		}
		if t.IntN(6) == 0 {
			notify = 1
		}
		ctx := &native.Context{Mask: m, ReconvergeAt: stop, NotifyEveryBlock: notify, Live: regfile.Full}
		t.lib.TakeUsed()
		if !c.Ready(&native.Context{Mask: 1}) || !c.Ready(&native.Context{Mask: regfile.Full}) { // lanes diverge only with code for all lanes and for a mask
			return false
		}
		if notify == 0 {
			t.exportDivergence(p, ctx)
		}
		for _, name := range t.lib.TakeUsed() {
			if !schedulerStencils.MatchString(name) { // without a scheduler these only exit
				t.Stencils = append(t.Stencils, name)
			}
		}
		w := &model{program: p, file: p.copied(), context: *ctx}
		at, begins := p.Blocks[t.IntN(len(p.Blocks))].First, true
		for range maxPasses {
			ctx.Count, ctx.Skipped, ctx.Branches = t.Int64N(1<<40), t.Int64N(100), t.Int64N(100)
			ctx.CountLimit, ctx.CountedUpTo = ctx.Count+t.Int64N(30), ctx.Count-t.Int64N(3)
			w.context.Count, w.context.Skipped, w.context.Branches, w.context.CountLimit, w.context.CountedUpTo = ctx.Count, ctx.Skipped, ctx.Branches, ctx.CountLimit, ctx.CountedUpTo
			if begins {
				c.RunBlock(ctx, p.file, p.Block(at).Index)
			} else {
				c.RunInstr(ctx, p.file, at)
			}
			w.run(at, begins)
			t.Compared++
			diff := cmp.Or(p.differs(w.file), divergenceDiffers(ctx, &w.context))
			if g, x := ctx, &w.context; g.Reason != x.Reason || g.PC != x.PC || g.Count != x.Count || g.Skipped != x.Skipped || g.Branches != x.Branches {
				diff = fmt.Sprintf("it stops at %d for %d, count %d, held %d, branches %d, not at %d for %d, count %d, held %d, branches %d", g.PC, g.Reason, g.Count, g.Skipped, g.Branches, x.PC, x.Reason, x.Count, x.Skipped, x.Branches)
			}
			if diff != "" {
				t.Differs = fmt.Sprintf("control, lanes %#x, from %d, stop %d, heed %d, enough %d: %s\n%v", m, at, stop, notify, ctx.CountLimit, diff, p)
				return false
			}
			switch ctx.Reason {
			case native.Unsupported:
				next := ctx.PC + 1
				for p.Instrs[next].Op == unsupportedOp {
					next++
				}
				if at, begins = c.NextSupported(ctx, ctx.PC+1), false; at != next {
					t.Differs = fmt.Sprintf("control: behind %d it goes on at %d, not %d\n%v", ctx.PC, at, next, p)
					return false
				}
				continue
			case native.BudgetUsed:
				at, begins = ctx.PC, true
				continue
			case native.Diverges, native.Reconverges: // an engine would handle these in Go
				at, begins = p.Blocks[t.IntN(len(p.Blocks))].First, true
				continue
			}
			break
		}
	}
	return true
}

// unsupportedOp is an operation without machine code. It does nothing in these programs.
const unsupportedOp = code.NoOp

// String describes the blocks and their instructions.
func (p *program) String() string {
	var text string
	for i := range p.Blocks {
		b := &p.Blocks[i]
		text += fmt.Sprintf("block %d: %d PTX instructions, next %d, target %d, caution %d\n", i, b.Sources.Len(), b.Next, b.Target, b.Caution)
		for pc := b.First; pc <= b.Last; pc++ {
			instr := &p.Instrs[pc]
			text += fmt.Sprintf("%5d guard %d skips %v: %v %d, %d, %d\n", pc, instr.Guard, instr.CountsSkipped, instr.Op, instr.D, instr.A, instr.B)
		}
	}
	return text
}

// newBlocks returns a random program of up to four blocks. One in unsupportedEvery instructions has no machine code.
func (t *tester) newBlocks(unsupportedEvery int) *program {
	p := &code.Program{}
	p.Barriers = []code.BarrierOp{{}, {Kind: code.BarArrive}}
	guard := func() int32 {
		if t.IntN(2) == 0 {
			return 0
		}
		return code.Guard(t.Int32N(int32(frame.P)), t.IntN(2) == 0)
	}
	ops := []code.Op{code.OpNamed("add.s32"), code.OpNamed("xor.b32"), code.OpNamed("not.pred")}
	for range 1 + t.IntN(4) {
		b := code.Block{First: int32(len(p.Instrs))}
		b.Sources.First = t.Int32N(10)
		b.Sources.End = b.Sources.First + 1 + t.Int32N(9)
		if t.IntN(12) == 0 {
			b.Caution = code.GloballyOrdered
		}
		leaves := t.IntN(4) == 0 // the block only ends its lanes
		for range t.IntN(5) {
			if leaves {
				break
			}
			op := ops[t.IntN(len(ops))]
			if t.IntN(unsupportedEvery) == 0 {
				op = unsupportedOp
			}
			instr := code.Instr{Op: op, Guard: guard(), F: code.NoRow, D: t.Int32N(5), A: t.Int32N(5), B: t.Int32N(5)}
			instr.CountsSkipped = instr.Guard != 0 && t.IntN(2) == 0
			p.Instrs = append(p.Instrs, instr)
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
		b.Reconverge = []int32{-1, -1, b.Next, b.Target, p.Blocks[t.IntN(len(p.Blocks))].First}[t.IntN(5)]
		b.EndsLanes = b.First == b.Last && p.Instrs[b.Last].Op == code.Exit && p.Instrs[b.Last].Guard == 0
	}
	prog := t.newProgram(p)
	for i := range int32(frame.P) { // many predicates are the same in all lanes
		if t.IntN(3) > 0 {
			prog.file.SetP(i, regfile.Full, -(t.Uint32() & 1))
		}
	}
	return prog
}

// model executes a program in Go, by the rules of package warp.
type model struct {
	*program
	file    *regfile.File
	context native.Context
}

// run executes from an instruction, or from the beginning of a block if begins, up to the next exit of machine code.
func (w *model) run(pc int32, begins bool) {
	x := &w.context
	stop := func(pc int32, reason native.Reason) { x.PC, x.Reason = pc, reason }
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
				stop(b.First, native.NeedsCaution)
				return
			}
			x.Count += int64(b.Sources.Len())
		}
		for ; pc < b.Last; pc++ {
			instr, m := &w.Instrs[pc], x.Mask
			if instr.Op == unsupportedOp {
				stop(pc, native.Unsupported)
				return
			}
			if instr.Guard != 0 {
				m = holds(instr.Guard)
				if instr.CountsSkipped {
					x.Skipped += int64(bits.OnesCount32(x.Mask &^ m))
				}
			}
			if m != 0 {
				alu.Vec[instr.Op](w.file, instr, m)
			}
		}
		end, to, branches := w.End(b), b.Next, int64(1)
		switch {
		case end.Op == code.Jump:
			branches = 0
		case end.Op == code.Exit || end.Op == code.Barrier:
			stop(b.Last, native.OtherEnd) // machine code has no scheduler here
			return
		case end.Guard == 0 || holds(end.Guard) == x.Mask:
			to = b.Target
		case holds(end.Guard) != 0 && b.Target != b.Next:
			next, ended, ok := w.diverge(b, holds(end.Guard))
			if !ok {
				stop(b.Last, native.Diverges)
				return
			}
			if to = next; !ended {
				branches = -1 // diverge counted the branch, and the lanes need no check for a reconvergence point
			}
		}
		if branches >= 0 {
			if to == x.ReconvergeAt || x.NotifyEveryBlock != 0 {
				next, ok := w.arrive(to)
				if !ok {
					stop(b.Last, native.Reconverges)
					return
				}
				if to = next; x.Mask == 0 {
					x.Branches += branches
					stop(b.Last, native.NoSplit)
					return
				}
			}
			x.Branches += branches
		}
		if x.Count >= x.CountLimit {
			stop(to, native.BudgetUsed)
			return
		}
		pc = to
	}
}

// exportDivergence fills a context with random divergence: reconvergences in flight, waiting warp splits, and the limits for more.
func (t *tester) exportDivergence(p *program, ctx *native.Context) {
	ctx.MaxDepth, ctx.MayExit = uint32(t.IntN(native.MaxSplits+1)), uint32(t.IntN(2))
	rest := ctx.Live &^ ctx.Mask
	ctx.ReconvergeAt = -1
	for n := min(t.Uint32N(4), ctx.MaxDepth); ctx.NumReconvergences < n; { // each contains the lanes of the next
		m := native.Reconvergence{PC: p.Blocks[t.IntN(len(p.Blocks))].First, Arrivals: t.Uint32N(3), Number: t.Uint32N(2)}
		if m.Arrivals > 0 {
			m.Arrived = t.Uint32() & t.Uint32() & rest
			rest &^= m.Arrived
		}
		if o := t.Uint32() & t.Uint32() & rest; o != 0 && ctx.NumSplits < ctx.MaxDepth {
			rest &^= o
			ctx.Splits[ctx.NumSplits] = native.Split{PC: p.Blocks[t.IntN(len(p.Blocks))].First, Lanes: o, Depth: ctx.NumReconvergences + 1}
			ctx.NumSplits++
			m.Lanes = o
		}
		m.Lanes |= m.Arrived
		ctx.Reconvergences[ctx.NumReconvergences], ctx.ReconvergeAt = m, m.PC
		ctx.NumReconvergences++
	}
	inside := ctx.Mask
	for i := int(ctx.NumReconvergences) - 1; i >= 0; i-- {
		m := &ctx.Reconvergences[i]
		m.Lanes |= inside
		inside = m.Lanes
	}
	if t.IntN(3) == 0 && ctx.NumReconvergences > 0 { // lanes of warp splits known to Go alone
		ctx.Reconvergences[0].Lanes |= rest
	}
}

// divergenceDiffers describes a difference in the divergence of two contexts; "" if there is none.
func divergenceDiffers(got, want *native.Context) string {
	describeWarp := func(c *native.Context) string {
		return fmt.Sprintf("lanes %#x of %#x, stop %d, enough %d, slots %d since %d, divergent %d, met %d, left %d, meetings %v, routes %v", c.Mask, c.Live, c.ReconvergeAt, c.CountLimit,
			c.LaneInstrs, c.CountedUpTo, c.DivergentBranches, c.Reconverged, c.ExitBranches, c.Reconvergences[:c.NumReconvergences], c.Splits[:c.NumSplits])
	}
	if g, w := describeWarp(got), describeWarp(want); g != w {
		return fmt.Sprintf("it has %s\nnot %s", g, w)
	}
	return ""
}

// countLanes adds the instructions since CountedUpTo, for each executing lane, to LaneInstrs.
func (w *model) countLanes() {
	x := &w.context
	x.LaneInstrs += (x.Count - x.CountedUpTo) * int64(bits.OnesCount32(x.Mask))
	x.CountedUpTo = x.Count
}

// diverge executes a branch taken by the lanes in taken. It returns the pc at which the running split continues, and
// whether the remaining lanes ended instead, in which case the branch is not counted yet. ok is false if there is no room
// for the split, or lanes must not end in machine code.
func (w *model) diverge(b *code.Block, taken uint32) (to int32, ended, ok bool) {
	x := &w.context
	rest := x.Mask &^ taken
	if exited, to := taken, b.Next; w.Block(b.Target).EndsLanes || w.Block(b.Next).EndsLanes {
		if !w.Block(b.Target).EndsLanes {
			exited, to = rest, b.Target
		}
		if x.MayExit == 0 {
			return 0, false, false
		}
		w.countLanes()
		x.LaneInstrs += int64(bits.OnesCount32(exited))
		x.Count++
		x.CountedUpTo++
		x.CountLimit++
		x.DivergentBranches++
		x.ExitBranches++
		x.Mask &^= exited
		x.Live &^= exited
		for i := range x.Reconvergences[:x.NumReconvergences] {
			x.Reconvergences[i].Lanes &^= exited
		}
		return to, true, true
	}
	is := x.NumReconvergences > 0 && x.Reconvergences[x.NumReconvergences-1].PC == b.Reconverge
	waits := b.Target == b.Reconverge || b.Next == b.Reconverge
	if n := x.NumReconvergences; !is && n+1 > x.MaxDepth || n > x.MaxDepth || !waits && x.NumSplits+1 > x.MaxDepth || x.NumSplits > x.MaxDepth {
		return 0, false, false
	}
	w.countLanes()
	x.Branches++
	x.DivergentBranches++
	if !is {
		x.Reconvergences[x.NumReconvergences] = native.Reconvergence{PC: b.Reconverge, Lanes: x.Mask}
		x.NumReconvergences++
	}
	x.ReconvergeAt = b.Reconverge
	m := &x.Reconvergences[x.NumReconvergences-1]
	switch b.Reconverge {
	case b.Target:
		m.Arrived |= taken
		m.Arrivals++
		x.Mask = rest
		return b.Next, false, true
	case b.Next:
		m.Arrived |= rest
		m.Arrivals++
		x.Mask = taken
		return b.Target, false, true
	}
	x.Splits[x.NumSplits] = native.Split{PC: b.Target, Lanes: taken, Depth: x.NumReconvergences}
	x.NumSplits++
	x.Mask = rest
	return b.Next, false, true
}

// arrive has the running split arrive at the reconvergence point pc. It returns the pc at which the next running split continues;
// its mask is empty if only Go knows the missing lanes. ok is false if machine code must exit to Go before the arrival.
func (w *model) arrive(pc int32) (to int32, ok bool) {
	x := &w.context
	next := func(n uint32) bool { return x.NumSplits > 0 && x.Splits[x.NumSplits-1].Depth == n }
	if n := x.NumReconvergences; n == 0 || x.Reconvergences[n-1].Arrived|x.Mask != x.Reconvergences[n-1].Lanes && !next(n) {
		return 0, false
	}
	w.countLanes()
	for {
		m := &x.Reconvergences[x.NumReconvergences-1]
		m.Arrived |= x.Mask
		m.Arrivals++
		if m.Arrived != m.Lanes {
			if !next(x.NumReconvergences) {
				x.Mask = 0
				return 0, true
			}
			x.NumSplits--
			o := x.Splits[x.NumSplits]
			x.Mask, pc = o.Lanes, o.PC
			break
		}
		if m.Arrivals > 1 {
			x.Reconverged++
		}
		x.Mask = m.Lanes
		if x.NumReconvergences--; x.NumReconvergences == 0 || x.Reconvergences[x.NumReconvergences-1].PC != pc {
			break
		}
	}
	x.ReconvergeAt = -1
	if x.NumReconvergences > 0 {
		x.ReconvergeAt = x.Reconvergences[x.NumReconvergences-1].PC
	}
	return pc, true
}
