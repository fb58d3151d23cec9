package simt

// This file runs a warp: a backend executes code for its active lanes, and here is what
// that leaves to the machine, until the warp ends, waits, or has had its share.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/lower"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/probe"
	"gemu/regfile"
)

// kernelFrame is the number of words at the bottom of a thread's local memory
// that stay unused, so that no variable has address 0. The kernel's frame begins
// there, or where its alignment wants it.
const kernelFrame = code.FrameAlign

// warp is up to 64 threads that execute together.
type warp struct {
	warpSplit              // that runs; without lanes if none does
	reconvergeAt     int32 // the block where its lanes meet others
	notifyEveryBlock bool  // the policy wants to know of every block that a warp split comes to while there are others
	waitAtExit       bool  // lanes wait at the kernel's end
	warpProgress
	cta        *cta
	files      []regfile.File // one per 32 lanes
	rc         reconverger
	exportable bool // machine code may keep its warp splits: the policy has the order of the stack

	waitingSplits []warpSplit  // that do not run
	sliceLeft     int          // where warp splits take turns, what is left of that of the running one
	freeWaits     []*wait      // for use again
	branchGroups  [2]laneGroup // of the branch under way
	blockedInstr  *code.Instr  // with errAbsentLanes: what waits for lanes that are elsewhere; with errNoTensorMemory, for tensor memory

	latest []latestInstr // where the launch may pause: when its lanes began an instruction last, those that run at the end

	id         int          // within the CTA
	shownFrame *frame       // the window is at its registers
	local      [2]mem.Local // local memory: word i of all lanes of a half
	shadow     [][]byte     // shadow bytes of local memory, by lane, as far as somebody has asked for them
	check      *check       // in check mode

	sources       []native.Source                            // special registers, for machine code
	exported      *exportedWarp                              // what machine code is told; nil: nobody has asked
	onMaterialise [2]func(bits int, row int32, lanes uint32) // for the files' OnMaterialise
	unit          affinetrack.Unit
}

// warpProgress is how far a warp has come in its CTA. It begins with nothing but lanes.
type warpProgress struct {
	state           warpState
	timeSliced      bool   // warp splits take turns
	changed         bool   // the running warp split has changed memory in its turn
	yields          bool   // the warp gives up the rest of its share
	pausedInBlock   bool   // it stands before an instruction of its block for a probe
	pauseAnnounced  bool   // … that probes know of
	sourcesSet      bool   // sources are those of the CTA
	budget          int    // of the warp, what is left of it: instructions
	reducedSinks    uint64 // the sinks that are told less of it: bit i for sink i of the CTA
	err             error  // trap, or the answer that something is not run
	live            uint64 // lanes that have not ended, nor rest
	atExit          uint64 // lanes that wait at the kernel's end for others: all they have left to do is to end
	numWaiting      int    // warp splits that wait
	awaitedMbarrier uint64 // 1 + address in .shared space of the mbarrier that it has last looked at in vain; 0: none
	clusterArrival  int    // 1 + how often the barrier of the cluster had completed when it arrived there; 0: it need not wait there
	count           Counts

	// Of the run under way, where a backend parts and joins warp splits itself.
	countedUpTo    int64 // of count.WarpInstructions, those whose lanes are counted
	unchargedExits int64 // … exits of lanes that a branch takes there, which nobody's share pays for
}

type warpState uint8

const (
	ready     warpState = iota
	atBarrier           // waits for other warps
	atOrdered           // stands before a globally ordered instruction, for its turn
	atGroup             // stands before a wait for what its warpgroup has yet to issue, or an allocation for which there is no tensor memory
	ended
)

// Counts is what a launch counts, per warp and then summed.
type Counts struct {
	WarpInstructions   int64 // instructions issued to warps
	ThreadInstructions int64 // instructions executed by threads: not those skipped by a false guard, but every branch, return and exit met
	LaneSlots          int64 // active lanes, summed over WarpInstructions
	Branches           int64 // executed by warps
	DivergentBranches  int64 // of them those that split a warp
	Splits             int64 // warp splits, which are lanes that go on together, that have left others
	Reconvergences     int64 // warp splits that have become one with others

	Engine EngineCounts // of compact execution, in check mode
}

// Add adds what another launch, or another part of one, has counted.
func (c *Counts) Add(other *Counts) {
	c.addExecuted(other)
	c.Engine.add(&other.Engine)
}

