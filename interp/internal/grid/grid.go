package grid

// This file runs a grid: CTAs on the host's cores, with a result independent of the number of cores.
//
// The grid advances in rounds. In the parallel half of a round the CTAs in flight run in parallel, each until it ends,
// stands before a globally ordered instruction, or has executed a fixed number of instructions. An instruction is globally ordered if its effect
// depends on other CTAs: an atomic on global memory whose result is used, a volatile load. In the ordered half the CTAs
// stopped before such an instruction run one at a time, in the order of their indices, each for a smaller number of instructions. So a kernel
// without data races always computes the same, and a CTA waiting for another makes progress. Kernels without globally
// ordered instructions have parallel halves only.
//
// A bounded number of CTAs is in flight. If all of them wait for a CTA outside, more CTAs are admitted as far as memory
// allows; therefore a CTA may wait for any CTA. All CTAs of a cooperative launch are in flight from the beginning.

import (
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/internal/occupancy"
	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/check"
	"gemu/interp/internal/event"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/warp"
	"gemu/probe"
	"gemu/ptx"
)

// Sizes of the schedule, in CTAs, and in instructions per CTA (see also machine.ParallelInstrsPerCTA). They are constants and
// not tuned to the host, because the schedule must not depend on the host.
const (
	windowUnordered      = 256     // CTAs in flight of a kernel without globally ordered instructions
	windowSmallCTAs      = 4096    // maximum of CTAs in flight of such a kernel if its CTAs are small
	windowSmallBytes     = 1 << 26 // host memory that bounds the number of small CTAs, in bytes
	windowOrdered        = 32      // CTAs in flight of a kernel with globally ordered instructions
	orderedInstrsPerCTA  = 1 << 12 // instructions that a CTA may execute in the ordered half of a round
	roundsBeforeWidening = 64      // rounds in which no CTA ends, before more CTAs are admitted
	maxLoopInstrs        = 1 << 20 // instructions of a CTA in possible spin-waits, without a change of memory, before warp splits are time-sliced
)

// NewGrid makes a grid of a launch.
func NewGrid(l *machine.Launch) *machine.Grid {
	d := l.Device
	d.Grids++
	g := &machine.Grid{
		Kernel: l.Kernel, Device: d,
		Extents: machine.Extents{Dim: l.Grid, Block: l.Block, NumCTAs: l.Grid.Count(), Threads: l.Block.Count()},
		GridMemory: machine.GridMemory{
			SharedLen: l.Shared, SharedUnit: uint64(occupancy.LimitsOf(d.SM).Unit), DynShared: l.DynamicShared, StackWords: d.Stack / 4,
		},
		Execution: machine.Execution{
			Mode: l.Mode, VerifyProofs: l.VerifyProofs || l.Mode == machine.Check, Backend: l.Backend, Reconverge: l.Reconverge,
			Reference: l.Kernel.CheckReference, Rules: l.Rules, MaxSteps: l.MaxSteps, Seed: l.Seed, GridID: d.Grids, Cooperative: l.Cooperative,
			Stdout: d.Stdout, Workers: d.Workers, EagerEffects: l.EagerEffects, HostMayFault: d.Memory.MayFault(),
		},
	}
	if g.ClusterDim = l.Cluster; g.ClusterDim == (ptx.Dim3{}) {
		g.ClusterDim = ptx.Dim()
	}
	g.ClusterSize = g.ClusterDim.Count()
	g.Info = &probe.LaunchInfo{
		ID: d.Grids, Device: d.Number, SM: d.SM, Kernel: l.Kernel.Kernel, Module: l.Kernel.Module, Grid: l.Grid, Block: l.Block, Cluster: g.ClusterDim, WarpSize: l.WarpSize, Shared: int(l.DynamicShared),
		SharedBytes: int(l.Shared), Cooperative: l.Cooperative, Seed: l.Seed, MaxSteps: l.MaxSteps, EagerEffects: l.EagerEffects,
		Mode: l.Mode.String(), Reconverge: l.Reconverge.Policy(), Program: event.Program{K: l.Kernel}, Order: l.Order,
	}
	for _, p := range l.Probes {
		w := machine.ProbeState{Probe: p, Subscription: p.Subscription()}
		if w.Subscription.Events&machine.OperationKinds != 0 {
			event.DivideOperations(g.Reference)
		}
		if w.Subscription.InOrder {
			g.Workers, g.InOrder = 1, true
		}
		g.Probes = append(g.Probes, w)
	}
	if len(g.Probes) > 0 {
		g.Kernel.Accesses() // computed now, before several CTAs need them at the same time
		g.Info.Parameters = d.Memory.Parameters()
		g.Info.Pointers = d.Memory.Pointers(l.Kernel.Module.AddressSize / 8)
	}
	return g
}

