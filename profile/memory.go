package profile

// This file counts the sectors, lines and bank passes of a request.

import (
	"math/bits"

	"gemu/probe"
)

// lines is the set of lines that a request touches. The zero lines is empty.
type lines struct {
	list []line
	last int // index of the latest result of find
}

// line is a line of memory with its touched bytes, by sector.
type line struct {
	number  uint64
	sectors [LineBytes / SectorBytes]uint32
}

func (l *lines) reset() { l.list, l.last = l.list[:0], 0 }

// find returns the line with a number, and adds it if necessary.
func (l *lines) find(number uint64) *line {
	if l.last < len(l.list) && l.list[l.last].number == number {
		return &l.list[l.last]
	}
	for i := len(l.list) - 1; i >= 0; i-- {
		if l.list[i].number == number {
			l.last = i
			return &l.list[i]
		}
	}
	l.last = len(l.list)
	l.list = append(l.list, line{number: number})
	return &l.list[l.last]
}

// touch adds n bytes from an address.
func (l *lines) touch(addr uint64, n int) {
	for n > 0 {
		at := l.find(addr / LineBytes)
		offset := int(addr % SectorBytes)
		k := min(n, SectorBytes-offset)
		at.sectors[addr%LineBytes/SectorBytes] |= uint32((1<<k - 1) << offset)
		addr, n = addr+uint64(k), n-k
	}
}

// bytes returns the number of touched bytes.
func (l *lines) bytes() (n int) {
	for i := range l.list {
		for _, s := range l.list[i].sectors {
			n += bits.OnesCount32(s)
		}
	}
	return n
}

// count adds a request for the lines to t.
func (l *lines) count(t *Traffic) {
	n := int64(l.bytes())
	for i := range l.list {
		for _, s := range l.list[i].sectors {
			if s != 0 {
				t.Sectors++
			}
		}
	}
	t.Bytes += n
	t.Ideal += (n + SectorBytes - 1) / SectorBytes
	t.Lines += int64(len(l.list))
}

// region counts the sectors and lines of a contiguous range, which may be large.
func (t *Traffic) region(addr uint64, n uint64) {
	if n == 0 {
		return
	}
	last := addr + n - 1
	t.Bytes += int64(n)
	t.Sectors += int64(last/SectorBytes - addr/SectorBytes + 1)
	t.Ideal += int64((n + SectorBytes - 1) / SectorBytes)
	t.Lines += int64(last/LineBytes - addr/LineBytes + 1)
}

// banks holds the words of shared memory that a group of lanes accesses, by bank.
type banks struct {
	first [Banks]int16 // 1 + index in words of the bank's first word; 0: none
	count [Banks]int32
	words []word
}

type word struct {
	number uint64
	next   int16
}

func (b *banks) reset() { b.first, b.count, b.words = [Banks]int16{}, [Banks]int32{}, b.words[:0] }

// access adds an accessed word. Lanes that access the same word share a pass, unless countSameAddress is set.
func (b *banks) access(number uint64, countSameAddress bool) {
	bank := number % Banks
	if !countSameAddress {
		for i := b.first[bank]; i != 0; i = b.words[i-1].next {
			if b.words[i-1].number == number {
				return
			}
		}
	}
	b.words = append(b.words, word{number, b.first[bank]})
	b.first[bank] = int16(len(b.words))
	b.count[bank]++
}

// passes returns the number of accesses of the busiest bank.
func (b *banks) passes() int64 {
	maximum := int32(0)
	for _, n := range b.count {
		maximum = max(maximum, n)
	}
	return int64(maximum)
}

// banked counts the passes of a request to shared memory. Lanes are taken in groups of up to 128 bytes; each
// group takes as many passes as its busiest bank has words.
func (b *banks) banked(t *Banked, addr []uint64, lanes uint64, bytes int, countSameAddress bool) {
	group := min(LineBytes/max(min(bytes, LineBytes), 1), Banks)
	for from := 0; from < 64 && lanes>>from != 0; from += group {
		m := lanes >> from
		if group < 64 {
			m &= 1<<group - 1
		}
		if m == 0 {
			continue
		}
		b.reset()
		for ; m != 0; m &= m - 1 {
			a := addr[from+bits.TrailingZeros64(m)]
			for w := a / BankBytes; w <= (a+uint64(bytes)-1)/BankBytes; w++ {
				b.access(w, countSameAddress)
			}
		}
		t.Passes += b.passes()
		t.Ideal++
	}
}

// maxSameAddress returns the largest number of lanes with the same address.
func maxSameAddress(addr []uint64, lanes uint64) (maximum int64) {
	for m := lanes; m != 0; {
		a, n := addr[bits.TrailingZeros64(m)], int64(0)
		for o := m; o != 0; o &= o - 1 {
			if i := bits.TrailingZeros64(o); addr[i] == a {
				n++
				m &^= 1 << i
			}
		}
		maximum = max(maximum, n)
	}
	return maximum
}

// distinct returns the number of distinct words that the lanes access.
func distinct(addr []uint64, lanes uint64) (n int64) {
	for m := lanes; m != 0; n++ {
		a := addr[bits.TrailingZeros64(m)] / BankBytes
		for o := m; o != 0; o &= o - 1 {
			if i := bits.TrailingZeros64(o); addr[i]/BankBytes == a {
				m &^= 1 << i
			}
		}
	}
	return n
}

// local adds bytes of a lane's local memory. Local memory is interleaved: the same word of all lanes of a warp
// is contiguous (CUDA C++ Programming Guide, "Local Memory").
func (l *lines) local(addr uint64, n, lane, width int) {
	for n > 0 {
		offset := int(addr % BankBytes)
		k := min(n, BankBytes-offset)
		l.touch((addr/BankBytes*uint64(width)+uint64(lane))*BankBytes+uint64(offset), k)
		addr, n = addr+uint64(k), n-k
	}
}

// issued counts the global memory accesses of an issued asynchronous copy. The copies of a warp's lanes are a
// single request; a bulk copy is a request of its own.
func (c *cta) issued(n *Counts, f *probe.Effect) {
	var bulk Traffic
	var end uint64 // end of the last segment
	for i := range f.Segments {
		p := &f.Segments[i]
		alloc, offset, bytes := p.From, p.FromOffset, p.Read
		if alloc == nil || !global(alloc) {
			if alloc, offset, bytes = p.To, p.ToOffset, p.Bytes; alloc == nil || !global(alloc) {
				continue
			}
		}
		addr := alloc.Base + offset
		if !f.Bulk {
			c.copies.touch(addr, bytes)
			continue
		}
		before := bulk
		bulk.region(addr, uint64(bytes))
		if end != 0 && bytes > 0 { // a segment may begin where the last segment ended
			if addr/SectorBytes == (end-1)/SectorBytes {
				bulk.Sectors--
			}
			if addr/LineBytes == (end-1)/LineBytes {
				bulk.Lines--
			}
		}
		bulk.Ideal = (bulk.Bytes + SectorBytes - 1) / SectorBytes
		if bulk != before {
			end = addr + uint64(bytes)
		}
	}
	if bulk.Bytes > 0 {
		bulk.Requests = 1
		n.Global.Add(&bulk)
	}
}
