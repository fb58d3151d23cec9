package grid

// This file runs a CTA: its warps one after the other, and their barriers.

import (
	"math/bits"
	"slices"

	"gemu/affinetrack"
	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/check"
	"gemu/interp/internal/code"
	"gemu/interp/internal/event"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/regfile"
)

// newCTA makes a context: it can run one CTA of the grid after another.
func newCTA(g *machine.Grid) *machine.CTA {
	c := &machine.CTA{Grid: g, Code: g.Kernel, Shape: contextShapeOf(g)}
	c.ReleasedBlocks, c.LastHits = map[int32]bool{}, make([]*mem.Allocation, g.Kernel.NumHits)
	c.SharedMem = g.Device.Memory.NewShared(g.SharedLen)
	c.Shared = c.SharedMem.Data
	c.OwnCluster.CTAs = []*machine.CTA{c}
	c.Cluster = &c.OwnCluster
	c.Frame = machine.Frame{Func: g.Kernel.Entry, Local: g.Kernel.Entry.Align}
	width := g.Kernel.Width
	c.Warps = make([]machine.Warp, (g.Threads+width-1)/width)
	for i := range c.Warps {
		w := &c.Warps[i]
		w.CTA, w.ID, w.Reconverger, w.NotifyEveryBlock, w.WaitAtExit = c, i, g.Reconverge.New(), g.Reconverge.NotifyEveryBlock, g.Reconverge.WaitAtExit
		_, isStack := w.Reconverger.(warp.StackPolicy)
		w.Exportable = isStack && !w.NotifyEveryBlock && !w.WaitAtExit
		w.Files = make([]regfile.File, (width+31)/32)
		for h := range w.Files {
			w.Files[h] = *regfile.New(&g.Kernel.Consts, g.Mode != machine.Vector)
		}
		w.Unit = affinetrack.NewUnit(affinetrack.Policies[0], g.Rules)
		if g.Mode != machine.Check {
			continue
		}
		w.Check = &machine.WarpCheck{Reference: g.Reference, Comparer: check.CheckRunner{}, NativeFuncs: usesNativeFuncs(g), Files: make([]regfile.File, len(w.Files)), EngineFiles: w.Files}
		for h := range w.Files {
			if w.Check.Files[h] = *regfile.New(&g.Reference.Consts, false); exchange.ReferenceAdjoins(g.Kernel) {
				w.Check.Files[h] = *w.Files[h].NewAdjacent(&g.Reference.Consts, g.Kernel.Entry.Frame, g.Reference.Entry.Frame)
			}
		}
	}
	if g.Mode == machine.Check {
		twin := &machine.Frame{Func: g.Reference.Entry, Local: c.Frame.Local, Counterpart: &c.Frame}
		c.Frame.Counterpart = twin
	}
	return c
}

// usesNativeFuncs reports whether check mode must compare the backend's own functions for lanes with the portable
// functions. This is so for every backend except the portable one and backends with their own runner for check mode.
func usesNativeFuncs(g *machine.Grid) bool {
	_, checks := g.Backend.(checkingBackend)
	return g.Backend != warp.Portable && !checks
}

// startCTA prepares a context for a CTA. order is the CTA's place in the order in which CTAs begin.
func startCTA(c *machine.CTA, order int) {
	c.SetIndex(order)
	if c.Grid.Clustered() {
		c.SharedMem.AddToCluster(c.Rank)
		clear(c.LastHits) // the hits may refer to CTAs of an earlier cluster
	}
	clear(c.Shared)
	clear(c.SharedMem.Shadow)
	c.Output.Reset()
	c.Tolerated = c.Tolerated[:0]
	c.Begin()
	if c.Random = c.Grid.Seed; c.Random != 0 {
		c.Random = c.Grid.Seed<<32 ^ uint64(order)
		c.NextWarp = int(nextRandom(c) % uint64(len(c.Warps)))
	}
	event.OpenStream(c)
	c.Runner = runnerOf(c)
	if len(c.Grid.Probes) > 0 || c.Grid.Mode == machine.Check {
		forgetLastHits(c) // events and counts must not depend on earlier CTAs of this context
	}
	event.EmitCTA(c, probe.OnCTA)
	for i := range c.Warps {
		w := &c.Warps[i]
		resetRegisters(w)
		event.EmitLanes(w, probe.OnWarp, nil, w.Live)
	}
}

