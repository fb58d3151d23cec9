package simt

// This file is clusters (manual 3.2.1): CTAs that are admitted together, reach each other's
// shared memory, and meet at a barrier of their own. One worker at a time runs those of a
// cluster, one after the other: each its warps once, or until they wait, then the next.

import (
	"encoding/binary"
	"fmt"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
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
	seq  int64
	told map[uint64][]*effect // by the address of the mbarrier in .shared space; in the order of issue

	piped [][]*effect // by pair of CTAs: what tensor cores are to do, and to tell mbarriers, in the order of issue

	// The half of a round under way.
	under bool
	at    int   // the CTA whose turn it is
	left  []int // by rank: instructions of its slice
	moved bool  // one of the CTAs has executed something since the first had its turn,
	gains bool  // … and not only in loops that may wait, without a change of memory

	touched bool // something may have changed since the launch was saved or restored last
	states  int  // of a context of states: how many have it
}

// clusterBarrier is the number of the barrier of the cluster, where those of the CTA are 0 to 15.
const clusterBarrier = 16

// gatherCluster makes a cluster of a cluster of contexts for them, in the order of their ranks.
func gatherCluster(ctas []*cta) *cluster {
	cl := &cluster{ctas: ctas, left: make([]int, len(ctas))}
	for r, c := range ctas {
		c.cluster, c.rank = cl, r
		cl.shared = append(cl.shared, c.sharedMem)
		cl.live += len(c.warps)
	}
	cl.missing = cl.live
	return cl
}

// teamSize says how many CTAs a cluster has.
func (g *Grid) teamSize() string {
	if g.size == 1 {
		return "one cta"
	}
	return fmt.Sprintf("%d ctas", g.size)
}

// holder is the CTA whose shared memory an address in .shared space is in.
func (c *cta) holder(at uint64) *cta { return c.cluster.ctas[at>>mem.RankShift] }

// addressOf is the address in .shared space for an offset in the CTA's shared memory.
func (c *cta) addressOf(off uint64) uint64 { return uint64(c.rank)<<mem.RankShift + off }

// alongside is the address in .shared space that is in the CTA of a rank what another is in its
// own.
func alongside(at uint64, rank int) uint64 {
	return at&(1<<mem.RankShift-1) + uint64(rank)<<mem.RankShift
}

// begin has the CTAs of a cluster begin, all before one of them runs.
func (g *Grid) begin(flights []flight) {
	ctas := make([]*cta, len(flights))
	for i := range flights {
		ctas[i] = g.context()
		flights[i].cta = ctas[i]
	}
	gatherCluster(ctas)
	for i := range flights {
		ctas[i].start(flights[i].index)
	}
}

