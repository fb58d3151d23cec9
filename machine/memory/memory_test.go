package memory

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gemu/machine/cache"
	"gemu/machine/dram"
	"gemu/probe"
)

// small is a system with a channel of two banks, whose rows have two lines, and a slice. Lines 0 and 2 are in row 0 of bank 0, line 1 in bank
// 1, line 4 in row 1 of bank 0. All clocks are equal. A request of a load takes a cycle at its port and two on the way; a reply with a
// sector takes two and two.
func small() Config {
	t := Fermi
	t.CoreMHz, t.NetworkMHz, t.L2MHz, t.MemoryMHz = 1, 1, 1, 1
	t.NetBytes, t.NetLatency, t.NetHeader, t.Slices, t.L2Banks, t.L2Latency, t.MemoryLatency = 32, 2, 8, 1, 1, 5, 3
	memory := dram.Default
	memory.Channels, memory.Banks, memory.RowBytes = 1, 2, 256
	return Config{SMs: 2, L2: cache.Shape{Sets: 1, Ways: 4}, Policy: cache.LRU, Memory: memory, Timing: t}
}

// send is a request in a test.
type send struct {
	at      int64
	sm      int
	line    uint64
	kind    probe.AccessKind
	sectors uint8 // 0: the first
	whole   uint8
	bytes   int
	bursts  int
	ack     bool
}

const (
	load   = probe.AccessLoad
	store  = probe.AccessStore
	atomic = probe.AccessAtomic
)

// play sends requests and returns the replies: the number of the request in the list, and the cycle.
func play(t *testing.T, c Config, list []send) (*System, string) {
	t.Helper()
	s := New(c)
	var replies []Reply
	for i, r := range list {
		for s.Next() <= r.at {
			replies = s.Advance(s.Next(), replies)
		}
		if !s.Send(r.at, &Request{SM: r.sm, ID: int64(i), Line: r.line, Sectors: max(r.sectors, 1), Whole: r.whole, Kind: r.kind, Bytes: r.bytes, Bursts: r.bursts, Acknowledged: r.ack}) {
			t.Errorf("request %d is refused", i)
		}
	}
	for s.Next() != Never {
		replies = s.Advance(s.Next(), replies)
	}
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
	var text []string
	for _, r := range replies {
		text = append(text, fmt.Sprintf("%d@%d", r.ID, r.At))
	}
	return s, strings.Join(text, " ")
}

