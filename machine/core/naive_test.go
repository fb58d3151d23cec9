package core_test

import (
	"cmp"
	"slices"

	"gemu/machine/core"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
	"gemu/ptx"
)

// This file has a second implementation of the clock, from the description of a cycle alone (docs/design/clock.md): it executes each cycle, looks
// at each warp, and keeps lists in place of sets, wheels and tables.

// naive is a machine of a single launch.
type naive struct {
	core.Config
	launch   *stream.Launch
	ctas     map[int]*stream.CTA
	sms      []*naiveSM
	places   []naivePlace
	resident int
	sent     int // requests without reply
	loads    map[int64]*naiveLoad
	instrs   []core.Instr
	counts   core.Counts
	idle     int64
	l1Ways   int
	decoded  map[int32]naiveInstr
	clusters map[*stream.Cluster][]*naivePhase
	arrivals []naiveArrival
	parts    map[int64]*naiveStore // stores of a part of a line without reply, by number
	part     int64                 // number of the latest
}

type naivePhase struct {
	missing  int
	complete bool
}

// naiveArrival is an asynchronous arrival at a phase: not before a cycle, and not before loads have their data.
type naiveArrival struct {
	phase *naivePhase
	at    int64
	loads []*naiveLoad
}

type naiveInstr struct {
	instr       *ptx.Instr
	writes, all []int32
}

type naivePlace struct{ sm, place int }

type naiveSM struct {
	number  int
	warps   []*naiveWarp // resident, by age
	slots   [64]*naiveWarp
	begun   int64
	free    map[core.Class][]int64
	queue   []*naiveAccess
	served  *naiveAccess // accessed in this cycle or in the passes in progress
	stop    string       // why the unit takes nothing: "mshrs" or "queue"
	busy    int64
	blocked bool           // it waits for an MSHR
	l1      [][]*naiveLine // by set, the latest used last
	misses  []*naiveMiss   // lines in flight
	naiveAssists
	picks []func(ready []*naiveWarp) *naiveWarp
}

type naiveLine struct {
	number uint64
	valid  uint8
	ahead  bool // it was read ahead, and no load has accessed it
}

type naiveMiss struct {
	line    uint64
	sectors uint8
	waiters []*naiveWaiter
}

type naiveWaiter struct {
	load    *naiveLoad // nil: a prefetch
	missing uint8
}

type naiveCTA struct {
	*stream.CTA
	place    int
	meetings map[int32][]*naiveWarp // warps that have come
	expected map[int32]int
	phases   []*naivePhase
}

type naiveWarp struct {
	*stream.Warp
	cta         *naiveCTA
	index, slot int
	age         int64
	next, met   int
	from        int64
	last        int32 // latest instruction; -1: none
	results     []*naiveResult
	group       int
	waitsFor    int32 // number of a meeting; -1: none
	phase       int   // uses of phases so far
	waitsPhase  *naivePhase
	copies      []*naiveLoad // of cp.async
	ended       bool
	state       stream.Line // register of the routines for misses

	list   []naiveTransaction // of the instruction with index listed-1
	listed int
}

type naiveResult struct {
	at       int64 // -1: unknown
	register int32 // -1: none
	group    int   // of an asynchronous copy; -1: none
	instr    int32
	load     *naiveLoad
}

type naiveLoad struct {
	warp    *naiveWarp
	instr   int32
	taken   bool
	missing int
	at      int64
}

type naiveAccess struct {
	instr  int32
	warp   *naiveWarp
	load   *naiveLoad
	list   []naiveTransaction
	passes int64
	missed bool // a line has come to the routines for misses
}

type naiveTransaction struct {
	q       *stream.Request
	t       *stream.Transaction
	content *stream.Content // nil: not recorded
}

func newNaive(c core.Config) *naive {
	return &naive{Config: c, ctas: map[int]*stream.CTA{}, loads: map[int64]*naiveLoad{}, clusters: map[*stream.Cluster][]*naivePhase{}, parts: map[int64]*naiveStore{}, decoded: map[int32]naiveInstr{}}
}

func (m *naive) BeginLaunch(l *stream.Launch)          { m.launch = l }
func (m *naive) CTA(_ *stream.Launch, c *stream.CTA)   { m.ctas[c.Index] = c }
func (m *naive) EndLaunch(l *stream.Launch, err error) {}

