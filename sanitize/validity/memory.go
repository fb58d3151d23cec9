package validity

// This file stores the validity of memory.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"gemu/internal/hostmem"
	"gemu/probe"
)

// blockShift is the binary logarithm of the block size in bytes. Each block has a flag.
const blockShift = 6

// memory holds the invalid bits of an allocation. All its slices are zero at first, for valid and invalid
// allocations, so that an unchanged page takes no memory of the host. Concurrent CTAs change different bytes,
// as the program itself does.
type memory struct {
	alloc  *probe.Allocation
	bits   []byte          // invalid bits by byte, XOR flip; padded to whole blocks with valid bytes
	flip   uint64          // all bits set if the memory was invalid at first, else 0
	blocks []atomic.Uint32 // settled(): the whole block is valid; otherwise: perhaps not
	dirty  atomic.Int64    // number of blocks that are not settled
	origin []atomic.Uint32 // origin of stored invalid values, by word of four bytes; 0: unwritten

	release func() // frees the memory outside Go's heap; nil if there is none
}

// reservedFrom is the size in bytes from which the slices are outside Go's heap. There, untouched pages are
// certain to take no memory.
const reservedFrom = 32 << 20

func newMemory(a *probe.Allocation, size int, valid bool) *memory {
	n := (size + 1<<blockShift - 1) >> blockShift
	m := &memory{alloc: a}
	if size < reservedFrom || a.Kind == probe.HeapMemory || !m.reserve(n) { // kernels free heap blocks while other kernels run
		m.bits, m.blocks, m.origin = make([]byte, n<<blockShift), make([]atomic.Uint32, n), make([]atomic.Uint32, n<<blockShift/4)
	}
	if !valid {
		m.flip = ^uint64(0)
		m.dirty.Store(int64(n))
		paint(m.bits[size:], byte(m.flip))
	}
	return m
}

// reserve allocates the slices for n blocks outside Go's heap. It returns false if the host refuses.
func (m *memory) reserve(n int) bool {
	all, err := hostmem.Reserve(uint64(n)<<blockShift*2 + 4*uint64(n))
	if err != nil {
		return false
	}
	bits, remaining := all[:n<<blockShift], all[n<<blockShift:]
	m.bits = bits
	m.origin = unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(&remaining[0])), n<<blockShift/4)
	m.blocks = unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(&remaining[n<<blockShift])), n)
	m.release = sync.OnceFunc(func() { hostmem.Release(all) })
	return true
}

// settled returns the flag of a valid block.
func (m *memory) settled() uint32 { return uint32(m.flip & 1) }

// paint sets all bytes to v, without a write to pages that already hold only v.
func paint(b []byte, v byte) {
	const page = 4 << 10
	for len(b) > 0 {
		n := min(len(b), page)
		if n < page || b[0] != v || !bytes.Equal(b[1:n], b[:n-1]) {
			i, all := 0, uint64(v)*0x0101_0101_0101_0101
			for ; i+8 <= n; i += 8 {
				binary.LittleEndian.PutUint64(b[i:], all)
			}
			for ; i < n; i++ {
				b[i] = v
			}
		}
		b = b[n:]
	}
}

// invalidate makes all bytes unwritten.
func (m *memory) invalidate(size int) {
	m.flip = ^uint64(0)
	clear(m.bits[:size])
	paint(m.bits[size:], byte(m.flip))
	clear(m.blocks) // no CTA accesses the memory yet
	clear(m.origin)
	m.dirty.Store(int64(len(m.blocks)))
}

// clean reports whether n bytes lie in valid blocks.
func (m *memory) clean(offset uint64, n int) bool {
	for b := offset >> blockShift; b <= (offset+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() != m.settled() {
			return false
		}
	}
	return true
}

// cleanRuns reports whether all accesses of the runs, of bytes bytes each, are in bounds and valid. begin is
// the address of the memory, last the largest offset of an access.
func (m *memory) cleanRuns(runs []probe.AddressRun, bytes int, begin, last uint64) bool {
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
		if n := uint64(bits.OnesCount64(r.Lanes)); width <= (n-1)*uint64(bytes) { // contiguous
			if !m.allValid(low, int(width)+bytes) {
				return false
			}
			continue
		}
		offset := r.Addr - begin - uint64(r.Stride)*uint64(bits.TrailingZeros64(r.Lanes))
		for n := r.Lanes; n != 0; n &= n - 1 {
			if !m.allValid(offset+uint64(r.Stride)*uint64(lowest(n)), bytes) {
				return false
			}
		}
	}
	return true
}

// allValid reports whether n bytes are valid.
//
//go:norace
func (m *memory) allValid(offset uint64, n int) bool {
	b, any := m.bits[offset:][:n], uint64(0)
	for ; len(b) >= 8; b = b[8:] {
		any |= binary.LittleEndian.Uint64(b) ^ m.flip
	}
	for _, v := range b {
		any |= uint64(v ^ byte(m.flip))
	}
	return any == 0
}

// load returns the invalid bits of up to 8 bytes.
//
//go:norace
func (m *memory) load(offset uint64, n int) (v uint64) {
	for i := range n {
		v |= uint64(m.bits[offset+uint64(i)]^byte(m.flip)) << (8 * i)
	}
	return v
}

