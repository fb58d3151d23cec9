package race

// This file puts off what accesses leave. One that is sure to be in no race matters only to others that
// come later and may not know of it. So accesses to memory where nothing has been in the way yet are
// kept as warps have made them, and noted word by word, in their order, when something is: when bytes
// are accessed that have been written, or written that have been read. Nothing ever is for what a
// launch only reads, writes once or adds to by atomic operations, nor for shared memory whose threads
// all meet between writing and reading it.

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"gemu/interp"
	"gemu/ptx"
)

// backlog is the accesses to an allocation that have been put off.
type backlog struct {
	closed  bool // nothing is put off any more; of shared memory, until all have met
	list    []deferredAccess
	offsets []uint32 // of accesses without a stride: the offsets of their lanes, access after access
	clocks  []*clock // of those of list
	bound   int      // bytes that it may take before it is thinned out, if that is more than it may anyway

	marked bool // marks has what list has: from the first write on
	marks  []*marks
	atomic accessKind // of the atomic operations in list: flags, the same for all; 0: there are none

	// Of shared memory, the CTA that it is of, and the last that any of its threads have done there,
	// put off or not.
	cta        int32
	lastMoment moment
}

// deferredAccess is an access of lanes of a warp that know the same.
type deferredAccess struct {
	lanes   uint64
	clock   uint32 // the index of what they know
	offset  uint32 // of the first lane
	stride  int32  // from lane to lane; notStrided: offs has the offsets
	moment  moment
	cta     int32
	kind    accessKind
	warp    uint16
	bytes   uint8 // of a lane
	effects accessEffects
}

// accessEffects is what an access does, and what is known of it.
type accessEffects uint8

const (
	writes    accessEffects = 1 << iota // it is a write, else a read
	atomics                             // … of atomic operations, which race with none of each other
	parted                              // it is of some of the lanes that an instruction was executed by
	untouched                           // nobody had accessed any of its bytes, but the same lanes what they write or have written
)

const notStrided = math.MinInt32

// minBacklog is how many bytes the backlog of an allocation may take in any case; four times as many as
// it has itself it may, too: half of what noting takes.
const minBacklog = 1 << 20

// mostReads is how many reads of a word are kept where a backlog is thinned out, of shared memory those of
// a warp; or atomic operations.
const mostReads = 16

// neverMoment is a moment that no clock comes to.
const neverMoment = ^moment(0)

// marks is which bytes of a page are accessed.
type marks struct {
	written, read, atomic [markBytes / 64]uint64
}

// markBytes is the bytes of a page of marks.
const markBytes = 1 << 15

// mark marks n bytes, and gives what had been done to some of them.
func (b *backlog) mark(offset uint64, n int, d accessEffects) (written, read, atomic bool) {
	for n > 0 {
		p := b.marks[offset/markBytes]
		if p == nil {
			p = new(marks)
			b.marks[offset/markBytes] = p
		}
		i := offset % markBytes
		take := min(n, 64-int(i%64))
		m := ^uint64(0) >> (64 - take) << (i % 64)
		w, r, a := &p.written[i/64], &p.read[i/64], &p.atomic[i/64]
		written, read, atomic = written || *w&m != 0, read || *r&m != 0, atomic || *a&m != 0
		switch {
		case d&atomics != 0:
			*a |= m
		case d&writes != 0:
			*w |= m
		default:
			*r |= m
		}
		offset, n = offset+uint64(take), n-take
	}
	return written, read, atomic
}

// clear forgets all.
func (b *backlog) clear() {
	b.closed, b.atomic = false, 0
	b.empty()
	if b.marked {
		b.marked = false
		for _, p := range b.marks {
			if p != nil {
				*p = marks{}
			}
		}
	}
}

// empty drops what has been put off.
func (b *backlog) empty() {
	clear(b.clocks)
	b.list, b.offsets, b.clocks = b.list[:0], b.offsets[:0], b.clocks[:0]
}