// noFailure is above the index of every CTA.
const noFailure = math.MaxInt64

// Run executes the grid to its end. The error is a *Trap, a *ptx.Unsupported, or says that
// the context has ended. The arguments must be in the parameter block.
func Run(g *machine.Grid, ctx context.Context) error {
	err := Begin(g)
	if err == nil {
		_, err = Continue(g, ctx)
	}
	End(g, err)
	if err == nil {
		poolIdleContexts(g)
	}
	return err
}

// PauseAt makes the launch pause before instruction number step, counted from 0 in the order of events. The launch
// pauses once: Continue forgets the step when it returns.
func PauseAt(g *machine.Grid, step int64) { g.PauseStep = step }

// Steps returns the number of instructions begun; counted only if probes receive events in one order.
func Steps(g *machine.Grid) int64 { return g.Steps }

// Info describes the launch.
func Info(g *machine.Grid) *probe.LaunchInfo { return g.Info }

// Program returns the launch's instructions.
func Program(g *machine.Grid) probe.Program { return g.Info.Program }

// AllowPause lets probes pause the launch.
func AllowPause(g *machine.Grid) { g.MayPause, g.Visited = true, make([]bool, len(g.Kernel.Blocks)) }

// Begin prepares the grid to run.
func Begin(g *machine.Grid) error {
	event.EmitGrid(g, probe.OnLaunch, nil)
	if g.Cooperative {
		g.Workspace = g.Device.Memory.OpenWorkspace()
	}
	if err := computeConstants(g); err != nil {
		return err
	}
	g.PoolContexts = mayPoolContexts(g)
	if g.NativeContinues = exchange.MayRunNextCTAsInNative(g); g.NativeContinues {
		g.ZeroRows = g.Kernel.ZeroRows()
	}
	g.Window = max(windowUnordered, min(windowSmallCTAs, int(windowSmallBytes/Footprint(g))))
	if g.Kernel.HasOrdered {
		g.Window = windowOrdered
	}
	if g.Kernel.CancelsClusters { // clusters in flight can no longer be cancelled
		g.Window = machine.Multiprocessors
	}
	g.Window = min(g.Window, MaxInFlight(g))
	if g.Cooperative {
		g.Window = g.NumCTAs
	}
	g.HostAtomics, g.PauseStep = g.Workers > 1 || g.Device.HostGrace > 0, math.MaxInt64
	g.LowestFailed.Store(noFailure)
	return nil
}

// End ends a begun launch, at any point; err is its error, or nil.
func End(g *machine.Grid, err error) {
	if g.Workspace != nil && !g.Workspace.Freed {
		g.Device.Memory.Free(g.Workspace)
	}
	lanes.CloseCTAMemory(g)
	access.TellTolerated(g)
	event.EmitGrid(g, probe.OnLaunchEnd, err)
}

