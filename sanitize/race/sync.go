package race

// This file implements the order of threads: barriers, releases and acquires, mbarriers, asynchronous
// operations.

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
)

// Scopes of strong accesses, from narrow to wide.
const (
	scopeCTA accessKind = iota
	scopeCluster
	scopeDevice
	scopeSystem
)

var scopeNames = [...]string{"cta", "cluster", "gpu", "sys"}

// order is the set of an instruction's effects on the order of threads.
type order uint16

const (
	releases order = 1 << iota
	acquires
	isFence
	warpBarrier
	barriersCTA // a barrier of the CTA or the cluster
	arrives     // arrives at a barrier without waiting
	mbarriers
	variables // a strong access to a variable, which passes on releases
	reduces   // a reduction: returns no value, so it is not part of an acquire pattern (manual 8.8)
	awaits    // waits for asynchronous operations of the thread
	commits   // commits asynchronous operations to a group
	proxies   // a proxy fence: the asynchronous proxy sees all that the thread knows
)

// ordersAfter has the effects that take place after the instruction: see run.after.
const ordersAfter = isFence | warpBarrier | awaits | commits | mbarriers | proxies

// role describes the synchronisation of an instruction.
type role struct {
	kind     accessKind // strong, and its scope
	sync     order
	elements int   // number of elements of an accessed vector
	skipped  uint8 // vector elements without an access, a bit each
	instr    *ptx.Instr
	next     nextActions // after a barrier of the whole CTA; mayWrite if it is not one, or unknown
}

// scopeOf returns the scope in an instruction's qualifiers, or otherwise.
func scopeOf(instr *ptx.Instr, otherwise accessKind) accessKind {
	switch {
	case instr.Has("cta"):
		return scopeCTA
	case instr.Has("cluster"):
		return scopeCluster
	case instr.Has("gpu") || instr.Has("gl"):
		return scopeDevice
	case instr.Has("sys"):
		return scopeSystem
	}
	return otherwise
}

func newRole(instr *ptx.Instr) (o role) {
	o.instr, o.elements, o.next = instr, 1, mayWrite
	for i := range instr.Ops {
		if instr.Ops[i].Kind == ptx.VecOperand {
			o.elements = max(o.elements, len(instr.Ops[i].Elems()))
			for k := range instr.Ops[i].Elems() {
				if memory := instr.Form.Family == ptx.FamilyLoad || instr.Form.Family == ptx.FamilyStore; memory && instr.Ops[i].Elems()[k].Kind == ptx.SinkOperand {
					o.skipped |= 1 << k
				}
			}
		}
	}
	if instr.Has("f16x2") || instr.Has("bf16x2") {
		o.elements *= 2 // manual 8.2.2
	}
	effects := instr.Form.Effects
	release := func() {
		if instr.Has("acquire") || instr.Has("acq_rel") {
			o.sync |= acquires
		}
		if instr.Has("release") || instr.Has("acq_rel") {
			o.sync |= releases
		}
	}
	switch {
	case instr.Form.Family == ptx.FamilyMbarrier:
		o.sync = mbarriers
		if effects.Any(ptx.Atomic | ptx.Strong) {
			// The default is .cta (manual 9.7.13.15.13). But code for clusters, such as CUTLASS, omits the
			// scope and lets other CTAs arrive.
			o.kind = strong | scopeOf(instr, scopeCluster)
			if !instr.Has("relaxed") {
				if o.sync |= releases; effects.HasAll(ptx.Strong) {
					o.sync = mbarriers | acquires
				}
			}
		}
	case effects.HasAll(ptx.Fences):
		switch {
		case instr.Has("proxy") && (instr.Has("async") || instr.Has("async::generic")):
			o.sync = proxies
		case !instr.Has("proxy"):
			o.sync, o.kind = isFence, scopeOf(instr, scopeDevice)
			if instr.Has("acquire") {
				o.sync |= acquires
			}
			if instr.Has("release") {
				o.sync |= releases
			}
			if o.sync == isFence {
				o.sync |= acquires | releases
			}
		}
	case instr.Form.Family == ptx.FamilyBarrier:
		switch o.sync = barriersCTA; {
		case effects.HasAll(ptx.Collective):
			o.sync = warpBarrier
		case !effects.HasAll(ptx.Waits):
			o.sync |= arrives
		}
		if !instr.Has("relaxed") {
			o.sync |= acquires | releases
		}
	case effects.HasAll(ptx.Atomic):
		o.kind, o.sync = strong|scopeOf(instr, scopeDevice), variables
		if instr.Form.Operand("d") < 0 {
			o.sync |= reduces
		}
		release()
	case effects.HasAll(ptx.Strong):
		o.kind, o.sync = strong|scopeOf(instr, scopeSystem), variables // volatile is relaxed.sys (manual 8.4.1)
		if instr.Has("weak") {
			o.kind, o.sync = 0, 0
		}
		release()
	case (instr.Form.Family == ptx.FamilyAsync || instr.Form.Family == ptx.FamilyWgmmaWait) && effects.HasAll(ptx.Waits):
		o.sync = awaits
	case instr.Form.Family == ptx.FamilyAsync && instr.Has("commit_group"):
		o.sync = commits
	}
	return o
}

