package barriers

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// Name is the name of this tool in findings.
const Name = "sync"

// The kinds of findings.
const (
	Divergent  = "divergent barrier"       // only some lanes execute an instruction that all lanes must execute together
	Exited     = "exit before a barrier"   // lanes execute a barrier after lanes of their warp have exited
	Count      = "barrier count"           // the arrivals do not match the barrier's thread count
	Membermask = "membermask"              // lanes that execute an instruction together have different membermasks
	Source     = "shuffle source"          // a shuffle reads the value of a lane that does not take part
	Wait       = "missing cp.async wait"   // a copy is read, or its thread exits, before the wait for the copy
	Mbarrier   = "mbarrier"                // misuse of an mbarrier that is in use
	Cluster    = "exit before the cluster" // a CTA ends although other CTAs accessed its memory after the last cluster barrier
)

// tool is the synchronisation checker.
type tool struct {
	log *finding.Log

	plans plans.Cache[*plan]

	mu       sync.Mutex
	launch   *probe.LaunchInfo // the running launch
	clusters map[ptx.Dim3]*cluster
	free     [][]*warp // the warps of CTAs that have ended
}

// New returns a checker that writes its findings to log.
func New(log *finding.Log) probe.Probe { return &tool{log: log} }

// Subscription asks for instructions, their accesses with addresses, waits at barriers, and exits.
func (p *tool) Subscription() probe.Subscription {
	return probe.Subscription{
		Events:    probe.OnWarp | probe.OnBefore | probe.OnAfter | probe.OnWait | probe.OnWake | probe.OnExit | probe.OnCTAEnd,
		Addresses: true,
	}
}

// SelectEvents selects the instructions with something to check.
func (p *tool) SelectEvents(l *probe.LaunchInfo) []probe.Events {
	return p.plans.Get(l, newPlan).chosen
}

// ReducedEvents selects the instructions with something to check in a warp whose 32 lanes live.
func (p *tool) ReducedEvents(l *probe.LaunchInfo) []probe.Events {
	return p.plans.Get(l, newPlan).reduced
}

// OnEvent ignores the events of the host.
func (p *tool) OnEvent(*probe.Event) {}

// CTA returns a sink for a CTA, or nil if the kernel has nothing to check.
func (p *tool) CTA(l *probe.LaunchInfo, _ int, id ptx.Dim3) probe.Sink {
	plan := p.plans.Get(l, newPlan)
	if !plan.isNeeded {
		return nil
	}
	c := &cta{log: p.log, plan: plan, tool: p, warps: p.takeWarps()}
	if plan.remote && l.Cluster.Count() > 1 {
		c.cluster, c.rank = p.clusterOf(l, id)
	}
	return c
}

// takeWarps returns warps of a CTA that has ended; nil if there are none. New warps for each CTA would take longer than their events.
func (p *tool) takeWarps() (list []*warp) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free) - 1; n >= 0 {
		list, p.free = p.free[n], p.free[:n]
	}
	return list
}

// releaseWarps keeps the warps of a CTA that has ended for another CTA.
func (c *cta) releaseWarps() {
	c.tool.mu.Lock()
	defer c.tool.mu.Unlock()
	c.tool.free = append(c.tool.free, c.warps)
	c.warps = nil
}

// cta is the state of a CTA.
type cta struct {
	tool  *tool
	log   *finding.Log
	plan  *plan
	warps []*warp

	barriers         [17]barrier
	objects          []mbarrierObject // initialised mbarriers
	lowAddr, endAddr uint64           // the range that contains all of them

	cluster *cluster // nil if it is not tracked
	rank    int

	values [3]probe.Value // scratch space
}

// warp is the state of a warp.
type warp struct {
	lanes      uint64          // lanes of the warp at its beginning
	live       uint64          // lanes that have not exited
	pending    []pendingCopy   // copies that have not been waited for
	groups     [64]int         // number of committed groups, by lane
	arrived    int             // number of arrivals at the cluster's barrier
	waiting    []group         // lanes that wait at an aligned barrier of the whole CTA
	exited     []group         // lanes that have exited while other lanes live
	missed     []missedBarrier // completed barriers that some live lanes did not execute
	woken      wokenGroup      // lanes that have left the latest completed barrier
	guardedOff []group         // lanes stopped by a barrier's guard, already reported

	member  [64]uint64 // membermasks of the current instruction, by lane
	sources uint64     // lanes that the current shuffle reads although they take no part
	takers  uint64     // lanes whose shuffle reads a lane of sources
}

// barrier is the state of a CTA's barrier since its last completion.
type barrier struct {
	generation int
	arrivals   uint64 // warps that arrived without waiting
	threads    int    // number of threads that the barrier waits for
	place      spot   // place of the latest arrival
	users      uint64 // warps that used the barrier with the thread count counted, since the last barrier of the whole CTA
	counted    int    // the thread count of users
	reported   bool
}

// spot is the place of an instruction's execution, in compact form.
type spot struct{ index, warp, lane int }

func (c *cta) spot(e *probe.Event, lanes uint64) spot {
	return spot{e.Index, e.Warp, bits.TrailingZeros64(lanes)}
}

// place returns the full form of a spot.
func (c *cta) place(e *probe.Event, s spot, role string) finding.Place {
	return finding.LaunchPlace(e.Launch, s.index, role, e.ID, s.warp, s.lane)
}

// Save returns a copy of the CTA's state, for launches that step back.
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

