package simt

// This file is a CTA: its warps take turns, and meet at barriers.

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// maxWarpBudget is the share of a warp: about so many instructions, then the next
// warp of its CTA has its turn, so that a warp may wait for another by looking
// at memory.
const maxWarpBudget = 2048

// cta is a CTA on its way through the kernel, or a context ready for one.
type cta struct {
	grid  *Grid
	code  *Kernel
	shape contextShape
	index int // linear
	id    ptx.Dim3
	rank  int // in its cluster
	warps []warp

	shared      []byte
	sharedMem   *mem.Allocation // shared memory at its generic window
	lastHits    []*mem.Allocation
	barriers    [16]barrier
	barrierUsed bool // a warp has arrived at one
	asyncState  asyncState
	cluster     *cluster
	ownCluster  cluster // of this CTA only

	frame          frame          // of the kernel, in all warps
	releasedBlocks map[int32]bool // blocks where lanes that have diverged do not wait for each other any more
	releasedEarly  bool           // lanes have gone on without others that they were to meet: patterns of accesses do not hold any more

	native          nativeState  // what machine code is told
	nextFlights     []flight     // CTAs that it may go on with where all warps have ended
	completedCTAs   int          // … that have ended so
	completedCounts Counts       // of them
	runner          runner       // of its warps
	stream          *eventStream // nil if nobody watches
	idleStream      *eventStream // for one

	output bytes.Buffer // what the CTA has printed

	tolerated     toleratedFaults
	changed       bool   // memory has changed since the last time somebody looked
	changedBefore bool   // … or before
	readClock     bool   // somebody has looked at the clock
	slept         int64  // nanoseconds that warps have spent in nanosleep
	ordered       bool   // the CTA may execute globally ordered instructions
	nextWarp      int    // warp whose turn is next
	random        uint64 // of a launch with a seed: what the shares of warps come from
	ctaSlice             // under way
	err           error
	done          bool
}

// newCTA makes a context for CTAs of the grid.
func newCTA(g *Grid) *cta {
	c := &cta{releasedBlocks: map[int32]bool{}, grid: g, code: g.kernel, shape: g.shape(), lastHits: make([]*mem.Allocation, g.kernel.NumHits)}
	c.sharedMem = g.dev.Memory.NewShared(g.sharedLen)
	c.shared = c.sharedMem.Data
	c.ownCluster.ctas = []*cta{c}
	c.cluster = &c.ownCluster
	c.frame = frame{fn: g.kernel.entry, local: g.kernel.entry.Align}
	width := g.kernel.Width
	c.warps = make([]warp, (g.threads+width-1)/width)
	for i := range c.warps {
		w := &c.warps[i]
		w.cta, w.id, w.rc, w.notifyEveryBlock, w.waitAtExit = c, i, g.reconverge.new(), g.reconverge.notifyEveryBlock, g.reconverge.waitAtExit
		_, isStack := w.rc.(stackPolicy)
		w.exportable = isStack && !w.notifyEveryBlock && !w.waitAtExit
		w.files = make([]regfile.File, (width+31)/32)
		for h := range w.files {
			w.files[h] = *regfile.New(&g.kernel.Consts, g.mode != Vector)
		}
		w.unit = affinetrack.NewUnit(affinetrack.Policies[0], g.rules)
		if g.mode != Check {
			continue
		}
		w.check = &check{reference: g.ref, comparer: checkRunner{}, nativeFuncs: g.native(), files: make([]regfile.File, len(w.files)), engineFiles: w.files}
		for h := range w.files {
			if w.check.files[h] = *regfile.New(&g.ref.Consts, false); g.kernel.referenceAdjoins() {
				w.check.files[h] = *w.files[h].NewAdjacent(&g.ref.Consts, g.kernel.entry.Frame, g.ref.entry.Frame)
			}
		}
	}
	if g.mode == Check {
		twin := &frame{fn: g.ref.entry, local: c.frame.local, counterpart: &c.frame}
		c.frame.counterpart = twin
	}
	return c
}

// native reports whether check mode is given a backend with functions of its own, which it compares with Go's.
func (g *Grid) native() bool {
	_, checks := g.backend.(checkingBackend)
	return g.backend != Portable && !checks
}

