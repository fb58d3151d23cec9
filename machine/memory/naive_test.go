package memory

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gemu/internal/part"
	"gemu/machine/cache"
	"gemu/machine/dram"
	"gemu/probe"
)

// naive is a second implementation of the rules of doc.go: it visits each tick, has lists and maps only, and looks for all requests of a
// kind each time. Its L2 is a list of lines in the order of accesses for each set.
type naive struct {
	c        Config
	clock    clocks
	pages    *dram.Pages
	sm       [][]*naivePacket // waiting at the ports of the multiprocessors
	in       [][]*naivePacket // at the slices, or on the way
	out      [][]*naivePacket // waiting at the reply ports of the slices
	back     [][]*naivePacket // on the way to each multiprocessor
	hits     [][]*naivePacket // of each slice
	filled   [][]*naivePacket
	inFlight []map[uint64]*naiveEntry // by slice and line
	fills    [][]fill
	upFree   [2]map[int]int64 // of sources and destinations
	downFree [2]map[int]int64
	upLast   map[int]int
	downLast map[int]int
	upLink   map[[2]int]int64
	downLink map[[2]int]int64
	bankFree map[[2]int]int64
	unqueued []int
	sets     [][]*naiveLine // the oldest access first
	channels []*naiveChannel
	tick     int64 // of the next step
	counts   Counts
}

type naivePacket struct {
	Request
	place         dram.Place
	slice, bank   int
	ready, sent   int64
	missing       uint8
	stall, memory bool
}

type naiveEntry struct {
	flying  uint8
	waiting []*naivePacket
}

type naiveLine struct {
	line         uint64
	valid, dirty uint8
}

type naiveChannel struct {
	intake   [2][]*naiveTransfer // reads, writes
	queue    [2][]*naiveTransfer
	draining int
	rows     map[int]uint64 // open rows
	ever     map[int]bool   // banks with a row before
	mayOpen  map[int]int64  // by bank
	mayUse   map[int]int64  //
	mayClose map[int]int64  //
	anyOpen  int64          // of all banks
	mayRead  int64
	bus      int64
	n        ChannelCounts
}

type naiveTransfer struct {
	line    uint64
	sectors uint8
	slice   int
	place   dram.Place
	arrived int64
	opened  string // "", "first" or "again"
}

func newNaive(c Config) *naive {
	m, _ := c.Memory.AddressMap()
	n := m.Channels * c.Timing.Slices
	v := &naive{c: c, clock: c.Timing.clocks(), pages: dram.NewPages(c.Memory), sm: make([][]*naivePacket, c.SMs), back: make([][]*naivePacket, c.SMs), in: make([][]*naivePacket, n), out: make([][]*naivePacket, n), hits: make([][]*naivePacket, n), filled: make([][]*naivePacket, n), fills: make([][]fill, n), unqueued: make([]int, n), upLast: map[int]int{}, downLast: map[int]int{}, upLink: map[[2]int]int64{}, downLink: map[[2]int]int64{}, bankFree: map[[2]int]int64{}, sets: make([][]*naiveLine, c.L2.Sets)}
	for i := range 2 {
		v.upFree[i], v.downFree[i] = map[int]int64{}, map[int]int64{}
	}
	for range n {
		v.inFlight = append(v.inFlight, map[uint64]*naiveEntry{})
	}
	for range m.Channels {
		v.channels = append(v.channels, &naiveChannel{rows: map[int]uint64{}, ever: map[int]bool{}, mayOpen: map[int]int64{}, mayUse: map[int]int64{}, mayClose: map[int]int64{}})
	}
	return v
}

func (v *naive) send(now int64, r *Request) bool {
	if len(v.sm[r.SM]) == v.c.Timing.NetQueue {
		v.counts.Refused++
		return false
	}
	p := &naivePacket{Request: *r, place: v.pages.Place(r.Line * 128), sent: now}
	x := cache.XOR(r.Line, v.c.Timing.Slices*v.c.Timing.L2Banks)
	p.slice, p.bank = p.place.Channel*v.c.Timing.Slices+x%v.c.Timing.Slices, x/v.c.Timing.Slices
	v.sm[r.SM] = append(v.sm[r.SM], p)
	*[]*int64{&v.counts.Loads, &v.counts.Stores, &v.counts.Atomics}[r.Kind]++
	v.counts.BytesSent += int64(v.c.Timing.NetHeader + r.Bytes)
	v.counts.InSystem++
	return true
}