// instr returns an instruction, and the numbers of the registers that it writes, and of those that it reads or writes.
func (m *naive) instr(i int32) (instr *ptx.Instr, writes, all []int32) {
	if d, ok := m.decoded[i]; ok {
		return d.instr, d.writes, d.all
	}
	in, f := m.launch.Program.At(int(i))
	name := func(r ptx.RegID) int32 {
		n := int32(0)
		for j := range m.launch.Program.Len() { // the registers of functions before it
			if _, g := m.launch.Program.At(j); g == f {
				break
			} else if j == 0 || func() bool { _, h := m.launch.Program.At(j - 1); return h != g }() {
				n += int32(len(g.Regs))
			}
		}
		return n + int32(r)
	}
	for r := range in.Defs() {
		writes = append(writes, name(r))
	}
	all = slices.Clone(writes)
	for r := range in.Uses() {
		all = append(all, name(r))
	}
	m.decoded[i] = naiveInstr{in, writes, all}
	return in, writes, all
}

// run executes the launch, and returns its number of cycles.
func (m *naive) run() int64 {
	plan := m.Plan(m.launch)
	m.l1Ways = plan.L1.Ways
	m.instrs = make([]core.Instr, m.launch.Program.Len())
	for i := range m.SMs {
		s := &naiveSM{number: i, free: map[core.Class][]int64{}, l1: make([][]*naiveLine, plan.L1.Sets), naiveAssists: naiveAssists{port: -1}}
		for c := range core.Memory {
			s.free[c] = make([]int64, m.Units[c].Count)
		}
		for range m.Schedulers {
			s.picks = append(s.picks, naivePolicy(m.Policy, m.Schedulers))
		}
		m.sms = append(m.sms, s)
	}
	for p := range plan.Resident {
		for i := range m.SMs {
			m.places = append(m.places, naivePlace{i, p})
		}
	}
	m.dispatch(plan, -1)
	now := int64(-1)
	m.completePhases(-1)
	for m.resident > 0 || m.sent > 0 || slices.ContainsFunc(m.sms, func(s *naiveSM) bool { return len(s.queue) > 0 }) {
		now++
		for _, r := range m.Memory.Advance(now, nil) { // steps 1 and 2
			m.reply(plan, &r, now)
		}
		m.arrivals = slices.DeleteFunc(m.arrivals, func(a naiveArrival) bool {
			for _, l := range a.loads {
				if !l.taken || l.missing > 0 || l.at > now {
					return false
				}
			}
			if a.at > now {
				return false
			}
			a.phase.missing--
			return true
		})
		for _, s := range m.sms {
			m.stepAssists(s, now)
			m.accessMemory(plan, s, now) // step 4
			m.sendStores(s, now)
			reasons := make([]bool, m.Schedulers)
			for i := range m.Schedulers { // step 7
				reasons[i] = m.issueAssist(s, i, true, now) || m.issue(plan, s, i, now) || m.issueAssist(s, i, false, now)
			}
			for i, issued := range reasons { // step 9; ends do not change it
				if !issued {
					m.classify(s, i, now)
				}
			}
			m.ends(plan, s, now)
		}
		m.completePhases(now)
		m.dispatch(plan, now)
	}
	return now + 1
}

func (m *naive) dispatch(plan core.Plan, now int64) {
	for ; len(m.places) > 0; m.places = m.places[1:] {
		p := m.places[0]
		index, ok := plan.Dispatcher.Next(p.sm)
		if !ok {
			continue
		}
		s, c := m.sms[p.sm], m.ctas[index]
		cta := &naiveCTA{CTA: c, place: p.place, meetings: map[int32][]*naiveWarp{}, expected: map[int32]int{}}
		if m.clusters[c.Cluster] == nil {
			for _, n := range c.Cluster.Phases {
				m.clusters[c.Cluster] = append(m.clusters[c.Cluster], &naivePhase{missing: int(n)})
			}
		}
		cta.phases = m.clusters[c.Cluster]
		for i := range c.Warps {
			for _, at := range c.Warps[i].Meetings {
				cta.expected[at.Number]++
			}
		}
		m.resident++
		var list []*naiveWarp
		slot := 0
		for i := range c.Warps {
			for s.slots[slot] != nil {
				slot++
			}
			s.begun++
			w := &naiveWarp{Warp: &c.Warps[i], cta: cta, index: i, slot: slot, age: s.begun, last: -1, waitsFor: -1}
			s.slots[slot] = w
			s.warps = append(s.warps, w)
			list = append(list, w)
		}
		for _, w := range list {
			m.meet(s, w, now+1, now)
		}
	}
}