// store sets the invalid bits v, and the origin, of up to 8 bytes.
//
//go:norace
func (m *memory) store(offset uint64, n int, v uint64, origin uint32) {
	for i := range n {
		m.bits[offset+uint64(i)] = byte(v>>(8*i)) ^ byte(m.flip)
	}
	if v == 0 {
		return
	}
	for i := offset / 4; i <= (offset+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(offset, n)
}

// soil marks the blocks of n bytes as perhaps invalid.
func (m *memory) soil(offset uint64, n int) {
	settled := m.settled()
	for b := offset >> blockShift; b <= (offset+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Swap(settled^1) == settled {
			m.dirty.Add(1)
		}
	}
}

// settle marks the blocks of n bytes as valid if they are.
func (m *memory) settle(offset uint64, n int) {
	settled := m.settled()
	for b := offset >> blockShift; b <= (offset+uint64(n)-1)>>blockShift; b++ {
		if m.blocks[b].Load() != settled && m.whole(b) && m.blocks[b].Swap(settled) != settled {
			m.dirty.Add(-1)
			if !m.whole(b) { // another CTA has stored an invalid value meanwhile
				m.soil(b<<blockShift, 1)
			}
		}
	}
}

// whole reports whether a block is valid.
//
//go:norace
func (m *memory) whole(block uint64) bool { return m.allValid(block<<blockShift, 1<<blockShift) }

// set makes n bytes valid, or completely invalid.
//
//go:norace
func (m *memory) set(offset uint64, n int, invalid bool, origin uint32) {
	if n <= 0 {
		return
	}
	if !invalid {
		if m.dirty.Load() != 0 {
			paint(m.bits[offset:offset+uint64(n)], byte(m.flip))
			m.settle(offset, n)
		}
		return
	}
	paint(m.bits[offset:offset+uint64(n)], ^byte(m.flip))
	for i := offset / 4; i <= (offset+uint64(n)-1)/4; i++ {
		m.origin[i].Store(origin)
	}
	m.soil(offset, n)
}

// write makes the bytes of a store valid. begin is the address of the memory, which must hold all bytes.
func (m *memory) write(a *probe.Access, begin uint64) {
	for _, r := range a.Runs(a.Lanes) {
		low, width, _ := r.Span()
		others := 63 - bits.LeadingZeros64(r.Lanes) - bits.TrailingZeros64(r.Lanes)   // lanes of the run without the first, if no lane is missing
		if others == bits.OnesCount64(r.Lanes)-1 && width <= uint64(others*a.Bytes) { // contiguous
			if offset, n := low-begin, int(width)+a.Bytes; !m.allValid(offset, n) { // mostly, the bytes are written again
				m.set(offset, n, false, 0)
			}
			a.Lanes &^= r.Lanes
		}
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		if offset := a.Addr[lowest(lanes)] - begin; !m.allValid(offset, a.Bytes) {
			m.set(offset, a.Bytes, false, 0)
		}
	}
}

// computed finds bytes among n that were computed from invalid values: the offset of the first, their number,
// and the origin of the first.
//
//go:norace
func (m *memory) computed(offset uint64, n int) (first uint64, count int, origin uint32) {
	for end := offset + uint64(n); offset < end; offset++ {
		switch block := offset >> blockShift; {
		case m.blocks[block].Load() == m.settled():
			offset = (block+1)<<blockShift - 1
		case m.bits[offset] != byte(m.flip):
			if o := m.origin[offset/4].Load(); o&computed != 0 {
				if count++; count == 1 {
					first, origin = offset, o
				}
			}
		}
	}
	return first, count, origin
}

// local holds the invalid bits of the local memory of a warp's threads, by word of four bytes.
type local struct {
	dirty   []uint64      // by word, the lanes with invalid bits
	bits    []*[64]uint32 // by word and lane; nil: all bits are invalid
	origins []*[64]uint32 // by word and lane; nil: unwritten
}

func (l *local) grow(words int) {
	for len(l.dirty) < words {
		l.dirty, l.bits, l.origins = append(l.dirty, ^uint64(0)), append(l.bits, nil), append(l.origins, nil)
	}
}

// forget makes the words from word on unwritten, for lanes.
func (l *local) forget(word int, lanes uint64) {
	for i := word; i < len(l.dirty); i++ {
		l.dirty[i] |= lanes
		if l.bits[i] == nil {
			continue
		}
		for lane := range 64 {
			if lanes>>lane&1 != 0 {
				l.bits[i][lane], l.origins[i][lane] = ^uint32(0), 0
			}
		}
	}
}

// load returns the invalid bits of up to 8 bytes of a lane, and their origin.
func (l *local) load(offset, n, lane int) (v uint64, origin uint32) {
	l.grow((offset + n + 3) / 4)
	for i := 0; i < n; i++ {
		w := (offset + i) / 4
		if l.dirty[w]>>lane&1 == 0 {
			continue
		}
		all := ^uint32(0)
		if l.bits[w] != nil {
			if all = l.bits[w][lane]; origin == 0 {
				origin = l.origins[w][lane]
			}
		}
		v |= uint64(all>>(8*((offset+i)%4))&0xff) << (8 * i)
	}
	return v, origin
}

// store sets the invalid bits of up to 8 bytes of a lane.
func (l *local) store(offset, n, lane int, v uint64, origin uint32) {
	l.grow((offset + n + 3) / 4)
	for w := offset / 4; w <= (offset+n-1)/4; w++ {
		mask, part := uint32(0), uint32(0)
		for b := range 4 {
			if i := 4*w + b - offset; i >= 0 && i < n {
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
			l.bits[w], l.origins[w] = new([64]uint32), new([64]uint32)
			for i := range l.bits[w] {
				l.bits[w][i] = ^uint32(0)
			}
		}
		l.dirty[w] |= 1 << lane
		if l.bits[w][lane] = now; part != 0 {
			l.origins[w][lane] = origin
		}
	}
}