// start readies the context for a CTA of the grid, by its place in the order in which they
// begin.
func (c *cta) start(order int) {
	c.setIndex(order)
	if c.grid.clustered() {
		c.sharedMem.AddToCluster(c.rank)
		clear(c.lastHits) // other clusters had the CTAs that they may be of
	}
	clear(c.shared)
	clear(c.sharedMem.Shadow)
	c.output.Reset()
	c.tolerated = c.tolerated[:0]
	c.begin()
	if c.random = c.grid.seed; c.random != 0 {
		c.random = c.grid.seed<<32 ^ uint64(order)
		c.nextWarp = int(c.random64() % uint64(len(c.warps)))
	}
	c.openStream()
	c.runner = c.runnerOf()
	if len(c.grid.probes) > 0 || c.grid.mode == Check {
		c.forgetLastHits() // what is told and counted does not depend on the CTAs that the context had before
	}
	c.emit(probe.OnCTA)
	for i := range c.warps {
		w := &c.warps[i]
		w.resetRegisters()
		w.emitLanes(probe.OnWarp, nil, w.live)
	}
}

// setIndex says which CTA it is, by its place in the order in which they begin.
func (c *cta) setIndex(order int) {
	c.index = order
	c.id = c.grid.dim.At(order)
	if c.grid.clustered() {
		c.id = c.grid.ctaID(order)
		c.index = c.grid.dim.Linear(c.id)
	}
}

// begin has the CTA be where it begins, but for its memory and registers.
func (c *cta) begin() {
	if !c.grid.clustered() {
		c.ownCluster = cluster{ctas: c.ownCluster.ctas, live: len(c.warps), missing: len(c.warps)}
	}
	if c.barrierUsed {
		for i := range c.barriers {
			b := &c.barriers[i]
			*b = barrier{waiting: b.waiting[:0], waitingBuffer: b.waitingBuffer[:0]}
		}
		c.barrierUsed = false
	}
	clear(c.releasedBlocks)
	c.asyncState = asyncState{}
	c.nextWarp, c.err, c.done, c.ordered, c.slept, c.ctaSlice, c.releasedEarly = 0, nil, false, false, 0, ctaSlice{}, false
	c.frame.lastCallee = nil
	sliced := c.grid.timeSliced()
	for i := range c.warps {
		c.warps[i].begin(sliced)
	}
}

// forgetLastHits has memory instructions not know what they have hit last, but before.
func (c *cta) forgetLastHits() {
	for known := range slices.Chunk(c.lastHits, code.HitsPerAccess) {
		if known[0] != nil {
			copy(known[1:], known)
			known[0] = nil
		}
	}
}

// begin has the warp be where it begins.
func (w *warp) begin(sliced bool) {
	c := w.cta
	lanes := w.allLanes()
	w.warpProgress = warpProgress{live: lanes, timeSliced: sliced}
	w.waitingSplits, w.latest, w.shadow = w.waitingSplits[:0], w.latest[:0], nil
	w.warpSplit, w.reconvergeAt = warpSplit{pc: c.code.entry.Begin, mask: lanes, frame: &c.frame}, noBlock
	w.shownFrame, w.sliceLeft = &c.frame, timeSlice
}

// allLanes is the lanes that there are threads for.
func (w *warp) allLanes() uint64 {
	c := w.cta
	return ^uint64(0) >> (64 - min(c.code.Width, c.grid.threads-w.tid(0)))
}

// resetRegisters has registers and local memory be as they are when a warp begins.
func (w *warp) resetRegisters() {
	c := w.cta
	fn, words := c.code.entry, c.code.localWords()
	for h := range w.files {
		f := &w.files[h]
		f.Reset(fn.Frame)
		zeroFrame(fn, f)
		if len(w.local[h]) < words {
			w.growLocal(words)
		} else if words > kernelFrame {
			clear(w.local[h][kernelFrame:words])
		}
		if w.check != nil {
			g := &w.check.files[h]
			g.Reset(w.check.entry.Frame)
			zeroFrame(w.check.entry, g)
		}
	}
	if w.files[0].Tracked() {
		w.setOnMaterialise()
	}
}

// localWords is how much local memory a thread begins with, in words.
func (c *Kernel) localWords() int { return c.entry.Align + c.entry.Local }

