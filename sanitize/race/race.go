package race

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	syncatomic "sync/atomic"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
	"gemu/sanitize/internal/plans"
)

// Name is the name of this tool in findings.
const Name = "race"

// Probe finds data races. It is safe for concurrent launches.
type Probe struct {
	log      *finding.Log
	warpSync int
	eager    bool // record every access at once instead of deferring it; then some bytes of an error are a notice of their own

	mu      sync.Mutex
	runs    map[*probe.LaunchInfo]*run
	history *history          // history of operations that may overlap in time; nil before the first
	latest  *probe.LaunchInfo // the launch with the latest event
	host    *run              // the host's operation, if the latest event came from the host
	before  *run              // the last operation of the history
	spare   buffers           // the buffers of the last launch, for the next

	targets plans.Cache[targets] // of programs
}

// New returns a race detector that writes its findings to log. Each group of warpSync consecutive lanes runs in
// lockstep: a lane's instruction is ordered after the earlier instructions of its group. 0 takes the group from
// .target: the whole warp before sm_70, single lanes from sm_70 on.
func New(log *finding.Log, warpSync int) *Probe {
	return &Probe{log: log, warpSync: warpSync, runs: map[*probe.LaunchInfo]*run{}}
}

// Subscription lists the events for race detection.
func (p *Probe) Subscription() probe.Subscription {
	return probe.Subscription{
		Events: probe.OnLaunch | probe.OnLaunchEnd | probe.OnCTAEnd | probe.OnWarp | probe.OnAccess | probe.OnAfter | probe.OnWait | probe.OnWake | probe.OnEffect | probe.OnTexels |
			probe.OnAlloc | probe.OnFree | probe.OnHostWrite | probe.OnHostRead,
		Addresses: true, InOrder: true,
	}
}

// SelectEvents drops the events of instructions that neither access memory nor order threads.
func (p *Probe) SelectEvents(l *probe.LaunchInfo) []probe.Events { return p.run(l).chosen }

// run returns the state of a running launch, or nil.
func (p *Probe) run(l *probe.LaunchInfo) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[l]
}

// OnEvent handles the beginning and end of launches and the memory operations of the host.
func (p *Probe) OnEvent(e *probe.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case probe.OnLaunch:
		p.host, p.latest = nil, e.Launch
		p.runs[e.Launch] = p.begin(e.Launch)
	case probe.OnLaunchEnd:
		if r := p.runs[e.Launch]; r != nil {
			r.completeBatch()
			r.report(e, p.log)
			if delete(p.runs, e.Launch); len(p.runs) == 0 {
				r.history.forgetGone()
			}
			if r.order == nil {
				p.spare = r.buffers.next(r.history)
				p.history, p.before = nil, nil
			}
		}
	case probe.OnAlloc, probe.OnFree, probe.OnHostWrite, probe.OnHostRead:
		if e.Order != nil {
			p.accessFromHost(e)
		}
		if e.Kind == probe.OnFree && p.history != nil {
			p.history.forget(e.Memory)
		}
	}
}

// operation begins an operation with ctas CTAs. The caller must hold p.mu.
func (p *Probe) operation(order *probe.HostOrder, l *probe.LaunchInfo, ctas int) *run {
	h := p.history.begin(order, ctas)
	prior := h.allBefore(order, h.next)
	if h == p.history && p.before != nil {
		if prior == h.next && len(p.runs) == 0 {
			p.before.retireAll()
		} else { // the new operation may overlap with deferred accesses
			p.before.catchUpAll()
		}
	}
	for _, inFlight := range p.runs { // a deferred access is compared with the accesses of a single operation
		inFlight.eager.Store(true)
	}
	p.history = h
	r := &run{LaunchInfo: l, history: h, operation: &operation{order: order, first: h.next, ctas: int32(ctas), launch: l}, perCTAs: 1, found: map[raceKey]*finding.Finding{}}
	p.before = r
	h.next += int32(ctas)
	r.priorCTAs = prior
	r.eager.Store(p.eager || len(p.runs) > 0)
	h.add(r.operation)
	if len(p.runs) == 0 {
		h.forgetGone()
	}
	return r
}

// accessFromHost handles a read or write of memory by the host. An allocation and a release count as a write of all
// bytes.
func (p *Probe) accessFromHost(e *probe.Event) {
	r := p.host
	if r == nil || r.order != e.Order {
		r = p.operation(e.Order, nil, 1)
		p.host = r
	}
	x := access{record: record{moment: r.now, cta: r.first}, view: view{cta: r.first, upTo: r.now}}
	x.reads = e.Kind == probe.OnHostRead
	x.writes = !x.reads
	r.touchPages(&x, e.Memory, e.Offset, uint64(e.Bytes))
	if x.writes {
		r.overwrite(e.Memory, e.Offset, e.Bytes)
	}
	r.now++
	r.report(&probe.Event{Launch: p.latest, CTA: -1}, p.log)
}