// Continue executes the grid until it has ended, or pauses. The error is as for Run.
func Continue(g *machine.Grid, ctx context.Context) (paused bool, err error) {
	g.Cancelled.Store(false)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { g.Cancelled.Store(true) })
		defer stop()
	}
	if limit := g.Device.TimeLimit; limit > 0 {
		begun := time.Now()
		timer := time.AfterFunc(max(limit-g.Elapsed, 0), func() {
			g.TimedOut.Store(true)
			g.Cancelled.Store(true)
		})
		defer func() {
			timer.Stop()
			g.Elapsed += time.Since(begun)
		}()
	}
	defer func() { g.PauseStep = math.MaxInt64 }()
	g.PauseRequested = false
	event.ReselectEvents(g)
	for g.Phase != machine.BetweenRounds || g.Next < g.NumCTAs || len(g.Flights) > 0 {
		if runRound(g) {
			return true, nil
		}
		retireFlights(g)
		if ctx.Err() != nil {
			flushOutput(g, g.NumCTAs)
			return false, fmt.Errorf("kernel %s stopped: %w", g.Kernel.Kernel.Name, context.Cause(ctx))
		}
		if low := int(g.LowestFailed.Load()); low < g.NumCTAs {
			// CTAs after it may or may not have run: only CTAs before it count.
			i := slices.IndexFunc(g.Flights, func(f machine.Flight) bool { return f.Index == low })
			addCounts(g.Flights[i].CTA, &g.Count)
			flushOutput(g, low+1)
			return false, g.Flights[i].CTA.Err
		}
		if g.TimedOut.Load() && (g.Next < g.NumCTAs || len(g.Flights) > 0) {
			flushOutput(g, g.NumCTAs)
			return false, timeLimitTrap(g)
		}
		if err := makesProgress(g); err != nil {
			return false, err
		}
	}
	return false, nil
}

// timeLimitTrap returns the trap of a launch at its time limit. It names the first live warp, and the places of the warps
// of the CTAs in flight.
func timeLimitTrap(g *machine.Grid) error {
	var all warp.StuckWarps
	var trap *probe.Trap
	var trapCTA *machine.CTA
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil {
			continue
		}
		for j := range c.Warps {
			w := &c.Warps[j]
			if w.State == machine.HasEnded {
				continue
			}
			all.Add(w)
			if trap == nil {
				trapCTA = c
				trap = w.Fail(g.Kernel.FirstSource(g.Kernel.Block(w.PC)), w.Mask, probe.ErrTimeLimit, "%v: the launch has run for %v; %d of %d CTAs have ended", probe.ErrTimeLimit, g.Device.TimeLimit, g.Finished.Load(), g.NumCTAs)
			}
		}
	}
	if trap == nil { // the limit was reached between two CTAs
		k := g.Kernel.Kernel
		return &probe.Trap{
			Kind: probe.ErrTimeLimit, Msg: fmt.Sprintf("%v: the launch has run for %v; %d of %d CTAs have ended", probe.ErrTimeLimit, g.Device.TimeLimit, g.Finished.Load(), g.NumCTAs), Kernel: k.Name,
			File: g.Kernel.Module.Name, Pos: k.Pos, Line: g.Kernel.Module.Line(int(k.Pos.Line)), Grid: g.Dim, Warp: -1, Index: -1, Width: g.Kernel.Width,
		}
	}
	all.AddTo(trap)
	event.EmitTrap(trapCTA, trap)
	return trap
}

// runRound executes a round, or the remainder of a round, and reports whether the launch pauses in it.
func runRound(g *machine.Grid) (paused bool) {
	if g.Phase == machine.BetweenRounds {
		g.Flights = slices.Grow(g.Flights, max(0, min(g.Window, g.NumCTAs-g.Next+len(g.Flights))-len(g.Flights)))
		for len(g.Flights)+g.ClusterSize <= max(g.Window, g.ClusterSize) && g.Next < g.NumCTAs {
			for range g.ClusterSize {
				g.Flights = append(g.Flights, machine.Flight{Index: g.Next, Status: machine.BudgetSpent})
				g.Next++
			}
		}
		g.EndedBefore = g.Finished.Load()
		g.Phase, g.NextFlight = machine.ParallelHalf, 0
	}
	if g.Phase == machine.ParallelHalf {
		if parallelHalf(g) {
			return true
		}
		g.Phase, g.NextFlight = machine.OrderedHalf, 0
	}
	if g.Kernel.HasOrdered && g.LowestFailed.Load() == noFailure && orderedHalf(g) {
		return true
	}
	g.Phase = machine.BetweenRounds
	return false
}

