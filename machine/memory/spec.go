package memory

import (
	"errors"
	"fmt"
	"slices"

	"gemu/internal/notation"
	"gemu/machine/cache"
	"gemu/machine/dram"
)

// Config is a memory system with its caches.
type Config struct {
	SMs        int                              // number of multiprocessors
	L2         cache.Shape                      // lines of the L2 of all slices
	Policy     func(cache.Shape) cache.Policy   // replacement in the L2
	WholeLines bool                             // the L2 and memory transfer lines, not sectors
	Memory     dram.Spec                        // channels, banks, rows, address map, pages and zones
	Structure  func(addr uint64) dram.Structure // buffer of an address, for the placement; nil: none
	Timing     Spec                             // network, L2 and memory

	Compression *Compression // lines in compressed forms; nil: none
}

// Spec is the timing of a memory system: the network between the multiprocessors and the L2, the L2, and the channels of memory.
//
// Times of the network and the L2 are cycles of their clocks, those of memory cycles of its command clock.
type Spec struct {
	CoreMHz    int // clock of the multiprocessors
	NetworkMHz int // clock of the network
	L2MHz      int // clock of the L2
	MemoryMHz  int // clock of the commands of memory

	NetBytes   int // bytes per cycle of each port of the network, in each direction
	NetLatency int // cycles of a packet in the network, besides those of its bytes
	NetQueue   int // packets that wait at each port
	NetHeader  int // bytes of a packet besides its data

	Slices    int // slices of the L2 for each channel
	L2Banks   int // banks of a slice
	L2Bytes   int // bytes per cycle of a bank
	L2Latency int // cycles from the access to the reply of a hit
	MSHRs     int // lines in flight of a slice; 0: no limit
	Merges    int // accesses that wait for a line; 0: no limit
	L2Queue   int // transfers of a slice that wait for a place in the queue of a channel

	MemoryLatency int // cycles of a request from the L2 to the queue of its channel
	ReadQueue     int // reads among which a channel chooses
	WriteQueue    int // writes among which a channel chooses
	WriteHigh     int // writes from which on a channel writes before it reads
	WriteLow      int // writes down to which it does so
	BusBytes      int // bytes per cycle of the data bus of a channel
	CL            int // from the command of a read to its first data
	WL            int // from the command of a write to its first data
	RCD           int // from opening a row to the command of a read or write
	RP            int // from closing a row to opening one in the same bank
	RAS           int // from opening a row to closing it
	RC            int // from opening a row to opening the next one in the same bank
	RRD           int // from opening a row to opening one in another bank of the channel
	CDLR          int // from the last data of a write to the command of a read
	WR            int // from the last data of a write to closing its row

	LinkBytes   int // bytes per cycle from a zone to another, in each direction
	LinkLatency int // cycles of the network of a packet between zones, besides those in a zone

	Readings []Reading // parameters whose values are unknown, with their ranges
}

// Reading is a parameter whose value is unknown: the specification assumes a value of a range.
type Reading struct {
	Name      string   // name of the parameter, for Set
	Low, High int      // the range; Low is the value for the faster machine
	With      []string // further parameters, which have the same value
}

// has reports whether the reading has a parameter.
func (r *Reading) has(name string) bool { return r.Name == name || slices.Contains(r.With, name) }

// Fermi is the timing of a GTX 480: clocks, memory and MSHRs of GPGPU-Sim's configuration GTX480, whose core cycles are those of 700 MHz.
// The queue of writes is GPGPU-Sim's default.
var Fermi = Spec{
	CoreMHz: 700, NetworkMHz: 700, L2MHz: 700, MemoryMHz: 924,
	NetBytes: 32, NetLatency: 8, NetQueue: 8, NetHeader: 8,
	Slices: 2, L2Banks: 1, L2Bytes: 32, L2Latency: 60, MSHRs: 32, Merges: 4, L2Queue: 8,
	MemoryLatency: 60, ReadQueue: 16, WriteQueue: 32, WriteHigh: 28, WriteLow: 16, BusBytes: 32,
	CL: 12, WL: 4, RCD: 12, RP: 12, RAS: 28, RC: 40, RRD: 6, CDLR: 5, WR: 12,
	LinkBytes: 64, LinkLatency: 150,
	Readings: []Reading{
		{Name: "net.latency", Low: 2, High: 30}, {Name: "net.queue", Low: 32, High: 4}, {Name: "l2.banks", Low: 4, High: 1}, {Name: "l2.latency", Low: 20, High: 120},
		{Name: "l2.queue", Low: 32, High: 4}, {Name: "dram.latency", Low: 10, High: 120}, {Name: "link.latency", Low: 50, High: 300},
	},
}