// CTA returns the sink for the events of a new CTA.
func (p *Probe) CTA(l *probe.LaunchInfo, index int, id ptx.Dim3) probe.Sink {
	r := p.run(l)
	c := &cta{number: r.first + int32(index), warps: r.buffers.takeWarps(r.warps)}
	r.runningCTAs[r.cluster(c.number)]++
	return &sink{r, c}
}

// sink receives the events of a CTA.
type sink struct {
	run *run
	c   *cta
}

// run is a running operation.
type run struct {
	*probe.LaunchInfo
	*history
	*operation
	program
	priorCTAs   int32 // accesses of CTAs with lower numbers happened before this operation
	warps       int   // warps per CTA
	perCTAs     int32 // CTAs per cluster
	lockstep    int
	eager       syncatomic.Bool // see Probe.eager; the beginning of a launch on another device may set it
	issued      int             // asynchronous operations without their effect so far
	lastGlobals []lastGlobal    // by instruction
	buffers     buffers
	runningCTAs map[int32]int // number of running CTAs, by cluster
	clusters    map[int32]*clusterBarrier
	mbarriers   map[*probe.Allocation]map[uint64]*mbarrier // by offset
	batch       batch
	found       map[raceKey]*finding.Finding
	sequence    []raceKey
}

// program is what is known of the program of a launch.
type program struct {
	roles       []role         // by instruction
	chosen      []probe.Events // the subscribed events, by instruction
	fenced      bool           // it has bulk operations, whose reads also need proxy fences
	hasReadOnly bool           // the launch writes global memory only through the addresses in written, as far as is known
	written     []uint64
}

// buffers holds the memory of values that are valid until the next call of a function.
type buffers struct {
	load       probe.Access        // of deferLoad
	addr       [maxRawLanes]uint64 // addresses of load, of enqueueRaw
	access     access              // of newAccess
	warps      [][]warp            // the warps of CTAs that have ended
	compaction compaction
	lists      [][]deferredAccess // empty: memory of backlogs of earlier launches
}

// next returns the buffers of a launch that begins when h is no longer used.
func (b *buffers) next(h *history) (n buffers) {
	room := maxSpareBytes
	if size := b.compaction.size(); size <= room {
		n.compaction, room = b.compaction, room-size
	}
	keep := func(list []deferredAccess) {
		if size := cap(list) * accessBytes; size > 0 && size <= room && len(n.lists) < maxSpareLists {
			n.lists, room = append(n.lists, list[:0]), room-size
		}
	}
	for _, list := range b.lists {
		keep(list)
	}
	for _, s := range h.shadows {
		keep(s.backlog.list)
	}
	return n
}

// The memory in buffers that is kept between launches has at most maxSpareLists lists, and at most maxSpareBytes bytes in all. To
// clear more memory than that takes as long as to allocate it.
const (
	maxSpareLists = 32
	maxSpareBytes = 64 << 20
)

// takeWarps returns n warps, all of which have ended or not begun.
func (b *buffers) takeWarps(n int) []warp {
	i := len(b.warps) - 1
	if i < 0 {
		return make([]warp, n)
	}
	list := b.warps[i]
	b.warps = b.warps[:i]
	return list
}

// shadowLookup is a cached result of history.shadow.
type shadowLookup struct {
	alloc *probe.Allocation
	*shadow
}

// place is the address of a byte.
type place struct {
	alloc  *probe.Allocation
	offset uint64
}

// cta is a running CTA. Its maps are nil until their first entry: most CTAs need none of them.
type cta struct {
	number        int32
	shared        *probe.Allocation // its shared memory, after the first access; nil: unknown, or the CTA is in a cluster
	warps         []warp
	barrierClocks map[barrierKey]*clock   // the joined clocks of threads that arrived at a barrier without waiting
	effects       map[int64]view          // the view of the issuing thread at the time of issue, by number of the asynchronous operation
	copies        map[int64]*issuedCopies // of copies issued together, by the number of the first
	issued        int                     // asynchronous operations without their effect so far
	channels      map[channelKey]agent
	queues        map[channelKey]*queue
	quiet         *syncatomic.Int64 // shadow.quiet of its shared memory
}

// put sets an entry of a map, and makes the map if it is nil.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = value
}

type warp struct {
	lanes         uint64       // existing lanes
	sameClocks    bool         // all lanes have the same clock, commonClock
	commonClock   *clock       // only if sameClocks
	clocks        []*clock     // by lane; only if not sameClocks
	fences        []fence      // the latest fence of each lane
	hasFences     bool         // a lane has executed a fence
	readReleases  [][]*release // releases that each lane has read, for its next acquiring fence
	watched       []place      // the mbarrier that each lane tests
	clusters      []int        // the generation of the cluster's barrier at the lane's arrival, plus 1
	learnedClocks []*clock     // by lane: the clock of the last observed release
	copies        warpCopies
}

