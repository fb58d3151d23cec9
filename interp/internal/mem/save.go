package mem

// This file saves and restores the contents of a map.

import (
	"bytes"
	"errors"
	"slices"

	"gemu/internal/hostmem"
)

// Snapshot is a saved map: its allocations and their contents. It shares unchanged pages with the previous snapshot.
type Snapshot struct {
	allocs []savedAllocation
	dead   int    // Map.freedCount
	next   uint64 // Map.next
	used   uint64 // Map.used
}

// savedAllocation is a saved allocation.
type savedAllocation struct {
	alloc  *Allocation // the object, whose identity Restore keeps
	state  Allocation  // its fields; Data and Shadow are in data and shadow
	data   pages
	shadow pages
}

// pageSize is the size of a page in bytes; the last page of an allocation may be shorter.
const pageSize = 4 << 10

// pages holds the bytes of an allocation.
type pages []*page

// page is a block of constant bytes with the number of snapshots that share it.
type page struct {
	data []byte
	refs int
}

// zeroPage stands for all pages of zeros; its references are not counted.
var zeroPage = &page{data: make([]byte, pageSize)}

// ErrOnHost is the error of Save for a map with mapped host memory.
var ErrOnHost = errors.New("memory of the host cannot be saved")

// Save returns a snapshot of the map. It shares the pages that are equal with snapshot last, which may be nil. The only
// error is ErrOnHost.
func (m *Map) Save(last *Snapshot) (*Snapshot, error) {
	if m.mapped > 0 {
		return nil, ErrOnHost
	}
	s := &Snapshot{dead: m.freedCount, next: m.next, used: m.used, allocs: make([]savedAllocation, 0, len(m.allocs))}
	var before map[*Allocation]*savedAllocation
	if last != nil {
		before = make(map[*Allocation]*savedAllocation, len(last.allocs))
		for i := range last.allocs {
			before[last.allocs[i].alloc] = &last.allocs[i]
		}
	}
	for _, a := range m.allocs {
		k := savedAllocation{alloc: a, state: *a}
		var data, shadow pages
		if b := before[a]; b != nil {
			data, shadow = b.data, b.shadow
		}
		k.data, k.shadow = m.pagesOf(a.Data, data), m.pagesOf(a.Shadow, shadow)
		s.allocs = append(s.allocs, k)
	}
	return s, nil
}

// pagesOf splits data into pages, and reuses equal pages of last.
func (m *Map) pagesOf(data []byte, last pages) pages {
	list := make(pages, 0, (len(data)+pageSize-1)/pageSize)
	for i := 0; len(data) > 0; i++ {
		n := min(len(data), pageSize)
		if n == pageSize && hostmem.IsZero(data[:n]) { // also an untouched page, which the test leaves untouched
			list = append(list, zeroPage)
		} else if i < len(last) && bytes.Equal(last[i].data, data[:n]) {
			last[i].refs++
			list = append(list, last[i])
		} else {
			list = append(list, &page{bytes.Clone(data[:n]), 1})
			m.stateBytes += uint64(n)
		}
		data = data[n:]
	}
	return list
}

// StateBytes returns the number of bytes in the pages of all snapshots that have not been released.
func (m *Map) StateBytes() uint64 { return m.stateBytes }

// Release gives up a snapshot, which must not be restored afterwards.
func (m *Map) Release(s *Snapshot) {
	for i := range s.allocs {
		for _, list := range []pages{s.allocs[i].data, s.allocs[i].shadow} {
			for _, p := range list {
				if p == zeroPage {
					continue
				}
				if p.refs--; p.refs == 0 {
					m.stateBytes -= uint64(len(p.data))
				}
			}
		}
	}
	s.allocs = nil
}

// copyTo writes the pages to memory of the same size.
func (p pages) copyTo(data []byte) {
	for _, p := range p {
		n := min(len(p.data), len(data))
		if p != zeroPage || !hostmem.IsZero(data[:n]) {
			copy(data, p.data)
		}
		data = data[n:]
	}
}

// Restore resets the map to a snapshot. The objects of its allocations stay the same; allocations made later are freed. It
// fails if memory that has been freed later cannot be allocated again.
func (m *Map) Restore(s *Snapshot) error {
	kept := map[*Allocation]bool{}
	for i := range s.allocs {
		kept[s.allocs[i].alloc] = true
	}
	for _, a := range slices.Clone(m.allocs) {
		if !kept[a] && !a.Freed {
			m.Free(a)
		}
	}
	m.changes.Lock()
	defer m.changes.Unlock()
	m.allocs = m.allocs[:0]
	for i := range s.allocs {
		k := &s.allocs[i]
		now := *k.alloc
		*k.alloc = k.state
		m.allocs = append(m.allocs, k.alloc)
		if k.state.Freed {
			continue
		}
		k.alloc.Data, k.alloc.release, k.alloc.reserved = now.Data, now.release, now.reserved
		k.alloc.Shadow, k.alloc.releaseShadow = now.Shadow, now.releaseShadow
		switch {
		case k.alloc == m.params:
			if uint64(cap(now.Data)) < k.state.Size {
				k.alloc.Data = AlignedBytes(max(k.state.Size, paramSize))
			}
			k.alloc.Data = k.alloc.Data[:k.state.Size]
			if k.state.Shadow != nil {
				k.alloc.Shadow = make([]byte, len(k.state.Shadow))
			}
		case now.Freed:
			if err := m.allocateBacking(k.alloc); err != nil {
				return err
			}
		}
		k.alloc.setPointer()
		k.data.copyTo(k.alloc.Data)
		k.shadow.copyTo(k.alloc.Shadow)
	}
	m.freedCount, m.next, m.used = s.dead, s.next, s.used
	return nil
}
