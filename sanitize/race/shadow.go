package race

// This file implements the shadow memory: the recorded accesses to each word.

import (
	"math/bits"
	"slices"
	syncatomic "sync/atomic"
	"unsafe"

	"gemu/probe"
)

// record is an access, or the head of a list of concurrent accesses.
type record struct {
	moment moment // 0: no access
	cta    int32
	agent  agent
	kind   accessKind
}

// accessKind packs the index of the instruction (from bit indexBits on) and flags.
type accessKind uint32

const (
	scopeMask     accessKind = 3      // the scope of a strong access
	strong        accessKind = 1 << 2 // volatile, relaxed, acquire, release or atomic (manual 8.3)
	atomic        accessKind = 1 << 3 // a read and a write at once
	listedReaders accessKind = 1 << 4 // head of a list: agent is the index of the first link
	coarse        accessKind = 1 << 5 // represents the accesses of many CTAs
	split         accessKind = 1 << 6 // the bytes of the word have cells of their own: agent is the index in shadow.bytes
	proxy         accessKind = 1 << 7 // by an asynchronous operation
	sizeBits      accessKind = 7 << 8 // binary logarithm of the size in bytes of a strong access, or of its elements
	indexBits                = 13
)

// sizeOf returns the sizeBits of elements of n bytes.
func sizeOf(n int) accessKind { return accessKind(bits.Len(uint(n))-1) << 8 & sizeBits }

func (r *record) index() int { return int(r.kind >> indexBits) }

// cell holds the recorded accesses to a word (4 bytes) or a byte.
type cell struct {
	written, read record
}

// cellBytes is the size of a cell.
const cellBytes = int(unsafe.Sizeof(cell{}))

// link is an element of a cell's list of records.
type link struct {
	record
	next  int32  // index of the next link; 0: the end
	count uint16 // length of the list from here on
	fresh uint16 // links from here on that are newer than the last shortening of the list
}

// maxWidth is the largest number of lanes in a warp.
const maxWidth = 64

// mostLinks is the list length from which shorten reduces the records of foreign CTAs and of each warp.
const mostLinks = 8

// Size of a shadow page, in words and in bytes.
const (
	pageWords = 1024
	pageBytes = 4 * pageWords
)

// shadow holds the accesses to an allocation: 32 bytes for each word of an accessed page.
type shadow struct {
	pages [][]cell
	whole []cell // a cell for a whole page without cells of its own, for accesses of the host
	words uint64
	bytes [][4]cell // cells of the bytes of split words

	backlog backlog
	owner   *cta // of shared memory: the CTA that uses it

	retired  []retiredList // the deferred accesses of earlier operations, in their order
	reopened bool          // there are retired or recorded accesses that the marks of the backlog do not cover

	// quiet is not 0 in an interval between barriers of the whole CTA in which its shared memory is only read (nextActions.isQuiet).
	// The word outlasts the CTA, as conditions for loads do (sink.FilterLoads).
	quiet syncatomic.Int64

	// readOnly is not 0 while the launch only reads the global memory, as far as is known (run.onlyReads).
	readOnly syncatomic.Int64
	judged   bool // readOnly is final, or the memory has been written
}

func newShadow(a *probe.Allocation) *shadow {
	n := (uint64(len(a.Data)) + 3) / 4
	return &shadow{pages: make([][]cell, (n+pageWords-1)/pageWords), words: n}
}

// cellAt returns the cell of a word.
func (r *run) cellAt(s *shadow, word uint64) *cell {
	if p := s.pages[word/pageWords]; p != nil {
		return &p[word%pageWords]
	}
	return &r.page(s, word)[word%pageWords]
}

// page creates the shadow page of a word.
func (r *run) page(s *shadow, word uint64) []cell {
	n := word / pageWords
	p := make([]cell, min(pageWords, s.words-n*pageWords))
	s.pages[n] = p
	if s.whole != nil {
		for i := range p {
			p[i] = r.copy(&s.whole[n])
		}
		r.dropAll(s.whole[n : n+1])
	}
	return p
}

