package memory

import (
	"fmt"
	"math/bits"

	"gemu/internal/coalesce"
	"gemu/machine/cache"
	"gemu/machine/dram"
	"gemu/probe"
)

// System is a memory system with queues: a network, the L2 and the channels of memory. doc.go has its rules.
type System struct {
	Counts Counts // events so far, without those of memory (Total)

	config   Config
	clock    clocks
	l2       *cache.Lines[l2Line]
	pages    *dram.Pages
	packets  []packet
	unused   []int32 // packets that are free
	up, down network
	slices   []slice // of channel 0, then channel 1, and so on
	channels []channel

	// Events. In a tick replies arrive first, then channels act, then slices, then the network of replies and that of requests; parts of
	// a kind in the order of their numbers.
	arrivals         wheel // by multiprocessor
	channelEvents    wheel
	sliceEvents      wheel
	nextDown, nextUp int64 // ticks of the network of replies, and of that of requests

	access     cache.Access
	compressed *compressed // nil: no line is compressed
}

// l2Line is a line of the L2.
type l2Line struct {
	valid        uint8 // sectors that the line has, those in flight included
	dirty        uint8 // of these, sectors that differ from memory
	bursts       uint8 // with Compression.Tags: bursts of its form; 0: it is in flight
	uncompressed bool  // with Compression.Uncompressed: the line is not in a form
}

// packet is a request in the system, and its reply.
type packet struct {
	Request
	place dram.Place
	slice int32
	bank  int32 // of the slice
	sent  int64 // tick

	form     int  // bursts of the form of the reply's line; 0: the line is not compressed
	returned bool // the reply of a store has its line
}

// maxParts is the maximum number of multiprocessors, channels and slices.
const maxParts = 1 << 14

// New returns an empty memory system. The configuration must pass its Check.
func New(c Config) *System {
	if err := c.Check(); err != nil {
		panic("BUG: " + err.Error())
	}
	m, _ := c.Memory.AddressMap()
	t := &c.Timing
	l2 := c.L2
	if z := c.Compression; z != nil {
		l2.Ways *= max(z.Tags, 1)
	}
	s := &System{
		config: c, clock: t.clocks(), l2: cache.New[l2Line](l2, c.Policy), pages: dram.NewPages(c.Memory),
		slices: make([]slice, m.Channels*t.Slices), channels: make([]channel, m.Channels),
	}
	for i := range s.slices {
		s.slices[i] = slice{mshrs: MSHRs[int32]{Entries: t.MSHRs, Merges: t.Merges}, bankFree: make([]int64, t.L2Banks)}
	}
	for i := range s.channels {
		s.channels[i] = newChannel(m.Banks)
	}
	s.up = newNetwork(c.SMs, len(s.slices), t.NetQueue, c.Memory.Zones, &s.Counts)
	s.down = newNetwork(len(s.slices), c.SMs, 0, c.Memory.Zones, &s.Counts)
	s.pages.Structure = c.Structure
	if c.Compression != nil {
		s.compressed = newCompressed(c.Compression)
	}
	s.arrivals = newWheel(c.SMs, s.clock.network)
	s.channelEvents = newWheel(len(s.channels), s.clock.memory)
	s.sliceEvents = newWheel(len(s.slices), s.clock.l2)
	s.nextUp, s.nextDown = Never, Never
	return s
}

// edge returns the first tick of a clock from a tick on.
func edge(tick, period int64) int64 { return (tick + period - 1) / period * period }

// Send implements Memory.
func (s *System) Send(now int64, r *Request) bool {
	if s.Refuses(r.SM) {
		return false
	}
	i := s.newPacket()
	p := &s.packets[i]
	tick := now * s.clock.core
	*p = packet{Request: *r, sent: tick}
	p.place = s.placeOf(r.Line)
	n := cache.XOR(r.Line, s.config.Timing.Slices*s.config.Timing.L2Banks)
	p.slice = int32(p.place.Channel*s.config.Timing.Slices + n%s.config.Timing.Slices)
	p.bank = int32(n / s.config.Timing.Slices)
	switch r.Kind {
	case probe.AccessLoad:
		s.Counts.Loads++
	case probe.AccessStore:
		s.Counts.Stores++
		if r.Acknowledged {
			s.Counts.StoreReplies++
		}
	default:
		s.Counts.Atomics++
	}
	ready := tick + 1
	if r.Bursts > 0 && r.Bursts < LineBursts {
		p.Bytes = r.Bursts * coalesce.SectorBytes
		ready += int64(s.compressed.Compress) * s.clock.core
	}
	s.Counts.BytesSent += int64(s.config.Timing.NetHeader + p.Bytes)
	s.up.push(r.SM, arrival{i, p.slice, int32(s.config.Timing.NetHeader + p.Bytes), ready})
	s.nextUp = min(s.nextUp, edge(tick+1, s.clock.network))
	return true
}

