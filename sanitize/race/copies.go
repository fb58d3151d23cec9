package race

// This file handles cp.async. The copies of a warp's lanes are one entry of the backlog, like an access of threads. Each lane has a
// channel, but as long as the lanes of a warp commit and wait together they have a common queue, and a wait changes no clock until
// another event needs the clocks: mostly, the next event is a barrier of all lanes.

import (
	"math"
	"math/bits"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// warpCopies is the cp.async state of a warp.
type warpCopies struct {
	base   agent   // the channel of lane 0, followed by those of the other lanes; 0: none
	queue  queue   // of all lanes, unless lanes has their queues
	lanes  []queue // by lane
	waited moment  // each lane knows its own copies up to this moment, which is not in its clock; 0: none

	lastEffect     moment // the latest effect of copies
	known, knownAt moment // all lanes waited for the effects up to moment known, at moment knownAt
}

// issuedCopies is the knowledge of the lanes at the issue of their copies.
type issuedCopies struct {
	clock  *clock
	clocks []*clock // by lane, if they differ
	waited moment   // warpCopies.waited
	upTo   moment
	known  moment // the least agentMoments.all of the lanes' clocks
	lanes  uint64 // lanes whose copies are pending
	issued uint64
}

// deferredCopy is what an entry of a backlog for copies has in addition to an access of threads.
type deferredCopy struct {
	base         agent
	waited, upTo moment
}

// channelOf returns the channel of the cp.async copies of lane 0 of a warp.
func (r *run) channelOf(c *cta, warp int) agent {
	w := &c.warps[warp]
	if w.copies.base == 0 {
		w.copies.base = channelBit | agent(len(r.issuers))
		for lane := range w.clocks {
			r.issuers = append(r.issuers, threadIndex(warp, lane))
		}
	}
	return w.copies.base
}

// sharesQueue reports whether the lanes have a common queue that an action of lanes leaves common.
func (w *warp) sharesQueue(lanes uint64) bool { return w.copies.lanes == nil && lanes == w.lanes }

// queueOf returns the queue of a lane, which from now on differs from those of the other lanes.
func (w *warp) queueOf(lane int) *queue {
	p := &w.copies
	if p.lanes == nil {
		p.lanes = make([]queue, len(w.clocks))
		for i := range p.lanes {
			p.lanes[i] = queue{p.queue.committed, slices.Clone(p.queue.completed)}
		}
	}
	return &p.lanes[lane]
}

// eachQueue calls do with the common queue, or with that of each lane. channel is the channel of the lane, or of lane 0.
func (r *run) eachQueue(c *cta, warp int, lanes uint64, do func(q *queue, lane int)) {
	w := &c.warps[warp]
	if w.sharesQueue(lanes) {
		do(&w.copies.queue, -1)
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		do(w.queueOf(lane), lane)
	}
}

// awaitCopies handles a wait for all groups of cp.async except the last keep; all includes copies without a group.
func (r *run) awaitCopies(c *cta, warp int, lanes uint64, keep uint64, all bool) {
	w := &c.warps[warp]
	r.eachQueue(c, warp, lanes, func(q *queue, lane int) {
		if all {
			q.committed++
		}
		switch when := q.waitAll(int(min(keep, math.MaxInt32))); {
		case when == 0:
		case lane < 0:
			w.copies.waited, w.copies.known, w.copies.knownAt = when, when, r.now
		default:
			w.setClock(lane, r.withAgent(w.clockOf(lane), c.number, r.channelOf(c, warp)+agent(lane), when))
		}
	})
}

// applyWaits puts the knowledge of the warp's waits for copies into its clocks.
func (r *run) applyWaits(c *cta, warp int) {
	w := &c.warps[warp]
	if w.copies.waited == 0 {
		return
	}
	for m := w.lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		w.setClock(lane, r.withAgent(w.clockOf(lane), c.number, w.copies.base+agent(lane), w.copies.waited))
	}
	w.copies.waited = 0
}

// learnChannels sets the known moment of the channels of lanes.
func (k *agentMoments) learnChannels(base agent, lanes uint64, when moment) {
	list := make([]channelMoment, 0, maxWidth)
	for m := lanes; m != 0; m &= m - 1 {
		list = append(list, channelMoment{base + agent(bits.TrailingZeros64(m)), when})
	}
	k.channels, k.latest = joinChannels(k.channels, list), max(k.latest, when)
}

// viewOf returns the knowledge of a lane at the issue.
func (r *run) viewOf(c *cta, warp, lane int, v *issuedCopies) view {
	k := v.clock
	if v.clocks != nil {
		k = v.clocks[lane]
	}
	return r.viewOfCopy(c.number, k, warp, lane, deferredCopy{c.warps[warp].copies.base, v.waited, v.upTo})
}

func (r *run) viewOfCopy(cta int32, k *clock, warp, lane int, o deferredCopy) view {
	if o.waited != 0 {
		k = r.withAgent(k, cta, o.base+agent(lane), o.waited)
	}
	return view{k, cta, threadIndex(warp, lane), o.upTo}
}