// CABA is the timing of Vijaykumar et al. 2016, table 1: multiprocessors and network have 1.4 GHz. The clock of the L2 is not there: it is that
// of the configuration GTX480, to which the rest of the table belongs.
var CABA = Fermi.with(func(s *Spec) {
	s.CoreMHz, s.NetworkMHz = 1400, 1400
	s.Readings = slices.Concat(s.Readings, []Reading{{Name: "clock.l2", Low: 1400, High: 700}})
})

// Volta is the timing of a Quadro GV100 or a V100: clocks, memory, MSHRs and the width of the network of GPGPU-Sim's configuration
// SM7_GV100 (accel-sim/gpgpu-sim_distribution, version 69dc67fd), whose 32 channels of HBM2 have 870 GB/s. SM7_QV100 (version 045b68f3)
// differs in the clocks, 1132 MHz, which is the base clock of a Quadro GV100; both have 1628 MHz as its boost. Cycles depend on the ratio
// to the clock of memory, so the clock is a reading between these.
var Volta = Spec{
	CoreMHz: 1447, NetworkMHz: 1447, L2MHz: 1447, MemoryMHz: 850,
	NetBytes: 40, NetLatency: 20, NetQueue: 8, NetHeader: 8,
	Slices: 2, L2Banks: 1, L2Bytes: 32, L2Latency: 120, MSHRs: 192, Merges: 4, L2Queue: 16,
	MemoryLatency: 50, ReadQueue: 64, WriteQueue: 32, WriteHigh: 28, WriteLow: 16, BusBytes: 32,
	CL: 12, WL: 2, RCD: 12, RP: 12, RAS: 28, RC: 40, RRD: 3, CDLR: 3, WR: 10,
	LinkBytes: 64, LinkLatency: 150,
	Readings: append([]Reading{{"clock.core", 1132, 1628, []string{"clock.net", "clock.l2"}}}, voltaReadings...),
}

// voltaReadings are the readings of Volta and of GPUs after it.
var voltaReadings = []Reading{
	{Name: "net.latency", Low: 5, High: 50}, {Name: "net.queue", Low: 32, High: 4}, {Name: "l2.banks", Low: 4, High: 1}, {Name: "l2.latency", Low: 60, High: 180},
	{Name: "l2.queue", Low: 64, High: 4}, {Name: "dram.latency", Low: 10, High: 100}, {Name: "dram.queue", Low: 64, High: 16}, {Name: "link.latency", Low: 50, High: 300},
}

// Timings of GPUs after Volta: clocks and bandwidth of "NVIDIA A100 Tensor Core GPU Architecture"
// (2020) and "NVIDIA H100 Tensor Core GPU Architecture" (2022): 40 and 80 channels of 32 bytes per cycle have 1555 GB/s and 3.35 TB/s. The
// latencies of memory in cycles, and all other numbers, are those of Volta, as readings.
var (
	// Ampere is the timing of an A100.
	Ampere = Volta.with(func(s *Spec) {
		s.CoreMHz, s.NetworkMHz, s.L2MHz, s.MemoryMHz, s.L2Bytes = 1410, 1410, 1410, 1215, 64
		s.Readings = slices.Concat(voltaReadings, laterReadings)
	})
	// Hopper is the timing of an H100.
	Hopper = Volta.with(func(s *Spec) {
		s.CoreMHz, s.NetworkMHz, s.L2MHz, s.MemoryMHz, s.L2Bytes, s.Slices = 1755, 1755, 1755, 1310, 64, 1
		s.Readings = slices.Concat(voltaReadings, laterReadings)
	})
)

// laterReadings are the further readings of GPUs after Volta.
var laterReadings = []Reading{
	{Name: "net.bytes", Low: 64, High: 32}, {Name: "l2.mshrs", Low: 512, High: 96}, {Name: "l2.merges", Low: 16, High: 4}, {Name: "dram.cl", Low: 12, High: 24},
	{Name: "dram.rcd", Low: 12, High: 24}, {Name: "dram.rp", Low: 12, High: 24}, {Name: "dram.ras", Low: 28, High: 50}, {Name: "dram.rc", Low: 40, High: 74},
}

// with returns a changed copy.
func (s Spec) with(change func(*Spec)) Spec {
	change(&s)
	return s
}

// Ends returns the specification with all readings at the end of their range for the faster machine, and with all at the other.
func (s *Spec) Ends() (fast, slow Spec) {
	fast, slow = *s, *s
	for _, r := range s.Readings {
		for _, name := range append([]string{r.Name}, r.With...) {
			p := parameterNamed(name)
			*p.Of(&fast), *p.Of(&slow) = r.Low, r.High
		}
	}
	return fast, slow
}

