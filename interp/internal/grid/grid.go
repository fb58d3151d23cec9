package grid

// This file runs the rounds of a launch.
//
// In the parallel half of a round the CTAs in flight run in parallel. Each runs until it ends, stops before a globally
// ordered instruction, or has executed a fixed number of instructions. An instruction is globally ordered if its effect
// depends on other CTAs: an atomic on global memory whose result is used, or a volatile load. In the ordered half the CTAs
// with a warp before such an instruction run one at a time, in the order in which they began, each for a smaller number of instructions. So a kernel
// without data races always computes the same, and a CTA that waits for another CTA makes progress. A kernel without
// globally ordered instructions has parallel halves only.
//
// The number of CTAs in flight is bounded by the window. If all CTAs in flight wait, more CTAs are admitted, as far as
// memory allows: a CTA may wait for any other CTA. All CTAs of a cooperative launch are in flight from the beginning.
//
// Launches that take turns (TakeTurns) may be in flight together. After a round in which no CTA has ended, Continue returns, and
// the caller may continue with another launch of the device: the launch may wait for it.

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

	"gemu/internal/fpenv"
	"gemu/interp/internal/access"
	"gemu/interp/internal/async"
	"gemu/interp/internal/check"
	"gemu/interp/internal/event"
	"gemu/interp/internal/exchange"
	"gemu/interp/internal/lanes"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/native"
	"gemu/interp/internal/warp"
	"gemu/occupancy"
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
	maxLoopInstrs        = 1 << 20 // instructions of a CTA in loops that may be spin-waits, without a change of memory, before warp splits are time-sliced
)