// begin begins the warp, with lanes lanes of width, in the memory of an earlier warp.
func (w *warp) begin(lanes uint64, width int) {
	clocks, fences := w.clocks, w.fences
	if clocks == nil {
		clocks, fences = make([]*clock, width), make([]fence, width)
	}
	if w.hasFences {
		clear(fences)
	}
	*w = warp{lanes: lanes, sameClocks: true, clocks: clocks, fences: fences, copies: warpCopies{base: w.copies.base}}
}

func (p *Probe) begin(l *probe.LaunchInfo) *run {
	threads := l.Block.Count()
	r := p.operation(l.Order, l, l.Grid.Count())
	r.buffers, p.spare = p.spare, buffers{}
	r.warps, r.perCTAs = (threads+l.WarpSize-1)/l.WarpSize, int32(l.Cluster.Count())
	r.runningCTAs, r.clusters, r.mbarriers = map[int32]int{}, map[int32]*clusterBarrier{}, map[*probe.Allocation]map[uint64]*mbarrier{}
	if r.lockstep = p.warpSync; r.lockstep == 0 && l.Module.SM() < 70 {
		r.lockstep = l.WarpSize
	}
	r.lastGlobals = make([]lastGlobal, l.Program.Len())
	for i := range l.Program.Len() {
		instr, _ := l.Program.At(i)
		o := newRole(instr)
		r.roles = append(r.roles, o)
		kinds := probe.Events(0)
		if space, _ := instr.Space(); o.sync&mbarriers != 0 || instr.Form.Effects.Any(ptx.Reads|ptx.Writes|ptx.Atomic) && !isPrivate(space) {
			kinds = probe.OnAccess
		}
		if o.sync&ordersAfter != 0 {
			kinds |= probe.OnAfter
		}
		if instr.Form.Family == ptx.FamilyTexture {
			kinds = probe.OnTexels
		}
		r.chosen = append(r.chosen, kinds)
		r.fenced = r.fenced || instr.Has("bulk")
	}
	r.findQuiet()
	if l.Order == nil && !r.eager.Load() {
		r.written, r.hasReadOnly = p.targetsOf(l)
	}
	return r
}

// cluster returns a number shared by exactly the CTAs of a cluster.
func (r *run) cluster(cta int32) int32 {
	switch {
	case r.perCTAs <= 1:
		return cta
	case !r.has(cta):
		return ^cta // a number of another launch: shares no cluster with this launch
	}
	return r.clusterOf(cta - r.first)
}

// clusterOf returns the index of the cluster of CTA index, in the order of the clusters' first CTAs.
func (r *run) clusterOf(index int32) int32 {
	g, c, i := r.Grid, r.Cluster, int(index)
	x, y, z := i%g.X/c.X, i/g.X%g.Y/c.Y, i/(g.X*g.Y)/c.Z
	return int32(x + (y+z*(g.Y/c.Y))*(g.X/c.X))
}

// OnEvent handles the events of the CTA.
func (s *sink) OnEvent(e *probe.Event) {
	r, c := s.run, s.c
	if r.batch.key.barrier == tentative && e.Kind == probe.OnWait {
		r.cancelTentative(c, e)
	}
	if e.Kind != probe.OnWake {
		r.completeBatch()
	}
	if e.Kind&(probe.OnAccess|probe.OnTexels|probe.OnEffect) != 0 || e.Kind == probe.OnAfter && r.roles[e.Index].sync&(awaits|commits|warpBarrier) == 0 {
		r.applyWaits(c, e.Warp)
	}
	switch e.Kind {
	case probe.OnWarp:
		if c.quiet == nil {
			s := r.shadow(e.Shared())
			s.owner, c.quiet = c, &s.quiet
			c.quiet.Store(0)
		}
		c.warps[e.Warp].begin(e.Lanes, e.Launch.WarpSize)
	case probe.OnAccess:
		r.access(c, e)
	case probe.OnTexels:
		r.texels(c, e)
	case probe.OnAfter:
		r.after(c, e)
	case probe.OnWake:
		r.leaveBarrier(c, e)
	case probe.OnEffect:
		r.effect(c, e)
	case probe.OnCTAEnd:
		r.endCTA(c, e)
	case probe.OnFree:
		r.forget(e.Memory)
		clear(r.lastGlobals)
	}
}

