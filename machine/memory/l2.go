package memory

import (
	"math/bits"

	"gemu/internal/coalesce"
	"gemu/machine/cache"
	"gemu/probe"
)

// slice is a part of the L2 with a port of the network. Its lines are those of System.l2: which lines the L2 has depends on the order of
// the requests only, as without a clock.
type slice struct {
	mshrs    MSHRs[int32]
	hits     arrivals // replies of hits, from the tick on in which the L2 has read them
	filled   arrivals // replies whose sectors have come from memory
	fills    queue[fill]
	bankFree []int64
	unqueued int  // transfers that wait for a place in the queue of a channel
	stalled  bool // the first request waits for an MSHR, counted
	waiting  bool // the first request waits for a channel, counted
}

// fill is sectors of a line that come from memory.
type fill struct {
	line    uint64
	sectors uint8
	ready   int64
}

// stepSlice lets a slice act at a tick: it takes sectors from memory, passes a reply to the network, and accesses the L2 for a request. It
// returns the tick of its next event, which schedule rounds to the clock.
func (s *System) stepSlice(n int, tick int64) (next int64) {
	l, t := &s.slices[n], &s.config.Timing
	next = Never
	later := func(at int64) { next = min(next, max(at, tick+1)) }
	if l.fills.n > 0 && l.fills.head().ready <= tick {
		f := l.fills.pop()
		s.resize(l, n, f.line, tick)
		compressed := false
		l.mshrs.Fill(f.line, f.sectors, func(i *int32) {
			if p := &s.packets[*i]; p.hasReply() {
				l.filled.push(arrival{packet: *i, ready: s.answer(p, tick)})
				compressed = compressed || p.form > 0
			} else {
				s.free(*i)
			}
		})
		if compressed {
			s.keepUncompressed(f.line)
		}
	}
	blocked := false // a reply of a hit must wait, so that the L2 takes no request
	if out := &s.down.sources[n].queue; out.n < t.NetQueue {
		from := &l.filled
		if from.n == 0 {
			from = &l.hits
		}
		if from.ready() <= tick {
			a := from.pop()
			p := &s.packets[a.packet]
			bytes := s.replyBytes(p)
			s.Counts.ReplyBytes += int64(bytes)
			s.down.push(n, arrival{a.packet, int32(p.SM), int32(bytes), tick})
			s.nextDown = min(s.nextDown, edge(tick, s.clock.network))
		}
		if l.filled.n > 0 {
			later(tick)
		}
	}
	if l.hits.n > 0 {
		if ready := l.hits.head().ready; ready <= tick {
			blocked = true
			if s.down.sources[n].queue.n < t.NetQueue { // otherwise the network wakes the slice
				later(tick)
			}
		} else {
			later(ready)
		}
	}
	if l.fills.n > 0 {
		later(l.fills.head().ready)
	}
	in := &s.up.destinations[n].queue
	if in.n == 0 || blocked {
		return next
	}
	head := in.head()
	p := &s.packets[head.packet]
	if at := max(head.ready, l.bankFree[p.bank]); at > tick {
		later(at)
		return next
	}
	if l.unqueued >= t.L2Queue { // a channel wakes the slice
		if !l.waiting {
			l.waiting = true
			s.Counts.MemoryStalls++
		}
		return next
	}
	if !s.l2Access(l, n, head.packet, tick) { // a fill wakes the slice
		if !l.stalled {
			l.stalled = true
			s.Counts.MSHRStalls++
		}
		return next
	}
	l.stalled, l.waiting = false, false
	if in.n == s.up.places {
		s.nextUp = min(s.nextUp, edge(tick, s.clock.network))
	}
	in.pop()
	if in.n > 0 {
		later(in.head().ready)
	}
	if l.hits.n > 0 {
		later(l.hits.head().ready)
	}
	return next
}

// hasReply reports whether the packet has a reply.
func (p *packet) hasReply() bool { return p.Kind != probe.AccessStore || p.Acknowledged }