// meet brings a warp to its meetings, after which it can issue from cycle from on.
func (m *naive) meet(s *naiveSM, w *naiveWarp, from, now int64) {
	w.from = from
	for {
		meeting, phase := int64(-1), int64(-1) // steps
		if w.met < len(w.Meetings) && int(w.Meetings[w.met].Step) <= w.next {
			meeting = w.Meetings[w.met].Step
		}
		if w.phase < len(w.Phases) && int(w.Phases[w.phase].Step) <= w.next {
			phase = w.Phases[w.phase].Step
		}
		if phase >= 0 && (meeting < 0 || phase < meeting) {
			u := w.Phases[w.phase]
			w.phase++
			if p := w.cta.phases[u.Number]; !u.Waits {
				p.missing--
			} else if !p.complete {
				w.waitsPhase = p
				return
			}
			continue
		}
		if meeting < 0 {
			return
		}
		at := w.Meetings[w.met]
		w.met++
		w.cta.expected[at.Number]--
		if w.cta.expected[at.Number] > 0 {
			if at.Waits {
				w.waitsFor = at.Number
				return
			}
			continue
		}
		if at.Waits {
			w.from = max(w.from, now+m.Barrier)
		}
		for _, o := range s.warps {
			if o.cta == w.cta && o.waitsFor == at.Number {
				o.waitsFor = -1
				m.meet(s, o, now+m.Barrier, now)
			}
		}
	}
}

// completePhases completes phases at the end of a cycle.
func (m *naive) completePhases(now int64) {
	for again := true; again; {
		again = false
		for _, s := range m.sms {
			for _, w := range s.warps {
				for _, p := range w.cta.phases {
					if p.missing == 0 && !p.complete {
						p.complete, again = true, true
					}
				}
			}
		}
		for _, s := range m.sms {
			for _, w := range s.warps {
				if w.waitsPhase != nil && w.waitsPhase.complete {
					w.waitsPhase = nil
					m.meet(s, w, now+m.Barrier, now)
				}
			}
		}
	}
}

func (m *naive) reply(plan core.Plan, r *memory.Reply, now int64) {
	if plan.Assist == nil || !m.startFill(plan, *r, now) {
		m.deliver(plan, r, now)
	}
}

func (m *naive) deliver(plan core.Plan, r *memory.Reply, now int64) {
	m.sent--
	if l := m.loads[r.ID]; l != nil {
		l.missing--
		l.at = max(l.at, now)
		delete(m.loads, r.ID)
		return
	}
	if r.ID != -1 {
		return
	}
	s := m.sms[r.SM]
	s.blocked = false
	for _, line := range s.l1[plan.L1.Index(r.Line, plan.L1.Sets)] {
		if line.number == r.Line {
			line.valid |= r.Sectors
		}
	}
	for i, miss := range s.misses {
		if miss.line != r.Line {
			continue
		}
		miss.sectors &^= r.Sectors
		miss.waiters = slices.DeleteFunc(miss.waiters, func(w *naiveWaiter) bool {
			if w.missing &^= r.Sectors; w.missing == 0 && w.load != nil {
				w.load.missing--
				w.load.at = max(w.load.at, now)
			}
			return w.missing == 0
		})
		if len(miss.waiters) == 0 {
			s.misses = slices.Delete(s.misses, i, i+1)
		}
		break
	}
}

func (m *naive) accessMemory(plan core.Plan, s *naiveSM, now int64) {
	s.stop = ""
	if now >= s.busy {
		s.served = nil
	}
	for port := range m.Ports {
		if port == 0 && s.port == now {
			if m.Ports == 1 && len(s.queue) > 0 && s.blocked { // the reason stays
				s.served, s.stop = s.queue[0], "mshrs"
				m.counts.FullMSHRs++
			}
			continue
		}
		if len(s.queue) == 0 || now < s.busy {
			return
		}
		a := s.queue[0]
		if len(a.list) > 0 || port == 0 {
			s.served = a
		}
		switch {
		case len(a.list) > 0:
			if !m.transaction(plan, s, a, a.list[0], now) {
				return
			}
			a.list = a.list[1:]
		case a.passes > 0:
			if port > 0 {
				return
			}
			s.busy = now + a.passes
			if a.load != nil {
				a.load.at = max(a.load.at, now+a.passes-1+m.Shared)
			}
			a.passes = 0
		}
		if len(a.list) == 0 && a.passes == 0 {
			if a.load != nil {
				a.load.taken = true
			}
			s.queue = s.queue[1:]
		}
	}
}

