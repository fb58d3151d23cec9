package harness

// This file tries warps that take turns.

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// goScheduler is warps that take turns as package simt has them.
type goScheduler struct {
	native.Scheduler

	warps            []*model
	arrivedWarps     uint32
	barrier          uint32
	stretch, granted int64
	shared           []byte
	uniform          [native.Registers]uint64
	zeroRows         []code.Row
	cost             int64
}

// endOrWait has a warp come to the end of a block at which it ends or waits. It goes on itself, or nobody is given, and another has its
// turn, if that is not Go's.
func (c *goScheduler) endOrWait(w *model, b *code.Block, end *code.Instr) (next *model, ok bool) {
	x := &w.context
	if c == nil || end.Guard != 0 || x.Mask != x.Live || x.NumSplits != 0 || c.WaitersInGo != 0 {
		return nil, false
	}
	halt := func(s native.State) {
		w.countLanes()
		x.State, x.Unsynced, c.Dirty = s, 1, 1
	}
	if end.Op == code.Exit {
		if x.MayExit == 0 || c.arrivedWarps != 0 {
			return nil, false
		}
		c.LiveWarps--
		halt(native.Ended)
		return nil, true
	}
	if end.A >= 0 || end.B != code.NoRow || end.Side != 0 {
		return nil, false
	}
	id := w.file.Src32(end.A)[0]
	if id > 15 || c.arrivedWarps != 0 && c.barrier != id || b.Next == x.ReconvergeAt {
		return nil, false
	}
	c.barrier = id
	if c.arrivedWarps++; c.arrivedWarps != c.LiveWarps {
		x.PC, x.BarrierBlock = b.Next, b.Last
		halt(native.AtBarrier)
		return nil, true
	}
	c.arrivedWarps, c.Dirty = 0, 1
	for _, o := range c.warps {
		if o.context.State == native.AtBarrier {
			o.context.State, o.context.Unsynced = native.Ready, 1
		}
	}
	return w, true
}

// switchWarp gives the next warp its turn.
func (c *goScheduler) switchWarp(w *model) {
	executed := w.context.Count
	c.InstrsLeft -= executed - c.SliceStart
	c.stretch -= executed - w.context.CountLimit + c.granted
	c.SliceStart = executed
	if c.LiveWarps == 0 && c.Remaining > 0 && c.InstrsLeft > 0 {
		c.startNextCTA()
	}
	for k := 1; k <= len(c.warps) && c.InstrsLeft > 0; k++ {
		i := (int(c.Running) + k) % len(c.warps)
		o := c.warps[i]
		x := &o.context
		if x.State == native.ReadyInGo || x.State == native.Ready && x.Count > c.MaxCount {
			break
		}
		if x.State != native.Ready {
			continue
		}
		c.Running, c.Switched, c.WarpsVisited = uint32(i), 1, c.WarpsVisited+uint32(k)
		c.SliceLength = min(c.InstrsLeft, c.Quantum)
		c.SliceStart, c.SliceEnd, x.Unsynced = x.Count, x.Count+c.SliceLength, 1
		c.granted = min(c.SliceLength, c.stretch)
		if x.CountLimit = x.Count + c.granted; c.stretch <= 0 {
			x.Reason = native.BudgetUsed
			return
		}
		o.run(x.PC, true)
		return
	}
	w.context.Reason = native.SwitchedWarp
}

// startNextCTA has all warps be those of the next CTA.
func (c *goScheduler) startNextCTA() {
	c.Remaining--
	c.Completed++
	c.stretch -= c.cost
	if c.CTAID[0]++; c.CTAID[0] == c.GridWidth[0] {
		c.CTAID[0] = 0
		if c.CTAID[1]++; c.CTAID[1] == c.GridWidth[1] {
			c.CTAID[1] = 0
			c.CTAID[2]++
		}
	}
	copy(c.uniform[ptx.CtaidX:], c.CTAID[:])
	clear(c.shared)
	for i, w := range c.warps {
		x, e := &w.context, &c.EndedCounts
		e.Count, e.LaneInstrs, e.Skipped, e.Branches = e.Count+x.Count, e.LaneInstrs+x.LaneInstrs, e.Skipped+x.Skipped, e.Branches+x.Branches
		e.DivergentBranches, e.Reconverged, e.ExitBranches = e.DivergentBranches+x.DivergentBranches, e.Reconverged+x.Reconverged, e.ExitBranches+x.ExitBranches
		x.Count, x.CountedUpTo = 0, 0
		x.ResetCounts()
		if x.Live = c.FirstLanes; i == len(c.warps)-1 {
			x.Live = c.LastLanes
		}
		x.Mask, x.ReconvergeAt, x.PC, x.MaxDepth, x.MayExit, x.NumReconvergences, x.NumSplits = x.Live, -1, c.EntryPC, native.MaxSplits, 1, 0, 0
		x.State, x.Unsynced = native.Ready, 0
		for _, z := range c.zeroRows {
			switch z.Slot {
			case code.R:
				*w.file.Row32(z.Row) = regfile.Row32{}
			case code.Q:
				*w.file.Row64(z.Row) = regfile.Row64{}
			default:
				w.file.SetP(z.Row, regfile.Full, 0)
			}
		}
	}
	c.LiveWarps, c.InstrsLeft, c.Running, c.Dirty = uint32(len(c.warps)), c.InstrsPerCTA, uint32(len(c.warps)-1), 1
	c.WarpsVisited = ^uint32(0)
}