// NewGrid makes the grid of a launch.
func NewGrid(l *machine.Launch) *machine.Grid {
	d := l.Device
	d.Grids++
	g := &machine.Grid{
		Kernel: l.Kernel, Device: d,
		Extents: machine.Extents{Dim: l.Grid, Block: l.Block, NumCTAs: l.Grid.Count(), Threads: l.Block.Count()},
		GridMemory: machine.GridMemory{
			SharedLen: l.Shared, SharedUnit: uint64(occupancy.LimitsOf(l.SM).Unit), DynShared: l.DynamicShared, StackWords: d.Stack / 4,
		},
		Execution: machine.Execution{
			Mode: l.Mode, VerifyProofs: l.VerifyProofs || l.Mode == machine.Check, Backend: l.Backend, Reconverge: l.Reconverge,
			Reference: l.Kernel.CheckReference, Rules: l.Rules, MaxSteps: l.MaxSteps, Seed: l.Seed, GridID: d.Grids, Cooperative: l.Cooperative,
			Stdout: d.Stdout, Workers: l.Workers, TimeLimit: l.TimeLimit, EagerEffects: l.EagerEffects, HostMayFault: d.Memory.MayFault(),
		},
	}
	_, g.MatricesInMachineCode = g.Backend.(exchange.MachineCode)
	g.CatchesFaults = g.MatricesInMachineCode && g.Mode == machine.Vector && len(l.Probes) == 0 && g.HostMayFault && native.CatchesFaults()
	if g.ClusterDim = l.Cluster; g.ClusterDim == (ptx.Dim3{}) {
		g.ClusterDim = ptx.Dim()
	}
	g.ClusterSize = g.ClusterDim.Count()
	g.Info = &probe.LaunchInfo{
		ID: d.Grids, Device: d.Number, SM: l.SM, Kernel: l.Kernel.Kernel, Module: l.Kernel.Module, Grid: l.Grid, Block: l.Block, Cluster: g.ClusterDim, WarpSize: l.WarpSize, Shared: int(l.DynamicShared),
		SharedBytes: int(l.Shared), Cooperative: l.Cooperative, Seed: l.Seed, MaxSteps: l.MaxSteps, EagerEffects: l.EagerEffects,
		Mode: l.Mode.String(), Reconverge: l.Reconverge.Policy(), Program: event.Program{K: l.Kernel}, Order: l.Order, Dispatch: l.Dispatch,
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

// noFailure is the value of Grid.LowestFailed if no CTA has failed. It is above every CTA's index.
const noFailure = math.MaxInt64

// Run executes the grid to its end. The error is a *probe.Trap or a *ptx.Unsupported, or it says that the context has
// ended. The parameter block must hold the arguments.
func Run(g *machine.Grid, ctx context.Context) error {
	err := Begin(g)
	if err == nil {
		_, err = Continue(g, ctx)
	}
	Finish(g, err)
	return err
}

// Finish is End for a launch that no saved state can restore: later launches may use its contexts.
func Finish(g *machine.Grid, err error) {
	End(g, err)
	if err == nil {
		poolIdleContexts(g)
	}
}

// PauseAt makes the launch pause before instruction number step. Instructions count from 0, in the order of events. The
// launch pauses once: the step is cleared when Continue returns.
func PauseAt(g *machine.Grid, step int64) { g.PauseStep = step }

// Steps returns the number of instructions that have begun. They are counted only if a probe receives events in one order
// (probe.Subscription.InOrder).
func Steps(g *machine.Grid) int64 { return g.Steps }

// Info describes the launch.
func Info(g *machine.Grid) *probe.LaunchInfo { return g.Info }

// Program returns the instructions of the launch.
func Program(g *machine.Grid) probe.Program { return g.Info.Program }

// AllowPause permits probes to pause the launch. It must be called before Begin.
func AllowPause(g *machine.Grid) { g.MayPause, g.Visited = true, make([]bool, len(g.Kernel.Blocks)) }

// TakeTurns makes Continue return after each round in which no CTA has ended. It must be called before Begin.
func TakeTurns(g *machine.Grid) { g.TakesTurns = true }

// Resume prepares the device to continue a launch that takes turns. The parameter block must hold the launch's arguments again.
// changed must be true if anything but the launch may have changed memory since its last turn, except the host by itself.
func Resume(g *machine.Grid, changed bool) error {
	if changed {
		g.Stall = machine.StallDetector{}
	}
	g.Stalled, g.MemoryChanged = false, false
	g.HostMayFault = g.Device.Memory.MayFault()
	if g.Device.Current == g {
		return nil
	}
	defer fpenv.UseDefault()()
	return computeConstants(g)
}

// Begin prepares the grid to run.
func Begin(g *machine.Grid) error {
	defer fpenv.UseDefault()()
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
	if g.Kernel.CancelsClusters { // such a kernel cancels clusters that have not begun: a larger window would leave fewer
		g.Window = machine.Multiprocessors
	}
	g.Window = min(g.Window, MaxInFlight(g))
	if g.Cooperative {
		g.Window = g.NumCTAs
	}
	reserve(g)
	parallel := g.Workers > 1 && g.NumCTAs > g.ClusterSize // a single worker runs the CTAs of a cluster
	g.HostAtomics, g.PauseStep = parallel || g.Device.HostGrace > 0, math.MaxInt64
	g.LowestFailed.Store(noFailure)
	return nil
}

// End ends a launch after Begin, whether it has run to its end or not. err is the error of the launch, or nil.
func End(g *machine.Grid, err error) {
	if g.Workspace != nil && !g.Workspace.Freed {
		g.Device.Memory.Free(g.Workspace)
	}
	release(g)
	lanes.CloseCTAMemory(g)
	access.TellTolerated(g)
	event.EmitGrid(g, probe.OnLaunchEnd, err)
}

// Discard ends a launch that has not begun. Probes get no event, because they have not seen its beginning.
func Discard(g *machine.Grid) { lanes.CloseCTAMemory(g) }

// Continue executes the grid until it has ended, pauses, or yields the device. The error is like that of Run.
func Continue(g *machine.Grid, ctx context.Context) (paused bool, err error) {
	defer fpenv.UseDefault()()
	g.Cancelled.Store(false)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { g.Cancelled.Store(true) })
		defer stop()
	}
	if limit := g.TimeLimit; limit > 0 {
		begun := time.Now()
		expire := func() {
			g.TimedOut.Store(true)
			g.Cancelled.Store(true)
		}
		if g.Elapsed >= limit { // a short turn can end before the function of a timer runs
			expire()
		}
		timer := time.AfterFunc(max(limit-g.Elapsed, 0), expire)
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
			// Depending on the host, CTAs after the failed CTA may have run. So counts and output end with the failed CTA.
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
		if g.TakesTurns && g.IdleRounds > 0 {
			return true, nil
		}
	}
	return false, nil
}

