package race

// This file is what orders threads: barriers, releases and acquires, mbarriers, asynchronous
// operations.

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

// The scopes of strong accesses, from the smallest on.
const (
	scopeCTA what = iota
	scopeCluster
	scopeDevice
	scopeSystem
)

var scopeNames = [...]string{"cta", "cluster", "gpu", "sys"}

// order is a set of what an instruction does to order threads.
type order uint16

const (
	releases order = 1 << iota
	acquires
	fences
	warpBarrier
	meets   // barriers of the CTA or the cluster
	arrives // … without waiting
	mbarriers
	variables // a strong access, which hands on what it releases
	reduces   // … but does not tell its thread what is there: no part of an acquire pattern (8.8)
	awaits    // asynchronous operations of the thread
	proxies   // what it knows the asynchronous proxy sees from there on, too
)

// role is an instruction.
type role struct {
	what     what // strong, with its scope
	sync     order
	elements int   // of a vector that it accesses
	left     uint8 // … which of them it leaves out, bit by bit
	in       *ptx.Instr
}

// scopeOf is the scope that an instruction names.
func scopeOf(in *ptx.Instr, otherwise what) what {
	switch {
	case in.Has("cta"):
		return scopeCTA
	case in.Has("cluster"):
		return scopeCluster
	case in.Has("gpu") || in.Has("gl"):
		return scopeDevice
	case in.Has("sys"):
		return scopeSystem
	}
	return otherwise
}

func roleOf(in *ptx.Instr) (o role) {
	o.in, o.elements = in, 1
	for i := range in.Ops {
		if in.Ops[i].Kind == ptx.VecOperand {
			o.elements = max(o.elements, len(in.Ops[i].Elems()))
			for k := range in.Ops[i].Elems() {
				if memory := in.Form.Family == ptx.FamilyLoad || in.Form.Family == ptx.FamilyStore; memory && in.Ops[i].Elems()[k].Kind == ptx.SinkOperand {
					o.left |= 1 << k
				}
			}
		}
	}
	if in.Has("f16x2") || in.Has("bf16x2") {
		o.elements *= 2 // manual 8.2.2
	}
	effects := in.Form.Effects
	both := func() {
		if in.Has("acquire") || in.Has("acq_rel") {
			o.sync |= acquires
		}
		if in.Has("release") || in.Has("acq_rel") {
			o.sync |= releases
		}
	}
	switch {
	case in.Form.Family == ptx.FamilyMbarrier:
		o.sync = mbarriers
		if effects.Any(ptx.Atomic | ptx.Strong) {
			// The default is .cta (9.7.13.15.13), but code for clusters, CUTLASS' for one, leaves
			// the scope out and has other CTAs arrive.
			o.what = strong | scopeOf(in, scopeCluster)
			if !in.Has("relaxed") {
				if o.sync |= releases; effects.Has(ptx.Strong) {
					o.sync = mbarriers | acquires
				}
			}
		}
	case effects.Has(ptx.Fences):
		switch {
		case in.Has("proxy") && (in.Has("async") || in.Has("async::generic")):
			o.sync = proxies
		case !in.Has("proxy"):
			o.sync, o.what = fences, scopeOf(in, scopeDevice)
			if in.Has("acquire") {
				o.sync |= acquires
			}
			if in.Has("release") {
				o.sync |= releases
			}
			if o.sync == fences {
				o.sync |= acquires | releases
			}
		}
	case in.Form.Family == ptx.FamilyBarrier:
		switch o.sync = meets; {
		case effects.Has(ptx.Collective):
			o.sync = warpBarrier
		case !effects.Has(ptx.Waits):
			o.sync |= arrives
		}
		if !in.Has("relaxed") {
			o.sync |= acquires | releases
		}
	case effects.Has(ptx.Atomic):
		o.what, o.sync = strong|scopeOf(in, scopeDevice), variables
		if in.Form.Operand("d") < 0 {
			o.sync |= reduces
		}
		both()
	case effects.Has(ptx.Strong):
		o.what, o.sync = strong|scopeOf(in, scopeSystem), variables // volatile is relaxed.sys (8.4.1)
		if in.Has("weak") {
			o.what, o.sync = 0, 0
		}
		both()
	case (in.Form.Family == ptx.FamilyAsync || in.Form.Family == ptx.FamilyWgmmaWait) && effects.Has(ptx.Waits):
		o.sync = awaits
	}
	return o
}