// enter says up to when the warp may execute whose turn it is.
func (c *goScheduler) enter(x *native.Context) {
	x.CountLimit = min(c.SliceEnd, x.Count+native.Stretch)
	c.stretch, c.granted = native.Stretch, x.CountLimit-x.Count
}

// testScheduler tries programs that several warps execute.
func (t *tester) testScheduler(round int) bool {
	for n := range 1000 {
		p := t.newBlocks(30)
		c := t.lib.New(p.Program)
		size := 1 + t.IntN(5)
		scheduler, want := new(native.Scheduler), new(goScheduler)
		shared := mem.NewMap(1<<20, 1<<20, nil).NewShared(uint64(t.IntN(5000)))
		uniform, changed := [native.Registers]uint64{}, false
		warps, contexts := make([]*program, size), make([]*native.Context, size)
		t.lib.TakeUsed()
		for i := range size {
			f := p.copied()
			for k := range int32(frame.P) {
				if t.IntN(2) == 0 {
					f.SetP(k, regfile.Full, -(t.Uint32() & 1))
				}
			}
			x := &native.Context{Mask: regfile.Full, ReconvergeAt: -1, Count: t.Int64N(1 << 40), PC: p.Blocks[t.IntN(len(p.Blocks))].First}
			x.State, x.MayExit = native.Ready, 1
			if t.IntN(3) == 0 {
				x.Mask = t.mask(n + round)
			}
			if x.Live = x.Mask; t.IntN(6) == 0 {
				x.Live = regfile.Full
				t.exportDivergence(p, x)
			}
			if t.IntN(8) == 0 {
				x.ReconvergeAt = p.Blocks[t.IntN(len(p.Blocks))].First
			}
			x.SetScheduler(scheduler)
			x.SetMemory(nil, shared, &changed)
			x.CountedUpTo = x.Count
			if !c.Ready(x) || !c.Ready(&native.Context{Mask: 1}) || !c.Ready(&native.Context{Mask: regfile.Full}) || !c.Ready(x) {
				return false
			}
			c.FillContext(x, f)
			if i > 0 && t.IntN(5) == 0 {
				x.State = []native.State{native.NotRunning, native.ReadyInGo, native.Ended}[t.IntN(3)]
			}
			if x.State != native.Ended {
				scheduler.LiveWarps++
			}
			warps[i], contexts[i] = &program{p.Program, f}, x
		}
		if t.IntN(6) == 0 {
			scheduler.WaitersInGo = 1
		}
		scheduler.Ordered = t.Uint32N(2)
		scheduler.InstrsLeft, scheduler.Quantum, scheduler.MaxCount = t.Int64N(2000), 1+t.Int64N(60), 1<<40-t.Int64N(1<<36)
		scheduler.SliceStart = contexts[0].Count
		scheduler.SliceEnd = scheduler.SliceStart + 1 + t.Int64N(60)
		scheduler.FirstLanes, scheduler.LastLanes, scheduler.EntryPC, scheduler.InstrsPerCTA = regfile.Full, regfile.Full, p.Blocks[t.IntN(len(p.Blocks))].First, 1+t.Int64N(2000)
		if t.IntN(2) == 0 {
			scheduler.LastLanes = t.mask(n)
		}
		if t.IntN(3) > 0 {
			scheduler.Remaining = t.Uint32N(5)
		}
		for d := range scheduler.GridWidth {
			scheduler.GridWidth[d] = 1 + t.Uint64N(3)
			scheduler.CTAID[d] = t.Uint64N(scheduler.GridWidth[d])
		}
		for i := range shared.Data {
			shared.Data[i] = byte(1 + t.IntN(255))
		}
		for range t.IntN(4) {
			want.zeroRows = append(want.zeroRows, []code.Row{{Slot: code.R, Row: t.Int32N(int32(frame.R))}, {Slot: code.Q, Row: t.Int32N(int32(frame.Q))}, {Slot: code.P, Row: t.Int32N(int32(frame.P))}}[t.IntN(3)])
		}
		scheduler.SetWarps(contexts)
		c.SetNextCTAs(scheduler, warps[0].file, shared, want.zeroRows, &uniform, nil)
		want.cost = int64(len(shared.Data)/native.ClearedBytesPerInstr + size*(2+len(want.zeroRows)))
		t.Stencils = append(t.Stencils, t.lib.TakeUsed()...)
		want.Scheduler, want.shared = *scheduler, slices.Clone(shared.Data)
		if scheduler.SetWarps(contexts); t.IntN(8) == 0 {
			scheduler.SetWarps(nil)
		}
		for i := range size {
			w := &model{program: p, file: warps[i].copied(), context: *contexts[i]}
			if w.scheduler = want; !scheduler.HasWarps() {
				w.scheduler = nil
			}
			want.warps = append(want.warps, w)
		}
		at, begins := contexts[0].PC, true
		for range maxPasses {
			now := scheduler.Running
			ctx, w := contexts[now], want.warps[now]
			from := fmt.Sprintf("warp %d from %d", now, at)
			want.enter(&w.context)
			if ctx.WithLimit(scheduler.SliceEnd); begins {
				c.RunBlock(ctx, warps[now].file, p.Block(at).Index)
			} else {
				c.RunInstr(ctx, warps[now].file, at)
			}
			w.run(at, begins)
			t.Compared++
			if diff := t.schedulerDiffers(scheduler, want, warps, contexts); diff != "" {
				t.Differs = fmt.Sprintf("%d warps take turns, %s: %s\n%v", size, from, diff, p)
				return false
			}
			if uniform != want.uniform || !bytes.Equal(shared.Data, want.shared) {
				t.Differs = fmt.Sprintf("%d warps take turns, %s: CTA %v has special registers %v, shared memory %v,\nnot %v, %v", size, from, scheduler.CTAID, uniform, shared.Data, want.uniform, want.shared)
				return false
			}
			scheduler.Dirty, want.Dirty = 0, 0 // Go has looked
			for i := range size {
				contexts[i].Unsynced, want.warps[i].context.Unsynced = 0, 0
			}
			switch ctx = contexts[scheduler.Running]; {
			case ctx.Reason == native.BudgetUsed && ctx.Count < scheduler.SliceEnd:
				at, begins = ctx.PC, true
				continue
			case ctx.Reason == native.Unsupported:
				at, begins = c.NextSupported(ctx, ctx.PC+1), false
				continue
			}
			break
		}
	}
	return true
}

