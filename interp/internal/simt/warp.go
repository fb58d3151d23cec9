package simt

// This file runs a warp: a backend executes code for its active lanes, and here is what
// that leaves to the machine, until the warp ends, waits, or has had its share.

import (
	"math/bits"

	"gemu/affinetrack"
	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/interp/internal/native"
	"gemu/regfile"
)

// kernelFrame is the number of words at the bottom of a thread's local memory
// that stay unused, so that no variable has address 0. The kernel's frame begins
// there, or where its alignment wants it.
const kernelFrame = code.FrameAlign

// warp is up to 64 threads that execute together.
type warp struct {
	strand       // that runs; without lanes if none does
	stop   int32 // the block where its lanes meet others
	heeds  bool  // the policy wants to know of every block that a strand comes to while there are others
	stays  bool  // lanes wait at the kernel's end
	life
	cta   *cta
	files []regfile.File // one per 32 lanes
	rc    reconverger
	ways  *joins // of a policy whose strands machine code may keep; nil of others

	others []strand    // that do not run
	left   int         // where strands take turns, what is left of that of the running one
	spare  []*wait     // for use again
	pair   [2]group    // of the branch under way
	away   *code.Instr // with errAway: what waits for lanes that are elsewhere; with errNoRoom, for tensor memory

	latest []latest // where the launch may pause: when its lanes began an instruction last, those that run at the end

	id     int          // within the CTA
	shown  *frame       // the window is at its registers
	local  [2]mem.Local // local memory: word i of all lanes of a half
	shadow [][]byte     // shadow bytes of local memory, by lane, as far as somebody has asked for them
	check  *check       // in check mode

	sources   []native.Source                            // special registers, for machine code
	lent      *lent                                      // what machine code is told; nil: nobody has asked
	expanding [2]func(bits int, row int32, lanes uint32) // for the files' OnExpand
	unit      affinetrack.Unit
}

// life is how far a warp has come in its CTA. It begins with nothing but lanes.
type life struct {
	state     warpState
	sliced    bool   // strands take turns
	changed   bool   // the running strand has changed memory in its turn
	yield     bool   // the warp gives up the rest of its share
	paused    bool   // it stands before an instruction of its block for a probe
	told      bool   // … that probes know of
	sourced   bool   // sources are those of the CTA
	share     int    // of the warp, what is left of it: instructions
	eased     uint64 // the sinks that are told less of it: bit i for sink i of the CTA
	err       error  // trap, or the answer that something is not run
	live      uint64 // lanes that have not ended, nor rest
	rests     uint64 // lanes that wait at the kernel's end for others: all they have left to do is to end
	waiting   int    // strands that wait
	awaits    uint64 // 1 + address in .shared space of the mbarrier that it has last looked at in vain; 0: none
	arrivedIn int    // 1 + how often the barrier of the cluster had completed when it arrived there; 0: it need not wait there
	count     Counts

	// Of the run under way, where a backend parts and joins strands itself.
	settled int64 // of count.WarpInstructions, those whose lanes are counted
	unpaid  int64 // … exits of lanes that a branch takes there, which nobody's share pays for
}

type warpState uint8

const (
	ready     warpState = iota
	atBarrier           // waits for other warps
	atVisible           // stands before a visible instruction, for its turn
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
	Splits             int64 // strands, which are lanes that go on together, that have left others
	Reconvergences     int64 // strands that have become one with others

	Engine EngineCounts // of compact execution, in check mode
}

// Add adds what another launch, or another part of one, has counted.
func (c *Counts) Add(o *Counts) {
	c.addExecuted(o)
	c.Engine.add(&o.Engine)
}

// addExecuted is Add for all but check mode.
func (c *Counts) addExecuted(o *Counts) {
	c.WarpInstructions += o.WarpInstructions
	c.ThreadInstructions += o.ThreadInstructions
	c.LaneSlots += o.LaneSlots
	c.Branches += o.Branches
	c.DivergentBranches += o.DivergentBranches
	c.Splits += o.Splits
	c.Reconvergences += o.Reconvergences
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
	if w.paused {
		w.share = max(w.share, 1) // it has a block to finish
	} else if w.yield = false; w.sliced {
		w.cta.note()
	}
	w = w.execute()
	if w.sliced {
		w.changed = w.changed || w.cta.changed
	}
	return w
}