// kernelTrap returns a trap of the launch as a whole, at the kernel's declaration.
func kernelTrap(g *machine.Grid, kind error, format string, args ...any) *probe.Trap {
	k := g.Kernel.Kernel
	return &probe.Trap{
		Kind: kind, Msg: fmt.Sprintf("%v: %s", kind, fmt.Sprintf(format, args...)), Kernel: k.Name,
		File: g.Kernel.Module.Name, Pos: k.Pos, Line: g.Kernel.Module.Line(int(k.Pos.Line)), Grid: g.Dim, Warp: -1, Index: -1, Width: g.Kernel.Width,
	}
}

// timeLimitTrap returns the trap of a launch that has reached its time limit. It names the first live warp, and the places
// of all warps of the CTAs in flight.
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
				trap = w.Fail(g.Kernel.FirstSource(g.Kernel.Block(w.PC)), w.Mask, probe.ErrTimeLimit, "%v: the launch has run for %v; %d of %d CTAs have ended", probe.ErrTimeLimit, g.TimeLimit, g.Finished.Load(), g.NumCTAs)
			}
		}
	}
	if trap == nil { // no CTA in flight has a live warp
		return kernelTrap(g, probe.ErrTimeLimit, "the launch has run for %v; %d of %d CTAs have ended", g.TimeLimit, g.Finished.Load(), g.NumCTAs)
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

// makesProgress checks after a round whether the launch makes progress. If it does not, makesProgress takes the next
// measure: it admits more CTAs, divides time among warp splits, or waits for the host. The error is the trap of a launch
// for which no measure is left.
func makesProgress(g *machine.Grid) error {
	if g.Finished.Load() > g.EndedBefore {
		g.IdleRounds, g.Stall, g.StuckSince, g.MemoryChanged = 0, machine.StallDetector{}, time.Time{}, true
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
		reserve(g)
		g.Stall = machine.StallDetector{LoopInstrs: g.Stall.LoopInstrs}
	case stalled && g.TakesTurns:
		g.Stalled = true // the caller waits for other launches and for the host
	case stalled && waitForHost(g):
		g.Stall = machine.StallDetector{}
	case stalled:
		return Deadlock(g)
	}
	return nil
}

// waitForHost sleeps for a millisecond if the host may still change memory for a launch without progress. It reports
// whether it has slept; after Device.HostGrace it no longer does.
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
			err = kernelTrap(g, probe.ErrMismatch, "the constants of the launch: %v", r)
		}
	}()
	lanes.ComputeFixed(g)
	return nil
}

// batchesPerWorker is the number of batches of CTAs per worker in a round in which machine code may continue with the next
// CTA. More batches distribute the work more evenly; fewer batches need fewer exits from machine code.
const batchesPerWorker = 8

// parallelHalf runs every CTA in flight that can continue. It reports whether a CTA pauses, which only happens with a
// single worker.
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
		wg.Go(func() {
			defer fpenv.UseDefault()()
			work()
		})
	}
	wg.Wait()
	return false
}

// worker runs CTAs on a goroutine. After a CTA has ended, the worker uses the CTA's context for the next CTA.
type worker struct {
	g       *machine.Grid
	context *machine.CTA // the context of the last ended CTA; nil: none
}

// runFlights runs a batch of CTAs, or a cluster, in the order of the list, until a CTA fails. It reports whether a CTA
// pauses.
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

// notBegun returns the CTAs after the first of the list with which machine code may continue: the following CTAs, up to the
// first that has begun or does not have the next index.
func notBegun(g *machine.Grid, list []machine.Flight) []machine.Flight {
	n := 1
	for n < len(list) && g.NativeContinues && list[n].CTA == nil && list[n].Status != machine.CTAEnded && list[n].Index == list[0].Index+n {
		n++
	}
	return list[1:n]
}

// orderedHalf runs the CTAs that have stopped before a globally ordered instruction, one at a time. It reports whether a
// CTA pauses.
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

