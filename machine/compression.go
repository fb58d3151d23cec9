package machine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gemu/machine/codec"
	"gemu/machine/memory"
	"gemu/machine/stream"
	"gemu/probe"
)

// BurstCounts are the lines that memory transfers, and their bursts of 32 bytes in compressed forms (docs/caba.md).
//
// 1 <= bursts of a line <= 4 in each form; Best <= BDI, FPC and CPack.
type BurstCounts struct {
	Reads   int64 `json:"reads"`   // lines that the L2 reads
	Writes  int64 `json:"writes"`  // lines that the L2 writes back
	Unknown int64 `json:"unknown"` // lines of these whose bytes are unknown: local memory, freed buffers, asynchronous copies; they take four bursts in each form
	Raw     int64 `json:"raw"`     // lines that no algorithm makes smaller, with those that are unknown

	BDI      int64 `json:"bdi"`         // bursts in forms of BDI
	FPC      int64 `json:"fpc"`         // bursts in forms of FPC
	CPack    int64 `json:"c_pack"`      // bursts in forms of C-Pack
	Bytewise int64 `json:"byte_wise"`   // bursts in byte-wise forms
	Best     int64 `json:"best"`        // bursts in the smallest form of BDI, FPC and C-Pack
	Listing  int64 `json:"bdi_listing"` // bursts in forms of BDI to the letter of the paper's algorithm 2

	Once int64 `json:"once"` // bursts in forms of codec once: the encodings of stored registers; lines without are raw. Not counted, 0, for a recording

	System int64 `json:"system,omitempty"` // bursts in the forms of the machine's systems; without them 0
}

// Add adds the counts of o.
func (c *BurstCounts) Add(o *BurstCounts) {
	c.Reads += o.Reads
	c.Writes += o.Writes
	c.Unknown += o.Unknown
	c.Raw += o.Raw
	c.BDI += o.BDI
	c.FPC += o.FPC
	c.CPack += o.CPack
	c.Bytewise += o.Bytewise
	c.Best += o.Best
	c.Listing += o.Listing
	c.Once += o.Once
	c.System += o.System
}

// Bursts returns the number of bursts without compression.
func (c *BurstCounts) Bursts() int64 { return codec.LineBursts * (c.Reads + c.Writes) }

// MetadataCounts are the accesses to the cache of metadata.
type MetadataCounts struct {
	Lookups int64 `json:"lookups"` // transfers of lines
	Hits    int64 `json:"hits"`    // lookups whose line of metadata is in the cache
	Writes  int64 `json:"writes"`  // lines of metadata that leave the cache and differ from memory
}

// CompressedBuffer has the counts of a buffer.
type CompressedBuffer struct {
	stream.Buffer
	BurstCounts
	Encodings [codec.Encodings]int64 // known lines by their encoding of BDI
	ByOrigin  [Origins]OriginCounts  // lines by their origin
	// Drain has the lines that are dirty in the L2 at the end, as if they were written then. BurstCounts and Encodings are without them.
	Drain          BurstCounts
	DrainEncodings [codec.Encodings]int64 // known lines of Drain by their encoding of BDI
	DrainByOrigin  [Origins]OriginCounts  // lines of Drain by their origin
}

// Compression counts the bursts of the transfers of a machine in all forms.
type Compression struct {
	Metadata MetadataCounts // accesses to the cache of metadata

	machine *Machine
	buffers map[stream.Buffer]*CompressedBuffer
	last    *CompressedBuffer // of the latest transfer
	caches  []metadataCache   // the first has its counts in Metadata
	bursts  *StoredBursts     // in forms of BDI
	err     error             // first error of the codec of a system
	line    codec.Line        // of the latest transfer: with a line of its own each transfer would allocate memory
}

// metadataCache is a cache of metadata with its counts.
type metadataCache struct {
	*MetadataCounts
	cache *memory.MetadataCache

	earlier int64 // lines that differed from memory at the latest ResetCounts
}

// NewCompression counts the transfers of a machine from now on. The machine should transfer whole lines (Spec.WholeLines), and its launches
// need data (stream.NewDataRecorder): other lines have unknown bytes.
func NewCompression(m *Machine) *Compression {
	c := &Compression{machine: m, buffers: map[stream.Buffer]*CompressedBuffer{}}
	c.bursts = NewStoredBursts(m, codec.BDI.Bursts)
	c.addCache(*m.spec.metadata(), &c.Metadata)
	m.OnTransfer(c.transfer)
	return c
}

// AddMetadata counts the accesses to a further cache of metadata, too, and returns its counts. The caller must call it before the first launch.
func (c *Compression) AddMetadata(s Metadata) *MetadataCounts {
	counts := &MetadataCounts{}
	c.addCache(s, counts)
	return counts
}

