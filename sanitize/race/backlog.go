package race

// This file defers the recording of accesses.
//
// An access that cannot be in a race now matters only for later, unordered accesses. So accesses are first kept
// in a list, an entry per warp access. They are recorded word by word, in their order, only when a conflict is
// possible: a second access to written bytes, or a write to read bytes. This never happens for memory that a
// launch only reads, writes once, or changes by atomic operations alone, nor for shared memory with a barrier
// of the whole CTA between writes and reads.

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/probe"
	"gemu/ptx"
)

// backlog holds the deferred accesses to an allocation.
type backlog struct {
	deferredList
	closed bool           // accesses are not deferred until the next barrier of the whole CTA (shared memory) or retireAll (global memory)
	bound  int            // size in bytes at which to compact next, if it exceeds maxBytes
	raw    rawAccesses    // accesses that follow the list
	older  []deferredList // shared memory only: accesses before barriers of the whole CTA, of which pending copies do not know
	atomic accessKind     // flags of the atomic operations in list, equal for all; 0: none

	room [maxWidth]uint32 // buffer of enter

	// Shared memory only: its CTA, and the moment of the latest access by a thread, deferred or recorded.
	cta        int32
	lastMoment moment
}

// deferredAccess is a warp access by lanes with the same clock.
type deferredAccess struct {
	lanes   uint64
	clock   uint32 // index in backlog.clocks
	offset  uint32 // offset of the first lane
	stride  int32  // distance of consecutive lanes; notStrided: the offsets are in backlog.offsets
	moment  moment
	cta     int32
	kind    accessKind
	warp    uint16
	bytes   uint8 // per lane
	effects accessEffects
	copy    uint32 // index in backlog.copies, plus 1; 0: an access of threads
}

// accessBytes is the size of an entry of backlog.list.
const accessBytes = int(unsafe.Sizeof(deferredAccess{}))

// accessEffects holds properties of a deferred access.
type accessEffects uint8

const (
	writes    accessEffects = 1 << iota // a write; otherwise a read
	atomics                             // atomic operations, which do not race with each other
	partial                             // only part of the lanes that executed the instruction
	untouched                           // no earlier access to its bytes, except by the same lanes to bytes that they write or wrote
)

const notStrided = math.MinInt32

// minBacklog is the size in bytes that every backlog may have. The limit is the allocation's size if that is more. With a
// larger limit a launch takes longer: the host needs more time to provide the memory than compact saves.
const minBacklog = 1 << 20

// mostReads is the number of reads, or atomic operations, that compact keeps for each word (in shared memory:
// for each word and warp).
const mostReads = 16

// neverMoment is later than the moments of all clocks.
const neverMoment = ^moment(0)

// marks holds the accessed bytes of a page, a bit per byte.
type marks struct {
	written, read, atomic [markBytes / 64]uint64
}

// markBytes is the size of a page of marks, in bytes of the allocation.
const markBytes = 1 << 15

// markEach is mark for n bytes at each of the offsets. With unwritten it stops, and ok is false, at bytes that are written.
func (b *backlog) markEach(offsets []uint32, n int, d accessEffects, unwritten bool) (written, read, atomic, ok bool) {
	var p *marks
	page, low := ^uint32(0), ^uint64(0)>>max(0, 64-n)
	for _, offset := range offsets {
		i := offset % markBytes
		if i%64+uint32(n) > 64 {
			w, r, a := b.mark(uint64(offset), n, d)
			written, read, atomic = written || w, read || r, atomic || a
		} else { // mostly, in a word of the marks
			if k := offset / markBytes; k != page {
				page, p = k, b.page(uint64(k))
			}
			w, r, a := p.mark(i/64, low<<(i%64), d)
			written, read, atomic = written || w, read || r, atomic || a
		}
		if written && unwritten {
			return written, read, atomic, false
		}
	}
	return written, read, atomic, true
}

// mark marks bytes m of word i and returns the earlier kinds of access to any of them.
func (p *marks) mark(i uint32, m uint64, d accessEffects) (written, read, atomic bool) {
	w, r, a := &p.written[i], &p.read[i], &p.atomic[i]
	written, read, atomic = *w&m != 0, *r&m != 0, *a&m != 0
	switch {
	case d&atomics != 0:
		*a |= m
	case d&writes != 0:
		*w |= m
	default:
		*r |= m
	}
	return written, read, atomic
}