// release is what a thread has made known by a strong write.
type release struct {
	*clock
	scope what
	cta   int32
}

// variable is memory that strong writes have been made to: what they have released, as long as
// it has the value of the last, or of atomic operations one after the other (8.9.4).
type variable struct {
	list []*release // by CTA and scope
	kept int        // how many of list there were when it was shortened
	wide *clock     // of those at device scope and wider
	own  ownRelease // the last, whose thread may write anew
}

// ownRelease is a release operation, and the thread that it is of.
type ownRelease struct {
	*release
	who agent
}

// anywhere is the CTA of a release that is of several.
const anywhere = -1

// fence is the last that a thread has executed.
type fence struct {
	*clock
	at    moment // 0: there is none
	scope what
}

// with is what the clock and a thread know that has done something up to a moment.
func (r *run) with(k *clock, cta int32, a agent, at moment) *clock {
	n := k.own(cta)
	n.learn(a, at, r.warps, r.WarpSize)
	return k.with(cta, n)
}

// before is for a lane that is about to access memory strongly, or an mbarrier.
func (r *run) before(c *cta, e *interp.Event, o *role, at place, writes, reads bool, warp, lane int) {
	if o.sync&mbarriers != 0 {
		r.atMbarrier(c, o, at, warp, lane)
		return
	}
	w, scope := &c.warps[warp], o.what&scopeMask
	in := r.syncs[at.in]
	v := in[at.off]
	if reads && v != nil && o.sync&reduces == 0 {
		acquires := o.sync&acquires != 0
		if scope >= scopeDevice && v.wide != nil {
			if acquires {
				w.learn(lane, v.wide)
			} else {
				w.read(lane, &release{v.wide, scopeSystem, anywhere})
			}
		}
		for _, x := range v.list {
			switch wide := scope >= scopeDevice && x.scope >= scopeDevice; {
			case !r.include(scope, x.scope, c.number, x.cta):
			case acquires && !wide:
				w.know(lane, join(w.clocks[lane], x.clock))
			case !acquires && (!wide || r.cluster(x.cta) == r.cluster(c.number)): // its fence may be one of the CTA
				w.read(lane, x)
			}
		}
	}
	if !writes {
		return
	}
	x, who := release{scope: scope, cta: c.number}, threadOf(warp, lane)
	f := &w.fences[lane]
	if f.at != 0 {
		x.clock, x.scope = r.with(f.clock, c.number, who, f.at), min(scope, f.scope)
	}
	own := ownRelease{}
	if v != nil {
		if own = v.own; own.release != nil && (own.cta != c.number || own.who != who) {
			own = ownRelease{}
		}
	}
	switch {
	case o.sync&releases != 0:
		x.clock, x.scope = r.with(w.clocks[lane], c.number, who, r.now), scope
		own = ownRelease{&x, who}
	case own.release != nil && (f.at == 0 || own.scope >= x.scope): // the release pattern goes on with this write
		x.clock, x.scope = join(own.clock, x.clock), min(scope, own.scope)
	}
	if !reads { // nothing of what was released before is there any more
		delete(in, at.off)
		v = nil
	}
	if x.clock == nil {
		return
	}
	if v == nil {
		v = &variable{}
		if in == nil {
			in = map[uint64]*variable{}
			r.syncs[at.in] = in
		}
		in[at.off] = v
	}
	v.own = own
	if x.scope >= scopeDevice {
		v.wide = join(v.wide, x.clock)
	}
	for i := len(v.list) - 1; i >= 0; i-- {
		if y := v.list[i]; y.cta == x.cta && y.scope == x.scope {
			v.list[i] = &release{join(y.clock, x.clock), x.scope, x.cta}
			return
		}
	}
	if len(v.list) >= 8 && len(v.list) >= 2*v.kept {
		v.list = slices.DeleteFunc(v.list, func(y *release) bool { return r.alive[r.cluster(y.cta)] == 0 }) // others have it from wide
		v.kept = len(v.list)
	}
	v.list = append(v.list, &x)
}

