package mem

// This file saves and restores what is in a map.

import (
	"errors"
	"slices"
)

// Saved is a map as it was: its allocations and what was in them.
type Saved struct {
	allocs []saved
	dead   int
	next   uint64
	used   uint64
}

type saved struct {
	a      *Allocation
	was    Allocation
	data   []byte
	shadow []byte
}

// ErrOnHost is the error of saving memory that is the host's.
var ErrOnHost = errors.New("memory of the host cannot be saved")

// Save copies what is in the map. The error is ErrOnHost.
func (m *Map) Save() (*Saved, error) {
	if m.mapped > 0 {
		return nil, ErrOnHost
	}
	s := &Saved{dead: m.dead, next: m.next, used: m.used}
	for _, a := range m.allocs {
		s.allocs = append(s.allocs, saved{a, *a, slices.Clone(a.Data), slices.Clone(a.Shadow)})
	}
	return s, nil
}

// Restore makes the map what it was. Allocations are the same objects; those made since
// are dead. The error is that of allocating anew what has been freed since.
func (m *Map) Restore(s *Saved) error {
	kept := map[*Allocation]bool{}
	for i := range s.allocs {
		kept[s.allocs[i].a] = true
	}
	for _, a := range slices.Clone(m.allocs) {
		if !kept[a] && !a.Dead {
			m.Free(a)
		}
	}
	m.allocs = m.allocs[:0]
	for i := range s.allocs {
		k := &s.allocs[i]
		now := *k.a
		*k.a = k.was
		m.allocs = append(m.allocs, k.a)
		if k.was.Dead {
			continue
		}
		k.a.Data, k.a.release = now.Data, now.release
		switch {
		case k.a == m.params:
			if uint64(cap(now.Data)) < k.was.Size {
				k.a.Data = AlignedBytes(max(k.was.Size, paramSize))
			}
			k.a.Data = k.a.Data[:k.was.Size]
		case now.Dead:
			data, release, err := m.allocate(k.was.Size)
			if err != nil {
				return err
			}
			k.a.Data, k.a.release = data, release
		}
		k.a.setPointer()
		copy(k.a.Data, k.data)
		k.a.Shadow = slices.Clone(k.shadow)
	}
	m.dead, m.next, m.used = s.dead, s.next, s.used
	return nil
}
