package race

// This file is what stays known from one operation of a device to the next.

import (
	"math"
	"slices"

	"gemu/interp"
	"gemu/ptx"
)

// operation is a launch, or something that the host has the device do to memory. Its CTAs have
// numbers of their own, from first on; the host's is one.
type operation struct {
	order   *interp.HostOrder // nil: after all before it, and before all after it
	first   int32
	ctas    int32
	launch  *interp.LaunchInfo // nil if it is the host's
	issuers []agent            // by channel, the thread that has issued last
}

// id is the index of a CTA of a launch.
func (o *operation) id(cta int32) interp.Dim3 {
	i, g := int(cta-o.first), o.launch.Grid
	return interp.Dim3{X: i % g.X, Y: i / g.X % g.Y, Z: i / (g.X * g.Y)}
}

// history is who has accessed memory. Between operations it has the accesses of those that the host
// does not know to be over: whatever comes next comes after the others.
type history struct {
	now                     moment
	next                    int32         // the number of the next CTA
	operations              []*operation  // with an order that are not known to be over, and perhaps others, the first first
	lines                   map[int]*line // those of them that are not, by line of the order
	endedOperations         int           // how many of operations are
	shadows                 map[*interp.Allocation]*shadow
	last                    [4]shadowLookup                             // the ones looked up last
	lastSet                 int                                         // … the last of them
	syncs                   map[*interp.Allocation]map[uint64]*variable // by offset
	links                   []link
	free                    int32 // the first of the links that are free
	keptRecords, farRecords []record
	sets                    []uint64
	foundSet                int            // the one looked up last
	numbers                 map[uint64]int // of sets of lanes
}

// line is operations that come one after the other, the first first.
type line struct{ list []*operation }

// newHistory is one without accesses.
func newHistory() *history {
	return &history{
		now: 1, lines: map[int]*line{}, shadows: map[*interp.Allocation]*shadow{}, syncs: map[*interp.Allocation]map[uint64]*variable{},
		links: make([]link, 1), numbers: map[uint64]int{},
	}
}

// begin is the history for an operation of so many CTAs: one of its own, unless there are others
// that may run beside it.
func (h *history) begin(order *interp.HostOrder, ctas int) *history {
	if order == nil || h == nil || int(h.next)+ctas > math.MaxInt32 || h.now > math.MaxUint32/2 {
		return newHistory() // numbers have run out after some thousand millions
	}
	for number, l := range h.lines {
		n := 0
		for n < len(l.list) && order.EndedBefore(l.list[n].order) {
			n++
		}
		h.endedOperations += n
		if l.list = l.list[n:]; len(l.list) == 0 {
			delete(h.lines, number)
		}
	}
	if len(h.lines) == 0 {
		return newHistory()
	}
	if 2*h.endedOperations > len(h.operations) {
		h.operations = slices.DeleteFunc(h.operations, func(o *operation) bool { return order.EndedBefore(o.order) })
		h.endedOperations = 0
	}
	return h
}

// add is for an operation that has run.
func (h *history) add(o *operation) {
	if o.order == nil {
		return
	}
	h.operations = append(h.operations, o)
	l := h.lines[o.order.Line]
	if l == nil {
		l = &line{}
		h.lines[o.order.Line] = l
	}
	l.list = append(l.list, o)
	for a := range h.shadows {
		if a.Freed || a.Space() == ptx.Shared {
			h.forget(a)
		}
	}
}

// forget is for memory that is no more.
func (h *history) forget(a *interp.Allocation) {
	if s := h.shadows[a]; s != nil {
		for _, p := range s.pages {
			h.dropAll(p)
		}
		h.dropAll(s.whole)
		for i := range s.bytes {
			h.dropAll(s.bytes[i][:])
		}
		delete(h.shadows, a)
		h.last = [len(h.last)]shadowLookup{}
	}
	delete(h.syncs, a)
}

// operationOf is the operation that a CTA was of; nil if that is over.
func (h *history) operationOf(cta int32) *operation {
	i, ok := slices.BinarySearchFunc(h.operations, cta, func(o *operation, cta int32) int { return int(o.first) - int(cta) })
	if !ok {
		i--
	}
	if i < 0 || cta-h.operations[i].first >= h.operations[i].ctas {
		return nil
	}
	return h.operations[i]
}

// allBefore is up to which number all CTAs are of operations that come before one.
func (h *history) allBefore(order *interp.HostOrder, first int32) int32 {
	if order == nil {
		return first
	}
	for _, l := range h.lines {
		i, _ := slices.BinarySearchFunc(l.list, true, func(o *operation, _ bool) int {
			if order.IsAfter(o.order) {
				return -1
			}
			return 1
		})
		if i < len(l.list) {
			first = min(first, l.list[i].first)
		}
	}
	return first
}

// shadow is that of an allocation.
func (h *history) shadow(a *interp.Allocation) *shadow {
	for i := range h.last {
		if l := &h.last[i]; l.alloc == a {
			return l.shadow
		}
	}
	s := h.shadows[a]
	if s == nil {
		s = newShadow(a)
		h.shadows[a] = s
	}
	h.lastSet = (h.lastSet + 1) % len(h.last)
	h.last[h.lastSet].alloc, h.last[h.lastSet].shadow = a, s
	return s
}
