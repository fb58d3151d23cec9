package locality

import (
	"cmp"
	"math/bits"
	"slices"

	"gemu/machine/cache"
	"gemu/machine/stream"
)

// Priority returns how an L1 treats the lines of the buffer (figure 17 of the thesis). Lines that threads share are pinned if their
// accesses are irregular; otherwise the order of CTAs, and prefetches, use their locality.
func (d *Descriptor) Priority() cache.Priority {
	switch {
	case d.Type == NoReuse:
		return cache.Bypass
	case d.Type == IntraThread:
		return cache.HardPin
	case d.Sharing == CoAccessed && !d.Regular:
		return cache.SoftPin
	}
	return cache.Normal
}

// ahead returns the distance in lines from a line of the buffer that misses to the line to read before it is accessed; 0: none. Neighbours
// read the next line. A regular D-tile that is accessed in rows has the row that is as many rows ahead as fit in an L1 of some bytes with
// the tiles in progress (thesis, section 3.4.2). resident is the number of CTAs on a multiprocessor.
func (d *Descriptor) ahead(l1, resident int) uint64 {
	switch {
	case d.Type != InterThread:
		return 0
	case d.Sharing == Nearby:
		return 1
	case !d.Regular || d.Stride <= 0:
		return 0
	}
	tiles := max(1, resident/d.CTile.Count())
	rows := l1 / (tiles * d.DTile.X * d.Element)
	beyond, bytes := bits.Mul64(uint64(rows*d.Element), uint64(d.Stride))
	if beyond > 0 { // the row is not in memory
		return 0
	}
	return bytes / stream.LineBytes
}

// Treatment is how an L1 treats the lines of buffers: those of its descriptors of the highest priority.
type Treatment struct{ ranges []lines } // by number, without overlaps

// lines are the lines of a buffer.
type lines struct {
	first, last uint64
	descriptor  *Descriptor
}

// NewTreatment returns the treatment of descriptors in the order of their priority, as Infer returns them.
func NewTreatment(list []Descriptor) *Treatment {
	t := &Treatment{}
	seen := map[stream.Buffer]bool{}
	for i := range list {
		b := list[i].Buffer
		if seen[b] || b.Bytes == 0 { // local memory has no addresses
			continue
		}
		seen[b] = true
		t.ranges = append(t.ranges, lines{b.Base / stream.LineBytes, (b.Base + b.Bytes - 1) / stream.LineBytes, &list[i]})
	}
	slices.SortFunc(t.ranges, func(a, b lines) int { return cmp.Compare(a.first, b.first) })
	return t
}

// of returns the lines of the buffer with a line; nil if there is none.
func (t *Treatment) of(line uint64) *lines {
	i, _ := slices.BinarySearchFunc(t.ranges, line, func(r lines, line uint64) int { return cmp.Compare(r.last, line) })
	if i == len(t.ranges) || line < t.ranges[i].first {
		return nil
	}
	return &t.ranges[i]
}

// Priority returns the priority of a line.
func (t *Treatment) Priority(a *cache.Access) cache.Priority {
	if r := t.of(a.Line); r != nil {
		return r.descriptor.Priority()
	}
	return cache.Normal
}

// Prefetch returns the line of the same buffer to read when a line misses in an L1 of some bytes, with some CTAs on a multiprocessor.
func (t *Treatment) Prefetch(line uint64, l1, resident int) (next uint64, ok bool) {
	r := t.of(line)
	if r == nil {
		return 0, false
	}
	n := r.descriptor.ahead(l1, resident)
	return line + n, n > 0 && line+n <= r.last
}