// know gives a lane a clock.
func (w *warp) know(lane int, k *clock) {
	w.alike = w.alike && w.clocks[lane] == k
	w.clocks[lane] = k
}

// learn has a lane know what was released, unless it learned just that the last time.
func (w *warp) learn(lane int, k *clock) {
	if w.joined == nil {
		w.joined = make([]*clock, len(w.clocks))
	}
	if w.joined[lane] != k {
		w.know(lane, join(w.clocks[lane], k))
		w.joined[lane] = k
	}
}

// read notes what a lane has read of what was released, for its next fence.
func (w *warp) read(lane int, x *release) {
	if w.pending == nil {
		w.pending = make([][]*release, len(w.clocks))
	}
	for i, o := range w.pending[lane] {
		if o.scope == x.scope && o.cta == x.cta {
			if k := join(o.clock, x.clock); k != o.clock {
				w.pending[lane][i] = &release{clock: k, scope: x.scope, cta: x.cta}
			}
			return
		}
	}
	w.pending[lane] = append(w.pending[lane], x)
}

// overwrite is for a weak write: what strong ones have released there is gone.
func (h *history) overwrite(in *interp.Allocation, off uint64, n int) {
	list := h.syncs[in]
	if n > len(list) {
		maps.DeleteFunc(list, func(at uint64, _ *variable) bool { return at-off < uint64(n) })
		return
	}
	for i := range uint64(n) {
		delete(list, off+i)
	}
}

// after is for an instruction that has been executed.
func (r *run) after(c *cta, e *interp.Event) {
	o := &r.roles[e.Index]
	if o.sync&(fences|warpBarrier|awaits|mbarriers|proxies) == 0 || e.Lanes == 0 {
		return
	}
	w := &c.warps[e.Warp]
	switch {
	case o.sync&fences != 0:
		scope := o.what & scopeMask
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if o.sync&acquires != 0 && w.pending != nil {
				w.pending[lane] = slices.DeleteFunc(w.pending[lane], func(x *release) bool {
					in := r.include(scope, x.scope, c.number, x.cta)
					if in {
						w.know(lane, join(w.clocks[lane], x.clock))
					}
					return in
				})
			}
			if o.sync&releases != 0 {
				w.fences[lane] = fence{w.clocks[lane], r.now, scope}
			}
		}
		r.now++
	case o.sync&warpBarrier != 0: // they have met, unless they are told to wait next
		r.batch = batch{key: batchKey{cta: c.number, barrier: tentative}, lanes: r.batch.lanes[:0]}
		r.groups(c, e, &o.in.Ops[0])
	case o.sync&proxies != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			w.know(lane, r.with(w.clocks[lane], c.number, threadOf(e.Warp, lane), r.now).proxyFence())
		}
		r.now++
	case o.sync&awaits != 0:
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			key := channelKey{who: threadOf(e.Warp, lane), bulk: o.in.Has("bulk")}
			if o.in.Form.Family == ptx.FamilyWgmmaWait {
				key = r.warpgroup(e.Warp)
			}
			if ch, ok := c.channels[key]; ok {
				w.know(lane, r.with(w.clocks[lane], c.number, ch, r.now))
			}
		}
		r.now++
	case o.what&strong != 0 && o.in.Form.Effects.Has(ptx.Strong): // a look at an mbarrier
		d := o.in.Arg("p")
		v, ok := e.Read(d.Reg)
		if !ok {
			return
		}
		for m := e.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if b := r.mbarrierOf(w.looked[lane]); b != nil && v.Low[lane] != 0 {
				b.turn(w.looked[lane])
				k := b.done
				if o.what&scopeMask > scopeCTA {
					k = join(k, b.farDone)
				}
				if o.sync&acquires != 0 {
					w.know(lane, join(w.clocks[lane], k))
				} else if k != nil {
					w.read(lane, &release{clock: k, scope: o.what & scopeMask, cta: c.number})
				}
			}
		}
	}
}

// mbarrier is what arrivals and asynchronous operations have brought to an mbarrier.
type mbarrier struct {
	owner        int32 // the CTA that it is of
	phase        uint64
	now, done    *clock // in the phase that goes on, and those that have completed
	far, farDone *clock // … by other CTAs, at scope .cluster
}