// release is the knowledge that a strong write passes on.
type release struct {
	*clock
	scope accessKind
	cta   int32
}

// variable holds the releases of a strongly written location. They are valid while it has the value of the last
// write or of a chain of atomic operations from it (manual 8.9.4).
type variable struct {
	releases        []*release // by CTA and scope
	droppedReleases int        // length of releases after the last removal
	deviceClock     *clock     // union of the releases at device scope or wider
	ownRelease      ownRelease // the latest release, which later writes of its thread continue
}

// ownRelease is a release operation and its thread.
type ownRelease struct {
	*release
	agent agent
}

// anyCTA is the CTA of a release by several CTAs.
const anyCTA = -1

// fence is the latest fence of a thread.
type fence struct {
	*clock
	moment moment // 0: none
	scope  accessKind
}

// withAgent returns clock k plus the actions of an agent up to moment when.
func (r *run) withAgent(k *clock, cta int32, a agent, when moment) *clock {
	n := k.own(cta)
	n.learn(a, when, r.warps, r.WarpSize)
	return k.withKnown(cta, n)
}

// before handles a strong access of a lane, or an access to an mbarrier, before its effect.
func (r *run) before(c *cta, e *probe.Event, o *role, target place, writes, reads bool, warp, lane int) {
	if o.sync&mbarriers != 0 {
		r.atMbarrier(c, o, target, warp, lane)
		return
	}
	w, scope := &c.warps[warp], o.kind&scopeMask
	in := r.syncs[target.alloc]
	v := in[target.offset]
	if reads && v != nil && o.sync&reduces == 0 {
		acquires := o.sync&acquires != 0
		if scope >= scopeDevice && v.deviceClock != nil {
			if acquires {
				w.learn(lane, v.deviceClock)
			} else {
				w.read(lane, &release{v.deviceClock, scopeSystem, anyCTA})
			}
		}
		for _, x := range v.releases {
			switch wide := scope >= scopeDevice && x.scope >= scopeDevice; {
			case !r.include(scope, x.scope, c.number, x.cta):
			case acquires && !wide:
				w.setClock(lane, joinClocks(w.clockOf(lane), x.clock))
			case !acquires && (!wide || r.cluster(x.cta) == r.cluster(c.number)): // its fence may have CTA or cluster scope
				w.read(lane, x)
			}
		}
	}
	if !writes {
		return
	}
	x, byAgent := release{scope: scope, cta: c.number}, threadIndex(warp, lane)
	f := &w.fences[lane]
	if f.moment != 0 {
		x.clock, x.scope = r.withAgent(f.clock, c.number, byAgent, f.moment), min(scope, f.scope)
	}
	own := ownRelease{}
	if v != nil {
		if own = v.ownRelease; own.release != nil && (own.cta != c.number || own.agent != byAgent) {
			own = ownRelease{}
		}
	}
	switch {
	case o.sync&releases != 0:
		x.clock, x.scope = r.withAgent(w.clockOf(lane), c.number, byAgent, r.now), scope
		own = ownRelease{&x, byAgent}
	case own.release != nil && (f.moment == 0 || own.scope >= x.scope): // the release pattern continues with this write
		x.clock, x.scope = joinClocks(own.clock, x.clock), min(scope, own.scope)
	}
	if !reads { // a plain write ends the earlier releases
		delete(in, target.offset)
		v = nil
	}
	if x.clock == nil {
		return
	}
	if v == nil {
		v = &variable{}
		if in == nil {
			in = map[uint64]*variable{}
			r.syncs[target.alloc] = in
		}
		in[target.offset] = v
	}
	v.ownRelease = own
	if x.scope >= scopeDevice {
		v.deviceClock = joinClocks(v.deviceClock, x.clock)
	}
	for i := len(v.releases) - 1; i >= 0; i-- {
		if y := v.releases[i]; y.cta == x.cta && y.scope == x.scope {
			v.releases[i] = &release{joinClocks(y.clock, x.clock), x.scope, x.cta}
			return
		}
	}
	if len(v.releases) >= 8 && len(v.releases) >= 2*v.droppedReleases {
		v.releases = slices.DeleteFunc(v.releases, func(y *release) bool { return r.runningCTAs[r.cluster(y.cta)] == 0 }) // deviceClock has them for other CTAs
		v.droppedReleases = len(v.releases)
	}
	v.releases = append(v.releases, &x)
}