// markRun marks n ranges of size bytes, which begin stride bytes apart from byte offset on and do not overlap, and returns the earlier
// kinds of access to any of them. size and stride must be from 1 to 64, and all ranges in the page.
func (p *marks) markRun(offset uint32, n, size, stride int, d accessEffects) (written, read, atomic bool) {
	to := &p.read
	switch {
	case d&atomics != 0:
		to = &p.atomic
	case d&writes != 0:
		to = &p.written
	}
	var w, r, a uint64
	i, first := offset/64, int(offset%64)
	if stride == size {
		for left := n * size; left > 0; i++ {
			take := min(64-first, left)
			m := ^uint64(0) >> (64 - take) << first
			w, r, a = w|p.written[i]&m, r|p.read[i]&m, a|p.atomic[i]&m
			to[i] |= m
			first, left = 0, left-take
		}
		return w != 0, r != 0, a != 0
	}
	pattern := ^uint64(0) >> (64 - size) // of ranges that begin at bit 0
	for s := stride; s < 64; s *= 2 {
		pattern |= pattern << s
	}
	over := uint64(0) // bits of the last range that are in the next word
	for ; n > 0; i++ {
		k := min(n, (63-first)/stride+1) // ranges that begin in this word
		last := first + (k-1)*stride     // where the last of them begins
		m := pattern
		if span := last - first + size; span < 64 {
			m &= 1<<span - 1
		}
		m = m<<first | over
		w, r, a = w|p.written[i]&m, r|p.read[i]&m, a|p.atomic[i]&m
		to[i] |= m
		over = 1<<max(0, last+size-64) - 1
		first, n = last+stride-64, n-k
	}
	if over != 0 {
		w, r, a = w|p.written[i]&over, r|p.read[i]&over, a|p.atomic[i]&over
		to[i] |= over
	}
	return w != 0, r != 0, a != 0
}

// markLanes marks the bytes of an access as markRun does, if it can; otherwise it does nothing, and ok is false.
func (b *backlog) markLanes(t *deferredAccess) (written, read, atomic, ok bool) {
	n, first, size := bits.OnesCount64(t.lanes), bits.TrailingZeros64(t.lanes), uint32(t.bytes)
	stride := t.stride
	if stride == 0 {
		n, stride = 1, int32(size)
	}
	if size-1 >= 64 || stride < int32(size) || stride > 64 || t.lanes>>first != ^uint64(0)>>(64-bits.OnesCount64(t.lanes)) {
		return false, false, false, false
	}
	at := t.offset % markBytes
	if at+uint32(n-1)*uint32(stride)+size > markBytes {
		return false, false, false, false
	}
	written, read, atomic = b.page(uint64(t.offset/markBytes)).markRun(at, n, int(size), int(stride), t.effects)
	return written, read, atomic, true
}

// page returns a page of the marks, and creates it if necessary.
func (b *backlog) page(i uint64) *marks {
	p := b.marks[i]
	if p == nil {
		p = new(marks)
		b.marks[i] = p
	}
	return p
}

// mark marks n bytes and returns the earlier kinds of access to any of them.
func (b *backlog) mark(offset uint64, n int, d accessEffects) (written, read, atomic bool) {
	for n > 0 {
		p := b.page(offset / markBytes)
		i := offset % markBytes
		take := min(n, 64-int(i%64))
		w, r, a := p.mark(uint32(i/64), ^uint64(0)>>(64-take)<<(i%64), d)
		written, read, atomic = written || w, read || r, atomic || a
		offset, n = offset+uint64(take), n-take
	}
	return written, read, atomic
}

// clear forgets everything.
func (b *backlog) clear() {
	b.closed, b.atomic = false, 0
	b.empty()
	b.deferredList.empty()
}

// rawAccesses holds accesses to a CTA's own shared memory that are not in the list yet: loads, or atomic operations that race with
// none of each other. Most of them never will be: a barrier of the whole CTA comes before the next access of another kind. To copy the
// addresses of an access takes a fraction of the time of finding its runs, or of marking its bytes.
type rawAccesses struct {
	list    []rawAccess
	lists   []rawList
	effects accessEffects // of all of them
}

// rawList is the accesses of a list of a warp: up to end in rawAccesses.list.
type rawList struct {
	clock  *clock
	moment moment
	cta    int32
	warp   uint16
	end    int
}

// rawAccess is an access whose lanes all access the memory.
type rawAccess struct {
	addr  [32]uint32
	lanes uint32
	kind  accessKind
	bytes int
}

// mostRawLoads is the maximum number of raw loads, mostRawAtomics of raw atomic operations, which then are added to the list.
const (
	mostRawLoads   = 512
	mostRawAtomics = minBacklog / int(unsafe.Sizeof(rawAccess{})+unsafe.Sizeof(rawList{}))
)

// empty drops the deferred accesses.
func (b *backlog) empty() {
	clear(b.raw.lists) // their clocks
	b.raw.list, b.raw.lists, b.raw.effects = b.raw.list[:0], b.raw.lists[:0], 0
	b.drop()
	b.older = nil
}

// renew clears the backlog of shared memory if every thread of the CTA knows all accesses so far, and no
// asynchronous operation is pending. If copies are pending, it keeps what they do not know apart (backlog.older).
func (r *run) renew(s *shadow, alloc *probe.Allocation, k *clock, cta int32) {
	b := &s.backlog
	if b.cta != cta { // an earlier CTA used this memory
		b.clear()
		b.cta, b.lastMoment = cta, 0
		return
	}
	if len(b.list)+len(b.raw.list) == 0 && !b.closed || r.fenced {
		return
	}
	pending := 0
	if s.owner != nil {
		pending = s.owner.issued
	}
	own := k.find(cta)
	switch {
	case own == nil || b.lastMoment > own.all || s.owner != nil && !s.owner.knowsCopies(own.all):
	case pending == 0:
		b.clear()
	case !b.closed && len(s.owner.effects) == 0: // only copies are pending
		r.enqueueRaw(s, alloc)
		b.retire(own.all, s.owner.knownToCopies())
	}
}

