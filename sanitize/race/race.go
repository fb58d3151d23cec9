// Package race finds data races (PTX manual, chapter 8): accesses of different threads to the same
// memory, one of them a write, that nothing orders.
//
// Threads are lanes. That the lanes of a warp run in lockstep or meet again orders nothing, but on
// targets before sm_70. What does: barriers of CTAs, warps and clusters; release and acquire, by
// fences and by the qualifiers of accesses, within the scopes that both sides name; mbarriers, and
// the completion of asynchronous operations; the beginning and the end of a launch. Two accesses
// that are not ordered are no race if both are strong and each is in the scope of the other
// (8.8). One execution is judged, byte by byte.
package race

import (
	"fmt"
	"math/bits"
	"sync"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// Name is what findings say.
const Name = "race"

// Probe is the tool.
type Probe struct {
	log      *finding.Log
	warpSync int
	eager    bool // no access is put off; what is found is the same

	mu      sync.Mutex
	runs    map[*interp.LaunchInfo]*run
	history *history           // of operations that may run side by side; nil before the first
	latest  *interp.LaunchInfo // the launch of which something was told last
	host    *run               // what the host does, if that was told last
	before  *run               // the last of the history
}

// New makes the tool. Lanes of the same warpSync of a warp are ordered by executing one instruction
// after the other; 0 is as .target has it: those of a warp before sm_70, none from there on.
func New(log *finding.Log, warpSync int) *Probe {
	return &Probe{log: log, warpSync: warpSync, runs: map[*interp.LaunchInfo]*run{}}
}

// Wants is what it wants to be told.
func (p *Probe) Wants() interp.Wants {
	return interp.Wants{
		Events: interp.OnLaunch | interp.OnLaunchEnd | interp.OnCTAEnd | interp.OnWarp | interp.OnAccess | interp.OnAfter | interp.OnWait | interp.OnWake | interp.OnEffect | interp.OnTexels |
			interp.OnAlloc | interp.OnFree | interp.OnHostWrite | interp.OnHostRead,
		Addresses: true, InOrder: true,
	}
}

// Chosen leaves out what neither accesses memory nor orders threads.
func (p *Probe) Chosen(l *interp.LaunchInfo) []interp.Events { return p.run(l).chosen }

// run is what is known of a launch under way.
func (p *Probe) run(l *interp.LaunchInfo) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[l]
}

// Tell is told of launches that begin and end, and of what the host does.
func (p *Probe) Tell(e *interp.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case interp.OnLaunch:
		p.host, p.latest = nil, e.Launch
		p.runs[e.Launch] = p.begin(e.Launch)
	case interp.OnLaunchEnd:
		if r := p.runs[e.Launch]; r != nil {
			r.meet()
			r.report(e, p.log)
			r.history.add(r.operation)
			delete(p.runs, e.Launch)
			if r.order == nil {
				p.history, p.before = nil, nil
			}
		}
	case interp.OnAlloc, interp.OnFree, interp.OnHostWrite, interp.OnHostRead:
		if e.Order != nil {
			p.hosts(e)
		}
		if e.Kind == interp.OnFree && p.history != nil {
			p.history.forget(e.Memory)
		}
	}
}

// operation begins one of so many CTAs.
func (p *Probe) operation(order *interp.Order, l *interp.LaunchInfo, ctas int) *run {
	h := p.history.begin(order, ctas)
	if h == p.history && p.before != nil { // others may run beside what it has put off
		p.before.catchUpAll()
	}
	p.history = h
	r := &run{LaunchInfo: l, history: h, operation: &operation{order: order, first: h.next, ctas: int32(ctas), launch: l}, perCTAs: 1, found: map[pair]*finding.Finding{}}
	p.before = r
	h.next += int32(ctas)
	r.past = h.allBefore(order, r.first)
	return r
}

// hosts is for the host that reads or has written memory; to give it or to take it is to write all.
func (p *Probe) hosts(e *interp.Event) {
	r := p.host
	if r == nil || r.order != e.Order {
		r = p.operation(e.Order, nil, 1)
		r.history.add(r.operation)
		p.host = r
	}
	x := access{record: record{at: r.now, cta: r.first}, view: view{cta: r.first, till: r.now}}
	x.reads = e.Kind == interp.OnHostRead
	x.writes = !x.reads
	r.touchPages(&x, e.Memory, e.Offset, uint64(e.Bytes))
	if x.writes {
		r.overwrite(e.Memory, e.Offset, e.Bytes)
	}
	r.now++
	r.report(&interp.Event{Launch: p.latest, CTA: -1}, p.log)
}

