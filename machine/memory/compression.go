package memory

import (
	"math/bits"

	"gemu/internal/coalesce"
	"gemu/machine/cache"
	"gemu/probe"
)

// LineBursts is the number of bursts of 32 bytes of a line that is not compressed.
const LineBursts = coalesce.LineBytes / coalesce.SectorBytes

// Compression has lines in compressed forms in memory, and, if L2 is true, in the L2 and the network, too. The L2 and memory must transfer whole
// lines (Config.WholeLines): no sector can be taken from a form. docs/caba.md has the definitions.
type Compression struct {
	// Bursts returns the bursts of the form of a line, with its bytes at this moment: 1 to LineBursts.
	Bursts func(line uint64) int
	// Write writes the bytes of a store or an atomic (Request.Content), which the L2 takes. Transfers because of the access come before it.
	Write func(line uint64, content any)
	L2    bool // the L2 keeps forms, and the network transfers them; otherwise the controllers of memory compress and decompress
	// Kept: a line stays raw after a store without a form (Request.Bursts), or an atomic, until a store with a form overwrites it. A store of a
	// part of a compressed line is returned to its multiprocessor (Reply.Returned). Otherwise logic next to the L2 does this in no time.
	Kept bool
	// Tags is the number of tags of the L2 for each of its ways. From 2 on a set has as many lines as fit into its bytes in their forms, and have a
	// tag; otherwise a form takes the place of a line. L2 must be true, and the policy of the L2 a cache.Orderer.
	Tags int
	// Uncompressed: the L2 keeps a line uncompressed from the first reply in a form on, because its receiver decompresses it. L2 must be true.
	Uncompressed bool
	Compress     int // core cycles of dedicated logic that compresses a line
	Decompress   int // core cycles of dedicated logic that decompresses a line
	// Metadata are the lines of a cache of the controllers with the number of bursts of each line; without ways the numbers are always known.
	Metadata     cache.Shape
	MetadataLine int // lines of data whose numbers are in a line of Metadata
}

// MetadataCache is a cache of the numbers of bursts of compressed lines. Its policy is LRU.
type MetadataCache struct {
	cache *cache.Lines[metadataLine]
	lines uint64 // lines of data of a line of metadata
}

// metadataLine is a line of the cache of metadata.
type metadataLine struct{ dirty bool }

// NewMetadataCache returns an empty cache. A line of it has the numbers of some lines of data.
func NewMetadataCache(shape cache.Shape, lines int) *MetadataCache {
	return &MetadataCache{cache.New[metadataLine](shape, cache.LRU), uint64(lines)}
}

// LookUp looks up the number of bursts of a line. changed: the access changes the number. hit reports whether the cache has it. left is the
// number of the line of metadata that has left the cache and differs from memory; -1: none.
func (c *MetadataCache) LookUp(line uint64, write, changed bool) (left int64, hit bool) {
	a := &cache.Access{Line: line / c.lines, Store: write}
	left = -1
	entry := c.cache.Access(a)
	if hit = entry != nil; !hit {
		entry = c.cache.Insert(a, func(number uint64, old *metadataLine) {
			if old.dirty {
				left = int64(number)
			}
		})
	}
	entry.dirty = entry.dirty || changed
	return left, hit
}

// Dirty returns the number of lines of metadata that differ from memory.
func (c *MetadataCache) Dirty() (n int64) {
	c.cache.All(func(_ uint64, line *metadataLine) {
		if line.dirty {
			n++
		}
	})
	return n
}

// compressed is the state of a system with compressed lines.
type compressed struct {
	*Compression
	metadata *MetadataCache   // nil: the numbers of bursts are known
	last     map[uint64]uint8 // by line: bursts that its metadata have; absent: those of its first bytes
	kept     map[uint64]uint8 // by line, with Kept: bursts of the latest store
}

func newCompressed(c *Compression) *compressed {
	z := &compressed{Compression: c, last: map[uint64]uint8{}, kept: map[uint64]uint8{}}
	if c.Metadata.Ways > 0 {
		z.metadata = NewMetadataCache(c.Metadata, c.MetadataLine)
	}
	return z
}

// bursts returns the bursts of a line as it is stored.
func (z *compressed) bursts(line uint64) int {
	n := z.Bursts(line)
	if z.Kept {
		n = max(n, int(z.kept[line]))
	}
	return n
}

// keep notes how a store or an atomic leaves its line.
func (z *compressed) keep(p *packet) {
	if _, ok := z.last[p.Line]; !ok && z.metadata != nil { // the line has its first bytes until now
		z.last[p.Line] = uint8(z.Bursts(p.Line))
	}
	if p.Content != nil {
		z.Write(p.Line, p.Content)
	}
	switch {
	case !z.Kept:
	case p.Kind == probe.AccessStore && p.Whole == allSectors && p.Bursts > 0:
		z.kept[p.Line] = uint8(p.Bursts)
	default:
		z.kept[p.Line] = LineBursts
	}
}

