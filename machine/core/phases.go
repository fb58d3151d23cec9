package core

import (
	"cmp"
	"slices"

	"gemu/machine/stream"
)

// This file has the phases of mbarriers and of the barrier of the cluster. A phase completes at the end of the cycle of its last arrival. So
// the result does not depend on the order in which the multiprocessors of a cluster are executed.

// synchronization is the clusters of a launch, and their phases.
type synchronization struct {
	clusters  map[*stream.Cluster]*cluster // clusters of which some CTAs have begun, and not all
	arrivals  []lateArrival                // arrivals in later cycles, by ascending cycle
	completed []*phase                     // phases that complete at the end of this cycle
}

// cluster is a cluster of which a CTA has begun.
type cluster struct {
	phases []phase
	left   int // CTAs that have not begun
}

// phase is a phase of an mbarrier or of the barrier of the cluster.
type phase struct {
	missing  int32 // arrivals that have not happened
	complete bool
	first    int32 // warp that waits: its slot plus maxSlots times its multiprocessor, plus 1; 0: none
}

// lateArrival is an arrival in a later cycle.
type lateArrival struct {
	at    int64
	phase *phase
}

// warpPhases is the progress of a warp in its phases.
type warpPhases struct {
	phase   int    // uses of phases so far
	arrival int    // arrivals whose instruction has been issued
	joins   []join // arrivals that wait for copies
}

// join is an arrival at a phase after the copies (cp.async) of a warp.
type join struct {
	stream.Arrival
	at int64 // first cycle of the arrival
}

// clusterOf returns the cluster of a CTA that begins.
func (r *run) clusterOf(c *stream.CTA) *cluster {
	if c.Cluster == nil {
		return nil
	}
	k := r.clusters[c.Cluster]
	if k == nil {
		k = &cluster{make([]phase, len(c.Cluster.Phases)), c.Cluster.CTAs}
		for i, n := range c.Cluster.Phases {
			k.phases[i].missing = n
		}
		if k.left > 1 {
			if r.clusters == nil {
				r.clusters = map[*stream.Cluster]*cluster{}
			}
			r.clusters[c.Cluster] = k
		}
	}
	if k.left--; k.left == 0 {
		delete(r.clusters, c.Cluster)
	}
	return k
}

// meetPhase brings a warp to its next phase. It returns true if the warp waits.
func (s *sm) meetPhase(slot int) bool {
	w := &s.slots[slot]
	at := &w.Phases[w.phase]
	w.phase++
	p := &w.cta.cluster.phases[at.Number]
	if !at.Waits {
		s.run.arrive(p)
		return false
	}
	if p.complete {
		return false
	}
	s.atBarrier |= 1 << slot
	s.touch(slot)
	if s.resources != nil {
		s.resources.Wait(slot, s.run.now+1)
	}
	w.barrier = max(w.lastInstr, 0)
	w.nextWaiter, p.first = p.first, int32(s.number*maxSlots+slot+1)
	return true
}

// arrive notes an arrival at a phase in this cycle.
func (r *run) arrive(p *phase) {
	if p.missing--; p.missing == 0 {
		r.completed = append(r.completed, p)
	}
}

// arriveAt notes arrivals in a cycle.
func (r *run) arriveAt(c *cluster, list []stream.Arrival, at, now int64) {
	for i := range list {
		p := &c.phases[list[i].Number]
		if at <= now {
			r.arrive(p)
			continue
		}
		k, _ := slices.BinarySearchFunc(r.arrivals, at+1, func(a lateArrival, at int64) int { return cmp.Compare(a.at, at) })
		r.arrivals = slices.Insert(r.arrivals, k, lateArrival{at, p})
	}
}

// nextArrival returns the cycle of the next arrival in a later cycle.
func (r *run) nextArrival() int64 {
	if len(r.arrivals) == 0 {
		return never
	}
	return r.arrivals[0].at
}

// arriveLate notes the arrivals of cycle now.
func (r *run) arriveLate(now int64) {
	n := 0
	for ; n < len(r.arrivals) && r.arrivals[n].at <= now; n++ {
		r.arrive(r.arrivals[n].phase)
	}
	r.arrivals = slices.Delete(r.arrivals, 0, n)
}

// completePhases completes the phases of cycle now. The warps that wait for them go on as after a barrier of the CTA.
func (r *run) completePhases(now int64) {
	for i := 0; i < len(r.completed); i++ { // a warp that goes on may complete a further phase
		p := r.completed[i]
		p.complete = true
		for next := p.first; next != 0; {
			s, slot := r.sms[(next-1)/maxSlots], int(next-1)%maxSlots
			next = s.slots[slot].nextWaiter
			s.count(now + 1)
			s.atBarrier &^= 1 << slot
			s.proceed(slot, now+r.Barrier, now)
			if s.observation != nil {
				s.observeNext(now)
			}
			r.schedule(s, now)
		}
	}
	r.completed = r.completed[:0]
}

// issueArrivals begins the arrivals of the asynchronous operations of an instruction that a warp has issued. load is the load of its data, or
// -1.
func (s *sm) issueArrivals(w *warp, load int32, now int64) {
	from := w.arrival
	for w.arrival < len(w.Arrivals) && w.Arrivals[w.arrival].Step == int64(w.next) {
		w.arrival++
	}
	list := w.Arrivals[from:w.arrival]
	switch {
	case len(list) == 0:
	case list[0].Copies: // all are of the same instruction
		for _, a := range list {
			w.joins = append(w.joins, join{a, now + s.run.Shared})
		}
		s.join(w, now)
	case load >= 0:
		s.loads[load].arrivals = list
	default:
		s.run.arriveAt(w.cta.cluster, list, now+s.run.Shared, now)
	}
}

// nextSynchronization returns the Step of the next meeting, use of a phase, or arrival of a warp; never without one.
func (w *warp) nextSynchronization() int64 {
	step := int64(never)
	if w.met < len(w.Meetings) {
		step = w.Meetings[w.met].Step
	}
	if w.phase < len(w.Phases) {
		step = min(step, w.Phases[w.phase].Step)
	}
	if w.arrival < len(w.Arrivals) {
		step = min(step, w.Arrivals[w.arrival].Step)
	}
	return step
}

// join makes the arrivals happen whose copies have their data, or know when.
func (s *sm) join(w *warp, now int64) {
	w.joins = slices.DeleteFunc(w.joins, func(j join) bool {
		at := j.at
		for i := range w.pending {
			if p := &w.pending[i]; int64(p.copied) < j.Step {
				at = max(at, p.at)
			}
		}
		if at == never {
			return false
		}
		s.run.arriveAt(w.cta.cluster, []stream.Arrival{j.Arrival}, at, now)
		return true
	})
}