// advance visits all ticks up to cycle now.
func (v *naive) advance(now int64) (replies []Reply) {
	for ; v.tick <= now*v.clock.core; v.tick++ {
		t := v.tick
		for sm := range v.back {
			for len(v.back[sm]) > 0 && v.back[sm][0].ready == t {
				p := v.back[sm][0]
				v.back[sm] = v.back[sm][1:]
				at := t / v.clock.core
				if t%v.clock.core != 0 {
					at++
				}
				replies = append(replies, Reply{SM: sm, ID: p.ID, Line: p.Line, Sectors: p.Sectors, At: at})
				v.counts.Replies++
				v.counts.InSystem--
				v.counts.LatencySum += at - p.sent
				v.counts.ReplyBytesReceived += v.size(p)
			}
		}
		if t%v.clock.memory == 0 {
			for _, c := range v.channels {
				v.channel(c)
			}
		}
		if t%v.clock.l2 == 0 {
			for i := range v.in {
				v.slice(i)
			}
		}
		if t%v.clock.network == 0 {
			v.transfer(v.out, v.back, v.downFree, v.downLast, v.downLink, 1<<30, func(p *naivePacket) (int, int64) { return p.SM, v.size(p) })
			v.transfer(v.sm, v.in, v.upFree, v.upLast, v.upLink, v.c.Timing.NetQueue, func(p *naivePacket) (int, int64) {
				return p.slice, int64(v.c.Timing.NetHeader + p.Bytes)
			})
		}
	}
	return replies
}

func (v *naive) size(p *naivePacket) int64 {
	return int64(v.c.Timing.NetHeader + 32*bits.OnesCount8(p.Sectors))
}

// transfer starts transfers of a direction of the network.
func (v *naive) transfer(from, to [][]*naivePacket, free [2]map[int]int64, last map[int]int, links map[[2]int]int64, places int, of func(*naivePacket) (int, int64)) {
	zones := max(v.c.Memory.Zones, 1)
	up := func(n int64, by int) int64 {
		k := int64(1)
		for k*int64(by) < n {
			k++
		}
		return k
	}
	type pick struct{ source, to int }
	var picks []pick
	for d := range to {
		if free[1][d] > v.tick || len(to[d]) >= places {
			continue
		}
		if _, ok := last[d]; !ok {
			last[d] = len(from) - 1
		}
		for k := range from { // the source after the latest one first
			s := (last[d] + 1 + k) % len(from)
			if len(from[s]) == 0 || free[0][s] > v.tick {
				continue
			}
			p := from[s][0]
			dst, _ := of(p)
			link := [2]int{s * zones / len(from), d * zones / len(to)}
			if dst != d || link[0] != link[1] && links[link] > v.tick {
				continue
			}
			picks = append(picks, pick{s, d})
			break
		}
	}
	for _, k := range picks {
		link := [2]int{k.source * zones / len(from), k.to * zones / len(to)}
		if link[0] != link[1] && links[link] > v.tick {
			continue
		}
		p := from[k.source][0]
		_, bytes := of(p)
		from[k.source] = from[k.source][1:]
		end := v.tick + v.clock.network*up(bytes, v.c.Timing.NetBytes)
		p.ready = end + v.clock.network*int64(v.c.Timing.NetLatency)
		if link[0] != link[1] {
			links[link] = v.tick + v.clock.network*up(bytes, v.c.Timing.LinkBytes)
			p.ready += v.clock.network * int64(v.c.Timing.LinkLatency)
			v.counts.LinkBytes += bytes
		}
		free[0][k.source], free[1][k.to], last[k.to] = end, end, k.source
		to[k.to] = append(to[k.to], p)
		slices.SortStableFunc(to[k.to], func(a, b *naivePacket) int { return cmp.Compare(a.ready, b.ready) })
	}
}