// TestSequences has sequences whose cycles are worked out by hand. The first miss: the request starts in cycle 1, and is at the slice in
// cycle 4 and at the channel in cycle 7, which opens the row. It reads in cycle 19, the sector is there in cycle 32, and the reply arrives
// in cycle 36. A hit takes 13 cycles: 1 to 4 on the way, 5 in the L2, 4 on the way back.
func TestSequences(t *testing.T) {
	const all = 0b1111
	for _, c := range []struct {
		name   string
		change func(*Config)
		sends  []send
		want   string
		counts func(*Counts) string
		expect string
	}{
		{"miss, then hit", nil, []send{{at: 0}, {at: 40}}, "0@36 1@53",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.Hits, n.Memory.Opens, n.LatencySum) }, "1 1 1 49"},
		// The second request is a cycle later. Both are filled in cycle 32; the port of replies is free again in cycle 34.
		{"merge in an MSHR", nil, []send{{}, {}}, "0@36 1@38",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.InFlight, n.Memory.Reads) }, "1 1 1"},
		{"another sector of a line in flight is fetched", nil, []send{{}, {sectors: 3}}, "0@36 1@39",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.InFlight, n.Memory.Reads, n.Memory.Hits) }, "2 1 2 1"},
		// One place for merges: the second waits at the slice until the fill in cycle 32, and then hits.
		{"no place in the MSHR", func(c *Config) { c.Timing.Merges = 1 }, []send{{}, {}}, "0@36 1@41",
			func(n *Counts) string { return fmt.Sprint(n.InFlight, n.Hits, n.MSHRStalls) }, "0 1 1"},
		// It misses in cycle 32, is at the channel in 35, and reads from bank 1 in 47.
		{"no free MSHR", func(c *Config) { c.Timing.MSHRs = 1 }, []send{{}, {line: 1}}, "0@36 1@64",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.MSHRStalls) }, "2 1"},
		// The second is read in cycle 20, when the bus is free.
		{"row hit", nil, []send{{}, {line: 2}}, "0@36 1@38",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Hits, n.Memory.Opens, n.Memory.Conflicts) }, "1 1 0"},
		// The row is closed in 35 (RAS), the next opened in 47 (RP and RC), read in 59, there in 72.
		{"row conflict", nil, []send{{}, {line: 4}}, "0@36 1@76",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Hits, n.Memory.Opens, n.Memory.Conflicts) }, "0 1 1"},
		{"RC is longer than RAS and RP", func(c *Config) { c.Timing.RC = 50 }, []send{{}, {line: 4}}, "0@36 1@86", nil, ""},
		{"first ready, first come: line 2 overtakes line 4", nil, []send{{}, {line: 4}, {line: 2}}, "0@36 2@38 1@76",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Hits, n.Memory.Conflicts) }, "1 1"},
		// A queue of one request does not see line 2, which comes after the row of line 4 and needs row 0 again: closed in 75 (RAS), opened in
		// 87, read in 99, there in 112.
		{"a queue of one request is first come, first served", func(c *Config) { c.Timing.ReadQueue = 1 }, []send{{}, {line: 4}, {line: 2}}, "0@36 1@76 2@116", nil, ""},
		// Bank 1 is opened in 13 (RRD), read in 25, there in 38.
		{"banks work in parallel", nil, []send{{}, {line: 1}}, "0@36 1@42",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Opens, n.Memory.BankSum) }, "2 3"},
		// The write opens row 1 of bank 0 when no read is left: closed in 35, opened in 47, written in 59, there in 64. The read of its row
		// is at the channel in 67, may read in 69 (CDLR), and is there in 82.
		{"a read waits after a write", func(c *Config) { c.L2.Ways = 0 }, []send{{}, {line: 4, kind: store, whole: 1, bytes: 32}, {at: 60, line: 6}}, "0@36 2@86",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Writes, n.WriteBacks, n.Reads, n.Memory.Drains) }, "1 1 2 1"},
		// As before, but row 0 must be opened: closed in 76 (WR is longer than RAS), opened in 88, read in 100, there in 113.
		{"a row is closed after a write", func(c *Config) { c.L2.Ways, c.Timing.RAS = 0, 20 }, []send{{}, {line: 4, kind: store, whole: 1, bytes: 32}, {at: 60, line: 2}}, "0@36 2@117", nil, ""},
		// Reads of line 0 and 4 would come first, but two writes are at the channel in 9 and 11 and take over from then on: they open row 0
		// of bank 1 in 13 (RRD) and write in 25 and 26, there in 31. Then line 0, whose row is open since 7, is read in 36 (CDLR), there in
		// 49, and line 4 is opened in 60 (closed in 37, RP 49, RC 47: 49), read in 61, there in 74.
		{"writes are drained at the upper mark", func(c *Config) { c.L2.Ways, c.Timing.WriteHigh, c.Timing.WriteLow = 0, 2, 0 },
			[]send{{}, {sm: 1, line: 4}, {at: 1, line: 1, kind: store, whole: 1, bytes: 32}, {at: 1, line: 3, kind: store, whole: 1, bytes: 32}}, "0@53 1@78",
			func(n *Counts) string { return fmt.Sprint(n.Memory.Drains, n.Memory.Hits, n.Memory.Conflicts) }, "1 1 1"},
		// The store takes the port of the slice in 1 to 5, 136 bytes, and its bank in 8 to 11. The load takes the port in 6, is there in 9, and
		// has the bank in 12.
		{"ports and banks are taken", nil, []send{{sectors: all, kind: store, whole: all, bytes: 128}, {at: 0, sm: 1}}, "1@21",
			func(n *Counts) string { return fmt.Sprint(n.Hits, n.Misses, n.Reads, n.BytesSent, n.ReplyBytes) }, "1 4 0 144 40"},
		// A store of some bytes reads its sector; an atomic has a reply.
		{"a partial store reads", nil, []send{{kind: store, bytes: 4}, {kind: atomic, bytes: 4}}, "1@36",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.InFlight, n.Reads, n.Memory.Reads) }, "1 1 1 1"},
		{"dirty lines are written when they leave", func(c *Config) { c.L2.Ways = 1 }, []send{{kind: store, whole: 3, sectors: 3, bytes: 64}, {at: 10, line: 1}}, "1@46",
			func(n *Counts) string { return fmt.Sprint(n.WriteBacks, n.Memory.Writes, n.Memory.WriteBursts) }, "2 1 2"},
		{"whole lines are read", func(c *Config) { c.WholeLines = true }, []send{{}, {at: 60, sectors: all}}, "0@39 1@76",
			func(n *Counts) string { return fmt.Sprint(n.Misses, n.Hits, n.Reads, n.Memory.Reads) }, "1 4 4 1"},
		// All other clocks have a third of the cycles.
		{"a core that is three times as fast", func(c *Config) { c.Timing.CoreMHz = 3 }, []send{{}}, "0@108", nil, ""},
		// Zone 0 has SM 0 and the even lines, as zones are the parity of all bits of the line. Line 1 is in zone 1: 8 bytes take two cycles of
		// the link, and ten more; the reply takes ten more too.
		{"another zone", func(c *Config) {
			c.Memory.Channels, c.Memory.Zones, c.Timing.LinkBytes, c.Timing.LinkLatency = 2, 2, 4, 10
		}, []send{{}, {line: 1}}, "0@36 1@57",
			func(n *Counts) string { return fmt.Sprint(n.LinkBytes) }, "48"},
	} {
		config := small()
		if c.change != nil {
			c.change(&config)
		}
		s, got := play(t, config, c.sends)
		if got != c.want {
			t.Errorf("%s: replies %s, want %s", c.name, got, c.want)
		}
		if c.counts != nil {
			n := s.Total()
			if got := c.counts(&n); got != c.expect {
				t.Errorf("%s: counts %s, want %s", c.name, got, c.expect)
			}
		}
	}
}