// FilterLoads accepts late events of all loads that order no threads: moments and clocks change at other events of the warp only.
// Memory of a single thread and constant memory need no events.
func (s *sink) FilterLoads(e *probe.Event, a *probe.Access) (l probe.AccessCondition, ok bool) {
	if s.run.roles[e.Index].sync != 0 {
		return l, false
	}
	l = probe.AccessCondition{End: math.MaxUint64, Late: !isPrivate(a.Space), Lasting: true}
	if s.run.hasReadOnly && (a.Space == ptx.Global || a.Space == ptx.Generic) {
		addr := a.Addr[bits.TrailingZeros64(a.Lanes)]
		if space, alloc, offset, ok := s.run.place(s.c, e.Index, a, addr); ok && alloc != nil && space == ptx.Global && s.run.onlyReads(alloc) {
			l.Begin = addr - offset
			l.End, l.Quiet = l.Begin+alloc.Size, &s.run.shadow(alloc).readOnly
		}
	}
	if a.Space == ptx.Shared && s.run.ownMemory(true) {
		l.End, l.Quiet = e.Shared().Size, s.c.quiet // see backlog.keepRaw
	}
	return l, true
}

// FilterStores accepts late events of all stores that order no threads, as FilterLoads does. A finding has the values at the store.
func (s *sink) FilterStores(e *probe.Event, a *probe.Access) (l probe.AccessCondition, ok bool) {
	return probe.AccessCondition{End: math.MaxUint64, Late: !isPrivate(a.Space), Lasting: true}, s.run.roles[e.Index].sync == 0
}

// OnAccesses handles the accesses of FilterLoads and FilterStores.
func (s *sink) OnAccesses(l *probe.AccessList) {
	r, c := s.run, s.c
	r.completeBatch()
	r.applyWaits(c, l.Warp)
	var m loadMemory
	for i := range l.List {
		x := &l.List[i]
		remaining, ok := r.deferLoad(c, l.Warp, x, &m)
		if !ok {
			if remaining, ok = r.recordListed(c, l.Warp, x, &m); ok && remaining != 0 {
				e := l.Event(i)
				r.recordEach(c, e, r.newAccess(c, e), remaining, bits.TrailingZeros64(x.Lanes))
				continue
			}
		}
		switch {
		case !ok:
			r.access(c, l.Event(i))
			m = loadMemory{}
		case remaining == 0:
			r.tick(&r.roles[x.Index])
		default:
			e := l.Event(i)
			r.recordLanes(c, e, r.newAccess(c, e), remaining)
			m = loadMemory{}
		}
	}
}

// recordListed does the part of recordLanes that needs no event, for an access of a list whose memory takes no deferred accesses. It
// returns the remaining lanes. m is the memory that deferLoad has found. ok is false if it has done nothing.
func (r *run) recordListed(c *cta, warp int, l *probe.ListedAccess, m *loadMemory) (remaining uint64, ok bool) {
	role := &r.roles[l.Index]
	first, last := bits.TrailingZeros64(l.Lanes), 63-bits.LeadingZeros64(l.Lanes)
	base, writing := l.Addr[first], l.Request.Writes()
	switch {
	case m.alloc == nil || !m.s.backlog.closed || m.quiet || role.skipped != 0 || r.lockstep > 0 || l.Request.Bytes != 4 || base%4 != 0:
		return 0, false
	case writing && !m.s.judged, !writing && first != last && base == l.Addr[last]: // perhaps all lanes read the same bytes
		return 0, false
	}
	space, alloc, offset, ok := r.cachedPlace(c, l.Index, l.Request, base)
	if !ok || alloc != m.alloc {
		return 0, false
	}
	a, x := &r.buffers.load, &r.buffers.access
	a.Renew(l.Lanes)
	a.Bytes, a.Addr = l.Request.Bytes, l.Addr
	*x = access{access: a, record: record{moment: r.now, cta: c.number, kind: role.kindOf(l.Index, l.Request)}, reads: !writing, writes: writing}
	return r.touchUniform(c, warp, a, x, alloc, offset, l.Lanes, space == ptx.Shared), true
}

// isPrivate reports whether the memory of a state space belongs to a thread or is constant, so that no accesses to it race.
func isPrivate(s ptx.Space) bool { return s == ptx.Local || s == ptx.Param || s == ptx.Const }

// endCTA releases the state of a CTA at its end: its shared memory can synchronise no further threads.
func (r *run) endCTA(c *cta, e *probe.Event) {
	r.issued -= c.issued
	r.buffers.warps = append(r.buffers.warps, c.warps)
	*c = cta{number: c.number}
	if alloc := e.Shared(); alloc != nil {
		delete(r.mbarriers, alloc)
		delete(r.syncs, alloc)
	}
	ctaNumber := r.cluster(c.number)
	if r.runningCTAs[ctaNumber]--; r.runningCTAs[ctaNumber] == 0 {
		delete(r.runningCTAs, ctaNumber)
		delete(r.clusters, ctaNumber)
	}
}