// touchPages records an access of the host, whole pages at a time where possible.
func (r *run) touchPages(a *access, alloc *probe.Allocation, offset, n uint64) {
	if offset > uint64(len(alloc.Data)) || n > uint64(len(alloc.Data))-offset {
		return
	}
	s := r.shadow(alloc)
	if n == uint64(len(alloc.Data)) && a.writes && r.isAfterAll() { // older accesses no longer matter
		r.dropAccesses(s)
	}
	r.closeBacklog(s, alloc, &a.record, a.view.clock, false)
	if s.whole == nil {
		s.whole = make([]cell, len(s.pages))
	}
	for n > 0 {
		number, begin := offset/pageBytes, offset%pageBytes
		take := min(pageBytes-begin, n)
		if all := min(pageBytes, uint64(len(alloc.Data))-number*pageBytes); take < all {
			r.touchAll(a, alloc, offset, int(take))
		} else {
			if p := s.pages[number]; p != nil && a.writes && r.isAfterAll() {
				r.dropAll(p) // older accesses no longer matter
				s.pages[number] = nil
			}
			if s.pages[number] == nil {
				r.touch(a, &s.whole[number], alloc, offset, int(min(4, take)))
			} else {
				r.touchAll(a, alloc, offset, int(take))
			}
		}
		offset, n = offset+take, n-take
	}
}

// splitAt gives each byte of a word a cell of its own.
func (r *run) splitAt(s *shadow, c *cell) *[4]cell {
	if c.written.kind&split == 0 {
		s.bytes = append(s.bytes, [4]cell{*c, r.copy(c), r.copy(c), r.copy(c)})
		*c = cell{written: record{kind: split, agent: agent(len(s.bytes) - 1)}}
	}
	return &s.bytes[c.written.agent]
}

// touchPart records an access to n bytes inside a word.
func (r *run) touchPart(a *access, s *shadow, alloc *probe.Allocation, offset uint64, n int) {
	c := r.cellAt(s, offset/4)
	if n == 4 && c.written.kind&split == 0 {
		r.touch(a, c, alloc, offset, 4)
		return
	}
	list := r.splitAt(s, c)
	for i := range n {
		r.touch(a, &list[int(offset%4)+i], alloc, offset+uint64(i), 1)
	}
}

// access is the access that is being checked and recorded.
type access struct {
	record
	writes, reads   bool
	shared          bool // in shared memory
	together        bool // copies of a warp's lanes (sink.OnCopies)
	needsProxyFence bool // a read by the asynchronous proxy, which sees a write only after a proxy fence
	view

	// The warp access that it belongs to, and the lanes of it recorded so far; nil for asynchronous operations.
	access   *probe.Access
	executed uint64
	stores   []byte // the written bytes, valid if stored is set; nil if unknown
	stored   bool
	offset   uint64 // offset of the first written byte in the allocation
}

// view is the knowledge of a thread: its clock, and its own actions up to a moment.
type view struct {
	*clock
	cta  int32
	self agent
	upTo moment
}

// happensBefore reports whether the recorded access o happens before access a.
func (r *run) happensBefore(a *access, o *record) bool {
	if a.shared && r.cluster(o.cta) != r.cluster(a.cta()) {
		return true // o is by a CTA that used this shared memory earlier
	}
	if o.cta < r.priorCTAs {
		return true
	}
	if o.agent&channelBit == 0 && o.agent.lane() >= maxWidth {
		for m := r.sets[o.agent.lane()-maxWidth]; m != 0; m &= m - 1 {
			single := *o
			single.agent = threadIndex(o.agent.warp(), bits.TrailingZeros64(m))
			if !r.happensBefore(a, &single) {
				return false
			}
		}
		return true
	}
	if !r.has(o.cta) {
		return r.operationHappensBefore(a, o)
	}
	v := &a.view
	if o.cta == v.cta && o.agent == v.self && o.moment <= v.upTo {
		return true
	}
	if o.cta == a.record.cta && o.agent == a.agent {
		return true
	}
	if n := r.lockstep; n > 0 && o.cta == v.cta && o.moment < a.moment && (o.agent|v.self)&channelBit == 0 && o.agent.warp() == v.self.warp() && o.agent.lane()/n == v.self.lane()/n {
		return true
	}
	if o.kind&coarse != 0 {
		if v.knowsSince(o.moment, v.cta) {
			return true
		}
	}
	return v.momentOf(o.cta, o.agent) >= o.moment
}