// CTA is told of one that begins.
func (p *Probe) CTA(l *interp.LaunchInfo, index int, id interp.Dim3) interp.Sink {
	r := p.run(l)
	c := &cta{number: r.first + int32(index), warps: make([]warp, r.warps), at: map[barrierKey]*clock{}, effects: map[int64]view{}, channels: map[channelKey]agent{}, queues: map[channelKey]*queue{}}
	r.alive[r.cluster(c.number)]++
	return &sink{r, c}
}

// sink is a CTA, as it tells what it does.
type sink struct {
	r *run
	c *cta
}

// run is an operation that runs.
type run struct {
	*interp.LaunchInfo
	*history
	*operation
	past      int32 // what CTAs of lower numbers have done comes before it
	warps     int   // of a CTA
	perCTAs   int32 // CTAs of a cluster
	lockstep  int
	eager     bool
	fenced    bool            // whether asynchronous operations read what others have written depends on fences, too
	issued    int             // asynchronous operations that have been issued and have not had their effect
	roles     []role          // by instruction
	chosen    []interp.Events // … what matters of it here
	hits      []hit           // …
	alive     map[int32]int   // CTAs of a cluster that run, by cluster
	clusters  map[int32]*clusterBarrier
	mbarriers map[*interp.Allocation]map[uint64]*mbarrier // by offset
	batch     batch
	found     map[pair]*finding.Finding
	sequence  []pair
}

// lookup is a shadow that has been looked up.
type lookup struct {
	of *interp.Allocation
	*shadow
}

// place is a byte of memory.
type place struct {
	in  *interp.Allocation
	off uint64
}

// cta is one that runs.
type cta struct {
	number   int32
	warps    []warp
	at       map[barrierKey]*clock // what threads have brought to barriers that did not wait there
	effects  map[int64]view        // what who issued asynchronous operations knew then, by number
	channels map[channelKey]agent
	queues   map[channelKey]*queue
}

type warp struct {
	lanes    uint64 // that there are
	clocks   []*clock
	alike    bool         // they are all the same
	fences   []fence      // the last of each lane
	pending  [][]*release // what each lane has read of what was released, for its next fence
	looked   []place      // the mbarriers that lanes look at
	clusters []int        // how often the cluster's barrier had completed as the lane arrived, plus 1
	joined   []*clock     // by lane, what it has learned last of what others have released
}

func (p *Probe) begin(l *interp.LaunchInfo) *run {
	threads := l.Block.Count()
	r := p.operation(l.Order, l, l.Grid.Count())
	r.warps, r.perCTAs = (threads+l.WarpSize-1)/l.WarpSize, int32(l.Cluster.Count())
	r.alive, r.clusters, r.mbarriers = map[int32]int{}, map[int32]*clusterBarrier{}, map[*interp.Allocation]map[uint64]*mbarrier{}
	if r.lockstep = p.warpSync; r.lockstep == 0 && l.Module.SM() < 70 {
		r.lockstep = l.WarpSize
	}
	r.eager, r.hits = p.eager, make([]hit, l.Program.Len())
	for i := range l.Program.Len() {
		in, _ := l.Program.At(i)
		o := roleOf(in)
		r.roles = append(r.roles, o)
		kinds := interp.Events(0)
		if o.sync != 0 {
			kinds = interp.OnAccess | interp.OnAfter
		} else if in.Form.Effects.Any(ptx.Reads | ptx.Writes | ptx.Atomic) {
			kinds = interp.OnAccess
		}
		if in.Form.Family == ptx.FamilyTexture {
			kinds = interp.OnTexels
		}
		r.chosen = append(r.chosen, kinds)
		r.fenced = r.fenced || in.Has("bulk")
	}
	return r
}

