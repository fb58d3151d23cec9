package validity

// This file is which bits of memory are valid.

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"

	"gemu/interp"
)

// blockShift is the size of the blocks of which one flag each says whether anything in them is
// invalid.
const blockShift = 6

// memory is the valid bits of an allocation: those that are, so that memory of which nothing is valid
// takes none of the host's. CTAs that run at the same time change it for different bytes, as the
// program changes the bytes themselves.
type memory struct {
	alloc  *interp.Allocation
	valid  []byte          // by byte; to the end of a block, where all are
	blocks []atomic.Uint32 // 1: all of it is valid; 0: perhaps not
	dirty  atomic.Int64    // how many blocks that is
	origin []atomic.Uint32 // of stored invalid values, by four bytes; 0: never written
}

func newMemory(a *interp.Allocation, size int, valid bool) *memory {
	n := (size + 1<<blockShift - 1) >> blockShift
	m := &memory{alloc: a, valid: make([]byte, n<<blockShift), blocks: make([]atomic.Uint32, n), origin: make([]atomic.Uint32, n<<blockShift/4)}
	fill(m.valid[size:])
	m.dirty.Store(int64(n))
	if valid {
		m.set(0, size, false, 0)
	}
	return m
}

func fill(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// invalidate makes all bytes invalid, and never written.
func (m *memory) invalidate(size int) {
	clear(m.valid[:size])
	for i := range m.blocks {
		m.blocks[i].Store(0)
	}
	for i := range m.origin {
		m.origin[i].Store(0)
	}
	m.dirty.Store(int64(len(m.blocks)))
}

// clean reports whether n bytes are in blocks that are valid.
func (m *memory) clean(off uint64, n int) bool {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() == 0 {
			return false
		}
	}
	return true
}

// cleanRuns reports whether all that runs access is valid, so many bytes each: the memory begins at an
// address, and the last offset is one.
func (m *memory) cleanRuns(runs []interp.Run, bytes int, begin, last uint64) bool {
	dirty := m.dirty.Load() != 0
	for i := range runs {
		r := &runs[i]
		low, width, ok := r.Span()
		if low -= begin; !ok || low > last || width > last-low {
			return false
		}
		if !dirty {
			continue
		}
		if n := uint64(bits.OnesCount64(r.Lanes)); width <= (n-1)*uint64(bytes) { // without holes
			if !m.allValid(low, int(width)+bytes) {
				return false
			}
			continue
		}
		off := r.Addr - begin - uint64(r.Stride)*uint64(bits.TrailingZeros64(r.Lanes))
		for n := r.Lanes; n != 0; n &= n - 1 {
			if !m.allValid(off+uint64(r.Stride)*uint64(lowest(n)), bytes) {
				return false
			}
		}
	}
	return true
}

// allValid reports whether all of n bytes are valid.
//
//go:norace
func (m *memory) allValid(off uint64, n int) bool {
	b := m.valid[off:][:n]
	all := ^uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		all &= binary.LittleEndian.Uint64(b)
	}
	for _, v := range b {
		all &= uint64(v) | ^uint64(0xff)
	}
	return all == ^uint64(0)
}

// load is the invalid bits of up to 8 bytes.
//
//go:norace
func (m *memory) load(off uint64, n int) (v uint64) {
	for i := range n {
		v |= uint64(^m.valid[off+uint64(i)]) << (8 * i)
	}
	return v
}

// store has up to 8 bytes with these invalid bits.
//
//go:norace
func (m *memory) store(off uint64, n int, v uint64, origin uint32) {
	for i := range n {
		m.valid[off+uint64(i)] = ^byte(v >> (8 * i))
	}
	if v == 0 {
		return
	}
	for i := off / 4; i <= (off+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(off, n)
}

// soil has the blocks of n bytes be such as may have something invalid.
func (m *memory) soil(off uint64, n int) {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Swap(0) != 0 {
			m.dirty.Add(1)
		}
	}
}

// settle has the blocks of n bytes be valid, if they are.
func (m *memory) settle(off uint64, n int) {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() == 0 && m.whole(b) && m.blocks[b].Swap(1) == 0 {
			m.dirty.Add(-1)
			if !m.whole(b) { // meanwhile another CTA has stored something
				m.soil(b<<blockShift, 1)
			}
		}
	}
}