func ones(set uint8) (n int64) {
	for ; set != 0; set &= set - 1 {
		n++
	}
	return n
}

func (m *naive) transaction(plan core.Plan, s *naiveSM, a *naiveAccess, x naiveTransaction, now int64) bool {
	line, w := x.t.Line, a.warp
	if x.t.Local {
		warps := uint64(len(w.cta.Warps))
		size, number := max(m.launch.LocalLines, 1), (uint64(w.cta.place)*uint64(m.SMs)+uint64(s.number))*warps+uint64(w.index)
		line = 1<<50 + (line/size*uint64(plan.Resident*m.SMs)*warps+number)*size + line%size
	}
	set := plan.L1.Index(line, plan.L1.Sets)
	find := func() *naiveLine {
		for _, l := range s.l1[set] {
			if l.number == line {
				return l
			}
		}
		return nil
	}
	use := func(l *naiveLine) {
		i := slices.Index(s.l1[set], l)
		s.l1[set] = append(slices.Delete(s.l1[set], i, i+1), l)
	}
	q := memory.Request{SM: s.number, ID: -2, Line: line, Sectors: x.t.Sectors, Whole: x.t.Whole, Kind: x.q.Kind, Bytes: int(x.t.Bytes)}
	reply := x.q.Kind == probe.AccessLoad || x.q.Kind == probe.AccessAtomic && a.load != nil
	if x.q.Kind != probe.AccessLoad || x.q.BypassL1 {
		if reply {
			q.ID = int64(1000 + len(m.loads))
			for m.loads[q.ID] != nil {
				q.ID++
			}
		}
		if x.q.Kind == probe.AccessLoad {
			q.Whole, q.Bytes = 0, 0
		}
		if !m.buffers(plan, s, a.load, &x, &q, now) {
			if !m.Memory.Send(now, &q) {
				m.counts.FullQueue++
				s.stop = "queue"
				return false
			}
			m.sendPart(&x, &q, a.load)
		}
		if x.q.Kind != probe.AccessStore {
			m.sent++
		}
		if reply {
			m.loads[q.ID] = a.load
			a.load.missing++
		}
		l := find()
		switch x.q.Kind {
		case probe.AccessLoad:
			m.counts.Bypasses += ones(x.t.Sectors)
		case probe.AccessStore:
			m.counts.Stores += ones(x.t.Sectors)
			if l != nil {
				l.valid |= x.t.Whole
				use(l)
				if m.StoresEvict {
					s.l1[set] = slices.DeleteFunc(s.l1[set], func(o *naiveLine) bool { return o == l })
				}
			}
		case probe.AccessAtomic:
			m.counts.Stores += ones(x.t.Sectors)
			if l != nil {
				l.valid &^= x.t.Sectors
			}
		}
		return true
	}
	l := find()
	valid := uint8(0)
	if l != nil {
		valid = l.valid
	}
	missing := x.t.Sectors &^ valid
	if missing != 0 {
		wanted := missing
		if m.L1Lines {
			wanted = 0xf &^ valid
		}
		i := slices.IndexFunc(s.misses, func(e *naiveMiss) bool { return e.line == line })
		inFlight := uint8(0)
		if i >= 0 {
			inFlight = s.misses[i].sectors
		}
		if i >= 0 && m.Merges > 0 && len(s.misses[i].waiters) >= m.Merges || i < 0 && m.MSHRs > 0 && len(s.misses) >= m.MSHRs {
			m.counts.FullMSHRs++
			s.stop, s.blocked = "mshrs", true
			return false
		}
		if fetch := wanted &^ inFlight; fetch != 0 {
			q.ID, q.Sectors, q.Whole, q.Bytes = -1, fetch, 0, 0
			if !m.Memory.Send(now, &q) {
				m.counts.FullQueue++
				s.stop = "queue"
				return false
			}
			m.sent++
		}
		if i < 0 {
			i = len(s.misses)
			s.misses = append(s.misses, &naiveMiss{line: line})
		}
		s.misses[i].sectors |= wanted
		s.misses[i].waiters = append(s.misses[i].waiters, &naiveWaiter{a.load, wanted})
		a.load.missing++
		m.counts.InFlight += ones(missing & inFlight)
		m.counts.Misses += ones(missing &^ inFlight)
	}
	m.counts.Hits += ones(x.t.Sectors &^ missing)
	m.counts.Loads += ones(x.t.Sectors)
	if x.t.Sectors&^missing != 0 {
		a.load.at = max(a.load.at, now+m.L1)
	}
	if l != nil {
		use(l)
	} else if m.l1Ways > 0 && !x.q.KeepOutOfL1 {
		if len(s.l1[set]) == m.l1Ways {
			s.l1[set] = s.l1[set][1:]
		}
		s.l1[set] = append(s.l1[set], &naiveLine{number: line})
	}
	ahead := l != nil && l.ahead
	if ahead {
		m.counts.UsedPrefetches += 4
		l.ahead = false
	}
	if plan.Misses != nil && (missing != 0 || ahead) && !a.missed {
		a.missed = true
		m.startMiss(plan, s, a, line, now)
	}
	if missing != 0 && plan.Prefetch != nil {
		if next, ok := plan.Prefetch(line); ok {
			m.prefetch(plan, s, next, now)
		}
	}
	return true
}