// viewAtIssue returns the knowledge of the thread that issued an effect, at its issue.
func (r *run) viewAtIssue(c *cta, number int64, warp, lane int) view {
	if v, ok := c.effects[number]; ok {
		return v
	}
	first, v := c.copiesOf(number)
	if first < 0 {
		return view{}
	}
	return r.viewOf(c, warp, lane, v)
}

// copiesOf returns the copies issued together that include an effect, and the number of the first of them; -1: none.
func (c *cta) copiesOf(number int64) (first int64, v *issuedCopies) {
	for first, v := range c.copies {
		if number-first >= 0 && number-first < int64(bits.OnesCount64(v.issued)) {
			return first, v
		}
	}
	return -1, nil
}

// endEffect forgets an effect that has happened.
func (r *run) endEffect(c *cta, number int64, lane int) {
	if _, ok := c.effects[number]; ok {
		delete(c.effects, number)
	} else if first, v := c.copiesOf(number); v != nil {
		if v.lanes &^= 1 << lane; v.lanes == 0 {
			delete(c.copies, first)
		}
	}
	c.issued--
	r.issued--
}

// OnCopies handles the copies of a warp's lanes.
func (s *sink) OnCopies(x *probe.Copies) {
	r, c, e := s.run, s.c, x.Event
	r.completeBatch()
	w, lanes := &c.warps[e.Warp], e.Lanes
	n := bits.OnesCount64(lanes)
	base := r.channelOf(c, e.Warp)
	if x.Issued {
		v := &issuedCopies{clock: w.clockOf(bits.TrailingZeros64(lanes)), waited: w.copies.waited, upTo: r.now, lanes: lanes, issued: lanes}
		if v.known = v.clock.knownOfAll(c.number); !r.haveSameClock(w, lanes) {
			v.clocks, v.known = slices.Clone(w.clocks), 0
		}
		put(&c.copies, x.Number, v)
		c.issued += n
		r.issued += n
		r.now++
		return
	}
	v := c.copies[x.Number]
	if v == nil { // the probe was attached after the issue
		v = &issuedCopies{}
	}
	toDone := r.deferCopies(c, x, v)
	delete(c.copies, x.Number) // after deferCopies, which keeps what pending copies do not know
	fromDone := x.From == nil || r.onlyReads(x.From)
	if !toDone || !fromDone {
		for m := lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			a := access{record: record{moment: r.now, cta: c.number, agent: base + agent(lane), kind: accessKind(e.Index)<<indexBits | proxy}, view: r.viewOf(c, e.Warp, lane, v), together: true}
			if !fromDone && x.Read[lane] > 0 {
				from := a
				from.reads = true
				r.touchAll(&from, x.From, x.FromOffset[lane], int(x.Read[lane]))
			}
			if !toDone {
				a.writes, a.shared = true, true
				r.touchAll(&a, x.To, x.ToOffset[lane], x.Bytes)
			}
		}
	}
	r.eachQueue(c, e.Warp, lanes, func(q *queue, _ int) { q.note(x.Group, r.now) })
	w.copies.lastEffect = r.now
	c.issued -= n
	r.issued -= n
	r.now++
}

// knownOfAll returns the moment up to which the clock knows the actions of all threads of a CTA.
func (c *clock) knownOfAll(cta int32) moment {
	if k := c.find(cta); k != nil {
		return k.all
	}
	return 0
}

// knowsCopies reports whether all threads of the CTA, which knew all actions up to moment all, know the effects of all copies.
func (c *cta) knowsCopies(all moment) bool {
	for i := range c.warps {
		if p := &c.warps[i].copies; p.lastEffect > p.known || p.lastEffect != 0 && p.knownAt > all {
			return false
		}
	}
	return true
}

// knownToCopies returns the moment up to which all pending copies know the actions of all threads.
func (c *cta) knownToCopies() moment {
	known := neverMoment
	for _, v := range c.copies {
		known = min(known, v.known)
	}
	return known
}

