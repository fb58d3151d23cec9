package simt

// This file enters the warp scheduler of machine code and copies its state back. There, a warp that waits at a barrier or ends
// is followed by the next warp, in the order and with the budget of cta.run. doc.go of package native draws the states.

import (
	"slices"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/ptx"
	"gemu/regfile"
)

// mayScheduleInNative reports whether machine code may schedule the CTA's warps: the launch is not observed, has no seed and no
// clusters, and its policy has a stack.
func (c *cta) mayScheduleInNative() bool {
	return c.grid.seed == 0 && !c.grid.clustered() && !c.grid.mayPause && c.stream == nil && c.warps[0].exportable && !c.grid.timeSliced()
}

// enterScheduler prepares the entry of a warp into machine code: it may execute budget instructions, and where it stops,
// machine code may switch to other warps of the CTA. prepareNative must have been called for the warp.
func (w *warp) enterScheduler(budget int) {
	c := w.cta
	t := &c.native.scheduler
	t.SliceEnd, t.SliceStart, t.InstrsLeft = w.count.WarpInstructions+int64(budget), c.sliceStart, int64(c.instrsLeft)
	t.Quantum, t.MaxCount = maxWarpBudget, c.grid.maxSteps-maxWarpBudget
	t.Running, t.LiveWarps, t.WaitersInGo, t.Switched, t.WarpsVisited, t.Dirty, t.Remaining = uint32(w.id), 0, 0, 0, 0, 0, 0
	w.setConstants()
	w.export()
	w.exported.filled = true // when it goes
	t.SetWarps(nil)
	if !c.mayScheduleInNative() {
		return
	}
	for i := range c.warps {
		if other := &c.warps[i]; other != w && !c.prepareWarp(other, w) {
			return
		}
	}
	for i := range c.barriers {
		if c.barrierUsed && c.barriers[i].arrived > 0 { // perhaps of a warp that has gone on
			t.WaitersInGo = 1
		}
	}
	t.LiveWarps++
	t.SetWarps(c.native.contexts)
	c.prepareNextCTAs()
}

// prepareNextCTAs allows machine code to begin the next CTAs after all warps of this one have ended, if Go has nothing to do
// between them.
func (c *cta) prepareNextCTAs() {
	t := &c.native.scheduler
	usual, last := uint32(c.warps[0].allLanes()), uint32(c.warps[len(c.warps)-1].allLanes())
	if len(c.nextFlights) == c.completedCTAs || c.grid.cancelled.Load() || !c.hasNoPendingEffects() || t.MaxCount < 0 || !t.HasCodeFor(usual) || !t.HasCodeFor(last) {
		return
	}
	for i := range c.native.exported {
		if l := &c.native.exported[i]; !l.filled {
			return
		}
	}
	t.Remaining = uint32(len(c.nextFlights) - c.completedCTAs)
	t.CTAID = [3]uint64{uint64(c.id.X), uint64(c.id.Y), uint64(c.id.Z)}
	t.GridWidth = [2]uint64{uint64(c.grid.dim.X), uint64(c.grid.dim.Y)}
	t.FirstLanes, t.LastLanes = usual, last
	t.EntryPC, t.InstrsPerCTA = c.code.entry.Begin, sliceParallel
	var hits []*mem.Allocation
	if c.grid.mode == Check {
		hits = c.lastHits
	}
	c.code.native.SetNextCTAs(t, &c.warps[0].files[0], c.sharedMem, c.grid.zeroRows, &c.native.uniform, hits)
}

// hasNoPendingEffects reports whether the CTA has neither asynchronous effects to finish nor output to print.
func (c *cta) hasNoPendingEffects() bool { return !c.asyncState.isUsed() && c.output.Len() == 0 }