// prefetch reads a line that the L1 does not have and nothing waits for, if there is an MSHR and the memory takes the request.
func (m *naive) prefetch(plan core.Plan, s *naiveSM, line uint64, now int64) {
	set := plan.L1.Index(line, plan.L1.Sets)
	known := slices.ContainsFunc(s.l1[set], func(l *naiveLine) bool { return l.number == line }) || slices.ContainsFunc(s.misses, func(e *naiveMiss) bool { return e.line == line })
	if known || m.MSHRs > 0 && len(s.misses) >= m.MSHRs || !m.Memory.Send(now, &memory.Request{SM: s.number, ID: -1, Line: line, Sectors: 0xf}) {
		return
	}
	m.sent++
	m.counts.Prefetches += 4
	s.misses = append(s.misses, &naiveMiss{line, 0xf, []*naiveWaiter{{nil, 0xf}}})
	if m.l1Ways > 0 {
		if len(s.l1[set]) == m.l1Ways {
			s.l1[set] = s.l1[set][1:]
		}
		s.l1[set] = append(s.l1[set], &naiveLine{number: line, ahead: true})
	}
}

// wait returns the cycle from which on a warp can issue its next instruction (-1: unknown), and the instruction that it waits for.
func (m *naive) wait(w *naiveWarp, now int64) (at int64, cause int32) {
	at, cause = w.from, w.last
	later := func(a, b int64) bool { return b >= 0 && (a < 0 || a > b) }
	if w.next == len(w.Executed) {
		return at, cause
	}
	in, _, registers := m.instr(w.Executed[w.next].Instr)
	for _, r := range w.results {
		needed := r.register >= 0 && slices.Contains(registers, r.register)
		if r.group >= 0 && in.Op.Name == "cp" && in.Form.Effects.HasAll(ptx.Waits) {
			open := -1
			if i := in.Form.Operand("a"); i >= 0 {
				open = int(in.Ops[i].Imm.Bits)
			}
			needed = r.group < w.group-open
		}
		if needed && (r.at < 0 || r.at > now) && later(r.at, at) {
			at, cause = r.at, r.instr
		}
	}
	return at, cause
}

// unit returns the class and the unit of a warp's next instruction.
func (m *naive) unit(w *naiveWarp) (c, unit core.Class) {
	x := &w.Executed[w.next]
	in, _ := m.launch.Program.At(int(x.Instr))
	if c = core.ClassOf(in); c == core.Memory {
		if len(m.requests(w)) > 0 || x.Shared && x.Passes > 0 {
			return c, c
		}
		c = core.Constant
	}
	return c, m.Units[c].Of
}

// requests returns the transactions of a warp's next instruction.
func (m *naive) requests(w *naiveWarp) (list []naiveTransaction) {
	if w.listed == w.next+1 {
		return w.list
	}
	defer func() { w.listed, w.list = w.next+1, list }()
	for i := range w.Requests {
		q := &w.Requests[i]
		if q.Step == int64(w.next)+1 {
			for j := range w.Transactions[q.First:][:q.N] {
				x := naiveTransaction{q: q, t: &w.Transactions[int(q.First)+j]}
				if len(w.Contents) > 0 {
					x.content = &w.Contents[int(q.First)+j]
				}
				list = append(list, x)
			}
		}
	}
	return list
}