// ownMemory reports whether the memory is accessible to a single CTA.
func (r *run) ownMemory(shared bool) bool { return shared && r.perCTAs <= 1 }

// canDefer reports whether an access can be deferred: it must not order threads. It is weak, or a relaxed
// atomic operation that continues no release.
func (r *run) canDefer(w *warp, o *role, x *access, alloc *probe.Allocation, lanes uint64) bool {
	if o.sync&^(variables|reduces) != 0 || x.writes && r.holdsReleases(alloc) {
		return false
	}
	if o.sync == 0 {
		return true
	}
	if x.kind&atomic == 0 {
		return false
	}
	if !w.hasFences {
		return true
	}
	for m := lanes; m != 0; m &= m - 1 {
		if w.fences[bits.TrailingZeros64(m)].moment != 0 {
			return false
		}
	}
	return true
}

// compatible reports whether an atomic operation may be unordered to all atomic operations in the backlog.
func (r *run) compatible(b *backlog, x *access, own bool) bool {
	flags := x.kind & (strong | atomic | scopeMask | sizeBits)
	if b.atomic == 0 && (own || flags&scopeMask >= scopeDevice) {
		b.atomic = flags
	}
	return b.atomic == flags
}

// deferAccess defers the access of lanes of a warp as far as possible and returns the remaining lanes. offset is the
// offset of the first lane.
func (r *run) deferAccess(c *cta, warp int, a *probe.Access, role *role, x *access, alloc *probe.Allocation, offset uint64, lanes uint64, shared bool) (remaining uint64) {
	s, w := r.shadow(alloc), &c.warps[warp]
	first, b := bits.TrailingZeros64(lanes), &s.backlog
	k := w.clockOf(first)
	own := r.ownMemory(shared)
	if own {
		r.renew(s, alloc, k, c.number)
	}
	if !r.takes(b, alloc, a.Bytes) || a.Bulk() || !r.canDefer(w, role, x, alloc, lanes) || !r.haveSameClock(w, lanes) {
		return lanes
	}
	t := deferredAccess{lanes: lanes, offset: uint32(offset), moment: x.moment, cta: c.number, kind: x.kind, warp: uint16(warp), bytes: uint8(a.Bytes)}
	switch {
	case x.kind&atomic != 0:
		if t.effects = writes | atomics; !r.compatible(b, x, own) {
			return lanes
		}
		if own && r.keepRawAtomic(s, k, a, &t, alloc) {
			return 0
		}
	case x.writes:
		t.effects = writes
	}
	return r.enqueueRuns(s, k, a, &t, alloc, own)
}

// takes reports whether the backlog of an allocation takes accesses of n bytes per lane.
func (r *run) takes(b *backlog, alloc *probe.Allocation, n int) bool {
	size := uint64(len(alloc.Data))
	return !b.closed && !r.eager.Load() && size <= math.MaxUint32 && uint64(n) <= size && n <= math.MaxUint8
}

// enqueueRuns enqueues access t of lanes with clock k, without its stride, as far as possible, and returns the remaining
// lanes. t.offset must be the offset of the first lane. own says whether the memory is accessible to a single CTA.
func (r *run) enqueueRuns(s *shadow, k *clock, a *probe.Access, t *deferredAccess, alloc *probe.Allocation, own bool) (remaining uint64) {
	r.enqueueRaw(s, alloc)
	b, lanes, size := &s.backlog, t.lanes, uint64(len(alloc.Data))
	t.clock = b.number(k)
	r.prepareList(b)
	if t.effects&writes != 0 && !b.marked {
		b.markAll(size)
	}
	limit, base := size-uint64(a.Bytes), a.Addr[bits.TrailingZeros64(lanes)]-uint64(t.offset)
	runs := a.Runs(lanes)
	if len(runs) > 1 {
		t.effects |= partial
	}
	for i := range runs {
		run := &runs[i]
		low, width, ok := run.Span()
		if low -= base; !ok || low > limit || width > limit-low || run.Stride == notStrided {
			break
		}
		if !b.enqueue(t, run.Lanes, uint32(run.Addr-base), int32(run.Stride), size) {
			break
		}
		lanes &^= run.Lanes
	}
	if len(runs) == 0 {
		before, n := len(b.offsets), bits.OnesCount64(lanes)
		b.offsets = slices.Grow(b.offsets, n)[:before+n]
		list, i, outside := b.offsets[before:], 0, false
		for m := lanes; m != 0; m &= m - 1 {
			byteOffset := a.Addr[bits.TrailingZeros64(m)] - base
			outside = outside || byteOffset > limit
			list[i] = uint32(byteOffset)
			i++
		}
		if outside {
			b.offsets = b.offsets[:before]
			return lanes
		}
		if !b.enqueue(t, lanes, t.offset, notStrided, size) {
			b.offsets = b.offsets[:before]
			return lanes
		}
		lanes = 0
	}
	r.noteEnqueued(b, s, t, own, size)
	return lanes
}

// loadMemory is the memory of the latest access of a list, if the backlog takes accesses.
type loadMemory struct {
	alloc *probe.Allocation
	s     *shadow
	own   bool // accessible to a single CTA
	quiet bool // only read (run.onlyReads)
}