// renew forgets what has been done to shared memory if all who may come know of it. An asynchronous
// operation that has been issued may not.
func (r *run) renew(b *backlog, k *clock, cta int32) {
	if b.cta != cta { // another had this memory before
		b.clear()
		b.cta, b.lastMoment = cta, 0
		return
	}
	if len(b.list) == 0 && !b.closed || r.issued > 0 || r.fenced {
		return
	}
	if own := k.find(cta); own != nil && b.lastMoment <= own.all {
		b.clear()
	}
}

// ownMemory reports whether a CTA has memory for itself.
func (r *run) ownMemory(shared bool) bool { return shared && r.perCTAs <= 1 }

// mayPutOff reports whether an access orders no threads and is weak, or part of an atomic operation
// that releases and acquires nothing, nor goes on with what others or a fence have released.
func (r *run) mayPutOff(w *warp, o *role, x *access, alloc *interp.Allocation, lanes uint64) bool {
	if o.sync&^(variables|reduces) != 0 || x.writes && r.synced(alloc) {
		return false
	}
	if o.sync == 0 {
		return true
	}
	if x.kind&atomic == 0 {
		return false
	}
	for m := lanes; m != 0; m &= m - 1 {
		if w.fences[bits.TrailingZeros64(m)].moment != 0 {
			return false
		}
	}
	return true
}

// compatible reports whether an atomic operation may be unordered to all in the backlog.
func (r *run) compatible(b *backlog, x *access, own bool) bool {
	flags := x.kind & (strong | atomic | scopeMask | sizeBits)
	if b.atomic == 0 && (own || flags&scopeMask >= scopeDevice) {
		b.atomic = flags
	}
	return b.atomic == flags
}

// deferAccess puts the access of lanes off, as far as it may, and gives those of whom it may not; off is the
// offset of the first of them.
func (r *run) deferAccess(c *cta, e *interp.Event, a *interp.Access, role *role, x *access, alloc *interp.Allocation, offset uint64, lanes uint64, shared bool) (remaining uint64) {
	s, w := r.shadow(alloc), &c.warps[e.Warp]
	first, b := bits.TrailingZeros64(lanes), &s.backlog
	k := w.clocks[first]
	own := r.ownMemory(shared)
	if own {
		r.renew(b, k, c.number)
	}
	size := uint64(len(alloc.Data))
	if r.eager || b.closed || size > math.MaxUint32 || uint64(a.Bytes) > size || a.Bytes > math.MaxUint8 || a.Bulk() || !r.mayPutOff(w, role, x, alloc, lanes) || !r.together(w, lanes) {
		return lanes
	}
	t := deferredAccess{lanes: lanes, offset: uint32(offset), moment: x.moment, cta: c.number, kind: x.kind, warp: uint16(e.Warp), bytes: uint8(a.Bytes)}
	switch {
	case x.kind&atomic != 0:
		if t.effects = writes | atomics; !r.compatible(b, x, own) {
			return lanes
		}
	case x.writes:
		t.effects = writes
	}
	if n := len(b.clocks); n == 0 || b.clocks[n-1] != k {
		b.clocks = append(b.clocks, k)
	}
	t.clock = uint32(len(b.clocks) - 1)
	if x.writes && !b.marked {
		b.markAll(size)
	}
	limit, base := size-uint64(a.Bytes), a.Addr[first]-offset
	runs := a.Runs(lanes)
	if len(runs) > 1 {
		t.effects |= parted
	}
	for i := range runs {
		run := &runs[i]
		low, width, ok := run.Span()
		if low -= base; !ok || low > limit || width > limit-low || run.Stride == notStrided {
			break
		}
		last := t
		last.lanes, last.offset, last.stride = run.Lanes, uint32(run.Addr-base), int32(run.Stride)
		if !b.enqueue(&last, size) {
			break
		}
		lanes &^= run.Lanes
	}
	if len(runs) == 0 {
		before := len(b.offsets)
		t.stride = notStrided
		for m := lanes; m != 0; m &= m - 1 {
			byteOffset := a.Addr[bits.TrailingZeros64(m)] - base
			if byteOffset > limit {
				b.offsets = b.offsets[:before]
				return lanes
			}
			b.offsets = append(b.offsets, uint32(byteOffset))
		}
		if !b.enqueue(&t, size) {
			b.offsets = b.offsets[:before]
			return lanes
		}
		lanes = 0
	}
	if own {
		b.lastMoment = max(b.lastMoment, x.moment)
	}
	if b.size() > max(b.maxBytes(size), b.bound) {
		warps := 0
		if own {
			warps = r.warps
		}
		b.compact(s.words, warps)
		b.bound = 2 * b.size()
	}
	return lanes
}

