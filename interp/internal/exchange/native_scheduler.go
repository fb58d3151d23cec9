package exchange

// This file enters the warp scheduler of machine code, and copies its state back. When a warp waits at a barrier or ends,
// the scheduler continues with the next warp, in the order and with the budget of runWarps of package grid. doc.go of
// package native has a diagram of the states.

import (
	"slices"

	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// mayScheduleInNative reports whether machine code may schedule the CTA's warps: the launch is not observed, has no seed, no
// clusters and no time slices, and its policy has the order of the stack.
func mayScheduleInNative(c *machine.CTA) bool {
	return c.Grid.Seed == 0 && !c.Grid.Clustered() && !c.Grid.MayPause && c.Stream == nil && c.Warps[0].Exportable && !c.Grid.TimeSliced()
}

// enterScheduler prepares the entry of a warp into machine code, where it may execute budget instructions. Where the warp
// stops, machine code may switch to other warps of the CTA. prepareNative must have been called for the warp.
func enterScheduler(w *machine.Warp, budget int) {
	c := w.CTA
	t := &c.Native.Scheduler
	t.SliceEnd, t.SliceStart, t.InstrsLeft = w.Count.WarpInstructions+int64(budget), c.SliceStart, int64(c.InstrsLeft)
	t.Quantum, t.MaxCount = machine.MaxWarpBudget, c.Grid.MaxSteps-machine.MaxWarpBudget
	t.Running, t.LiveWarps, t.WaitersInGo, t.Switched, t.WarpsVisited, t.Dirty, t.Remaining = uint32(w.ID), 0, 0, 0, 0, 0, 0
	setConstants(w)
	exportWarp(w)
	w.Exported.Filled = true // the entry fills the context
	t.SetWarps(nil)
	if !mayScheduleInNative(c) {
		return
	}
	for i := range c.Warps {
		if other := &c.Warps[i]; other != w && !prepareWarp(c, other, w) {
			return
		}
	}
	for i := range c.Barriers {
		if c.BarrierUsed && c.Barriers[i].Arrived > 0 { // warps have arrived in Go; some may have continued (bar.arrive)
			t.WaitersInGo = 1
		}
	}
	t.LiveWarps++
	t.SetWarps(c.Native.Contexts)
	prepareNextCTAs(c)
}

// prepareNextCTAs allows machine code to begin the next CTAs after all warps of this CTA have ended, unless Go has work to
// do between CTAs.
func prepareNextCTAs(c *machine.CTA) {
	t := &c.Native.Scheduler
	usual, last := uint32(c.Warps[0].AllLanes()), uint32(c.Warps[len(c.Warps)-1].AllLanes())
	if len(c.NextFlights) == c.CompletedCTAs || c.Grid.Cancelled.Load() || !hasNoPendingEffects(c) || t.MaxCount < 0 || !t.HasCodeFor(usual) || !t.HasCodeFor(last) {
		return
	}
	for i := range c.Native.Exported {
		if l := &c.Native.Exported[i]; !l.Filled {
			return
		}
	}
	t.Remaining = uint32(len(c.NextFlights) - c.CompletedCTAs)
	t.CTAID = [3]uint64{uint64(c.ID.X), uint64(c.ID.Y), uint64(c.ID.Z)}
	t.GridWidth = [2]uint64{uint64(c.Grid.Dim.X), uint64(c.Grid.Dim.Y)}
	t.FirstLanes, t.LastLanes = usual, last
	t.EntryPC, t.InstrsPerCTA = c.Code.Entry.Begin, machine.ParallelInstrsPerCTA
	var hits []*mem.Allocation
	if c.Grid.Mode == machine.Check {
		hits = c.LastHits
	}
	c.Code.Native.SetNextCTAs(t, &c.Warps[0].Files[0], c.SharedMem, c.Grid.ZeroRows, &c.Native.Uniform, hits)
}

// hasNoPendingEffects reports whether the CTA has neither asynchronous effects to finish nor output to print.
func hasNoPendingEffects(c *machine.CTA) bool { return !c.AsyncState.IsUsed() && c.Output.Len() == 0 }

// MayRunNextCTAsInNative reports whether machine code may begin CTAs of the launch. The initial states of CTAs must differ
// only in %ctaid, and registers and local memory must stay at the same addresses.
func MayRunNextCTAsInNative(g *machine.Grid) bool {
	k := g.Kernel
	moves := k.LocalWords() > machine.KernelFrame || k.Entry.Allocates || len(k.Funcs) > 1 // local memory or registers may move
	if g.Clustered() || g.Seed != 0 || len(g.Probes) > 0 || g.MayPause || g.Backend == warp.Portable || g.Device.Memory.ShadowBytes > 0 || moves || g.Device.Tolerance != 0 || g.Info.Dispatch != nil {
		return false
	}
	return !slices.ContainsFunc(k.Native.Uniform, func(r ptx.SpecialReg) bool { return !r.Fixed() && (r < ptx.CtaidX || r > ptx.CtaidZ) })
}

// syncEndedCTAs adds the counts of the CTAs that have ended in machine code, and makes c the object of the CTA that machine
// code has begun last.
func syncEndedCTAs(c *machine.CTA) {
	n := &c.Native
	f, b := &n.Scheduler.NextCTAs, &c.CompletedCounts
	for i := range c.Warps {
		saved := c.Warps[i].Count
		saved.WarpInstructions = 0 // Context.Count, and thus EndedCounts, includes them
		b.Add(&saved)
		importEngineCounts(&c.Warps[i], &b.Engine)
	}
	e := &f.EndedCounts
	b.AddExecuted(&probe.Counts{
		WarpInstructions: e.Count, ThreadInstructions: e.LaneInstrs - e.Skipped, LaneSlots: e.LaneInstrs, Branches: e.Branches,
		DivergentBranches: e.DivergentBranches, Splits: e.DivergentBranches - e.ExitBranches, Reconvergences: e.Reconverged,
	})
	c.CompletedCTAs += int(f.Completed)
	c.Grid.Finished.Add(int64(f.Completed))
	c.SetIndex(c.Index + int(f.Completed))
	if int64(c.Index) > c.Grid.LowestFailed.Load() { // CTAs after the failed CTA do not count
		c.NextFlights, f.Remaining = c.NextFlights[:c.CompletedCTAs], 0
	}
	n.UniformCTA = 1 + c.Index
	f.Completed, f.EndedCounts = 0, native.WarpCounts{}
	c.Begin()
	for i := range n.Exported {
		resetExported(&c.Warps[i])
	}
}

// resetExported marks a warp as begun in machine code, and releases the reconvergences exported for its previous CTA.
func resetExported(w *machine.Warp) {
	l := w.Exported
	for _, j := range l.NumberedReconvergences.ByNumber {
		if j != nil {
			r := exportedFrom(w)
			r.Free = append(r.Free, j)
		}
	}
	l.NumberedReconvergences = machine.ExportedReconvergences{ByNumber: l.NumberedReconvergences.ByNumber[:0]}
	l.InNative = true
}

// prepareWarp exports the state of other, a warp of the CTA besides w, which is about to enter machine code. It reports
// whether machine code may switch warps at all.
func prepareWarp(c *machine.CTA, other, w *machine.Warp) bool {
	t, l := &c.Native.Scheduler, other.Exported
	if other.State != machine.HasEnded {
		t.LiveWarps++
	}
	if l.InNative {
		return true
	}
	l.Count = other.Count.WarpInstructions // also for a warp that has ended in Go
	switch l.State = native.NotRunning; {
	case other.State == machine.AtGroup:
		return false // an instruction of another warp may wake it
	case other.State == machine.AtBarrier: // of the CTA, or of the cluster, which the end of any warp may complete
		t.WaitersInGo = 1
	case other.State != machine.ReadyToRun:
	case !fitsNative(other) || other.Check != nil && !filesAdjoin(other):
		l.State = native.ReadyInGo
	default:
		other.CountedUpTo = other.Count.WarpInstructions
		prepareNative(other)
		setConstants(other)
		exportWarp(other)
		if l.ShareTables(&w.Exported.Context); other.Check != nil {
			setCheckBuffers(other)
		}
		c.Code.Native.FillContext(&l.Context, &other.Files[0])
		l.Filled = true
	}
	return true
}

// exportAgain exports a warp again after Go has executed an instruction of it.
func exportAgain(w *machine.Warp) {
	if w.Frame.Func.Allocates {
		setLocalMemory(w)
	}
	if !hasNoPendingEffects(w.CTA) {
		w.CTA.Native.Scheduler.Remaining = 0
	}
	if w.Yields {
		w.CTA.Native.Scheduler.SliceEnd = 0 // at the end of the block
	}
	exportWarp(w)
}

// nativeContext returns the context of a warp for its next entry, with its limit set.
func nativeContext(w *machine.Warp) *native.Context {
	w.CTA.Native.EnterCount++
	if t := &w.CTA.Native.Scheduler; w.CTA.Ordered {
		t.Ordered = 1
	} else {
		t.Ordered = 0
	}
	if w.Check != nil {
		return w.Exported.WithCheckLimit(w.CTA.Native.Scheduler.SliceEnd)
	}
	return w.Exported.WithLimit(w.CTA.Native.Scheduler.SliceEnd)
}

// mayResume reports whether the warp may enter machine code again at once: machine code has exited because of the limit of
// a stretch (native.Stretch), not because the budget is used.
func mayResume(w *machine.Warp) bool {
	ctx := &w.Exported.Context
	return !w.CTA.Grid.Cancelled.Load() && ctx.Reason == native.BudgetUsed && ctx.Count < w.CTA.Native.Scheduler.SliceEnd && !w.Yields
}

// syncBack copies the state of every warp that ran in machine code back to Go, and returns the warp that stopped.
func syncBack(w *machine.Warp) *machine.Warp {
	c := w.CTA
	n := &c.Native
	t := &n.Scheduler
	if t.Dirty == 0 {
		importCounts(w)
		return w
	}
	t.Dirty = 0
	if t.Completed > 0 {
		syncEndedCTAs(c)
	}
	for i := range n.Exported {
		l, other := &n.Exported[i], &c.Warps[i]
		if l.Unsynced == 0 {
			continue
		}
		l.Unsynced = 0
		importCounts(other)
		switch l.State {
		case native.Ready:
			other.State = machine.ReadyToRun
		case native.AtBarrier:
			other.State = machine.AtBarrier
		case native.AtOrdered:
			importSplits(other)
			other.State = machine.AtOrdered
		case native.Ended:
			l.Mask, l.Live, l.NumReconvergences = 0, 0, 0
			importSplits(other)
			if other.State = machine.HasEnded; uint32(i) != t.Running {
				warp.LeaveCluster(c.Cluster, other)
			}
		}
	}
	w = &c.Warps[t.Running]
	if importCounts(w); t.Switched == 0 {
		return w
	}
	c.WarpsVisited = (c.WarpsVisited + int(t.WarpsVisited)) % len(c.Warps)
	t.Switched, t.WarpsVisited, n.Resumed = 0, 0, w
	c.NextWarp, c.InstrsLeft, c.SliceStart = w.ID, int(t.InstrsLeft), t.SliceStart
	w.Yields, w.Budget, w.UnchargedExits = false, int(t.SliceLength), t.SliceEnd-t.SliceStart-t.SliceLength
	return w
}

// resumeUntilExit enters machine code again until there is work for Go, and returns the warp that stopped. block enters
// machine code at the beginning of the block with an index, within at a pc inside a block.
func resumeUntilExit(w *machine.Warp, block, within func(*native.Context, *regfile.File, int32)) *machine.Warp {
	for {
		w = syncBack(w)
		f, ctx := &w.Files[0], &w.Exported.Context
		switch {
		case mayResume(w):
			block(nativeContext(w), f, w.CTA.Code.Block(ctx.PC).Index)
		case ctx.Reason == native.StretchEnded:
			within(nativeContext(w), f, ctx.PC)
		default:
			return w
		}
	}
}

// ImportAll copies the state of all warps back from machine code. Warps that wait at a barrier in machine code arrive at
// this barrier in Go.
func (MachineCode) ImportAll(c *machine.CTA) {
	n := &c.Native
	n.AnyInNative = false
	for i := range n.Exported {
		l, other := &n.Exported[i], &c.Warps[i]
		if !l.InNative {
			continue
		}
		waits := l.State == native.AtBarrier
		if importSplits(other); waits {
			warp.ExecuteBarrier(other, c.Code.Block(l.BarrierBlock))
		}
	}
	n.Scheduler.ForgetWaiters()
}