// advanceFlight runs a CTA for at most slice instructions. Machine code may continue with the CTAs of NextFlights in the
// same call. advanceFlight returns the last CTA that ran, the number of CTAs that ran, and whether the last CTA has ended.
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

// recordFailure records the index of a failed CTA if no CTA with a lower index has failed.
func recordFailure(g *machine.Grid, f *machine.Flight) {
	for {
		low := g.LowestFailed.Load()
		if low <= int64(f.Index) || g.LowestFailed.CompareAndSwap(low, int64(f.Index)) {
			return
		}
	}
}

// addCounts adds the counts of the CTA's warps to total.
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

// takeContext takes a context from a pool, or makes a context.
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

// maxPooledBytes is the maximum total size in bytes of the contexts that a launch leaves to later launches.
const maxPooledBytes = 16 << 20

// mayPoolContexts reports whether the launch may take contexts of earlier launches, and leave contexts to later launches.
// It may not if contexts refer to each other (clusters), have additional state (probes), or belong to saved states
// (launches that may pause).
func mayPoolContexts(g *machine.Grid) bool {
	return !g.Clustered() && !g.MayPause && len(g.Probes) == 0
}

// poolIdleContexts leaves the contexts of a launch without errors to later launches of the kernel. The garbage collector
// may free them.
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

// Counts returns the counts of all CTAs that have ended, and of the failed CTA.
func Counts(g *machine.Grid) probe.Counts {
	n := g.Count
	if g.Mode == machine.Check {
		n.Engine.FrameBytes, n.Engine.Claims = check.FrameBytes(g.Kernel.Program), check.CountClaims(g.Kernel.Program)
	}
	return n
}

// Ended returns the number of CTAs that have ended or were cancelled. It may be called at any time, from any goroutine.
func Ended(g *machine.Grid) int64 { return g.Finished.Load() }

// retireFlights removes the ended CTAs from the CTAs in flight and adds their counts to the launch. It writes the output of
// a CTA once all CTAs with lower indices have ended. CTAs after a failed CTA do not count.
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

// allFinished reports whether all listed CTAs have ended.
func allFinished(flights []machine.Flight) bool {
	return !slices.ContainsFunc(flights, func(f machine.Flight) bool { return f.Status != machine.CTAEnded })
}

// addOutput saves the output of a CTA until all CTAs with lower indices have ended.
func addOutput(g *machine.Grid, index int, text []byte) {
	if g.Output == nil {
		g.Output = map[int][]byte{}
	}
	g.Output[index] = text
}