// TestBackPressure: a full queue refuses a request, and an event frees a place.
func TestBackPressure(t *testing.T) {
	c := small()
	c.Timing.NetQueue = 1
	s := New(c)
	r := Request{Sectors: 1}
	if !s.Send(0, &r) || s.Send(0, &r) {
		t.Fatal("want one place")
	}
	if s.Next() != 1 || len(s.Advance(1, nil)) != 0 || !s.Send(1, &r) || s.Send(1, &r) {
		t.Error("want a place after cycle 1")
	}
	if n := s.Total(); n.Refused != 2 || n.Loads != 2 {
		t.Errorf("%+v", n)
	}
}

// TestReadLatency: the latency of a read of memory is that from its arrival at the channel, and its unit is a core cycle.
func TestReadLatency(t *testing.T) {
	c := small()
	c.Timing.CoreMHz = 2
	s, _ := play(t, c, []send{{}})
	n := s.Total().Memory
	if got := s.ReadLatency(); got != 50 || n.BankParallelism() != 1 || n.QueueSum != 24 { // 32 - 7 cycles of memory
		t.Errorf("%v cycles, %v banks, %d ticks in the queue", got, n.BankParallelism(), n.QueueSum)
	}
	if wait, share := s.QueueWait(), s.BusShare(20); wait != 24 || share != 0.1 { // 12 cycles of memory; a transfer in 10
		t.Errorf("%v cycles in the queue, %v of the bus", wait, share)
	}
}

// TestSet: each parameter changes its own number, and is no longer a reading.
func TestSet(t *testing.T) {
	for _, start := range []Spec{Fermi, Volta, Ampere, Hopper} {
		if err := start.Check(); err != nil {
			t.Error(err)
		}
		for i := range Parameters {
			s := start
			p := &Parameters[i]
			if ok, err := s.Set(p.Name, fmt.Sprint(p.High-1)); !ok || err != nil || *p.Of(&s) != p.High-1 {
				t.Errorf("%s: %v, %v", p.Name, ok, err)
			}
			for _, end := range []int{p.Low, p.High} {
				if _, err := s.Set(p.Name, fmt.Sprint(end)); err != nil || *p.Of(&s) != end {
					t.Errorf("%s = %d: %v", p.Name, end, err)
				}
			}
			*p.Of(&s) = *p.Of(&start)
			known := slices.IndexFunc(start.Readings, func(r Reading) bool { return r.Name == p.Name || slices.Contains(r.With, p.Name) }) < 0
			if known != (len(s.Readings) == len(start.Readings)) {
				t.Errorf("%s: readings %v", p.Name, s.Readings)
			}
			s.Readings = start.Readings
			if !reflect.DeepEqual(s, start) {
				t.Errorf("%s changes another number", p.Name)
			}
			for _, value := range []string{"x", fmt.Sprint(p.Low - 1), fmt.Sprint(p.High + 1)} {
				if ok, err := s.Set(p.Name, value); !ok || err == nil {
					t.Errorf("%s=%s is accepted", p.Name, value)
				}
			}
		}
	}
	if ok, _ := (&Spec{}).Set("l2", "1"); ok {
		t.Error("l2 is no parameter of the timing")
	}
}