// setClock sets the clock of a lane.
func (w *warp) setClock(lane int, k *clock) {
	if w.sameClocks {
		if w.commonClock == k {
			return
		}
		for i := range w.clocks {
			w.clocks[i] = w.commonClock
		}
		w.sameClocks = false
	}
	w.clocks[lane] = k
}

// clockOf returns the clock of a lane.
func (w *warp) clockOf(lane int) *clock {
	if w.sameClocks {
		return w.commonClock
	}
	return w.clocks[lane]
}

// learn joins a release into the clock of a lane. It returns early if the lane's last release was the same.
func (w *warp) learn(lane int, k *clock) {
	if w.learnedClocks == nil {
		w.learnedClocks = make([]*clock, len(w.clocks))
	}
	if w.learnedClocks[lane] != k {
		w.setClock(lane, joinClocks(w.clockOf(lane), k))
		w.learnedClocks[lane] = k
	}
}

// read notes a release that a lane has read, for its next fence.
func (w *warp) read(lane int, x *release) {
	if w.readReleases == nil {
		w.readReleases = make([][]*release, len(w.clocks))
	}
	for i, o := range w.readReleases[lane] {
		if o.scope == x.scope && o.cta == x.cta {
			if k := joinClocks(o.clock, x.clock); k != o.clock {
				w.readReleases[lane][i] = &release{clock: k, scope: x.scope, cta: x.cta}
			}
			return
		}
	}
	w.readReleases[lane] = append(w.readReleases[lane], x)
}

// overwrite removes the releases at bytes of a weak write.
func (h *history) overwrite(alloc *probe.Allocation, offset uint64, n int) {
	list := h.syncs[alloc]
	if n > len(list) {
		maps.DeleteFunc(list, func(byteOffset uint64, _ *variable) bool { return byteOffset-offset < uint64(n) })
		return
	}
	for i := range uint64(n) {
		delete(list, offset+i)
	}
}

