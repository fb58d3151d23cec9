package simt

// This file is clusters (manual 3.2.1): CTAs that are admitted together, reach each other's
// shared memory, and meet at a barrier of their own. One worker at a time runs those of a
// cluster, one after the other: each its warps once, or until they wait, then the next.

import (
	"encoding/binary"
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/probe"
)

// cluster is the CTAs of one. Without clusters a CTA has one for itself.
type cluster struct {
	ctas   []*cta            // by rank
	shared []*mem.Allocation // their shared memory; nil for one CTA

	// The barrier. It completes when no warp is missing.
	missing   int // warps that have neither ended nor arrived
	live      int // warps that have not ended
	completed int // how often it has

	// What the CTAs have issued that mbarriers are told of.
	seq     int64
	pending map[uint64][]*effect // by the address of the mbarrier in .shared space; in the order of issue

	pipes [][]*effect // by pair of CTAs: what tensor cores are to do, and to tell mbarriers, in the order of issue

	// The half of a round under way.
	halfUnderway bool
	nextCTA      int   // the CTA whose turn it is
	instrsLeft   []int // by rank: instructions of its slice
	anyExecuted  bool  // one of the CTAs has executed something since the first had its turn,
	anyProgress  bool  // … and not only in loops that may wait, without a change of memory

	changedSinceSave bool // something may have changed since the launch was saved or restored last
	stateRefs        int  // of a context of states: how many have it
}

// clusterBarrier is the number of the barrier of the cluster, where those of the CTA are 0 to 15.
const clusterBarrier = 16

// newCluster makes a cluster of a cluster of contexts for them, in the order of their ranks.
func newCluster(ctas []*cta) *cluster {
	cl := &cluster{ctas: ctas, instrsLeft: make([]int, len(ctas))}
	for r, c := range ctas {
		c.cluster, c.rank = cl, r
		cl.shared = append(cl.shared, c.sharedMem)
		cl.live += len(c.warps)
	}
	cl.missing = cl.live
	return cl
}

// clusterSizeText says how many CTAs a cluster has.
func (g *Grid) clusterSizeText() string {
	if g.clusterSize == 1 {
		return "one cta"
	}
	return fmt.Sprintf("%d ctas", g.clusterSize)
}

// ctaAt is the CTA whose shared memory an address in .shared space is in.
func (c *cta) ctaAt(addr uint64) *cta { return c.cluster.ctas[addr>>probe.RankShift] }

// addressOf is the address in .shared space for an offset in the CTA's shared memory.
func (c *cta) addressOf(offset uint64) uint64 { return uint64(c.rank)<<probe.RankShift + offset }

// addressInRank is the address in .shared space that is in the CTA of a rank what another is in its
// own.
func addressInRank(addr uint64, rank int) uint64 {
	return addr&(1<<probe.RankShift-1) + uint64(rank)<<probe.RankShift
}

// beginCluster has the CTAs of a cluster begin, all before one of them runs.
func (g *Grid) beginCluster(flights []flight) {
	ctas := make([]*cta, len(flights))
	for i := range flights {
		ctas[i] = g.takeContext()
		flights[i].cta = ctas[i]
	}
	newCluster(ctas)
	for i := range flights {
		ctas[i].start(flights[i].index)
	}
}