// Refuses implements Refuser.
func (s *System) Refuses(sm int) bool {
	if s.up.sources[sm].queue.n < s.config.Timing.NetQueue {
		return false
	}
	s.Counts.Refused++
	return true
}

// placeOf returns the place of a line in memory.
func (s *System) placeOf(line uint64) dram.Place { return s.pages.Place(line * coalesce.LineBytes) }

// Err returns an error if the data of the requests do not fit in memory, so that the times are those of a larger one.
func (s *System) Err() error { return s.pages.Err() }

func (s *System) newPacket() int32 {
	s.Counts.InSystem++
	if n := len(s.unused); n > 0 {
		i := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return i
	}
	s.packets = append(s.packets, packet{})
	return int32(len(s.packets) - 1)
}

func (s *System) free(i int32) {
	s.Counts.InSystem--
	s.unused = append(s.unused, i)
}

// nextTick returns the tick of the next event.
func (s *System) nextTick() int64 {
	return min(s.arrivals.next(), s.channelEvents.next(), s.sliceEvents.next(), s.nextDown, s.nextUp)
}

// Next implements Memory.
func (s *System) Next() int64 {
	tick := s.nextTick()
	if tick == Never {
		return Never
	}
	return (tick + s.clock.core - 1) / s.clock.core
}

// Advance implements Memory.
func (s *System) Advance(now int64, replies []Reply) []Reply {
	end := now * s.clock.core
	for {
		tick := s.nextTick()
		if tick > end {
			return replies
		}
		arrivals, channels := s.arrivals.next() == tick, s.channelEvents.next() == tick
		s.arrivals.advance(tick)
		s.channelEvents.advance(tick)
		s.sliceEvents.advance(tick)
		if arrivals {
			for sm := s.arrivals.take(tick, 0); sm >= 0; sm = s.arrivals.take(tick, sm+1) {
				replies = s.arrive(sm, tick, replies)
			}
		}
		if channels {
			for c := s.channelEvents.take(tick, 0); c >= 0; c = s.channelEvents.take(tick, c+1) {
				if next := s.stepChannel(c, tick); next != Never {
					s.channelEvents.schedule(c, next)
				}
			}
		}
		if s.sliceEvents.next() == tick {
			for l := s.sliceEvents.take(tick, 0); l >= 0; l = s.sliceEvents.take(tick, l+1) {
				if next := s.stepSlice(l, tick); next != Never {
					s.sliceEvents.schedule(l, next)
				}
			}
		}
		if s.nextDown == tick {
			s.nextDown = s.stepDown(tick)
		}
		if s.nextUp == tick {
			s.nextUp = s.stepUp(tick)
		}
	}
}

// arrive passes the replies that have arrived at a multiprocessor.
func (s *System) arrive(sm int, tick int64, replies []Reply) []Reply {
	q := &s.down.destinations[sm].queue
	for q.n > 0 && q.head().ready <= tick {
		i := q.pop().packet
		p := &s.packets[i]
		at := (tick + s.clock.core - 1) / s.clock.core
		s.Counts.Replies++
		s.Counts.ReplyBytesReceived += int64(s.replyBytes(p))
		s.Counts.LatencySum += at - p.sent/s.clock.core
		replies = append(replies, Reply{p.SM, p.ID, p.Line, p.Sectors, at, p.form, p.returned})
		s.free(i)
	}
	if q.n > 0 {
		s.arrivals.schedule(sm, q.head().ready)
	}
	return replies
}

// replyBytes returns the size of the reply of a packet.
func (s *System) replyBytes(p *packet) int {
	switch {
	case p.form > 0:
		return s.config.Timing.NetHeader + p.form*coalesce.SectorBytes
	case p.Kind == probe.AccessStore && !p.returned:
		return s.config.Timing.NetHeader
	}
	return s.config.Timing.NetHeader + bits.OnesCount8(p.Sectors)*coalesce.SectorBytes
}

// stepUp starts transfers of requests.
func (s *System) stepUp(tick int64) (next int64) {
	return s.up.step(tick, s.clock.network, &s.config.Timing, func(_, to int, ready int64) {
		s.sliceEvents.schedule(to, ready)
	})
}