// turn notes that the phase has completed, if it has.
func (b *mbarrier) turn(at place) {
	if phase := interp.MbarrierPhase(binary.LittleEndian.Uint64(at.in.Data[at.off:])); phase != b.phase {
		b.done, b.now, b.phase = join(b.done, b.now), nil, phase
		b.farDone, b.far = join(b.farDone, b.far), nil
	}
}

// mbarrierAt is the mbarrier at a place.
func (r *run) mbarrierAt(at place) *mbarrier {
	b := r.mbarrierOf(at)
	if b == nil {
		b = &mbarrier{owner: anywhere, phase: interp.MbarrierPhase(binary.LittleEndian.Uint64(at.in.Data[at.off:]))}
		r.setMbarrier(at, b)
	}
	b.turn(at)
	return b
}

// mbarrierOf is the mbarrier at a place, if one is known there.
func (r *run) mbarrierOf(at place) *mbarrier { return r.mbarriers[at.in][at.off] }

func (r *run) setMbarrier(at place, b *mbarrier) {
	if r.mbarriers[at.in] == nil {
		r.mbarriers[at.in] = map[uint64]*mbarrier{}
	}
	r.mbarriers[at.in][at.off] = b
}

// atMbarrier is for a lane that is about to do something with an mbarrier.
func (r *run) atMbarrier(c *cta, o *role, at place, warp, lane int) {
	w := &c.warps[warp]
	switch {
	case o.what&strong == 0: // it begins or ends to be one
		r.setMbarrier(at, &mbarrier{owner: c.number}) // at phase 0
	case o.in.Form.Effects.Has(ptx.Atomic): // an arrival
		b := r.mbarrierAt(at)
		var k *clock
		switch f := &w.fences[lane]; {
		case o.sync&releases != 0:
			k = r.with(w.clocks[lane], c.number, threadOf(warp, lane), r.now)
		case f.at != 0:
			k = r.with(f.clock, c.number, threadOf(warp, lane), f.at)
		}
		switch {
		case k == nil:
		case c.number == b.owner || b.owner == anywhere:
			b.now = join(b.now, k)
		case o.what&scopeMask > scopeCTA:
			b.far = join(b.far, k)
		}
	default: // a look at it
		r.mbarrierAt(at)
		if w.looked == nil {
			w.looked = make([]place, len(w.clocks))
		}
		w.looked[lane] = at
	}
}

// channelKey is what asynchronous operations have in common that are waited for together: the
// mbarrier that they tell, or the thread and its queue.
type channelKey struct {
	at   place
	who  agent
	bulk bool
	core bool // it is of tensor cores
}

// warpgroup is what the multiplications of the warpgroup (128 threads) of a warp have in common: who waits for one
// waits for what all its warps read.
func (r *run) warpgroup(warp int) channelKey {
	n := max(1, 128/r.WarpSize)
	return channelKey{who: threadOf(warp/n*n, 0), core: true}
}