// deferLoad defers a load or store of a list as far as possible and returns the remaining lanes. m is the memory of the access before
// it, or the zero value. ok is false if it has done nothing, and the access must be handled as an event.
func (r *run) deferLoad(c *cta, warp int, l *probe.ListedAccess, m *loadMemory) (remaining uint64, ok bool) {
	role, w := &r.roles[l.Index], &c.warps[warp]
	if role.skipped != 0 || !w.sameClocks {
		return 0, false
	}
	first := bits.TrailingZeros64(l.Lanes)
	space, alloc, offset, ok := r.cachedPlace(c, l.Index, l.Request, l.Addr[first])
	if !ok {
		return 0, false
	}
	k := w.clockOf(first)
	if alloc != m.alloc { // clocks do not change within the list, so only its first load can renew the backlog
		*m = loadMemory{alloc: alloc, s: r.shadow(alloc), own: r.ownMemory(space == ptx.Shared), quiet: space == ptx.Global && r.onlyReads(alloc)}
		if m.own {
			r.renew(m.s, alloc, k, c.number)
		}
	}
	writing := l.Request.Writes()
	if m.quiet || writing && !m.s.judged { // rare
		return 0, false
	}
	if !r.takes(&m.s.backlog, alloc, l.Request.Bytes) || writing && r.holdsReleases(alloc) {
		return 0, false
	}
	if b := &m.s.backlog; !writing && m.own && l.Request.Space == ptx.Shared && !b.marked && b.raw.effects == 0 && r.lockstep == 0 && len(l.Addr) == maxRawLanes {
		if len(b.raw.list) == mostRawLoads {
			r.enqueueRaw(m.s, alloc)
		}
		t := deferredAccess{lanes: l.Lanes, moment: r.now, cta: c.number, kind: role.kindOf(l.Index, l.Request), warp: uint16(warp), bytes: uint8(l.Request.Bytes)}
		b.keepRaw(&t, l.Addr, k) // the condition of FilterLoads ensures that all lanes access the memory
		return 0, true
	}
	t := deferredAccess{lanes: l.Lanes, offset: uint32(offset), moment: r.now, cta: c.number, kind: role.kindOf(l.Index, l.Request), warp: uint16(warp), bytes: uint8(l.Request.Bytes)}
	if writing {
		t.effects = writes
	}
	if l.Strided {
		if remaining, ok = r.enqueueStrided(m, k, &t, l.Stride, uint64(len(alloc.Data))); ok {
			return remaining, true
		}
	}
	r.enqueueRaw(m.s, alloc) // it uses the same buffer
	a := &r.buffers.load
	a.Renew(l.Lanes)
	if a.Bytes, a.Addr = l.Request.Bytes, l.Addr; l.Strided {
		a.SetStride(l.Lanes, l.Stride)
	}
	return r.enqueueRuns(m.s, k, a, &t, alloc, m.own), true
}

// enqueueStrided is enqueueRuns for an access of all lanes of t, whose addresses are stride bytes apart from lane to lane. size is the
// size of the allocation. ok is false if it has done nothing.
func (r *run) enqueueStrided(m *loadMemory, k *clock, t *deferredAccess, stride int64, size uint64) (remaining uint64, ok bool) {
	b := &m.s.backlog
	if stride != int64(int32(stride)) || stride == notStrided {
		return 0, false
	}
	if t.lanes&(t.lanes-1) == 0 {
		stride = 0
	}
	end := int64(t.offset) + stride*int64(63-bits.LeadingZeros64(t.lanes)-bits.TrailingZeros64(t.lanes)) // offset of the last lane
	if limit := int64(size) - int64(t.bytes); end < 0 || end > limit || int64(t.offset) > limit {
		return 0, false
	}
	r.enqueueRaw(m.s, m.alloc)
	t.clock = b.number(k)
	r.prepareList(b)
	if t.effects&writes != 0 && !b.marked {
		b.markAll(size)
	}
	if !b.enqueue(t, t.lanes, t.offset, int32(stride), size) {
		remaining = t.lanes
	}
	r.noteEnqueued(b, m.s, t, m.own, size)
	return remaining, true
}

// prepareList gives a backlog without a list the memory of an earlier one.
func (r *run) prepareList(b *backlog) {
	if n := len(r.buffers.lists) - 1; cap(b.list) == 0 && n >= 0 {
		b.list, r.buffers.lists = r.buffers.lists[n], r.buffers.lists[:n]
	}
}

// number returns the number of a clock in b.clocks.
func (b *backlog) number(k *clock) uint32 {
	if n := len(b.clocks); n == 0 || b.clocks[n-1] != k {
		b.clocks = append(b.clocks, k)
	}
	return uint32(len(b.clocks) - 1)
}

// noteEnqueued notes the moment of the latest access, and bounds the size of the list.
func (r *run) noteEnqueued(b *backlog, s *shadow, t *deferredAccess, own bool, size uint64) {
	if own {
		b.lastMoment = max(b.lastMoment, t.moment)
	}
	if b.size() > max(b.maxBytes(size), b.bound) {
		warps := 0
		if own {
			warps = r.warps
		}
		b.compact(s.words, warps, &r.buffers.compaction)
		b.bound = 2 * b.size()
	}
}

