package simt

// This file runs a grid: CTAs on the host's cores, with a result that does not
// depend on how many there are.
//
// The grid advances in rounds. In the first half of a round the CTAs in flight
// run in parallel, each until it ends, or stands before a *visible* instruction
// (one whose effect lets it see what other CTAs did: an atomic on global memory
// whose result is used, a volatile load …), or has used up its slice. In the
// second half the CTAs that stand before a globally ordered instruction run one at a
// time, in the order of their index, each for a short slice. A kernel without
// data races thus always computes the same, and a CTA that waits for another
// makes progress. Kernels without globally ordered instructions only have first halves.
//
// A bounded number of CTAs is in flight. If they all wait for one that is not,
// more are admitted, so that any CTA may wait for any other, as far as the memory for
// them goes. Those of a cooperative launch all are from the beginning.

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gemu/affinetrack"
	"gemu/internal/occupancy"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
)

// Sizes of the schedule, in CTAs and instructions per CTA. They are constants,
// not tuned to the host, because the schedule must not depend on it.
const (
	windowUnordered      = 256     // CTAs in flight of a kernel without globally ordered instructions,
	windowSmallCTAs      = 4096    // … or as many more,
	windowSmallBytes     = 1 << 26 // … as these bytes are enough for
	windowOrdered        = 32      // CTAs in flight of one with
	sliceParallel        = 1 << 18 // first half
	sliceOrdered         = 1 << 12 // second half
	roundsBeforeWidening = 64      // rounds without a CTA that ends before more are admitted
	maxLoopInstrs        = 1 << 20 // of a CTA in loops that may wait, with no change of memory, before warp splits take turns
)

// Grid is a launch under way.
type Grid struct {
	kernel      *Kernel
	dev         *Device
	dim         ptx.Dim3 // CTAs
	clusterDim  ptx.Dim3 // CTAs of a cluster
	clusterSize int      // … how many
	block       ptx.Dim3 // threads of a CTA
	numCTAs     int      // CTAs

	threads      int // of a CTA
	sharedLen    uint64
	sharedUnit   uint64 // bytes in multiples of which the device allocates it
	dynShared    uint64
	stackWords   int
	maxSteps     int64
	seed         uint64 // of schedules; 0: the usual one
	gridID       uint64
	cooperative  bool            // all CTAs are in flight at once: a cooperative launch
	workspace    *mem.Allocation // of one; nil otherwise
	ctaMemory    *mem.Allocation // the slices of all CTAs; nil if the kernel asks for none
	stdout       io.Writer
	workers      int
	inOrder      bool // because a probe wants events in one order
	eagerEffects bool // asynchronous effects happen where they are issued
	hostAtomics  bool // CTAs run in parallel, or others than the launch change memory: atomics on global memory must be the host's
	hostMayFault bool // there is memory of the host whose accesses may fault

	mode         Mode
	verifyProofs bool // it looks whether addresses are as is proved of them
	backend      Backend
	reconverge   *Reconverger
	fallenBack   bool       // warp splits take turns because the launch would not go on otherwise
	ref          *reference // of check mode, and for probes that are told of operations
	rules        *affinetrack.Table

	info             *probe.LaunchInfo
	probes           []probeState
	mayPause         bool       // probes may pause the launch
	pauseRequested   bool       // one has asked for it
	steps            int64      // of a launch in order that is watched: instructions that have begun; see Event.Step
	pauseStep        int64      // before which of them it pauses
	poolContexts     bool       // contexts may be those of other launches
	nextCTAsInNative bool       // machine code may go from a CTA to the next
	zeroRows         []code.Row // … whose warps begin with zeros in these rows
	visited          []bool     // of a launch that may pause, by index: blocks that were begun; see Visited
	lastState        *State     // that was saved or restored last
	stateBytes       uint64     // bytes of CTAs in states

	cancelled    atomic.Bool
	timedOut     atomic.Bool   // the time limit was reached
	elapsed      time.Duration // so far, without pauses; counted if there is a time limit
	_            [64]byte      // what all workers write in a line of its own
	finished     atomic.Int64  // CTAs
	_            [64]byte
	lowestFailed atomic.Int64 // lowest index of a CTA that failed

	mu      sync.Mutex
	pool    []*cta
	count   Counts
	flights []flight // by index
	next    int      // index of the next CTA to be admitted
	schedule
	output    map[int][]byte
	tolerated toleratedFaults // of CTAs that have ended, and are in no flight any more
}