// operationHappensBefore is happensBefore for an access of another operation, which is earlier or in flight together with this one.
func (r *run) operationHappensBefore(a *access, o *record) bool {
	otherOperation := r.history.operationOf(o.cta)
	if otherOperation == nil || r.order.IsAfter(otherOperation.order) {
		return true
	}
	if o.kind&coarse != 0 && a.knowsSince(o.moment, a.view.cta) || a.momentOf(o.cta, o.agent) >= o.moment {
		return true
	}
	// A thread of a third operation, ordered after the other operation, may have released to this thread.
	end := r.first
	if r.next > r.first+r.ctas { // later operations were in flight together with this one
		end = r.next
	}
	return a.clock.before(end, func(cta int32) bool {
		if r.has(cta) {
			return false
		}
		third := r.history.operationOf(cta)
		return third == nil || third != otherOperation && third.order.IsAfter(otherOperation.order)
	})
}

// isFenced reports whether a read a by the asynchronous proxy needs no further proxy fence for access o: a
// proxy fence follows o, or o needs none.
func (r *run) isFenced(a *access, o *record) bool {
	return !r.has(o.cta) || o.kind&(proxy|coarse) != 0 || a.clock.isFenced(o.cta, o.agent, o.moment) || !r.happensBefore(a, o)
}

// writtenBytes returns the n bytes that the access writes at an offset; nil if unknown.
func (a *access) writtenBytes(offset uint64, n int) []byte {
	if !a.stored && a.access != nil && a.writes && !a.reads {
		a.stores, _ = a.access.Stored(a.stores[:0], a.agent.lane())
		a.stored = true
	}
	if i := offset - a.offset; uint64(len(a.stores)) >= i+uint64(n) {
		return a.stores[i:][:n]
	}
	return nil
}

// storedBytes returns the n bytes that the earlier access o left. A write by another lane of the same
// instruction is not in memory yet and is taken from the access.
func (a *access) storedBytes(alloc *probe.Allocation, offset uint64, n int, o *record) []byte {
	if a.access != nil && o.cta == a.record.cta && o.kind == a.kind && o.moment == a.moment && o.agent.warp() == a.agent.warp() {
		if lane := o.agent.lane(); lane < maxWidth && a.executed>>lane&1 != 0 {
			if _, to, byteOffset, ok := a.access.PlaceOf(lane); ok && to == alloc && offset-byteOffset < uint64(a.access.Length(lane)) {
				single := access{offset: byteOffset, stored: true}
				single.stores, _ = a.access.Stored(nil, lane)
				if b := single.writtenBytes(offset, n); b != nil {
					return b
				}
			}
		}
	}
	if a.access != nil {
		return a.access.MemoryBefore(alloc, offset, n)
	}
	return alloc.Data[offset : offset+uint64(n)]
}

// writesSameBytes reports whether the access writes the bytes that are already there.
func (a *access) writesSameBytes(alloc *probe.Allocation, offset uint64, n int, o *record) bool {
	b := a.writtenBytes(offset, n)
	return b != nil && string(b) == string(a.storedBytes(alloc, offset, n, o))
}

func (a *access) cta() int32 { return a.record.cta }

// allowed reports whether two accesses may be unordered: both are morally strong, i.e. strong, at scopes that
// include each other, with complete overlap (manual 8.7).
func (r *run) allowed(a *access, o *record) bool {
	return r.areMorallyStrong(&a.record, o)
}

func (r *run) areMorallyStrong(a, o *record) bool {
	return a.kind&strong != 0 && o.kind&strong != 0 && a.kind&sizeBits == o.kind&sizeBits && r.include(a.kind&scopeMask, o.kind&scopeMask, a.cta, o.cta)
}

// include reports whether both scopes, s of CTA a and t of CTA b, include both CTAs.
func (r *run) include(s, t accessKind, a, b int32) bool {
	switch narrow := min(s, t); {
	case narrow < scopeDevice && (a == anyCTA || b == anyCTA):
		return false
	case narrow == scopeCTA:
		return a == b
	case narrow == scopeCluster:
		return r.cluster(a) == r.cluster(b)
	}
	return true
}

// touch records an access in a cell and reports its races.
func (r *run) touch(a *access, c *cell, alloc *probe.Allocation, offset uint64, n int) {
	if c.written.moment != 0 && !r.orders(a, &c.written) && !r.observed(a, c) {
		r.races(a, &c.written, alloc, offset, n, true)
	}
	if a.needsProxyFence {
		r.all(&c.written, func(o *record) bool {
			fenced := r.isFenced(a, o)
			if !fenced {
				r.reportRace(a, o, alloc, offset, n, true, noFence)
			}
			return fenced
		})
	}
	if !a.writes {
		r.note(a, &c.read)
		return
	}
	if c.read.moment != 0 && !r.orders(a, &c.read) {
		r.races(a, &c.read, alloc, offset, n, false)
	}
	if a.kind&strong == 0 {
		r.drop(&c.written)
		r.drop(&c.read)
		c.written, c.read = a.record, record{}
		return
	}
	r.note(a, &c.written)
	if c.read.moment != 0 && r.coversAll(a, &c.read) {
		r.drop(&c.read)
		c.read = record{}
	}
}