// makesProgress checks that the launch makes progress, and otherwise takes the next measure: more CTAs, time slices,
// waiting for the host. The error is the trap of a stuck launch.
func makesProgress(g *machine.Grid) error {
	if g.Finished.Load() > g.EndedBefore {
		g.IdleRounds, g.Stall, g.StuckSince = 0, machine.StallDetector{}, time.Time{}
		return nil
	}
	g.IdleRounds++
	maxWindow := MaxInFlight(g)
	stalled := isStalled(&g.Stall, g)
	canWiden := g.Next < g.NumCTAs && g.Window < maxWindow
	switch {
	case (stalled || g.Stall.LoopInstrs >= maxLoopInstrs) && (!canWiden || len(g.Flights) >= machine.Resident(g.Threads, int(g.SharedLen))) && fallBack(g):
		g.Stall = machine.StallDetector{}
	case canWiden && (stalled || g.IdleRounds%roundsBeforeWidening == 0):
		g.Window = min(g.Window+windowOrdered, maxWindow)
		g.Stall = machine.StallDetector{LoopInstrs: g.Stall.LoopInstrs}
	case stalled && waitForHost(g):
		g.Stall = machine.StallDetector{}
	case stalled:
		flushOutput(g, g.NumCTAs)
		return deadlockTrap(g)
	}
	return nil
}

// waitForHost waits briefly if a launch without progress may still wait for the host to change memory, and reports
// whether it may.
func waitForHost(g *machine.Grid) bool {
	if g.StuckSince.IsZero() {
		g.StuckSince = time.Now()
	}
	if time.Since(g.StuckSince) >= g.Device.HostGrace {
		return false
	}
	time.Sleep(time.Millisecond)
	return true
}

// computeConstants computes the constants of the launch. A failure in check mode is a fault of the compact engine.
func computeConstants(g *machine.Grid) (err error) {
	defer func() {
		if g.Mode != machine.Check {
			return
		}
		if r := recover(); r != nil {
			k := g.Kernel.Kernel
			err = &probe.Trap{
				Kind: probe.ErrMismatch, Msg: fmt.Sprintf("%v: the constants of the launch: %v", probe.ErrMismatch, r), Kernel: k.Name,
				File: g.Kernel.Module.Name, Pos: k.Pos, Line: g.Kernel.Module.Line(int(k.Pos.Line)), Grid: g.Dim, Warp: -1, Index: -1, Width: g.Kernel.Width,
			}
		}
	}()
	lanes.ComputeFixed(g)
	return nil
}

// batchesPerWorker is the number of batches of CTAs per worker in a round in which machine code may continue with the
// next CTA. More batches share the work better.
const batchesPerWorker = 8

// parallelHalf runs every ready CTA in flight. It reports whether a CTA pauses; CTAs pause only with one worker.
func parallelHalf(g *machine.Grid) (paused bool) {
	workers := max(1, min(g.Workers, len(g.Flights)/g.ClusterSize))
	batch := g.ClusterSize
	if g.NativeContinues {
		if batch = len(g.Flights); workers > 1 {
			batch = max(1, batch/(batchesPerWorker*workers))
		}
	}
	var next atomic.Int64
	next.Store(int64(g.NextFlight))
	work := func() {
		k := worker{g: g}
		defer k.finish()
		if enter := g.Device.EnterWorker; enter != nil && workers > 1 && len(g.Probes) > 0 {
			defer enter()()
		}
		for {
			i := int(next.Add(int64(batch))) - batch
			if i >= len(g.Flights) {
				return
			}
			if k.runFlights(g.Flights[i:min(i+batch, len(g.Flights))]) {
				g.NextFlight, paused = i, true
				return
			}
		}
	}
	if workers == 1 {
		work()
		return paused
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(work)
	}
	wg.Wait()
	return false
}