// enqueue has an access to memory of some size in the list, unless it has to be noted. Its offsets are the last.
func (b *backlog) enqueue(t *deferredAccess, size uint64) bool {
	if b.marked && !b.enter(t, b.offsets[len(b.offsets)-t.listedLanes():], b.size() < b.maxBytes(size)) {
		return false
	}
	if n := len(b.list); n == cap(b.list) {
		b.list = slices.Grow(b.list, max(64, n)) // twice as much: a launch may have many
	}
	b.list = append(b.list, *t)
	return true
}

// maxBytes is how many bytes the backlog of memory of some size may take before it is thinned out.
func (b *backlog) maxBytes(size uint64) int { return max(minBacklog, 4*int(size)) }

func (b *backlog) size() int {
	return len(b.list)*int(unsafe.Sizeof(deferredAccess{})) + 4*len(b.offsets) + 8*len(b.clocks)
}

// ranges is the offsets of the pieces of memory of an access, and their size; offs is the offsets of its lanes
// and of what comes behind, if it has no stride.
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

// each goes through the lanes of an access, with their offsets.
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

// listedLanes is how many offsets an access has in backlog.offsets.
func (t *deferredAccess) listedLanes() int {
	if t.stride != notStrided {
		return 0
	}
	return bits.OnesCount64(t.lanes)
}

// markAll marks what the backlog has, of memory of some size.
func (b *backlog) markAll(size uint64) {
	if b.marks == nil {
		b.marks = make([]*marks, (size+markBytes-1)/markBytes)
	}
	b.marked = true
	offs := b.offsets
	for i := range b.list {
		b.enter(&b.list[i], offs, true)
		offs = offs[b.list[i].listedLanes():]
	}
}

// enter marks an access that comes behind those of the list. It reports false if that has to be noted with
// what is in the list: that of bytes that are written; a write of bytes that are read; but of both those that
// nobody but the same lanes has accessed, if these may access anew what they have written; atomic
// operations and others on the same bytes.
func (b *backlog) enter(t *deferredAccess, offs []uint32, anew bool) bool {
	write, adds := t.effects&writes != 0, t.effects&atomics != 0
	if write && !adds && t.stride == 0 && t.lanes&(t.lanes-1) != 0 {
		return false // of the same bytes
	}
	// Whether lanes may write the same bytes.
	unstrided := write && !adds && t.lanes&(t.lanes-1) != 0 && (t.stride == notStrided || t.stride < int32(t.bytes) && -t.stride < int32(t.bytes))
	var room [maxWidth]uint32
	list, size := t.ranges(offs, &room)
	written, read, atomic := false, false, false
	for _, offset := range list {
		w, r, a := b.mark(uint64(offset), size, t.effects)
		if written, read, atomic = written || w, read || r, atomic || a; written && (unstrided || adds || !anew) {
			return false
		}
	}
	if atomic && !adds || adds && read || (written || write && read) && !b.comesAfter(t) {
		return false
	}
	if !atomic && (!read || write || written) { // of what was written, and of a write: nobody else
		t.effects |= untouched
	}
	return true
}

// reached is how many accesses there may be between two of the same lanes.
const reached = 64

// offsetOf is the offset of the first of some of its lanes, if it has a stride.
func (t *deferredAccess) offsetOf(lanes uint64) int64 {
	return int64(t.offset) + int64(t.stride)*int64(bits.TrailingZeros64(lanes)-bits.TrailingZeros64(t.lanes))
}