// cluster is the cluster that a CTA is of: a number that its CTAs share.
func (r *run) cluster(cta int32) int32 {
	switch {
	case r.perCTAs <= 1:
		return cta
	case cta < r.first:
		return ^cta // of another launch, that has no CTA in common with any of this
	}
	return r.clusterOf(cta - r.first)
}

// clusterOf is the index of the cluster, in the order of the first CTAs.
func (r *run) clusterOf(index int32) int32 {
	g, c, i := r.Grid, r.Cluster, int(index)
	x, y, z := i%g.X/c.X, i/g.X%g.Y/c.Y, i/(g.X*g.Y)/c.Z
	return int32(x + (y+z*(g.Y/c.Y))*(g.X/c.X))
}

// Tell is told of what the CTA does.
func (s *sink) Tell(e *interp.Event) {
	r, c := s.r, s.c
	if r.batch.key.barrier == tentative && e.Kind == interp.OnWait {
		r.waits(c, e)
	}
	if e.Kind != interp.OnWake {
		r.meet()
	}
	switch e.Kind {
	case interp.OnWarp:
		n := e.Launch.WarpSize
		c.warps[e.Warp] = warp{lanes: e.Lanes, alike: true, clocks: make([]*clock, n), fences: make([]fence, n)}
	case interp.OnAccess:
		r.access(c, e)
	case interp.OnTexels:
		r.texels(c, e)
	case interp.OnAfter:
		r.after(c, e)
	case interp.OnWake:
		r.wakes(c, e)
	case interp.OnEffect:
		r.effect(c, e)
	case interp.OnCTAEnd:
		r.ends(c, e)
	case interp.OnFree:
		r.forget(e.Memory)
		clear(r.hits)
	}
}

// ends is for a CTA that has ended: nobody else can synchronise by its shared memory.
func (r *run) ends(c *cta, e *interp.Event) {
	r.issued -= len(c.effects)
	*c = cta{number: c.number}
	if in := e.Shared(); in != nil {
		delete(r.mbarriers, in)
		delete(r.syncs, in)
	}
	of := r.cluster(c.number)
	if r.alive[of]--; r.alive[of] == 0 {
		delete(r.alive, of)
		delete(r.clusters, of)
	}
}

// view is what a thread knows.
func (c *cta) view(warp, lane int, now moment) view {
	return view{c.warps[warp].clocks[lane], c.number, threadOf(warp, lane), now}
}

// access is the access of lanes to memory.
func (r *run) access(c *cta, e *interp.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	role := &r.roles[e.Index]
	lanes := a.Lanes & e.Lanes
	if lanes == 0 || a.Space == ptx.Local || a.Space == ptx.Param || a.Space == ptx.Const {
		return
	}
	x := access{by: a, record: record{at: r.now, cta: c.number, what: what(e.Index)<<indexBits | role.what}}
	x.reads, x.writes = a.Kind != interp.AccessStore, a.Kind != interp.AccessLoad
	if x.writes && x.reads {
		x.what |= atomic
	}
	if role.what&strong != 0 {
		x.what |= sizeOf(a.Bytes / role.elements)
	}
	first := bits.TrailingZeros64(lanes)
	base := a.Addr[first]
	space, in, off, ok := r.place(e.Index, a, base)
	if ok && in != nil && role.left == 0 {
		rest := r.putOff(c, e, a, role, &x, in, off, lanes, space == ptx.Shared)
		if rest == 0 {
			if r.lockstep > 0 || role.sync != 0 {
				r.now++
			}
			return
		}
		x.done, lanes = lanes&^rest, rest
		first = bits.TrailingZeros64(lanes)
		off += a.Addr[first] - base
		base = a.Addr[first]
	}
	if x.reads && !x.writes && ok && in != nil && role.left == 0 { // all read the same
		if runs := a.Runs(lanes); len(runs) == 1 && runs[0].Stride == 0 && lanes&(lanes-1) != 0 && role.sync == 0 && r.numbered(lanes) && r.together(&c.warps[e.Warp], lanes) {
			r.bySet(&x, c.warps[e.Warp].clocks[first], e.Warp, lanes)
			x.shared = space == ptx.Shared
			r.touchAll(&x, in, off, a.Length(first))
			return
		}
	}
	if role.sync == 0 && ok && in != nil && role.left == 0 && a.Bytes == 4 && base%4 == 0 && r.lockstep == 0 {
		rest := r.quick(c, e, a, &x, in, off, lanes, space == ptx.Shared)
		x.done |= lanes &^ rest
		lanes = rest
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		mine, at := in, off+(a.Addr[lane]-base)
		if n := uint64(a.Length(lane)); !ok || in == nil || at >= in.Size || in.Size-at < n {
			var good bool
			if space, mine, at, good = a.Place(lane); !good || mine == nil {
				continue
			}
		}
		x.who, x.view, x.shared = threadOf(e.Warp, lane), c.view(e.Warp, lane, r.now), space == ptx.Shared
		if role.sync != 0 {
			r.before(c, e, role, place{mine, at}, x.writes, x.reads, e.Warp, lane)
			x.clock = c.warps[e.Warp].clocks[lane]
		}
		if x.writes && !x.reads {
			x.stored, x.from = false, at
		}
		for n := a.Length(lane); n > 0; { // what is accessed from at on, of n bytes
			take := n
			if role.left != 0 {
				take = a.Bytes / role.elements
			}
			if i := (a.Length(lane) - n) / take; role.left>>i&1 == 0 {
				if x.writes && !x.reads && role.what&strong == 0 {
					r.overwrite(mine, at, take)
				}
				r.touchAll(&x, mine, at, take)
			}
			at, n = at+uint64(take), n-take
		}
		x.done |= 1 << lane
	}
	if r.lockstep > 0 || role.sync != 0 {
		r.now++
	}
}

