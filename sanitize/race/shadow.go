package race

// This file is who has accessed memory: shadow memory.

import (
	"math/bits"

	"gemu/interp"
)

// record is an access, or the head of a list of several that do not know of each other.
type record struct {
	at   moment // 0: there is none
	cta  int32
	who  agent
	what what
}

// what is where in the program an access is, and of what kind: the index of the instruction
// above the flags. That of a list is the index of its first link.
type what uint32

const (
	scopeMask what = 3      // ptx scopes, of a strong access
	strong    what = 1 << 2 // volatile, relaxed, acquire, release or atomic (manual 8.3)
	atomic    what = 1 << 3 // a read and a write at once
	listed    what = 1 << 4
	coarse    what = 1 << 5 // it stands for those of many CTAs that went before
	split     what = 1 << 6 // of a word: its bytes have cells of their own
	proxy     what = 1 << 7 // by an asynchronous operation
	indexBits      = 8
)

func (r *record) index() int { return int(r.what >> indexBits) }

// cell is the accesses to 4 bytes, or to one.
type cell struct {
	written, read record
}

// link is one of a list.
type link struct {
	record
	next  int32 // 0: it is the last
	count int32 // of those from it on
}

// maxWidth is the most lanes that a warp may have.
const maxWidth = 64

// mostLinks is how long lists become before those of foreign CTAs are one.
const mostLinks = 32

// shadow is the accesses to an allocation.
type shadow struct {
	words []cell
	bytes [][4]cell // of words that are split
}

func newShadow(a *interp.Allocation) *shadow {
	return &shadow{words: make([]cell, (len(a.Data)+3)/4)}
}

// splitAt gives the bytes of a word cells of their own.
func (s *shadow) splitAt(word int) *[4]cell {
	c := &s.words[word]
	if c.written.what&split == 0 {
		s.bytes = append(s.bytes, [4]cell{*c, *c, *c, *c})
		*c = cell{written: record{what: split | what(len(s.bytes)-1)<<indexBits}}
	}
	return &s.bytes[c.written.index()]
}

// each calls do with the cells of n bytes at an offset, and the bytes that they are of.
func (s *shadow) each(off uint64, n int, do func(c *cell, off uint64, n int)) {
	for n > 0 {
		word, in := int(off/4), int(off%4)
		c := &s.words[word]
		take := min(4-in, n)
		if take == 4 && c.written.what&split == 0 {
			do(c, off, 4)
		} else {
			list := s.splitAt(word)
			for i := range take {
				do(&list[in+i], off+uint64(i), 1)
			}
		}
		off, n = off+uint64(take), n-take
	}
}

// access is what somebody does to memory.
type access struct {
	record
	writes, reads bool
	shared        bool // the memory is of a cluster
	view
	stores []byte // what it writes; nil if that is not known
	from   uint64 // … and where in the allocation

	// What it is part of, and the lanes whose turn that is.
	by    *interp.Access
	lanes uint64
}

// view is what somebody knows: a clock, and what a thread has done itself up to a moment.
type view struct {
	*clock
	cta  int32
	self agent
	till moment
}

// knows reports whether an access has happened before.
func (r *run) knows(a *access, o *record) bool {
	if a.shared && r.cluster(o.cta) != r.cluster(a.cta()) {
		return true // of a CTA that had this memory before
	}
	if o.who&channelBit == 0 && o.who.lane() >= maxWidth {
		for m := r.sets[o.who.lane()-maxWidth]; m != 0; m &= m - 1 {
			one := *o
			one.who = threadOf(o.who.warp(), bits.TrailingZeros64(m))
			if !r.knows(a, &one) {
				return false
			}
		}
		return true
	}
	v := &a.view
	if o.cta == v.cta && o.who == v.self && o.at <= v.till {
		return true
	}
	if o.cta == a.record.cta && o.who == a.who {
		return true
	}
	if n := r.lockstep; n > 0 && o.cta == v.cta && o.at < a.at && (o.who|v.self)&channelBit == 0 && o.who.warp() == v.self.warp() && o.who.lane()/n == v.self.lane()/n {
		return true
	}
	if o.what&coarse != 0 {
		for i := range v.ctas() {
			if k := &v.clock.ctas[i]; k.cta != v.cta && k.latest() >= o.at {
				return true
			}
		}
	}
	return v.of(o.cta, o.who) >= o.at
}

// part is what the access writes to n bytes at an offset.
func (a *access) part(off uint64, n int) []byte {
	if i := off - a.from; uint64(len(a.stores)) >= i+uint64(n) {
		return a.stores[i:][:n]
	}
	return nil
}