// mustReturn reports whether a request is a store of a part of a compressed line, which its multiprocessor must merge.
func (s *System) mustReturn(p *packet) bool {
	z := s.compressed
	return z != nil && z.Kept && p.Kind == probe.AccessStore && p.Acknowledged && p.Whole != allSectors && s.form(p.Line) > 0
}

// bankBytes returns the bytes of the L2 that a request accesses: those of the form of a compressed line.
func (s *System) bankBytes(p *packet) int {
	if p.Kind == probe.AccessStore && p.Bursts > 0 {
		return p.Bursts * coalesce.SectorBytes
	}
	if p.Kind == probe.AccessLoad || p.returned {
		if n := s.form(p.Line); n > 0 {
			return n * coalesce.SectorBytes
		}
	}
	return bits.OnesCount8(p.Sectors) * coalesce.SectorBytes
}

// form returns the bursts of the form in which the L2 sends a line to a multiprocessor; 0: its sectors are sent as they are.
func (s *System) form(line uint64) int {
	z := s.compressed
	if z == nil || !z.L2 {
		return 0
	}
	if z.Uncompressed {
		if l := s.l2.Peek(line); l != nil && l.uncompressed {
			return 0
		}
	}
	if n := z.bursts(line); n < LineBursts {
		return n
	}
	return 0
}

// answer chooses the form of the reply of a packet, and returns the tick in which the reply is decompressed if it is there at a tick.
func (s *System) answer(p *packet, tick int64) (ready int64) {
	if p.Kind != probe.AccessLoad && !p.returned {
		return tick
	}
	if p.form = s.form(p.Line); p.form > 0 {
		p.Sectors = allSectors // a form has the whole line
		tick += int64(s.compressed.Decompress) * s.clock.core
	}
	return tick
}

// keepUncompressed notes that the receiver of a reply decompresses a line, which the L2 keeps uncompressed from then on.
func (s *System) keepUncompressed(line uint64) {
	if z := s.compressed; z != nil && z.Uncompressed {
		if l := s.l2.Peek(line); l != nil {
			l.uncompressed = true
		}
	}
}

// resize gives a line of a slice the bytes of its form in the L2. Other lines of its set leave for it.
func (s *System) resize(l *slice, n int, number uint64, tick int64) {
	z := s.compressed
	if z == nil || z.Tags < 2 {
		return
	}
	line := s.l2.Peek(number)
	if line == nil {
		return
	}
	line.bursts = uint8(z.bursts(number))
	s.l2.Trim(number, s.config.L2.Ways*LineBursts, func(line *l2Line) int { return int(line.bursts) }, func(number uint64, old *l2Line) {
		if old.dirty != 0 {
			s.writeBack(l, n, number, old.dirty, tick)
		}
	})
}

// metadataRow is the first row of the metadata of a channel, beyond the rows of all maps.
const metadataRow = 1 << 48

// compress sets the bursts of a transfer of a line, and sends it to its channel, with transfers of metadata if their cache does not have them. A
// read of a line waits for its metadata.
func (s *System) compress(l *slice, t *transfer) {
	z := s.compressed
	bursts := z.bursts(t.line)
	t.bursts = uint8(bursts)
	s.Counts.Bursts += int64(bursts)
	if t.write && !z.L2 && bursts < LineBursts {
		t.arrived += int64(z.Compress) * s.clock.core
	}
	if z.metadata == nil {
		s.submit(l, t)
		return
	}
	changed := t.write && int(z.last[t.line]) != bursts
	z.last[t.line] = uint8(bursts)
	left, hit := z.metadata.LookUp(t.line, t.write, changed)
	s.Counts.MetadataLookups++
	if left >= 0 {
		s.Counts.MetadataWrites++
		s.submit(l, s.metadataTransfer(t, uint64(left), true))
	}
	if hit {
		s.submit(l, t)
		return
	}
	s.Counts.MetadataMisses++
	m := s.metadataTransfer(t, t.line/z.metadata.lines, false)
	if t.write {
		s.submit(l, t)
	} else {
		waiting := *t
		m.then = &waiting
		l.unqueued++
	}
	s.submit(l, m)
}

// metadataTransfer returns a transfer of a burst of metadata, next to a transfer of data. A channel has the metadata of its lines, in rows of
// their own.
func (s *System) metadataTransfer(of *transfer, number uint64, write bool) *transfer {
	s.Counts.Bursts++
	memory := &s.config.Memory
	perRow := uint64(max(memory.RowBytes/coalesce.SectorBytes, 1))
	place := of.place
	place.Bank = int(number / perRow % uint64(len(s.channels[0].banks)))
	place.Row = metadataRow + number/perRow/uint64(len(s.channels[0].banks))
	return &transfer{line: number, metadata: true, bursts: 1, write: write, place: place, slice: of.slice, arrived: of.arrived}
}

// sendWaiting sends the read that has waited for its metadata, which are there at a tick.
func (s *System) sendWaiting(t *transfer, tick int64) {
	s.slices[t.slice].unqueued-- // submit counts it again
	t.arrived = tick
	s.submit(&s.slices[t.slice], t)
}