// texels is what lanes read through the texture unit, which is a proxy of its own (8.6).
func (r *run) texels(c *cta, e *interp.Event) {
	x := access{record: record{at: r.now, cta: c.number, what: what(e.Index)<<indexBits | r.roles[e.Index].what}, reads: true}
	for i := range e.Texels {
		p := &e.Texels[i]
		x.who, x.view = threadOf(e.Warp, p.Lane), c.view(e.Warp, p.Lane, r.now)
		r.touchAll(&x, p.Memory, p.Offset, p.Bytes)
	}
	if r.lockstep > 0 {
		r.now++
	}
}

// hit is the global memory that an instruction went to last.
type hit struct {
	in   *interp.Allocation
	base uint64 // of it
	from ptx.Space
}

// place is the memory that an access to an address goes to, as interp.Access.At has it.
func (r *run) place(index int, a *interp.Access, addr uint64) (space ptx.Space, in *interp.Allocation, off uint64, ok bool) {
	h, n := &r.hits[index], uint64(a.Bytes)
	if off = addr - h.base; h.in != nil && h.from == a.Space && n > 0 && addr%n == 0 && off < h.in.Size && n <= h.in.Size-off {
		return ptx.Global, h.in, off, true
	}
	if space, in, off, ok = a.At(addr); ok && in != nil && space == ptx.Global {
		*h = hit{in, addr - off, a.Space}
	}
	return space, in, off, ok
}

// quick notes weak accesses of lanes to words that nobody has accessed before, or who is known
// to all: it gives the lanes that are left.
func (r *run) quick(c *cta, e *interp.Event, a *interp.Access, x *access, in *interp.Allocation, off uint64, lanes uint64, shared bool) (rest uint64) {
	w, s := &c.warps[e.Warp], r.shadow(in)
	r.settle(s, in, &x.record, w.clocks[bits.TrailingZeros64(lanes)])
	base, size := a.Addr[bits.TrailingZeros64(lanes)]-off, uint64(len(in.Data))&^3
	if x.writes && r.synced(in) {
		return lanes
	}
	alone := shared && r.perCTAs <= 1
	var last *clock
	var all moment
	rec := x.record
	const others = listed | coarse | split | proxy
	var page []cell
	number := ^uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		at := a.Addr[lane] - base
		if at >= size || at&3 != 0 {
			rest |= 1 << lane
			continue
		}
		if k := w.clocks[lane]; k != last {
			last, all = k, 0
			if k := k.find(c.number); k != nil {
				all = k.all
			}
		}
		word := at / 4
		if n := word / pageWords; n != number {
			number, page = n, s.pages[n]
			if page == nil {
				page = r.page(s, word)
			}
		}
		cell := &page[word%pageWords]
		rec.who = threadOf(e.Warp, lane)
		if o := &cell.written; (o.at != 0 || o.what != 0) && !o.isOf(&rec) {
			if o.what&(listed|coarse|split|proxy) != 0 || !(o.cta < r.past || o.cta == rec.cta && (o.at <= all || o.who == rec.who && o.what&others == 0) || alone && o.cta != rec.cta) {
				rest |= 1 << lane
				continue
			}
		}
		if o := &cell.read; o.at != 0 && !o.isOf(&rec) {
			if o.what&(listed|coarse|proxy) != 0 || !(o.cta < r.past || o.cta == rec.cta && (o.at <= all || o.who == rec.who && o.what&others == 0) || alone && o.cta != rec.cta) {
				if !x.writes && o.cta == rec.cta && o.at > all && o.what&coarse == 0 { // one more reader
					x.record, x.view, x.shared = rec, c.view(e.Warp, lane, r.now), shared
					r.add(x, o)
					continue
				}
				rest |= 1 << lane
				continue
			}
		}
		if x.writes {
			cell.written, cell.read.at, cell.read.what = rec, 0, 0
		} else {
			cell.read = rec
		}
	}
	return rest
}