// view returns the knowledge of a thread.
func (c *cta) view(warp, lane int, now moment) view {
	return view{c.warps[warp].clockOf(lane), c.number, threadIndex(warp, lane), now}
}

// access handles a memory access of a warp instruction.
func (r *run) access(c *cta, e *probe.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	role := &r.roles[e.Index]
	lanes := a.Lanes & e.Lanes
	if lanes == 0 || isPrivate(a.Space) {
		return
	}
	x := r.newAccess(c, e)
	space, alloc, offset, ok := r.place(c, e.Index, a, a.Addr[bits.TrailingZeros64(lanes)])
	remaining := lanes
	if ok && alloc != nil {
		switch {
		case x.writes:
			lane := bits.TrailingZeros64(lanes)
			r.noteWrite(alloc, offset, a.Length(lane), x, threadIndex(e.Warp, lane))
		case role.sync == 0 && space == ptx.Global && r.onlyReads(alloc) && allInside(a, lanes, a.Addr[bits.TrailingZeros64(lanes)]-offset, alloc.Size):
			r.tick(role)
			return
		}
	}
	if ok && alloc != nil && role.skipped == 0 {
		if remaining = r.deferAccess(c, e.Warp, a, role, x, alloc, offset, lanes, space == ptx.Shared); remaining == 0 {
			r.tick(role)
			return
		}
	}
	r.recordLanes(c, e, x, remaining)
}

// newAccess returns the last access of an event, without an agent. The result is valid until the next call.
func (r *run) newAccess(c *cta, e *probe.Event) *access {
	a, role := &e.Accesses[len(e.Accesses)-1], &r.roles[e.Index]
	x := &r.buffers.access
	*x = access{access: a, record: record{moment: r.now, cta: c.number, kind: role.kindOf(e.Index, &a.Request)}}
	x.reads, x.writes = a.Kind != probe.AccessStore, a.Kind != probe.AccessLoad
	if x.writes && x.reads {
		x.kind |= atomic
	}
	return x
}

// kindOf returns the kind of an access by the instruction with an index, without the flag atomic.
func (o *role) kindOf(index int, request *probe.Request) accessKind {
	kind := accessKind(index)<<indexBits | o.kind
	if o.kind&strong != 0 {
		kind |= sizeOf(request.Bytes / o.elements)
	}
	return kind
}

// tick begins the next moment after an access that orders threads, or the lanes of its warp.
func (r *run) tick(o *role) {
	if r.lockstep > 0 || o.sync != 0 {
		r.now++
	}
}

// recordLanes records an access by lanes at once. The other lanes of the event have been deferred.
func (r *run) recordLanes(c *cta, e *probe.Event, x *access, lanes uint64) {
	a, role := x.access, &r.roles[e.Index]
	first := bits.TrailingZeros64(lanes)
	base := a.Addr[first]
	space, alloc, offset, ok := r.place(c, e.Index, a, base)
	if x.reads && !x.writes && ok && alloc != nil && role.skipped == 0 { // all lanes read the same bytes
		if runs := a.Runs(lanes); len(runs) == 1 && runs[0].Stride == 0 && lanes&(lanes-1) != 0 && role.sync == 0 && r.numbered(lanes) && r.haveSameClock(&c.warps[e.Warp], lanes) {
			r.asSet(x, c.warps[e.Warp].clockOf(first), e.Warp, lanes)
			x.shared, x.executed = space == ptx.Shared, a.Lanes&e.Lanes&^lanes
			r.touchAll(x, alloc, offset, a.Length(first))
			return
		}
	}
	if role.sync == 0 && ok && alloc != nil && role.skipped == 0 && a.Bytes == 4 && base%4 == 0 && r.lockstep == 0 {
		lanes = r.touchUniform(c, e.Warp, a, x, alloc, offset, lanes, space == ptx.Shared)
	}
	r.recordEach(c, e, x, lanes, first)
}

