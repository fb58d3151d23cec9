package dram

import (
	"errors"
	"fmt"
	"strings"

	"gemu/internal/notation"
)

// lineBytes is the size of the transactions that the named maps spread; BurstBytes is the size of an access.
const (
	lineBytes  = 128
	BurstBytes = 32
)

// Spec is a memory.
type Spec struct {
	Channels  int    // number of channels
	Banks     int    // banks of a channel, a power of two; a map of letters has its own number
	RowBytes  int    // size of a row, a power of two; a map of letters has its own
	Rows      int    // rows of a bank, which determine the size of the memory; a map of letters has its own
	Map       string // name of an address map (Schemes), or its letters (ParseMap)
	Pages     string // frames of pages: "identity", "random:SEED" or "first-touch"
	PageBytes int    // size of a page, a power of two
	Zones     int    // zones of a machine, each with an equal part of the channels; 0: one
	// Policy places pages instead of Pages; nil: Pages.
	Policy *Policy
}

// Default is a memory of 4 GiB. Its numbers are those of common GDDR5 memories; it is no particular GPU.
var Default = Spec{Channels: 8, Banks: 16, RowBytes: 2 << 10, Rows: 1 << 14, Map: "scheme7", Pages: "identity", PageBytes: 4 << 10}

// ParameterNames are the names of the parameters of Set.
var ParameterNames = []string{"channels", "banks", "row", "rows", "map", "pages", "page", "zones"}

// Set changes a parameter, one of ParameterNames. Check must be called after all changes.
func (s *Spec) Set(name, value string) error {
	number := func(to *int) error {
		n, err := notation.ParseSize(value)
		if err != nil || n > 1<<30 {
			return errors.New("want a number such as 8, 512 or 2K, at most 1G")
		}
		*to = int(n)
		return nil
	}
	switch name {
	case "channels":
		return number(&s.Channels)
	case "banks":
		return number(&s.Banks)
	case "row":
		return number(&s.RowBytes)
	case "rows":
		return number(&s.Rows)
	case "map":
		s.Map = value
	case "pages":
		s.Pages, s.Policy = value, nil
	case "page":
		return number(&s.PageBytes)
	case "zones":
		return number(&s.Zones)
	default:
		return fmt.Errorf("unknown parameter %q; want one of %s", name, strings.Join(ParameterNames, ", "))
	}
	return nil
}

// Check returns an error if the memory cannot be built.
func (s *Spec) Check() error {
	if !isPowerOfTwo(s.PageBytes) || s.PageBytes < lineBytes {
		return fmt.Errorf("page = %d: want a power of two from %d bytes on", s.PageBytes, lineBytes)
	}
	m, err := s.AddressMap()
	if err != nil {
		return err
	}
	if s.Zones < 0 || m.Channels%max(s.Zones, 1) != 0 {
		return fmt.Errorf("zones = %d: want a number that divides the %d channels", s.Zones, m.Channels)
	}
	if s.Policy != nil {
		return nil
	}
	_, err = newStandard(s, m)
	return err
}

// AddressMap returns the address map.
func (s *Spec) AddressMap() (*Map, error) {
	switch {
	case s.Channels < 1 || s.Channels > maxChannels:
		return nil, fmt.Errorf("channels = %d: want 1 to %d", s.Channels, maxChannels)
	case !isPowerOfTwo(s.Banks) || s.Banks > maxBanks:
		return nil, fmt.Errorf("banks = %d: want a power of two up to %d", s.Banks, maxBanks)
	case !isPowerOfTwo(s.RowBytes) || s.RowBytes < lineBytes || s.RowBytes > maxRowBytes:
		return nil, fmt.Errorf("row = %d: want a power of two from %d to %d bytes", s.RowBytes, lineBytes, maxRowBytes)
	case s.Rows < 1 || s.Rows > 1<<24:
		return nil, fmt.Errorf("rows = %d: want 1 to %d", s.Rows, 1<<24)
	}
	if len(s.Map) >= 64 {
		return ParseMap(s.Map, s.Channels)
	}
	return named(s.Map, s)
}

// Counts are accesses of BurstBytes. Reads + Writes = Hits + Opens + Conflicts.
type Counts struct {
	Reads     int64 `json:"reads"`     // bursts read
	Writes    int64 `json:"writes"`    // bursts written
	Hits      int64 `json:"hits"`      // bursts whose row is open
	Opens     int64 `json:"opens"`     // bursts whose bank has no open row
	Conflicts int64 `json:"conflicts"` // bursts whose bank has another row open
}