// TestReadings: the value of a reading is in its range, and the ends of all ranges make a machine. The faster one is not slower.
func TestReadings(t *testing.T) {
	for _, s := range []Spec{Fermi, Volta, Ampere, Hopper} {
		for _, r := range s.Readings {
			value := s.Value(r.Name)
			if value < int64(min(r.Low, r.High)) || value > int64(max(r.Low, r.High)) {
				t.Errorf("%s = %d is not from %d to %d", r.Name, value, r.Low, r.High)
			}
			for _, name := range r.With {
				if n := s.Value(name); n != value {
					t.Errorf("%s = %d, and %s = %d", r.Name, value, name, n)
				}
			}
		}
		var latency []int64
		fast, slow := s.Ends()
		for _, r := range s.Readings {
			for _, name := range append([]string{r.Name}, r.With...) {
				if a, b := fast.Value(name), slow.Value(name); a != int64(r.Low) || b != int64(r.High) {
					t.Errorf("%s = %d and %d at the ends of %s, want %d and %d", name, a, b, r.Name, r.Low, r.High)
				}
			}
		}
		for _, timing := range []Spec{fast, s, slow} {
			if err := timing.Check(); err != nil {
				t.Error(err)
			}
			c := small()
			c.Timing = timing
			system, _ := play(t, c, []send{{}, {at: 1000}})
			latency = append(latency, system.Counts.LatencySum)
		}
		if !slices.IsSorted(latency) {
			t.Errorf("latencies %v", latency)
		}
	}
}

// TestCheck has machines that cannot be built.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) {}, ""},
		{func(c *Config) { c.Timing.NetQueue = 0 }, "net.queue"},
		{func(c *Config) { c.Timing.WriteLow = 28 }, "dram.low"},
		{func(c *Config) { c.Timing.WriteHigh = 33 }, "dram.high"},
		{func(c *Config) { c.Timing.CoreMHz, c.Timing.L2MHz, c.Timing.MemoryMHz = 9973, 9967, 9949 }, "least common multiple"},
		{func(c *Config) { c.Memory.Zones = 2 }, "zones = 2"},
		{func(c *Config) { c.SMs, c.Memory.Channels, c.Memory.Zones = 3, 2, 2 }, "dram.zones = 2"},
		{func(c *Config) { c.SMs = maxParts }, "want at most"},
		{func(c *Config) { c.Memory.Map = strings.Repeat("0", 32) + "RRRRRRRRRRRRRRRRCCCCCCBBBBCSSSSS" }, "in a row"},
		{func(c *Config) { c.Memory.Map = "none" }, "none"},
	} {
		config := small()
		c.change(&config)
		err := config.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestFrames: a memory that is too small for the data of the requests is an error.
func TestFrames(t *testing.T) {
	c := small()
	c.Memory.Rows, c.Memory.Pages = 8, "first-touch" // 4 KiB
	if s, _ := play(t, c, []send{{}, {line: 1}}); s.Err() != nil {
		t.Error(s.Err())
	}
	if s, _ := play(t, c, []send{{}, {line: 32}}); s.Err() == nil {
		t.Error("two pages in one frame")
	}
}

// BenchmarkSystem has the time for a request that misses the L2 (memory), and for one that hits (l2), of a machine of 80 multiprocessors
// with 32 requests each.
func BenchmarkSystem(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines uint64
	}{{"memory", 1 << 22}, {"l2", 1 << 13}} {
		b.Run(c.name, func(b *testing.B) {
			config := Config{SMs: 80, L2: cache.Shape{Sets: 3072, Ways: 16, Index: cache.XOR}, Policy: cache.LRU, Memory: dram.Default, Timing: Volta}
			config.Memory.Channels = 32
			s := New(config)
			free := make([]int, config.SMs)
			for i := range free {
				free[i] = 32
			}
			var replies []Reply
			line, now := uint64(0), int64(0)
			for sent := 0; sent < b.N; {
				for sm := range free {
					for free[sm] > 0 && sent < b.N && s.Send(now, &Request{SM: sm, Line: line * 5 % c.lines, Sectors: 15}) {
						free[sm]--
						line++
						sent++
					}
				}
				now = s.Next()
				replies = s.Advance(now, replies[:0])
				for _, r := range replies {
					free[r.SM]++
				}
			}
			n := s.Total()
			b.ReportMetric(float64(now)/float64(b.N), "cycles/op")
			b.ReportMetric(float64(n.Hits)/float64(n.Accesses), "hits")
		})
	}
}