// after handles an instruction after its execution.
func (r *run) after(c *cta, e *probe.Event) {
	o := &r.roles[e.Index]
	if o.sync&ordersAfter == 0 || e.Lanes == 0 {
		return
	}
	w := &c.warps[e.Warp]
	switch {
	case o.sync&isFence != 0:
		scope := o.kind & scopeMask
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if o.sync&acquires != 0 && w.readReleases != nil {
				w.readReleases[lane] = slices.DeleteFunc(w.readReleases[lane], func(x *release) bool {
					in := r.include(scope, x.scope, c.number, x.cta)
					if in {
						w.setClock(lane, joinClocks(w.clockOf(lane), x.clock))
					}
					return in
				})
			}
			if o.sync&releases != 0 {
				w.hasFences = true
				w.fences[lane] = fence{w.clockOf(lane), r.now, scope}
			}
		}
		r.now++
	case o.sync&warpBarrier != 0: // the lanes have synchronised, unless the next event says that they wait
		r.batch = batch{key: batchKey{cta: c.number, barrier: tentative}, lanes: r.batch.lanes[:0]}
		r.groups(c, e, &o.instr.Ops[0])
	case o.sync&proxies != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			w.setClock(lane, r.withAgent(w.clockOf(lane), c.number, threadIndex(e.Warp, lane), r.now).proxyFence())
		}
		r.now++
	case o.sync&awaits != 0 && o.instr.Form.Family == ptx.FamilyAsync && !o.instr.Has("bulk"):
		keep, all := uint64(0), true
		if i := o.instr.Form.Operand("a"); i >= 0 {
			keep, all = o.instr.Ops[i].Imm.Bits, false
		}
		r.awaitCopies(c, e.Warp, e.Lanes, keep, all)
		r.now++
	case o.sync&awaits != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			key := channelKey{agent: threadIndex(e.Warp, lane), bulk: o.instr.Has("bulk")}
			if o.instr.Form.Family == ptx.FamilyWgmmaWait {
				key = r.warpgroup(e.Warp)
			}
			when := r.now
			if o.instr.Form.Family == ptx.FamilyAsync {
				q, n := c.queueOf(key), uint64(0)
				if i := o.instr.Form.Operand("a"); i >= 0 {
					n = o.instr.Ops[i].Imm.Bits
				} else { // wait_all also waits for operations without a group
					q.committed++
				}
				when = q.waitAll(int(min(n, math.MaxInt32)))
			}
			if ch, ok := c.channels[key]; ok && when > 0 {
				w.setClock(lane, r.withAgent(w.clockOf(lane), c.number, ch, when))
			}
		}
		r.now++
	case o.sync&commits != 0 && !o.instr.Has("bulk"):
		r.eachQueue(c, e.Warp, e.Lanes, func(q *queue, _ int) { q.committed++ })
	case o.sync&commits != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			c.queueOf(channelKey{agent: threadIndex(e.Warp, bits.TrailingZeros64(m)), bulk: o.instr.Has("bulk")}).committed++
		}
	case o.kind&strong != 0 && o.instr.Form.Effects.HasAll(ptx.Strong): // a test of an mbarrier
		d := o.instr.Arg("p")
		v, ok := e.Read(d.Reg)
		if !ok {
			return
		}
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if b := r.mbarrierOf(w.watched[lane]); b != nil && v.Low[lane] != 0 {
				b.notePhase(w.watched[lane])
				k := b.completed
				if o.kind&scopeMask > scopeCTA {
					k = joinClocks(k, b.clusterCompleted)
				}
				if o.sync&acquires != 0 {
					w.setClock(lane, joinClocks(w.clockOf(lane), k))
				} else if k != nil {
					w.read(lane, &release{clock: k, scope: o.kind & scopeMask, cta: c.number})
				}
			}
		}
	}
}

// mbarrier holds the clocks that arrivals and asynchronous operations released to an mbarrier.
type mbarrier struct {
	owner                        int32 // its CTA
	phase                        uint64
	now, completed               *clock // released by the owner's threads: in the current phase, and in completed phases
	clusterNow, clusterCompleted *clock // the same by other CTAs, at cluster scope
}

// notePhase updates the clocks if the phase has completed.
func (b *mbarrier) notePhase(target place) {
	if phase := interp.MbarrierPhase(binary.LittleEndian.Uint64(target.alloc.Data[target.offset:])); phase != b.phase {
		b.completed, b.now, b.phase = joinClocks(b.completed, b.now), nil, phase
		b.clusterCompleted, b.clusterNow = joinClocks(b.clusterCompleted, b.clusterNow), nil
	}
}