// mayRunNextCTAsInNative reports whether machine code may begin CTAs of the launch: at their beginning they must differ in
// ctaid alone, and registers and local memory must be at the same addresses.
func (g *Grid) mayRunNextCTAsInNative() bool {
	k := g.kernel
	moves := k.localWords() > kernelFrame || k.entry.Allocates || len(k.Funcs) > 1
	if g.clustered() || g.seed != 0 || len(g.probes) > 0 || g.mayPause || g.backend == Portable || g.dev.Memory.ShadowBytes > 0 || moves || g.dev.Tolerance != 0 {
		return false
	}
	return !slices.ContainsFunc(k.native.Uniform, func(r ptx.SpecialReg) bool { return !r.Fixed() && (r < ptx.CtaidX || r > ptx.CtaidZ) })
}

// zeroRows returns the rows that are zero at a warp's beginning: those of the kernel, then those of the reference.
func (k *Kernel) zeroRows() []code.Row {
	list := slices.Clone(k.entry.Zero)
	if k.ref != nil {
		for _, r := range k.ref.entry.Zero {
			list = append(list, r.Add(k.entry.Frame))
		}
	}
	return list
}

// syncEndedCTAs adds the counts of the CTAs that ended in machine code, and makes c the CTA that runs there now.
func (c *cta) syncEndedCTAs() {
	n := &c.native
	f, b := &n.scheduler.NextCTAs, &c.completedCounts
	for i := range c.warps {
		saved := c.warps[i].count
		saved.WarpInstructions = 0 // they are all in Context.Count
		b.Add(&saved)
		c.warps[i].importEngineCounts(&b.Engine)
	}
	e := &f.EndedCounts
	b.addExecuted(&Counts{
		WarpInstructions: e.Count, ThreadInstructions: e.LaneInstrs - e.Skipped, LaneSlots: e.LaneInstrs, Branches: e.Branches,
		DivergentBranches: e.DivergentBranches, Splits: e.DivergentBranches - e.ExitBranches, Reconvergences: e.Reconverged,
	})
	c.completedCTAs += int(f.Completed)
	c.grid.finished.Add(int64(f.Completed))
	c.setIndex(c.index + int(f.Completed))
	if int64(c.index) > c.grid.lowestFailed.Load() { // what comes behind does not count
		c.nextFlights, f.Remaining = c.nextFlights[:c.completedCTAs], 0
	}
	n.sourceCount = 1 + c.index
	f.Completed, f.EndedCounts = 0, native.WarpCounts{}
	c.begin()
	for i := range n.exported {
		c.warps[i].resetExported()
	}
}

// resetExported marks a warp as begun in machine code, and frees the reconvergences that Go exported for its previous CTA.
func (w *warp) resetExported() {
	l := w.exported
	for _, j := range l.reconvergences.byNumber {
		if j != nil {
			r := exportedFrom(w)
			r.free = append(r.free, j)
		}
	}
	l.reconvergences = exportedReconvergences{byNumber: l.reconvergences.byNumber[:0]}
	l.inNative = true
}

// prepareWarp exports the state of another warp of the CTA than w, which is about to enter machine code. It reports whether
// machine code may switch warps at all.
func (c *cta) prepareWarp(other, w *warp) bool {
	t, l := &c.native.scheduler, other.exported
	if other.state != ended {
		t.LiveWarps++
	}
	if l.inNative {
		return true
	}
	l.Count = other.count.WarpInstructions // also of one that has ended in Go
	switch l.State = native.NotRunning; {
	case other.state == atGroup:
		return false // what others execute may wake it
	case other.state == atBarrier: // perhaps that of the cluster, which the end of any warp may complete
		t.WaitersInGo = 1
	case other.state != ready:
	case !other.fitsNative() || other.check != nil && !other.referenceAdjoins():
		l.State = native.ReadyInGo
	default:
		other.countedUpTo = other.count.WarpInstructions
		other.prepareNative()
		other.setConstants()
		other.export()
		if l.ShareTables(&w.exported.Context); other.check != nil {
			other.checkRoom()
		}
		c.code.native.FillContext(&l.Context, &other.files[0])
		l.filled = true
	}
	return true
}

