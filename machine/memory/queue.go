package memory

import "math/bits"

// arrival is a packet at a place of the system, from a tick on.
type arrival struct {
	packet int32
	to     int32 // destination, and bytes on the way to it, at a source of a network
	bytes  int32
	ready  int64
}

// queue is a queue of values in the order of their arrival.
type queue[T any] struct {
	ring []T // a power of two places
	from int // place of the first
	n    int // number of values
}

// arrivals is a queue of packets.
type arrivals struct{ queue[arrival] }

// ready returns the tick from which on the first packet is there; Never without one.
func (q *arrivals) ready() int64 {
	if q.n == 0 {
		return Never
	}
	return q.head().ready
}

// insert adds a packet before those that are there later.
func (q *arrivals) insert(a arrival) {
	q.push(a)
	mask := len(q.ring) - 1
	for i := q.n - 1; i > 0; i-- {
		before, after := &q.ring[(q.from+i-1)&mask], &q.ring[(q.from+i)&mask]
		if before.ready <= after.ready {
			break
		}
		*before, *after = *after, *before
	}
}

func (q *queue[T]) head() *T { return &q.ring[q.from] }

func (q *queue[T]) push(v T) {
	if q.n == len(q.ring) {
		ring := make([]T, max(4, 2*q.n))
		k := copy(ring, q.ring[q.from:])
		copy(ring[k:], q.ring[:q.from])
		q.ring, q.from = ring, 0
	}
	q.ring[(q.from+q.n)&(len(q.ring)-1)] = v
	q.n++
}

func (q *queue[T]) pop() T {
	v := q.ring[q.from]
	q.from = (q.from + 1) & (len(q.ring) - 1)
	q.n--
	return v
}

// wheel has the next event of each part of a kind, in cycles of its clock. Events of the next 64 cycles are in slots, so that no search is
// needed.
type wheel struct {
	period int64
	now    int64        // no event is before this cycle
	at     []int64      // cycle of the next event, by part; Never: none
	slots  [64][]uint64 // parts, a bit each, by the last digits of the cycle
	busy   uint64       // slots that may have parts
	near   int64        // no event that is not in a slot is before this cycle
}

func newWheel(parts int, period int64) wheel {
	w := wheel{period: period, at: make([]int64, parts), near: Never}
	for i := range w.at {
		w.at[i] = Never
	}
	for i := range w.slots {
		w.slots[i] = make([]uint64, (parts+63)/64)
	}
	return w
}

// schedule has a part act at the first cycle from a tick on, or earlier if it has an earlier event.
func (w *wheel) schedule(part int, tick int64) {
	cycle := max((tick+w.period-1)/w.period, w.now)
	old := w.at[part]
	if cycle >= old {
		return
	}
	if old < w.now+64 {
		w.slots[old&63][part/64] &^= 1 << (part % 64)
	}
	w.at[part] = cycle
	w.insert(part, cycle)
}

func (w *wheel) insert(part int, cycle int64) {
	if cycle >= w.now+64 {
		w.near = min(w.near, cycle)
		return
	}
	w.slots[cycle&63][part/64] |= 1 << (part % 64)
	w.busy |= 1 << (cycle & 63)
}

// next returns the tick of the next event; Never if there is none.
func (w *wheel) next() int64 {
	for w.busy != 0 {
		cycle := w.now + int64(bits.TrailingZeros64(bits.RotateLeft64(w.busy, -int(w.now&63))))
		for _, word := range w.slots[cycle&63] {
			if word != 0 {
				return cycle * w.period
			}
		}
		w.busy &^= 1 << (cycle & 63)
	}
	if w.near == Never {
		return Never
	}
	w.advance(w.near * w.period)
	if w.busy == 0 {
		return Never
	}
	return w.next()
}

// advance notes that no event is before a tick.
func (w *wheel) advance(tick int64) {
	w.now = max(w.now, (tick+w.period-1)/w.period)
	if w.near >= w.now+64 {
		return
	}
	w.near = Never
	for part, cycle := range w.at {
		if cycle != Never {
			w.insert(part, cycle)
		}
	}
}

// take returns the first part with an event at a tick from part first on, and removes the event; -1 if there is none.
func (w *wheel) take(tick int64, first int) int {
	cycle := tick / w.period
	slot := w.slots[cycle&63]
	mask := ^uint64(0) << (first % 64)
	for i := first / 64; i < len(slot); i++ {
		if word := slot[i] & mask; word != 0 {
			part := i*64 + bits.TrailingZeros64(word)
			slot[i] &^= 1 << (part % 64)
			w.at[part] = Never
			return part
		}
		mask = ^uint64(0)
	}
	return -1
}