// isOf reports whether a record is of one access, by the thread of another.
func (o *record) isOf(x *record) bool {
	return o.who == x.who && o.cta == x.cta && o.what&(listed|coarse|split|proxy) == 0
}

// synced reports whether there is anything in memory that somebody has released.
func (r *run) synced(in *interp.Allocation) bool { return len(r.syncs) > 0 && len(r.syncs[in]) > 0 }

// together reports whether lanes know the same.
func (r *run) together(w *warp, lanes uint64) bool {
	if w.alike {
		return true
	}
	first := w.clocks[bits.TrailingZeros64(lanes)]
	for m := lanes & (lanes - 1); m != 0; m &= m - 1 {
		if w.clocks[bits.TrailingZeros64(m)] != first {
			return false
		}
	}
	return true
}

// numbered reports whether a set of lanes has a number, or may have one.
func (r *run) numbered(lanes uint64) bool {
	if len(r.sets) < 1<<laneBits-maxWidth {
		return true
	}
	_, ok := r.numbers[lanes]
	return ok
}

// bySet has lanes of a warp, which know the same, access memory together.
func (r *run) bySet(x *access, k *clock, warp int, lanes uint64) {
	x.who = agent(warp<<laneBits | maxWidth + r.number(lanes))
	// What one of them has done the others need not know.
	x.view = view{clock: k, cta: x.record.cta, self: threadOf(warp, bits.TrailingZeros64(lanes))}
}

// number is the number of a set of lanes.
func (r *run) number(lanes uint64) int {
	if n := r.set; n < len(r.sets) && r.sets[n] == lanes {
		return n
	}
	n, ok := r.numbers[lanes]
	if !ok {
		n = len(r.sets)
		r.numbers[lanes] = n
		r.sets = append(r.sets, lanes)
	}
	r.set = n
	return n
}

// touchAll notes an access to bytes of an allocation.
func (r *run) touchAll(a *access, in *interp.Allocation, off uint64, n int) {
	if off+uint64(n) > uint64(len(in.Data)) {
		return
	}
	s := r.shadow(in)
	r.settle(s, in, &a.record, a.view.clock)
	r.touchWords(a, s, in, off, n)
}

// touchWords notes an access word by word.
func (r *run) touchWords(a *access, s *shadow, in *interp.Allocation, off uint64, n int) {
	for n > 0 {
		take := min(4-int(off%4), n)
		r.touchPart(a, s, in, off, take)
		off, n = off+uint64(take), n-take
	}
}

// pair is what races have in common that are told together.
type pair struct {
	kind     string
	at, with int
	of       *operation // that the other access is of
}

// races tells of an access that is in a race with those of a record.
func (r *run) races(a *access, o *record, in *interp.Allocation, off uint64, n int, written bool) {
	if o.what&listed != 0 {
		for i := int32(o.who); i != 0; i = r.links[i].next {
			if l := &r.links[i].record; !r.knows(a, l) && !r.allowed(a, l) {
				r.races(a, l, in, off, n, written)
				return
			}
		}
		return
	}
	switch {
	case !written:
		r.tell(a, o, in, off, n, written, "write after read")
	case a.writes && a.what&strong == 0 && a.same(in, off, n, o):
		r.tell(a, o, in, off, n, written, sameValue)
	case a.writes:
		r.tell(a, o, in, off, n, written, "write after write")
	default:
		r.tell(a, o, in, off, n, written, "read after write")
	}
}