// addExecuted is Add for all but check mode.
func (c *Counts) addExecuted(other *Counts) {
	c.WarpInstructions += other.WarpInstructions
	c.ThreadInstructions += other.ThreadInstructions
	c.LaneSlots += other.LaneSlots
	c.Branches += other.Branches
	c.DivergentBranches += other.DivergentBranches
	c.Splits += other.Splits
	c.Reconvergences += other.Reconvergences
}

// ActiveLanesMean is the mean number of active lanes of an instruction.
func (c *Counts) ActiveLanesMean() float64 {
	if c.WarpInstructions == 0 {
		return 0
	}
	return float64(c.LaneSlots) / float64(c.WarpInstructions)
}

// run executes until the warp stops being ready, traps, pauses, or has executed about its
// share of instructions. Where a backend has had others go on meanwhile, it gives the one whose turn it is then.
func (w *warp) run() *warp {
	if w.pausedInBlock {
		w.budget = max(w.budget, 1) // it has a block to finish
	} else if w.yields = false; w.timeSliced {
		w.cta.noteChange()
	}
	w = w.execute()
	if w.timeSliced {
		w.changed = w.changed || w.cta.changed
	}
	return w
}

// execute has the backend execute, and does what that leaves to the machine. It gives the warp whose turn it is then.
func (w *warp) execute() *warp {
	c := w.cta.code
	for w.budget > 0 && w.state == ready && w.err == nil && (!w.yields || w.pausedInBlock) {
		share := w.budget
		if w.timeSliced {
			share = min(share, w.sliceLeft)
		}
		before := w.count.WarpInstructions
		w.countedUpTo, w.unchargedExits = before, 0
		reason := w.cta.runner.run(w, share)
		if other := w.cta.native.resumed; other != nil { // its turn began meanwhile
			w, before, w.cta.native.resumed = other, w.cta.sliceStart, nil
		}
		if reason == unsupported { // the block is executed to its end, so that shares are those of any backend
			reason = Portable.run(w, 1)
		}
		w.charge(int(w.count.WarpInstructions - before - w.unchargedExits))
		switch reason {
		case beforeOrdered:
			w.state = atOrdered
		case beforeGroupWait:
			w.state = atGroup
		case differentCalls:
			w.callSeparately(c.Block(w.pc))
		case lanesAbsent:
			w.waitForLanes()
			continue
		case probeStop:
			if w.err = w.cta.stream.stopErr; w.err == nil { // it pauses
				return w
			}
		case diverges, reconverges, otherEnd:
			w.executeEnd(c.Block(w.pc))
		case noSplit:
			w.schedule()
		}
		if w.timeSliced && w.state == ready && w.err == nil && (w.sliceLeft <= 0 || w.yields) {
			w.changed = w.changed || w.cta.changed
			w.cta.noteChange()
			w.rc.expire(w)
			w.sliceLeft, w.changed = timeSlice, false
		}
	}
	if w.budget <= 0 && w.count.WarpInstructions > w.cta.grid.maxSteps && w.state == ready && w.err == nil {
		w.trapStepLimit()
	}
	return w
}

// charge counts PTX instructions that the warp has executed, and those of the running warp split that are not settled yet.
func (w *warp) charge(n int) {
	w.budget -= n
	if w.timeSliced {
		w.sliceLeft -= n
	}
	lanes := (w.count.WarpInstructions - w.countedUpTo) * int64(bits.OnesCount64(w.mask))
	w.count.LaneSlots += lanes
	w.count.ThreadInstructions += lanes
}

// trapStepLimit stops the warp for it has executed more than it may. Threads that wait for each
// other, and change memory while they do, end so: the trap says where those of the CTA are.
func (w *warp) trapStepLimit() {
	c := w.cta
	c.importAll()
	t := w.fail(c.code.firstSource(c.code.Block(w.pc)), w.mask, probe.ErrStepLimit, "%v: warp %d has executed %d instructions without ending", probe.ErrStepLimit, w.id, w.count.WarpInstructions)
	if w.mayWait(&w.warpSplit) {
		t.Notes = append(t.Notes, "the loop may be a spin-wait; a deadlock is detected only in a round without stores, and other threads keep storing")
	}
	if what := w.awaitedText(); what != "" {
		t.Notes = append(t.Notes, what)
	}
	if rest := w.live &^ w.mask; rest != 0 {
		t.Notes = append(t.Notes, w.whereabouts(rest)...)
	}
	var stuck stuckWarps
	for i := range c.warps {
		if other := &c.warps[i]; other != w && other.state != ended {
			stuck.add(other)
		}
	}
	stuck.addTo(t)
	if w.diverged() && !w.timeSliced {
		t.Notes = append(t.Notes, c.grid.reconverge.advice())
	}
}