// addCache adds an empty cache of metadata.
func (c *Compression) addCache(s Metadata, counts *MetadataCounts) {
	c.caches = append(c.caches, metadataCache{counts, memory.NewMetadataCache(s.Shape(), s.Lines()), 0})
}

// ResetCounts forgets the transfers so far. The caches of metadata keep their lines.
func (c *Compression) ResetCounts() {
	c.last = nil
	clear(c.buffers)
	for i := range c.caches {
		m := &c.caches[i]
		*m.MetadataCounts, m.earlier = MetadataCounts{}, m.cache.Dirty()
	}
}

// transfer counts a transfer.
func (c *Compression) transfer(t *Transfer) {
	b := c.last
	if b == nil || b.Buffer != t.Buffer {
		if b = c.buffers[t.Buffer]; b == nil {
			b = &CompressedBuffer{Buffer: t.Buffer}
			c.buffers[t.Buffer] = b
		}
		c.last = b
	}
	if t.Write {
		b.Writes++
	} else {
		b.Reads++
	}
	bursts := c.count(b, t)
	changed := c.bursts.Transfer(t, bursts)
	for i := range c.caches {
		c.caches[i].lookUp(t.Line, t.Write, changed)
	}
}

// bytesOf returns the line of a transfer, until the next call; nil if its bytes are unknown.
func (c *Compression) bytesOf(t *Transfer) *codec.Line {
	if !t.Bytes((*stream.Line)(&c.line)) {
		return nil
	}
	return &c.line
}

// count counts the bursts of the line of a transfer of a buffer. It returns the bursts of its form of BDI.
func (c *Compression) count(b *CompressedBuffer, t *Transfer) (bdi int) {
	line := c.bytesOf(t)
	bdi, bytewise := b.count(line)
	origin, registers := t.Origin()
	once, err := b.ByOrigin[origin].count(registers, line, bdi, bytewise)
	b.Once += int64(once)
	if parts := c.machine.parts; parts.Compressed != nil && parts.Compressed.Registers {
		b.System += int64(once)
	} else if parts.Codec != nil {
		b.System += int64(systemBursts(parts.Codec, t.Line, line, &c.err))
	}
	c.err = cmp.Or(c.err, err)
	return bdi
}

// count counts the bursts of a line, nil if its bytes are unknown, in the forms of algorithms that choose a form by the bytes. It returns the bursts of its form of
// BDI, and those of its byte-wise form.
func (b *CompressedBuffer) count(line *codec.Line) (bdi, bytewise int) {
	sizes := [codec.Count + 1]int{}
	for i := range sizes {
		sizes[i] = codec.LineBursts
	}
	best := codec.LineBursts
	smallest := codec.LineBursts // of all algorithms
	if line != nil {
		for i := range sizes {
			a := codec.Codec(i)
			bytes, e := a.Size(line)
			sizes[i] = codec.Bursts(bytes)
			if a == codec.BDI {
				b.Encodings[e]++
			}
			if a <= codec.CPack {
				best = min(best, sizes[i])
			}
			smallest = min(smallest, sizes[i])
		}
	} else {
		b.Unknown++
	}
	if smallest == codec.LineBursts {
		b.Raw++
	}
	b.BDI += int64(sizes[codec.BDI])
	b.FPC += int64(sizes[codec.FPC])
	b.CPack += int64(sizes[codec.CPack])
	b.Bytewise += int64(sizes[codec.Bytewise])
	b.Listing += int64(sizes[codec.BDIListing])
	b.Best += int64(best)
	return sizes[codec.BDI], sizes[codec.Bytewise]
}

// systemBursts returns the bursts of a line, nil if its bytes are unknown, in the form of a system. It notes an error of the system in err.
func systemBursts(system func(uint64, *codec.Line) int, number uint64, line *codec.Line, err *error) int {
	if line == nil {
		return codec.LineBursts
	}
	bytes := system(number, line)
	if bytes < 1 || bytes > codec.LineBytes {
		*err = cmp.Or(*err, fmt.Errorf("the codec of a system has returned a form of %d bytes; want 1 to %d", bytes, codec.LineBytes))
		return codec.LineBursts
	}
	return codec.Bursts(bytes)
}

// StoredBursts are the bursts of the forms in which memory has its lines, which are the metadata, in the order of a machine. The copies of the host have
// forms, too: a line that the host has written, or nothing, has the bursts of these bytes until the L2 writes it back.
type StoredBursts struct {
	copied func(*codec.Line) int // bursts of the form that a copy has
	bursts stream.Table[uint8]   // by line; 0: those of its copy, whose bytes it still has
}