// worker runs CTAs. It keeps the context of an ended CTA for the next CTA.
type worker struct {
	g       *machine.Grid
	context *machine.CTA
}

// runFlights runs a batch of CTAs, or a cluster, in order, until a CTA fails. It reports whether a CTA pauses.
func (k *worker) runFlights(list []machine.Flight) (paused bool) {
	g := k.g
	for len(list) > 0 && int64(list[0].Index) < g.LowestFailed.Load() {
		if g.Clustered() {
			return parallelCluster(g, list)
		}
		f := &list[0]
		if f.CTA == nil {
			if f.CTA = k.context; f.CTA == nil {
				f.CTA = takeContext(g)
			}
			k.context = nil
			startCTA(f.CTA, f.Index)
		}
		f.CTA.NextFlights = notBegun(g, list)
		f, n, ended := advanceFlight(g, f, machine.ParallelInstrsPerCTA, false)
		if ended && k.context == nil {
			k.context, f.CTA = f.CTA, nil
		}
		if f.Status == machine.CTAPaused {
			return true
		}
		list = list[n:]
	}
	return false
}

// finish returns the worker's context to the grid.
func (k *worker) finish() {
	if k.context != nil {
		putContext(k.g, k.context)
	}
}

// notBegun returns the unbegun CTAs after the first, as far as machine code may continue with them.
func notBegun(g *machine.Grid, list []machine.Flight) []machine.Flight {
	n := 1
	for n < len(list) && g.NativeContinues && list[n].CTA == nil && list[n].Status != machine.CTAEnded && list[n].Index == list[0].Index+n {
		n++
	}
	return list[1:n]
}

// orderedHalf runs the CTAs stopped before a globally ordered instruction, one at a time. It reports whether a CTA pauses.
func orderedHalf(g *machine.Grid) (paused bool) {
	for ; g.NextFlight < len(g.Flights); g.NextFlight++ {
		f := &g.Flights[g.NextFlight]
		if f.Status != machine.WantsOrdered && f.Status != machine.CTAPaused {
			continue
		}
		if advanceFlight(g, f, orderedInstrsPerCTA, true); f.Status == machine.CTAPaused {
			return true
		}
		if g.LowestFailed.Load() < noFailure {
			break
		}
	}
	return false
}

// advanceFlight runs a CTA for at most slice instructions, and the next CTAs with which machine code continues. It returns the last CTA,
// their number, and whether the last has ended.
func advanceFlight(g *machine.Grid, f *machine.Flight, slice int, ordered bool) (last *machine.Flight, n int, ended bool) {
	c := f.CTA
	c.Cluster.ChangedSinceSave = true
	var status machine.CTAStatus
	if g.HostMayFault {
		status = runGuarded(c, slice, ordered)
	} else {
		status = runCTA(c, slice, ordered)
	}
	passed := c.CompletedCTAs
	if passed > 0 {
		f.Count.Add(&c.CompletedCounts)
		f.CTA, f.Status = nil, machine.CTAEnded
		for i := range c.NextFlights[:passed-1] {
			c.NextFlights[i].Status = machine.CTAEnded
		}
		f = &c.NextFlights[passed-1]
		f.CTA = c
	}
	c.NextFlights, c.CompletedCTAs, c.CompletedCounts = nil, 0, probe.Counts{}
	switch f.Status = status; status {
	case machine.CTAEnded:
		g.Finished.Add(1)
		addCounts(f.CTA, &f.Count)
		f.Tolerated = slices.Clone(f.CTA.Tolerated)
		if f.CTA.Output.Len() > 0 {
			g.Mutex.Lock()
			addOutput(g, f.Index, slices.Clone(f.CTA.Output.Bytes()))
			g.Mutex.Unlock()
		}
		return f, 1 + passed, true
	case machine.CTAFailed:
		if t, ok := f.CTA.Err.(*probe.Trap); ok {
			event.EmitTrap(f.CTA, t)
		}
		recordFailure(g, f)
	}
	return f, 1 + passed, false
}