// flushOutput writes the saved output of the CTAs with indices less than limit, in the order of indices.
func flushOutput(g *machine.Grid, limit int) {
	for _, f := range g.Flights {
		if f.CTA != nil && f.Index < limit && f.CTA.Output.Len() > 0 {
			addOutput(g, f.Index, f.CTA.Output.Bytes())
		}
	}
	if len(g.Output) == 0 {
		return
	}
	var ready []int
	for i := range g.Output {
		if i < limit {
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

// isStalled reports after a round whether the state of the launch is the same as after an earlier round, with no change of
// memory in between: then the same rounds would follow forever. It keeps a hash of one earlier state, and replaces it after
// 1, 2, 4, … rounds, so that it finds periods of any length.
//
// isStalled also counts the instructions executed while all warps are in loops that may be spin-waits
// (StallDetector.LoopInstrs).
func isStalled(s *machine.StallDetector, g *machine.Grid) bool {
	changed, readClock := false, false
	for i := range g.Flights {
		if c := g.Flights[i].CTA; c != nil {
			changed = changed || c.Changed || c.ChangedBefore
			readClock = readClock || c.ReadClock
			c.Cluster.ChangedSinceSave = c.Cluster.ChangedSinceSave || c.Changed || c.ChangedBefore || c.ReadClock
			c.Changed, c.ChangedBefore, c.ReadClock = false, false, false
		}
	}
	g.MemoryChanged = g.MemoryChanged || changed
	switch {
	case changed || !allSpin(g):
		s.LoopInstrs = 0
	case g.Kernel.HasOrdered:
		s.LoopInstrs += orderedInstrsPerCTA
	default:
		s.LoopInstrs += machine.ParallelInstrsPerCTA
	}
	if changed || readClock {
		s.RoundsToSave = 0
		return false
	}
	if s.RoundsToSave == 0 {
		s.RoundsToSave, s.Rounds, s.Seed = 1, 0, maphash.MakeSeed()
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

// eachWarp calls visit for each live warp in flight until visit returns false. It reports whether all calls have returned
// true; if a CTA in flight has no context, it returns false.
func eachWarp(g *machine.Grid, visit func(w *machine.Warp) bool) bool {
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil {
			return false
		}
		for j := range c.Warps {
			if w := &c.Warps[j]; w.State != machine.HasEnded && !visit(w) {
				return false
			}
		}
	}
	return true
}

// allSpin reports whether all live warps in flight are in loops that may be spin-waits, or wait.
func allSpin(g *machine.Grid) bool {
	return eachWarp(g, func(w *machine.Warp) bool { return warpSpins(w) })
}

// warpSpins reports whether every warp split of the warp waits or is in a loop that may be a spin-wait.
func warpSpins(w *machine.Warp) bool {
	for _, c := range w.Splits() {
		if c.Wait == nil && w.State != machine.AtGroup && !warp.MayWaitAt(w, &c) {
			return false
		}
	}
	return true
}

// fallBack makes all warps in flight divide time among their warp splits, if the reconvergence policy has this fallback for
// launches without progress. It reports whether it has done so; it has not if no warp is diverged or time was divided
// before.
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

// hashGrid hashes all state that determines the next steps, except memory: pc, registers and local memory of each thread,
// barriers with their waiting lanes, and the next warp of each CTA.
func hashGrid(g *machine.Grid, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range g.Flights {
		c := g.Flights[i].CTA
		if c == nil {
			continue
		}
		maphash.WriteComparable(&h, g.Flights[i].Index)
		maphash.WriteComparable(&h, [2]int{c.NextWarp, c.NextOrdered})
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

// Stop prints the output of the CTAs of a launch that ends between two turns.
func Stop(g *machine.Grid) { flushOutput(g, g.NumCTAs) }

// Deadlock returns the trap of a launch that can never continue, and prints the output of its CTAs in flight. notes are further
// lines of the trap.
func Deadlock(g *machine.Grid, notes ...string) error {
	flushOutput(g, g.NumCTAs)
	if len(g.Flights) == 0 {
		t := kernelTrap(g, probe.ErrKeptOut, "no CTA fits in the host memory that the other kernels in flight leave: a CTA can take %d bytes, the limit for all is %d", Footprint(g), g.Device.HostMemory)
		t.Notes = notes
		return t
	}
	kind, why := probe.ErrDeadlock, "no thread can make progress: all wait for a change of memory, and no thread can store"
	if g.Next < g.NumCTAs {
		kind = probe.ErrKeptOut
		why = fmt.Sprintf("%d CTAs in flight wait, and the other %d do not fit: a CTA can take %d bytes of host memory, the limit for all is %d", len(g.Flights), g.NumCTAs-g.Next, Footprint(g), g.Device.HostMemory)
	}
	var trapCTA *machine.CTA
	var trap *probe.Trap
	var all warp.StuckWarps
	diverged := false
	var mbarriers []string // descriptions of the awaited mbarriers
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
			mbarrier := async.AwaitedMbarrierText(w)
			if mbarrier != "" && !named[mbarrier] && len(mbarriers) < warp.MaxStuckWarps {
				named[mbarrier], mbarriers = true, append(mbarriers, fmt.Sprintf("cta %s %s", c.ID, mbarrier))
			}
			if trap == nil {
				if mbarrier != "" && kind == probe.ErrDeadlock {
					why = "the awaited phase can never complete: " + mbarrier
				}
				trapCTA, trap = c, w.Fail(g.Kernel.FirstSource(g.Kernel.Block(w.PC)), w.Mask, kind, "%v: %s", kind, why)
			}
		}
	}
	all.AddTo(trap)
	trap.Notes = slices.Concat(trap.Notes, mbarriers, notes)
	if diverged && !g.TimeSliced() {
		trap.Notes = append(trap.Notes, g.Reconverge.Advice())
	}
	event.EmitTrap(trapCTA, trap)
	return trap
}