// reset readies the context, which no CTA has any more, to wait for another launch: it keeps nothing of this one
// alive.
func (c *cta) reset() {
	clear(c.lastHits)
	c.grid, c.asyncState = nil, asyncState{}
	c.native.reset() // the block's shape stays, and so do thread indices
}

// random64 is the next of the numbers that a schedule with a seed comes from (splitmix64, Steele et
// al. 2014).
func (c *cta) random64() uint64 {
	c.random += 0x9e3779b97f4a7c15
	v := c.random
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// nextBudget is how many instructions a warp may execute in its turn: with a seed, any power of two
// up to the quantum.
func (c *cta) nextBudget() int {
	if c.grid.seed == 0 {
		return maxWarpBudget
	}
	return maxWarpBudget >> (c.random64() % uint64(bits.Len(maxWarpBudget)))
}

// ctaSlice is the share of a CTA under way: its warps have their turns, pass after pass.
type ctaSlice struct {
	instrsLeft    int   // instructions; of the turn under way they are not taken off
	sliceStart    int64 // instructions that the warp had executed when its turn began
	warpsVisited  int   // warps in this pass
	allIdle       bool  // none of them could run
	pausedInSlice bool  // in the turn of warp next
}

// ctaStatus is why a CTA stopped running.
type ctaStatus uint8

const (
	ctaEnded     ctaStatus = iota
	wantsOrdered           // every warp that can run stands before a globally ordered instruction
	budgetSpent
	ctaFailed
	ctaPaused       // for a probe
	waitsForCluster // every warp waits, and some for the barrier of the cluster
)

// run executes the warps in turn until the CTA ends, cannot go on without
// executing a globally ordered instruction out of turn, or has executed about budget
// instructions; in a cluster, and not in its turn, until its warps have had theirs. If it has
// paused it goes on with the share that it had.
func (c *cta) run(budget int, ordered bool) ctaStatus {
	s := c.runWarps(budget, ordered)
	c.importAll()
	return s
}

// runWarps is run, behind which machine code may have warps that wait.
func (c *cta) runWarps(budget int, ordered bool) ctaStatus {
	if !c.pausedInSlice {
		c.ctaSlice = ctaSlice{instrsLeft: budget, warpsVisited: len(c.warps)}
		c.ordered = ordered
		if ordered {
			for i := range c.warps {
				if w := &c.warps[i]; w.state == atOrdered {
					w.state = ready
				}
			}
		}
	}
	for c.instrsLeft > 0 || c.pausedInSlice {
		if c.grid.cancelled.Load() {
			return budgetSpent
		}
		if !c.pausedInSlice {
			c.warpsVisited, c.allIdle = 0, true
		}
		for c.warpsVisited < len(c.warps) && (c.instrsLeft > 0 || c.pausedInSlice) {
			if w := &c.warps[c.nextWarp]; w.state == ready {
				if c.allIdle = false; !c.runWarp(w) {
					if c.pausedInSlice {
						return ctaPaused
					}
					return ctaFailed
				}
			}
			c.warpsVisited++
			if c.nextWarp++; c.nextWarp == len(c.warps) {
				c.nextWarp = 0
			}
		}
		if ended := c.cluster == &c.ownCluster && c.ownCluster.live == 0 && c.instrsLeft > 0; !c.allIdle && !ended {
			if c.grid.clustered() && !ordered && c.hasLiveWarps() {
				return budgetSpent
			}
			continue
		}
		c.importAll()
		waiting, cluster, group := false, false, (*warp)(nil)
		for i := range c.warps {
			switch w := &c.warps[i]; w.state {
			case atOrdered:
				return wantsOrdered
			case atBarrier:
				waiting, cluster = true, cluster || w.atClusterBarrier()
			case atGroup:
				group = w
			}
		}
		if cluster && c.grid.clustered() {
			return waitsForCluster
		}
		if cluster {
			c.err = c.clusterDeadlock()
			return ctaFailed
		}
		if group != nil {
			c.err = c.standstill(group)
			return ctaFailed
		}
		if waiting {
			c.err = c.deadlock()
			return ctaFailed
		}
		if c.err = c.finishAsync(); c.err != nil {
			return ctaFailed
		}
		c.done = true
		c.emit(probe.OnCTAEnd)
		if c.grid.clustered() {
			c.sharedMem.RemoveFromCluster()
		}
		if c.stream != nil && c.stream.stopErr != nil {
			c.err = c.stream.stopErr
			return ctaFailed
		}
		return ctaEnded
	}
	return budgetSpent
}

// hasLiveWarps reports whether a warp has not ended.
func (c *cta) hasLiveWarps() bool {
	for i := range c.warps {
		if c.warps[i].state != ended {
			return true
		}
	}
	return false
}

// runWarp has a warp run for its share, and others that a backend has take their turns behind it. It reports whether the
// CTA can go on.
func (c *cta) runWarp(w *warp) bool {
	c.sliceStart = w.count.WarpInstructions
	if !c.pausedInSlice {
		w.budget = int(min(int64(min(c.nextBudget(), c.instrsLeft)), max(c.grid.maxSteps-c.sliceStart+1, 1)))
	}
	w = w.run()
	c.nextWarp = w.id
	c.instrsLeft -= int(w.count.WarpInstructions - c.sliceStart)
	if c.pausedInSlice = w.pausedInBlock; c.pausedInSlice {
		return false
	}
	if c.err = w.err; c.err != nil {
		return false
	}
	if w.state == ended {
		c.importAll()
		if c.barrierUsed {
			c.release()
		}
		c.cluster.leave(w)
	}
	return true
}

// noteChange forgets that memory has changed, but for those who look at the whole CTA.
func (c *cta) noteChange() {
	c.changedBefore = c.changedBefore || c.changed
	c.changed = false
}

// newTrap makes a trap at an instruction.
func (c *cta) newTrap(in *code.Source, kind error, format string, args ...any) *probe.Trap {
	m := c.code.module
	t := &probe.Trap{Kind: kind, Msg: fmt.Sprintf(format, args...), Kernel: c.code.kernel.Name, File: m.Name, Grid: c.grid.dim, CTA: c.id, Warp: -1, Index: -1, Width: c.code.Width}
	if in != nil {
		t.Index = int(in.Index)
		t.Pos = in.Pos
		t.Line = m.Line(int(in.Pos.Line))
		t.Instr = in.Text
		t.Func = in.Func.Name
		t.Source = in.Func.Func.Origin(in.Instr)
	} else {
		t.Pos = c.code.kernel.Pos
		t.Line = m.Line(int(t.Pos.Line))
	}
	return t
}

// thread is the tid of the thread with a linear index.
func (c *cta) thread(i int) ptx.Dim3 { return c.grid.block.At(i) }

// whereabouts says where lanes of the warp are that do not execute the present
// instruction.
func (w *warp) whereabouts(lanes uint64) []string {
	var notes []string
	if m := lanes & w.mask; m != 0 {
		notes = append(notes, fmt.Sprintf("lanes %s are here, but held back by the instruction's guard", probe.LaneList(m)))
		lanes &^= m
	}
	before := func(lanes uint64, pc int32) {
		b := w.cta.code.Block(pc)
		place := "at the end of function " + w.cta.code.Funcs[b.Func].Name
		if in := w.cta.code.firstSource(b); in != nil {
			place = fmt.Sprintf("before %s:%s", w.cta.code.module.Name, in.Pos)
		}
		notes = append(notes, fmt.Sprintf("lanes %s wait %s", probe.LaneList(lanes), place))
	}
	for i := len(w.waitingSplits) - 1; i >= 0; i-- {
		c := &w.waitingSplits[i]
		switch m := c.mask & lanes; {
		case m == 0:
		case c.wait != nil:
			notes = append(notes, fmt.Sprintf("lanes %s wait at %s:%s", probe.LaneList(m), w.cta.code.module.Name, c.wait.src.Pos))
		default:
			before(m, c.pc)
		}
		lanes &^= c.mask
		for j := c.reconvergence; j != nil; j = j.outer {
			if m := j.arrived & lanes; m != 0 {
				before(m, j.pc)
				lanes &^= m
			}
		}
	}
	for j := w.reconvergence; j != nil; j = j.outer {
		if m := j.arrived & lanes; m != 0 {
			before(m, j.pc)
			lanes &^= m
		}
	}
	return notes
}

// intRanges writes sorted numbers as ranges: "0-3, 7".
func intRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j > i {
			parts = append(parts, fmt.Sprintf("%d-%d", list[i], list[j]))
		} else {
			parts = append(parts, fmt.Sprint(list[i]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}