// schedulerDiffers says how warps that have taken turns differ from what they should be; "" for not at all.
func (t *tester) schedulerDiffers(scheduler *native.Scheduler, want *goScheduler, warps []*program, contexts []*native.Context) string {
	describeScheduler := func(t *native.Scheduler) string {
		return fmt.Sprintf("left %d, began %d, end %d, share %d, now %d, live %d, turned %d, steps %d, dirty %d, follow %d %d %v %d", t.InstrsLeft, t.SliceStart, t.SliceEnd, t.SliceLength, t.Running, t.LiveWarps, t.Switched, t.WarpsVisited, t.Dirty, t.Remaining, t.Completed, t.CTAID, t.EndedCounts)
	}
	g, w := describeScheduler(scheduler)+fmt.Sprint(scheduler.HasWaiters()), describeScheduler(&want.Scheduler)+fmt.Sprint(want.arrivedWarps > 0)
	if !scheduler.HasWarps() { // nothing is done for a team that there is not, but that its end is put off
		g, w = fmt.Sprint(scheduler.Running), fmt.Sprint(want.Running)
		want.SliceEnd = scheduler.SliceEnd
	}
	if g != w {
		return fmt.Sprintf("of the team, it has %s\nnot %s", g, w)
	}
	for i, o := range want.warps {
		g, w := contexts[i], &o.context
		if diff := cmp.Or(warps[i].differs(o.file), divergenceDiffers(g, w)); diff != "" {
			return fmt.Sprintf("warp %d: %s", i, diff)
		}
		describeWarp := func(c *native.Context) string {
			s := fmt.Sprintf("count %d, held %d, branches %d, state %d, touched %d", c.Count, c.Skipped, c.Branches, c.State, c.Unsynced)
			if c.State == native.AtBarrier {
				s += fmt.Sprintf(", at %d", c.BarrierBlock)
			}
			if uint32(i) == scheduler.Running && c.Reason != native.SwitchedWarp || c.State == native.AtBarrier || c.State == native.AtOrdered {
				s += fmt.Sprintf(", pc %d", c.PC)
			}
			if uint32(i) == scheduler.Running {
				s += fmt.Sprintf(", reason %d", c.Reason)
			}
			return s
		}
		if g, w := describeWarp(g), describeWarp(w); g != w {
			return fmt.Sprintf("warp %d has %s\nnot %s", i, g, w)
		}
	}
	return ""
}
