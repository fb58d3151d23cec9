package profile

// This file counts the sectors and lines of requests, and of asynchronous copies.

import (
	"gemu/internal/coalesce"
	"gemu/probe"
)

// count adds a request for the lines.
func (t *Traffic) count(l *coalesce.Lines) {
	n := int64(l.Bytes())
	t.Sectors += int64(l.Sectors())
	t.Bytes += n
	t.Ideal += (n + SectorBytes - 1) / SectorBytes
	t.Lines += int64(l.Len())
}

// region counts the sectors and lines of a contiguous range, which may be large.
func (t *Traffic) region(addr uint64, n uint64) {
	sectors, lines := coalesce.Range(addr, n)
	t.Bytes += int64(n)
	t.Sectors += sectors
	t.Ideal += int64((n + SectorBytes - 1) / SectorBytes)
	t.Lines += lines
}

// issued counts the global memory accesses of an issued asynchronous copy. The copies of a warp's lanes are a single
// request; a bulk copy is a request of its own.
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
			c.copies.Touch(addr, bytes)
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