// cancel takes the cluster that would begin next out of the launch, if one would. It gives what
// lowerQueryCancel says of it. CTAs call it in their turns, when which is next does not depend on
// the host.
func (g *Grid) cancel() []byte {
	var words [4]uint32
	if g.next < g.total {
		id := g.place(g.next)
		words = [...]uint32{uint32(id.X), uint32(id.Y), uint32(id.Z), 1}
		g.next += g.size
		g.finished.Add(int64(g.size)) // with them: they will never be waited for
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
		g.begin(flights)
	}
	cl := flights[0].cta.cluster
	if !cl.under {
		cl.under, cl.at, cl.moved, cl.gains = true, 0, false, false
		for r := range cl.left {
			cl.left[r] = sliceParallel
		}
	}
	for {
		for ; cl.at < len(flights); cl.at++ {
			f, left := &flights[cl.at], &cl.left[cl.at]
			if f.status == hasFinished || *left <= 0 && f.status != hasPaused {
				continue
			}
			before, completed := *left, cl.completed
			noted := f.cta.noted || f.cta.changed
			f.cta.noted, f.cta.changed = false, false
			g.advance(f, before, false)
			*left = f.cta.left
			changed := f.cta.noted || f.cta.changed
			f.cta.noted = f.cta.noted || noted
			cl.moved = cl.moved || *left != before
			cl.gains = cl.gains || changed || cl.completed != completed
			switch f.status {
			case hasPaused:
				return true
			case failed:
				cl.under = false
				return false
			}
			cl.gains = cl.gains || !f.cta.spins()
		}
		if !cl.moved || !cl.gains { // they may wait for what another CTA does
			break
		}
		cl.at, cl.moved, cl.gains = 0, false, false
	}
	cl.under = false
	if who := cl.stuck(flights); who != nil {
		who.cta.err = who.cta.clusterDeadlock()
		who.status = failed
		who.cta.tellTrap(who.cta.err.(*Trap))
		g.fails(who)
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

// stuck is the first of the CTAs if none of them can ever go on, for all that have not ended
// wait at the cluster's barrier, or for warps that do; else nil.
func (cl *cluster) stuck(flights []flight) *flight {
	var first *flight
	for i := range flights {
		switch f := &flights[i]; f.status {
		case hasFinished:
		case awaitsCluster:
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
func (c *cta) clusterDeadlock() *Trap {
	var all standing
	var trap *Trap
	for _, o := range c.cluster.ctas {
		exited := 0
		for i := range o.warps {
			w := &o.warps[i]
			if w.state == ended {
				exited++
				continue
			}
			if trap == nil && w.state == atBarrier && w.atClusterBarrier() {
				at := &w.others[0]
				trap = w.fail(at.wait.src, at.mask, ErrDeadlock, "%v: the barrier of the cluster can never complete: %d of %d warps have not arrived", ErrDeadlock, c.cluster.missing, c.cluster.live)
				trap.Active = at.mask
			}
			all.add(w)
		}
		if exited == len(o.warps) {
			all.notes = append(all.notes, fmt.Sprintf("cta %s has exited", o.id))
		}
	}
	all.note(trap)
	return trap
}

// meetCluster executes the barrier.cluster that all lanes of the warp are at.
func (w *warp) meetCluster() {
	cl, arrives := w.cta.cluster, w.others[0].wait.op.Kind == code.BarClusterArrive
	for i := range w.others {
		b := w.others[i].wait
		if arrives != (b.op.Kind == code.BarClusterArrive) {
			return // some lanes arrive, others wait: none goes on
		}
		b.generation = cl.completed
	}
	src, lanes := w.others[0].wait.src, w.others[0].mask
	w.cta.met = true
	switch {
	case arrives && w.arrivedIn > 0:
		w.fail(src, lanes, ErrBarrier, "%v: warp %d arrives again at the barrier of the cluster, without barrier.cluster.wait in between", ErrBarrier, w.id)
	case arrives:
		w.arrivedIn = 1 + cl.completed
		w.pass()
		cl.missing--
		cl.complete()
	case w.arrivedIn == 0:
		w.fail(src, lanes, ErrBarrier, "%v: warp %d waits at the barrier of the cluster, where it has not arrived", ErrBarrier, w.id)
	case w.arrivedIn != 1+cl.completed:
		w.arrivedIn = 0
		w.pass()
	default:
		for i := range w.others {
			w.others[i].wait.arrived = true
		}
	}
}

// pass lets a warp go on all of whose strands wait.
func (w *warp) pass() {
	for i := range w.others {
		w.wake(&w.others[i])
	}
	w.unite()
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
				w.arrivedIn = 0
				w.pass()
			}
		}
	}
}

// atClusterBarrier reports whether the warp waits for the barrier of the cluster to complete.
func (w *warp) atClusterBarrier() bool {
	if len(w.others) == 0 { // machine code has it wait, at a barrier of the CTA
		return false
	}
	b := w.others[0].wait
	return b.op != nil && b.id == clusterBarrier && b.arrived
}

// leave takes a warp that has ended off those that the barrier waits for.
func (cl *cluster) leave(w *warp) {
	cl.live--
	if w.arrivedIn != 1+cl.completed {
		cl.missing--
	}
	if cl.missing == 0 {
		cl.complete()
	}
}