// flight is a CTA in flight. Those of a cluster are one behind the other, by rank.
type flight struct {
	index  int  // in the order in which CTAs begin: without clusters, the linear one
	cta    *cta // nil before it starts and after it has ended
	status ctaStatus
	count  Counts // once it has ended

	tolerated toleratedFaults // once it has ended

	_ [64 - (6*8+unsafe.Sizeof(Counts{}))%64]byte // neighbours are other workers', and have lines of their own
}

// NewGrid makes a grid of a launch.
func NewGrid(l *Launch) *Grid {
	d := l.Device
	d.grids++
	g := &Grid{
		kernel: l.Kernel, dev: d, dim: l.Grid, block: l.Block, numCTAs: l.Grid.Count(), threads: l.Block.Count(),
		sharedLen: l.Shared, sharedUnit: uint64(occupancy.LimitsOf(d.SM).Unit), dynShared: l.DynamicShared, stackWords: d.Stack / 4, maxSteps: l.MaxSteps, seed: l.Seed, cooperative: l.Cooperative,
		gridID: d.grids, stdout: d.Stdout, workers: d.Workers, hostMayFault: d.Memory.MayFault(),
		mode: l.Mode, verifyProofs: l.VerifyProofs || l.Mode == Check, eagerEffects: l.EagerEffects, backend: l.Backend, reconverge: l.Reconverge, ref: l.Kernel.ref, rules: l.Rules,
	}
	if g.clusterDim = l.Cluster; g.clusterDim == (ptx.Dim3{}) {
		g.clusterDim = ptx.Dim()
	}
	g.clusterSize = g.clusterDim.Count()
	g.info = &probe.LaunchInfo{
		ID: d.grids, Kernel: l.Kernel.kernel, Module: l.Kernel.module, Grid: l.Grid, Block: l.Block, Cluster: g.clusterDim, WarpSize: l.WarpSize, Shared: int(l.DynamicShared),
		Mode: l.Mode.String(), Reconverge: l.Reconverge.Policy(), Program: program{l.Kernel}, Order: l.Order,
	}
	for _, p := range l.Probes {
		w := probeState{p, p.Subscription()}
		if w.subscription.Events&operationKinds != 0 {
			g.ref.divide()
		}
		if w.subscription.InOrder {
			g.workers, g.inOrder = 1, true
		}
		g.probes = append(g.probes, w)
	}
	if len(g.probes) > 0 {
		g.kernel.accesses() // now, for several CTAs will want to know
		g.info.Pointers = d.Memory.Pointers(l.Kernel.module.AddressSize / 8)
	}
	return g
}

// clustered reports whether clusters are of more than one CTA.
func (g *Grid) clustered() bool { return g.clusterSize > 1 }

// clusters is the grid of clusters.
func (g *Grid) clusters() ptx.Dim3 {
	return ptx.Dim3{X: g.dim.X / g.clusterDim.X, Y: g.dim.Y / g.clusterDim.Y, Z: g.dim.Z / g.clusterDim.Z}
}

// ctaID is the index of the CTA that is somewhere in the order in which they begin: cluster by
// cluster, by rank.
func (g *Grid) ctaID(order int) ptx.Dim3 {
	k, c := g.clusters().At(order/g.clusterSize), g.clusterDim.At(order%g.clusterSize)
	return ptx.Dim3{X: k.X*g.clusterDim.X + c.X, Y: k.Y*g.clusterDim.Y + c.Y, Z: k.Z*g.clusterDim.Z + c.Z}
}

// schedule is where a launch is in its rounds.
type schedule struct {
	window      int           // CTAs that may be in flight
	phase       phase         // of the round
	nextFlight  int           // in a half of a round: the flight that comes next
	endedBefore int64         // CTAs that had ended when the round began
	idleRounds  int           // rounds without one that ended
	stall       stallDetector // in such rounds
	stuckSince  time.Time     // when it was first seen not to get on, since one has ended
}

// phase is a part of a round.
type phase uint8

const (
	betweenRounds phase = iota
	inParallel
	inOrder
)

// noFailure is above the index of any CTA that may have failed.
const noFailure = math.MaxInt64