// stepDown starts transfers of replies.
func (s *System) stepDown(tick int64) (next int64) {
	return s.down.step(tick, s.clock.network, &s.config.Timing, func(from, to int, ready int64) {
		s.arrivals.schedule(to, ready)
		s.sliceEvents.schedule(from, tick+1) // its queue has a place
	})
}

// Counts are the events of a memory system.
type Counts struct {
	Loads   int64 `json:"loads"`   // requests of loads
	Stores  int64 `json:"stores"`  // requests of stores
	Atomics int64 `json:"atomics"` // requests of atomics
	Replies int64 `json:"replies"` // replies that have arrived
	Refused int64 `json:"refused"` // attempts to send to a full queue

	BytesSent          int64 `json:"bytes_sent"`           // bytes of requests that multiprocessors have sent
	BytesReceived      int64 `json:"bytes_received"`       // bytes of requests that the L2 has received
	ReplyBytes         int64 `json:"reply_bytes"`          // bytes of replies that the L2 has sent
	ReplyBytesReceived int64 `json:"reply_bytes_received"` // bytes of replies that multiprocessors have received
	LinkBytes          int64 `json:"link_bytes"`           // bytes of both between modules
	LatencySum         int64 `json:"latency_sum"`          // core cycles from the requests to the replies that have arrived

	Accesses   int64 `json:"accesses"`    // sectors that requests access in the L2
	Hits       int64 `json:"hits"`        // sectors that the L2 has
	InFlight   int64 `json:"in_flight"`   // sectors that are on the way from memory
	Misses     int64 `json:"misses"`      // sectors that the L2 does not have
	Reads      int64 `json:"reads"`       // sectors that the L2 reads from memory
	WriteBacks int64 `json:"write_backs"` // sectors that the L2 writes to memory

	MSHRStalls   int64 `json:"mshr_stalls"`   // accesses that have waited for a free entry or a place in it
	MemoryStalls int64 `json:"memory_stalls"` // accesses that have waited for a place in the queue of a channel

	InSystem int64 `json:"in_system"` // requests in the system

	Bursts          int64 `json:"bursts,omitempty"`           // bursts of compressed and raw lines and of metadata that memory has to transfer; without compression 0
	MetadataLookups int64 `json:"metadata_lookups,omitempty"` // transfers of lines whose number of bursts is looked up
	MetadataMisses  int64 `json:"metadata_misses,omitempty"`  // of these, transfers whose metadata are read from memory
	MetadataWrites  int64 `json:"metadata_writes,omitempty"`  // lines of metadata that are written to memory
	StoreReplies    int64 `json:"store_replies,omitempty"`    // stores with a reply
	Returned        int64 `json:"returned,omitempty"`         // of these, stores of a part of a compressed line, which are returned with the line

	Memory ChannelCounts `json:"memory"` // of all channels
}

// ChannelCounts are the events of a channel of memory. Requests are for sectors of a line.
type ChannelCounts struct {
	Reads       int64 `json:"reads"`        // requests that read
	Writes      int64 `json:"writes"`       // requests that write
	ReadBursts  int64 `json:"read_bursts"`  // sectors read
	WriteBursts int64 `json:"write_bursts"` // sectors written
	Hits        int64 `json:"hits"`         // requests whose row was open
	Opens       int64 `json:"opens"`        // requests for which the first row of a bank was opened
	Conflicts   int64 `json:"conflicts"`    // requests for which another row was closed
	Activations int64 `json:"activations"`  // rows opened; a row may be closed again before its request is served
	Drains      int64 `json:"drains"`       // times that the channel has changed from reads to writes

	BankSum        int64 `json:"bank_sum"`         // for each request that is served, the banks with requests of its direction in the queue
	ReadLatencySum int64 `json:"read_latency_sum"` // ticks of all reads from their arrival at the channel to their last data
	QueueSum       int64 `json:"queue_sum"`        // ticks of these until the command that reads
	BusySum        int64 `json:"busy_sum"`         // ticks in which the data bus transfers
}

// Add adds the counts of o.
func (c *ChannelCounts) Add(o *ChannelCounts) {
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.ReadBursts += o.ReadBursts
	c.WriteBursts += o.WriteBursts
	c.Hits += o.Hits
	c.Opens += o.Opens
	c.Conflicts += o.Conflicts
	c.Activations += o.Activations
	c.Drains += o.Drains
	c.BankSum += o.BankSum
	c.ReadLatencySum += o.ReadLatencySum
	c.QueueSum += o.QueueSum
	c.BusySum += o.BusySum
}

// Requests returns the number of requests that were served.
func (c *ChannelCounts) Requests() int64 { return c.Reads + c.Writes }