// exportAgain exports a warp again after Go has executed an instruction of it.
func (w *warp) exportAgain() {
	if w.frame.fn.Allocates {
		w.setLocalMemory()
	}
	if !w.cta.hasNoPendingEffects() {
		w.cta.native.scheduler.Remaining = 0
	}
	if w.yields {
		w.cta.native.scheduler.SliceEnd = 0 // at the end of the block
	}
	w.export()
}

// nativeContext returns the context of a warp for its next entry, with its limit set.
func (w *warp) nativeContext() *native.Context {
	w.cta.native.enterCount++
	if t := &w.cta.native.scheduler; w.cta.ordered {
		t.Ordered = 1
	} else {
		t.Ordered = 0
	}
	if w.check != nil {
		return w.exported.WithCheckLimit(w.cta.native.scheduler.SliceEnd)
	}
	return w.exported.WithLimit(w.cta.native.scheduler.SliceEnd)
}

// mayResume reports whether the warp has left machine code only because a stretch ended: it may enter again at once.
func (w *warp) mayResume() bool {
	ctx := &w.exported.Context
	return !w.cta.grid.cancelled.Load() && ctx.Reason == native.BudgetUsed && ctx.Count < w.cta.native.scheduler.SliceEnd && !w.yields
}

// syncBack copies the state of every warp that ran in machine code back to Go, and returns the warp that stopped.
func (w *warp) syncBack() *warp {
	c := w.cta
	n := &c.native
	t := &n.scheduler
	if t.Dirty == 0 {
		w.importCounts()
		return w
	}
	t.Dirty = 0
	if t.Completed > 0 {
		c.syncEndedCTAs()
	}
	for i := range n.exported {
		l, other := &n.exported[i], &c.warps[i]
		if l.Unsynced == 0 {
			continue
		}
		l.Unsynced = 0
		other.importCounts()
		switch l.State {
		case native.Ready:
			other.state = ready
		case native.AtBarrier:
			other.state = atBarrier
		case native.AtOrdered:
			other.importSplits()
			other.state = atOrdered
		case native.Ended:
			l.Mask, l.Live, l.NumReconvergences = 0, 0, 0
			other.importSplits()
			if other.state = ended; uint32(i) != t.Running {
				c.cluster.leave(other)
			}
		}
	}
	w = &c.warps[t.Running]
	if w.importCounts(); t.Switched == 0 {
		return w
	}
	c.warpsVisited = (c.warpsVisited + int(t.WarpsVisited)) % len(c.warps)
	t.Switched, t.WarpsVisited, n.resumed = 0, 0, w
	c.nextWarp, c.instrsLeft, c.sliceStart = w.id, int(t.InstrsLeft), t.SliceStart
	w.yields, w.budget, w.unchargedExits = false, int(t.SliceLength), t.SliceEnd-t.SliceStart-t.SliceLength
	return w
}

// resumeUntilExit enters machine code again until there is work for Go, and returns the warp that stopped. block enters at the
// beginning of a block, rest within one.
func (w *warp) resumeUntilExit(block, rest func(*native.Context, *regfile.File, int32)) *warp {
	for {
		w = w.syncBack()
		f, ctx := &w.files[0], &w.exported.Context
		switch {
		case w.mayResume():
			block(w.nativeContext(), f, w.cta.code.Block(ctx.PC).Index)
		case ctx.Reason == native.StretchEnded:
			rest(w.nativeContext(), f, ctx.PC)
		default:
			return w
		}
	}
}

// importAll copies the state of all warps back from machine code. Warps that wait at a barrier there arrive at it in Go.
func (machineCode) importAll(c *cta) {
	n := &c.native
	n.anyInNative = false
	for i := range n.exported {
		l, other := &n.exported[i], &c.warps[i]
		if !l.inNative {
			continue
		}
		waits := l.State == native.AtBarrier
		if other.importSplits(); waits {
			other.barrier(c.code.Block(l.BarrierBlock))
		}
	}
	n.scheduler.ForgetWaiters()
}
