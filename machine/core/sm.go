package core

import (
	"math"
	"math/bits"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// never is later than all cycles.
const never = memory.Never

// sm is a multiprocessor. A slot with a warp is in one of the sets of ready, waiting and atBarrier, lacks resources, or its warp has no further instruction.
type sm struct {
	run    *run
	number int
	last   int64 // latest cycle that has been counted

	warps     Warps
	slots     [maxSlots]warp
	used      uint64          // slots of resident CTAs
	ready     [classes]uint64 // slots whose next instruction can issue, by unit
	waiting   uint64          // slots that wait for registers
	atBarrier uint64
	wheel     wheel

	schedulers []scheduler
	free       [classes][]int64 // cycle from which on each unit is free

	memoryUnit
	ending      uint64       // slots whose warps end in this cycle
	observation *observation // nil without an observer
	assists     *assists     // nil without assist warps
	resources   *resources   // nil without a residency
}

// memoryUnit is the memory unit of a multiprocessor, with its L1.
type memoryUnit struct {
	l1       *cache.Lines[l1Line]
	mshrs    memory.MSHRs[int32] // the waiting accesses are indices in loads
	access   cache.Access        // reused: an access that a policy is given is on the heap
	request  memory.Request      // reused: a request that a memory is given is on the heap
	loads    []load
	freeLoad []int32

	queue     []access // instructions in the unit, the oldest first
	served    int32    // latest instruction of which the unit has taken something, or wanted to; -1: none, or it has ended
	portsFree int64    // cycle from which on shared memory is free
	blocked   bool     // the unit waits for a fill of the L1
	refused   bool     // the unit waits for the memory behind the L1, which has not taken its request
}

// scheduler is a scheduler of a multiprocessor, and the reason why it does not issue.
type scheduler struct {
	Scheduler
	slots  uint64
	stale  bool   // the reason must be found again
	reason *int64 // count of the reason, of an instruction; nil: Stalls.Idle of the launch
	cause  *int64 // Instr.Causes of the instruction whose result is missing; nil: none
	isFull bool   // the reason is that the memory unit is full
	waits  Reason // kind of the reason, in which data of memory count as memory; Issues: there is no warp
}

// l1Line is a line of the L1.
type l1Line struct {
	valid uint8 // sectors that it has
	form  uint8 // bursts of its form; 0: it is not in a form
	ahead bool  // it was read ahead, and no load has accessed it
}

// warp is a warp in a slot. The fields that each instruction needs are next to each other.
type warp struct {
	Executed    []stream.Instruction // those of Warp, which is elsewhere in memory
	next        int                  // index of the next instruction
	synchronize int64                // Step of the next meeting, use of a phase, or arrival; never: none
	pending     []write
	filter      uint64 // bits of the registers of pending (filterBit)
	wake        int64  // cycle in which the next instruction can issue, if the slot is in the wheel
	from        int64  // first cycle in which the next instruction can issue apart from its registers
	cause       int32  // instruction for whose result, or after which, the warp waits; -1: none
	lastInstr   int32  // latest instruction
	group       int32  // number of the current group of asynchronous copies
	demand

	*stream.Warp
	cta   *cta
	index int // in the CTA
	met   int // meetings to which the warp has come
	warpPhases
	barrier    int32 // instruction at which the warp waits, if it waits for a meeting
	nextWaiter int32 // next warp that waits for the same meeting or phase: see meeting.first and phase.first
}

// demand is what the next instruction of a warp needs.
type demand struct {
	unit     Class // unit
	isMemory bool  // it uses the memory unit
	request  int   // index of the next request
	requests int   // number of its requests, if it is of class Memory
}

// write is a result that is not written yet.
type write struct {
	at       int64 // cycle from which on it can be used; never: unknown
	register int32 // number of the register; less than 0: an asynchronous copy, minus 1 minus its group
	instr    int32
	load     int32 // load that writes it, if at is never
	copied   int32 // index of the instruction in Warp.Executed if it is a copy by cp.async; else noCopy
}

// noCopy is later than all instructions.
const noCopy = math.MaxInt32

// noRegister is the register of a load whose result is not used. Its warp ends after it.
const noRegister = math.MinInt32

// load is a load in flight: its transactions that have no data yet.
type load struct {
	slot    int8
	instr   int32
	taken   bool  // the memory unit has taken all transactions
	direct  bool  // with Assist.DirectLoad: it takes its bytes from forms
	missing int32 // transactions that wait for the memory behind the L1
	at      int64 // cycle in which the data of the other transactions are ready
	// arrivals are asynchronous operations at mbarriers that arrive when all data are ready.
	arrivals []stream.Arrival
}

// access is an instruction in the memory unit.
type access struct {
	warp         *stream.Warp
	cta          *cta
	index        int   // of the warp in the CTA; the warp may have ended
	load         int32 // -1: it has no result
	instr        int32
	passes       int64 // passes over the banks of shared memory that are left
	request, end int32 // requests that are left
	transaction  int32 // of the request
	moved        bool  // it is no access of the execution (sm.move)
	missed       bool  // a line has begun a routine of Plan.Misses
}

// cta is a resident CTA.
type cta struct {
	*stream.CTA
	sm       *sm
	place    int
	running  int // warps that have not ended
	slots    uint64
	meetings []meeting
	cluster  *cluster
	from     int64 // first cycle, for an observer
}

// meeting is a meeting at a barrier.
type meeting struct {
	missing int32 // warps that have not come
	first   int32 // slot of a warp that waits, plus 1; 0: none
}

// begin begins a CTA in the cycle after now.
func (s *sm) begin(c *stream.CTA, place int, now int64) {
	s.count(now + 1)
	r := &cta{CTA: c, sm: s, place: place, running: len(c.Warps), meetings: make([]meeting, c.Meetings), cluster: s.run.clusterOf(c)}
	for w := range c.Warps {
		for i := range c.Warps[w].Meetings {
			r.meetings[c.Warps[w].Meetings[i].Number].missing++
		}
	}
	first := 0
	for w := range c.Warps {
		slot := bits.TrailingZeros64(^s.used >> first << first)
		first = slot + 1
		s.used |= 1 << slot
		r.slots |= 1 << slot
		s.warps.begun++
		s.warps.ages[slot] = s.warps.begun
		if s.assists != nil {
			s.assists.misses[slot] = missState{}
		}
		s.slots[slot] = warp{Warp: &c.Warps[w], Executed: c.Warps[w].Executed, cta: r, index: w, pending: s.slots[slot].pending[:0], warpPhases: warpPhases{joins: s.slots[slot].joins[:0]}, lastInstr: -1, wake: never}
	}
	if s.resources != nil {
		s.resources.Begin(c, place, r.slots, now+1)
	}
	for m := r.slots; m != 0; m &= m - 1 {
		s.proceed(bits.TrailingZeros64(m), now+1, now)
	}
	if s.resources != nil {
		s.release(now)
	}
	if s.observation != nil {
		s.observeBegin(r, now)
	}
	s.run.schedule(s, now)
}

// proceed brings a warp to its meetings and phases before its next instruction, and schedules the instruction from cycle from on.
func (s *sm) proceed(slot int, from, now int64) {
	w := &s.slots[slot]
	for int64(w.next) >= w.synchronize {
		if w.phase < len(w.Phases) && w.Phases[w.phase].Step <= int64(w.next) && (w.met == len(w.Meetings) || w.Phases[w.phase].Step < w.Meetings[w.met].Step) {
			if s.meetPhase(slot) {
				return
			}
			continue
		}
		if w.met == len(w.Meetings) || w.Meetings[w.met].Step > int64(w.next) {
			w.synchronize = w.nextSynchronization()
			break
		}
		at := &w.Meetings[w.met]
		w.met++
		m := &w.cta.meetings[at.Number]
		m.missing--
		if m.missing > 0 {
			if at.Waits {
				s.atBarrier |= 1 << slot
				s.touch(slot)
				if s.resources != nil {
					s.resources.Wait(slot, now+1)
				}
				w.barrier = max(w.lastInstr, 0)
				w.nextWaiter, m.first = m.first, int32(slot+1)
				return
			}
			continue
		}
		if at.Waits {
			from = max(from, now+s.run.Barrier)
		}
		for i := m.first; i != 0; {
			other := int(i - 1)
			i = s.slots[other].nextWaiter
			s.atBarrier &^= 1 << other
			s.proceed(other, now+s.run.Barrier, now)
		}
	}
	w.from = from
	if s.resources != nil && !s.enter(slot, now) {
		return
	}
	s.schedule(slot, now)
}

// touch notes that the reason of a slot's scheduler may have changed.
func (s *sm) touch(slot int) { s.schedulers[slot%len(s.schedulers)].stale = true }

// schedule finds the cycle in which a warp can issue its next instruction, or end.
func (s *sm) schedule(slot int, now int64) {
	w := &s.slots[slot]
	s.touch(slot)
	at := w.from
	w.cause = w.lastInstr
	w.filter = 0
	kept := w.pending[:0]
	for i := range w.pending {
		if p := &w.pending[i]; p.at > now {
			kept = append(kept, *p)
			w.filter |= filterBit(p.register)
		}
	}
	w.pending = kept
	bit := uint64(1) << slot
	if w.next == len(w.Executed) {
		at = now
		for i := range w.pending {
			at = max(at, w.pending[i].at)
		}
		s.waiting &^= bit
		if at == now {
			s.ending |= bit
			return
		}
		if at < never {
			w.wake = at
			s.wheel.add(now, at, slot)
		}
		return
	}
	x := &w.Executed[w.next]
	o := &s.run.program[x.Instr]
	if o.filter&w.filter != 0 || o.waits {
		for i := range w.pending {
			p := &w.pending[i]
			switch {
			case p.at <= at:
			case p.register < 0:
				if o.waits && -1-p.register < w.group-o.groups {
					at, w.cause = p.at, p.instr
				}
			case slices.Contains(o.registers, p.register):
				at, w.cause = p.at, p.instr
			}
		}
	}
	w.unit, w.isMemory = o.unit, o.class == Memory
	if w.isMemory {
		if w.requests = w.nextRequests(); w.requests == 0 && !(x.Shared && x.Passes > 0) {
			w.unit, w.isMemory = s.run.Units[Constant].Of, false
		}
	}
	switch {
	case at <= now:
		s.waiting &^= bit
		s.ready[w.unit] |= bit
	default:
		s.waiting |= bit
		if at < never {
			w.wake = at
			s.wheel.add(now, at, slot)
		}
	}
}

// nextRequests returns the number of requests of the next instruction.
func (w *warp) nextRequests() (n int) {
	if n = int(w.Executed[w.next].Requests); n < stream.ManyRequests {
		return n
	}
	n = 0
	for i := w.request; i < len(w.Requests) && w.Requests[i].Step == int64(w.next)+1; i++ {
		n++
	}
	return n
}

// fill takes a reply of the memory in cycle now.
func (s *sm) fill(r *memory.Reply, now int64) {
	s.count(now)
	if !s.assistsCompress() || !s.takeReply(r, now) {
		s.deliver(r, now)
	}
}

// deliver passes the sectors of a reply to the L1 and to the loads that wait for them.
func (s *sm) deliver(r *memory.Reply, now int64) {
	s.run.unanswered--
	if r.ID >= 0 {
		s.arrived(int32(r.ID), now)
		return
	}
	if r.ID == ignoredReply {
		return
	}
	s.blocked = false
	if line := s.l1.Peek(r.Line); line != nil {
		line.valid |= r.Sectors
		if s.assistsCompress() {
			s.keepForm(line, r)
		}
	}
	s.mshrs.Fill(r.Line, r.Sectors, func(load *int32) {
		if *load != prefetch {
			s.arrived(*load, now)
		}
	})
}

// Numbers of requests whose reply is not that of a load past the L1.
const (
	lineReply    = -1 // fills the L1
	ignoredReply = -2 // of an atomic without a result
)

// prefetch is the load of a prefetch, in MSHRs.
const prefetch = -1

// readAhead reads a line of which the L1 has no sector, if it has an MSHR and the memory takes the request.
func (s *sm) readAhead(line uint64) {
	r := s.run
	if s.l1.Peek(line) != nil {
		return
	}
	if inFlight, room := s.mshrs.Look(line); inFlight != 0 || !room {
		return
	}
	c := &s.memoryUnit.access
	s.request = memory.Request{SM: s.number, ID: lineReply, Line: line, Sectors: allSectors, CTA: c.CTA, Warp: c.Warp, Instr: c.Instr}
	if !s.sendCombinedOf(line, r.now) || !r.Memory.Send(r.now, &s.request) {
		return
	}
	r.unanswered++
	s.mshrs.Add(line, allSectors, prefetch)
	r.counts.Prefetches += int64(bits.OnesCount8(allSectors))
	if c.Line = line; r.l1Bytes {
		s.l1.Insert(c, func(uint64, *l1Line) {})
		if l := s.l1.Peek(line); l != nil {
			l.ahead = true
		}
	}
}

// arrived notes the data of a transaction of a load.
func (s *sm) arrived(load int32, now int64) {
	l := &s.loads[load]
	l.missing--
	l.at = max(l.at, now)
	s.complete(load, now)
}

// complete writes the results of a load, if it has all data or knows when they are ready.
func (s *sm) complete(load int32, now int64) {
	l := &s.loads[load]
	if !l.taken || l.missing > 0 {
		return
	}
	slot := int(l.slot)
	if slot == noSlot {
		s.freeLoad = append(s.freeLoad, load)
		return
	}
	w := &s.slots[slot]
	for i := range w.pending {
		if p := &w.pending[i]; p.at == never && p.load == load {
			p.at = l.at
		}
	}
	if len(l.arrivals) > 0 {
		s.run.arriveAt(w.cta.cluster, l.arrivals, l.at, now)
	}
	if len(w.joins) > 0 {
		s.join(w, now)
	}
	s.freeLoad = append(s.freeLoad, load)
	if w.wake == never && s.atBarrier>>slot&1 == 0 && !s.lacksResources(slot) {
		s.schedule(slot, now)
	}
}

// step executes a cycle, after the replies of the memory.
func (s *sm) step(now int64) {
	s.count(now)
	if s.assists != nil {
		s.stepAssists(now)
	}
	for woken := s.wheel.remove(now); woken != 0; woken &= woken - 1 {
		slot := bits.TrailingZeros64(woken)
		switch w := &s.slots[slot]; {
		case w.wake > now:
			s.wheel.add(now, w.wake, slot)
		case w.next == len(w.Executed):
			s.ending |= 1 << slot
			s.touch(slot)
		default:
			s.waiting &^= 1 << slot
			s.ready[w.unit] |= 1 << slot
			s.touch(slot)
		}
	}
	switch {
	case len(s.queue) > 0:
		if !s.blocked {
			s.serve(now)
		}
		s.countFull(1)
	case now >= s.portsFree:
		s.served = -1
	}
	if s.assists != nil {
		s.sendStores(now)
	}
	s.last = now
	ready := uint64(0)
	for _, slots := range s.ready {
		ready |= slots
	}
	idle := 0 // schedulers that issue nothing, a bit each
	for i := range s.schedulers {
		h := &s.schedulers[i]
		set := ready & h.slots
		if set != 0 {
			set = s.candidates(i, now)
		}
		if s.observation != nil {
			s.observation.ready[i] = set
		}
		if s.assists != nil && s.issueAssist(i, true, now) {
			continue
		}
		if set != 0 {
			slot := h.Pick(&s.warps, set, now)
			if slot < 0 || slot >= maxSlots || set>>slot&1 == 0 {
				s.run.fail("scheduler %s has picked slot %d, which cannot issue", s.run.Policy.Name, slot)
				slot = bits.TrailingZeros64(set)
			}
			s.issue(i, slot, now)
			continue
		}
		if s.assists != nil && s.issueAssist(i, false, now) {
			continue
		}
		idle |= 1 << i
	}
	if s.resources != nil && bits.OnesCount(uint(idle)) == len(s.schedulers) {
		s.countEpoch(1)
	}
	for ; idle != 0; idle &= idle - 1 {
		s.countReason(&s.schedulers[bits.TrailingZeros(uint(idle))], 1)
	}
	if s.observation != nil {
		s.observeCycle(now)
	}
	for m := s.ending; m != 0; m &= m - 1 {
		s.end(bits.TrailingZeros64(m), now)
	}
	s.ending = 0
	if s.resources != nil {
		s.endEpoch(now)
		s.release(now)
	}
	if s.observation != nil {
		s.observeNext(now)
	}
	s.run.schedule(s, now)
}

// end ends a warp in cycle now.
func (s *sm) end(slot int, now int64) {
	w := &s.slots[slot]
	c := w.cta
	if s.observation != nil {
		s.observeEnd(slot, now)
	}
	if s.assists != nil {
		s.dropMisses(slot)
	}
	if s.resources != nil {
		s.resources.End(slot, now+1)
	}
	if c.running--; c.running == 0 {
		if s.observation != nil {
			s.run.Observer.CTA(&CTASpan{s.number, c.place, c.Index, c.from, now + 1})
		}
		s.used &^= c.slots
		s.run.ended = append(s.run.ended, c)
	}
}

// candidates returns the slots that scheduler i can issue in cycle now.
func (s *sm) candidates(i int, now int64) (set uint64) {
	for u := range classes {
		if s.ready[u] == 0 {
			continue
		}
		if u == Memory {
			if len(s.queue) < s.run.Queue {
				set |= s.ready[u]
			}
		} else if s.free[u][i*len(s.free[u])/len(s.schedulers)] <= now {
			set |= s.ready[u]
		}
	}
	if s.assists != nil {
		set &^= s.assists.blocked
	}
	return set & s.schedulers[i].slots
}

// occupy takes the unit of an instruction that a scheduler issues, and returns the cycle of its result.
func (s *sm) occupy(class Class, scheduler int, now int64) (at int64) {
	u := &s.run.Units[class]
	s.free[u.Of][scheduler*len(s.free[u.Of])/len(s.schedulers)] = now + u.Cycles*s.run.halves
	return now + u.Latency
}

// issue issues the next instruction of a warp.
func (s *sm) issue(scheduler, slot int, now int64) {
	r := s.run
	w := &s.slots[slot]
	x := &w.Executed[w.next]
	o := &r.program[x.Instr]
	s.ready[w.unit] &^= 1 << slot
	r.instrs[x.Instr].Active++
	from := now + 1
	w.lastInstr = x.Instr
	if s.observation != nil {
		s.change(slot, now, WarpState{Issues, x.Instr, -1})
	}
	load, at := int32(-1), int64(never)
	if w.isMemory {
		n := w.requests
		if len(o.writes) > 0 || o.async || n > 0 && (s.assistsCompress() || w.Requests[w.request].Kind == probe.AccessLoad) {
			load = s.newLoad(slot, x.Instr)
		}
		a := access{warp: w.Warp, cta: w.cta, index: w.index, load: load, instr: x.Instr, request: int32(w.request), end: int32(w.request + n)}
		if x.Shared {
			a.passes = int64(x.Passes)
		}
		w.request += n
		s.queue = append(s.queue, a)
		r.queued++
	} else {
		class := o.class
		if class == Memory {
			class = Constant
		}
		if at = s.occupy(class, scheduler, now); class == Control {
			from = at
		}
		if class == Constant && x.Passes > 1 { // a cycle for each distinct word
			at += int64(x.Passes) - 1
		}
	}
	for _, register := range o.writes {
		w.pending = append(w.pending, write{at: at, register: register, instr: x.Instr, load: load, copied: noCopy})
	}
	switch {
	case load < 0:
	case o.async:
		p := write{at: never, register: -1 - w.group, instr: x.Instr, load: load, copied: noCopy}
		if o.copies {
			p.copied = int32(w.next)
		}
		w.pending = append(w.pending, p)
	case len(o.writes) == 0:
		w.pending = append(w.pending, write{at: never, register: noRegister, instr: x.Instr, load: load, copied: noCopy})
	}
	if o.commits {
		w.group++
	}
	w.next++
	w.wake = never
	if int64(w.next) >= w.synchronize {
		s.issueArrivals(w, load, now)
	}
	s.proceed(slot, from, now)
}

// newLoad returns a load of a slot.
func (s *sm) newLoad(slot int, instr int32) int32 {
	l := load{slot: int8(slot), instr: instr}
	if n := len(s.freeLoad); n > 0 {
		i := s.freeLoad[n-1]
		s.freeLoad = s.freeLoad[:n-1]
		s.loads[i] = l
		return i
	}
	s.loads = append(s.loads, l)
	return int32(len(s.loads) - 1)
}

// serve has the memory unit take a transaction for each port.
func (s *sm) serve(now int64) {
	s.run.retry[s.number], s.refused = false, false
	if now >= s.portsFree {
		s.served = -1
	}
	port := 0
	if s.assists != nil && s.assists.port == now { // an assist warp has it
		port = 1
	}
	for ; port < s.run.Ports && len(s.queue) > 0 && now >= s.portsFree; port++ {
		a := &s.queue[0]
		switch {
		case a.request < a.end:
			s.served = a.instr
			q := &a.warp.Requests[a.request]
			if a.transaction == 0 && q.Kind == probe.AccessLoad && s.readsForms(a.warp, q) {
				s.loads[a.load].direct = true
			}
			if !s.transaction(a, q, &a.warp.Transactions[q.First+a.transaction], now) {
				s.refused = !s.blocked
				return
			}
			if access := s.run.plan.Access; access != nil && !a.moved {
				access(a.warp, q, q.First+a.transaction)
			}
			if a.transaction++; a.transaction == q.N {
				a.request, a.transaction = a.request+1, 0
			}
		case a.passes > 0:
			if port > 0 { // shared memory takes all ports
				return
			}
			s.served, s.portsFree = a.instr, now+a.passes
			if a.load >= 0 {
				l := &s.loads[a.load]
				l.at = max(l.at, now+a.passes-1+s.run.Shared)
			}
			a.passes = 0
		}
		if a.request == a.end && a.passes == 0 {
			load := a.load
			s.queue = slices.Delete(s.queue, 0, 1)
			s.run.queued--
			if load >= 0 {
				s.loads[load].taken = true
				s.complete(load, now)
			}
		}
	}
}

// transaction sends a transaction to the L1. It returns false if the transaction must wait.
func (s *sm) transaction(a *access, q *stream.Request, t *stream.Transaction, now int64) bool {
	r := s.run
	line := r.lineOf(s, a, t)
	c := &s.memoryUnit.access
	*c = cache.Access{Line: line, Store: q.Kind != probe.AccessLoad, SM: s.number, CTA: a.cta.Index, Warp: a.index, Instr: int(q.Instr)}
	send := &s.request
	*send = memory.Request{SM: s.number, ID: lineReply, Line: line, Sectors: t.Sectors, Whole: t.Whole, Kind: q.Kind, CTA: a.cta.Index, Warp: a.index, Instr: int(q.Instr)}
	n := int64(bits.OnesCount8(t.Sectors))
	if q.Kind != probe.AccessLoad || q.BypassL1 {
		buffered := false // to be compressed
		if send.ID = ignoredReply; q.Kind == probe.AccessAtomic && a.load >= 0 {
			send.ID = int64(a.load)
		}
		if q.Kind == probe.AccessLoad {
			if !s.sendCombinedOf(line, now) {
				return false
			}
			send.ID, send.Whole = int64(a.load), 0
		} else {
			send.Bytes = int(t.Bytes)
			if r.plan.Forms != nil && !t.Local && !a.moved {
				content := &a.warp.Contents[q.First+a.transaction]
				if s.assists != nil && s.assists.CombineStores && !s.makeRoom(send, content, now) {
					return false
				}
				buffered = s.compressStore(a, send, content, now)
			}
		}
		if !buffered && !s.send(send, now) {
			if send.Acknowledged {
				s.assists.free = append(s.assists.free, send.ID-firstPartial)
			}
			return false
		}
		switch q.Kind {
		case probe.AccessLoad:
			r.counts.Bypasses += n
		case probe.AccessStore:
			r.counts.Stores += n
			if s.assistsCompress() && !buffered && t.Whole == allSectors && !t.Local && !a.moved {
				r.counts.RawStores++
			}
			if l := s.l1.Access(c); l != nil {
				l.valid |= t.Whole
				s.dropForm(line, l)
			}
			if r.StoresEvict {
				s.l1.Remove(line)
			}
		default:
			r.counts.Stores += n
			if l := s.l1.Peek(line); l != nil {
				l.valid &^= t.Sectors
				s.dropForm(line, l)
			}
		}
		if send.ID >= 0 {
			s.loads[a.load].missing++
		}
		return true
	}
	entry := s.l1.Peek(line)
	missing := t.Sectors
	ahead := false // no load before has accessed the line, which was read ahead
	if entry != nil {
		missing &^= entry.valid
		ahead = entry.ahead
	}
	if missing == 0 && entry.form > 0 && !s.loads[a.load].direct {
		if !s.loadForm(a.load, line, entry.form, now) {
			return false
		}
		r.counts.Hits += n
		r.counts.Loads += n
		s.l1.Access(c)
		if ahead {
			s.accessAhead(a, line, ahead, now)
		}
		return true
	}
	if missing != 0 {
		wanted := missing
		if r.L1Lines {
			wanted = allSectors
			if entry != nil {
				wanted &^= entry.valid
			}
		}
		inFlight, room := s.mshrs.Look(line)
		if !room {
			s.blocked = true
			return false
		}
		if send.Sectors = wanted &^ inFlight; send.Sectors != 0 {
			send.Whole = 0
			if !s.sendCombinedOf(line, now) || !s.send(send, now) {
				return false
			}
		}
		s.mshrs.Add(line, wanted, a.load)
		s.loads[a.load].missing++
		waits := int64(bits.OnesCount8(missing & inFlight))
		misses := int64(bits.OnesCount8(missing)) - waits
		r.counts.InFlight += waits
		r.counts.Misses += misses
		r.counts.Hits += n - waits - misses
	} else {
		r.counts.Hits += n
	}
	r.counts.Loads += n
	if s.l1.Access(c) == nil && r.l1Bytes && !q.KeepOutOfL1 {
		s.l1.Insert(c, func(uint64, *l1Line) {})
	}
	if missing != t.Sectors {
		l := &s.loads[a.load]
		l.at = max(l.at, now+r.L1)
	}
	if missing != 0 || ahead {
		s.accessAhead(a, line, ahead, now)
	}
	if missing != 0 && r.plan.Prefetch != nil {
		if next, ok := r.plan.Prefetch(line); ok {
			s.readAhead(next)
		}
	}
	return true
}

// accessAhead counts the first access of a load to a line that was read ahead, and starts the routine for a load that misses a line or accesses such
// a line: for the first one of an instruction.
func (s *sm) accessAhead(a *access, line uint64, ahead bool, now int64) {
	if ahead {
		s.run.counts.UsedPrefetches += int64(bits.OnesCount8(allSectors))
		if l := s.l1.Peek(line); l != nil {
			l.ahead = false
		}
	}
	if s.run.plan.Misses != nil && !a.moved && !a.missed {
		a.missed = true
		s.startMiss(a.load, line, now)
	}
}

// allSectors is the set of all sectors of a line.
const allSectors = 1<<(stream.LineBytes/stream.SectorBytes) - 1

// send sends a request to the memory. It returns false if the memory does not take it.
func (s *sm) send(q *memory.Request, now int64) bool {
	if s.run.Memory.Send(now, q) {
		if q.Kind != probe.AccessStore || q.Acknowledged {
			s.run.unanswered++
		}
		return true
	}
	s.run.retry[s.number] = true
	return false
}

// nextEvent returns the next cycle after now in which something happens without a reply of the memory.
func (s *sm) nextEvent(now int64) int64 {
	if s.ending != 0 || s.assists != nil && s.isActive(s.run.retry[s.number]) {
		return now + 1
	}
	next := s.wheel.nextCycle(now + 1)
	if len(s.queue) > 0 && !s.blocked && !s.refused {
		next = min(next, max(now+1, s.portsFree))
	}
	for u := range classes {
		set := s.ready[u]
		if set == 0 {
			continue
		}
		if u == Memory {
			if len(s.queue) < s.run.Queue {
				return now + 1
			}
			continue
		}
		for i, at := range s.free[u] {
			if at >= next {
				continue
			}
			first := (i*len(s.schedulers) + len(s.free[u]) - 1) / len(s.free[u])
			last := ((i+1)*len(s.schedulers) - 1) / len(s.free[u])
			for j := first; j <= last; j++ {
				if set&s.schedulers[j].slots != 0 {
					next = max(at, now+1)
				}
			}
		}
	}
	return next
}

// count counts the cycles after the latest counted one and before now, in which nothing has happened.
func (s *sm) count(now int64) {
	n := now - 1 - s.last
	if n <= 0 {
		return
	}
	s.last = now - 1
	if s.resources != nil {
		s.countEpoch(n)
	}
	for i := range s.schedulers {
		s.countReason(&s.schedulers[i], n)
	}
	s.countFull(n)
}

// countFull counts n cycles in which the memory unit waits.
func (s *sm) countFull(n int64) {
	switch {
	case len(s.queue) == 0:
	case s.blocked:
		s.run.counts.FullMSHRs += n
	case s.refused:
		s.run.counts.FullQueue += n
	}
}

// countReason counts n cycles in which a scheduler does not issue.
func (s *sm) countReason(h *scheduler, n int64) {
	if h.stale {
		s.findReason(h)
	}
	if h.reason == nil {
		s.run.idle += n
		return
	}
	*h.reason += n
	if h.cause != nil {
		*h.cause += n
	}
	if h.isFull {
		*s.fullReason() += n
	}
}

// servedInstr returns the instruction that the memory unit, which is not empty, serves.
func (s *sm) servedInstr() int32 {
	if s.served < 0 {
		return s.queue[0].instr
	}
	return s.served
}

// fullReason returns the count of the reason why the memory unit is full in the latest counted cycle.
func (s *sm) fullReason() *int64 {
	switch full := &s.run.instrs[s.servedInstr()].Full; {
	case s.blocked:
		return &full.MSHRs
	case s.refused:
		return &full.Queue
	case s.portsFree > s.last:
		return &full.Banks
	default:
		return &full.Lines
	}
}

// findReason finds the reason why a scheduler does not issue.
func (s *sm) findReason(h *scheduler) {
	h.stale, h.reason, h.cause, h.isFull, h.waits = false, nil, nil, false, Issues
	ready, accesses, blocked := uint64(0), s.ready[Memory], uint64(0)
	for u := range Memory {
		ready |= s.ready[u]
	}
	if s.assists != nil {
		blocked = (ready | accesses) & s.assists.blocked
	}
	ready, accesses = ready&^blocked, accesses&^blocked
	switch waiting := s.waiting | blocked; {
	case ready&h.slots != 0:
		h.reason, h.waits = &s.nextInstr(ready&h.slots).Compute, WaitsForUnit
	case accesses&h.slots != 0:
		h.reason, h.isFull, h.waits = &s.nextInstr(accesses&h.slots).Memory, true, WaitsForMemory
	case waiting&h.slots != 0:
		slot := s.warps.Oldest(waiting & h.slots)
		w := &s.slots[slot]
		h.reason, h.waits = &s.run.instrs[w.Executed[w.next].Instr].Data, WaitsForData
		if w.cause >= 0 && blocked>>slot&1 == 0 {
			if s.run.program[w.cause].class == Memory {
				h.waits = WaitsForMemory
			}
			h.cause = &s.run.instrs[w.cause].Causes
		}
	case s.atBarrier&h.slots != 0:
		w := &s.slots[s.warps.Oldest(s.atBarrier&h.slots)]
		h.reason, h.waits = &s.run.instrs[w.barrier].Barrier, WaitsForBarrier
	}
}

// nextInstr returns the counts of the next instruction of the oldest warp of a set.
func (s *sm) nextInstr(set uint64) *Instr {
	w := &s.slots[s.warps.Oldest(set)]
	return &s.run.instrs[w.Executed[w.next].Instr]
}

// wheel holds slots that wake in a later cycle. A slot that wakes beyond its size wakes earlier, and must be added again.
type wheel struct {
	slots    [wheelSize]uint64
	nonEmpty uint64 // cycles with slots, modulo wheelSize
}

// wheelSize is the number of cycles that a wheel looks ahead.
const wheelSize = 64

// add makes a slot wake in a cycle after now.
func (h *wheel) add(now, cycle int64, slot int) {
	i := min(cycle, now+wheelSize-1) % wheelSize
	h.slots[i] |= 1 << slot
	h.nonEmpty |= 1 << i
}

// remove returns the slots that wake in a cycle, and removes them.
func (h *wheel) remove(cycle int64) (slots uint64) {
	i := cycle % wheelSize
	slots, h.slots[i] = h.slots[i], 0
	h.nonEmpty &^= 1 << i
	return slots
}

// nextCycle returns the first cycle from from on in which a slot wakes.
func (h *wheel) nextCycle(from int64) int64 {
	if h.nonEmpty == 0 {
		return never
	}
	return from + int64(bits.TrailingZeros64(bits.RotateLeft64(h.nonEmpty, -int(from%wheelSize))))
}
