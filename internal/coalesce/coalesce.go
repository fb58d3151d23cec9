// Package coalesce counts the sectors, lines and bank passes of the memory access of a warp instruction: the transactions that a
// GPU makes of the addresses of its lanes. Statistics and recordings count with it.
package coalesce

import (
	"iter"
	"math"
	"math/bits"
)

// Sizes of the memory system of NVIDIA GPUs since Maxwell, in bytes: Banks of BankBytes each in shared memory, lines of four
// sectors in caches (CUDA C++ Programming Guide, "Device Memory Accesses"; Nsight Compute, "Memory Tables").
const (
	SectorBytes = 32
	LineBytes   = 128
	Banks       = 32
	BankBytes   = 4
)

// Lines is the set of lines that a request touches. The zero Lines is empty.
type Lines struct {
	list []line
	last int // index of the latest result of find
}

// line is a line of memory with its touched bytes, by sector.
type line struct {
	number  uint64
	sectors [LineBytes / SectorBytes]uint32
}

// Reset empties the set.
func (l *Lines) Reset() { l.list, l.last = l.list[:0], 0 }

// find returns the line with a number, and adds it if necessary.
func (l *Lines) find(number uint64) *line {
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

// Touch adds n bytes from an address.
func (l *Lines) Touch(addr uint64, n int) {
	for n > 0 {
		at := l.find(addr / LineBytes)
		offset := int(addr % SectorBytes)
		k := min(n, SectorBytes-offset)
		at.sectors[addr%LineBytes/SectorBytes] |= uint32((1<<k - 1) << offset)
		addr, n = addr+uint64(k), n-k
	}
}

// Bytes returns the number of touched bytes.
func (l *Lines) Bytes() (n int) {
	for i := range l.list {
		for _, s := range l.list[i].sectors {
			n += bits.OnesCount32(s)
		}
	}
	return n
}

// Len returns the number of touched lines.
func (l *Lines) Len() int { return len(l.list) }

// Sectors returns the number of touched sectors.
func (l *Lines) Sectors() (n int) {
	for i := range l.list {
		for _, s := range l.list[i].sectors {
			if s != 0 {
				n++
			}
		}
	}
	return n
}

// AppendSectors appends the numbers of the touched sectors: their addresses divided by SectorBytes.
func (l *Lines) AppendSectors(to []uint64) []uint64 {
	for i := range l.list {
		for k, s := range l.list[i].sectors {
			if s != 0 {
				to = append(to, l.list[i].number*(LineBytes/SectorBytes)+uint64(k))
			}
		}
	}
	return to
}

// Conflicts holds the words of shared memory that a group of lanes accesses, by bank.
type Conflicts struct {
	first [Banks]int32 // 1 + index in words of the bank's first word; 0: none
	count [Banks]int32
	words []word
}

type word struct {
	number uint64
	next   int32
}

func (b *Conflicts) reset() { b.first, b.count, b.words = [Banks]int32{}, [Banks]int32{}, b.words[:0] }

// access adds an accessed word. Lanes that access the same word share a pass, unless countSameAddress is set.
func (b *Conflicts) access(number uint64, countSameAddress bool) {
	bank := number % Banks
	if !countSameAddress {
		for i := b.first[bank]; i != 0; i = b.words[i-1].next {
			if b.words[i-1].number == number {
				return
			}
		}
	}
	b.words = append(b.words, word{number, b.first[bank]})
	b.first[bank] = int32(len(b.words))
	b.count[bank]++
}

// busiest returns the number of accesses of the busiest bank.
func (b *Conflicts) busiest() int64 {
	maximum := int32(0)
	for _, n := range b.count {
		maximum = max(maximum, n)
	}
	return int64(maximum)
}

// Passes counts the passes of a request to shared memory, and the passes that it would take without conflicts. Lanes are taken
// in groups of up to 128 bytes; each group takes as many passes as its busiest bank has words. Lanes that access the same word
// share a pass, unless countSameAddress is set, as for atomics.
func (b *Conflicts) Passes(addr []uint64, lanes uint64, bytes int, countSameAddress bool) (passes, ideal int64) {
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
		passes += b.busiest()
		ideal++
	}
	return passes, ideal
}

// IdealPasses returns the passes of a request without conflicts, as Passes does. A request that is no atomic has no conflicts if its lanes
// access the same address, or elements of up to 16 bytes next to each other.
func IdealPasses(lanes uint64, bytes int) (n int64) {
	group := min(LineBytes/max(min(bytes, LineBytes), 1), Banks)
	for ; lanes != 0; lanes >>= group {
		if lanes&(1<<group-1) != 0 {
			n++
		}
	}
	return n
}

// MaxSameAddress returns the largest number of lanes with the same address.
func MaxSameAddress(addr []uint64, lanes uint64) (maximum int64) {
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

// DistinctWords returns the number of distinct words that the lanes access.
func DistinctWords(addr []uint64, lanes uint64) (n int64) {
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

// TouchLocal adds bytes of a lane's local memory. Local memory is interleaved: the same word of all lanes of a warp
// is contiguous (CUDA C++ Programming Guide, "Local Memory").
func (l *Lines) TouchLocal(addr uint64, n, lane, width int) {
	for n > 0 {
		offset := int(addr % BankBytes)
		k := min(n, BankBytes-offset)
		l.Touch((addr/BankBytes*uint64(width)+uint64(lane))*BankBytes+uint64(offset), k)
		addr, n = addr+uint64(k), n-k
	}
}

// Range returns the number of sectors and lines that a contiguous range of n bytes touches.
func Range(addr, n uint64) (sectors, lines int64) {
	if n == 0 {
		return 0, 0
	}
	last := addr + n - 1
	return int64(last/SectorBytes - addr/SectorBytes + 1), int64(last/LineBytes - addr/LineBytes + 1)
}

// RangePasses returns the number of passes for a contiguous range of n bytes of shared memory: all banks take part in each.
func RangePasses(n uint64) int64 { return int64((n + Banks*BankBytes - 1) / (Banks * BankBytes)) }

// Touched is a line with its accessed sectors.
type Touched struct {
	Number  uint64 // address of the line divided by LineBytes
	Sectors uint8  // sectors with an accessed byte, a bit each
	Whole   uint8  // sectors of which all bytes are accessed, a bit each

	Bytes *[LineBytes / SectorBytes]uint32 // accessed bytes of each sector, a bit each; valid until the set changes
}

// Count returns the number of accessed bytes.
func (t *Touched) Count() (n int) {
	for _, s := range t.Bytes {
		n += bits.OnesCount32(s)
	}
	return n
}

// All yields the touched lines, in the order of their first access.
func (l *Lines) All() iter.Seq[Touched] {
	return func(yield func(Touched) bool) {
		for i := range l.list {
			t := Touched{Number: l.list[i].number, Bytes: &l.list[i].sectors}
			for s, touched := range l.list[i].sectors {
				if touched != 0 {
					t.Sectors |= 1 << s
				}
				if touched == math.MaxUint32 {
					t.Whole |= 1 << s
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}