// recordFailure records the failure of a CTA.
func recordFailure(g *machine.Grid, f *machine.Flight) {
	for {
		low := g.LowestFailed.Load()
		if low <= int64(f.Index) || g.LowestFailed.CompareAndSwap(low, int64(f.Index)) {
			return
		}
	}
}

// addCounts adds the counts of the CTA's warps.
func addCounts(c *machine.CTA, total *probe.Counts) {
	for i := range c.Warps {
		if n := &c.Warps[i].Count; c.Grid.Mode == machine.Check {
			total.Add(n)
		} else {
			total.AddExecuted(n)
		}
	}
	exchange.Entered.Add(c.Native.EnterCount)
	c.Native.EnterCount = 0
}

// takeContext takes a CTA context from the pool, or makes a context.
func takeContext(g *machine.Grid) *machine.CTA {
	g.Mutex.Lock()
	if n := len(g.Pool); n > 0 {
		c := g.Pool[n-1]
		g.Pool = g.Pool[:n-1]
		g.Mutex.Unlock()
		return c
	}
	g.Mutex.Unlock()
	if g.PoolContexts {
		if c, ok := g.Kernel.ContextPool.Get().(*machine.CTA); ok && c.Shape == contextShapeOf(g) {
			c.Grid = g
			return c
		}
	}
	return newCTA(g)
}

func contextShapeOf(g *machine.Grid) machine.ContextShape {
	return machine.ContextShape{Mode: g.Mode, Reconverge: g.Reconverge, Rules: g.Rules, Block: g.Block, Shared: g.SharedLen, Native: g.Mode == machine.Check && usesNativeFuncs(g)}
}

// maxPooledBytes is the maximum size in bytes of the contexts left in the pool by a launch.
const maxPooledBytes = 16 << 20

// mayPoolContexts reports whether contexts may be shared between launches. Contexts of clusters refer to each other,
// contexts for probes have more state, and contexts of launches that may pause belong to saved states.
func mayPoolContexts(g *machine.Grid) bool {
	return !g.Clustered() && !g.MayPause && len(g.Probes) == 0
}

// poolIdleContexts leaves the contexts of a launch without errors to later launches of the kernel, until a garbage
// collection.
func poolIdleContexts(g *machine.Grid) {
	if !g.PoolContexts {
		return
	}
	for _, c := range g.Pool[:min(len(g.Pool), int(maxPooledBytes/Footprint(g)))] {
		resetCTA(c)
		g.Kernel.ContextPool.Put(c)
	}
	g.Pool = nil
}

func putContext(g *machine.Grid, c *machine.CTA) {
	g.Mutex.Lock()
	g.Pool = append(g.Pool, c)
	g.Mutex.Unlock()
}

// Counts returns the counts of the ended or failed CTAs.
func Counts(g *machine.Grid) probe.Counts {
	n := g.Count
	if g.Mode == machine.Check {
		n.Engine.FrameBytes, n.Engine.Claims = check.FrameBytes(g.Kernel.Program), check.CountClaims(g.Kernel.Program)
	}
	return n
}

// Ended returns the number of CTAs that have ended or will never begin. It may be called at any time.
func Ended(g *machine.Grid) int64 { return g.Finished.Load() }