// NewStoredBursts follows the bursts of the lines of a machine. copied returns the bursts of the form that a line has after the host has written it. The
// caller must call it before the first launch.
func NewStoredBursts(m *Machine, copied func(*codec.Line) int) *StoredBursts {
	s := &StoredBursts{copied: copied}
	m.OnHostWrite(s.bursts.Clear)
	m.OnL2(func(a *L2Access) {
		if a.Kind != probe.AccessLoad {
			s.of(a.Line, a.Bytes)
		}
	})
	return s
}

// of returns the bursts of a line to change them. bytes reads the line. A line with unknown bytes is raw.
func (s *StoredBursts) of(number uint64, bytes func(*stream.Line) bool) *uint8 {
	at := s.bursts.At(number)
	if *at == 0 {
		*at = codec.LineBursts
		if line := (codec.Line{}); bytes((*stream.Line)(&line)) {
			*at = uint8(s.copied(&line))
		}
	}
	return at
}

// Transfer reports whether a transfer of a line with some bursts changes those that memory has: only a write does. It must be called with each transfer.
func (s *StoredBursts) Transfer(t *Transfer, bursts int) (changed bool) {
	at := s.of(t.Line, t.Bytes)
	if !t.Write || int(*at) == bursts {
		return false
	}
	*at = uint8(bursts)
	return true
}

// lookUp looks up the number of bursts of a line, which changes if changed is true.
func (c *metadataCache) lookUp(line uint64, write, changed bool) {
	c.Lookups++
	left, hit := c.cache.LookUp(line, write, changed)
	if hit {
		c.Hits++
	}
	if left >= 0 {
		c.Writes++
	}
}

// Buffers returns the counts by buffer, in the order of their addresses, also of buffers that have dirty lines only.
func (c *Compression) Buffers() []CompressedBuffer {
	drains := map[stream.Buffer]*CompressedBuffer{}
	c.machine.Drain(func(t *Transfer) {
		b := drains[t.Buffer]
		if b == nil {
			b = &CompressedBuffer{}
			drains[t.Buffer] = b
		}
		b.Writes++
		c.count(b, t)
	})
	var list []CompressedBuffer
	for _, b := range c.buffers {
		list = append(list, *b)
	}
	for buffer := range drains {
		if c.buffers[buffer] == nil {
			list = append(list, CompressedBuffer{Buffer: buffer})
		}
	}
	for i := range list {
		if d := drains[list[i].Buffer]; d != nil {
			list[i].Drain, list[i].DrainEncodings, list[i].DrainByOrigin = d.BurstCounts, d.Encodings, d.ByOrigin
		}
	}
	slices.SortFunc(list, func(a, b CompressedBuffer) int { return compareBuffers(&a.Buffer, &b.Buffer) })
	return list
}

// Total returns the sum over all buffers.
func (c *Compression) Total() (total BurstCounts) {
	for _, b := range c.buffers {
		total.Add(&b.BurstCounts)
	}
	return total
}

// Verify returns the first error of the codec of a system, or an error if the counts contradict each other, which is a fault of this package.
func (c *Compression) Verify() error {
	check := func(name string, n *BurstCounts, encodings *[codec.Encodings]int64, byOrigin *[Origins]OriginCounts) error {
		var origins OriginCounts
		for i := range byOrigin {
			origins.Add(&byOrigin[i])
		}
		if origins.Lines != n.Reads+n.Writes || origins.BDI != n.BDI || origins.Once[codec.SharedBase] != n.Once || n.Once > n.Bursts() || n.Once < n.Reads+n.Writes {
			return fmt.Errorf("BUG: %s: %+v, by origin %+v", name, *n, *byOrigin)
		}
		known := int64(0)
		for _, lines := range encodings {
			known += lines
		}
		lines := n.Reads + n.Writes
		if known+n.Unknown != lines || n.Best > min(n.BDI, n.FPC, n.CPack) || n.BDI > n.Listing || n.Best < lines || max(n.BDI, n.FPC, n.CPack, n.Bytewise, n.Listing) > n.Bursts() || n.Unknown > n.Raw || n.Raw > lines {
			return fmt.Errorf("BUG: %s: %+v, encodings %v", name, *n, *encodings)
		}
		return nil
	}
	list := c.Buffers()
	if c.err != nil {
		return c.err
	}
	for i := range list {
		b := &list[i]
		if err := errors.Join(check(b.Name, &b.BurstCounts, &b.Encodings, &b.ByOrigin), check(b.Name+" at the end", &b.Drain, &b.DrainEncodings, &b.DrainByOrigin)); err != nil {
			return err
		}
	}
	total := c.Total()
	for _, m := range c.caches {
		if m.Lookups != total.Reads+total.Writes || m.Hits > m.Lookups || m.Writes > total.Writes+m.earlier {
			return fmt.Errorf("BUG: %+v, metadata %+v", total, *m.MetadataCounts)
		}
	}
	return nil
}