// Bursts returns the number of accesses.
func (c *Counts) Bursts() int64 { return c.Reads + c.Writes }

// Activations returns the number of times that a row is opened.
func (c *Counts) Activations() int64 { return c.Opens + c.Conflicts }

// Add adds the counts of o.
func (c *Counts) Add(o *Counts) {
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.Hits += o.Hits
	c.Opens += o.Opens
	c.Conflicts += o.Conflicts
}

// Memory is a memory in use. Buffers are numbers that its user chooses.
type Memory struct {
	Map      *Map            // address map
	Channels []Counts        // by channel
	Buffers  map[int]*Counts // by number of the buffer
	// Pairs has the conflicts of each pair of buffers: that of the access, and that of the access before it in the bank.
	Pairs map[[2]int]int64
	// Structure returns a buffer, for the placement of its pages; nil: the placement does not know buffers.
	Structure func(buffer int) Structure

	pages  *Pages
	banks  []bank // by channel, then bank
	buffer int    // of the access in progress
}

// bank is the open row of a bank.
type bank struct {
	open   bool
	row    uint64
	buffer int // buffer of the last access
}

// New returns a memory. The spec must pass its Check.
func New(s Spec) *Memory {
	pages := NewPages(s)
	m, _ := s.AddressMap()
	out := &Memory{Map: m, Channels: make([]Counts, m.Channels), Buffers: map[int]*Counts{}, Pairs: map[[2]int]int64{}, pages: pages, banks: make([]bank, m.Channels*m.Banks)}
	pages.Structure = func(uint64) (of Structure) {
		if out.Structure != nil {
			of = out.Structure(out.buffer)
		}
		return of
	}
	return out
}

// Err returns an error if the accessed pages are more than the frames of the memory, so that the counts are those of a larger memory.
func (m *Memory) Err() error { return m.pages.Err() }

// Access accesses a burst of a buffer at a virtual address.
func (m *Memory) Access(addr uint64, write bool, buffer int) {
	m.buffer = buffer
	p := m.pages.Place(addr)
	b := &m.banks[p.Channel*m.Map.Banks+p.Bank]
	var n Counts
	n.Reads = 1
	if write {
		n.Reads, n.Writes = 0, 1
	}
	switch {
	case !b.open:
		n.Opens = 1
	case b.row == p.Row:
		n.Hits = 1
	default:
		n.Conflicts = 1
		m.Pairs[[2]int{buffer, b.buffer}]++
	}
	*b = bank{true, p.Row, buffer}
	m.Channels[p.Channel].Add(&n)
	of := m.Buffers[buffer]
	if of == nil {
		of = new(Counts)
		m.Buffers[buffer] = of
	}
	of.Add(&n)
}

// ResetCounts forgets the accesses so far. Open rows and places of pages remain.
func (m *Memory) ResetCounts() {
	clear(m.Channels)
	clear(m.Buffers)
	clear(m.Pairs)
}

// Total returns the counts of all channels.
func (m *Memory) Total() (n Counts) {
	for i := range m.Channels {
		n.Add(&m.Channels[i])
	}
	return n
}

// Balance returns the number of bursts of the channel with the most, divided by the mean of all channels; 1 without accesses.
func (m *Memory) Balance() float64 {
	total, most := m.Total(), int64(0)
	for i := range m.Channels {
		most = max(most, m.Channels[i].Bursts())
	}
	if total.Bursts() == 0 {
		return 1
	}
	return float64(most) * float64(len(m.Channels)) / float64(total.Bursts())
}

// Verify returns an error if the counts contradict each other, which is a fault of this package.
func (m *Memory) Verify() error {
	total, buffers, pairs := m.Total(), Counts{}, int64(0)
	for _, c := range m.Buffers {
		buffers.Add(c)
	}
	for _, n := range m.Pairs {
		pairs += n
	}
	switch {
	case total.Bursts() != total.Hits+total.Opens+total.Conflicts, total != buffers, pairs != total.Conflicts, total.Opens > int64(len(m.banks)):
		return fmt.Errorf("BUG: counts of memory contradict each other: %+v, of buffers %+v, of pairs %d", total, buffers, pairs)
	}
	return nil
}