// mbarrierAt returns the mbarrier at a place, and creates it if it is unknown.
func (r *run) mbarrierAt(target place) *mbarrier {
	b := r.mbarrierOf(target)
	if b == nil {
		b = &mbarrier{owner: anyCTA, phase: interp.MbarrierPhase(binary.LittleEndian.Uint64(target.alloc.Data[target.offset:]))}
		r.setMbarrier(target, b)
	}
	b.notePhase(target)
	return b
}

// mbarrierOf returns the mbarrier at a place, or nil.
func (r *run) mbarrierOf(target place) *mbarrier { return r.mbarriers[target.alloc][target.offset] }

func (r *run) setMbarrier(target place, b *mbarrier) {
	if r.mbarriers[target.alloc] == nil {
		r.mbarriers[target.alloc] = map[uint64]*mbarrier{}
	}
	r.mbarriers[target.alloc][target.offset] = b
}

// atMbarrier handles a lane's operation on an mbarrier before its effect.
func (r *run) atMbarrier(c *cta, o *role, target place, warp, lane int) {
	w := &c.warps[warp]
	switch {
	case o.kind&strong == 0: // init or inval
		r.setMbarrier(target, &mbarrier{owner: c.number}) // in phase 0
	case o.instr.Form.Effects.HasAll(ptx.Atomic): // an arrival
		b := r.mbarrierAt(target)
		var k *clock
		switch f := &w.fences[lane]; {
		case o.sync&releases != 0:
			k = r.withAgent(w.clockOf(lane), c.number, threadIndex(warp, lane), r.now)
		case f.moment != 0:
			k = r.withAgent(f.clock, c.number, threadIndex(warp, lane), f.moment)
		}
		switch {
		case k == nil:
		case c.number == b.owner || b.owner == anyCTA:
			b.now = joinClocks(b.now, k)
		case o.kind&scopeMask > scopeCTA:
			b.clusterNow = joinClocks(b.clusterNow, k)
		}
	default: // a test
		r.mbarrierAt(target)
		if w.watched == nil {
			w.watched = make([]place, len(w.clocks))
		}
		w.watched[lane] = target
	}
}

// channelKey identifies a channel, i.e. asynchronous operations with a common wait: by their mbarrier, or by
// the thread and its queue.
type channelKey struct {
	place place
	agent agent
	bulk  bool
	core  bool // by the tensor cores
}

// warpgroup returns the channel of the matrix multiplications of a warpgroup (128 threads): a wait by a single
// warp covers the reads of all its warps.
func (r *run) warpgroup(warp int) channelKey {
	n := max(1, 128/r.WarpSize)
	return channelKey{agent: threadIndex(warp/n*n, 0), core: true}
}

// queue holds the groups of a thread's asynchronous operations.
type queue struct {
	committed int
	completed []groupMoment // sorted by group
}

// groupMoment is the moment of the latest effect in a group so far.
type groupMoment struct {
	group  int
	moment moment
}

// queueOf returns the queue of a channel, and creates it if it is unknown.
func (c *cta) queueOf(channelOf channelKey) *queue {
	q := c.queues[channelOf]
	if q == nil {
		q = &queue{}
		put(&c.queues, channelOf, q)
	}
	return q
}

// note records the effect of an operation. Effects mostly come in the order of their groups.
func (q *queue) note(group int, when moment) {
	i := len(q.completed)
	for i > 0 && q.completed[i-1].group > group {
		i--
	}
	if i > 0 && q.completed[i-1].group == group {
		q.completed[i-1].moment = when
		return
	}
	q.completed = slices.Insert(q.completed, i, groupMoment{group, when})
}