// Channels returns the counts of each channel.
func (s *System) Channels() (list []ChannelCounts) {
	for i := range s.channels {
		list = append(list, s.channels[i].counts)
	}
	return list
}

// Total returns the counts of the system so far.
func (s *System) Total() Counts {
	c := s.Counts
	c.Memory = ChannelCounts{}
	for i := range s.channels {
		c.Memory.Add(&s.channels[i].counts)
	}
	return c
}

// ReadLatency returns the mean latency of the reads of memory in core cycles; 0 without reads.
func (s *System) ReadLatency() float64 {
	c := s.Total()
	return float64(c.Memory.ReadLatencySum) / float64(max(c.Memory.Reads, 1)) / float64(s.clock.core)
}

// QueueWait returns the part of the latency until the command that reads.
func (s *System) QueueWait() float64 {
	c := s.Total()
	return float64(c.Memory.QueueSum) / float64(max(c.Memory.Reads, 1)) / float64(s.clock.core)
}

// BusShare returns the share of some core cycles in which the data buses of memory transfer, as the mean of all channels.
func (s *System) BusShare(cycles int64) float64 {
	c := s.Total()
	return float64(c.Memory.BusySum) / float64(max(cycles, 1)*s.clock.core*int64(len(s.channels)))
}

// BankParallelism returns the mean number of banks with a request in the queue of a channel, when it serves a request; 0 without requests.
func (c *ChannelCounts) BankParallelism() float64 {
	return float64(c.BankSum) / float64(max(c.Requests(), 1))
}

// Verify returns an error if the counts contradict each other, which is a fault of this package. More equations hold when no event
// remains (Next).
func (s *System) Verify() error {
	c := s.Total()
	m := &c.Memory
	switch {
	case c.Accesses != c.Hits+c.InFlight+c.Misses, c.BytesReceived > c.BytesSent, c.ReplyBytesReceived > c.ReplyBytes, c.Replies > c.Loads+c.Atomics+c.StoreReplies,
		m.Requests() != m.Hits+m.Opens+m.Conflicts, m.Activations < m.Opens+m.Conflicts, m.ReadBursts+m.WriteBursts > s.bursts(&c), c.Returned > c.StoreReplies,
		m.Opens > int64(len(s.channels)*len(s.channels[0].banks)):
		return fmt.Errorf("BUG: the counts of memory contradict each other: %+v", c)
	}
	if s.Next() != Never {
		return nil
	}
	switch {
	case c.InSystem != 0, c.Replies != c.Loads+c.Atomics+c.StoreReplies, c.BytesReceived != c.BytesSent, c.ReplyBytesReceived != c.ReplyBytes, m.ReadBursts+m.WriteBursts != s.bursts(&c):
		return fmt.Errorf("BUG: memory is idle and has lost requests: %+v", c)
	}
	for i := range s.slices {
		if l := &s.slices[i]; l.mshrs.Len() != 0 || l.unqueued != 0 {
			return fmt.Errorf("BUG: memory is idle, and slice %d has %d lines in flight and %d transfers", i, l.mshrs.Len(), l.unqueued)
		}
	}
	return nil
}

// bursts returns the bursts that the L2 has asked memory to transfer.
func (s *System) bursts(c *Counts) int64 {
	if s.compressed != nil {
		return c.Bursts
	}
	return c.Reads + c.WriteBacks
}

// State is what a memory system holds at a time.
type State struct {
	Valid    int            // sectors that the L2 has, those on the way included
	Dirty    int            // of these, sectors that differ from memory
	InFlight int            // lines that are on the way from memory to the L2
	Requests int64          // requests in the network, the L2 and memory
	Channels []ChannelState // by number
}

// ChannelState is what a channel of memory holds at a time, and has transferred so far.
type ChannelState struct {
	Reads, Writes int   // transfers in its queues
	Sectors       int64 // sectors that it has read and written so far
}

// State returns what the system holds after the events so far.
func (s *System) State() State {
	out := State{Requests: s.Counts.InSystem, Channels: make([]ChannelState, len(s.channels))}
	s.l2.All(func(_ uint64, l *l2Line) {
		out.Valid += bits.OnesCount8(l.valid)
		out.Dirty += bits.OnesCount8(l.dirty)
	})
	for i := range s.slices {
		out.InFlight += s.slices[i].mshrs.Len()
	}
	for i := range s.channels {
		c := &s.channels[i]
		out.Channels[i] = ChannelState{c.reads.n, c.writes.n, c.counts.ReadBursts + c.counts.WriteBursts}
	}
	return out
}