// forgetLastHits moves the allocation of each instruction's last access to the instruction's earlier allocations: the first
// access of the CTA must resolve its address.
func forgetLastHits(c *machine.CTA) {
	for known := range slices.Chunk(c.LastHits, code.HitsPerAccess) {
		if known[0] != nil {
			copy(known[1:], known)
			known[0] = nil
		}
	}
}

// resetRegisters sets registers and local memory of a warp to their state at the warp's start.
func resetRegisters(w *machine.Warp) {
	c := w.CTA
	fn, words := c.Code.Entry, c.Code.LocalWords()
	for h := range w.Files {
		f := &w.Files[h]
		f.Reset(fn.Frame)
		warp.ZeroFrame(fn, f)
		if len(w.Local[h]) < words {
			access.GrowLocal(w, words)
		} else if words > machine.KernelFrame {
			clear(w.Local[h][machine.KernelFrame:words])
		}
		if w.Check != nil {
			g := &w.Check.Files[h]
			g.Reset(w.Check.Entry.Frame)
			warp.ZeroFrame(w.Check.Entry, g)
		}
	}
	if w.Files[0].Tracked() {
		event.SetOnMaterialise(w)
	}
}

// resetCTA prepares an unused context for another launch. It removes all references to this launch, so that the context
// keeps none of the launch's memory alive.
func resetCTA(c *machine.CTA) {
	clear(c.LastHits)
	c.Grid, c.AsyncState = nil, machine.AsyncState{}
	exchange.ResetExport(&c.Native) // thread indices stay, because the next launch has the same block shape
}