// execute has the backend execute, and does what that leaves to the machine. It gives the warp whose turn it is then.
func (w *warp) execute() *warp {
	c := w.cta.code
	for w.share > 0 && w.state == ready && w.err == nil && (!w.yield || w.paused) {
		share := w.share
		if w.sliced {
			share = min(share, w.left)
		}
		before := w.count.WarpInstructions
		w.settled, w.unpaid = before, 0
		why := w.cta.runner.run(w, share)
		if o := w.cta.native.turned; o != nil { // its turn began meanwhile
			w, before, w.cta.native.turned = o, w.cta.began, nil
		}
		if why == lacks { // the block is executed to its end, so that shares are those of any backend
			why = Portable.run(w, 1)
		}
		w.charge(int(w.count.WarpInstructions - before - w.unpaid))
		switch why {
		case visible:
			w.state = atVisible
		case behind:
			w.state = atGroup
		case apart:
			w.callApart(c.Block(w.pc))
		case away:
			w.await()
			continue
		case event:
			if w.err = w.cta.stream.stop; w.err == nil { // it pauses
				return w
			}
		case parts, meets, control:
			w.finish(c.Block(w.pc))
		case nobody:
			w.schedule()
		}
		if w.sliced && w.state == ready && w.err == nil && (w.left <= 0 || w.yield) {
			w.changed = w.changed || w.cta.changed
			w.cta.note()
			w.rc.expire(w)
			w.left, w.changed = turnLength, false
		}
	}
	if w.share <= 0 && w.count.WarpInstructions > w.cta.grid.maxSteps && w.state == ready && w.err == nil {
		w.exceeds()
	}
	return w
}

// charge counts PTX instructions that the warp has executed, and those of the running strand that are not settled yet.
func (w *warp) charge(n int) {
	w.share -= n
	if w.sliced {
		w.left -= n
	}
	lanes := (w.count.WarpInstructions - w.settled) * int64(bits.OnesCount64(w.mask))
	w.count.LaneSlots += lanes
	w.count.ThreadInstructions += lanes
}