// retireFlights removes the ended CTAs, adds their counts, and writes the output of a CTA once all CTAs before it have
// ended. CTAs after a failed one do not count.
func retireFlights(g *machine.Grid) {
	keep := g.Flights[:0]
	for i, f := range g.Flights {
		if first := i - i%g.ClusterSize; f.Status != machine.CTAEnded || g.Clustered() && !allFinished(g.Flights[first:first+g.ClusterSize]) {
			keep = append(keep, f)
			continue
		}
		if int64(f.Index) < g.LowestFailed.Load() {
			g.Count.Add(&f.Count)
			g.Tolerated.Merge(f.Tolerated)
		}
		if f.CTA != nil {
			g.Pool = append(g.Pool, f.CTA)
		}
	}
	clear(g.Flights[len(keep):])
	g.Flights = keep
	low := g.Next
	if len(g.Flights) > 0 {
		low = g.Flights[0].Index
	}
	flushOutput(g, low)
}

// allFinished reports whether all CTAs of a list have ended.
func allFinished(flights []machine.Flight) bool {
	return !slices.ContainsFunc(flights, func(f machine.Flight) bool { return f.Status != machine.CTAEnded })
}

// addOutput keeps the output of a CTA until all CTAs before it have ended.
func addOutput(g *machine.Grid, index int, text []byte) {
	if g.Output == nil {
		g.Output = map[int][]byte{}
	}
	g.Output[index] = text
}

// flushOutput writes the output of the CTAs below an index, in order.
func flushOutput(g *machine.Grid, below int) {
	for _, f := range g.Flights {
		if f.CTA != nil && f.Index < below && f.CTA.Output.Len() > 0 {
			addOutput(g, f.Index, f.CTA.Output.Bytes())
		}
	}
	if len(g.Output) == 0 {
		return
	}
	var ready []int
	for i := range g.Output {
		if i < below {
			ready = append(ready, i)
		}
	}
	slices.Sort(ready)
	for _, i := range ready {
		if g.Stdout != nil {
			g.Stdout.Write(g.Output[i])
		}
		delete(g.Output, i)
	}
}

func isStalled(s *machine.StallDetector, g *machine.Grid) bool {
	changed, timed := false, false
	for i := range g.Flights {
		if c := g.Flights[i].CTA; c != nil {
			changed = changed || c.Changed || c.ChangedBefore
			timed = timed || c.ReadClock
			c.Cluster.ChangedSinceSave = c.Cluster.ChangedSinceSave || c.Changed || c.ChangedBefore || c.ReadClock
			c.Changed, c.ChangedBefore, c.ReadClock = false, false, false
		}
	}
	switch {
	case changed || !allSpin(g):
		s.LoopInstrs = 0
	case g.Kernel.HasOrdered:
		s.LoopInstrs += orderedInstrsPerCTA
	default:
		s.LoopInstrs += machine.ParallelInstrsPerCTA
	}
	if changed || timed {
		s.RoundsToSave = 0
		return false
	}
	if s.RoundsToSave == 0 {
		s.Seed, s.RoundsToSave, s.Rounds = maphash.MakeSeed(), 1, 0
		s.SavedHash = hashGrid(g, s.Seed)
		return false
	}
	now := hashGrid(g, s.Seed)
	if now == s.SavedHash {
		return true
	}
	if s.Rounds++; s.Rounds == s.RoundsToSave {
		s.SavedHash, s.RoundsToSave, s.Rounds = now, 2*s.RoundsToSave, 0
	}
	return false
}

// eachWarp calls f for the live warps in flight until f returns false. It reports whether it has called f for all.
func eachWarp(g *machine.Grid, f func(w *machine.Warp) bool) bool {
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil {
			return false
		}
		for j := range c.Warps {
			if w := &c.Warps[j]; w.State != machine.HasEnded && !f(w) {
				return false
			}
		}
	}
	return true
}

// allSpin reports whether all running warps are in loops that may be spin-waits.
func allSpin(g *machine.Grid) bool {
	return eachWarp(g, func(w *machine.Warp) bool { return warpSpins(w) })
}

func warpSpins(w *machine.Warp) bool {
	for _, c := range w.Splits() {
		if c.Wait == nil && w.State != machine.AtGroup && !warp.MayWaitAt(w, &c) {
			return false
		}
	}
	return true
}