// nextRandom returns the next random number of a launch with a seed (splitmix64, Steele et al. 2014).
func nextRandom(c *machine.CTA) uint64 {
	c.Random += 0x9e3779b97f4a7c15
	v := c.Random
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// nextBudget returns the number of instructions that the next warp may execute. Without a seed it is machine.MaxWarpBudget;
// with a seed it is a random power of two up to this maximum.
func nextBudget(c *machine.CTA) int {
	if c.Grid.Seed == 0 {
		return machine.MaxWarpBudget
	}
	return machine.MaxWarpBudget >> (nextRandom(c) % uint64(bits.Len(machine.MaxWarpBudget)))
}

// runCTA executes the warps of a CTA, one after the other, repeatedly. It returns when the CTA has ended or failed, pauses,
// or has executed about budget instructions. In the parallel half it also returns when the CTA stops before a globally
// ordered instruction, and, in a cluster, when each warp has run once. A paused CTA continues with the remainder of its
// former budget.
//
// A CTA that has executed its budget while a warp is before a globally ordered instruction takes part in the ordered half as well: its
// other warps may spin until that warp goes on.
func runCTA(c *machine.CTA, budget int, ordered bool) machine.CTAStatus {
	s := runWarps(c, budget, ordered)
	c.ImportAll()
	switch {
	case ordered:
		c.NextOrdered = c.NextWarp
	case s == machine.BudgetSpent && anyWarp(c, func(w *machine.Warp) bool { return w.State == machine.AtOrdered }):
		return machine.WantsOrdered
	}
	return s
}

// anyWarp reports whether a condition holds for a warp of the CTA.
func anyWarp(c *machine.CTA, holds func(w *machine.Warp) bool) bool {
	for i := range c.Warps {
		if holds(&c.Warps[i]) {
			return true
		}
	}
	return false
}

// beginOrdered makes the warps before globally ordered instructions ready. If other warps are ready, too, a warp before such an instruction runs
// first: the next one from CTA.NextOrdered on. So each of these warps has its turn, even if spinning warps use the whole slice.
func beginOrdered(c *machine.CTA) {
	othersReady, first := anyWarp(c, func(w *machine.Warp) bool { return w.State == machine.ReadyToRun }), -1
	for i := range c.Warps {
		n := (c.NextOrdered + i) % len(c.Warps)
		if w := &c.Warps[n]; w.State == machine.AtOrdered {
			w.State = machine.ReadyToRun
			if first < 0 {
				first = n
			}
		}
	}
	if othersReady && first >= 0 {
		c.NextWarp = first
	}
}

// runWarps is runCTA without the import of warps that wait in machine code.
func runWarps(c *machine.CTA, budget int, ordered bool) machine.CTAStatus {
	if !c.PausedInSlice {
		c.CTASlice = machine.CTASlice{InstrsLeft: budget, WarpsVisited: len(c.Warps)}
		c.Ordered = ordered
		if ordered {
			beginOrdered(c)
		}
	}
	for c.InstrsLeft > 0 || c.PausedInSlice {
		if c.Grid.Cancelled.Load() {
			return machine.BudgetSpent
		}
		if !c.PausedInSlice {
			c.WarpsVisited, c.AllIdle = 0, true
		}
		for c.WarpsVisited < len(c.Warps) && (c.InstrsLeft > 0 || c.PausedInSlice) {
			if w := &c.Warps[c.NextWarp]; w.State == machine.ReadyToRun {
				if c.AllIdle = false; !runWarp(c, w) {
					if c.PausedInSlice {
						return machine.CTAPaused
					}
					return machine.CTAFailed
				}
			}
			c.WarpsVisited++
			if c.NextWarp++; c.NextWarp == len(c.Warps) {
				c.NextWarp = 0
			}
		}
		if ended := c.Cluster == &c.OwnCluster && c.OwnCluster.Live == 0 && c.InstrsLeft > 0; !c.AllIdle && !ended {
			if c.Grid.Clustered() && !ordered && hasLiveWarps(c) {
				return machine.BudgetSpent
			}
			continue
		}
		c.ImportAll()
		waiting, cluster, group := false, false, (*machine.Warp)(nil)
		for i := range c.Warps {
			switch w := &c.Warps[i]; w.State {
			case machine.AtOrdered:
				return machine.WantsOrdered
			case machine.AtBarrier:
				waiting, cluster = true, cluster || warp.IsAtClusterBarrier(w)
			case machine.AtGroup:
				group = w
			}
		}
		if cluster && c.Grid.Clustered() {
			return machine.WaitsForCluster
		}
		if cluster {
			c.Err = clusterDeadlock(c)
			return machine.CTAFailed
		}
		if group != nil {
			c.Err = async.GroupStandstill(c, group)
			return machine.CTAFailed
		}
		if waiting {
			c.Err = warp.DeadlockTrap(c)
			return machine.CTAFailed
		}
		if c.Err = async.FinishAsync(c); c.Err != nil {
			return machine.CTAFailed
		}
		c.Done = true
		event.EmitCTA(c, probe.OnCTAEnd)
		if c.Grid.Clustered() {
			c.SharedMem.RemoveFromCluster()
		}
		if c.Stream != nil && c.Stream.StopErr != nil {
			c.Err = c.Stream.StopErr
			return machine.CTAFailed
		}
		return machine.CTAEnded
	}
	return machine.BudgetSpent
}

// hasLiveWarps reports whether a warp has not ended.
func hasLiveWarps(c *machine.CTA) bool {
	for i := range c.Warps {
		if c.Warps[i].State != machine.HasEnded {
			return true
		}
	}
	return false
}

// runWarp runs a warp for its budget. After it, the backend may switch to other warps of the CTA in the same call. It
// reports whether the CTA can continue.
func runWarp(c *machine.CTA, w *machine.Warp) bool {
	c.SliceStart = w.Count.WarpInstructions
	if !c.PausedInSlice {
		w.Budget = int(min(int64(min(nextBudget(c), c.InstrsLeft)), max(c.Grid.MaxSteps-c.SliceStart+1, 1)))
	}
	w = warp.Run(w)
	c.NextWarp = w.ID
	c.InstrsLeft -= int(w.Count.WarpInstructions - c.SliceStart)
	if c.PausedInSlice = w.PausedInBlock; c.PausedInSlice {
		return false
	}
	if c.Err = w.Err; c.Err != nil {
		return false
	}
	if w.State == machine.HasEnded {
		c.ImportAll()
		if c.BarrierUsed {
			warp.ReleaseBarrier(c)
		}
		warp.LeaveCluster(c.Cluster, w)
	}
	return true
}