// maxRawLanes is the number of addresses of a raw access.
const maxRawLanes = len(rawAccess{}.addr)

// keepRaw adds access t by lanes with clock k to the raw accesses. All lanes must access the memory.
func (b *backlog) keepRaw(t *deferredAccess, addr []uint64, k *clock) {
	n := len(b.raw.list)
	if n == cap(b.raw.list) {
		b.raw.list = slices.Grow(b.raw.list, max(64, n))
	}
	b.raw.list, b.raw.effects = b.raw.list[:n+1], t.effects
	x := &b.raw.list[n]
	for i, v := range addr[:maxRawLanes] {
		x.addr[i] = uint32(v)
	}
	x.lanes, x.kind, x.bytes = uint32(t.lanes), t.kind, int(t.bytes)
	b.lastMoment = max(b.lastMoment, t.moment)
	if i := len(b.raw.lists) - 1; i >= 0 {
		if last := &b.raw.lists[i]; last.clock == k && last.moment == t.moment && last.warp == t.warp {
			last.end = n + 1
			return
		}
	}
	b.raw.lists = append(b.raw.lists, rawList{clock: k, moment: t.moment, cta: t.cta, warp: t.warp, end: n + 1})
}

// keepRawAtomic adds atomic operation t by lanes with clock k to the raw accesses, if the backlog of a CTA's own shared memory has no
// other accesses; otherwise it does nothing and returns false.
func (r *run) keepRawAtomic(s *shadow, k *clock, a *probe.Access, t *deferredAccess, alloc *probe.Allocation) bool {
	b := &s.backlog
	if a.Space != ptx.Shared || b.marked || len(b.list) > 0 || len(b.raw.list) > 0 && b.raw.effects != t.effects || r.lockstep > 0 || len(a.Addr) != maxRawLanes {
		return false
	}
	last := uint64(len(alloc.Data) - a.Bytes)
	for m := t.lanes; m != 0; m &= m - 1 {
		if a.Addr[bits.TrailingZeros64(m)] > last {
			return false
		}
	}
	if len(b.raw.list) == mostRawAtomics {
		return false
	}
	b.keepRaw(t, a.Addr, k)
	return true
}

// enqueueRaw adds the raw accesses of a backlog to its list.
func (r *run) enqueueRaw(s *shadow, alloc *probe.Allocation) {
	raw := s.backlog.raw
	if len(raw.list) == 0 {
		return
	}
	s.backlog.raw = rawAccesses{}
	a, i := &r.buffers.load, 0
	for _, l := range raw.lists {
		for ; i < l.end; i++ {
			x := &raw.list[i]
			lanes := uint64(x.lanes)
			a.Renew(lanes)
			for lane, v := range x.addr {
				r.buffers.addr[lane] = uint64(v)
			}
			a.Bytes, a.Addr = x.bytes, r.buffers.addr[:]
			offset := x.addr[bits.TrailingZeros64(lanes)]
			t := deferredAccess{lanes: lanes, offset: offset, moment: l.moment, cta: l.cta, kind: x.kind, warp: l.warp, bytes: uint8(x.bytes), effects: raw.effects}
			r.enqueueRuns(s, l.clock, a, &t, alloc, true)
		}
	}
	clear(raw.lists)
	s.backlog.raw = rawAccesses{list: raw.list[:0], lists: raw.lists[:0]}
}

// enqueue appends access t with the given lanes, offset and stride to the list. It returns false if the access must be
// recorded instead. The offsets of the access must be the last of b.offsets. size is the size of the allocation.
func (b *backlog) enqueue(t *deferredAccess, lanes uint64, offset uint32, stride int32, size uint64) bool {
	n := len(b.list)
	if n == cap(b.list) {
		more := 2 * n
		if limit := b.maxBytes(size)/accessBytes + maxWidth; n < limit { // mostly, compact keeps the list within the limit
			more = min(4*n, limit)
		}
		b.list = append(make([]deferredAccess, 0, max(64, more)), b.list...) // slices.Grow would clear the new memory
	}
	d := &b.list[:n+1][n]
	// Field by field: a copy of t, whose fields have just been stored, would wait for these stores.
	d.lanes, d.clock, d.offset, d.stride, d.moment = lanes, t.clock, offset, stride, t.moment
	d.cta, d.kind, d.warp, d.bytes, d.effects, d.copy = t.cta, t.kind, t.warp, t.bytes, t.effects, t.copy
	if b.marked && !b.enter(d, b.offsets[len(b.offsets)-d.listedLanes():], b.size() < b.maxBytes(size)) {
		return false
	}
	b.list = b.list[:n+1]
	return true
}

// maxBytes returns the size at which the backlog of an allocation of size bytes is compacted.
func (b *backlog) maxBytes(size uint64) int { return max(minBacklog, int(size)) }

// size returns the size of the accesses in bytes.
func (g *deferredList) size() int {
	return len(g.list)*accessBytes + 4*len(g.offsets) + 8*len(g.clocks)
}