// comesAfter reports whether nobody else has accessed the bytes of an access than the same lanes have:
// those who came behind have accessed other bytes.
func (b *backlog) comesAfter(t *deferredAccess) bool {
	for i := len(b.list) - 1; i >= max(0, len(b.list)-reached); i-- {
		o := &b.list[i]
		if o.effects&untouched == 0 {
			return false
		}
		if o.effects&atomics == 0 && o.warp == t.warp && o.cta == t.cta && o.bytes == t.bytes && t.lanes&^o.lanes == 0 && o.offsetOf(t.lanes) == int64(t.offset) &&
			(o.stride == t.stride && t.stride != notStrided || o.stride != notStrided && t.lanes&(t.lanes-1) == 0) {
			return true
		}
	}
	return false
}

// closeBacklog ends the deferral of accesses to the memory: an access of another pattern follows, by an agent with the clock k.
// Later accesses are recorded at once.
func (r *run) closeBacklog(s *shadow, alloc *interp.Allocation, o *record, k *clock) {
	b := &s.backlog
	if r.ownMemory(alloc.Space() == ptx.Shared) {
		if o.kind&proxy == 0 {
			r.renew(b, k, o.cta)
			b.lastMoment = max(b.lastMoment, o.moment)
		} else {
			if b.cta != o.cta {
				r.renew(b, nil, o.cta)
			}
			b.lastMoment = neverMoment
		}
	}
	if !b.closed {
		r.catchUp(s, alloc)
		b.closed = true
	}
}

// catchUpAll notes all that has been put off; what comes next is still put off where it may.
func (r *run) catchUpAll() {
	for alloc, s := range r.shadows {
		if !s.backlog.marked && len(s.backlog.list) > 0 {
			s.backlog.markAll(uint64(len(alloc.Data)))
		}
		r.catchUp(s, alloc)
	}
}

// catchUp notes what has been put off.
func (r *run) catchUp(s *shadow, alloc *interp.Allocation) {
	b := &s.backlog
	offs := b.offsets
	for i := range b.list {
		t := &b.list[i]
		x := access{record: record{moment: t.moment, cta: t.cta, kind: t.kind}, shared: alloc.Space() == ptx.Shared}
		x.writes, x.reads = t.effects&writes != 0, t.effects&(writes|atomics) != writes
		if t.stride == 0 && t.lanes&(t.lanes-1) != 0 && t.effects&(writes|parted) == 0 && r.numbered(t.lanes) {
			r.bySet(&x, b.clocks[t.clock], int(t.warp), t.lanes)
			r.touchWords(&x, s, alloc, uint64(t.offset), int(t.bytes))
			continue
		}
		t.each(offs, func(lane int, offset uint64) bool {
			x.agent = threadIndex(int(t.warp), lane)
			x.view = view{b.clocks[t.clock], t.cta, x.agent, t.moment}
			r.touchWords(&x, s, alloc, offset, int(t.bytes))
			return true
		})
		offs = offs[t.listedLanes():]
	}
	b.empty()
}

// compact leaves out reads and atomic operations on words that others have made often since: all but
// the last mostReads of each word, and one of another CTA than the last; or, if the memory is that of
// a CTA of so many warps, of each word and warp.
func (b *backlog) compact(words uint64, warps int) {
	type seen struct {
		cta   int32 // of the last
		count uint8
		far   bool // one of another is kept
	}
	accesses := make([]seen, words*uint64(max(1, warps)))
	ends := make([]int, len(b.list)) // where the offsets of each begin
	n := 0
	for i := range b.list {
		ends[i] = n
		n += b.list[i].listedLanes()
	}
	kept := make([]uint64, len(b.list)) // lanes
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
			for word := offset / 4; word <= (offset+uint64(t.bytes)-1)/4; word++ {
				o := &accesses[word*step+byteOffset]
				if o.count == 0 {
					o.cta = t.cta
				}
				if o.count < mostReads || !o.far && t.cta != o.cta {
					o.count = min(o.count+1, mostReads)
					o.far = o.far || t.cta != o.cta
					retained = true
				}
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

// keepLanes leaves these lanes of each access, whose offsets begin at ends.
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