// waits reports whether a warp waits at a barrier.
func (w *naiveWarp) waits() bool { return w.waitsFor >= 0 || w.waitsPhase != nil }

// settle finds the time of the results of complete loads.
func (w *naiveWarp) settle() {
	for _, r := range w.results {
		if r.at < 0 && r.load.taken && r.load.missing == 0 {
			r.at = r.load.at
		}
	}
}

// isReady reports whether a warp can issue apart from its unit.
func (m *naive) isReady(w *naiveWarp, now int64) bool {
	if w.ended || w.waits() || w.next == len(w.Executed) {
		return false
	}
	w.settle()
	at, _ := m.wait(w, now)
	return at >= 0 && at <= now
}

func (m *naive) warpsOf(s *naiveSM, scheduler int) (list []*naiveWarp) {
	for _, w := range s.warps {
		if w.slot%m.Schedulers == scheduler && !w.ended {
			list = append(list, w)
		}
	}
	return list
}

// unitOf returns the cycle from which on a scheduler's unit is free.
func (m *naive) unitOf(s *naiveSM, scheduler int, u core.Class) *int64 {
	list := s.free[u]
	return &list[scheduler*len(list)/m.Schedulers]
}

func (m *naive) issue(plan core.Plan, s *naiveSM, scheduler int, now int64) bool {
	var ready []*naiveWarp
	for _, w := range m.warpsOf(s, scheduler) {
		if !m.isReady(w, now) || s.blocks(w) {
			continue
		}
		if _, u := m.unit(w); u == core.Memory && len(s.queue) < m.Queue || u != core.Memory && *m.unitOf(s, scheduler, u) <= now {
			ready = append(ready, w)
		}
	}
	if len(ready) == 0 {
		return false
	}
	w := s.picks[scheduler](ready)
	x := &w.Executed[w.next]
	in, writes, _ := m.instr(x.Instr)
	class, unit := m.unit(w)
	m.instrs[x.Instr].Active++
	from, at := now+1, int64(-1)
	async := in.Form.Effects.Any(ptx.Reads|ptx.Writes) && (in.Form.Family == ptx.FamilyAsync || in.Form.Family == ptx.FamilyAsyncStore)
	var load *naiveLoad
	if unit == core.Memory {
		a := &naiveAccess{warp: w, instr: x.Instr, list: m.requests(w)}
		if x.Shared {
			a.passes = int64(x.Passes)
		}
		if len(writes) > 0 || async || len(a.list) > 0 && (plan.Assist != nil || a.list[0].q.Kind == probe.AccessLoad) {
			load = &naiveLoad{warp: w, instr: x.Instr}
		}
		a.load = load
		s.queue = append(s.queue, a)
	} else {
		*m.unitOf(s, scheduler, unit) = now + m.Units[class].Cycles
		at = now + m.Units[class].Latency
		if class == core.Control {
			from = now + m.Units[class].Latency
		}
		if class == core.Constant && x.Passes > 1 {
			at += int64(x.Passes) - 1
		}
	}
	w.results = slices.DeleteFunc(w.results, func(r *naiveResult) bool { return r.at >= 0 && r.at <= now })
	for _, r := range writes {
		w.results = append(w.results, &naiveResult{at, r, -1, x.Instr, load})
	}
	if async && load != nil {
		w.results = append(w.results, &naiveResult{-1, -1, w.group, x.Instr, load})
	} else if load != nil && len(writes) == 0 {
		w.results = append(w.results, &naiveResult{-1, -1, -1, x.Instr, load})
	}
	if in.Form.Family == ptx.FamilyAsync && in.Form.Effects == ptx.Async {
		w.group++
	}
	copies := async && in.Form.Family == ptx.FamilyAsync && !in.Has("bulk")
	if copies && load != nil {
		w.copies = append(w.copies, load)
	}
	w.next++
	w.last = x.Instr
	for _, a := range w.Arrivals {
		switch to := (naiveArrival{phase: w.cta.phases[a.Number]}); {
		case a.Step != int64(w.next):
			continue
		case a.Copies:
			to.at, to.loads = now+m.Shared, slices.Clone(w.copies)
			m.arrivals = append(m.arrivals, to)
		case load != nil:
			to.loads = []*naiveLoad{load}
			m.arrivals = append(m.arrivals, to)
		default:
			to.at = now + m.Shared
			m.arrivals = append(m.arrivals, to)
		}
	}
	m.meet(s, w, from, now)
	return true
}