// ranges returns the offsets of the contiguous ranges of an access, and the size of each in bytes. offs begins
// with the lane offsets if the access has no stride. The result may use room.
func (t *deferredAccess) ranges(offs []uint32, room *[maxWidth]uint32) (list []uint32, size int) {
	n, first := bits.OnesCount64(t.lanes), bits.TrailingZeros64(t.lanes)
	switch {
	case t.stride == notStrided:
		return offs[:n], int(t.bytes)
	case t.stride == 0:
		room[0] = t.offset
		return room[:1], int(t.bytes)
	case t.stride == int32(t.bytes) && t.lanes>>first == ^uint64(0)>>(64-n):
		room[0] = t.offset
		return room[:1], n * int(t.bytes)
	}
	base, i := t.offset-uint32(t.stride)*uint32(first), 0
	for m := t.lanes; m != 0; m &= m - 1 {
		room[i&(maxWidth-1)] = base + uint32(t.stride)*uint32(bits.TrailingZeros64(m))
		i++
	}
	return room[:i], int(t.bytes)
}

// each calls do with each lane and its offset until do returns false.
func (t *deferredAccess) each(offs []uint32, do func(lane int, offset uint64) bool) {
	first := bits.TrailingZeros64(t.lanes)
	for i, m := 0, t.lanes; m != 0; i, m = i+1, m&(m-1) {
		lane := bits.TrailingZeros64(m)
		offset := uint64(t.offset) + uint64(int64(t.stride)*int64(lane-first))
		if t.stride == notStrided {
			offset = uint64(offs[i])
		}
		if !do(lane, offset) {
			return
		}
	}
}

// listedLanes returns the number of offsets that the access has in backlog.offsets.
func (t *deferredAccess) listedLanes() int {
	if t.stride != notStrided {
		return 0
	}
	return bits.OnesCount64(t.lanes)
}

// markAll marks the bytes of all deferred accesses. size is the size of the allocation.
func (b *backlog) markAll(size uint64) {
	if b.marks == nil {
		b.marks = make([]*marks, (size+markBytes-1)/markBytes)
	}
	b.marked, b.markedSize = true, size
	offs := b.offsets
	for i := range b.list {
		b.enter(&b.list[i], offs, true)
		offs = offs[b.list[i].listedLanes():]
	}
}

// enter marks an access that follows the list. It returns false if the access conflicts, so that the list must
// be recorded: an access to written bytes, a write to read bytes, or a mix of atomic operations and ordinary
// accesses. Allowed are, if repeat is possible (anew), accesses by exactly the lanes that made all earlier
// accesses to these bytes.
func (b *backlog) enter(t *deferredAccess, offs []uint32, anew bool) bool {
	write, adds := t.effects&writes != 0, t.effects&atomics != 0
	if write && !adds && t.stride == 0 && t.lanes&(t.lanes-1) != 0 {
		return false // several lanes write the same bytes
	}
	// Whether lanes may write the same bytes.
	unstrided := write && !adds && t.lanes&(t.lanes-1) != 0 && (t.stride == notStrided || t.stride < int32(t.bytes) && -t.stride < int32(t.bytes))
	mayNotBeWritten := unstrided || adds || !anew // earlier accesses must not have written its bytes
	written, read, atomic, ok := b.markLanes(t)
	if ok {
		ok = !written || !mayNotBeWritten
	} else {
		list, size := t.ranges(offs, &b.room)
		written, read, atomic, ok = b.markEach(list, size, t.effects, mayNotBeWritten)
	}
	if !ok {
		return false
	}
	if atomic && !adds || adds && read || (written || write && read) && (t.copy != 0 || !b.comesAfter(t)) {
		return false
	}
	if !atomic && (!read || write || written) { // no other lanes accessed its bytes
		t.effects |= untouched
	}
	return true
}

// reached is the number of entries that comesAfter searches.
const reached = 64

// offsetOf returns the offset of the first of some lanes of a strided access.
func (t *deferredAccess) offsetOf(lanes uint64) int64 {
	return int64(t.offset) + int64(t.stride)*int64(bits.TrailingZeros64(lanes)-bits.TrailingZeros64(t.lanes))
}

// comesAfter reports whether all earlier accesses to the bytes of t are by the same lanes. Accesses between the
// two touch other bytes.
func (b *backlog) comesAfter(t *deferredAccess) bool {
	for i := len(b.list) - 1; i >= max(0, len(b.list)-reached); i-- {
		o := &b.list[i]
		if o.effects&untouched == 0 || o.copy != 0 {
			return false
		}
		if o.effects&atomics == 0 && o.warp == t.warp && o.cta == t.cta && o.bytes == t.bytes && t.lanes&^o.lanes == 0 && o.offsetOf(t.lanes) == int64(t.offset) &&
			(o.stride == t.stride && t.stride != notStrided || o.stride != notStrided && t.lanes&(t.lanes-1) == 0) {
			return true
		}
	}
	return false
}

