package stream

import (
	"cmp"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// PhaseUse is the part of a warp in a phase of an mbarrier or of the barrier of the cluster: an operation on its counts, an arrival, or a wait.
// The phase completes when all its uses without a wait, and all its Arrivals, have happened.
//
// The phases are those of an execution: a warp waits only for phases that were complete there, so no two phases wait for each other.
type PhaseUse struct {
	Step   int64 // number of instructions that the warp has begun, with the one that uses the phase
	Number int32 // number in the cluster
	Waits  bool  // the warp waits until the phase completes; otherwise the phase waits for the warp
}

// Arrival is an asynchronous operation for which a phase waits.
type Arrival struct {
	Step   int64 // number of instructions that the warp has begun, with the one that issues the operation
	Number int32 // of the phase, in the cluster
	// Copies means that the operation arrives when the data of all copies by cp.async that the warp has issued before it are there. Other
	// operations arrive when the data of their own instruction are there, if it has requests.
	Copies bool
}

// Cluster is the CTAs of a cluster. Without clusters each CTA has its own.
type Cluster struct {
	CTAs   int     // number of CTAs
	Phases []int32 // by number of the phase: number of uses without a wait and of Arrivals
}

// cluster is a cluster that the recorder records. Its CTAs run on one host thread at a time.
type cluster struct {
	Cluster
	running   int               // CTAs that have not ended
	mbarriers map[uint64]phases // by address
	barrier   clusterBarrier
}

// phases are the latest phases of an mbarrier.
type phases struct {
	current   int32 // number of the current phase; -1: it has no use
	completed int32 // number of the phase that has completed last; -1: none
}

// clusterBarrier is the barrier of a cluster.
type clusterBarrier struct {
	current int32 // number of the current phase; -1: it has no arrival
	live    int   // warps that have not ended
	missing int   // warps that have neither ended nor arrived
}

func newCluster(ctas, warps int) *cluster {
	return &cluster{Cluster: Cluster{CTAs: ctas}, running: ctas, mbarriers: map[uint64]phases{}, barrier: clusterBarrier{-1, ctas * warps, ctas * warps}}
}

// newPhase adds a phase, and returns its number.
func (c *cluster) newPhase() int32 {
	c.Phases = append(c.Phases, 0)
	return int32(len(c.Phases) - 1)
}

// useMbarriers records the uses of mbarriers by an instruction or, in the stage Writes, by an asynchronous operation, which belongs to a step.
func (c *cta) useMbarriers(e *probe.Event, step int64) {
	w := &c.Warps[e.Warp]
	for i := range e.Mbarriers {
		u := &e.Mbarriers[i]
		at, ok := c.cluster.mbarriers[u.Address]
		if !ok {
			at = phases{-1, -1}
		}
		switch u.Kind {
		case probe.MbarrierReset:
			at = phases{-1, -1}
		case probe.MbarrierPassed:
			if n := len(w.Phases); at.completed >= 0 && (n == 0 || w.Phases[n-1].Number != at.completed || !w.Phases[n-1].Waits) {
				w.Phases = append(w.Phases, PhaseUse{step, at.completed, true})
			}
		case probe.MbarrierChange:
			if at.current < 0 {
				at.current = c.cluster.newPhase()
			}
			c.cluster.Phases[at.current]++
			if e.Kind == probe.OnEffect {
				w.Arrivals = append(w.Arrivals, Arrival{step, at.current, e.Effect.Arrives && e.Instr.Form.Family == ptx.FamilyAsync})
			} else {
				w.Phases = append(w.Phases, PhaseUse{step, at.current, false})
			}
			if u.Completes {
				at = phases{-1, at.current}
			}
		}
		c.cluster.mbarriers[u.Address] = at
	}
}

// arrive records that a warp arrives at the barrier of the cluster, or has ended.
func (c *cta) arrive(warp int) {
	b, w := &c.cluster.barrier, &c.Warps[warp]
	if b.current < 0 {
		b.current = c.cluster.newPhase()
	}
	c.cluster.Phases[b.current]++
	c.arrivedAt[warp] = b.current
	w.Phases = append(w.Phases, PhaseUse{w.Instructions, b.current, false})
	b.missing--
	b.complete()
}

// complete begins the next phase if no warp is missing.
func (b *clusterBarrier) complete() {
	if b.missing == 0 && b.live > 0 {
		b.current, b.missing = -1, b.live
	}
}

// passCluster records that a warp has arrived at the barrier of the cluster, or that it has waited there.
func (c *cta) passCluster(e *probe.Event) {
	if w := &c.Warps[e.Warp]; !c.launch.arrivals[e.Index] {
		if n := len(w.Phases); n == 0 || w.Phases[n-1] != (PhaseUse{w.Instructions, c.arrivedAt[e.Warp], true}) { // of other lanes
			w.Phases = append(w.Phases, PhaseUse{w.Instructions, c.arrivedAt[e.Warp], true})
		}
	} else if n := len(w.Phases); n == 0 || w.Phases[n-1].Step != w.Instructions {
		c.arrive(e.Warp)
	}
}

// leaveCluster records that a warp has ended, for which the barrier of the cluster does not wait.
func (c *cta) leaveCluster(warp int) {
	b := &c.cluster.barrier
	if b.live--; b.current < 0 || c.arrivedAt[warp] != b.current {
		c.arrive(warp)
	}
	b.complete()
}

// finish orders the arrivals of a CTA that has ended.
func (c *cta) finish() {
	for i := range c.Warps {
		slices.SortStableFunc(c.Warps[i].Arrivals, func(a, b Arrival) int { return cmp.Compare(a.Step, b.Step) })
	}
}

// testsMbarrier reports whether an instruction tests an mbarrier.
func testsMbarrier(instr *ptx.Instr) bool {
	effects := instr.Form.Effects
	return instr.Form.Family == ptx.FamilyMbarrier && effects.HasAll(ptx.Reads|ptx.Strong) && !effects.Any(ptx.Writes)
}

// notifiesMbarrier reports whether asynchronous operations of an instruction may notify an mbarrier. Those of cp.async do not.
func notifiesMbarrier(instr *ptx.Instr) bool {
	return instr.Form.Family != ptx.FamilyAsync || instr.Has("bulk") || !instr.Form.Effects.HasAll(ptx.Reads|ptx.Writes)
}

// joinsCluster reports whether an instruction is one of the barrier of the cluster.
func joinsCluster(instr *ptx.Instr) bool {
	return instr.Form.Family == ptx.FamilyBarrier && instr.Has("cluster")
}