// Restore sets the state to a state from Save.
func (c *cta) Restore(state any) { *c = *state.(*cta).Save().(*cta) }

// warp returns the state of a warp, and creates it if necessary.
func (c *cta) warp(i int) *warp {
	for len(c.warps) <= i {
		c.warps = append(c.warps, nil)
	}
	if c.warps[i] == nil {
		c.warps[i] = &warp{}
	}
	return c.warps[i]
}

// OnEvent handles the events of the CTA.
func (c *cta) OnEvent(e *probe.Event) {
	switch e.Kind {
	case probe.OnBefore:
		if a := &c.plan.actions[e.Index]; a.concern&collects != 0 && e.Lanes != 0 {
			c.members(e, a)
		}
	case probe.OnAfter:
		if a := &c.plan.actions[e.Index]; a.concern != 0 {
			c.afterInstr(e, a)
		}
	case probe.OnWarp:
		w := c.warp(e.Warp)
		*w = warp{
			lanes: e.Lanes, live: e.Lanes,
			pending: w.pending[:0], waiting: w.waiting[:0], exited: w.exited[:0], missed: w.missed[:0], guardedOff: w.guardedOff[:0],
		}
		e.ReduceEvents(w.live == 1<<32-1)
	case probe.OnExit:
		w := c.warp(e.Warp)
		w.live &^= e.Lanes
		e.ReduceEvents(false)
		if c.plan.syncsWarps && (w.live != 0 || len(w.missed) > 0) {
			c.exits(e, w)
		}
		if len(w.pending) > 0 {
			c.laneExits(e, w)
		}
	case probe.OnWait:
		if e.Wait.Barrier >= 0 {
			c.arrive(e)
			c.warp(e.Warp).noteArrival(e.Lanes)
			if w := c.warp(e.Warp); (e.Lanes != w.live || len(w.exited) > 0) && e.Instr.Form.Effects.HasAll(ptx.Aligned) {
				c.waitAtBarrier(e, w)
			}
		}
	case probe.OnWake:
		if e.Wait.Barrier >= 0 {
			c.pass(e)
			w := c.warp(e.Warp)
			w.noteArrival(e.Lanes)
			if len(w.waiting) > 0 {
				c.noteCompletion(e, w)
			}
			w.waiting = remove(w.waiting, e.Lanes)
		}
	case probe.OnCTAEnd:
		c.finish(e)
		c.releaseWarps()
	}
}

// afterInstr checks an executed instruction.
func (c *cta) afterInstr(e *probe.Event, a *action) {
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

// diverges reports an instruction that all lanes must execute together, but only some of them execute.
func (c *cta) diverges(e *probe.Event, w *warp) {
	missing := w.live &^ e.Lanes
	lane := bits.TrailingZeros64(e.Lanes)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, Place: finding.PlaceOf(e, "executed", lane),
		Message: fmt.Sprintf("only some threads of the warp execute %s, which all must execute together", e.Instr.Text),
	}
	f.Place.Lanes = finding.Lanes(e.Lanes)
	if guardedOff := e.Active &^ e.Lanes; guardedOff != 0 {
		w.guardedOff = add(w.guardedOff, e.Index, guardedOff)
		f.Notes = append(f.Notes, "held back by its guard, not exited: "+probe.LaneText(guardedOff))
	} else if missing != 0 {
		f.Notes = append(f.Notes, "elsewhere, not exited: "+probe.LaneText(missing))
	}
	c.log.Add(e, f)
}

// arrive handles lanes that come to a barrier of the CTA or the cluster. The cluster's barrier has no thread
// count.
func (c *cta) arrive(e *probe.Event) {
	b := &c.barriers[e.Wait.Barrier]
	n := e.Wait.Threads
	if n == 0 || e.Warp >= 64 || e.Wait.Barrier == len(c.barriers)-1 {
		return
	}
	if b.counted != n { // a new use with another thread count
		b.counted, b.users, b.reported = n, 0, false
	}
	b.users |= 1 << e.Warp
	if maximum := n / e.Launch.WarpSize; bits.OnesCount64(b.users) > maximum && !b.reported {
		b.reported = true
		c.log.Add(e, finding.Finding{
			Tool: Name, Kind: Count, Severity: finding.Notice, Place: finding.PlaceOf(e, "barrier", bits.TrailingZeros64(e.Lanes)),
			Message: fmt.Sprintf("barrier %d waits for %d threads (%d warps), but %d warps have used it since the last barrier of all warps: if nothing else orders them, any of them may meet", e.Wait.Barrier, n, maximum, bits.OnesCount64(b.users)),
		})
	}
}

// pass handles lanes that leave a barrier of the CTA or the cluster.
func (c *cta) pass(e *probe.Event) {
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

// finish checks the state at the end of the CTA.
func (c *cta) finish(e *probe.Event) {
	for i := range c.barriers {
		b := &c.barriers[i]
		if n := bits.OnesCount64(b.arrivals) * e.Launch.WarpSize; n > 0 && n < b.threads {
			c.log.Add(e, finding.Finding{
				Tool: Name, Kind: Count, Place: c.place(e, b.place, "arrival"),
				Message: fmt.Sprintf("at the end barrier %d has %d of %d expected arrivals, and no thread waits at it", i, n, b.threads),
			})
		}
	}
	c.unfinished(e)
	if c.cluster != nil {
		c.cluster.ctaEnds(c, e)
	}
}