// closeBacklog ends the deferral of accesses to an allocation and records the deferred accesses. o is the
// access that follows, k the clock of its agent. Later accesses are recorded at once.
// async says that the access is an effect of its own, whose wait is unknown.
func (r *run) closeBacklog(s *shadow, alloc *probe.Allocation, o *record, k *clock, async bool) {
	b := &s.backlog
	if r.ownMemory(alloc.Space() == ptx.Shared) {
		if !async {
			r.renew(s, alloc, k, o.cta)
			b.lastMoment = max(b.lastMoment, o.moment)
		} else {
			if b.cta != o.cta {
				r.renew(s, alloc, nil, o.cta)
			}
			b.lastMoment = neverMoment
		}
	}
	if !b.closed {
		r.catchUp(s, alloc)
		b.closed = true
	}
}

// catchUpAll records all deferred accesses. Later accesses can still be deferred.
func (r *run) catchUpAll() {
	for alloc, s := range r.shadows {
		r.enqueueRaw(s, alloc)
		if !s.backlog.marked && len(s.backlog.list) > 0 {
			s.backlog.markAll(uint64(len(alloc.Data)))
		}
		r.catchUp(s, alloc)
		s.backlog.closed = s.backlog.closed || s.reopened
	}
}

// retiredList holds the deferred accesses of an operation that has ended. They are recorded as soon as another access to the
// allocation is recorded, or when an operation begins that is not ordered after them.
type retiredList struct {
	run *run
	deferredList
}

// retireAll retires the deferred accesses to global memory, and lets all global memory take deferred accesses again. The next operation
// must be ordered after all earlier operations, so that none of its accesses is in a race with theirs.
func (r *run) retireAll() {
	for alloc, s := range r.shadows {
		b := &s.backlog
		if alloc.Space() == ptx.Shared || !b.closed && len(b.list) == 0 {
			continue
		}
		if s.reopened = true; len(b.list) > 0 {
			r.retire(s, alloc)
		}
		b.clear()
	}
}

// retire moves the deferred accesses to the retired lists, and drops retired lists that they replace. An access is replaced by a later
// ordered access to the same bytes: every operation that is unordered to the earlier access is unordered to the later one, too.
func (r *run) retire(s *shadow, alloc *probe.Allocation) {
	b, size := &s.backlog, uint64(len(alloc.Data))
	if !b.marked {
		b.markAll(size)
	}
	var spare deferredList
	bytes := 0
	s.retired = slices.DeleteFunc(s.retired, func(l retiredList) bool {
		if b.replaces(&l.deferredList) {
			spare = l.deferredList
			return true
		}
		bytes += l.memory()
		return false
	})
	s.retired = append(s.retired, retiredList{r, b.deferredList})
	if bytes += b.memory(); bytes > mostRetiredBytes(size) || len(s.retired) > mostRetired {
		r.recordRetired(s, alloc)
	}
	spare.empty()
	b.deferredList = spare
}

// memory returns the size of the accesses and marks in bytes.
func (g *deferredList) memory() int {
	n := g.size() + len(g.marks)*int(unsafe.Sizeof(g))
	for _, p := range g.marks {
		if p != nil {
			n += int(unsafe.Sizeof(*p))
		}
	}
	return n
}

// mostRetired is the maximum number of retired lists of an allocation: each new list is compared with all of them.
const mostRetired = 32

// mostRetiredBytes returns the maximum size of the retired lists of an allocation of size bytes: that of the cells that would hold their
// accesses, or a little more.
func mostRetiredBytes(size uint64) int { return max(1<<16, cellBytes/4*int(size)) }

// replaces reports whether the list has a write of all bytes that list o writes, and an access to all bytes that o reads. Atomic operations
// count for none: they are in no race with others. Both lists must be marked.
func (g *deferredList) replaces(o *deferredList) bool {
	var none marks
	for i, old := range o.marks {
		if old == nil {
			continue
		}
		p := g.marks[i]
		if p == nil {
			p = &none
		}
		for k, written := range p.written {
			if old.written[k]&^written|old.atomic[k]&^written|old.read[k]&^(written|p.read[k]) != 0 {
				return false
			}
		}
	}
	return true
}

// recordRetired records the retired accesses to an allocation.
func (r *run) recordRetired(s *shadow, alloc *probe.Allocation) {
	for i := range s.retired {
		l := &s.retired[i]
		l.run.recordAll(&l.deferredList, s, alloc)
	}
	s.retired = nil
}

// catchUp records the deferred accesses of an allocation.
func (r *run) catchUp(s *shadow, alloc *probe.Allocation) {
	r.recordRetired(s, alloc)
	r.enqueueRaw(s, alloc)
	b := &s.backlog
	for i := range b.older {
		r.recordAll(&b.older[i], s, alloc)
	}
	r.recordAll(&b.deferredList, s, alloc)
	b.empty()
}

// recordAll records deferred accesses.
func (r *run) recordAll(b *deferredList, s *shadow, alloc *probe.Allocation) {
	offs := b.offsets
	for i := range b.list {
		t := &b.list[i]
		x := access{record: record{moment: t.moment, cta: t.cta, kind: t.kind}, shared: alloc.Space() == ptx.Shared}
		x.writes, x.reads = t.effects&writes != 0, t.effects&(writes|atomics) != writes
		if t.stride == 0 && t.lanes&(t.lanes-1) != 0 && t.effects&(writes|partial) == 0 && r.numbered(t.lanes) {
			r.asSet(&x, b.clocks[t.clock], int(t.warp), t.lanes)
			r.touchWords(&x, s, alloc, uint64(t.offset), int(t.bytes))
			continue
		}
		t.each(offs, func(lane int, offset uint64) bool {
			x.agent = threadIndex(int(t.warp), lane)
			x.view = view{b.clocks[t.clock], t.cta, x.agent, t.moment}
			if t.copy != 0 {
				o := b.copies[t.copy-1]
				x.agent, x.view = o.base+agent(lane), r.viewOfCopy(t.cta, b.clocks[t.clock], int(t.warp), lane, o)
			}
			r.touchWords(&x, s, alloc, offset, int(t.bytes))
			return true
		})
		offs = offs[t.listedLanes():]
	}
}