// effect is for an asynchronous operation that is issued, or has its effect. What it does is done
// by nobody who knows more than its thread did as it issued it.
func (r *run) effect(c *cta, e *interp.Event) {
	f, lane := e.Effect, bits.TrailingZeros64(e.Lanes)
	who := threadOf(e.Warp, lane)
	if f.Issued {
		c.effects[f.Number] = c.view(e.Warp, lane, r.now)
		r.issued++
		r.now++
	}
	if !f.Reads && !f.Writes {
		return
	}
	at := channelKey{who: who, bulk: f.Bulk, core: f.Matrices}
	if e.Instr.Form.Family == ptx.FamilyWgmma {
		at = r.warpgroup(e.Warp)
	}
	if f.Barrier != nil && !f.Arrives {
		at = channelKey{at: place{f.Barrier, f.BarrierOff}}
	}
	channel, ok := c.channels[at]
	if !ok {
		channel = channelBit | agent(len(r.issuers))
		c.channels[at] = channel
		r.issuers = append(r.issuers, who)
	}
	r.issuers[channel&^channelBit] = who
	x := access{record: record{at: r.now, cta: c.number, who: channel, what: what(e.Index)<<indexBits | proxy}, view: c.effects[f.Number]}
	if f.Reduces {
		x.what |= strong | atomic | scopeDevice
	}
	for i := range f.Pieces {
		p := &f.Pieces[i]
		if f.Reads && p.From != nil && p.Read > 0 {
			from := x
			from.what &^= strong | atomic | scopeMask
			from.reads, from.shared, from.unfenced = true, p.From.Space() == ptx.Shared, f.Bulk
			r.touchAll(&from, p.From, p.FromOff, p.Read)
		}
		if f.Writes && p.Bytes > 0 {
			to := x
			to.writes, to.reads, to.shared = true, f.Reduces, p.To.Space() == ptx.Shared
			r.touchAll(&to, p.To, p.ToOff, p.Bytes)
		}
	}
	if f.Barrier != nil {
		b := r.mbarrierAt(place{f.Barrier, f.BarrierOff})
		b.now = join(b.now, r.with(nil, c.number, channel, r.now))
		if f.Commits { // what its thread has waited for goes with it: tcgen05.commit fences (9.7.16.6.4.1)
			v := c.effects[f.Number]
			b.now = join(b.now, r.with(v.clock, c.number, v.self, v.till))
			if core, ok := c.channels[channelKey{who: who, core: true}]; ok {
				b.now = join(b.now, r.with(nil, c.number, core, r.now))
			}
		}
	}
	if f.Writes {
		delete(c.effects, f.Number)
		r.issued--
	}
	r.now++
}

// barrierKey is a barrier of a CTA, each time anew.
type barrierKey struct{ barrier, generation int }

// clusterBarrier is what threads have brought to the barrier of a cluster, each time.
type clusterBarrier struct {
	arrived map[int]*clock
}

// batch is lanes that meet: what is told of one after the other.
type batch struct {
	key   batchKey
	lanes []party
}

type batchKey struct {
	cta                 int32
	barrier, generation int // barrier: none, tentative, or that of the CTA
	members             uint32
}

// What a batch may be at beside the barriers of a CTA, which are numbered from 0 on.
const (
	none      = 0
	tentative = -2 // lanes of a warp, if they are not told to wait
	warpwide  = -1
	first     = 1 // barrier 0
)

type party struct {
	c     *cta
	warp  int
	lanes uint64
}

func (b *batch) add(c *cta, warp int, lanes uint64) { b.lanes = append(b.lanes, party{c, warp, lanes}) }

// groups adds the lanes that execute bar.warp.sync, those with the same membermask together.
func (r *run) groups(c *cta, e *interp.Event, mask *ptx.Operand) {
	rest := e.Lanes
	if mask.Kind == ptx.RegOperand {
		if v, ok := e.Read(mask.Reg); ok {
			for rest != 0 {
				of, same := v.Low[bits.TrailingZeros64(rest)], uint64(0)
				for m := rest; m != 0; m &= m - 1 {
					if lane := bits.TrailingZeros64(m); v.Low[lane] == of {
						same |= 1 << lane
					}
				}
				r.batch.add(c, e.Warp, same)
				rest &^= same
			}
			return
		}
	}
	r.batch.add(c, e.Warp, rest)
}

// waits is for lanes that are told to wait.
func (r *run) waits(c *cta, e *interp.Event) {
	if b := &r.batch; r.roles[e.Index].sync&warpBarrier != 0 && b.key.barrier == tentative && b.key.cta == c.number && b.lanes[0].warp == e.Warp {
		*b = batch{lanes: b.lanes[:0]}
	}
}

// wakes is for lanes that go on.
func (r *run) wakes(c *cta, e *interp.Event) {
	o := &r.roles[e.Index]
	w := &c.warps[e.Warp]
	key := batchKey{cta: c.number, barrier: first + e.Waits.Barrier, generation: e.Waits.Generation}
	switch {
	case o.sync&warpBarrier != 0:
		key = batchKey{cta: c.number, barrier: warpwide, members: e.Waits.Members, generation: e.Warp}
	case o.sync&meets == 0:
		return
	case e.Waits.Barrier == clusterNumber:
		r.meet()
		r.atCluster(c, w, o, e)
		return
	case o.sync&arrives != 0:
		r.meet()
		at := barrierKey{e.Waits.Barrier, e.Waits.Generation}
		c.at[at] = join(c.at[at], r.told(c, e.Warp, e.Lanes))
		r.now++
		return
	}
	if r.batch.key != key {
		r.meet()
		r.batch = batch{key: key, lanes: r.batch.lanes[:0]}
	}
	r.batch.add(c, e.Warp, e.Lanes)
}