// cancel takes the cluster that would begin next out of the launch, if one would. It gives what
// lowerQueryCancel says of it. CTAs call it in their turns, when which is next does not depend on
// the host.
func (g *Grid) cancel() []byte {
	var words [4]uint32
	if g.next < g.numCTAs {
		id := g.ctaID(g.next)
		words = [...]uint32{uint32(id.X), uint32(id.Y), uint32(id.Z), 1}
		g.next += g.clusterSize
		g.finished.Add(int64(g.clusterSize)) // with them: they will never be waited for
	}
	var data []byte
	for _, v := range words {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	return data
}

// parallelCluster is a cluster's part of the first half of a round. It reports whether one of
// its CTAs pauses.
func (g *Grid) parallelCluster(flights []flight) (paused bool) {
	if flights[0].cta == nil {
		g.beginCluster(flights)
	}
	cl := flights[0].cta.cluster
	if !cl.halfUnderway {
		cl.halfUnderway, cl.nextCTA, cl.anyExecuted, cl.anyProgress = true, 0, false, false
		for r := range cl.instrsLeft {
			cl.instrsLeft[r] = sliceParallel
		}
	}
	for {
		for ; cl.nextCTA < len(flights); cl.nextCTA++ {
			f, left := &flights[cl.nextCTA], &cl.instrsLeft[cl.nextCTA]
			if f.status == ctaEnded || *left <= 0 && f.status != ctaPaused {
				continue
			}
			before, completed := *left, cl.completed
			noted := f.cta.changedBefore || f.cta.changed
			f.cta.changedBefore, f.cta.changed = false, false
			g.advance(f, before, false)
			*left = f.cta.instrsLeft
			changed := f.cta.changedBefore || f.cta.changed
			f.cta.changedBefore = f.cta.changedBefore || noted
			cl.anyExecuted = cl.anyExecuted || *left != before
			cl.anyProgress = cl.anyProgress || changed || cl.completed != completed
			switch f.status {
			case ctaPaused:
				return true
			case ctaFailed:
				cl.halfUnderway = false
				return false
			}
			cl.anyProgress = cl.anyProgress || !f.cta.spins()
		}
		if !cl.anyExecuted || !cl.anyProgress { // they may wait for what another CTA does
			break
		}
		cl.nextCTA, cl.anyExecuted, cl.anyProgress = 0, false, false
	}
	cl.halfUnderway = false
	if trapFlight := cl.stuckFlight(flights); trapFlight != nil {
		trapFlight.cta.err = trapFlight.cta.clusterDeadlock()
		trapFlight.status = ctaFailed
		trapFlight.cta.emitTrap(trapFlight.cta.err.(*probe.Trap))
		g.recordFailure(trapFlight)
	}
	return false
}

// spins reports whether all that runs in the CTA, and could, is in loops that may wait.
func (c *cta) spins() bool {
	for i := range c.warps {
		if w := &c.warps[i]; w.state == ready && !w.spins() {
			return false
		}
	}
	return true
}

// stuckFlight is the first of the CTAs if none of them can ever go on, for all that have not ended
// wait at the cluster's barrier, or for warps that do; else nil.
func (cl *cluster) stuckFlight(flights []flight) *flight {
	var first *flight
	for i := range flights {
		switch f := &flights[i]; f.status {
		case ctaEnded:
		case waitsForCluster:
			if first == nil {
				first = f
			}
		default:
			return nil
		}
	}
	return first
}

// clusterDeadlock says who waits where.
func (c *cta) clusterDeadlock() *probe.Trap {
	var all stuckWarps
	var trap *probe.Trap
	for _, other := range c.cluster.ctas {
		exited := 0
		for i := range other.warps {
			w := &other.warps[i]
			if w.state == ended {
				exited++
				continue
			}
			if trap == nil && w.state == atBarrier && w.atClusterBarrier() {
				split := &w.waitingSplits[0]
				trap = w.fail(split.wait.src, split.mask, probe.ErrDeadlock, "%v: the barrier of the cluster can never complete: %d of %d warps have not arrived", probe.ErrDeadlock, c.cluster.missing, c.cluster.live)
				trap.Active = split.mask
			}
			all.add(w)
		}
		if exited == len(other.warps) {
			all.notes = append(all.notes, fmt.Sprintf("cta %s has exited", other.id))
		}
	}
	all.addTo(trap)
	return trap
}

// arriveAtClusterBarrier executes the barrier.cluster that all lanes of the warp are at.
func (w *warp) arriveAtClusterBarrier() {
	cl, arrives := w.cta.cluster, w.waitingSplits[0].wait.op.Kind == code.BarClusterArrive
	for i := range w.waitingSplits {
		b := w.waitingSplits[i].wait
		if arrives != (b.op.Kind == code.BarClusterArrive) {
			return // some lanes arrive, others wait: none goes on
		}
		b.generation = cl.completed
	}
	src, lanes := w.waitingSplits[0].wait.src, w.waitingSplits[0].mask
	w.cta.barrierUsed = true
	switch {
	case arrives && w.clusterArrival > 0:
		w.fail(src, lanes, probe.ErrBarrier, "%v: warp %d arrives again at the barrier of the cluster, without barrier.cluster.wait in between", probe.ErrBarrier, w.id)
	case arrives:
		w.clusterArrival = 1 + cl.completed
		w.pass()
		cl.missing--
		cl.complete()
	case w.clusterArrival == 0:
		w.fail(src, lanes, probe.ErrBarrier, "%v: warp %d waits at the barrier of the cluster, where it has not arrived", probe.ErrBarrier, w.id)
	case w.clusterArrival != 1+cl.completed:
		w.clusterArrival = 0
		w.pass()
	default:
		for i := range w.waitingSplits {
			w.waitingSplits[i].wait.arrived = true
		}
	}
}

// pass lets a warp go on all of whose warp splits wait.
func (w *warp) pass() {
	for i := range w.waitingSplits {
		w.wake(&w.waitingSplits[i])
	}
	w.merge()
	w.state = ready
	w.schedule()
}

// complete completes the barrier if no warp is missing, and lets go on those that wait there.
func (cl *cluster) complete() {
	if cl.missing > 0 || cl.live == 0 {
		return
	}
	cl.missing = cl.live
	cl.completed++
	for _, c := range cl.ctas {
		for i := range c.warps {
			w := &c.warps[i]
			if w.state == atBarrier && w.atClusterBarrier() {
				w.clusterArrival = 0
				w.pass()
			}
		}
	}
}

// atClusterBarrier reports whether the warp waits for the barrier of the cluster to complete.
func (w *warp) atClusterBarrier() bool {
	if len(w.waitingSplits) == 0 { // machine code has it wait, at a barrier of the CTA
		return false
	}
	b := w.waitingSplits[0].wait
	return b.op != nil && b.id == clusterBarrier && b.arrived
}

// leave takes a warp that has ended off those that the barrier waits for.
func (cl *cluster) leave(w *warp) {
	cl.live--
	if w.clusterArrival != 1+cl.completed {
		cl.missing--
	}
	if cl.missing == 0 {
		cl.complete()
	}
}
