// Package barriers finds wrong uses of what orders threads: barriers, membermasks, asynchronous
// copies and their waits, mbarriers. What the machine traps at is none of its business; it tells
// of what passes, and passes elsewhere only by chance.
package barriers

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// Name is that of the tool.
const Name = "sync"

// The kinds of findings.
const (
	Divergent  = "divergent barrier"       // some lanes execute what all must execute together
	Exited     = "exit before a barrier"   // lanes have exited that others of their warp execute a barrier without
	Count      = "barrier count"           // arrivals and what a barrier waits for do not fit
	Membermask = "membermask"              // lanes that execute something together do not agree on who does
	Source     = "shuffle source"          // a value of a lane that takes no part
	Wait       = "missing cp.async wait"   // a copy is read, or left, before it has been waited for
	Mbarrier   = "mbarrier"                // what is done to one that is in use
	Cluster    = "exit before the cluster" // a CTA ends whose memory others have accessed since they met
)

// probe is the tool.
type probe struct {
	log *finding.Log

	plans plans.Cache[*plan]

	mu       sync.Mutex
	launch   *interp.LaunchInfo // under way
	clusters map[interp.Dim3]*cluster
}

// New makes the tool.
func New(log *finding.Log) interp.Probe { return &probe{log: log} }

// Subscription: instructions, where they access memory, who waits and goes on, who ends.
func (p *probe) Subscription() interp.Subscription {
	return interp.Subscription{
		Events:    interp.OnWarp | interp.OnBefore | interp.OnAfter | interp.OnWait | interp.OnWake | interp.OnExit | interp.OnCTAEnd,
		Addresses: true,
	}
}

// SelectEvents: the instructions that there is something to say about.
func (p *probe) SelectEvents(l *interp.LaunchInfo) []interp.Events {
	return p.plans.Get(l, newPlan).chosen
}

// OnEvent: what the host does is of no interest.
func (p *probe) OnEvent(*interp.Event) {}

// CTA looks at each CTA, if there is something in the kernel to look at.
func (p *probe) CTA(l *interp.LaunchInfo, _ int, id interp.Dim3) interp.Sink {
	plan := p.plans.Get(l, newPlan)
	if !plan.isNeeded {
		return nil
	}
	c := &cta{log: p.log, plan: plan}
	if plan.remote && l.Cluster.Count() > 1 {
		c.cluster, c.rank = p.clusterOf(l, id)
	}
	return c
}

// cta is what is known of a CTA.
type cta struct {
	log   *finding.Log
	plan  *plan
	warps []*warp

	barriers         [17]barrier
	objects          []mbarrierObject // mbarriers that there are
	lowAddr, endAddr uint64           // between which they lie

	cluster *cluster // nil if nothing is known of it
	rank    int

	values [3]interp.Value // room
}

// warp is what is known of a warp.
type warp struct {
	lanes      uint64          // lanes, at its begin
	live       uint64          // those that have not ended
	pending    []pendingCopy   // copies
	groups     [64]int         // committed, by lane
	arrived    int             // how often at the barrier of the cluster
	waiting    []group         // at barriers for all of the CTA that the warp must come to together
	exited     []group         // that have exited, while others live
	missed     []missedBarrier // barriers that have completed without lanes that live
	woken      wokenGroup      // from the barrier that has completed last
	guardedOff []group         // that the guards of barriers have held back, which was reported

	member  [64]uint64 // membermasks of the instruction that is about to be executed
	sources uint64     // lanes that it takes values from which take no part …
	takers  uint64     // … and those that take them
}

// barrier is one of the CTA's: what has arrived since it completed last.
type barrier struct {
	generation int
	arrivals   uint64 // warps that have arrived and gone on
	threads    int    // that it waits for
	place      spot   // of the last
	users      uint64 // warps that have come to it with the count since all of the CTA have met
	counted    int    // … that count
	reported   bool
}

// spot is where something has happened, to be told of later.
type spot struct{ index, warp, lane int }