// whole reports whether all of a block is valid.
//
//go:norace
func (m *memory) whole(block uint64) bool {
	all := ^uint64(0)
	for b := m.valid[block<<blockShift : (block+1)<<blockShift]; len(b) > 0; b = b[8:] {
		all &= binary.LittleEndian.Uint64(b)
	}
	return all == ^uint64(0)
}

// set makes n bytes valid or invalid as a whole.
//
//go:norace
func (m *memory) set(off uint64, n int, invalid bool, origin uint32) {
	if n <= 0 {
		return
	}
	if !invalid {
		fill(m.valid[off : off+uint64(n)])
		m.settle(off, n)
		return
	}
	clear(m.valid[off : off+uint64(n)])
	for i := off / 4; i <= (off+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(off, n)
}

// computed looks for bytes that were computed of invalid ones, among n: the first, how many there
// are, and where the first comes from.
//
//go:norace
func (m *memory) computed(off uint64, n int) (first uint64, count int, origin uint32) {
	for end := off + uint64(n); off < end; off++ {
		switch block := off >> blockShift; {
		case m.blocks[block].Load() != 0:
			off = (block+1)<<blockShift - 1
		case m.valid[off] != 0xff:
			if o := m.origin[off/4].Load(); o&computed != 0 {
				if count++; count == 1 {
					first, origin = off, o
				}
			}
		}
	}
	return first, count, origin
}

// local is the invalid bits of the local memory of a warp's threads, by words of four bytes.
type local struct {
	dirty []uint64      // by word, the lanes in which something is invalid
	bits  []*[64]uint32 // nil: all bits are
	from  []*[64]uint32 // origins; nil: never written
}

func (l *local) grow(words int) {
	for len(l.dirty) < words {
		l.dirty, l.bits, l.from = append(l.dirty, ^uint64(0)), append(l.bits, nil), append(l.from, nil)
	}
}

// forget makes what is from a word on never written, for lanes.
func (l *local) forget(word int, lanes uint64) {
	for i := word; i < len(l.dirty); i++ {
		l.dirty[i] |= lanes
		if l.bits[i] == nil {
			continue
		}
		for lane := range 64 {
			if lanes>>lane&1 != 0 {
				l.bits[i][lane], l.from[i][lane] = ^uint32(0), 0
			}
		}
	}
}

// load is the invalid bits of up to 8 bytes of a lane, and where they come from.
func (l *local) load(off, n, lane int) (v uint64, origin uint32) {
	l.grow((off + n + 3) / 4)
	for i := 0; i < n; i++ {
		w := (off + i) / 4
		if l.dirty[w]>>lane&1 == 0 {
			continue
		}
		all := ^uint32(0)
		if l.bits[w] != nil {
			if all = l.bits[w][lane]; origin == 0 {
				origin = l.from[w][lane]
			}
		}
		v |= uint64(all>>(8*((off+i)%4))&0xff) << (8 * i)
	}
	return v, origin
}

// store has up to 8 bytes of a lane with these invalid bits.
func (l *local) store(off, n, lane int, v uint64, origin uint32) {
	l.grow((off + n + 3) / 4)
	for w := off / 4; w <= (off+n-1)/4; w++ {
		mask, part := uint32(0), uint32(0)
		for b := range 4 {
			if i := 4*w + b - off; i >= 0 && i < n {
				mask |= 0xff << (8 * b)
				part |= uint32(v>>(8*i)&0xff) << (8 * b)
			}
		}
		old := uint32(0)
		if l.dirty[w]>>lane&1 != 0 {
			if old = ^uint32(0); l.bits[w] != nil {
				old = l.bits[w][lane]
			}
		}
		now := old&^mask | part
		if now == 0 {
			l.dirty[w] &^= 1 << lane
			continue
		}
		if l.bits[w] == nil {
			l.bits[w], l.from[w] = new([64]uint32), new([64]uint32)
			for i := range l.bits[w] {
				l.bits[w][i] = ^uint32(0)
			}
		}
		l.dirty[w] |= 1 << lane
		if l.bits[w][lane] = now; part != 0 {
			l.from[w][lane] = origin
		}
	}
}