// fallBack switches to time slices for warp splits, if the policy does so when a launch makes no progress. It reports
// whether it did and some lanes could run.
func fallBack(g *machine.Grid) bool {
	if !g.Reconverge.FallBackToTimeSlices || g.ForcedTimeSlices {
		return false
	}
	if eachWarp(g, func(w *machine.Warp) bool { return !w.Diverged() }) {
		return false
	}
	g.ForcedTimeSlices = true
	for i := range g.Flights {
		g.Flights[i].CTA.Cluster.ChangedSinceSave = true
		for j := range g.Flights[i].CTA.Warps {
			g.Flights[i].CTA.Warps[j].TimeSliced = true
		}
	}
	return true
}

// hashGrid hashes all state that determines the next steps, except memory: place, registers and local memory of each
// thread, waits at barriers, and the next warp of each CTA.
func hashGrid(g *machine.Grid, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil {
			continue
		}
		maphash.WriteComparable(&h, g.Flights[i].Index)
		maphash.WriteComparable(&h, c.NextWarp)
		maphash.WriteComparable(&h, len(c.ReleasedBlocks))
		maphash.WriteComparable(&h, c.Cluster.Missing)
		for i := range c.Barriers {
			b := &c.Barriers[i]
			maphash.WriteComparable(&h, [3]int{b.Arrived, b.Expected, b.Popc})
			maphash.WriteComparable(&h, [2]bool{b.AllTrue, b.AnyTrue})
		}
		for i := range c.Warps {
			w := &c.Warps[i]
			maphash.WriteComparable(&h, w.State)
			if w.State == machine.HasEnded {
				continue
			}
			warp.HashWarp(w, &h)
			maphash.WriteComparable(&h, [2]bool{w.ClusterArrival > 0, w.ClusterArrival == 1+c.Cluster.Completed})
			n := warp.WindowSize(w)
			for j := range w.Files {
				w.Files[j].WriteTo(&h, n)
				h.Write(rawBytes(w.Local[j]))
			}
		}
	}
	return h.Sum64()
}

// rawBytes views a slice of numbers as bytes.
func rawBytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// deadlockTrap returns the trap of a deadlocked grid.
func deadlockTrap(g *machine.Grid) error {
	kind, why := probe.ErrDeadlock, "no thread can make progress: all wait for a change of memory, and no thread can store"
	if g.Next < g.NumCTAs {
		kind = probe.ErrKeptOut
		why = fmt.Sprintf("%d CTAs in flight wait, and the other %d do not fit: a CTA can take %d bytes of host memory, the limit for all is %d", len(g.Flights), g.NumCTAs-g.Next, Footprint(g), g.Device.HostMemory)
	}
	var trapCTA *machine.CTA
	var trap *probe.Trap
	var all warp.StuckWarps
	diverged := false
	var awaited []string // mbarriers
	named := map[string]bool{}
	for i := range g.Flights {
		c := g.Flights[i].CTA
		for j := range c.Warps {
			w := &c.Warps[j]
			if w.State == machine.HasEnded {
				continue
			}
			diverged = diverged || w.Diverged()
			all.Add(w)
			what := async.AwaitedMbarrierText(w)
			if what != "" && !named[what] && len(awaited) < warp.MaxStuckWarps {
				named[what], awaited = true, append(awaited, fmt.Sprintf("cta %s %s", c.ID, what))
			}
			if trap == nil {
				if what != "" && kind == probe.ErrDeadlock {
					why = "the awaited phase can never complete: " + what
				}
				trapCTA, trap = c, w.Fail(g.Kernel.FirstSource(g.Kernel.Block(w.PC)), w.Mask, kind, "%v: %s", kind, why)
			}
		}
	}
	all.AddTo(trap)
	trap.Notes = append(trap.Notes, awaited...)
	if diverged && !g.TimeSliced() {
		trap.Notes = append(trap.Notes, g.Reconverge.Advice())
	}
	event.EmitTrap(trapCTA, trap)
	return trap
}
