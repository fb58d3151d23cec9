package cache

// This file has the policies that keep chosen lines: those of the Locality Descriptor and of XMem (Vijaykumar, "Enhancing
// Programmability, Portability, and Performance with Rich Cross-Layer Abstractions", 2019, sections 3.3 and 2.5).

import "math"

// Priority is how a cache treats a line.
type Priority uint8

// The priorities.
const (
	Normal  Priority = iota // as other lines
	SoftPin                 // the line leaves only when its set has no normal line
	HardPin                 // the line leaves only when its set has hard-pinned lines alone, and then only from way 0
	Bypass                  // the line does not enter the cache
)

// PinPeriod is the number of accesses after which a cache forgets the priorities of its lines. The thesis has a timer and no period.
const PinPeriod = 1 << 15

// pinned replaces the least recently used line of the lowest priority.
type pinned struct {
	lru
	priorityOf func(*Access) Priority
	priorities []Priority // by set and way
	left       int        // accesses until the priorities are forgotten
}

// Pinned returns a policy that treats lines by a priority, and lines of the same priority by LRU. When all lines of a set are pinned hard, the line of
// way 0 leaves, so that the others stay. Every PinPeriod accesses all lines become normal; an access does not pin them again.
func Pinned(s Shape, priorityOf func(*Access) Priority) Policy {
	return &pinned{lru: *LRU(s).(*lru), priorityOf: priorityOf, priorities: make([]Priority, s.Sets*s.Ways), left: PinPeriod}
}

// Admits reports whether the line of an access enters the cache.
func (p *pinned) Admits(a *Access) bool { return p.priorityOf(a) != Bypass }

// count counts an access.
func (p *pinned) count() {
	if p.left--; p.left == 0 {
		p.left = PinPeriod
		clear(p.priorities)
	}
}

func (p *pinned) Hit(set, way int, a *Access) {
	p.count()
	p.lru.Hit(set, way, a)
}

func (p *pinned) Fill(set, way int, a *Access) {
	p.count()
	p.lru.Hit(set, way, a)
	p.priorities[set*p.ways+way] = p.priorityOf(a)
}

// Victim returns the least recently used line of the lowest priority in the set.
func (p *pinned) Victim(set int, _ *Access) (way int, bypass bool) {
	used, priorities := p.used[set*p.ways:][:p.ways], p.priorities[set*p.ways:][:p.ways]
	lowest, oldest := HardPin, uint64(math.MaxUint64)
	for w, q := range priorities {
		if q < lowest || q == lowest && used[w] < oldest {
			lowest, oldest, way = q, used[w], w
		}
	}
	if lowest == HardPin {
		return 0, false
	}
	return way, false
}

// Reserved is DRRIP with lines that do not leave.
type Reserved struct {
	*rrip
	reserve func(*Access) bool
	kept    []bool // by set and way
}

// NewReserved returns a policy that keeps the lines for which reserve is true until Release. Other lines are replaced by DRRIP; if all lines of a set are
// kept, a new line does not enter the cache. Section 2.5 of the thesis says which data are kept, not how; this is one reading.
func NewReserved(s Shape, reserve func(*Access) bool) *Reserved {
	return &Reserved{rrip: DRRIP(s).(*rrip), reserve: reserve, kept: make([]bool, s.Sets*s.Ways)}
}

// Release lets all lines leave again. A line that is accessed is kept again if reserve is true for it.
func (p *Reserved) Release() { clear(p.kept) }

// Keeps reports whether the line of a way stays until Release.
func (p *Reserved) Keeps(set, way int) bool { return p.kept[set*p.shape.Ways+way] }

// Hit notes an access, and whether the line is kept.
func (p *Reserved) Hit(set, way int, a *Access) {
	p.rrip.Hit(set, way, a)
	p.kept[set*p.shape.Ways+way] = p.reserve(a)
}

// Fill notes a new line, and whether it is kept. A kept line is expected to be accessed again soon.
func (p *Reserved) Fill(set, way int, a *Access) {
	p.rrip.Fill(set, way, a)
	if i := set*p.shape.Ways + way; p.reserve(a) {
		p.kept[i], p.predictions[i] = true, near
	} else {
		p.kept[i] = false
	}
}

// Victim returns the first way with the prediction "distant" whose line is not kept. Predictions of kept lines do not change.
func (p *Reserved) Victim(set int, _ *Access) (way int, bypass bool) {
	first := set * p.shape.Ways
	predictions, kept := p.predictions[first:][:p.shape.Ways], p.kept[first:][:p.shape.Ways]
	for {
		all := true
		for w, prediction := range predictions {
			if kept[w] {
				continue
			}
			if all = false; prediction == distant {
				return w, false
			}
		}
		if all {
			return 0, true
		}
		for w := range predictions {
			if !kept[w] {
				predictions[w]++
			}
		}
	}
}