// Value returns the value of a parameter, one of Parameters.
func (s *Spec) Value(name string) int64 { return int64(*parameterNamed(name).Of(s)) }

// parameterNamed returns a parameter; nil if there is none.
func parameterNamed(name string) *Parameter {
	i := slices.IndexFunc(Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &Parameters[i]
}

// Parameter is a number of a Spec.
type Parameter struct {
	Name string           // name for Set
	Doc  string           // meaning
	Low  int              // smallest value
	High int              // largest value
	Of   func(*Spec) *int // number
}

// Parameters are the numbers of a Spec.
var Parameters = []Parameter{
	{"clock.core", "clock of the multiprocessors in MHz", 1, 10000, func(s *Spec) *int { return &s.CoreMHz }},
	{"clock.net", "clock of the network in MHz", 1, 10000, func(s *Spec) *int { return &s.NetworkMHz }},
	{"clock.l2", "clock of the L2 in MHz", 1, 10000, func(s *Spec) *int { return &s.L2MHz }},
	{"clock.dram", "clock of the commands of memory in MHz", 1, 10000, func(s *Spec) *int { return &s.MemoryMHz }},
	{"net.bytes", "bytes per cycle of a port of the network, in each direction", 1, 1024, func(s *Spec) *int { return &s.NetBytes }},
	{"net.latency", "cycles of a packet in the network, besides those of its bytes", 1, 10000, func(s *Spec) *int { return &s.NetLatency }},
	{"net.queue", "packets that wait at a port of the network", 1, 1024, func(s *Spec) *int { return &s.NetQueue }},
	{"net.header", "bytes of a packet besides its data", 1, 128, func(s *Spec) *int { return &s.NetHeader }},
	{"l2.slices", "slices of the L2 for each channel", 1, 16, func(s *Spec) *int { return &s.Slices }},
	{"l2.banks", "banks of a slice", 1, 16, func(s *Spec) *int { return &s.L2Banks }},
	{"l2.bytes", "bytes per cycle of a bank", 1, 1024, func(s *Spec) *int { return &s.L2Bytes }},
	{"l2.latency", "cycles from the access to the reply of a hit", 1, 10000, func(s *Spec) *int { return &s.L2Latency }},
	{"l2.mshrs", "lines in flight of a slice; 0: no limit", 0, 1 << 16, func(s *Spec) *int { return &s.MSHRs }},
	{"l2.merges", "accesses that wait for a line; 0: no limit", 0, 1 << 16, func(s *Spec) *int { return &s.Merges }},
	{"l2.queue", "transfers of a slice that wait for a place in the queue of a channel", 1, 1024, func(s *Spec) *int { return &s.L2Queue }},
	{"dram.latency", "cycles of a request from the L2 to the queue of its channel", 1, 10000, func(s *Spec) *int { return &s.MemoryLatency }},
	{"dram.queue", "reads among which a channel chooses", 1, 256, func(s *Spec) *int { return &s.ReadQueue }},
	{"dram.writes", "writes among which a channel chooses", 1, 256, func(s *Spec) *int { return &s.WriteQueue }},
	{"dram.high", "writes from which on a channel writes before it reads", 1, 256, func(s *Spec) *int { return &s.WriteHigh }},
	{"dram.low", "writes down to which it does so", 0, 255, func(s *Spec) *int { return &s.WriteLow }},
	{"dram.bytes", "bytes per cycle of the data bus of a channel", 1, 1024, func(s *Spec) *int { return &s.BusBytes }},
	{"dram.cl", "cycles from the command of a read to its first data", 1, 1000, func(s *Spec) *int { return &s.CL }},
	{"dram.wl", "cycles from the command of a write to its first data", 1, 1000, func(s *Spec) *int { return &s.WL }},
	{"dram.rcd", "cycles from opening a row to the command of a read or write", 1, 1000, func(s *Spec) *int { return &s.RCD }},
	{"dram.rp", "cycles from closing a row to opening one in its bank", 1, 1000, func(s *Spec) *int { return &s.RP }},
	{"dram.ras", "cycles from opening a row to closing it", 1, 1000, func(s *Spec) *int { return &s.RAS }},
	{"dram.rc", "cycles from opening a row to opening the next in its bank", 1, 1000, func(s *Spec) *int { return &s.RC }},
	{"dram.rrd", "cycles from opening a row to opening one in another bank of the channel", 1, 1000, func(s *Spec) *int { return &s.RRD }},
	{"dram.cdlr", "cycles from the last data of a write to the command of a read", 1, 1000, func(s *Spec) *int { return &s.CDLR }},
	{"dram.wr", "cycles from the last data of a write to closing its row", 1, 1000, func(s *Spec) *int { return &s.WR }},
	{"link.bytes", "bytes per cycle from a zone to another, in each direction", 1, 1 << 16, func(s *Spec) *int { return &s.LinkBytes }},
	{"link.latency", "cycles of a packet between zones, besides those in a zone", 0, 10000, func(s *Spec) *int { return &s.LinkLatency }},
}

// Set changes a parameter, one of Parameters, which is no longer a reading. ok is false if there is no such parameter. Check must be called
// after all changes.
func (s *Spec) Set(name, value string) (ok bool, err error) {
	p := parameterNamed(name)
	if p == nil {
		return false, nil
	}
	n, err := notation.ParseSize(value)
	if value == "0" { // no size, but a number of parameters
		n, err = 0, nil
	}
	if err != nil || n < uint64(p.Low) || n > uint64(p.High) {
		return true, fmt.Errorf("want a number from %d to %d", p.Low, p.High)
	}
	*p.Of(s) = int(n)
	s.Readings = slices.DeleteFunc(slices.Clone(s.Readings), func(r Reading) bool { return r.has(name) })
	return true, nil
}

// Check returns an error if a number is out of its range. It names the number.
func (s *Spec) Check() error {
	for i := range Parameters {
		p := &Parameters[i]
		if n := *p.Of(s); n < p.Low || n > p.High {
			return fmt.Errorf("%s = %d: want %d to %d", p.Name, n, p.Low, p.High)
		}
	}
	if s.WriteLow >= s.WriteHigh || s.WriteHigh > s.WriteQueue {
		return fmt.Errorf("dram.low = %d, dram.high = %d, dram.writes = %d: want low < high <= writes", s.WriteLow, s.WriteHigh, s.WriteQueue)
	}
	if c := s.clocks(); c.core > maxPeriod {
		return fmt.Errorf("clocks of %d, %d, %d and %d MHz: want clocks whose least common multiple is at most %d times that of the multiprocessors",
			s.CoreMHz, s.NetworkMHz, s.L2MHz, s.MemoryMHz, maxPeriod)
	}
	return nil
}

// Check returns an error if the memory system cannot be built.
func (c *Config) Check() error {
	if err := c.Timing.Check(); err != nil {
		return err
	}
	if err := c.Memory.Check(); err != nil {
		return err
	}
	m, err := c.Memory.AddressMap()
	if err != nil {
		return err
	}
	z := max(c.Memory.Zones, 1)
	switch {
	case c.Compression != nil && !c.WholeLines:
		return errors.New("compressed lines need an L2 and a memory that transfer whole lines")
	case c.Compression != nil && c.Compression.Tags > 1 && c.L2.Ways > 0 && !cache.New[l2Line](cache.Shape{Sets: 1, Ways: c.L2.Ways * c.Compression.Tags}, c.Policy).Trims():
		return fmt.Errorf("an L2 with %d tags for each of its %d ways: want at most 64 tags in a set, and the policy lru", c.Compression.Tags, c.L2.Ways)
	case !m.KeepsLines():
		return fmt.Errorf("address map %s: a clock needs a map that keeps the 128 bytes of a line in a row", m.Name)
	case c.SMs%z != 0:
		return fmt.Errorf("dram.zones = %d: want a number that divides the %d multiprocessors", z, c.SMs)
	case c.SMs+m.Channels*(c.Timing.Slices+1)+2 > maxParts:
		return fmt.Errorf("%d multiprocessors, %d channels and %d slices: want at most %d in all", c.SMs, m.Channels, m.Channels*c.Timing.Slices, maxParts-2)
	}
	return nil
}

// clocks are the periods of the clocks in ticks, the longest time of which all periods are multiples.
type clocks struct{ core, network, l2, memory int64 }

// maxPeriod is the maximum number of ticks of a core cycle.
const maxPeriod = 1 << 20

// clocks returns the periods.
func (s *Spec) clocks() clocks {
	all := int64(1)
	for _, mhz := range []int{s.CoreMHz, s.NetworkMHz, s.L2MHz, s.MemoryMHz} {
		all = all / gcd(all, int64(mhz)) * int64(mhz)
	}
	return clocks{all / int64(s.CoreMHz), all / int64(s.NetworkMHz), all / int64(s.L2MHz), all / int64(s.MemoryMHz)}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