func (v *naive) slice(i int) {
	t := &v.c.Timing
	if len(v.fills[i]) > 0 && v.fills[i][0].ready <= v.tick {
		f := v.fills[i][0]
		v.fills[i] = v.fills[i][1:]
		e := v.inFlight[i][f.line]
		e.flying &^= f.sectors
		var stay []*naivePacket
		for _, p := range e.waiting {
			p.missing &^= f.sectors
			switch {
			case p.missing != 0:
				stay = append(stay, p)
			case p.Kind == probe.AccessStore:
				v.counts.InSystem--
			default:
				v.filled[i] = append(v.filled[i], p)
			}
		}
		if e.waiting = stay; len(stay) == 0 {
			delete(v.inFlight[i], f.line)
		}
	}
	if len(v.out[i]) < t.NetQueue {
		var p *naivePacket
		if len(v.filled[i]) > 0 {
			p, v.filled[i] = v.filled[i][0], v.filled[i][1:]
		} else if len(v.hits[i]) > 0 && v.hits[i][0].ready <= v.tick {
			p, v.hits[i] = v.hits[i][0], v.hits[i][1:]
		}
		if p != nil {
			v.out[i] = append(v.out[i], p)
			v.counts.ReplyBytes += v.size(p)
		}
	}
	if len(v.hits[i]) > 0 && v.hits[i][0].ready <= v.tick || len(v.in[i]) == 0 {
		return
	}
	p := v.in[i][0]
	if p.ready > v.tick || v.bankFree[[2]int{i, p.bank}] > v.tick {
		return
	}
	if v.unqueued[i] >= t.L2Queue {
		if !p.memory {
			v.counts.MemoryStalls++
		}
		p.memory = true
		return
	}
	set := &v.sets[cache.XOR(p.Line, v.c.L2.Sets)]
	at := slices.IndexFunc(*set, func(l *naiveLine) bool { return l.line == p.Line })
	valid := uint8(0)
	if at >= 0 {
		valid = (*set)[at].valid
	}
	e := v.inFlight[i][p.Line]
	flying := uint8(0)
	if e != nil {
		flying = e.flying
	}
	whole := uint8(0)
	if p.Kind == probe.AccessStore {
		whole = p.Whole
	}
	var read, wait, written uint8
	for s := range 4 {
		bit := uint8(1) << s
		if p.Sectors&bit == 0 {
			continue
		}
		written |= bit
		if valid&bit == 0 && whole&bit == 0 {
			read |= bit
		}
		if flying&bit != 0 && whole&bit == 0 {
			wait |= bit
		}
	}
	if v.c.WholeLines {
		written = 15
		if p.Sectors&^valid != 0 && valid|whole != 15 {
			read = 15 &^ valid
		}
	}
	if read|wait != 0 && (e == nil && t.MSHRs > 0 && len(v.inFlight[i]) >= t.MSHRs || e != nil && t.Merges > 0 && len(e.waiting) >= t.Merges) {
		if !p.stall {
			v.counts.MSHRStalls++
		}
		p.stall = true
		return
	}
	v.in[i] = v.in[i][1:]
	n := &v.counts
	n.BytesReceived += int64(t.NetHeader + p.Bytes)
	for s := range 4 {
		switch bit := uint8(1) << s; {
		case p.Sectors&bit == 0:
			continue
		case flying&bit != 0:
			n.InFlight++
		case valid&bit != 0:
			n.Hits++
		default:
			n.Misses++
		}
		n.Accesses++
	}
	busy := int64(1)
	for busy*int64(t.L2Bytes) < int64(32*bits.OnesCount8(p.Sectors)) {
		busy++
	}
	v.bankFree[[2]int{i, p.bank}] = v.tick + busy*v.clock.l2
	var line *naiveLine
	switch {
	case at >= 0:
		line = (*set)[at]
		*set = append(slices.Delete(*set, at, at+1), line)
	case v.c.L2.Ways > 0:
		if len(*set) == v.c.L2.Ways {
			if old := (*set)[0]; old.dirty != 0 {
				v.toChannel(i, old.line, old.dirty, 1)
			}
			*set = (*set)[1:]
		}
		line = &naiveLine{line: p.Line}
		*set = append(*set, line)
	}
	if read|wait != 0 {
		if e == nil {
			e = &naiveEntry{}
			v.inFlight[i][p.Line] = e
		}
		p.missing = read | wait
		e.waiting = append(e.waiting, p)
		if fetch := p.missing &^ e.flying; fetch != 0 {
			e.flying |= fetch
			v.toChannel(i, p.Line, fetch, 0)
		}
	}
	switch {
	case line != nil:
		line.valid |= p.Sectors | read
		if p.Kind != probe.AccessLoad {
			line.dirty |= written
		}
	case p.Kind != probe.AccessLoad:
		v.toChannel(i, p.Line, written, 1)
	}
	if read|wait == 0 {
		if p.Kind == probe.AccessStore {
			n.InSystem--
			return
		}
		p.ready = v.tick + int64(t.L2Latency)*v.clock.l2
		v.hits[i] = append(v.hits[i], p)
	}
}

