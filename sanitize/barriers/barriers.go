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

// Wants: instructions, where they access memory, who waits and goes on, who ends.
func (p *probe) Wants() interp.Wants {
	return interp.Wants{
		Events:    interp.OnWarp | interp.OnBefore | interp.OnAfter | interp.OnWait | interp.OnWake | interp.OnExit | interp.OnCTAEnd,
		Addresses: true,
	}
}

// Chosen: the instructions that there is something to say about.
func (p *probe) Chosen(l *interp.LaunchInfo) []interp.Events { return p.plans.Of(l, newPlan).chosen }

// Tell: what the host does is of no interest.
func (p *probe) Tell(*interp.Event) {}

// CTA looks at each CTA, if there is something in the kernel to look at.
func (p *probe) CTA(l *interp.LaunchInfo, _ int, id interp.Dim3) interp.Sink {
	plan := p.plans.Of(l, newPlan)
	if !plan.any {
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

	barriers [17]barrier
	objects  []object // mbarriers that there are
	low, end uint64   // between which they lie

	cluster *cluster // nil if nothing is known of it
	rank    int

	values [3]interp.Value // room
}

// warp is what is known of a warp.
type warp struct {
	had     uint64    // lanes, at its begin
	live    uint64    // those that have not ended
	pending []pending // copies
	groups  [64]int   // committed, by lane
	arrived int       // how often at the barrier of the cluster
	waits   []group   // at barriers for all of the CTA that the warp must come to together
	gone    []group   // that have exited, while others live
	missed  []missed  // barriers that have completed without lanes that live
	woken   woken     // from the barrier that has completed last
	held    []group   // that the guards of barriers have held back, which was reported

	member [64]uint64 // membermasks of the instruction that is about to be executed
	from   uint64     // lanes that it takes values from which take no part …
	taker  uint64     // … and those that take them
}

// barrier is one of the CTA's: what has arrived since it completed last.
type barrier struct {
	generation int
	arrivals   uint64 // warps that have arrived and gone on
	threads    int    // that it waits for
	place      spot   // of the last
	users      uint64 // warps that have come to it with the count since all of the CTA have met
	counted    int    // … that count
	told       bool
}

// spot is where something has happened, to be told of later.
type spot struct{ index, warp, lane int }

func (c *cta) spot(e *interp.Event, lanes uint64) spot {
	return spot{e.Index, e.Warp, bits.TrailingZeros64(lanes)}
}

// place is a spot in full.
func (c *cta) place(e *interp.Event, s spot, role string) finding.Place {
	return finding.Of(e.Launch, s.index, role, e.ID, s.warp, s.lane)
}

// Save and Restore let a CTA go back with its launch.
func (c *cta) Save() any {
	s := *c
	s.warps, s.objects = nil, slices.Clone(c.objects)
	for _, w := range c.warps {
		if w != nil {
			n := *w
			n.pending, n.waits, n.gone = slices.Clone(w.pending), slices.Clone(w.waits), slices.Clone(w.gone)
			n.held, n.missed = slices.Clone(w.held), slices.Clone(w.missed)
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

// Tell looks at an event.
func (c *cta) Tell(e *interp.Event) {
	switch e.Kind {
	case interp.OnBefore:
		if a := &c.plan.actions[e.Index]; a.concern&collects != 0 && e.Lanes != 0 {
			c.members(e, a)
		}
	case interp.OnAfter:
		if a := &c.plan.actions[e.Index]; a.concern != 0 {
			c.after(e, a)
		}
	case interp.OnWarp:
		w := c.warp(e.Warp)
		w.live, w.had = e.Lanes, e.Lanes
	case interp.OnExit:
		w := c.warp(e.Warp)
		w.live &^= e.Lanes
		if c.plan.meets && (w.live != 0 || len(w.missed) > 0) {
			c.exits(e, w)
		}
		if len(w.pending) > 0 {
			c.leaves(e, w)
		}
	case interp.OnWait:
		if e.Waits.Barrier >= 0 {
			c.comes(e)
			c.warp(e.Warp).attends(e.Lanes)
			if w := c.warp(e.Warp); (e.Lanes != w.live || len(w.gone) > 0) && e.Instr.Form.Effects.Has(ptx.Aligned) {
				c.stays(e, w)
			}
		}
	case interp.OnWake:
		if e.Waits.Barrier >= 0 {
			c.goes(e)
			w := c.warp(e.Warp)
			w.attends(e.Lanes)
			if len(w.waits) > 0 {
				c.completes(e, w)
			}
			w.waits = remove(w.waits, e.Lanes)
		}
	case interp.OnCTAEnd:
		c.ends(e)
	}
}

// after looks at an instruction that has been executed.
func (c *cta) after(e *interp.Event, a *action) {
	w := c.warp(e.Warp)
	if a.concern&aligned != 0 && e.Lanes != 0 && e.Active != e.Lanes || a.concern&whole != 0 && e.Lanes != 0 && e.Lanes != w.live {
		c.diverges(e, w)
	}
	if e.Lanes == 0 {
		return
	}
	if a.concern&collects != 0 {
		c.together(e, a, w)
	}
	switch {
	case a.concern&copies != 0:
		c.copies(e, a, w)
	case a.concern&commits != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			w.groups[bits.TrailingZeros64(m)]++
		}
	case a.concern&waits != 0:
		w.awaits(e.Lanes, a.group)
	case a.concern&tells != 0:
		w.drop(e.Lanes)
	case a.concern&makes != 0:
		c.makes(e, a)
	}
	if a.concern&accesses != 0 {
		for i := range e.Accesses {
			c.accesses(e, w, &e.Accesses[i])
		}
	}
}

// diverges: not all lanes execute it that must.
func (c *cta) diverges(e *interp.Event, w *warp) {
	away := w.live &^ e.Lanes
	lane := bits.TrailingZeros64(e.Lanes)
	f := finding.Finding{
		Tool: Name, Kind: Divergent, At: finding.At(e, "executed", lane),
		Message: fmt.Sprintf("%s, which all threads of a warp must execute together, by some of them", e.Instr.Text),
	}
	f.At.Lanes = finding.Lanes(e.Lanes)
	if held := e.Active &^ e.Lanes; held != 0 {
		w.held = add(w.held, e.Index, held)
		f.Notes = append(f.Notes, fmt.Sprintf("its guard holds back %s, which have not exited", lanesOf(held)))
	} else if away != 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s, which have not exited, are elsewhere", lanesOf(away)))
	}
	c.log.Add(e, f)
}

func lanesOf(m uint64) string {
	if s := finding.Lanes(m); s != "" {
		return "lanes " + s
	}
	return fmt.Sprintf("lane %d", bits.TrailingZeros64(m))
}

// comes: lanes have come to a barrier of the CTA, or to that of the cluster, of which there is no count.
func (c *cta) comes(e *interp.Event) {
	b := &c.barriers[e.Waits.Barrier]
	n := e.Waits.Threads
	if n == 0 || e.Warp >= 64 || e.Waits.Barrier == len(c.barriers)-1 {
		return
	}
	if b.counted != n { // another use of it
		b.counted, b.users, b.told = n, 0, false
	}
	b.users |= 1 << e.Warp
	if most := n / e.Launch.WarpSize; bits.OnesCount64(b.users) > most && !b.told {
		b.told = true
		c.log.Add(e, finding.Finding{
			Tool: Name, Kind: Count, Severity: finding.Notice, At: finding.At(e, "barrier", bits.TrailingZeros64(e.Lanes)),
			Message: fmt.Sprintf("barrier %d waits for %d threads, %d warps, and %d have come to it since all warps have met: unless something else orders them, which of them meet is chance", e.Waits.Barrier, n, most, bits.OnesCount64(b.users)),
		})
	}
}

// goes: lanes go on behind a barrier, one of the CTA or that of the cluster.
func (c *cta) goes(e *interp.Event) {
	b := &c.barriers[e.Waits.Barrier]
	waits := e.Instr.Form.Effects.Has(ptx.Waits)
	if e.Waits.Barrier == len(c.barriers)-1 {
		if c.cluster != nil {
			c.meets(e, waits)
		}
		return
	}
	switch g := e.Waits.Generation; {
	case waits:
		if g >= b.generation {
			*b = barrier{generation: g + 1, users: b.users, counted: b.counted, told: b.told}
		}
		if e.Waits.Threads == 0 || e.Waits.Threads >= e.Launch.Block.Count() {
			for i := range c.barriers {
				c.barriers[i].users = 0
			}
		}
	case e.Warp < 64:
		if g > b.generation {
			*b = barrier{generation: g, users: b.users, counted: b.counted, told: b.told}
		}
		b.arrivals |= 1 << e.Warp
		b.threads, b.place = e.Waits.Threads, c.spot(e, e.Lanes)
	}
}

// ends looks at what the CTA leaves behind.
func (c *cta) ends(e *interp.Event) {
	for i := range c.barriers {
		b := &c.barriers[i]
		if n := bits.OnesCount64(b.arrivals) * e.Launch.WarpSize; n > 0 && n < b.threads {
			c.log.Add(e, finding.Finding{
				Tool: Name, Kind: Count, At: c.place(e, b.place, "arrival"),
				Message: fmt.Sprintf("barrier %d is left with %d of the %d threads that it waits for: nobody has waited for them", i, n, b.threads),
			})
		}
	}
	c.unfinished(e)
	if c.cluster != nil {
		c.cluster.leaves(c, e)
	}
}