// recordEach records an access by lanes, lane by lane. The other lanes of the event have been deferred, or are recorded. first is a lane
// whose memory is probably that of all lanes.
func (r *run) recordEach(c *cta, e *probe.Event, x *access, lanes uint64, first int) {
	a, role := x.access, &r.roles[e.Index]
	x.executed = a.Lanes & e.Lanes &^ lanes
	base := a.Addr[first]
	space, alloc, offset, ok := r.place(c, e.Index, a, base)
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		mine, byteOffset := alloc, offset+(a.Addr[lane]-base)
		if n := uint64(a.Length(lane)); !ok || alloc == nil || byteOffset >= alloc.Size || alloc.Size-byteOffset < n {
			var good bool
			if space, mine, byteOffset, good = a.PlaceOf(lane); !good || mine == nil {
				continue
			}
		}
		x.agent, x.view, x.shared = threadIndex(e.Warp, lane), c.view(e.Warp, lane, r.now), space == ptx.Shared
		if role.sync != 0 {
			r.before(c, e, role, place{mine, byteOffset}, x.writes, x.reads, e.Warp, lane)
			x.clock = c.warps[e.Warp].clockOf(lane)
		}
		if x.writes && !x.reads {
			x.stored, x.offset = false, byteOffset
		}
		for n := a.Length(lane); n > 0; { // the bytes still to record, from byteOffset on
			take := n
			if role.skipped != 0 {
				take = a.Bytes / role.elements
			}
			if i := (a.Length(lane) - n) / take; role.skipped>>i&1 == 0 {
				if x.writes && !x.reads && role.kind&strong == 0 {
					r.overwrite(mine, byteOffset, take)
				}
				r.touchAll(x, mine, byteOffset, take)
			}
			byteOffset, n = byteOffset+uint64(take), n-take
		}
		x.executed |= 1 << lane
	}
	r.tick(role)
}

// texels handles reads through the texture unit, which is a proxy of its own (manual 8.6).
func (r *run) texels(c *cta, e *probe.Event) {
	x := access{record: record{moment: r.now, cta: c.number, kind: accessKind(e.Index)<<indexBits | r.roles[e.Index].kind}, reads: true}
	for i := range e.Texels {
		p := &e.Texels[i]
		x.agent, x.view = threadIndex(e.Warp, p.Lane), c.view(e.Warp, p.Lane, r.now)
		r.touchAll(&x, p.Memory, p.Offset, p.Bytes)
	}
	if r.lockstep > 0 {
		r.now++
	}
}

// lastGlobal caches the last global allocation that an instruction accessed.
type lastGlobal struct {
	alloc    *probe.Allocation
	baseAddr uint64 // address of its first byte
	space    ptx.Space
}

// cachedPlace returns the memory at an address from the caches of the instruction and of the CTA's shared memory; false if
// it is in neither.
func (r *run) cachedPlace(c *cta, index int, q *probe.Request, addr uint64) (space ptx.Space, alloc *probe.Allocation, offset uint64, ok bool) {
	h, n := &r.lastGlobals[index], uint64(q.Bytes)
	if offset = addr - h.baseAddr; h.alloc != nil && h.space == q.Space && n > 0 && addr&(n-1) == 0 && offset < h.alloc.Size && n <= h.alloc.Size-offset {
		return ptx.Global, h.alloc, offset, true
	}
	if m := c.shared; q.Space == ptx.Shared && m != nil && n > 0 && addr&(n-1) == 0 && addr < m.Size && n <= m.Size-addr {
		return ptx.Shared, m, addr, true
	}
	return 0, nil, 0, false
}

// place returns the memory at an address, as probe.Access.AllocationAt does.
func (r *run) place(c *cta, index int, a *probe.Access, addr uint64) (space ptx.Space, alloc *probe.Allocation, offset uint64, ok bool) {
	if space, alloc, offset, ok = r.cachedPlace(c, index, &a.Request, addr); ok {
		return space, alloc, offset, ok
	}
	if space, alloc, offset, ok = a.AllocationAt(addr); ok && alloc != nil {
		switch {
		case space == ptx.Global:
			r.lastGlobals[index] = lastGlobal{alloc, addr - offset, a.Space}
		case space == ptx.Shared && r.perCTAs <= 1:
			c.shared = alloc
		}
	}
	return space, alloc, offset, ok
}

