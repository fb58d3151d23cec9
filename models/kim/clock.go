package kim

// This file has the parts of the machines that count cycles: a timing wheel, reservations of register banks, a cache, the
// lines under way to a cache.

import (
	"math/bits"
	"slices"
)

// horizon is the number of cycles that wheels and ports look ahead, a power of two.
const horizon = 1024

// neverCycle is later than all cycles.
const neverCycle = 1 << 62

// timingWheel holds warps that wake in a later cycle. A warp that wakes beyond the horizon is woken at the horizon.
type timingWheel struct {
	warps    [horizon]uint64
	nonEmpty [horizon / 64]uint64 // cycles with warps
}

// add makes a warp wake in a cycle that is not before now. now and cycle must be multiples of step.
func (h *timingWheel) add(now, cycle, step int64, warp int) {
	if cycle >= now+horizon {
		cycle = now + (horizon-1)/step*step
	}
	i := cycle % horizon
	h.warps[i] |= 1 << warp
	h.nonEmpty[i/64] |= 1 << (i % 64)
}

// remove returns the warps that wake in a cycle, and removes them.
func (h *timingWheel) remove(cycle int64) (warps uint64) {
	i := cycle % horizon
	warps, h.warps[i] = h.warps[i], 0
	h.nonEmpty[i/64] &^= 1 << (i % 64)
	return warps
}

// nextCycle returns the first cycle from now on in which a warp wakes; neverCycle if there is none.
func (h *timingWheel) nextCycle(now int64) int64 {
	first := now % horizon
	word := h.nonEmpty[first/64] >> (first % 64)
	if word != 0 {
		return now + int64(bits.TrailingZeros64(word))
	}
	cycle := now + 64 - first%64
	for range len(h.nonEmpty) {
		if word := h.nonEmpty[cycle%horizon/64]; word != 0 {
			return cycle + int64(bits.TrailingZeros64(word))
		}
		cycle += 64
	}
	return neverCycle
}

// ports is the reservations of register banks, up to the horizon.
type ports struct {
	reserved [horizon / 64][registerBanks]uint64
	now      int64
}

// advance forgets the cycles before now.
func (p *ports) advance(now int64) {
	for n := min(now/64-p.now/64, horizon/64); n > 0; n-- {
		p.reserved[(now/64-n)%(horizon/64)] = [registerBanks]uint64{}
	}
	p.now = now
}

// reserve reserves a bank in its first free cycle that is not before cycle and now, and returns that cycle. Beyond
// the horizon all cycles are free.
func (p *ports) reserve(bank int, cycle int64) int64 {
	for cycle < p.now/64*64+horizon {
		word := &p.reserved[cycle/64%(horizon/64)][bank]
		if free := ^*word >> (cycle % 64); free != 0 {
			cycle += int64(bits.TrailingZeros64(free))
			*word |= 1 << (cycle % 64)
			return cycle
		}
		cycle += 64 - cycle%64
	}
	return cycle
}

// cache is lines in sets with least-recently-used replacement.
type cache struct {
	sets, ways uint32
	lines      []cached
	clock      int64
}

// cached is a line; its data is available from cycle ready on.
type cached struct {
	line  uint32
	valid bool
	dirty bool
	used  int64
	ready int64

	requests int // requests since the line was requested, including the first
}

func newCache(sets, ways uint32) cache {
	return cache{sets: sets, ways: ways, lines: make([]cached, sets*ways)}
}

// find returns the entry of a line, and whether the line was present. If not, the line takes the place of evicted.
func (c *cache) find(l uint32) (e *cached, evicted cached, hit bool) {
	c.clock++
	at := l % c.sets * c.ways
	set := c.lines[at : at+c.ways]
	e = &set[0]
	for i := range set {
		switch o := &set[i]; {
		case o.valid && o.line == l:
			o.used = c.clock
			return o, cached{}, true
		case o.used < e.used:
			e = o
		}
	}
	evicted = *e
	*e = cached{line: l, valid: true, used: c.clock}
	return e, evicted, false
}

// underWay is the lines under way to a cache.
type underWay struct {
	MSHRs
	ready []int64 // cycles in which they arrive
}

// admit returns the first cycle from cycle on in which the cache can accept a request for the line e. A request for a
// line under way joins the requests for it; a request that misses needs room for another line. Cycles of calls must not
// fall.
func (u *underWay) admit(e *cached, hit bool, cycle int64) int64 {
	switch {
	case u.Lines == 0:
	case hit && e.ready <= cycle:
	case hit && e.requests < u.Requests:
		e.requests++
	case hit:
		return e.ready
	default:
		e.requests = 1
		u.forget(cycle)
		if len(u.ready) == u.Lines {
			cycle = slices.Min(u.ready)
		}
	}
	return cycle
}

// add adds a line that arrives in a cycle.
func (u *underWay) add(ready int64) {
	if u.Lines > 0 {
		u.ready = append(u.ready, ready)
	}
}

// forget forgets the lines that have arrived.
func (u *underWay) forget(cycle int64) {
	u.ready = slices.DeleteFunc(u.ready, func(ready int64) bool { return ready <= cycle })
}