// toChannel sends a read (kind 0) or a write (kind 1).
func (v *naive) toChannel(i int, line uint64, set uint8, kind int) {
	v.unqueued[i]++
	x := &naiveTransfer{line: line, sectors: set, slice: i, place: v.pages.Place(line * 128), arrived: v.tick + int64(v.c.Timing.MemoryLatency)*v.clock.memory}
	c := v.channels[x.place.Channel]
	c.intake[kind] = append(c.intake[kind], x)
	*[]*int64{&v.counts.Reads, &v.counts.WriteBacks}[kind] += int64(bits.OnesCount8(set))
}

func (v *naive) channel(c *naiveChannel) {
	t, p := &v.c.Timing, v.clock.memory
	for kind, places := range []int{t.ReadQueue, t.WriteQueue} {
		for len(c.intake[kind]) > 0 && c.intake[kind][0].arrived <= v.tick && len(c.queue[kind]) < places {
			x := c.intake[kind][0]
			c.intake[kind] = c.intake[kind][1:]
			c.queue[kind] = append(c.queue[kind], x)
			v.unqueued[x.slice]--
		}
	}
	reads, writes := len(c.queue[0]), len(c.queue[1])
	if c.draining == 1 && (writes == 0 || reads > 0 && writes <= t.WriteLow) {
		c.draining = 0
	}
	if c.draining == 0 && writes > 0 && (reads == 0 || writes >= t.WriteHigh) {
		c.draining = 1
		c.n.Drains++
	}
	kind := c.draining
	queue := c.queue[kind]
	latency := p * int64([]int{t.CL, t.WL}[kind])
	open := func(x *naiveTransfer) bool {
		row, ok := c.rows[x.place.Bank]
		return ok && row == x.place.Row
	}
	for i, x := range queue { // serve the oldest whose row is open
		if !open(x) || c.mayUse[x.place.Bank] > v.tick || c.bus > v.tick+latency || kind == 0 && c.mayRead > v.tick {
			continue
		}
		banks := map[int]bool{}
		for _, y := range queue {
			banks[y.place.Bank] = true
		}
		c.n.BankSum += int64(len(banks))
		c.queue[kind] = slices.Delete(queue, i, i+1)
		n := bits.OnesCount8(x.sectors)
		length := p
		for length/p*int64(t.BusBytes) < int64(32*n) {
			length += p
		}
		c.bus = v.tick + latency + length
		c.n.BusySum += length
		switch x.opened {
		case "":
			c.n.Hits++
		case "first":
			c.n.Opens++
		default:
			c.n.Conflicts++
		}
		b := x.place.Bank
		if kind == 1 {
			c.n.Writes++
			c.n.WriteBursts += int64(n)
			c.mayRead = c.bus + p*int64(t.CDLR)
			c.mayClose[b] = max(c.mayClose[b], c.bus+p*int64(t.WR))
			return
		}
		c.n.Reads++
		c.n.ReadBursts += int64(n)
		c.n.ReadLatencySum += c.bus - x.arrived
		c.n.QueueSum += v.tick - x.arrived
		c.mayClose[b] = max(c.mayClose[b], v.tick+length)
		v.fills[x.slice] = append(v.fills[x.slice], fill{x.line, x.sectors, c.bus})
		return
	}
	for i, x := range queue {
		b := x.place.Bank
		oldest, needed := true, false
		for j, y := range queue {
			if y.place.Bank == b {
				oldest = oldest && j >= i
				needed = needed || open(y)
			}
		}
		if !oldest || needed {
			continue
		}
		if _, ok := c.rows[b]; ok {
			if c.mayClose[b] <= v.tick {
				delete(c.rows, b)
				c.mayOpen[b] = max(c.mayOpen[b], v.tick+p*int64(t.RP))
				return
			}
		} else if c.mayOpen[b] <= v.tick && c.anyOpen <= v.tick {
			c.n.Activations++
			x.opened = "again"
			if !c.ever[b] {
				x.opened = "first"
			}
			c.ever[b] = true
			c.rows[b] = x.place.Row
			c.mayOpen[b], c.mayUse[b], c.mayClose[b] = v.tick+p*int64(t.RC), v.tick+p*int64(t.RCD), v.tick+p*int64(t.RAS)
			c.anyOpen = v.tick + p*int64(t.RRD)
			return
		}
	}
}