// touchUniform records the weak accesses of lanes to words with no earlier access, or with an earlier access
// known to the whole CTA. It returns the remaining lanes.
func (r *run) touchUniform(c *cta, warp int, a *probe.Access, x *access, alloc *probe.Allocation, offset uint64, lanes uint64, shared bool) (remaining uint64) {
	w, s := &c.warps[warp], r.shadow(alloc)
	r.closeBacklog(s, alloc, &x.record, w.clockOf(bits.TrailingZeros64(lanes)), false)
	base, size := a.Addr[bits.TrailingZeros64(lanes)]-offset, uint64(len(alloc.Data))&^3
	if x.writes {
		if r.holdsReleases(alloc) {
			return lanes
		}
		lane := bits.TrailingZeros64(lanes)
		r.noteWrite(alloc, offset, a.Length(lane), x, threadIndex(warp, lane))
	}
	single := shared && r.perCTAs <= 1
	var last *clock
	var all moment
	rec := x.record
	const others = listedReaders | coarse | split | proxy
	var page []cell
	number := ^uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		byteOffset := a.Addr[lane] - base
		if byteOffset >= size || byteOffset&3 != 0 {
			remaining |= 1 << lane
			continue
		}
		if k := w.clockOf(lane); k != last {
			last, all = k, 0
			if k := k.find(c.number); k != nil {
				all = k.all
			}
		}
		word := byteOffset / 4
		if n := word / pageWords; n != number {
			number, page = n, s.pages[n]
			if page == nil {
				page = r.page(s, word)
			}
		}
		cell := &page[word%pageWords]
		rec.agent = threadIndex(warp, lane)
		if o := &cell.written; (o.moment != 0 || o.kind != 0) && !o.isOf(&rec) {
			if o.kind&(listedReaders|coarse|split|proxy) != 0 || !(o.cta < r.priorCTAs || o.cta == rec.cta && (o.moment <= all || o.agent == rec.agent && o.kind&others == 0) || single && o.cta != rec.cta) {
				remaining |= 1 << lane
				continue
			}
		}
		if o := &cell.read; o.moment != 0 && !o.isOf(&rec) {
			if o.kind&(listedReaders|coarse|proxy) != 0 || !(o.cta < r.priorCTAs || o.cta == rec.cta && (o.moment <= all || o.agent == rec.agent && o.kind&others == 0) || single && o.cta != rec.cta) {
				if !x.writes && o.cta == rec.cta && o.moment > all && o.kind&coarse == 0 { // a further reader
					x.record, x.view, x.shared = rec, c.view(warp, lane, r.now), shared
					r.add(x, o)
					continue
				}
				remaining |= 1 << lane
				continue
			}
		}
		if x.writes {
			cell.written, cell.read.moment, cell.read.kind = rec, 0, 0
		} else {
			cell.read = rec
		}
	}
	return remaining
}

// isOf reports whether record o is a single access by the same thread as x.
func (o *record) isOf(x *record) bool {
	return o.agent == x.agent && o.cta == x.cta && o.kind&(listedReaders|coarse|split|proxy) == 0
}

// holdsReleases reports whether the allocation holds released values.
func (r *run) holdsReleases(alloc *probe.Allocation) bool {
	return len(r.syncs) > 0 && len(r.syncs[alloc]) > 0
}

// haveSameClock reports whether the lanes have the same clock.
func (r *run) haveSameClock(w *warp, lanes uint64) bool {
	if w.sameClocks {
		return true
	}
	first := w.clockOf(bits.TrailingZeros64(lanes))
	for m := lanes & (lanes - 1); m != 0; m &= m - 1 {
		if w.clockOf(bits.TrailingZeros64(m)) != first {
			return false
		}
	}
	return true
}

// numbered reports whether this set of lanes has a number or can get a number.
func (r *run) numbered(lanes uint64) bool {
	if len(r.sets) < 1<<laneBits-maxWidth {
		return true
	}
	_, ok := r.numbers[lanes]
	return ok
}

// asSet makes x a common access of several lanes with the same clock k.
func (r *run) asSet(x *access, k *clock, warp int, lanes uint64) {
	x.agent = agent(warp<<laneBits | maxWidth + r.number(lanes))
	// Each lane's own latest accesses are unknown to the rest of the set.
	x.view = view{clock: k, cta: x.record.cta, self: threadIndex(warp, bits.TrailingZeros64(lanes))}
}

// number returns the number of a set of lanes.
func (r *run) number(lanes uint64) int {
	if n := r.foundSet; n < len(r.sets) && r.sets[n] == lanes {
		return n
	}
	n, ok := r.numbers[lanes]
	if !ok {
		n = len(r.sets)
		r.numbers[lanes] = n
		r.sets = append(r.sets, lanes)
	}
	r.foundSet = n
	return n
}

// touchAll records an access to n bytes of an allocation.
func (r *run) touchAll(a *access, alloc *probe.Allocation, offset uint64, n int) {
	if offset+uint64(n) > uint64(len(alloc.Data)) {
		return
	}
	s := r.shadow(alloc)
	if a.writes {
		r.noteWrite(alloc, offset, n, a, a.agent)
	}
	r.closeBacklog(s, alloc, &a.record, a.view.clock, a.kind&proxy != 0 && !a.together)
	r.touchWords(a, s, alloc, offset, n)
}

// touchWords records an access word by word.
func (r *run) touchWords(a *access, s *shadow, alloc *probe.Allocation, offset uint64, n int) {
	for n > 0 {
		take := min(4-int(offset%4), n)
		r.touchPart(a, s, alloc, offset, take)
		offset, n = offset+uint64(take), n-take
	}
}

// raceKey groups races into a finding.
type raceKey struct {
	kind              string
	index, otherIndex int
	operation         *operation // the operation of the earlier access
}