func (c *cta) spot(e *interp.Event, lanes uint64) spot {
	return spot{e.Index, e.Warp, bits.TrailingZeros64(lanes)}
}

// place is a spot in full.
func (c *cta) place(e *interp.Event, s spot, role string) finding.Place {
	return finding.LaunchPlace(e.Launch, s.index, role, e.ID, s.warp, s.lane)
}

// Save and Restore let a CTA go back with its launch.
func (c *cta) Save() any {
	s := *c
	s.warps, s.objects = nil, slices.Clone(c.objects)
	for _, w := range c.warps {
		if w != nil {
			n := *w
			n.pending, n.waiting, n.exited = slices.Clone(w.pending), slices.Clone(w.waiting), slices.Clone(w.exited)
			n.guardedOff, n.missed = slices.Clone(w.guardedOff), slices.Clone(w.missed)
			w = &n
		}
		s.warps = append(s.warps, w)
	}
	return &s
}

// Restore: see Save.
func (c *cta) Restore(state any) { *c = *state.(*cta).Save().(*cta) }

// warp is that of an event.
func (c *cta) warp(i int) *warp {
	for len(c.warps) <= i {
		c.warps = append(c.warps, nil)
	}
	if c.warps[i] == nil {
		c.warps[i] = &warp{}
	}
	return c.warps[i]
}

// OnEvent looks at an event.
func (c *cta) OnEvent(e *interp.Event) {
	switch e.Kind {
	case interp.OnBefore:
		if a := &c.plan.actions[e.Index]; a.concern&collects != 0 && e.Lanes != 0 {
			c.members(e, a)
		}
	case interp.OnAfter:
		if a := &c.plan.actions[e.Index]; a.concern != 0 {
			c.afterInstr(e, a)
		}
	case interp.OnWarp:
		w := c.warp(e.Warp)
		w.live, w.lanes = e.Lanes, e.Lanes
	case interp.OnExit:
		w := c.warp(e.Warp)
		w.live &^= e.Lanes
		if c.plan.syncsWarps && (w.live != 0 || len(w.missed) > 0) {
			c.exits(e, w)
		}
		if len(w.pending) > 0 {
			c.laneExits(e, w)
		}
	case interp.OnWait:
		if e.Wait.Barrier >= 0 {
			c.arrive(e)
			c.warp(e.Warp).noteArrival(e.Lanes)
			if w := c.warp(e.Warp); (e.Lanes != w.live || len(w.exited) > 0) && e.Instr.Form.Effects.HasAll(ptx.Aligned) {
				c.waitAtBarrier(e, w)
			}
		}
	case interp.OnWake:
		if e.Wait.Barrier >= 0 {
			c.pass(e)
			w := c.warp(e.Warp)
			w.noteArrival(e.Lanes)
			if len(w.waiting) > 0 {
				c.completes(e, w)
			}
			w.waiting = remove(w.waiting, e.Lanes)
		}
	case interp.OnCTAEnd:
		c.finish(e)
	}
}

// afterInstr looks at an instruction that has been executed.
func (c *cta) afterInstr(e *interp.Event, a *action) {
	w := c.warp(e.Warp)
	if a.concern&aligned != 0 && e.Lanes != 0 && e.Active != e.Lanes || a.concern&whole != 0 && e.Lanes != 0 && e.Lanes != w.live {
		c.diverges(e, w)
	}
	if e.Lanes == 0 {
		return
	}
	if a.concern&collects != 0 {
		c.checkTogether(e, a, w)
	}
	switch {
	case a.concern&copies != 0:
		c.copies(e, a, w)
	case a.concern&commits != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			w.groups[bits.TrailingZeros64(m)]++
		}
	case a.concern&waitsForGroups != 0:
		w.completeGroups(e.Lanes, a.group)
	case a.concern&arrivesOnMbarrier != 0:
		w.drop(e.Lanes)
	case a.concern&initsMbarrier != 0:
		c.initMbarrier(e, a)
	}
	if a.concern&accesses != 0 {
		for i := range e.Accesses {
			c.accesses(e, w, &e.Accesses[i])
		}
	}
}