// Kinds that are no race of one access after the other.
const (
	sameValue = "same value written"
	noFence   = "missing proxy fence"
)

// tell tells of an access and one before.
func (r *run) tell(a *access, o *record, in *interp.Allocation, off uint64, n int, written bool, kind string) {
	p := pair{kind: kind, at: a.index(), with: o.index(), of: r.operation}
	if o.cta < r.first {
		p.of = r.history.of(o.cta)
	}
	if f := r.found[p]; f != nil {
		f.Count++
		return
	}
	// Of several lanes one is named that does not know of the others.
	lane := func(of *record, who agent) int {
		if l := who.lane(); l < maxWidth {
			return l
		}
		lanes := r.sets[who.lane()-maxWidth]
		for m := lanes; m != 0; m &= m - 1 {
			one := *of
			one.who = threadOf(who.warp(), bits.TrailingZeros64(m))
			if of == o && !r.knows(a, &one) || of != o && one.who != o.who {
				return one.who.lane()
			}
		}
		return bits.TrailingZeros64(lanes)
	}
	describe := func(of *record, by *operation, wrote bool) finding.Place {
		role := "read"
		switch {
		case of.what&atomic != 0:
			role = "atomic operation"
		case wrote:
			role = "write"
		}
		who := of.who
		if of.what&proxy != 0 {
			role = "asynchronous " + role
			who = by.issuers[who&^channelBit]
		}
		if by.launch == nil {
			return finding.Place{Role: fmt.Sprintf("%s by %s", role, by.order.Name), Stream: by.order.Stream}
		}
		at := finding.Of(by.launch, of.index(), role, by.id(of.cta), who.warp(), lane(of, who))
		if p.of != r.operation {
			at.Launch, at.Stream = by.launch.ID, by.order.Stream
		}
		if of.what&strong != 0 {
			at.Role += fmt.Sprintf(" at scope .%s", scopeNames[of.what&scopeMask])
		}
		return at
	}
	f := &finding.Finding{Tool: Name, Kind: kind, At: describe(&a.record, r.operation, a.writes), Count: 1}
	other := describe(o, p.of, written)
	f.Other = &other
	f.Memory = finding.MemoryOf(r.LaunchInfo, in, off, n)
	if p.of == r.operation {
		f.At.Value, f.Other.Value = valueOf(a.part(off, n)), valueOf(a.left(in, off, n, o))
		if f.At.Value == "" {
			f.At.Value = f.Other.Value
		}
	}
	switch {
	case kind == noFence:
		f.Message = "the asynchronous proxy reads what was written by the generic proxy, and no proxy fence is between"
	case kind == sameValue:
		f.Severity = finding.Notice
		f.Message = "threads write the same value to the same memory, and nothing orders them"
	case a.what&strong != 0 && o.what&strong != 0 && a.what&sizeBits != o.what&sizeBits:
		f.Message = "accesses that overlap in part, which is no order whatever their scopes, and nothing else orders them"
	case a.what&strong != 0 && o.what&strong != 0:
		f.Message = "accesses to the same memory that are not in each other's scope, and nothing orders them"
	case p.of != r.operation:
		f.Message = kind + ", by operations that nothing orders"
	default:
		f.Message = kind + ", and nothing orders them"
	}
	r.found[p] = f
	r.sequence = append(r.sequence, p)
}

// report tells what has been found, once.
func (r *run) report(e *interp.Event, log *finding.Log) {
	for _, p := range r.sequence {
		log.Add(e, *r.found[p])
		delete(r.found, p)
	}
	r.sequence = nil
}

// valueOf writes bytes as a number, of up to 8 of them.
func valueOf(b []byte) string {
	if len(b) == 0 || len(b) > 8 {
		return ""
	}
	v := uint64(0)
	for i, x := range b {
		v |= uint64(x) << (8 * i)
	}
	return fmt.Sprintf("%#x", v)
}