// note replaces the records that the access covers, or adds the access to them.
func (r *run) note(a *access, o *record) {
	switch {
	case o.moment == 0:
		*o = a.record
	case o.kind&listedReaders == 0 && r.covers(a, o):
		*o = a.record
	case o.kind&listedReaders != 0 && r.coversAll(a, o):
		r.drop(o)
		*o = a.record
	default:
		r.add(a, o)
	}
}

// covers reports whether record o can be dropped in favour of access a: every later access that races with o
// also races with a. So a must be ordered after o, and no later access may be allowed with a that is not
// allowed with o.
func (r *run) covers(a *access, o *record) bool {
	if !r.happensBefore(a, o) {
		return false
	}
	if a.kind&strong == 0 {
		return true
	}
	if o.kind&strong != 0 && a.kind&sizeBits == o.kind&sizeBits && a.kind&scopeMask <= o.kind&scopeMask && (o.cta == a.record.cta || a.kind&scopeMask >= scopeDevice) {
		return true
	}
	if !a.shared || r.perCTAs > 1 {
		return false
	}
	k := a.clock.find(a.record.cta)
	return o.cta != a.record.cta || k != nil && k.all >= o.moment
}

// coversAll reports whether access a covers every record of a list.
func (r *run) coversAll(a *access, o *record) bool {
	if o.kind&listedReaders == 0 {
		return r.covers(a, o)
	}
	for i := int32(o.agent); i != 0; i = r.links[i].next {
		if !r.covers(a, &r.links[i].record) {
			return false
		}
	}
	return true
}

// observed reports whether each unordered write was read by a strong access that happens before a: that read
// orders the write before a (manual 8.9.5).
func (r *run) observed(a *access, c *cell) bool {
	return r.all(&c.written, func(w *record) bool {
		if r.happensBefore(a, w) || r.allowed(a, w) {
			return true
		}
		seen := false
		visit := func(z *record) bool {
			if z != w && z.moment > w.moment && r.areMorallyStrong(z, w) && r.happensBefore(a, z) && r.latestAt(&c.written, w, z) {
				seen = true
			}
			return true
		}
		r.all(&c.read, visit)
		r.all(&c.written, func(z *record) bool { return z.kind&atomic == 0 || visit(z) })
		return seen
	})
}

// latestAt reports whether only atomic operations wrote between w and z.
func (r *run) latestAt(list, w, z *record) bool {
	return r.all(list, func(x *record) bool {
		return x.moment <= w.moment || x.moment >= z.moment || x.kind&atomic != 0
	})
}

// all reports whether holds is true for a record, or for each record of a list.
func (r *run) all(o *record, holds func(o *record) bool) bool {
	switch {
	case o.moment == 0:
		return true
	case o.kind&listedReaders == 0:
		return holds(o)
	}
	for i := int32(o.agent); i != 0; i = r.links[i].next {
		if !holds(&r.links[i].record) {
			return false
		}
	}
	return true
}

// orders reports whether a record, or each record of a list, happened before the access or may be unordered to
// it.
func (r *run) orders(a *access, o *record) bool {
	if o.kind&listedReaders == 0 {
		return r.allowed(a, o) || r.happensBefore(a, o)
	}
	for i := int32(o.agent); i != 0; i = r.links[i].next {
		if l := &r.links[i].record; !r.allowed(a, l) && !r.happensBefore(a, l) {
			return false
		}
	}
	return true
}

// add appends an access to records that it does not cover.
func (r *run) add(a *access, o *record) {
	head := int32(0)
	if o.kind&listedReaders != 0 {
		head = int32(o.agent)
		for i := head; i != 0; i = r.links[i].next {
			if l := &r.links[i].record; covers(l, &a.record) {
				if l.moment < a.moment {
					l.moment, l.kind = a.moment, a.kind
				}
				return
			}
		}
		if f := &r.links[head]; f.fresh >= mostLinks && 2*f.fresh >= f.count {
			head = r.shorten(a, head)
		}
	} else {
		if covers(o, &a.record) && o.moment >= a.moment {
			return
		}
		head = r.link(*o, 0)
	}
	head = r.link(a.record, head)
	*o = record{moment: a.moment, cta: a.record.cta, agent: agent(head), kind: listedReaders}
}

