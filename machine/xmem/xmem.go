// Package xmem has the hardware of XMem (Vijaykumar, "Enhancing Programmability, Portability, and Performance with Rich Cross-Layer
// Abstractions", 2019, chapter 2) that needs no clock: the size of the atom address map, the ranges of an atom, and the lookaside buffer
// of atoms.
package xmem

import "container/list"

// AddressMap is an atom address map: an atom for each unit of physical memory.
type AddressMap struct {
	UnitBytes uint64 // size of a unit
	IDBits    uint64 // bits of an atom's number
}

// The maps of section 2.4.2.
var (
	Fine   = AddressMap{512, 8}  // 8 bits for each 512 bytes
	Coarse = AddressMap{1024, 6} // 6 bits for each 1 KB
)

// Share returns the size of the map, as a share of memory.
func (m AddressMap) Share() float64 { return float64(m.IDBits) / 8 / float64(m.UnitBytes) }

// Bytes returns the size of the map of a memory.
func (m AddressMap) Bytes(memory uint64) uint64 { return memory / m.UnitBytes * m.IDBits / 8 }

// Units returns the numbers of the units that ranges overlap, in ascending order. A unit has a single atom, so an atom has all bytes of
// these units.
func (m AddressMap) Units(ranges []Range) (units []uint64) {
	for _, r := range ranges {
		if r.Bytes == 0 {
			continue
		}
		for u := r.Start / m.UnitBytes; u <= (r.Start+r.Bytes-1)/m.UnitBytes; u++ {
			if n := len(units); n == 0 || units[n-1] < u {
				units = append(units, u)
			}
		}
	}
	return units
}

// Range is a range of addresses.
type Range struct{ Start, Bytes uint64 }

// Map2D returns the ranges of a block of height rows of width bytes, in rows that are length bytes apart.
func Map2D(start, length, width, height uint64) (ranges []Range) {
	for y := range height {
		ranges = append(ranges, Range{start + y*length, width})
	}
	return ranges
}

// PinnedShare is the share of a cache that atoms may reserve. The thesis does not have it: a reading.
const PinnedShare = 0.75

// Kept reports whether a cache keeps a line of an atom, of whose lines it keeps a share. A hash of the line's number decides, so that the kept
// part of an atom is the same in each run and in each launch.
func Kept(line uint64, share float64) bool {
	line ^= line >> 33
	line *= 0xff51afd7ed558ccd // the finaliser of MurmurHash3
	line ^= line >> 33
	line *= 0xc4ceb9fe1a85ec53
	line ^= line >> 33
	return float64(line>>11)/(1<<53) < share
}

// Lookaside is an atom lookaside buffer (ALB): a fully associative cache of the atoms of pages, with LRU replacement.
type Lookaside struct {
	Lookups int64 // number of lookups
	Hits    int64 // number of lookups that find their page

	entries int
	order   *list.List // pages, the most recently used first
	of      map[uint64]*list.Element
}

// NewLookaside returns an empty buffer with a number of entries, at least 1.
func NewLookaside(entries int) *Lookaside {
	return &Lookaside{entries: entries, order: list.New(), of: map[uint64]*list.Element{}}
}

// Lookup looks up the atoms of a page.
func (l *Lookaside) Lookup(page uint64) {
	l.Lookups++
	if e := l.of[page]; e != nil {
		l.Hits++
		l.order.MoveToFront(e)
		return
	}
	if l.order.Len() == l.entries {
		last := l.order.Back()
		delete(l.of, last.Value.(uint64))
		l.order.Remove(last)
	}
	l.of[page] = l.order.PushFront(page)
}