// waitAll returns the moment of the latest effect in all groups except the last n committed groups and the
// operations without a group; 0: none. Later groups may have had effects early; no wait covers them.
func (q *queue) waitAll(n int) (last moment) {
	k := 0
	for ; k < len(q.completed) && q.completed[k].group < q.committed-n; k++ {
		last = max(last, q.completed[k].moment)
	}
	if k > 1 { // treat these groups as a single group from now on
		q.completed[k-1].moment = last
		q.completed = slices.Delete(q.completed, 0, k-1)
	}
	return last
}

// effect handles the issue or the effect of an asynchronous operation. The operation has the knowledge of its
// thread at the time of issue.
func (r *run) effect(c *cta, e *probe.Event) {
	f, lane := e.Effect, bits.TrailingZeros64(e.Lanes)
	byAgent := threadIndex(e.Warp, lane)
	if f.Issued {
		put(&c.effects, f.Number, c.view(e.Warp, lane, r.now))
		c.issued++
		r.issued++
		r.now++
	}
	if !f.Reads && !f.Writes {
		return
	}
	key := channelKey{agent: byAgent, bulk: f.Bulk, core: f.TensorCore}
	if e.Instr.Form.Family == ptx.FamilyWgmma {
		key = r.warpgroup(e.Warp)
	}
	if f.Barrier != nil && !f.Arrives {
		key = channelKey{place: place{f.Barrier, f.BarrierOffset}}
	}
	channel, ok := c.channels[key]
	if copies := isCopy(f, e.Instr); copies {
		channel = r.channelOf(c, e.Warp) + agent(lane)
	} else if !ok {
		channel = channelBit | agent(len(r.issuers))
		put(&c.channels, key, channel)
		r.issuers = append(r.issuers, byAgent)
	}
	r.issuers[channel&^channelBit] = byAgent
	x := access{record: record{moment: r.now, cta: c.number, agent: channel, kind: accessKind(e.Index)<<indexBits | proxy}, view: r.viewAtIssue(c, f.Number, e.Warp, lane)}
	if f.Reduces {
		x.kind |= strong | atomic | scopeDevice
	}
	for i := range f.Segments {
		p := &f.Segments[i]
		if f.Reads && p.From != nil && p.Read > 0 && (f.Bulk || !r.onlyReads(p.From)) {
			from := x
			from.kind &^= strong | atomic | scopeMask
			from.reads, from.shared, from.needsProxyFence = true, p.From.Space() == ptx.Shared, f.Bulk
			r.touchAll(&from, p.From, p.FromOffset, p.Read)
		}
		if f.Writes && p.Bytes > 0 {
			to := x
			to.writes, to.reads, to.shared = true, f.Reduces, p.To.Space() == ptx.Shared
			r.touchAll(&to, p.To, p.ToOffset, p.Bytes)
		}
	}
	if f.Barrier != nil {
		b := r.mbarrierAt(place{f.Barrier, f.BarrierOffset})
		b.now = joinClocks(b.now, r.withAgent(nil, c.number, channel, r.now))
		if f.Commits { // tcgen05.commit also fences the completed waits of its thread (manual 9.7.16.6.4.1)
			v := x.view
			b.now = joinClocks(b.now, r.withAgent(v.clock, c.number, v.self, v.upTo))
			if core, ok := c.channels[channelKey{agent: byAgent, core: true}]; ok {
				b.now = joinClocks(b.now, r.withAgent(nil, c.number, core, r.now))
			}
		}
	}
	switch {
	case f.Barrier != nil || f.TensorCore:
	case isCopy(f, e.Instr):
		c.warps[e.Warp].queueOf(lane).note(f.Group, r.now)
	default:
		c.queueOf(key).note(f.Group, r.now)
	}
	if f.Writes {
		r.endEffect(c, f.Number, lane)
	}
	r.now++
}

// barrierKey is a generation of a barrier of a CTA.
type barrierKey struct{ barrier, generation int }

// clusterBarrier holds the released clocks at a cluster's barrier, by generation.
type clusterBarrier struct {
	arrived map[int]*clock
}

// batch collects the lanes that meet at a barrier; their events arrive in sequence.
type batch struct {
	key     batchKey
	lanes   []batchMember
	threads int         // number of threads in lanes
	next    nextActions // of any member
}