// covers reports whether record o can represent a, apart from the moment.
func covers(o, a *record) bool {
	return o.cta == a.cta && o.agent == a.agent && (o.kind^a.kind)&(strong|scopeMask|sizeBits|atomic|proxy|coarse) == 0
}

// link creates a link and returns its index.
func (r *run) link(o record, next int32) int32 {
	k := link{record: o, next: next, count: 1, fresh: 1}
	if next != 0 {
		k.count, k.fresh = r.links[next].count+1, r.links[next].fresh+1
	}
	i := r.free
	if i != 0 {
		r.free = r.links[i].next
		r.links[i] = k
		return i
	}
	if n := len(r.links); n == cap(r.links) { // append would grow a long list by a quarter only
		r.links = append(make([]link, 0, 2*n), r.links...)
	}
	r.links = append(r.links, k)
	return int32(len(r.links) - 1)
}

// drop frees the list of a record.
func (h *history) drop(o *record) {
	if o.kind&listedReaders == 0 {
		return
	}
	i := int32(o.agent)
	for h.links[i].next != 0 {
		i = h.links[i].next
	}
	h.links[i].next, h.free = h.free, int32(o.agent)
}

// dropAll empties cells.
func (h *history) dropAll(list []cell) {
	for i := range list {
		h.drop(&list[i].written)
		h.drop(&list[i].read)
	}
	clear(list)
}

// copy returns a copy of a cell with lists of its own.
func (r *run) copy(c *cell) cell {
	n := *c
	for _, o := range []*record{&n.written, &n.read} {
		if o.kind&listedReaders == 0 {
			continue
		}
		var list []record
		for i := int32(o.agent); i != 0; i = r.links[i].next {
			list = append(list, r.links[i].record)
		}
		head := int32(0)
		for i := len(list) - 1; i >= 0; i-- {
			head = r.link(list[i], head)
		}
		o.agent = agent(head)
	}
	return n
}

// shorten reduces a list of records. It drops records that the access covers. Of the access's own CTA it keeps,
// for each kind of access, the latest records of two agents (in shared memory: of two agents of each warp): the
// next thread differs from at least one of them, so a race is still found. Of all other CTAs it keeps a record
// of each operation: the latest of the narrowest scope.
func (r *run) shorten(a *access, head int32) int32 {
	kept, fars := r.keptRecords[:0], r.farRecords[:0]
	width := func(o *record) accessKind { return o.kind & (strong | scopeMask) }
next:
	for i := head; i != 0; i = r.links[i].next {
		o := r.links[i].record
		switch {
		case r.covers(a, &o):
			continue
		case o.cta != a.record.cta:
			operationOf := func(k *record) *operation {
				if r.has(k.cta) {
					return r.operation
				}
				return r.history.operationOf(k.cta)
			}
			switch i := slices.IndexFunc(fars, func(k record) bool { return operationOf(&k) == operationOf(&o) }); {
			case i < 0:
				fars = append(fars, o)
			case width(&o) < width(&fars[i]) || width(&o) == width(&fars[i]) && fars[i].moment < o.moment:
				fars[i] = o
			}
			continue
		case o.kind&proxy == 0:
			same, oldest := 0, -1
			for i := range kept {
				k := &kept[i]
				if (k.kind^o.kind)&(strong|scopeMask|sizeBits|atomic|proxy) != 0 || a.shared && k.agent.warp() != o.agent.warp() {
					continue
				}
				if k.agent == o.agent {
					k.moment = max(k.moment, o.moment)
					continue next
				}
				if same++; oldest < 0 || k.moment < kept[oldest].moment {
					oldest = i
				}
			}
			if same == 2 {
				if kept[oldest].moment < o.moment {
					kept[oldest] = o
				}
				continue
			}
		}
		kept = append(kept, o)
	}
	r.keptRecords, r.farRecords = kept, fars
	r.drop(&record{kind: listedReaders, agent: agent(head)})
	head = 0
	for _, far := range fars {
		far.kind |= coarse
		head = r.link(far, head)
	}
	for i := len(kept) - 1; i >= 0; i-- {
		head = r.link(kept[i], head)
	}
	if head != 0 {
		r.links[head].fresh = 0
	}
	return head
}