// same reports whether that is what a write before has left there: one of another lane by the same
// instruction is not in memory yet.
func (a *access) same(in *interp.Allocation, off uint64, n int, o *record) bool {
	b := a.part(off, n)
	if b == nil {
		return false
	}
	if a.by != nil && o.cta == a.record.cta && o.what == a.what && o.at == a.at && o.who.warp() == a.who.warp() {
		if lane := o.who.lane(); lane < a.who.lane() && a.lanes>>lane&1 != 0 {
			if _, to, at, ok := a.by.Place(lane); ok && to == in && off-at < uint64(a.by.Length(lane)) {
				one := access{from: at}
				one.stores, _ = a.by.Stored(nil, lane)
				return string(one.part(off, n)) == string(b)
			}
		}
	}
	return string(b) == string(in.Data[off:off+uint64(n)])
}

func (a *access) cta() int32 { return a.record.cta }

func (v *view) ctas() []ctaKnown {
	if v.clock == nil {
		return nil
	}
	return v.clock.ctas
}

// allowed reports whether two accesses may be unordered: both only read, or are strong, at
// scopes that include each other (manual 8.8, morally strong).
func (r *run) allowed(a *access, o *record) bool {
	return a.what&strong != 0 && o.what&strong != 0 && r.include(a.what&scopeMask, o.what&scopeMask, a.cta(), o.cta)
}

// include reports whether scopes include each other's CTAs.
func (r *run) include(s, t what, a, b int32) bool {
	switch min(s, t) {
	case scopeCTA:
		return a == b
	case scopeCluster:
		return r.cluster(a) == r.cluster(b)
	}
	return true
}

// touch notes an access to a cell, and tells of those that it is in a race with.
func (r *run) touch(a *access, c *cell, in *interp.Allocation, off uint64, n int) {
	if c.written.at != 0 && !r.orders(a, &c.written) {
		r.races(a, &c.written, in, off, n, true)
	}
	if a.writes {
		if c.read.at != 0 && !r.orders(a, &c.read) {
			r.races(a, &c.read, in, off, n, false)
		}
		if a.what&strong == 0 || r.knowsAll(a, &c.written) {
			c.written = a.record
		} else {
			r.add(a, &c.written)
		}
		if a.what&strong == 0 || r.knowsAll(a, &c.read) {
			c.read = record{}
		}
		return
	}
	switch o := &c.read; {
	case o.at == 0 || o.at == a.at && o.cta == a.record.cta && o.who == a.who:
		*o = a.record
	case o.what&listed == 0 && r.knows(a, o):
		*o = a.record
	default:
		r.add(a, o)
	}
}

// orders reports whether a record, or all of a list, happened before an access or may be
// unordered to it.
func (r *run) orders(a *access, o *record) bool {
	if o.what&listed == 0 {
		return r.knows(a, o) || r.allowed(a, o)
	}
	for i := o.index(); i != 0; i = int(r.links[i].next) {
		if l := &r.links[i].record; !r.knows(a, l) && !r.allowed(a, l) {
			return false
		}
	}
	return true
}

// knowsAll reports whether a record, or all of a list, happened before an access.
func (r *run) knowsAll(a *access, o *record) bool {
	if o.at == 0 {
		return true
	}
	if o.what&listed == 0 {
		return r.knows(a, o)
	}
	for i := o.index(); i != 0; i = int(r.links[i].next) {
		if !r.knows(a, &r.links[i].record) {
			return false
		}
	}
	return true
}

// add puts an access to those of a record, which do not know of it.
func (r *run) add(a *access, o *record) {
	head := int32(0)
	if o.what&listed != 0 {
		head = int32(o.index())
		first := &r.links[head]
		if first.record == a.record {
			return
		}
		if first.count >= mostLinks {
			head = r.shorten(a, head)
		}
	} else {
		head = r.link(*o, 0)
	}
	head = r.link(a.record, head)
	*o = record{at: a.at, cta: a.record.cta, who: a.who, what: listed | what(head)<<indexBits}
}

// link is a list that begins with a record: one that there is, if there is one.
func (r *run) link(o record, next int32) int32 {
	k := link{record: o, next: next}
	h := (uint64(o.at)*0x9e3779b1 ^ uint64(o.who)*0x85ebca6b ^ uint64(uint32(o.cta))*0xc2b2ae35 ^ uint64(o.what)*0x27d4eb2f ^ uint64(next)*0x165667b1)
	slot := &r.recent[(h^h>>29)%uint64(len(r.recent))]
	if i := *slot; i != 0 && r.links[i].record == o && r.links[i].next == next {
		return i
	}
	k.count = 1
	if next != 0 {
		k.count += r.links[next].count
	}
	r.links = append(r.links, k)
	*slot = int32(len(r.links) - 1)
	return *slot
}

// shorten leaves out what an access knows of a list, and makes one of those of other CTAs.
func (r *run) shorten(a *access, head int32) int32 {
	var kept []record
	var far record
	for i := head; i != 0; i = r.links[i].next {
		o := r.links[i].record
		switch {
		case r.knows(a, &o):
		case o.cta == a.record.cta:
			kept = append(kept, o)
		case far.at < o.at:
			far = o
		}
	}
	head = 0
	if far.at != 0 {
		far.what |= coarse
		head = r.link(far, 0)
	}
	for i := len(kept) - 1; i >= 0; i-- {
		head = r.link(kept[i], head)
	}
	return head
}