// l2Access accesses the L2 for a request of a slice. It returns false, and changes nothing, if no MSHR is free.
//
// Sectors that a store overwrites completely are not read. The other sectors that the L2 does not have are read, or wait for those in
// flight; with whole lines, a miss reads the rest of the line.
func (s *System) l2Access(l *slice, n int, number int32, tick int64) bool {
	p := &s.packets[number]
	t := &s.config.Timing
	valid := uint8(0)
	if line := s.l2.Peek(p.Line); line != nil {
		valid = line.valid
	}
	returned := s.mustReturn(p)
	store := p.Kind != probe.AccessLoad && !returned
	whole := p.Whole
	if returned {
		whole = 0
	}
	inFlight, room := l.mshrs.Look(p.Line)
	missing := p.Sectors &^ valid
	read, written := missing&^whole, p.Sectors
	if s.config.WholeLines {
		if written = allSectors; whole&^valid|valid != allSectors && missing != 0 {
			read = allSectors &^ valid
		}
	}
	need := read | p.Sectors&^whole&inFlight
	if need != 0 && !room {
		return false
	}
	c := &s.Counts
	if p.returned = returned; returned {
		c.Returned++
	}
	c.BytesReceived += int64(t.NetHeader + p.Bytes)
	c.Accesses += sectors(p.Sectors)
	c.InFlight += sectors(p.Sectors & inFlight)
	c.Misses += sectors(missing &^ inFlight)
	c.Hits += sectors(p.Sectors &^ inFlight &^ missing)
	l.bankFree[p.bank] = tick + cycles(s.bankBytes(p), t.L2Bytes)*s.clock.l2
	s.access = cache.Access{Line: p.Line, Store: store, SM: p.SM, CTA: p.CTA, Warp: p.Warp, Instr: p.Instr}
	line := s.l2.Access(&s.access)
	if line == nil && s.config.L2.Ways > 0 {
		line = s.l2.Insert(&s.access, func(number uint64, old *l2Line) {
			if old.dirty != 0 {
				s.writeBack(l, n, number, old.dirty, tick)
			}
		})
	}
	if need != 0 {
		if fetch, _ := l.mshrs.Add(p.Line, need, number); fetch != 0 {
			c.Reads += sectors(fetch)
			s.toChannel(l, transfer{line: p.Line, sectors: fetch, place: p.place, slice: int32(n)}, tick)
		}
	}
	if z := s.compressed; z != nil && store {
		z.keep(p)
	}
	switch {
	case line != nil:
		line.valid |= p.Sectors | read
		if store {
			line.dirty |= written
			line.uncompressed = line.uncompressed && p.Bursts == 0
		}
	case store: // no cache, or the policy keeps the line out
		s.writeBack(l, n, p.Line, written, tick)
	}
	if need == 0 {
		if store {
			s.resize(l, n, p.Line, tick)
		}
		if p.hasReply() {
			l.hits.push(arrival{packet: number, ready: s.answer(p, tick+int64(t.L2Latency)*s.clock.l2)})
			if p.form > 0 {
				s.keepUncompressed(p.Line)
			}
		} else {
			s.free(number)
		}
	}
	return true
}

// allSectors is the set of all sectors of a line.
const allSectors = 1<<(coalesce.LineBytes/coalesce.SectorBytes) - 1

func sectors(set uint8) int64 { return int64(bits.OnesCount8(set)) }

// writeBack writes sectors of a line to memory, for a slice. If some are still in flight, they are written at once: which bytes a memory
// has is no part of this model.
func (s *System) writeBack(l *slice, n int, line uint64, set uint8, tick int64) {
	s.Counts.WriteBacks += sectors(set)
	s.toChannel(l, transfer{line: line, sectors: set, write: true, place: s.placeOf(line), slice: int32(n)}, tick)
}

// toChannel sends a transfer to its channel.
func (s *System) toChannel(l *slice, t transfer, tick int64) {
	t.arrived = tick + int64(s.config.Timing.MemoryLatency)*s.clock.memory
	if s.compressed != nil {
		s.compress(l, &t)
		return
	}
	t.bursts = uint8(sectors(t.sectors))
	s.submit(l, &t)
}

// submit sends a transfer to its channel, where it arrives at t.arrived, after the tick of the call.
func (s *System) submit(l *slice, t *transfer) {
	l.unqueued++
	c := t.place.Channel
	if t.write {
		s.channels[c].writes.arrive(t)
	} else {
		s.channels[c].reads.arrive(t)
	}
	s.channelEvents.schedule(c, t.arrived)
}