// races reports a race between an access and the first racing access of a record.
func (r *run) races(a *access, o *record, alloc *probe.Allocation, offset uint64, n int, written bool) {
	if o.kind&listedReaders != 0 {
		for i := int32(o.agent); i != 0; i = r.links[i].next {
			if l := &r.links[i].record; !r.happensBefore(a, l) && !r.allowed(a, l) {
				r.races(a, l, alloc, offset, n, written)
				return
			}
		}
		return
	}
	switch {
	case !written:
		r.reportRace(a, o, alloc, offset, n, written, "write after read")
	case a.writes && a.kind&strong == 0 && a.writesSameBytes(alloc, offset, n, o):
		r.reportRace(a, o, alloc, offset, n, written, sameValue)
	case a.writes:
		r.reportRace(a, o, alloc, offset, n, written, "write after write")
	default:
		r.reportRace(a, o, alloc, offset, n, written, "read after write")
	}
}

// Kinds of finding that are not named after the order of the two accesses.
const (
	sameValue = "same value written"
	noFence   = "missing proxy fence"
)

// reportRace adds a race between access a and the earlier access o to the findings.
func (r *run) reportRace(a *access, o *record, alloc *probe.Allocation, offset uint64, n int, written bool, kind string) {
	p := raceKey{kind: kind, index: a.index(), otherIndex: o.index(), operation: r.operation}
	if !r.has(o.cta) {
		p.operation = r.history.operationOf(o.cta)
	}
	if f := r.found[p]; f != nil {
		f.Count++
		return
	}
	// Of a set of lanes, report a lane that is really unordered to the second access.
	lane := func(target *record, byAgent agent) int {
		if l := byAgent.lane(); l < maxWidth {
			return l
		}
		lanes := r.sets[byAgent.lane()-maxWidth]
		for m := lanes; m != 0; m &= m - 1 {
			single := *target
			single.agent = threadIndex(byAgent.warp(), bits.TrailingZeros64(m))
			if target == o && !r.happensBefore(a, &single) || target != o && single.agent != o.agent {
				return single.agent.lane()
			}
		}
		return bits.TrailingZeros64(lanes)
	}
	describe := func(target *record, otherOperation *operation, wrote bool) finding.Place {
		role := "read"
		switch {
		case target.kind&atomic != 0:
			role = "atomic operation"
		case wrote:
			role = "write"
		}
		byAgent := target.agent
		if target.kind&proxy != 0 {
			role = "asynchronous " + role
			byAgent = otherOperation.issuers[byAgent&^channelBit]
		}
		if otherOperation.launch == nil {
			return finding.Place{Role: fmt.Sprintf("%s by %s", role, otherOperation.order.Name), Stream: otherOperation.order.Stream}
		}
		location := finding.LaunchPlace(otherOperation.launch, target.index(), role, otherOperation.id(target.cta), byAgent.warp(), lane(target, byAgent))
		if p.operation != r.operation {
			location.Launch, location.Stream = otherOperation.launch.ID, otherOperation.order.Stream
		}
		if target.kind&strong != 0 {
			location.Role += fmt.Sprintf(" at scope .%s", scopeNames[target.kind&scopeMask])
		}
		return location
	}
	f := &finding.Finding{Tool: Name, Kind: kind, Place: describe(&a.record, r.operation, a.writes), Count: 1}
	other := describe(o, p.operation, written)
	f.OtherPlace = &other
	f.Memory = finding.MemoryOf(r.LaunchInfo, alloc, offset, n)
	if p.operation == r.operation {
		f.Place.Value, f.OtherPlace.Value = valueOf(a.writtenBytes(offset, n)), valueOf(a.storedBytes(alloc, offset, n, o))
		if f.Place.Value == "" {
			f.Place.Value = f.OtherPlace.Value
		}
	}
	switch {
	case kind == noFence:
		f.Message = "the asynchronous proxy reads a value that the generic proxy wrote, without a proxy fence in between"
	case kind == sameValue:
		f.Severity = finding.Notice
		f.Message = "threads write the same value to the same memory: the accesses are not ordered"
	case a.kind&strong != 0 && o.kind&strong != 0 && a.kind&sizeBits != o.kind&sizeBits:
		f.Message = "accesses that overlap only in part, which no scope orders: the accesses are not ordered"
	case a.kind&strong != 0 && o.kind&strong != 0:
		f.Message = "accesses to the same memory that are not in each other's scope: the accesses are not ordered"
	case p.operation != r.operation:
		f.Message = kind + ": the operations are not ordered"
	default:
		f.Message = kind + ": the accesses are not ordered"
	}
	r.found[p] = f
	r.sequence = append(r.sequence, p)
}

// report moves the findings to the log.
func (r *run) report(e *probe.Event, log *finding.Log) {
	for _, p := range r.sequence {
		log.Add(e, *r.found[p])
		delete(r.found, p)
	}
	r.sequence = nil
}

// valueOf formats up to 8 bytes as a little-endian number.
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