// exceeds stops the warp for it has executed more than it may. Threads that wait for each
// other, and change memory while they do, end so: the trap says where those of the CTA are.
func (w *warp) exceeds() {
	c := w.cta
	c.recalls()
	t := w.fail(c.code.anchor(c.code.Block(w.pc)), w.mask, ErrStepLimit, "%v: warp %d has executed %d instructions without ending", ErrStepLimit, w.id, w.count.WarpInstructions)
	if w.mayWait(&w.strand) {
		t.Notes = append(t.Notes, "it is in a loop that may wait for other threads; if it waits in vain, that is not found out earlier where somebody changes memory all the time")
	}
	if what := w.awaited(); what != "" {
		t.Notes = append(t.Notes, what)
	}
	if rest := w.live &^ w.mask; rest != 0 {
		t.Notes = append(t.Notes, w.whereabouts(rest)...)
	}
	var others standing
	for i := range c.warps {
		if o := &c.warps[i]; o != w && o.state != ended {
			others.add(o)
		}
	}
	others.note(t)
	if w.parted() && !w.sliced {
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

// finish executes the end of a block.
func (w *warp) finish(b *code.Block) {
	end := w.cta.code.End(b)
	if end.Skips {
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
		stay := w.mask &^ m
		if m != 0 {
			w.end(w.cta.code.source(end.Src), m)
		}
		if stay != 0 {
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
func (w *warp) branch(taken uint64, target int32, b *code.Block) {
	w.count.Branches++
	c := w.cta.code
	if w.cta.hears(OnBranch) {
		if w.tellWays(OnBranch, w.src(c.End(b)), taken, group{target, taken}, group{b.Next, w.mask &^ taken}); w.err != nil {
			return
		}
	}
	switch {
	case taken == w.mask || target == b.Next:
		w.jump(target)
	case taken == 0:
		w.jump(b.Next)
	case c.Block(target).Leaves && !w.gathers(target, b):
		w.count.DivergentBranches++
		w.leave(taken, c.Block(target))
		w.jump(b.Next)
	case c.Block(b.Next).Leaves && !w.gathers(b.Next, b):
		w.count.DivergentBranches++
		w.leave(w.mask&^taken, c.Block(b.Next))
		w.jump(target)
	default:
		w.pair = [2]group{{b.Next, w.mask &^ taken}, {target, taken}}
		w.fan(w.pair[:], b.Join)
	}
}

// gathers reports whether the policy has lanes wait at block pc, where there is nothing but the kernel's
// end, for others that a branch parts them from: where it has joins, those that come there in any case.
func (w *warp) gathers(pc int32, branch *code.Block) bool {
	return w.stays && (pc == branch.Join || !w.cta.grid.reconverge.Joins())
}

// rest has lanes that wait before block pc be as good as ended, if there is nothing in it but the kernel's
// end: nobody waits for them (manual 9.7.13.1), and their registers are of no use any more.
func (w *warp) rest(pc int32, lanes uint64) {
	if !w.stays || !w.cta.code.Block(pc).Leaves {
		return
	}
	w.live &^= lanes
	w.rests |= lanes
	if w.waiting > 0 {
		w.meetings() // of lanes that have waited for these
	}
}

// fan sends the active lanes to several blocks, whose ways meet at block join.
func (w *warp) fan(groups []group, join int32) {
	w.count.DivergentBranches++
	w.parts(w.mask, groups...)
	w.rc.split(w, groups, join)
}

// parts counts and tells that lanes part.
func (w *warp) parts(lanes uint64, groups ...group) {
	w.count.Splits += int64(len(groups) - 1)
	if w.cta.hears(OnSplit) {
		w.tellWays(OnSplit, w.ending(), lanes, groups...)
	}
}

// reunites counts and tells that the lanes of a strand are together again.
func (w *warp) reunites(c *strand) {
	w.count.Reconvergences++
	if w.cta.hears(OnJoin) {
		w.tellStrand(OnJoin, c, w.cta.code.source(w.cta.code.nextSource(c.pc, c.owed)), nil)
	}
}

// ending is the PTX instruction that ends the present block, nil if none does.
func (w *warp) ending() *code.Source {
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
	w.tellLanes(OnExit, src, lanes)
	w.live &^= lanes
	w.rests &^= lanes
	w.mask &^= lanes
	w.rc.end(w, lanes)
	if w.waiting > 0 {
		w.meetings() // of lanes that have waited for these
	}
}

// indexed is brx.idx: lanes with the same target go together.
func (w *warp) indexed(b *code.Block) {
	w.count.Branches++
	end := w.cta.code.End(b)
	targets := w.cta.code.Targets[end.Side]
	m := w.guarded(end.Guard)
	var groups []group
	for rest := m; rest != 0; rest &= rest - 1 {
		lane := bits.TrailingZeros64(rest)
		i := w.value(code.Row{Slot: code.R, Row: end.A}, lane)
		if i >= uint64(len(targets)) {
			w.fail(w.src(end), 1<<lane, ErrBadTarget, "%v: index %d in a list of %d labels", ErrBadTarget, i, len(targets))
			return
		}
		groups = gather(groups, targets[i], 1<<lane)
	}
	if off := w.mask &^ m; off != 0 {
		groups = gather(groups, b.Next, off)
	}
	w.tellWays(OnBranch, w.src(end), m, groups...)
	if len(groups) == 1 {
		w.jump(groups[0].pc)
		return
	}
	w.fan(groups, b.Join)
}

// value reads a control operand of one lane.
func (w *warp) value(o code.Row, lane int) uint64 {
	f := &w.files[lane/32]
	if f.Tracked() {
		expand(f, o, 1<<(lane%32))
	}
	if o.Slot == code.Q {
		return f.Src64(o.Row)[lane%32]
	}
	return uint64(f.Src32(o.Row)[lane%32])
}

// tid is the linear index within the CTA of a lane's thread.
func (w *warp) tid(lane int) int { return w.id*w.cta.code.Width + lane }

// fail stops the warp with a trap for the lanes given.
func (w *warp) fail(in *code.Source, lanes uint64, kind error, format string, args ...any) *Trap {
	t := w.newTrap(in, lanes, kind, format, args...)
	w.err = t
	return t
}

// newTrap makes a trap for the lanes given.
func (w *warp) newTrap(in *code.Source, lanes uint64, kind error, format string, args ...any) *Trap {
	t := w.cta.newTrap(in, kind, format, args...)
	t.Warp, t.Lanes, t.Active = w.id, lanes, w.mask
	if lanes != 0 {
		t.Thread = w.cta.thread(w.tid(bits.TrailingZeros64(lanes)))
	}
	return t
}

// anchor is an instruction to name when the block as a whole is meant; nil if none is in
// it.
func (c *Kernel) anchor(b *code.Block) *code.Source {
	for _, in := range c.Instrs[b.First : b.Last+1] {
		if in.Src >= 0 {
			return &c.Sources[in.Src]
		}
	}
	return nil
}
