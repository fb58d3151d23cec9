package core

import (
	"errors"
	"fmt"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/dispatch"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// Config is a machine.
type Config struct {
	Spec
	SMs         int           // number of multiprocessors
	L1Lines     bool          // a miss of the L1 reads the whole line, not sectors
	StoresEvict bool          // a store removes its line from the L1
	Memory      memory.Memory // memory behind the L1
	// Plan returns what depends on the launch. It is called when a launch begins.
	Plan func(l *stream.Launch) Plan
	// Observer receives what happens on the multiprocessors; nil: none.
	Observer Observer
}

// Plan is the resources of a launch.
type Plan struct {
	Resident   int                            // CTAs that fit on a multiprocessor, at least 1
	L1         cache.Shape                    // L1 of a multiprocessor; without ways: no L1
	Policy     func(cache.Shape) cache.Policy // replacement policy of the L1
	Dispatcher *dispatch.Checked              // multiprocessors of CTAs
	// Prefetch returns the line to read when a load misses a line in the L1; nil: none. The prefetch is dropped if the L1 has the line, or
	// has no free MSHR, or if the memory does not take it.
	Prefetch func(line uint64) (next uint64, ok bool)
	// Residency returns the residency of a multiprocessor for the launch, which begins after cycle now; nil: all warps of a CTA have their
	// resources while it is resident.
	Residency func(sm int, now int64) Residency
	// Access receives the accesses to memory in the order in which memory units take them: a transaction of a request, by its index in
	// w.Transactions; nil: none. It is not called for a launch that ends before it begins on the machine, because of the launches before it.
	Access func(w *stream.Warp, q *stream.Request, transaction int32)
	// Forms are the compressed forms in which lines move between the L1 and the memory behind it; nil: lines are never compressed.
	Forms Forms
	// Assist has the numbers of the controllers of assist warps that compress lines; nil: dedicated logic does it.
	Assist *Assist
	// Misses are the routines that assist warps execute when loads miss the L1; nil: none.
	Misses Misses
	// End is called when the launch ends, unless Access is not called; err is the error that ended it. It may be nil.
	End func(err error)
}

// Launch is the cycles of a launch.
type Launch struct {
	*probe.LaunchInfo
	Begin  int64 // first cycle
	Cycles int64 // number of cycles until all CTAs have ended, all stores have left their multiprocessor, and all other requests have a reply
	Counts
	Stalls         // over all schedulers of all multiprocessors; Total is Cycles times their number
	Instrs []Instr // by index of the instruction in the program
	Err    error   // error that ended the launch
	// Resources are the counts of the residency; nil without one.
	Resources *ResourceCounts
	// UnknownPhases is that of stream.Launch.
	UnknownPhases map[int]bool
}

// Machine is a GPU with a clock. It is a stream.Consumer, of a recorder that records instructions. Launches run one after another, in the
// order in which they begin.
type Machine struct {
	Config
	now      int64  // latest cycle
	runs     []*run // launches that have begun, in their order; the first is in progress
	launches []*Launch
	replies  []memory.Reply
	refuser  memory.Refuser // Memory, if it is one
	err      error
}

// New returns a machine. The Spec must pass its Check.
func New(c Config) *Machine {
	refuser, _ := c.Memory.(memory.Refuser)
	return &Machine{Config: c, refuser: refuser, now: -1}
}

// Launches returns the launches that have ended.
func (m *Machine) Launches() []*Launch { return m.launches }

// TakeLaunches returns the launches that have ended since the last call, and forgets them.
func (m *Machine) TakeLaunches() []*Launch {
	list := m.launches
	m.launches = nil
	return list
}

// Err returns the first error: of a dispatcher or a scheduler of another module, a CTA that does not fit, or a contradiction of counts.
func (m *Machine) Err() error { return m.err }

// run is a launch.
type run struct {
	*Machine
	info       *stream.Launch
	plan       Plan
	l1Bytes    bool  // there is an L1
	halves     int64 // times that a unit of 32 lanes executes a warp
	warps      int   // warps of a CTA
	localLines uint64
	program    []operation
	instrs     []Instr
	counts     Counts
	idle       int64
	stopped    bool // an error has ended the simulation: no further CTA begins, and no further cycle is executed
	sms        []*sm
	events
	progress
	residency
	synchronization
	queued     int   // instructions in the memory units
	unanswered int   // requests to the memory without a reply so far
	err        error // error of the launch
}

// events are the next events of multiprocessors.
type events struct {
	next    []int64 // by multiprocessor: cycle of its next event
	soonest int64   // minimum of next
	retry   []bool  // by multiprocessor: the memory behind the L1 did not take its request
}

// progress is the state of a launch on the machine.
type progress struct {
	begun bool
	late  bool  // its execution had ended before the machine could start it
	begin int64 // cycle of its start
}

// residency is the CTAs of a launch.
type residency struct {
	ended    []*cta  // CTAs that have ended in this cycle, by multiprocessor
	free     []place // places that the dispatcher has not filled
	arrived  map[int]*stream.CTA
	chosen   int  // CTA that the first of free waits for; -1: none
	resident int  // CTAs
	all      bool // all CTAs have arrived
}

// place is a place for a CTA.
type place struct{ sm, place int }

// BeginLaunch begins a launch.
func (m *Machine) BeginLaunch(l *stream.Launch) {
	m.runs = append(m.runs, &run{Machine: m, info: l, residency: residency{arrived: map[int]*stream.CTA{}, chosen: -1}})
}

// runOf returns the run of a launch.
func (m *Machine) runOf(l *stream.Launch) *run {
	for _, r := range m.runs {
		if r.info == l {
			return r
		}
	}
	return nil
}

// CTA runs the first launch until it needs a CTA that has not arrived.
func (m *Machine) CTA(l *stream.Launch, c *stream.CTA) {
	r := m.runOf(l)
	if r.stopped {
		return
	}
	r.arrived[c.Index] = c
	if r == m.runs[0] {
		r.advance()
	}
}

// EndLaunch ends a launch. It runs the launch to its end, unless a launch before it is in progress.
func (m *Machine) EndLaunch(l *stream.Launch, err error) {
	r := m.runOf(l)
	r.all, r.err, r.late = true, err, r != m.runs[0]
	for len(m.runs) > 0 && m.runs[0].all {
		r := m.runs[0]
		r.advance()
		m.launches = append(m.launches, r.result())
		m.runs = m.runs[1:]
	}
	if len(m.runs) > 0 {
		m.runs[0].advance()
	}
}

// stop notes an error after which the launch cannot continue.
func (r *run) stop(format string, args ...any) {
	r.fail(format, args...)
	r.stopped, r.arrived = true, map[int]*stream.CTA{}
}

// fail notes an error.
func (r *run) fail(format string, args ...any) {
	if r.Machine.err == nil {
		r.Machine.err = fmt.Errorf("kernel %s: %w", r.info.Kernel.Name, fmt.Errorf(format, args...))
	}
}

// start makes the multiprocessors of a launch.
func (r *run) start() {
	r.begun, r.begin = true, r.now+1
	l := r.info
	if r.Observer != nil {
		r.Observer.Begin(l, r.begin)
	}
	r.plan = r.Plan(l)
	if r.late {
		r.plan.Access, r.plan.End = nil, nil
	}
	r.l1Bytes = r.plan.L1.Ways > 0
	r.halves = int64(max(l.WarpSize/32, 1))
	r.warps = (l.Block.Count() + l.WarpSize - 1) / l.WarpSize
	if fit := maxSlots / r.warps; r.plan.Resident > fit {
		r.plan.Resident = fit
	}
	if r.plan.Resident < 1 {
		r.stop("a CTA has %d warps; a multiprocessor with a clock has %d slots", r.warps, maxSlots)
		return
	}
	if size, places := l.Cluster.Count(), r.plan.Resident*r.SMs; size > places {
		r.stop("a cluster has %d CTAs, which must be resident together; the machine has places for %d: choose a machine with more multiprocessors, or a smaller cluster", size, places)
		return
	}
	r.localLines = max(l.LocalLines, 1)
	r.program = decode(&r.Spec, l.LaunchInfo)
	r.instrs = make([]Instr, len(r.program))
	for i := range r.SMs {
		l1 := r.plan.L1
		if r.plan.Assist != nil {
			l1.Ways *= max(r.plan.Assist.L1Tags, 1)
		}
		s := &sm{run: r, number: i, last: r.now, memoryUnit: memoryUnit{served: -1, l1: cache.New[l1Line](l1, r.plan.Policy), mshrs: memory.MSHRs[int32]{Entries: r.MSHRs, Merges: r.Merges}}}
		for u := range Memory {
			s.free[u] = make([]int64, r.Units[u].Count)
		}
		for n := range r.Schedulers {
			slots := uint64(0)
			for slot := n; slot < maxSlots; slot += r.Schedulers {
				slots |= 1 << slot
			}
			s.schedulers = append(s.schedulers, scheduler{Scheduler: r.Policy.New(slots), slots: slots, stale: true})
		}
		if r.plan.Assist != nil || r.plan.Misses != nil {
			s.assists = &assists{}
		}
		if r.plan.Assist != nil {
			s.assists.Assist, s.assists.compress = *r.plan.Assist, true
			if l1.Ways > r.plan.L1.Ways && !s.l1.Trims() {
				r.stop("an L1 with %d tags for each of its %d ways: want at most 64 tags in a set, and the policy lru", s.assists.L1Tags, r.plan.L1.Ways)
				return
			}
		}
		if r.Observer != nil {
			s.observation = &observation{ready: make([]uint64, r.Schedulers)}
		}
		if r.plan.Residency != nil {
			s.resources = &resources{Residency: r.plan.Residency(i, r.now), epoch: r.begin + epochCycles}
		}
		r.sms = append(r.sms, s)
	}
	r.events = events{slices.Repeat([]int64{never}, r.SMs), never, make([]bool, r.SMs)}
	for p := range r.plan.Resident {
		for i := range r.SMs {
			r.free = append(r.free, place{i, p})
		}
	}
}

// lineOf returns the number of the line of a transaction. The local memory of all warps is contiguous, and that of a place is used by one CTA
// after another.
func (r *run) lineOf(s *sm, a *access, t *stream.Transaction) uint64 {
	if !t.Local {
		return t.Line
	}
	number := (uint64(a.cta.place)*uint64(r.SMs)+uint64(s.number))*uint64(r.warps) + uint64(a.index)
	all := uint64(r.plan.Resident) * uint64(r.SMs) * uint64(r.warps)
	return stream.FirstLocalLine + (t.Line/r.localLines*all+number)*r.localLines + t.Line%r.localLines
}

// schedule notes the next event of a multiprocessor after cycle now.
func (r *run) schedule(s *sm, now int64) {
	at := s.nextEvent(now)
	r.next[s.number], r.soonest = at, min(r.soonest, at)
}

// fill asks the dispatcher for CTAs of the free places. It returns false if it waits for a CTA to arrive.
func (r *run) fill() bool {
	for len(r.free) > 0 {
		p := r.free[0]
		if r.chosen < 0 {
			cta, ok := 0, false
			if !r.all || len(r.arrived) > 0 {
				cta, ok = r.plan.Dispatcher.Next(p.sm)
			}
			if !ok {
				r.free = r.free[1:]
				continue
			}
			r.chosen = cta
		}
		c := r.arrived[r.chosen]
		switch {
		case c == nil && !r.all:
			return false
		case c == nil: // a trap has ended the launch before it
			r.plan.Dispatcher.Ended(p.sm, r.chosen)
			r.chosen = -1
			continue
		}
		delete(r.arrived, r.chosen)
		r.free, r.chosen = r.free[1:], -1
		r.resident++
		r.sms[p.sm].begin(c, p.place, r.now)
	}
	return true
}

// advance runs the launch until it waits for a CTA, or to its end.
func (r *run) advance() {
	if !r.begun {
		r.start()
	}
	for !r.stopped && r.fill() && (r.resident > 0 || r.queued > 0 || r.unanswered > 0) {
		r.cycle()
	}
}

// cycle executes the next cycle with an event.
func (r *run) cycle() {
	memoryEvent := r.Memory.Next()
	now := min(memoryEvent, r.soonest, r.nextArrival())
	if now == never && len(r.clusters) > 0 {
		r.stop("warps wait for CTAs of their cluster that have no place after cycle %d: the dispatcher does not begin the CTAs of a cluster one after another, as rotation does", r.now-r.begin)
		return
	}
	if now == never {
		r.stop("warps wait for each other after cycle %d: the orders of their recorded barriers contradict each other", r.now-r.begin)
		return
	}
	r.now = now
	if memoryEvent == now {
		r.replies = r.Memory.Advance(now, r.replies[:0])
		for i := range r.replies {
			reply := &r.replies[i]
			r.sms[reply.SM].fill(reply, now)
			r.next[reply.SM] = now
		}
	}
	r.arriveLate(now)
	r.soonest = never
	for i, at := range r.next {
		if at <= now || memoryEvent == now && r.retry[i] && (r.refuser == nil || !r.refuser.Refuses(i)) {
			r.sms[i].step(now)
		} else {
			r.soonest = min(r.soonest, at)
		}
	}
	r.completePhases(now)
	for _, c := range r.ended {
		r.resident--
		r.plan.Dispatcher.Ended(c.sm.number, c.Index)
		r.free = append(r.free, place{c.sm.number, c.place})
	}
	r.ended = r.ended[:0]
	if r.Observer != nil {
		r.Observer.Cycle(now)
	}
}

// result returns the launch after its end.
func (r *run) result() *Launch {
	out := &Launch{LaunchInfo: r.info.LaunchInfo, Begin: r.begin, Cycles: r.now + 1 - r.begin, Instrs: r.instrs, Err: r.err, UnknownPhases: r.info.UnknownPhases}
	if r.err == nil && r.plan.Dispatcher != nil {
		if err := r.plan.Dispatcher.Err(); err != nil {
			r.fail("%w", err)
		}
	}
	for _, s := range r.sms {
		s.count(r.now + 1)
		if s.resources != nil {
			counts, err := s.resources.Close(r.now + 1)
			if err != nil {
				r.fail("%w", err)
			}
			if out.Resources == nil {
				out.Resources = &ResourceCounts{}
			}
			out.Resources.Add(&counts)
		}
	}
	if r.Observer != nil {
		r.Observer.End(r.now + 1)
	}
	if r.plan.End != nil {
		r.plan.End(r.err)
	}
	out.Counts = r.counts
	out.Stalls.Idle = r.idle
	for i := range r.instrs {
		out.Stalls.Add(&r.instrs[i].Stalls)
	}
	out.Instructions = out.Active
	if err := out.verify(int64(r.SMs * r.Schedulers)); err != nil {
		r.fail("BUG: %w", err)
	}
	return out
}

// verify returns an error if counts contradict each other.
func (l *Launch) verify(schedulers int64) error {
	causes := int64(0)
	var full Full
	for i := range l.Instrs {
		causes += l.Instrs[i].Causes
		full.Add(&l.Instrs[i].Full)
	}
	switch {
	case l.Stalls.Total() != l.Cycles*schedulers:
		return fmt.Errorf("the reasons have %d cycles, want %d cycles of %d schedulers", l.Stalls.Total(), l.Cycles, schedulers)
	case l.Loads != l.Hits+l.InFlight+l.Misses:
		return fmt.Errorf("the counts of the L1 contradict each other: %+v", l.Counts)
	case full.Total() != l.Memory:
		return fmt.Errorf("the memory unit is full for %d cycles of schedulers, its instructions have %+v", l.Memory, full)
	case causes > l.Data:
		return errors.New("more cycles have a cause than warps wait")
	}
	return nil
}
