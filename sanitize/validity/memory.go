package validity

// This file is which bits of memory are valid.

import (
	"encoding/binary"
	"sync/atomic"

	"gemu/interp"
)

// blockShift is the size of the blocks of which one flag each says whether anything in them is
// invalid.
const blockShift = 6

// memory is the invalid bits of an allocation. CTAs that run at the same time change it for
// different bytes, as the program changes the bytes themselves.
type memory struct {
	alloc  *interp.Allocation
	bits   []byte          // invalid ones, by byte; to the end of a block
	blocks []atomic.Uint32 // 1: something may be invalid
	dirty  atomic.Int64    // how many blocks that is
	origin []atomic.Uint32 // of stored invalid values, by four bytes; 0: never written
}

func newMemory(a *interp.Allocation, size int, invalid bool) *memory {
	n := (size + 1<<blockShift - 1) >> blockShift
	m := &memory{alloc: a, bits: make([]byte, n<<blockShift), blocks: make([]atomic.Uint32, n), origin: make([]atomic.Uint32, n<<blockShift/4)}
	if invalid {
		m.invalidate(size)
	}
	return m
}

// invalidate makes all bits invalid, and never written.
func (m *memory) invalidate(size int) {
	for i := range size {
		m.bits[i] = 0xff
	}
	clear(m.bits[size:])
	for i := range m.blocks {
		m.blocks[i].Store(1)
	}
	for i := range m.origin {
		m.origin[i].Store(0)
	}
	m.dirty.Store(int64(len(m.blocks)))
}

// clean reports whether n bytes are in blocks that are valid.
func (m *memory) clean(off uint64, n int) bool {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() != 0 {
			return false
		}
	}
	return true
}

// load is the invalid bits of up to 8 bytes.
//
//go:norace
func (m *memory) load(off uint64, n int) (v uint64) {
	for i := range n {
		v |= uint64(m.bits[off+uint64(i)]) << (8 * i)
	}
	return v
}

// store has up to 8 bytes with these invalid bits.
//
//go:norace
func (m *memory) store(off uint64, n int, v uint64, origin uint32) {
	for i := range n {
		m.bits[off+uint64(i)] = byte(v >> (8 * i))
	}
	if v == 0 {
		return
	}
	for i := off / 4; i <= (off+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(off, n)
}

// soil flags the blocks of n bytes.
func (m *memory) soil(off uint64, n int) {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Swap(1) == 0 {
			m.dirty.Add(1)
		}
	}
}

// settle takes the flags of the blocks of n bytes away if they are all valid now.
func (m *memory) settle(off uint64, n int) {
	for b := off >> blockShift; b <= (off+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() != 0 && m.valid(b) && m.blocks[b].Swap(0) != 0 {
			m.dirty.Add(-1)
			if !m.valid(b) { // meanwhile another CTA has stored something
				m.soil(b<<blockShift, 1)
			}
		}
	}
}

//go:norace
func (m *memory) valid(block uint64) bool {
	some := uint64(0)
	for b := m.bits[block<<blockShift : (block+1)<<blockShift]; len(b) > 0; b = b[8:] {
		some |= binary.LittleEndian.Uint64(b)
	}
	return some == 0
}

// set makes n bytes valid or invalid as a whole.
//
//go:norace
func (m *memory) set(off uint64, n int, invalid bool, origin uint32) {
	if n <= 0 {
		return
	}
	if !invalid {
		clear(m.bits[off : off+uint64(n)])
		m.settle(off, n)
		return
	}
	for i := range n {
		m.bits[off+uint64(i)] = 0xff
	}
	for i := off / 4; i <= (off+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(off, n)
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