// compact drops reads and atomic operations on words with many later accesses. Of each word it keeps the last
// mostReads and an access of another CTA. In the shared memory of a CTA, warps is its number of warps, and this
// holds for each word and warp; else warps is 0.
func (b *backlog) compact(words uint64, warps int, room *compaction) {
	accesses, ends, kept := room.reserve(int(words)*max(1, warps), len(b.list))
	n := 0
	for i := range b.list {
		ends[i] = n
		n += b.list[i].listedLanes()
	}
	for i := len(b.list) - 1; i >= 0; i-- {
		t := &b.list[i]
		if t.effects &^= untouched; t.effects&(writes|atomics) == writes {
			kept[i] = t.lanes
			continue
		}
		step, byteOffset := uint64(1), uint64(0)
		if warps > 0 {
			step, byteOffset = uint64(warps), uint64(t.warp)
		}
		keep := func(offset uint64) (retained bool) {
			first, last := offset/4, (offset+uint64(t.bytes)-1)/4
			if first == last && accesses[first*step+byteOffset].isFull(t.cta) { // mostly
				return false
			}
			for word := first; word <= last; word++ {
				retained = accesses[word*step+byteOffset].keep(t.cta) || retained
			}
			return retained
		}
		switch offsets := b.offsets[ends[i]:]; t.stride {
		case 0:
			if keep(uint64(t.offset)) {
				kept[i] = t.lanes
			}
		case notStrided:
			for k, m := 0, t.lanes; m != 0; k, m = k+1, m&(m-1) {
				if keep(uint64(offsets[k])) {
					kept[i] |= m & -m
				}
			}
		default:
			first := t.offset - uint32(t.stride)*uint32(bits.TrailingZeros64(t.lanes))
			for m := t.lanes; m != 0; m &= m - 1 {
				if keep(uint64(first + uint32(t.stride)*uint32(bits.TrailingZeros64(m)))) {
					kept[i] |= m & -m
				}
			}
		}
	}
	b.keepLanes(kept, ends)
}

// compaction is the memory of compact. New memory for each call would take longer than the call.
type compaction struct {
	accesses []keptReads
	ends     []int    // start of each entry's offsets
	kept     []uint64 // the kept lanes of each entry
}

// size returns the size in bytes.
func (c *compaction) size() int {
	return cap(c.accesses)*int(unsafe.Sizeof(keptReads{})) + cap(c.ends)*int(unsafe.Sizeof(0)) + 8*cap(c.kept)
}

// reserve returns cleared slices for some words and entries.
func (c *compaction) reserve(words, entries int) (accesses []keptReads, ends []int, kept []uint64) {
	c.accesses, c.ends, c.kept = slices.Grow(c.accesses[:0], words), slices.Grow(c.ends[:0], entries), slices.Grow(c.kept[:0], entries)
	accesses, ends, kept = c.accesses[:words], c.ends[:entries], c.kept[:entries]
	clear(accesses)
	clear(kept)
	return accesses, ends, kept
}

// keptReads counts the kept reads of a word: see compact.
type keptReads struct {
	cta   int32 // CTA of the latest access
	count uint8
	far   bool // an access of another CTA is kept
}

// isFull reports whether a read by a CTA is not kept.
func (o *keptReads) isFull(cta int32) bool { return o.count == mostReads && (o.far || o.cta == cta) }

// keep counts a read by a CTA, and reports whether it is kept.
func (o *keptReads) keep(cta int32) bool {
	if o.isFull(cta) {
		return false
	}
	if o.count == 0 {
		o.cta = cta
	}
	o.count, o.far = min(o.count+1, mostReads), o.far || o.cta != cta
	return true
}

// keepLanes reduces each entry to its kept lanes. ends holds the starts of the offsets.
func (b *backlog) keepLanes(kept []uint64, ends []int) {
	list, offs := b.list[:0], b.offsets[:0]
	for i := range b.list {
		t := b.list[i]
		switch kept[i] {
		case 0:
			continue
		case t.lanes:
			offs, list = append(offs, b.offsets[ends[i]:][:t.listedLanes()]...), append(list, t)
			continue
		}
		first := true
		t.each(b.offsets[ends[i]:], func(lane int, offset uint64) bool {
			if kept[i]>>lane&1 != 0 {
				if t.stride == notStrided {
					offs = append(offs, uint32(offset))
				}
				if first {
					b.list[i].offset, first = uint32(offset), false
				}
			}
			return true
		})
		t.lanes, t.offset = kept[i], b.list[i].offset
		list = append(list, t)
	}
	b.list, b.offsets = list, offs
}