const clusterNumber = 16

// told is what lanes of a warp know, and what they have done.
func (r *run) told(c *cta, warp int, lanes uint64) *clock {
	w := &c.warps[warp]
	var k *clock
	for m := lanes; m != 0; m &= m - 1 {
		k = join(k, w.clocks[bits.TrailingZeros64(m)])
	}
	n := k.own(c.number)
	r.learn(n, w, warp, lanes)
	return k.with(c.number, n)
}

// learn has n know what lanes of a warp have done.
func (r *run) learn(n *known, w *warp, warp int, lanes uint64) {
	if lanes == w.lanes {
		n.learnWarp(warp, r.now, r.warps)
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		n.learn(threadOf(warp, bits.TrailingZeros64(m)), r.now, r.warps, r.WarpSize)
	}
}

// atCluster is for lanes that go on at the barrier of their cluster.
func (r *run) atCluster(c *cta, w *warp, o *role, e *interp.Event) {
	b := r.clusters[r.cluster(c.number)]
	if b == nil {
		b = &clusterBarrier{arrived: map[int]*clock{}}
		r.clusters[r.cluster(c.number)] = b
	}
	if w.clusters == nil {
		w.clusters = make([]int, len(w.clocks))
	}
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if o.sync&arrives != 0 {
			w.clusters[lane] = 1 + e.Waits.Generation
		} else if o.sync&acquires != 0 {
			w.know(lane, join(w.clocks[lane], b.arrived[w.clusters[lane]-1]))
		}
	}
	if g := e.Waits.Generation; o.sync&arrives != 0 {
		var k *clock
		if o.sync&releases != 0 {
			k = r.told(c, e.Warp, e.Lanes)
		} else { // what a fence has released before (9.7.13.3)
			for m := e.Lanes; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				if f := &w.fences[lane]; f.at != 0 && f.scope > scopeCTA {
					k = join(k, r.with(f.clock, c.number, threadOf(e.Warp, lane), f.at))
				}
			}
		}
		b.arrived[g] = join(b.arrived[g], k)
		delete(b.arrived, g-2)
	}
	r.now++
}

// meet is for a batch that is complete.
func (r *run) meet() {
	b := &r.batch
	switch b.key.barrier {
	case none:
		return
	case tentative: // those of each membermask
		for i := range b.lanes {
			r.meetAll(b.lanes[i : i+1])
		}
	default:
		r.meetAll(b.lanes)
	}
	*b = batch{lanes: b.lanes[:0]}
}

// meetAll has all who meet know what each did.
func (r *run) meetAll(list []party) {
	b := &r.batch
	c := list[0].c
	var k *clock
	threads := 0
	for _, p := range list {
		w := &c.warps[p.warp]
		var last *clock
		for m := p.lanes; m != 0; m &= m - 1 {
			if x := w.clocks[bits.TrailingZeros64(m)]; x != last {
				k, last = join(k, x), x
			}
		}
		threads += bits.OnesCount64(p.lanes)
	}
	if b.key.barrier >= first {
		at := barrierKey{b.key.barrier - first, b.key.generation}
		k = join(k, c.at[at])
		delete(c.at, at)
	}
	n := k.own(c.number)
	if threads == r.Block.Count() {
		n.learnAll(r.now)
	} else {
		for _, p := range list {
			r.learn(n, &c.warps[p.warp], p.warp, p.lanes)
		}
	}
	k = k.with(c.number, n)
	for _, p := range list {
		w := &c.warps[p.warp]
		for m := p.lanes; m != 0; m &= m - 1 {
			w.know(bits.TrailingZeros64(m), k)
		}
		w.alike = w.alike || p.lanes == w.lanes
	}
	r.now++
}
