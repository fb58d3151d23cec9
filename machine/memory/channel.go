package memory

import (
	"slices"

	"gemu/internal/coalesce"
	"gemu/machine/dram"
)

// channel is a channel of memory with its controller.
type channel struct {
	counts    ChannelCounts
	newReads  queue[transfer] // transfers that are on the way, or wait for a place in reads
	newWrites queue[transfer]
	reads     []transfer // in the order of their arrival
	writes    []transfer
	banks     []bank
	draining  bool  // the channel serves writes
	nextOpen  int64 // tick from which on a row may be opened
	nextRead  int64 // tick from which on a command may read
	busFree   int64 // tick from which on the data bus is free
	step      int   // number of the step, for bank.step
}

// transfer is a request for sectors of a line to memory.
type transfer struct {
	line    uint64
	sectors uint8
	write   bool
	opened  bool // a row was opened for it
	first   bool // that was the first row of the bank
	slice   int32
	place   dram.Place
	arrived int64 // tick of its arrival at the controller
}

// bank is a bank of a channel.
type bank struct {
	row       uint64
	open      bool
	used      bool  // a row was opened before
	nextOpen  int64 // tick from which on a row may be opened
	nextUse   int64 // tick from which on a command may read or write
	nextClose int64 // tick from which on the row may be closed
	step      int   // latest step of the channel in which a request of the queue has the bank
	rowStep   int   // and has its open row
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
	s.admit(&c.newReads, &c.reads, t.ReadQueue, tick)
	s.admit(&c.newWrites, &c.writes, t.WriteQueue, tick)
	if c.newReads.n > 0 && len(c.reads) < t.ReadQueue {
		later(c.newReads.head().arrived)
	}
	if c.newWrites.n > 0 && len(c.writes) < t.WriteQueue {
		later(c.newWrites.head().arrived)
	}
	if c.draining && (len(c.writes) == 0 || len(c.writes) <= t.WriteLow && len(c.reads) > 0) {
		c.draining = false
	}
	if !c.draining && (len(c.writes) >= t.WriteHigh || len(c.reads) == 0 && len(c.writes) > 0) {
		c.draining = true
		c.counts.Drains++
	}
	list, latency, use := &c.reads, int64(t.CL)*period, c.nextRead
	if c.draining {
		list, latency, use = &c.writes, int64(t.WL)*period, 0
	}
	use = max(use, c.busFree-latency)
	c.step++
	banks, serve := 0, -1
	for i := range *list {
		r := &(*list)[i]
		b := &c.banks[r.place.Bank]
		if b.step != c.step {
			b.step = c.step
			banks++
		}
		if !b.open || b.row != r.place.Row {
			continue
		}
		b.rowStep = c.step
		if at := max(use, b.nextUse); at > tick {
			later(at)
		} else if serve < 0 {
			serve = i
		}
	}
	if serve >= 0 {
		r := (*list)[serve]
		*list = slices.Delete(*list, serve, serve+1)
		c.counts.BankSum += int64(banks)
		s.serve(c, &r, tick, latency)
		return tick + period
	}
	c.step++
	for i := range *list {
		r := &(*list)[i]
		b := &c.banks[r.place.Bank]
		switch {
		case b.step == c.step: // an older request has the bank
			continue
		case b.rowStep == c.step-1: // the open row is needed
		case b.open:
			if b.nextClose <= tick {
				b.open = false
				b.nextOpen = max(b.nextOpen, tick+int64(t.RP)*period)
				return tick + period
			}
			later(b.nextClose)
		default:
			at := max(b.nextOpen, c.nextOpen)
			if at <= tick {
				c.counts.Activations++
				r.opened, r.first = true, !b.used
				b.open, b.used, b.row = true, true, r.place.Row
				b.nextOpen = tick + int64(t.RC)*period
				b.nextUse = tick + int64(t.RCD)*period
				b.nextClose = tick + int64(t.RAS)*period
				c.nextOpen = tick + int64(t.RRD)*period
				return tick + period
			}
			later(at)
		}
		b.step = c.step
	}
	return next
}

// admit moves requests that have arrived into a queue with some places.
func (s *System) admit(from *queue[transfer], to *[]transfer, places int, tick int64) {
	for from.n > 0 && from.head().arrived <= tick && len(*to) < places {
		r := from.pop()
		*to = append(*to, r)
		l := &s.slices[r.slice]
		if l.unqueued--; l.unqueued == s.config.Timing.L2Queue-1 {
			s.sliceEvents.schedule(int(r.slice), tick)
		}
	}
}

// serve issues the command that reads or writes a request, whose data begin after a latency.
func (s *System) serve(c *channel, r *transfer, tick, latency int64) {
	t, period := &s.config.Timing, s.clock.memory
	n := sectors(r.sectors)
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
	s.slices[r.slice].fills.push(fill{r.line, r.sectors, end})
	s.sliceEvents.schedule(int(r.slice), end)
}