// guarded is the active lanes for which the block's end applies.
func (w *warp) guarded(g int32) uint64 {
	if g == 0 {
		return w.mask
	}
	if len(w.files) == 1 {
		return uint64(guardMask(&w.files[0], g)) & w.mask
	}
	return w.guardedWide(g)
}

// guardedWide is guarded for a warp of 64 lanes.
func (w *warp) guardedWide(g int32) uint64 {
	return (uint64(guardMask(&w.files[1], g))<<32 | uint64(guardMask(&w.files[0], g))) & w.mask
}

// executeEnd executes the end of a block.
func (w *warp) executeEnd(b *code.Block) {
	end := w.cta.code.End(b)
	if end.CountsSkipped {
		w.count.ThreadInstructions -= int64(bits.OnesCount64(w.mask &^ w.guarded(end.Guard)))
	}
	switch end.Op {
	case code.Jump:
		w.jump(b.Next)
	case code.Branch:
		w.branch(w.guarded(end.Guard), b.Target, b)
	case code.Return:
		w.branch(w.guarded(end.Guard), b.Target, b)
	case code.BranchIndex:
		w.indexed(b)
	case code.Exit:
		m := w.guarded(end.Guard)
		staying := w.mask &^ m
		if m != 0 {
			w.end(w.cta.code.source(end.Src), m)
		}
		if staying != 0 {
			w.jump(b.Next)
		} else {
			w.schedule()
		}
	case code.Pop:
		w.leaveFrame()
	case code.Call, code.CallR, code.CallQ:
		w.call(b)
	case code.BarrierWarp:
		w.warpBarrier(b)
	default:
		w.barrier(b)
	}
}

// branch sends the lanes of taken to target, the others to the next block.
// Lanes that go where there is nothing but the kernel's end do not wait there
// for the others: they end at once, and barriers no longer wait for them.
func (w *warp) branch(takenLanes uint64, target int32, b *code.Block) {
	w.count.Branches++
	c := w.cta.code
	if w.cta.isSubscribed(probe.OnBranch) {
		if w.emitGroups(probe.OnBranch, w.sourceOf(c.End(b)), takenLanes, laneGroup{target, takenLanes}, laneGroup{b.Next, w.mask &^ takenLanes}); w.err != nil {
			return
		}
	}
	switch {
	case takenLanes == w.mask || target == b.Next:
		w.jump(target)
	case takenLanes == 0:
		w.jump(b.Next)
	case c.Block(target).EndsLanes && !w.waitsForLanesAt(target, b):
		w.count.DivergentBranches++
		w.leave(takenLanes, c.Block(target))
		w.jump(b.Next)
	case c.Block(b.Next).EndsLanes && !w.waitsForLanesAt(b.Next, b):
		w.count.DivergentBranches++
		w.leave(w.mask&^takenLanes, c.Block(b.Next))
		w.jump(target)
	default:
		w.branchGroups = [2]laneGroup{{b.Next, w.mask &^ takenLanes}, {target, takenLanes}}
		w.diverge(w.branchGroups[:], b.Reconverge)
	}
}

// waitsForLanesAt reports whether the policy has lanes wait at block pc, where there is nothing but the kernel's
// end, for others that a branch parts them from: where it has joins, those that come there in any case.
func (w *warp) waitsForLanesAt(pc int32, branch *code.Block) bool {
	return w.waitAtExit && (pc == branch.Reconverge || w.cta.grid.reconverge.reconvergence == lower.Never)
}

// markAtExit has lanes that wait before block pc be as good as ended, if there is nothing in it but the kernel's
// end: nobody waits for them (manual 9.7.13.1), and their registers are of no use any more.
func (w *warp) markAtExit(pc int32, lanes uint64) {
	if !w.waitAtExit || !w.cta.code.Block(pc).EndsLanes {
		return
	}
	w.live &^= lanes
	w.atExit |= lanes
	if w.numWaiting > 0 {
		w.executeCollectives() // of lanes that have waited for these
	}
}

