package kim

// This file has the parts of the machines that count cycles: a timing wheel, reservations of register banks, and a cache
// with lines under way.

import (
	"math/bits"
	"slices"

	"gemu/machine/cache"
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

// lineCache is a cache whose lines arrive some cycles after their request. It replaces the least recently used line.
type lineCache struct {
	MSHRs
	lines    *cache.Lines[cachedLine]
	last     cache.Access // reused: an access that a policy is given is on the heap
	arrivals []int64      // cycles in which the lines under way arrive; empty without a limit
}

// cachedLine is the state of a line.
type cachedLine struct {
	ready    int64 // cycle from which on its data is available
	requests int32 // requests since the line was requested, including the first
	dirty    bool
}

// newLineCache returns an empty cache.
func newLineCache(sets, ways int, limit MSHRs) lineCache {
	return lineCache{MSHRs: limit, lines: cache.New[cachedLine](cache.Shape{Sets: sets, Ways: ways}, cache.LRU)}
}

// access returns a line, and whether it was present. If not, it is inserted, and evicted is called with the line that
// leaves a full set.
func (c *lineCache) access(line uint32, evicted func(line uint64, old *cachedLine)) (l *cachedLine, hit bool) {
	c.last.Line = uint64(line)
	if l = c.lines.Access(&c.last); l != nil {
		return l, true
	}
	return c.lines.Insert(&c.last, evicted), false
}

// admit returns the first cycle from cycle on in which the cache can accept a request for line l, which access has
// returned. A request for a line under way joins the requests for it; a request that misses needs room for another
// line. Cycles of calls must not fall.
func (c *lineCache) admit(l *cachedLine, hit bool, cycle int64) int64 {
	switch {
	case c.Lines == 0:
	case hit && l.ready <= cycle:
	case hit && int(l.requests) < c.Requests:
		l.requests++
	case hit:
		return l.ready
	default:
		l.requests = 1
		c.arrivals = slices.DeleteFunc(c.arrivals, func(arrival int64) bool { return arrival <= cycle })
		if len(c.arrivals) == c.Lines {
			cycle = slices.Min(c.arrivals)
		}
	}
	return cycle
}

// request notes that line l is under way until cycle ready.
func (c *lineCache) request(l *cachedLine, ready int64) {
	l.ready = ready
	if c.Lines > 0 {
		c.arrivals = append(c.arrivals, ready)
	}
}