type batchKey struct {
	cta                 int32
	barrier, generation int // barrier: noSync, tentative, warpwide, or first plus the number of the CTA's barrier
	members             uint32
}

// Values of batchKey.barrier.
const (
	noSync    = 0
	tentative = -2 // bar.warp.sync, unless the lanes have to wait
	warpwide  = -1
	first     = 1 // barrier 0 of the CTA
)

type batchMember struct {
	c     *cta
	warp  int
	lanes uint64
}

func (b *batch) add(c *cta, warp int, lanes uint64) {
	b.lanes = append(b.lanes, batchMember{c, warp, lanes})
}

// groups adds the lanes of a bar.warp.sync to the batch, grouped by membermask.
func (r *run) groups(c *cta, e *probe.Event, mask *ptx.Operand) {
	remaining := e.Lanes
	if mask.Kind == ptx.RegOperand {
		if v, ok := e.Read(mask.Reg); ok {
			for remaining != 0 {
				of, same := v.Low[bits.TrailingZeros64(remaining)], uint64(0)
				for m := remaining; m != 0; m &= m - 1 {
					if lane := bits.TrailingZeros64(m); v.Low[lane] == of {
						same |= 1 << lane
					}
				}
				r.batch.add(c, e.Warp, same)
				remaining &^= same
			}
			return
		}
	}
	r.batch.add(c, e.Warp, remaining)
}

// cancelTentative cancels the tentative batch of lanes that have to wait.
func (r *run) cancelTentative(c *cta, e *probe.Event) {
	if b := &r.batch; r.roles[e.Index].sync&warpBarrier != 0 && b.key.barrier == tentative && b.key.cta == c.number && b.lanes[0].warp == e.Warp {
		*b = batch{lanes: b.lanes[:0]}
	}
}

// leaveBarrier handles lanes that leave a barrier.
func (r *run) leaveBarrier(c *cta, e *probe.Event) {
	o := &r.roles[e.Index]
	w := &c.warps[e.Warp]
	key := batchKey{cta: c.number, barrier: first + e.Wait.Barrier, generation: e.Wait.Generation}
	switch {
	case o.sync&warpBarrier != 0:
		key = batchKey{cta: c.number, barrier: warpwide, members: e.Wait.Members, generation: e.Warp}
	case o.sync&barriersCTA == 0:
		return
	case e.Wait.Barrier == probe.ClusterBarrier:
		r.completeBatch()
		r.atCluster(c, w, o, e)
		return
	case o.sync&arrives != 0:
		r.completeBatch()
		barrier := barrierKey{e.Wait.Barrier, e.Wait.Generation}
		put(&c.barrierClocks, barrier, joinClocks(c.barrierClocks[barrier], r.knowledgeOf(c, e.Warp, e.Lanes)))
		r.now++
		return
	}
	if r.batch.key != key {
		r.completeBatch()
		r.batch = batch{key: key, lanes: r.batch.lanes[:0]}
		if key.barrier >= first { // before any member continues: the batch may be completed only at a later event
			c.quiet.Store(0)
		}
	}
	r.batch.add(c, e.Warp, e.Lanes)
	r.batch.next |= o.next
	if r.batch.threads += bits.OnesCount64(e.Lanes); r.batch.threads == r.Block.Count() && key.barrier >= first { // machine code must see quiet at once
		r.completeBatch()
	}
}

// knowledgeOf returns the joined clock of lanes of a warp, including their own actions.
func (r *run) knowledgeOf(c *cta, warp int, lanes uint64) *clock {
	r.applyWaits(c, warp)
	w := &c.warps[warp]
	var k *clock
	for m := lanes; m != 0; m &= m - 1 {
		k = joinClocks(k, w.clockOf(bits.TrailingZeros64(m)))
	}
	n := k.own(c.number)
	r.learn(n, w, warp, lanes)
	return k.withKnown(c.number, n)
}