// deferCopies defers the writes of copies to shared memory. It returns false if they must be recorded.
func (r *run) deferCopies(c *cta, x *probe.Copies, v *issuedCopies) bool {
	if !r.ownMemory(true) || v.clocks != nil {
		return false
	}
	e, s, size := x.Event, r.shadow(x.To), uint64(len(x.To.Data))
	lanes := e.Lanes
	first := bits.TrailingZeros64(lanes)
	r.renew(s, x.To, c.warps[e.Warp].clockOf(first), c.number)
	b := &s.backlog
	if !r.takes(b, x.To, x.Bytes) || r.holdsReleases(x.To) {
		return false
	}
	r.enqueueRaw(s, x.To)
	r.prepareList(b)
	if !b.marked {
		b.markAll(size)
	}
	t := deferredAccess{lanes: lanes, offset: uint32(x.ToOffset[first]), moment: r.now, cta: c.number, kind: accessKind(e.Index)<<indexBits | proxy, warp: uint16(e.Warp), bytes: uint8(x.Bytes), effects: writes}
	before, stride := len(b.offsets), int32(x.Bytes)
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if x.ToOffset[lane] > size-uint64(x.Bytes) {
			b.offsets = b.offsets[:before]
			return false
		}
		if x.ToOffset[lane] != x.ToOffset[first]+uint64((lane-first)*x.Bytes) {
			stride = notStrided
		}
		b.offsets = append(b.offsets, uint32(x.ToOffset[lane]))
	}
	offsets := b.offsets[before:]
	if stride != notStrided {
		b.offsets = b.offsets[:before]
	}
	t.stride = stride
	t.clock = b.number(v.clock)
	b.copies = append(b.copies, deferredCopy{c.warps[e.Warp].copies.base, v.waited, v.upTo})
	t.copy = uint32(len(b.copies))
	if b.olderConflict(&t, offsets, v.known, size) || !b.enqueue(&t, lanes, t.offset, stride, size) {
		b.offsets, b.copies = b.offsets[:before], b.copies[:len(b.copies)-1]
		return false
	}
	r.noteEnqueued(b, s, &t, true, size)
	return true
}

// deferredList holds deferred accesses to an allocation.
type deferredList struct {
	list    []deferredAccess
	offsets []uint32 // lane offsets of the accesses without a stride, in the order of list
	clocks  []*clock // clocks of the entries of list, by deferredAccess.clock
	copies  []deferredCopy

	marked     bool // marks are valid: from the first write on
	marks      []*marks
	markedSize uint64 // size of the allocation, if marked

	barrier moment // in backlog.older: the moment of a barrier of the whole CTA after all of its accesses
}

// empty drops the accesses, and the marks.
func (g *deferredList) empty() {
	g.drop()
	if g.marked {
		g.marked = false
		for i, p := range g.marks {
			if p != nil {
				n := (min(markBytes, g.markedSize-uint64(i)*markBytes) + 63) / 64
				clear(p.written[:n])
				clear(p.read[:n])
				clear(p.atomic[:n])
			}
		}
	}
}

// drop drops the accesses.
func (g *deferredList) drop() {
	clear(g.clocks)
	g.list, g.offsets, g.clocks, g.copies = g.list[:0], g.offsets[:0], g.clocks[:0], g.copies[:0]
}

// mostOlder is the maximum number of earlier lists. A pipeline has two for each stage; a copy for which a thread does not wait
// would otherwise keep one for each barrier.
const mostOlder = 32

// retire begins a new list after a barrier of the whole CTA at moment barrier, if the earlier ones are not too many. It keeps
// those of which a pending copy does not know; known is the moment up to which all pending copies know all actions of threads.
func (b *backlog) retire(barrier, known moment) {
	n := 0
	for i := range b.older {
		if g := &b.older[i]; g.barrier > known {
			b.older[n], b.older[i] = b.older[i], b.older[n]
			n++
		}
	}
	if n == mostOlder && barrier > known {
		return
	}
	spare := deferredList{}
	if n < len(b.older) {
		spare = b.older[n]
		spare.empty()
		for i := n + 1; i < len(b.older); i++ {
			b.older[i].empty()
		}
	}
	if barrier <= known {
		b.deferredList.empty()
		b.older = b.older[:n]
		return
	}
	b.deferredList.barrier = barrier
	b.older = append(b.older[:n], b.deferredList)
	b.deferredList = spare
}

// olderConflict reports whether a write t by copies touches bytes of an older access that the copies do not know. offsets has the
// offset of each lane.
func (b *backlog) olderConflict(t *deferredAccess, offsets []uint32, known moment, size uint64) bool {
	for i := range b.older {
		g := &b.older[i]
		if g.barrier <= known {
			continue
		}
		if !g.marked {
			o := backlog{deferredList: *g}
			o.markAll(size)
			*g = o.deferredList
		}
		var room [maxWidth]uint32
		list, n := t.ranges(offsets, &room)
		for _, offset := range list {
			if g.touches(uint64(offset), n) {
				return true
			}
		}
	}
	return false
}

// touches reports whether any of n bytes is marked.
func (g *deferredList) touches(offset uint64, n int) bool {
	for n > 0 {
		i := offset % markBytes
		take := min(n, 64-int(i%64))
		if p := g.marks[offset/markBytes]; p != nil && (p.written[i/64]|p.read[i/64]|p.atomic[i/64])&(^uint64(0)>>(64-take)<<(i%64)) != 0 {
			return true
		}
		offset, n = offset+uint64(take), n-take
	}
	return false
}

// isCopy reports whether an effect belongs to the cp.async channels of its thread.
func isCopy(f *probe.Effect, instr *ptx.Instr) bool {
	return !f.Bulk && !f.TensorCore && (f.Barrier == nil || f.Arrives) && instr.Form.Family != ptx.FamilyWgmma
}
