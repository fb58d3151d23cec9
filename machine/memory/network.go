package memory

import (
	"math/bits"
	"slices"
)

// network is a direction of the crossbar. A packet takes the port of its source and that of its destination at the same time.
type network struct {
	places       int // of the queue of a destination, packets on the way to it included; 0: no limit
	sources      []source
	destinations []destination
	active       []uint64 // sources with packets, a bit each
	zones        int
	links        []int64 // tick from which on the link from a zone to another is free
	chosen       []int   // destinations with a candidate in a step
	counts       *Counts
}

// source is a port at which packets enter.
type source struct {
	queue arrivals
	free  int64 // tick from which on the port is free
}

// destination is a port at which packets leave.
type destination struct {
	queue arrivals // packets that have arrived, and those on the way
	free  int64    // tick from which on the port is free
	last  int      // source of the latest packet
	best  int      // in a step: its best candidate, plus 1
}

func newNetwork(sources, destinations, places, zones int, counts *Counts) network {
	n := network{places: places, sources: make([]source, sources), destinations: make([]destination, destinations), active: make([]uint64, (sources+63)/64), zones: max(zones, 1), counts: counts}
	n.links = make([]int64, n.zones*n.zones)
	for i := range n.destinations {
		n.destinations[i].last = sources - 1
	}
	return n
}

// push adds a packet to the queue of a source.
func (n *network) push(source int, a arrival) {
	n.sources[source].queue.push(a)
	n.active[source/64] |= 1 << (source % 64)
}

// step starts transfers at a tick of the network. Each free destination whose queue has a place takes the first packet of a free source.
// If several sources have one, the next source after that of its latest packet is chosen. Destinations choose in the order of their
// numbers, which matters for links between zones only. started is called with the source and the destination of each transfer and the
// tick of its arrival. step returns the tick of its next event; a destination without a place has none.
func (n *network) step(tick, period int64, t *Spec, started func(from, to int, ready int64)) (next int64) {
	next = Never
	n.chosen = n.chosen[:0]
	for w, word := range n.active {
		for ; word != 0; word &= word - 1 {
			i := w*64 + bits.TrailingZeros64(word)
			s := &n.sources[i]
			head := s.queue.head()
			to := int(head.to)
			d := &n.destinations[to]
			if n.places > 0 && d.queue.n >= n.places {
				continue
			}
			if at := max(head.ready, s.free, d.free); at > tick {
				next = min(next, at)
				continue
			}
			if l := n.link(i, to); l != nil && *l > tick {
				next = min(next, *l)
				continue
			}
			if d.best == 0 {
				n.chosen = append(n.chosen, to)
				d.best = i + 1
			} else if n.after(i, d.last) < n.after(d.best-1, d.last) {
				d.best = i + 1
			}
		}
	}
	if n.zones > 1 {
		slices.Sort(n.chosen)
	}
	for _, to := range n.chosen {
		d := &n.destinations[to]
		i := d.best - 1
		d.best = 0
		l := n.link(i, to)
		if l != nil && *l > tick { // a destination before it has taken the link
			next = tick + period // for its other candidates
			continue
		}
		s := &n.sources[i]
		a := s.queue.pop()
		end := tick + cycles(int(a.bytes), t.NetBytes)*period
		a.ready = end + int64(t.NetLatency)*period
		if l != nil {
			*l = tick + cycles(int(a.bytes), t.LinkBytes)*period
			a.ready += int64(t.LinkLatency) * period
			n.counts.LinkBytes += int64(a.bytes)
		}
		s.free, d.free, d.last = end, end, i
		d.queue.insert(a) // one from another zone is longer on the way
		if s.queue.n == 0 {
			n.active[i/64] &^= 1 << (i % 64)
		}
		next = min(next, end)
		started(i, to, a.ready)
	}
	if next == Never {
		return Never
	}
	return edge(next, period)
}

// cycles returns the number of cycles that a number of bytes takes, at least 1.
func cycles(bytes, perCycle int) int64 { return int64(max(1, (bytes+perCycle-1)/perCycle)) }

// after returns the distance from a source to a source after it, in rotation.
func (n *network) after(source, last int) int {
	if source > last {
		return source - last
	}
	return source - last + len(n.sources)
}

// zone returns the zone of a port of count ports.
func (n *network) zone(port, count int) int { return port * n.zones / count }

// link returns the link between the zones of a source and a destination; nil if it is the same zone.
func (n *network) link(source, to int) *int64 {
	if n.zones == 1 {
		return nil
	}
	a, b := n.zone(source, len(n.sources)), n.zone(to, len(n.destinations))
	if a == b {
		return nil
	}
	return &n.links[a*n.zones+b]
}
