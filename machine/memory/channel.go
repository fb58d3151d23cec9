package memory

import (
	"math/bits"

	"gemu/internal/coalesce"
	"gemu/machine/dram"
)

// channel is a channel of memory with its controller.
type channel struct {
	counts    ChannelCounts
	reads     direction
	writes    direction
	banks     []bank
	draining  bool  // the channel serves writes
	nextOpen  int64 // tick from which on a row may be opened
	nextRead  int64 // tick from which on a command may read
	busFree   int64 // tick from which on the data bus is free
	transfers int64 // transfers that were taken into a queue
}

// direction is the reads or the writes of a channel. Its queue has a list of transfers for each bank, so that a command needs no search of all.
type direction struct {
	arriving queue[transfer] // transfers that are on the way, or wait for a place in the queue
	n        int             // transfers in the queue
	places   []transfer      // of the queue
	free     []int32         // places without a transfer
	banks    []bankQueue
	used     []uint64 // banks with transfers, a bit each
	hits     []uint64 // banks with a transfer for their open row
}

// bankQueue is the transfers of a bank in the order of their arrival: places plus 1; 0: none.
type bankQueue struct {
	first, last int32
	hit         int32 // first transfer for the open row
}

// transfer is a request for sectors of a line to memory.
type transfer struct {
	line     uint64
	number   int64 // order of arrival at the queues of the channel
	sectors  uint8
	bursts   uint8
	write    bool
	metadata bool // of lines of other transfers; its line is the number of a line of metadata
	opened   bool // a row was opened for it
	first    bool // that was the first row of the bank
	slice    int32
	next     int32 // place of the next transfer of the bank, plus 1
	place    dram.Place
	arrived  int64     // tick of its arrival at the controller
	then     *transfer // transfer that waits for the metadata; nil: none
}

// bank is a bank of a channel.
type bank struct {
	row       uint64
	open      bool
	used      bool  // a row was opened before
	nextOpen  int64 // tick from which on a row may be opened
	nextUse   int64 // tick from which on a command may read or write
	nextClose int64 // tick from which on the row may be closed
}

func newChannel(banks int) channel {
	return channel{banks: make([]bank, banks), reads: newDirection(banks), writes: newDirection(banks)}
}

func newDirection(banks int) direction {
	words := (banks + 63) / 64
	return direction{banks: make([]bankQueue, banks), used: make([]uint64, words), hits: make([]uint64, words)}
}

// arrive adds a transfer that is on the way, before those that arrive later.
func (d *direction) arrive(t *transfer) {
	q := &d.arriving
	q.push(*t)
	mask := len(q.ring) - 1
	for i := q.n - 1; i > 0; i-- {
		before, after := &q.ring[(q.from+i-1)&mask], &q.ring[(q.from+i)&mask]
		if before.arrived <= after.arrived {
			break
		}
		*before, *after = *after, *before
	}
}

// add adds a transfer to the queue.
func (d *direction) add(r *transfer, b *bank) {
	if len(d.free) == 0 {
		d.free = append(d.free, int32(len(d.places)))
		d.places = append(d.places, transfer{})
	}
	i := d.free[len(d.free)-1]
	d.free = d.free[:len(d.free)-1]
	d.places[i] = *r
	d.n++
	n := r.place.Bank
	q := &d.banks[n]
	if q.first == 0 {
		q.first = i + 1
		d.used[n/64] |= 1 << (n % 64)
	} else {
		d.places[q.last-1].next = i + 1
	}
	q.last = i + 1
	if q.hit == 0 && b.open && b.row == r.place.Row {
		q.hit = i + 1
		d.hits[n/64] |= 1 << (n % 64)
	}
}

// findHit finds the first transfer for the open row of bank n, from a place plus 1 on.
func (d *direction) findHit(n int, row uint64, from int32) {
	q := &d.banks[n]
	for q.hit = from; q.hit != 0 && d.places[q.hit-1].place.Row != row; {
		q.hit = d.places[q.hit-1].next
	}
	if q.hit == 0 {
		d.hits[n/64] &^= 1 << (n % 64)
	} else {
		d.hits[n/64] |= 1 << (n % 64)
	}
}

// takeHit removes the first transfer for the open row of bank n. The result is valid until the next add.
func (d *direction) takeHit(n int, row uint64) *transfer {
	q := &d.banks[n]
	i := q.hit
	r := &d.places[i-1]
	before := int32(0)
	for j := q.first; j != i; j = d.places[j-1].next {
		before = j
	}
	if before == 0 {
		q.first = r.next
	} else {
		d.places[before-1].next = r.next
	}
	if q.last == i {
		q.last = before
	}
	if q.first == 0 {
		d.used[n/64] &^= 1 << (n % 64)
	}
	d.findHit(n, row, r.next)
	d.free = append(d.free, i-1)
	d.n--
	return r
}

// openRow opens a row of bank n.
func (c *channel) openRow(n int, row uint64) {
	b := &c.banks[n]
	b.open, b.used, b.row = true, true, row
	c.reads.findHit(n, row, c.reads.banks[n].first)
	c.writes.findHit(n, row, c.writes.banks[n].first)
}

// closeRow closes the row of bank n, which no transfer of the chosen direction needs.
func (c *channel) closeRow(n int) {
	c.banks[n].open = false
	for _, d := range []*direction{&c.reads, &c.writes} {
		d.banks[n].hit = 0
		d.hits[n/64] &^= 1 << (n % 64)
	}
}

