package race

// This file keeps accesses from an operation of a device to the next.

import (
	"math"
	"slices"

	"gemu/probe"
	"gemu/ptx"
)

// operation is a launch or a memory operation of the host. Its CTAs are numbered from first on, unique in the
// history; a memory operation counts as a CTA.
type operation struct {
	order   *probe.HostOrder // nil: ordered after all earlier operations and before all later operations
	first   int32
	ctas    int32
	launch  *probe.LaunchInfo // nil for a memory operation of the host
	issuers []agent           // by channel, the latest issuing thread
}

// has reports whether a CTA belongs to the operation.
func (o *operation) has(cta int32) bool { return cta >= o.first && cta-o.first < o.ctas }

// id returns the index of a CTA in its launch.
func (o *operation) id(cta int32) ptx.Dim3 {
	i, g := int(cta-o.first), o.launch.Grid
	return ptx.Dim3{X: i % g.X, Y: i / g.X % g.Y, Z: i / (g.X * g.Y)}
}

// history holds the accesses to memory of all operations that may still be in a race. Between operations it
// keeps the operations whose end the host has not observed; all other operations happened before the next
// operation.
type history struct {
	now                     moment
	next                    int32         // number of the next CTA
	operations              []*operation  // ordered operations in order of their beginning: all that may still run, and some that have ended
	lines                   map[int]*line // the operations that may still run, by line of the host order
	endedOperations         int           // number of ended operations in operations
	shadows                 map[*probe.Allocation]*shadow
	last                    [4]shadowLookup                            // a cache of recent lookups in shadows
	lastSet                 int                                        // index of the latest entry of last
	syncs                   map[*probe.Allocation]map[uint64]*variable // by offset
	links                   []link
	free                    int32 // index of the first free link
	keptRecords, farRecords []record
	sets                    []uint64
	foundSet                int            // index of the latest lookup in sets
	numbers                 map[uint64]int // index in sets, by set of lanes
}

// line is a sequence of ordered operations, the first operation first.
type line struct{ list []*operation }

// newHistory returns an empty history.
func newHistory() *history {
	return &history{
		now: 1, lines: map[int]*line{}, shadows: map[*probe.Allocation]*shadow{}, syncs: map[*probe.Allocation]map[uint64]*variable{},
		links: make([]link, 1), numbers: map[uint64]int{},
	}
}

// begin returns the history for a new operation with ctas CTAs: h if an earlier operation may overlap with it,
// else a new history.
func (h *history) begin(order *probe.HostOrder, ctas int) *history {
	if order == nil || h == nil || int(h.next)+ctas > math.MaxInt32 || h.now > math.MaxUint32/2 {
		return newHistory() // CTA numbers or moments are used up after some thousand million
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

// add adds a new operation to the history.
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
}

// forgetGone drops the accesses to allocations that no longer exist. No launch may be in flight.
func (h *history) forgetGone() {
	for a := range h.shadows {
		if a.Freed || a.Space() == ptx.Shared {
			h.forget(a)
		}
	}
}

// forget drops the accesses to an allocation that no longer exists.
func (h *history) forget(a *probe.Allocation) {
	if s := h.shadows[a]; s != nil {
		h.dropAccesses(s)
		delete(h.shadows, a)
		h.last = [len(h.last)]shadowLookup{}
	}
	delete(h.syncs, a)
}

// dropAccesses drops the accesses to an allocation, recorded or deferred.
func (h *history) dropAccesses(s *shadow) {
	for _, p := range s.pages {
		h.dropAll(p)
	}
	h.dropAll(s.whole)
	for i := range s.bytes {
		h.dropAll(s.bytes[i][:])
	}
	clear(s.pages)
	s.whole, s.bytes = nil, nil
	s.retired, s.reopened = nil, false
	s.backlog.clear()
}

// isAfterAll reports whether all earlier operations are ordered before this operation.
func (r *run) isAfterAll() bool { return r.priorCTAs == r.first }

// operationOf returns the operation of a CTA; nil if it has ended and was removed.
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

// allBefore returns the number below which all CTAs belong to operations ordered before this operation.
func (h *history) allBefore(order *probe.HostOrder, first int32) int32 {
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

// shadow returns the shadow of an allocation and creates it if necessary.
func (h *history) shadow(a *probe.Allocation) *shadow {
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