func (v *naive) total() Counts {
	n := v.counts
	for _, c := range v.channels {
		n.Memory.Add(&c.n)
	}
	return n
}

// randomConfig returns a small memory system.
func randomConfig(rng *rand.Rand) Config {
	t := Fermi
	pick := func(list ...int) int { return list[rng.IntN(len(list))] }
	t.CoreMHz, t.NetworkMHz, t.L2MHz, t.MemoryMHz = pick(1, 2, 3), pick(1, 2, 3), pick(1, 2), pick(1, 2, 3)
	t.NetBytes, t.NetLatency, t.NetQueue = pick(8, 32, 64), pick(1, 3, 8), pick(1, 2, 8)
	t.Slices, t.L2Banks, t.L2Bytes, t.L2Latency, t.MSHRs, t.Merges, t.L2Queue = pick(1, 2, 3), pick(1, 2), pick(16, 32, 128), pick(1, 5, 20), pick(0, 1, 4), pick(0, 1, 3), pick(1, 2, 8)
	t.MemoryLatency, t.ReadQueue, t.WriteQueue, t.WriteHigh, t.WriteLow, t.BusBytes = pick(1, 6), pick(1, 4, 16), 8, pick(2, 5, 8), pick(0, 1), pick(16, 32, 64)
	t.LinkBytes, t.LinkLatency = pick(4, 16), pick(0, 7)
	memory := dram.Default
	memory.Channels, memory.Banks, memory.RowBytes, memory.Zones = pick(1, 2, 4), pick(1, 2, 8), 256, 1
	sms := pick(1, 2, 6)
	if memory.Channels%2 == 0 && sms%2 == 0 {
		memory.Zones = pick(1, 2)
	}
	memory.Pages = []string{"identity", "random:1"}[rng.IntN(2)]
	return Config{SMs: sms, L2: cache.Shape{Sets: pick(1, 4), Ways: pick(0, 1, 4), Index: cache.XOR}, Policy: cache.LRU, WholeLines: rng.IntN(4) == 0, Memory: memory, Timing: t}
}

// TestNaive compares the system with the naive implementation for random requests: equal replies in equal cycles, equal requests that are
// refused, and equal counts.
func TestNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(part.Seed(t), 1))
	for range part.Count(40, 150, 3000) {
		c := randomConfig(rng)
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		s, v := New(c), newNaive(c)
		lines, rate := 1+rng.IntN(64), 1+rng.IntN(8)
		id, cycle := int64(0), int64(0)
		for ; cycle < 400 || s.Next() != Never; cycle++ {
			if cycle > 100000 {
				t.Fatalf("%+v: no end", c)
			}
			var got []Reply
			if s.Next() <= cycle {
				got = s.Advance(cycle, nil)
			}
			if want := v.advance(cycle); !slices.Equal(got, want) {
				t.Fatalf("%+v\ncycle %d: replies %+v, want %+v", c, cycle, got, want)
			}
			if cycle >= 400 {
				continue
			}
			for sm := range c.SMs {
				if rng.IntN(rate) > 0 {
					continue
				}
				r := Request{SM: sm, ID: id, Line: uint64(rng.IntN(lines)) * uint64(1+rng.IntN(2)*8), Sectors: uint8(1 + rng.IntN(15)), Kind: probe.AccessKind(rng.IntN(3))}
				id++
				switch r.Kind {
				case probe.AccessStore:
					r.Whole = r.Sectors & uint8(rng.IntN(16))
					r.Bytes = 32 * bits.OnesCount8(r.Sectors)
				case probe.AccessAtomic:
					r.Bytes = 4
				}
				if s.Send(cycle, &r) != v.send(cycle, &r) {
					t.Fatalf("%+v\ncycle %d: request %d is refused by one", c, cycle, r.ID)
				}
			}
		}
		if got, want := s.Total(), v.total(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\n%+v, want\n%+v", c, got, want)
		}
		if err := s.Verify(); err != nil {
			t.Fatal(err)
		}
	}
}