// Run executes the grid to its end. The error is a *Trap, a *ptx.Unsupported, or says that
// the context has ended. The arguments must be in the parameter block.
func (g *Grid) Run(ctx context.Context) error {
	err := g.Begin()
	if err == nil {
		_, err = g.Continue(ctx)
	}
	g.End(err)
	if err == nil {
		g.poolIdleContexts()
	}
	return err
}

// PauseAt has the launch pause before the instruction that so many others have begun before, of
// those that are counted. It pauses once: Continue forgets it when it returns.
func (g *Grid) PauseAt(step int64) { g.pauseStep = step }

// Steps is how many instructions have begun, if probes want events in one order.
func (g *Grid) Steps() int64 { return g.steps }

// Info describes the launch.
func (g *Grid) Info() *probe.LaunchInfo { return g.info }

// Program is the launch's instructions.
func (g *Grid) Program() probe.Program { return g.info.Program }

// AllowPause lets probes pause the launch.
func (g *Grid) AllowPause() { g.mayPause, g.visited = true, make([]bool, len(g.kernel.Blocks)) }

// Begin readies the grid to run.
func (g *Grid) Begin() error {
	g.emit(probe.OnLaunch, nil)
	if g.cooperative {
		g.workspace = g.dev.Memory.OpenWorkspace()
	}
	if err := g.computeConstants(); err != nil {
		return err
	}
	g.poolContexts = g.mayPoolContexts()
	if g.nextCTAsInNative = g.mayRunNextCTAsInNative(); g.nextCTAsInNative {
		g.zeroRows = g.kernel.zeroRows()
	}
	g.window = max(windowUnordered, min(windowSmallCTAs, int(windowSmallBytes/g.Footprint())))
	if g.kernel.HasOrdered {
		g.window = windowOrdered
	}
	if g.kernel.CancelsClusters { // what is in flight cannot be taken out of the launch any more
		g.window = Multiprocessors
	}
	g.window = min(g.window, g.MaxInFlight())
	if g.cooperative {
		g.window = g.numCTAs
	}
	g.hostAtomics, g.pauseStep = g.workers > 1 || g.dev.HostGrace > 0, math.MaxInt64
	g.lowestFailed.Store(noFailure)
	return nil
}

// End ends a launch that has begun, wherever it is; err is how.
func (g *Grid) End(err error) {
	if g.workspace != nil && !g.workspace.Freed {
		g.dev.Memory.Free(g.workspace)
	}
	g.closeCTAMemory()
	g.tellTolerated()
	g.emit(probe.OnLaunchEnd, err)
}

