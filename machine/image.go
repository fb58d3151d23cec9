package machine

import (
	"encoding/binary"

	"gemu/machine/stream"
)

// ImageCounts are the differences between the order of the machine and the execution.
type ImageCounts struct {
	Loads      int64 `json:"loads"`      // transactions of loads from global memory whose bytes are compared
	Changed    int64 `json:"changed"`    // those that would have seen another value
	Uncompared int64 `json:"uncompared"` // further transactions of loads, which cannot be compared: from lines that unknown transactions have written, or of freed buffers
	Unknown    int64 `json:"unknown"`    // transactions of asynchronous copies to global memory, whose bytes are unknown until the launch ends
	Different  int64 `json:"different"`  // bytes that differ from the memory of the execution at the end of the launch, without lines that unknown transactions write
}

// Add adds the counts of o.
func (c *ImageCounts) Add(o *ImageCounts) {
	c.Loads += o.Loads
	c.Changed += o.Changed
	c.Uncompared += o.Uncompared
	c.Unknown += o.Unknown
	c.Different += o.Different
}

// atomicUnit is the size in bytes of the smallest atomic.
const atomicUnit = 2

// imageLine is a line that the machine has written.
type imageLine struct {
	stream.Line
	unknown bool                                  // some bytes are unknown
	atomics *[stream.LineBytes / atomicUnit]int64 // by unit of atomicUnit bytes: number of its latest atomic
}

// image is the global memory of a launch in the order of a machine. A launch is executed first, and the machine then decides the order of its
// requests. The image starts as memory at the start of the launch, and takes stores in the machine's order. So it has the bytes that the
// caches and the memory of the machine transfer, and it finds the loads that would have seen another value: those of programs whose
// results depend on an order that the machine does not keep.
//
// Atomics keep the order of the execution: an atomic that is older than the latest atomic on the same two bytes does not change them. The
// results of atomics are those of the execution.
type image struct {
	ImageCounts
	memory  *stream.Memory           // nil after the launch
	lines   stream.Table[*imageLine] // written lines
	origins *origins                 // of all launches; nil: not needed
}

// newImage returns the image of a launch that starts, with the origins of lines after the launches before it; nil: origins are not needed.
func newImage(l *stream.Launch, o *origins) *image {
	if o != nil {
		o.begin(l)
	}
	return &image{memory: l.Memory, origins: o}
}

// written returns a line that the machine has written; nil if it has not written the line.
func (m *image) written(number uint64) *imageLine {
	if l := m.lines.Find(number); l != nil {
		return *l
	}
	return nil
}

// line reads a line. ok is false if its bytes are unknown.
func (m *image) line(number uint64, to *stream.Line) (ok bool) {
	if l := m.written(number); l != nil {
		*to = l.Line
		return !l.unknown
	}
	return m.memory != nil && m.memory.Begin(number, to)
}

// write writes the bytes of a store or an atomic.
func (m *image) write(number uint64, c *stream.Content) {
	if m.origins != nil {
		m.origins.write(number, c)
	}
	at := m.lines.At(number)
	l := *at
	if l == nil {
		l = new(imageLine)
		m.memory.Begin(number, &l.Line)
		*at = l
	}
	switch {
	case !c.Known():
		m.Unknown++
		l.unknown = true
	case c.Atomic == 0:
		l.Line.Write(c)
	default:
		l.atomic(c)
	}
}

// atomic writes the bytes of an atomic that have had no later atomic.
func (l *imageLine) atomic(c *stream.Content) {
	if l.atomics == nil {
		l.atomics = new([stream.LineBytes / atomicUnit]int64)
	}
	newer := *c
	for u := range l.atomics {
		const units = stream.SectorBytes / atomicUnit
		mask := uint32(1<<atomicUnit-1) << (atomicUnit * (u % units))
		switch {
		case c.Bytes[u/units]&mask == 0:
		case l.atomics[u] > c.Atomic:
			newer.Bytes[u/units] &^= mask
		default:
			l.atomics[u] = c.Atomic
		}
	}
	var data [stream.LineBytes]byte // by sector; Line.Write expects the sectors with bytes only
	rest, kept := c.Data, data[:0]
	for s := range c.Bytes {
		if c.Bytes[s] == 0 {
			continue
		}
		if newer.Bytes[s] != 0 {
			kept = append(kept, rest[:stream.SectorBytes]...)
		}
		rest = rest[stream.SectorBytes:]
	}
	newer.Data = kept
	l.Line.Write(&newer)
}

// load compares the bytes that a load has seen in the execution with those that it sees in the order of the machine. It returns false if they
// differ; Uncompared counts loads whose bytes are unknown in one of them.
func (m *image) load(number uint64, c *stream.Content) bool {
	var now stream.Line
	if !c.Known() || !m.line(number, &now) {
		m.Uncompared++
		return true
	}
	m.Loads++
	if now.Sum(&c.Bytes) == c.Sum {
		return true
	}
	m.Changed++
	return false
}

// end compares the image with the memory of the execution at the end of the launch.
func (m *image) end() {
	for number := range m.memory.Written() {
		var now, mine stream.Line
		if l := m.written(number); l != nil && l.unknown || !m.memory.Now(number, &now) {
			continue
		}
		m.line(number, &mine)
		for at := 0; at < stream.LineBytes; at += 8 {
			for diff := binary.LittleEndian.Uint64(now[at:]) ^ binary.LittleEndian.Uint64(mine[at:]); diff != 0; diff >>= 8 {
				if diff&0xff != 0 {
					m.Different++
				}
			}
		}
	}
}