// learn adds the actions of lanes of a warp to n.
func (r *run) learn(n *agentMoments, w *warp, warp int, lanes uint64) {
	if lanes == w.lanes {
		n.learnWarp(warp, r.now, r.warps)
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		n.learn(threadIndex(warp, bits.TrailingZeros64(m)), r.now, r.warps, r.WarpSize)
	}
}

// atCluster handles lanes that arrive at, or leave, the barrier of their cluster.
func (r *run) atCluster(c *cta, w *warp, o *role, e *probe.Event) {
	b := r.clusters[r.cluster(c.number)]
	if b == nil {
		b = &clusterBarrier{arrived: map[int]*clock{}}
		r.clusters[r.cluster(c.number)] = b
	}
	r.applyWaits(c, e.Warp)
	if w.clusters == nil {
		w.clusters = make([]int, len(w.clocks))
	}
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if o.sync&arrives != 0 {
			w.clusters[lane] = 1 + e.Wait.Generation
		} else if o.sync&acquires != 0 {
			w.setClock(lane, joinClocks(w.clockOf(lane), b.arrived[w.clusters[lane]-1]))
		}
	}
	if g := e.Wait.Generation; o.sync&arrives != 0 {
		var k *clock
		if o.sync&releases != 0 {
			k = r.knowledgeOf(c, e.Warp, e.Lanes)
		} else { // released by an earlier fence (manual 9.7.13.3)
			for m := e.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				if f := &w.fences[lane]; f.moment != 0 && f.scope > scopeCTA {
					k = joinClocks(k, r.withAgent(f.clock, c.number, threadIndex(e.Warp, lane), f.moment))
				}
			}
		}
		b.arrived[g] = joinClocks(b.arrived[g], k)
		delete(b.arrived, g-2)
	}
	r.now++
}

// completeBatch synchronises the lanes of the batch and empties it.
func (r *run) completeBatch() {
	b := &r.batch
	switch b.key.barrier {
	case noSync:
		return
	case tentative: // a group per membermask
		for i := range b.lanes {
			r.shareKnowledge(b.lanes[i : i+1])
		}
	default:
		r.shareKnowledge(b.lanes)
	}
	*b = batch{lanes: b.lanes[:0]}
}

// shareKnowledge gives all lanes of a meeting the union of their clocks and actions.
func (r *run) shareKnowledge(list []batchMember) {
	b := &r.batch
	c := list[0].c
	var k *clock
	threads := 0
	for _, p := range list {
		w := &c.warps[p.warp]
		if p.lanes != w.lanes {
			r.applyWaits(c, p.warp)
		}
		var last *clock
		lanes := p.lanes
		if w.sameClocks {
			lanes &= -lanes
		}
		for m := lanes; m != 0; m &= m - 1 {
			if x := w.clockOf(bits.TrailingZeros64(m)); x != last {
				k, last = joinClocks(k, x), x
			}
		}
		threads += bits.OnesCount64(p.lanes)
	}
	if b.key.barrier >= first {
		barrier := barrierKey{b.key.barrier - first, b.key.generation}
		k = joinClocks(k, c.barrierClocks[barrier])
		delete(c.barrierClocks, barrier)
	}
	n := k.own(c.number)
	if threads == r.Block.Count() {
		n.learnAll(r.now)
		if b.key.barrier >= first && b.next.isQuiet() {
			c.quiet.Store(1)
		}
	} else {
		for _, p := range list {
			r.learn(n, &c.warps[p.warp], p.warp, p.lanes)
		}
	}
	for _, p := range list {
		if w := &c.warps[p.warp]; w.copies.waited != 0 {
			n.learnChannels(w.copies.base, w.lanes, w.copies.waited)
			w.copies.waited = 0
		}
	}
	k = k.withKnown(c.number, n)
	for _, p := range list {
		w := &c.warps[p.warp]
		if p.lanes == w.lanes {
			w.sameClocks, w.commonClock = true, k
			continue
		}
		for m := p.lanes; m != 0; m &= m - 1 {
			w.setClock(bits.TrailingZeros64(m), k)
		}
	}
	r.now++
}