// stepChannel lets a channel act at a tick: it takes requests into its queues, chooses between reads and writes, and issues a command.
//
// The oldest request whose row is open and whose command may be issued is served. Otherwise a row is closed or opened for the oldest
// request of a bank that may be closed or opened; a row that a request in the queue needs stays open. Only requests of the chosen direction
// count.
func (s *System) stepChannel(n int, tick int64) (next int64) {
	c, t, period := &s.channels[n], &s.config.Timing, s.clock.memory
	next = Never
	later := func(at int64) { next = min(next, max(at, tick+1)) }
	s.admit(c, &c.reads, t.ReadQueue, tick)
	s.admit(c, &c.writes, t.WriteQueue, tick)
	if c.reads.arriving.n > 0 && c.reads.n < t.ReadQueue {
		later(c.reads.arriving.head().arrived)
	}
	if c.writes.arriving.n > 0 && c.writes.n < t.WriteQueue {
		later(c.writes.arriving.head().arrived)
	}
	if c.draining && (c.writes.n == 0 || c.writes.n <= t.WriteLow && c.reads.n > 0) {
		c.draining = false
	}
	if !c.draining && (c.writes.n >= t.WriteHigh || c.reads.n == 0 && c.writes.n > 0) {
		c.draining = true
		c.counts.Drains++
	}
	d, latency, use := &c.reads, int64(t.CL)*period, c.nextRead
	if c.draining {
		d, latency, use = &c.writes, int64(t.WL)*period, 0
	}
	use = max(use, c.busFree-latency)
	chosen, oldest := -1, int64(Never) // bank, and the number of its transfer
	for w, set := range d.hits {
		for ; set != 0; set &= set - 1 {
			i := w*64 + bits.TrailingZeros64(set)
			if at := max(use, c.banks[i].nextUse); at > tick {
				later(at)
			} else if number := d.places[d.banks[i].hit-1].number; number < oldest {
				chosen, oldest = i, number
			}
		}
	}
	if chosen >= 0 {
		for _, set := range d.used {
			c.counts.BankSum += int64(bits.OnesCount64(set))
		}
		s.serve(c, d.takeHit(chosen, c.banks[chosen].row), tick, latency)
		return tick + period
	}
	for w, set := range d.used {
		for set &^= d.hits[w]; set != 0; set &= set - 1 { // other open rows are needed
			i := w*64 + bits.TrailingZeros64(set)
			b := &c.banks[i]
			at := b.nextClose
			if !b.open {
				at = max(b.nextOpen, c.nextOpen)
			}
			if at > tick {
				later(at)
			} else if number := d.places[d.banks[i].first-1].number; number < oldest {
				chosen, oldest = i, number
			}
		}
	}
	if chosen < 0 {
		return next
	}
	b := &c.banks[chosen]
	if b.open {
		c.closeRow(chosen)
		b.nextOpen = max(b.nextOpen, tick+int64(t.RP)*period)
		return tick + period
	}
	r := &d.places[d.banks[chosen].first-1]
	c.counts.Activations++
	r.opened, r.first = true, !b.used
	c.openRow(chosen, r.place.Row)
	b.nextOpen = tick + int64(t.RC)*period
	b.nextUse = tick + int64(t.RCD)*period
	b.nextClose = tick + int64(t.RAS)*period
	c.nextOpen = tick + int64(t.RRD)*period
	return tick + period
}

// admit moves requests that have arrived into a queue with some places.
func (s *System) admit(c *channel, d *direction, places int, tick int64) {
	for d.arriving.n > 0 && d.arriving.head().arrived <= tick && d.n < places {
		r := d.arriving.pop()
		r.number = c.transfers
		c.transfers++
		d.add(&r, &c.banks[r.place.Bank])
		l := &s.slices[r.slice]
		if l.unqueued--; l.unqueued == s.config.Timing.L2Queue-1 {
			s.sliceEvents.schedule(int(r.slice), tick)
		}
	}
}

// serve issues the command that reads or writes a request, whose data begin after a latency.
func (s *System) serve(c *channel, r *transfer, tick, latency int64) {
	t, period := &s.config.Timing, s.clock.memory
	n := int64(r.bursts)
	length := cycles(int(n)*coalesce.SectorBytes, t.BusBytes) * period
	end := tick + latency + length
	b := &c.banks[r.place.Bank]
	c.busFree = end
	c.counts.BusySum += length
	switch {
	case !r.opened:
		c.counts.Hits++
	case r.first:
		c.counts.Opens++
	default:
		c.counts.Conflicts++
	}
	if r.write {
		c.counts.Writes++
		c.counts.WriteBursts += n
		c.nextRead = end + int64(t.CDLR)*period
		b.nextClose = max(b.nextClose, end+int64(t.WR)*period)
		return
	}
	c.counts.Reads++
	c.counts.ReadBursts += n
	c.counts.ReadLatencySum += end - r.arrived
	c.counts.QueueSum += tick - r.arrived
	b.nextClose = max(b.nextClose, tick+length)
	if r.metadata {
		if r.then != nil {
			s.sendWaiting(r.then, end)
		}
		return
	}
	if z := s.compressed; z != nil && !z.L2 && n < LineBursts {
		end += int64(z.Decompress) * s.clock.core
	}
	s.slices[r.slice].fills.push(fill{r.line, r.sectors, end})
	s.sliceEvents.schedule(int(r.slice), end)
}