func (m *naive) classify(s *naiveSM, scheduler int, now int64) {
	var compute, mem, data, barrier *naiveWarp
	first := func(to **naiveWarp, w *naiveWarp) {
		if *to == nil || w.age < (*to).age {
			*to = w
		}
	}
	for _, w := range m.warpsOf(s, scheduler) {
		switch {
		case w.waits():
			first(&barrier, w)
		case w.next == len(w.Executed):
		case !m.isReady(w, now) || s.blocks(w):
			first(&data, w)
		default:
			if _, u := m.unit(w); u == core.Memory {
				first(&mem, w)
			} else {
				first(&compute, w)
			}
		}
	}
	of := func(w *naiveWarp) *core.Instr { return &m.instrs[w.Executed[w.next].Instr] }
	switch {
	case compute != nil:
		of(compute).Compute++
	case mem != nil:
		of(mem).Memory++
		a := s.served
		if a == nil {
			a = s.queue[0]
		}
		switch full := &m.instrs[a.instr].Full; {
		case s.stop == "mshrs":
			full.MSHRs++
		case s.stop == "queue":
			full.Queue++
		case now < s.busy:
			full.Banks++
		default:
			full.Lines++
		}
	case data != nil:
		of(data).Data++
		if _, cause := m.wait(data, now); cause >= 0 && !m.isReady(data, now) {
			m.instrs[cause].Causes++
		}
	case barrier != nil:
		m.instrs[max(barrier.last, 0)].Barrier++
	default:
		m.idle++
	}
}

func (m *naive) ends(plan core.Plan, s *naiveSM, now int64) {
	list := slices.Clone(s.warps)
	slices.SortFunc(list, func(a, b *naiveWarp) int { return cmp.Compare(a.slot, b.slot) })
	var ended []*naiveCTA
	for _, w := range list {
		if w.ended || w.waits() || w.next < len(w.Executed) {
			continue
		}
		w.settle()
		if slices.ContainsFunc(w.results, func(r *naiveResult) bool { return r.at < 0 || r.at > now }) {
			continue
		}
		if len(w.Executed) == 0 && w.from > now+1 {
			continue
		}
		w.ended = true
		m.endMisses(s, w)
		all := true
		for _, o := range s.warps {
			all = all && (o.cta != w.cta || o.ended)
		}
		if all {
			ended = append(ended, w.cta)
		}
	}
	for _, c := range ended {
		s.warps = slices.DeleteFunc(s.warps, func(w *naiveWarp) bool {
			if w.cta == c {
				s.slots[w.slot] = nil
			}
			return w.cta == c
		})
		m.resident--
		plan.Dispatcher.Ended(s.number, c.Index)
		m.places = append(m.places, naivePlace{s.number, c.place})
	}
}

// naivePolicy returns a policy that picks from a list of warps by age.
func naivePolicy(p *core.Policy, schedulers int) func(ready []*naiveWarp) *naiveWarp {
	var last *naiveWarp
	next := 0
	inTurn := func(ready []*naiveWarp) *naiveWarp {
		slices.SortFunc(ready, func(a, b *naiveWarp) int { return cmp.Compare(a.slot, b.slot) })
		for _, w := range ready {
			if w.slot >= next {
				return w
			}
		}
		return ready[0]
	}
	switch p {
	case core.GTO:
		return func(ready []*naiveWarp) *naiveWarp {
			if !slices.Contains(ready, last) {
				last = ready[0]
			}
			return last
		}
	case core.Loose:
		return func(ready []*naiveWarp) *naiveWarp {
			w := inTurn(ready)
			next = w.slot + 1
			return w
		}
	case core.TwoLevel:
		group, groups := 0, (64/schedulers+7)/8
		return func(ready []*naiveWarp) *naiveWarp {
			for {
				var list []*naiveWarp
				for _, w := range ready {
					if w.slot/schedulers/8 == group {
						list = append(list, w)
					}
				}
				if len(list) > 0 {
					w := inTurn(list)
					next = w.slot + 1
					return w
				}
				group, next = (group+1)%groups, 0
			}
		}
	case core.OldestFirst:
		return func(ready []*naiveWarp) *naiveWarp { return ready[0] }
	}
	panic("no such policy")
}