// diverges: not all lanes execute it that must.
func (c *cta) diverges(e *interp.Event, w *warp) {
	missing := w.live &^ e.Lanes
	lane := bits.TrailingZeros64(e.Lanes)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, Place: finding.PlaceOf(e, "executed", lane),
		Message: fmt.Sprintf("%s, which all threads of a warp must execute together, by some of them", e.Instr.Text),
	}
	f.Place.Lanes = finding.Lanes(e.Lanes)
	if guardedOff := e.Active &^ e.Lanes; guardedOff != 0 {
		w.guardedOff = add(w.guardedOff, e.Index, guardedOff)
		f.Notes = append(f.Notes, fmt.Sprintf("its guard holds back %s, which have not exited", lanesOf(guardedOff)))
	} else if missing != 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s, which have not exited, are elsewhere", lanesOf(missing)))
	}
	c.log.Add(e, f)
}

func lanesOf(m uint64) string {
	if s := finding.Lanes(m); s != "" {
		return "lanes " + s
	}
	return fmt.Sprintf("lane %d", bits.TrailingZeros64(m))
}

// arrive: lanes have come to a barrier of the CTA, or to that of the cluster, of which there is no count.
func (c *cta) arrive(e *interp.Event) {
	b := &c.barriers[e.Wait.Barrier]
	n := e.Wait.Threads
	if n == 0 || e.Warp >= 64 || e.Wait.Barrier == len(c.barriers)-1 {
		return
	}
	if b.counted != n { // another use of it
		b.counted, b.users, b.reported = n, 0, false
	}
	b.users |= 1 << e.Warp
	if maximum := n / e.Launch.WarpSize; bits.OnesCount64(b.users) > maximum && !b.reported {
		b.reported = true
		c.log.Add(e, finding.Finding{
			Tool: Name, Kind: Count, Severity: finding.Notice, Place: finding.PlaceOf(e, "barrier", bits.TrailingZeros64(e.Lanes)),
			Message: fmt.Sprintf("barrier %d waits for %d threads, %d warps, and %d have come to it since all warps have met: unless something else orders them, which of them meet is chance", e.Wait.Barrier, n, maximum, bits.OnesCount64(b.users)),
		})
	}
}

// pass: lanes go on behind a barrier, one of the CTA or that of the cluster.
func (c *cta) pass(e *interp.Event) {
	b := &c.barriers[e.Wait.Barrier]
	waits := e.Instr.Form.Effects.HasAll(ptx.Waits)
	if e.Wait.Barrier == len(c.barriers)-1 {
		if c.cluster != nil {
			c.passCluster(e, waits)
		}
		return
	}
	switch g := e.Wait.Generation; {
	case waits:
		if g >= b.generation {
			*b = barrier{generation: g + 1, users: b.users, counted: b.counted, reported: b.reported}
		}
		if e.Wait.Threads == 0 || e.Wait.Threads >= e.Launch.Block.Count() {
			for i := range c.barriers {
				c.barriers[i].users = 0
			}
		}
	case e.Warp < 64:
		if g > b.generation {
			*b = barrier{generation: g, users: b.users, counted: b.counted, reported: b.reported}
		}
		b.arrivals |= 1 << e.Warp
		b.threads, b.place = e.Wait.Threads, c.spot(e, e.Lanes)
	}
}

// finish looks at what the CTA leaves behind.
func (c *cta) finish(e *interp.Event) {
	for i := range c.barriers {
		b := &c.barriers[i]
		if n := bits.OnesCount64(b.arrivals) * e.Launch.WarpSize; n > 0 && n < b.threads {
			c.log.Add(e, finding.Finding{
				Tool: Name, Kind: Count, Place: c.place(e, b.place, "arrival"),
				Message: fmt.Sprintf("barrier %d is left with %d of the %d threads that it waits for: no thread waits for them", i, n, b.threads),
			})
		}
	}
	c.unfinished(e)
	if c.cluster != nil {
		c.cluster.laneExits(c, e)
	}
}
