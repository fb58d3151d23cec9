package stream

import (
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sort"

	"gemu/machine/codec"
	"gemu/probe"
)

// Line is the bytes of a line.
type Line [LineBytes]byte

// ByteSet is a set of bytes of a line: a bit for each byte of each sector.
type ByteSet = [LineBytes / SectorBytes]uint32

// Content is the bytes of a transaction with global memory. It is the zero Content if they are unknown: local memory, and asynchronous
// copies to global memory.
type Content struct {
	Bytes  ByteSet // accessed bytes
	Sum    uint64  // of a load: Line.Sum of the bytes that it saw
	Data   []byte  // of a store or an atomic: the accessed sectors after the instruction, in their order
	Atomic int64   // of an atomic: number of its transaction among those of the launch, from 1 on, in the order of the execution
	// Registers is the encodings of the registers that an encoded store writes (Recorder.Encode), if the transaction covers its line; otherwise zero.
	Registers codec.Registers
}

// WholeLine is the set of all bytes of a line.
var WholeLine = ByteSet{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}

// Known reports whether the bytes are known.
func (c *Content) Known() bool { return c.Bytes != ByteSet{} }

// expanded has the bytes 0xff of a byte's set bits.
var expanded = func() (list [256]uint64) {
	for i := range list {
		for b := range 8 {
			list[i] |= uint64(i>>b&1) * 0xff << (8 * b)
		}
	}
	return list
}()

// Sum returns a checksum of some bytes of the line.
func (l *Line) Sum(set *ByteSet) uint64 {
	sum := uint64(0)
	for s, touched := range set {
		for k := 0; touched != 0; k++ {
			v := binary.LittleEndian.Uint64(l[s*SectorBytes+8*k:]) & expanded[touched&0xff]
			sum = (bits.RotateLeft64(sum, 29) ^ v) * 0x9e3779b97f4a7c15
			touched >>= 8
		}
	}
	return sum
}

// Write replaces the bytes of a store or an atomic.
func (l *Line) Write(c *Content) {
	data := c.Data
	for s, touched := range c.Bytes {
		if touched == 0 {
			continue
		}
		for k := range SectorBytes / 8 {
			at := l[s*SectorBytes+8*k:]
			set := expanded[touched>>(8*k)&0xff]
			binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)&^set|binary.LittleEndian.Uint64(data[8*k:])&set)
		}
		data = data[SectorBytes:]
	}
}

// allocations are the allocations of a device that launches have accessed, without overlaps, by address. The latest of overlapping
// allocations remains: the others were freed.
type allocations struct {
	list     []*probe.Allocation
	known    map[*probe.Allocation]bool
	last     *probe.Allocation // of the latest call of add
	memories map[*Memory]bool  // of the launches in progress
}

func newAllocations() *allocations {
	return &allocations{known: map[*probe.Allocation]bool{}, memories: map[*Memory]bool{}}
}

// find returns the index of the first allocation that ends after an address.
func (l *allocations) find(addr uint64) int {
	return sort.Search(len(l.list), func(i int) bool { return l.list[i].Base+l.list[i].Span > addr })
}

// add adds an allocation, which the launches in progress have not written.
func (l *allocations) add(a *probe.Allocation) {
	if l.last == a {
		return
	}
	if l.last = a; l.known[a] {
		return
	}
	from := l.find(a.Base)
	to := from
	for to < len(l.list) && l.list[to].Base < a.Base+a.Span {
		delete(l.known, l.list[to])
		to++
	}
	l.known[a] = true
	l.list = slices.Replace(l.list, from, to, a)
	for m := range l.memories {
		for _, number := range []uint64{a.Base / LineBytes, (a.Base + a.Span - 1) / LineBytes} { // lines that it shares with another allocation
			if line := m.keptLine(number); line != nil {
				copyFrom(a, number*LineBytes, line[:])
			}
		}
	}
}

// copyFrom copies the bytes of an allocation to memory from an address on.
func copyFrom(a *probe.Allocation, addr uint64, to []byte) {
	if a.Base >= addr {
		copy(to[min(a.Base-addr, uint64(len(to))):], a.Data)
	} else if offset := addr - a.Base; offset < uint64(len(a.Data)) {
		copy(to, a.Data[offset:])
	}
}

// read reads a line; bytes outside of all allocations are 0. ok is false if no byte is in an allocation.
func (l *allocations) read(number uint64, to *Line) (ok bool) {
	*to = Line{}
	addr := number * LineBytes
	for i := l.find(addr); i < len(l.list) && l.list[i].Base < addr+LineBytes; i++ {
		if a := l.list[i]; len(a.Data) > 0 {
			copyFrom(a, addr, to[:])
			ok = true
		}
	}
	return ok
}

// Memory is the global memory of a launch, as it was at the start of the launch, and as it is.
type Memory struct {
	allocs *allocations
	kept   Table[*Line] // lines that the launch has written, as they were at its start
}

func newMemory(l *allocations) *Memory { return &Memory{allocs: l} }

// keptLine returns a line that the launch has written, as it was at its start; nil if it has not written the line.
func (m *Memory) keptLine(number uint64) *Line {
	if line := m.kept.Find(number); line != nil {
		return *line
	}
	return nil
}

// keep keeps bytes of an allocation, which are about to be written.
func (m *Memory) keep(a *probe.Allocation, offset uint64, n int) {
	if n == 0 {
		return
	}
	m.allocs.add(a)
	for number := (a.Base + offset) / LineBytes; number <= (a.Base+offset+uint64(n)-1)/LineBytes; number++ {
		if line := m.kept.At(number); *line == nil {
			*line = new(Line)
			m.allocs.read(number, *line)
		}
	}
}

// Begin reads a line as it was at the start of the launch. ok is false if no launch has accessed an allocation with the line, or if it was
// freed.
func (m *Memory) Begin(number uint64, to *Line) (ok bool) {
	if line := m.keptLine(number); line != nil {
		*to = *line
		return true
	}
	return m.allocs.read(number, to)
}

// Now reads a line as it is in the execution, as Begin does.
func (m *Memory) Now(number uint64, to *Line) (ok bool) { return m.allocs.read(number, to) }

// Written yields the lines that the launch has written, in any order.
func (m *Memory) Written() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for number, line := range m.kept.All() {
			if *line != nil && !yield(number) {
				return
			}
		}
	}
}