// diverge sends the active lanes to several blocks, whose ways meet at block join.
func (w *warp) diverge(groups []laneGroup, join int32) {
	w.count.DivergentBranches++
	w.countSplits(w.mask, groups...)
	w.rc.split(w, groups, join)
}

// countSplits counts and tells that lanes part.
func (w *warp) countSplits(lanes uint64, groups ...laneGroup) {
	w.count.Splits += int64(len(groups) - 1)
	if w.cta.isSubscribed(probe.OnSplit) {
		w.emitGroups(probe.OnSplit, w.endSource(), lanes, groups...)
	}
}

// countReconvergence counts and tells that the lanes of a warp split are together again.
func (w *warp) countReconvergence(c *warpSplit) {
	w.count.Reconvergences++
	if w.cta.isSubscribed(probe.OnReconverge) {
		w.emitSplit(probe.OnReconverge, c, w.cta.code.source(w.cta.code.nextSource(c.pc, c.uncounted)), nil)
	}
}

// endSource is the PTX instruction that ends the present block, nil if none does.
func (w *warp) endSource() *code.Source {
	c := w.cta.code
	return c.source(c.End(c.Block(w.pc)).Src)
}

// leave executes the exit, all that is in block b, of some of the active lanes.
func (w *warp) leave(lanes uint64, b *code.Block) {
	src := w.cta.code.source(w.cta.code.End(b).Src)
	w.observeExit(src, lanes)
	n := int64(bits.OnesCount64(lanes))
	w.count.WarpInstructions++
	w.count.ThreadInstructions += n
	w.count.LaneSlots += n
	w.end(src, lanes)
}

// end takes lanes that have ended by an instruction out of the warp.
func (w *warp) end(src *code.Source, lanes uint64) {
	w.emitLanes(probe.OnExit, src, lanes)
	w.live &^= lanes
	w.atExit &^= lanes
	w.mask &^= lanes
	w.rc.end(w, lanes)
	if w.numWaiting > 0 {
		w.executeCollectives() // of lanes that have waited for these
	}
}

// indexed is brx.idx: lanes with the same target go together.
func (w *warp) indexed(b *code.Block) {
	w.count.Branches++
	end := w.cta.code.End(b)
	targets := w.cta.code.Targets[end.Side]
	m := w.guarded(end.Guard)
	var groups []laneGroup
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(rest)
		i := w.value(code.Row{Slot: code.R, Row: end.A}, lane)
		if i >= uint64(len(targets)) {
			w.fail(w.sourceOf(end), 1<<lane, probe.ErrBadTarget, "%v: index %d in a list of %d labels", probe.ErrBadTarget, i, len(targets))
			return
		}
		groups = addToGroup(groups, targets[i], 1<<lane)
	}
	if offset := w.mask &^ m; offset != 0 {
		groups = addToGroup(groups, b.Next, offset)
	}
	w.emitGroups(probe.OnBranch, w.sourceOf(end), m, groups...)
	if len(groups) == 1 {
		w.jump(groups[0].pc)
		return
	}
	w.diverge(groups, b.Reconverge)
}

// value reads a control operand of one lane.
func (w *warp) value(row code.Row, lane int) uint64 {
	f := &w.files[lane/32]
	if f.Tracked() {
		expand(f, row, 1<<(lane%32))
	}
	if row.Slot == code.Q {
		return f.Src64(row.Row)[lane%32]
	}
	return uint64(f.Src32(row.Row)[lane%32])
}

// tid is the linear index within the CTA of a lane's thread.
func (w *warp) tid(lane int) int { return w.id*w.cta.code.Width + lane }

// fail stops the warp with a trap for the lanes given.
func (w *warp) fail(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.newTrap(in, lanes, kind, format, args...)
	w.err = t
	return t
}

// newTrap makes a trap for the lanes given.
func (w *warp) newTrap(in *code.Source, lanes uint64, kind error, format string, args ...any) *probe.Trap {
	t := w.cta.newTrap(in, kind, format, args...)
	t.Warp, t.Lanes, t.Active = w.id, lanes, w.mask
	if lanes != 0 {
		t.Thread = w.cta.thread(w.tid(bits.TrailingZeros64(lanes)))
	}
	return t
}

// firstSource is an instruction to name when the block as a whole is meant; nil if none is in
// it.
func (c *Kernel) firstSource(b *code.Block) *code.Source {
	for _, instr := range c.Instrs[b.First : b.Last+1] {
		if instr.Src >= 0 {
			return &c.Sources[instr.Src]
		}
	}
	return nil
}