// Continue executes the grid until it has ended, or pauses. The error is as for Run.
func (g *Grid) Continue(ctx context.Context) (paused bool, err error) {
	g.cancelled.Store(false)
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { g.cancelled.Store(true) })
		defer stop()
	}
	if limit := g.dev.TimeLimit; limit > 0 {
		begun := time.Now()
		timer := time.AfterFunc(max(limit-g.elapsed, 0), func() {
			g.timedOut.Store(true)
			g.cancelled.Store(true)
		})
		defer func() {
			timer.Stop()
			g.elapsed += time.Since(begun)
		}()
	}
	defer func() { g.pauseStep = math.MaxInt64 }()
	g.pauseRequested = false
	g.reselectEvents()
	for g.phase != betweenRounds || g.next < g.numCTAs || len(g.flights) > 0 {
		if g.round() {
			return true, nil
		}
		g.retire()
		if ctx.Err() != nil {
			g.flush(g.numCTAs)
			return false, fmt.Errorf("kernel %s stopped: %w", g.kernel.kernel.Name, context.Cause(ctx))
		}
		if low := int(g.lowestFailed.Load()); low < g.numCTAs {
			// CTAs behind it may or may not have run: only those before it count.
			i := slices.IndexFunc(g.flights, func(f flight) bool { return f.index == low })
			g.flights[i].cta.addCounts(&g.count)
			g.flush(low + 1)
			return false, g.flights[i].cta.err
		}
		if g.timedOut.Load() && (g.next < g.numCTAs || len(g.flights) > 0) {
			g.flush(g.numCTAs)
			return false, g.timeLimitTrap()
		}
		if err := g.progress(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// timeLimitTrap is the trap of a launch that has run for longer than it may. It names the first warp that has not
// ended, and says where the warps of the CTAs in flight are.
func (g *Grid) timeLimitTrap() error {
	var all stuckWarps
	var trap *probe.Trap
	var trapCTA *cta
	for i := range g.flights {
		c := g.flights[i].cta
		if c == nil {
			continue
		}
		for j := range c.warps {
			w := &c.warps[j]
			if w.state == ended {
				continue
			}
			all.add(w)
			if trap == nil {
				trapCTA = c
				trap = w.fail(g.kernel.firstSource(g.kernel.Block(w.pc)), w.mask, probe.ErrTimeLimit, "%v: the launch has run for %v; %d of %d CTAs have ended", probe.ErrTimeLimit, g.dev.TimeLimit, g.finished.Load(), g.numCTAs)
			}
		}
	}
	if trap == nil { // the limit was reached between two CTAs
		k := g.kernel.kernel
		return &probe.Trap{
			Kind: probe.ErrTimeLimit, Msg: fmt.Sprintf("%v: the launch has run for %v; %d of %d CTAs have ended", probe.ErrTimeLimit, g.dev.TimeLimit, g.finished.Load(), g.numCTAs), Kernel: k.Name,
			File: g.kernel.module.Name, Pos: k.Pos, Line: g.kernel.module.Line(int(k.Pos.Line)), Grid: g.dim, Warp: -1, Index: -1, Width: g.kernel.Width,
		}
	}
	all.addTo(trap)
	trapCTA.emitTrap(trap)
	return trap
}

// round executes a round, or what is left of one, and reports whether it pauses in it.
func (g *Grid) round() (paused bool) {
	if g.phase == betweenRounds {
		g.flights = slices.Grow(g.flights, max(0, min(g.window, g.numCTAs-g.next+len(g.flights))-len(g.flights)))
		for len(g.flights)+g.clusterSize <= max(g.window, g.clusterSize) && g.next < g.numCTAs {
			for range g.clusterSize {
				g.flights = append(g.flights, flight{index: g.next, status: budgetSpent})
				g.next++
			}
		}
		g.endedBefore = g.finished.Load()
		g.phase, g.nextFlight = inParallel, 0
	}
	if g.phase == inParallel {
		if g.parallelHalf() {
			return true
		}
		g.phase, g.nextFlight = inOrder, 0
	}
	if g.kernel.HasOrdered && g.lowestFailed.Load() == noFailure && g.orderedHalf() {
		return true
	}
	g.phase = betweenRounds
	return false
}

// progress looks whether the launch gets on, and does something about it if it does not. The
// error is that of a launch that cannot.
func (g *Grid) progress() error {
	if g.finished.Load() > g.endedBefore {
		g.idleRounds, g.stall, g.stuckSince = 0, stallDetector{}, time.Time{}
		return nil
	}
	g.idleRounds++
	maxWindow := g.MaxInFlight()
	stalled := g.stall.isStalled(g)
	canWiden := g.next < g.numCTAs && g.window < maxWindow
	switch {
	case (stalled || g.stall.loopInstrs >= maxLoopInstrs) && (!canWiden || len(g.flights) >= Resident(g.threads, int(g.sharedLen))) && g.fallBack():
		g.stall = stallDetector{}
	case canWiden && (stalled || g.idleRounds%roundsBeforeWidening == 0):
		g.window = min(g.window+windowOrdered, maxWindow)
		g.stall = stallDetector{loopInstrs: g.stall.loopInstrs}
	case stalled && g.waitForHost():
		g.stall = stallDetector{}
	case stalled:
		g.flush(g.numCTAs)
		return g.deadlockTrap()
	}
	return nil
}

// waitForHost waits a little, if a launch that does not get on may still wait for others to change memory, and reports whether it may.
func (g *Grid) waitForHost() bool {
	if g.stuckSince.IsZero() {
		g.stuckSince = time.Now()
	}
	if time.Since(g.stuckSince) >= g.dev.HostGrace {
		return false
	}
	time.Sleep(time.Millisecond)
	return true
}

// computeConstants computes the constants of the launch. Where that fails, in check mode, nobody but
// the compact engine is to blame.
func (g *Grid) computeConstants() (err error) {
	defer func() {
		if g.mode != Check {
			return
		}
		if r := recover(); r != nil {
			k := g.kernel.kernel
			err = &probe.Trap{
				Kind: probe.ErrMismatch, Msg: fmt.Sprintf("%v: the constants of the launch: %v", probe.ErrMismatch, r), Kernel: k.Name,
				File: g.kernel.module.Name, Pos: k.Pos, Line: g.kernel.module.Line(int(k.Pos.Line)), Grid: g.dim, Warp: -1, Index: -1, Width: g.kernel.Width,
			}
		}
	}()
	g.computeFixed()
	return nil
}

// batchesPerWorker is how many batches of CTAs there are for each worker in a round in which they may follow each other, if there
// are so many CTAs: the more, the better is the work shared.
const batchesPerWorker = 8

// parallelHalf runs every CTA in flight that may run, and reports whether one pauses, as
// they only do where there is one worker.
func (g *Grid) parallelHalf() (paused bool) {
	workers := max(1, min(g.workers, len(g.flights)/g.clusterSize))
	batch := g.clusterSize
	if g.nextCTAsInNative {
		if batch = len(g.flights); workers > 1 {
			batch = max(1, batch/(batchesPerWorker*workers))
		}
	}
	var next atomic.Int64
	next.Store(int64(g.nextFlight))
	work := func() {
		k := worker{g: g}
		defer k.finish()
		for {
			i := int(next.Add(int64(batch))) - batch
			if i >= len(g.flights) {
				return
			}
			if k.runFlights(g.flights[i:min(i+batch, len(g.flights))]) {
				g.nextFlight, paused = i, true
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

// worker runs CTAs, and keeps the context of one that has ended for the next.
type worker struct {
	g       *Grid
	context *cta
}

// runFlights runs a batch of CTAs, or a cluster, in order, as long as none before has failed, and reports whether one pauses.
func (k *worker) runFlights(list []flight) (paused bool) {
	g := k.g
	for len(list) > 0 && int64(list[0].index) < g.lowestFailed.Load() {
		if g.clustered() {
			return g.parallelCluster(list)
		}
		f := &list[0]
		if f.cta == nil {
			if f.cta = k.context; f.cta == nil {
				f.cta = g.takeContext()
			}
			k.context = nil
			f.cta.start(f.index)
		}
		f.cta.nextFlights = g.notBegun(list)
		f, n, ended := g.advance(f, sliceParallel, false)
		if ended && k.context == nil {
			k.context, f.cta = f.cta, nil
		}
		if f.status == ctaPaused {
			return true
		}
		list = list[n:]
	}
	return false
}

// finish is the end of its work.
func (k *worker) finish() {
	if k.context != nil {
		k.g.putContext(k.context)
	}
}

// notBegun is the CTAs behind the first of some that have not begun, as far as machine code may go on with them.
func (g *Grid) notBegun(list []flight) []flight {
	n := 1
	for n < len(list) && g.nextCTAsInNative && list[n].cta == nil && list[n].status != ctaEnded && list[n].index == list[0].index+n {
		n++
	}
	return list[1:n]
}

// orderedHalf runs the CTAs that stand before a globally ordered instruction, one at a time, and reports
// whether one pauses.
func (g *Grid) orderedHalf() (paused bool) {
	for ; g.nextFlight < len(g.flights); g.nextFlight++ {
		f := &g.flights[g.nextFlight]
		if f.status != wantsOrdered && f.status != ctaPaused {
			continue
		}
		if g.advance(f, sliceOrdered, true); f.status == ctaPaused {
			return true
		}
		if g.lowestFailed.Load() < noFailure {
			break
		}
	}
	return false
}

// advance runs a CTA for a slice, and those ahead of it that machine code goes on with. It gives the last, how many they are, and
// whether the last has ended.
func (g *Grid) advance(f *flight, slice int, ordered bool) (last *flight, n int, ended bool) {
	c := f.cta
	c.cluster.changedSinceSave = true
	var status ctaStatus
	if g.hostMayFault {
		status = c.runGuarded(slice, ordered)
	} else {
		status = c.run(slice, ordered)
	}
	passed := c.completedCTAs
	if passed > 0 {
		f.count.Add(&c.completedCounts)
		f.cta, f.status = nil, ctaEnded
		for i := range c.nextFlights[:passed-1] {
			c.nextFlights[i].status = ctaEnded
		}
		f = &c.nextFlights[passed-1]
		f.cta = c
	}
	c.nextFlights, c.completedCTAs, c.completedCounts = nil, 0, Counts{}
	switch f.status = status; status {
	case ctaEnded:
		g.finished.Add(1)
		f.cta.addCounts(&f.count)
		f.tolerated = slices.Clone(f.cta.tolerated)
		if f.cta.output.Len() > 0 {
			g.mu.Lock()
			g.addOutput(f.index, slices.Clone(f.cta.output.Bytes()))
			g.mu.Unlock()
		}
		return f, 1 + passed, true
	case ctaFailed:
		if t, ok := f.cta.err.(*probe.Trap); ok {
			f.cta.emitTrap(t)
		}
		g.recordFailure(f)
	}
	return f, 1 + passed, false
}

// recordFailure notes that a CTA has failed.
func (g *Grid) recordFailure(f *flight) {
	for {
		low := g.lowestFailed.Load()
		if low <= int64(f.index) || g.lowestFailed.CompareAndSwap(low, int64(f.index)) {
			return
		}
	}
}

// addCounts adds the counts of the CTA's warps.
func (c *cta) addCounts(total *Counts) {
	for i := range c.warps {
		if n := &c.warps[i].count; c.grid.mode == Check {
			total.Add(n)
		} else {
			total.addExecuted(n)
		}
	}
	Entered.Add(c.native.enterCount)
	c.native.enterCount = 0
}

// takeContext takes a CTA context from the pool, or makes one.
func (g *Grid) takeContext() *cta {
	g.mu.Lock()
	if n := len(g.pool); n > 0 {
		c := g.pool[n-1]
		g.pool = g.pool[:n-1]
		g.mu.Unlock()
		return c
	}
	g.mu.Unlock()
	if g.poolContexts {
		if c, ok := g.kernel.contextPool.Get().(*cta); ok && c.shape == g.shape() {
			c.grid = g
			return c
		}
	}
	return newCTA(g)
}

// contextShape is what a context of a kernel's CTAs is made for. Launches of which it is the same can have each
// other's contexts.
type contextShape struct {
	mode       Mode
	reconverge *Reconverger
	rules      *affinetrack.Table
	block      ptx.Dim3
	shared     uint64
	native     bool // check mode compares functions of the backend's own
}

func (g *Grid) shape() contextShape {
	return contextShape{g.mode, g.reconverge, g.rules, g.block, g.sharedLen, g.mode == Check && g.native()}
}

// maxPooledBytes is how many bytes the contexts may have that a launch leaves for others.
const maxPooledBytes = 16 << 20

// mayPoolContexts reports whether contexts may be those of other launches. Those of clusters know each other, for
// probes they have more to them, and those of a launch that may pause are in states of it.
func (g *Grid) mayPoolContexts() bool {
	return !g.clustered() && !g.mayPause && len(g.probes) == 0
}

// poolIdleContexts leaves the contexts of a launch that has ended well for others of the kernel, until a
// collection of garbage takes them.
func (g *Grid) poolIdleContexts() {
	if !g.poolContexts {
		return
	}
	for _, c := range g.pool[:min(len(g.pool), int(maxPooledBytes/g.Footprint()))] {
		c.reset()
		g.kernel.contextPool.Put(c)
	}
	g.pool = nil
}

func (g *Grid) putContext(c *cta) {
	g.mu.Lock()
	g.pool = append(g.pool, c)
	g.mu.Unlock()
}

// Counts is what the CTAs have counted that have ended, or failed.
func (g *Grid) Counts() Counts {
	n := g.count
	if g.mode == Check {
		n.Engine.FrameBytes, n.Engine.Claims = frameBytes(g.kernel.Program), countClaims(g.kernel.Program)
	}
	return n
}

// Ended is how many CTAs have, or will never begin, at any time.
func (g *Grid) Ended() int64 { return g.finished.Load() }

// retire drops the CTAs that have ended, adds up their counts, and writes the
// output of those before which none is left. If one has failed, those behind it
// do not count.
func (g *Grid) retire() {
	keep := g.flights[:0]
	for i, f := range g.flights {
		if first := i - i%g.clusterSize; f.status != ctaEnded || g.clustered() && !allFinished(g.flights[first:first+g.clusterSize]) {
			keep = append(keep, f)
			continue
		}
		if int64(f.index) < g.lowestFailed.Load() {
			g.count.Add(&f.count)
			g.tolerated.merge(f.tolerated)
		}
		if f.cta != nil {
			g.pool = append(g.pool, f.cta)
		}
	}
	clear(g.flights[len(keep):])
	g.flights = keep
	low := g.next
	if len(g.flights) > 0 {
		low = g.flights[0].index
	}
	g.flush(low)
}

// allFinished reports whether all of some CTAs have.
func allFinished(flights []flight) bool {
	return !slices.ContainsFunc(flights, func(f flight) bool { return f.status != ctaEnded })
}

// addOutput keeps what a CTA has printed until all before it have ended.
func (g *Grid) addOutput(index int, text []byte) {
	if g.output == nil {
		g.output = map[int][]byte{}
	}
	g.output[index] = text
}

// flush writes what the CTAs below the index have printed, in order.
func (g *Grid) flush(below int) {
	for _, f := range g.flights {
		if f.cta != nil && f.index < below && f.cta.output.Len() > 0 {
			g.addOutput(f.index, f.cta.output.Bytes())
		}
	}
	if len(g.output) == 0 {
		return
	}
	var ready []int
	for i := range g.output {
		if i < below {
			ready = append(ready, i)
		}
	}
	slices.Sort(ready)
	for _, i := range ready {
		if g.stdout != nil {
			g.stdout.Write(g.output[i])
		}
		delete(g.output, i)
	}
}

// stallDetector finds out that a grid can never make progress: no CTA has changed
// memory, and the state of all threads is one they have been in before (Brent's
// cycle detection, one look per round).
type stallDetector struct {
	seed       maphash.Seed
	saved      uint64
	power      int
	steps      int
	loopInstrs int // instructions per CTA of rounds that changed no memory, and ended in loops that may wait
}

func (s *stallDetector) isStalled(g *Grid) bool {
	changed, timed := false, false
	for i := range g.flights {
		if c := g.flights[i].cta; c != nil {
			changed = changed || c.changed || c.changedBefore
			timed = timed || c.readClock
			c.cluster.changedSinceSave = c.cluster.changedSinceSave || c.changed || c.changedBefore || c.readClock
			c.changed, c.changedBefore, c.readClock = false, false, false
		}
	}
	switch {
	case changed || !g.allSpin():
		s.loopInstrs = 0
	case g.kernel.HasOrdered:
		s.loopInstrs += sliceOrdered
	default:
		s.loopInstrs += sliceParallel
	}
	if changed || timed {
		s.power = 0
		return false
	}
	if s.power == 0 {
		s.seed, s.power, s.steps = maphash.MakeSeed(), 1, 0
		s.saved = g.hash(s.seed)
		return false
	}
	now := g.hash(s.seed)
	if now == s.saved {
		return true
	}
	if s.steps++; s.steps == s.power {
		s.saved, s.power, s.steps = now, 2*s.power, 0
	}
	return false
}

// eachWarp calls f for the warps in flight that have not ended until it returns false.
// It reports whether it has called f for all.
func (g *Grid) eachWarp(f func(w *warp) bool) bool {
	for i := range g.flights {
		c := g.flights[i].cta
		if c == nil {
			return false
		}
		for j := range c.warps {
			if w := &c.warps[j]; w.state != ended && !f(w) {
				return false
			}
		}
	}
	return true
}

// allSpin reports whether all that runs is in loops that may wait.
func (g *Grid) allSpin() bool {
	return g.eachWarp(func(w *warp) bool { return w.spins() })
}

func (w *warp) spins() bool {
	for _, c := range w.splits() {
		if c.wait == nil && w.state != atGroup && !w.mayWait(&c) {
			return false
		}
	}
	return true
}

// timeSliced reports whether the warp splits of a warp do.
func (g *Grid) timeSliced() bool { return g.reconverge.timeSliced || g.fallenBack }

// fallBack lets warp splits take turns from now on, where the policy does so when a launch does
// not get on any more. It reports whether that is so, and some lanes could run.
func (g *Grid) fallBack() bool {
	if !g.reconverge.fallBackToTimeSlices || g.fallenBack {
		return false
	}
	if g.eachWarp(func(w *warp) bool { return !w.diverged() }) {
		return false
	}
	g.fallenBack = true
	for i := range g.flights {
		g.flights[i].cta.cluster.changedSinceSave = true
		for j := range g.flights[i].cta.warps {
			g.flights[i].cta.warps[j].timeSliced = true
		}
	}
	return true
}

// hash digests all that decides what happens next, but memory: of every thread in
// flight position, registers and local memory; what waits at barriers; and which
// warps have their turn next.
func (g *Grid) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range g.flights {
		c := g.flights[i].cta
		if c == nil {
			continue
		}
		maphash.WriteComparable(&h, g.flights[i].index)
		maphash.WriteComparable(&h, c.nextWarp)
		maphash.WriteComparable(&h, len(c.releasedBlocks))
		maphash.WriteComparable(&h, c.cluster.missing)
		for i := range c.barriers {
			b := &c.barriers[i]
			maphash.WriteComparable(&h, [3]int{b.arrived, b.expected, b.popc})
			maphash.WriteComparable(&h, [2]bool{b.allTrue, b.anyTrue})
		}
		for i := range c.warps {
			w := &c.warps[i]
			maphash.WriteComparable(&h, w.state)
			if w.state == ended {
				continue
			}
			w.hash(&h)
			maphash.WriteComparable(&h, [2]bool{w.clusterArrival > 0, w.clusterArrival == 1+c.cluster.completed})
			n := w.rows()
			for j := range w.files {
				w.files[j].WriteTo(&h, n)
				h.Write(rawBytes(w.local[j]))
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

// deadlockTrap is the trap of a grid that can never make progress.
func (g *Grid) deadlockTrap() error {
	kind, why := probe.ErrDeadlock, "no thread can make progress: all wait for a change of memory, and no thread can store"
	if g.next < g.numCTAs {
		kind = probe.ErrKeptOut
		why = fmt.Sprintf("%d CTAs in flight wait, %d more do not fit: each can take %d bytes of the host's memory, and all may take %d", len(g.flights), g.numCTAs-g.next, g.Footprint(), g.dev.HostMemory)
	}
	var trapCTA *cta
	var trap *probe.Trap
	var all stuckWarps
	diverged := false
	var awaited []string // mbarriers
	named := map[string]bool{}
	for i := range g.flights {
		c := g.flights[i].cta
		for j := range c.warps {
			w := &c.warps[j]
			if w.state == ended {
				continue
			}
			diverged = diverged || w.diverged()
			all.add(w)
			what := w.awaitedText()
			if what != "" && !named[what] && len(awaited) < maxStuckWarps {
				named[what], awaited = true, append(awaited, fmt.Sprintf("cta %s %s", c.id, what))
			}
			if trap == nil {
				if what != "" && kind == probe.ErrDeadlock {
					why = "the phase can never complete that is awaited of " + what
				}
				trapCTA, trap = c, w.fail(g.kernel.firstSource(g.kernel.Block(w.pc)), w.mask, kind, "%v: %s", kind, why)
			}
		}
	}
	all.addTo(trap)
	trap.Notes = append(trap.Notes, awaited...)
	if diverged && !g.timeSliced() {
		trap.Notes = append(trap.Notes, g.reconverge.advice())
	}
	trapCTA.emitTrap(trap)
	return trap
}

// maxStuckWarps is how many warps a message names.
const maxStuckWarps = 8

// stuckWarps is where warps are that do not get on, for a message.
type stuckWarps struct {
	count int
	notes []string
}

// add notes where the lanes of a warp are, which will not run any more. It then has one of
// its warp splits running, though they all wait.
func (s *stuckWarps) add(w *warp) {
	if w.mask == 0 {
		w.resume(w.takeSplit(len(w.waitingSplits) - 1))
	}
	code, verb, why := w.cta.code, "loop", ""
	in := code.firstSource(code.Block(w.pc))
	if alloc := w.awaitedAlloc(); alloc != nil {
		verb, in, why = "wait", w.sourceOf(alloc), ": "+w.tensorMemoryWait(alloc)
	}
	if w.wait != nil {
		verb, in = "wait", w.wait.src
	}
	if s.count++; s.count > maxStuckWarps || in == nil {
		return
	}
	s.notes = append(s.notes, fmt.Sprintf("cta %s warp %d: lanes %s %s at %s:%s%s", w.cta.id, w.id, probe.LaneList(w.mask), verb, code.module.Name, in.Pos, why))
	s.notes = append(s.notes, w.whereabouts(w.live&^w.mask)...)
}

// addTo adds it to a trap's message.
func (s *stuckWarps) addTo(t *probe.Trap) {
	t.Notes = append(t.Notes, s.notes...)
	if more := s.count - maxStuckWarps; more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("and %d more warps", more))
	}
}
