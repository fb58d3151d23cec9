package driver

// This file implements hints about managed memory (driver API, "Memory Management": cuMemAdvise). The host and all devices
// access managed memory directly, so hints are only stored and returned.

import (
	"errors"
	"slices"
)

// Advice is a CUmem_advise.
type Advice int32

// The kinds of advice.
const (
	SetReadMostly          Advice = 1 + iota // the range is mostly read
	UnsetReadMostly                          // reverts SetReadMostly
	SetPreferredLocation                     // the range is best on the given device or on the host
	UnsetPreferredLocation                   // reverts SetPreferredLocation
	SetAccessedBy                            // the given device, or the host, accesses the range
	UnsetAccessedBy                          // reverts SetAccessedBy
)

// RangeAttribute is a CUmem_range_attribute.
type RangeAttribute int32

// The attributes of ranges of managed memory.
const (
	RangeReadMostly            RangeAttribute = 1 + iota // 1 if the whole range has the advice SetReadMostly, else 0
	RangePreferredLocation                               // ordinal of the preferred device; -1: the host; -2: none or several
	RangeAccessedBy                                      // ordinals that the advice SetAccessedBy names in the whole range
	RangeLastPrefetch                                    // destination of the last prefetch, as in RangePreferredLocation
	RangePreferredLocationType                           // type of the preferred Location
	RangePreferredLocationID                             // ID of the preferred Location; 0 for the host
	RangeLastPrefetchType                                // type of the Location of the last prefetch
	RangeLastPrefetchID                                  // ID of the Location of the last prefetch; 0 for the host
)

// Places in addition to devices, which have their ordinals. The numbers are CU_DEVICE_CPU and CU_DEVICE_INVALID.
const (
	hostOrdinal int32 = -1
	noPlace     int32 = -2
)

// hints are the hints for a range of managed memory.
type hints struct {
	from, to              uint64 // offsets in the region, in bytes; to is exclusive
	readMostly            bool
	preferred, prefetched int32   // ordinal of a device, hostOrdinal or noPlace
	accessedBy            []int32 // ordinals of devices in ascending order; hostOrdinal for the host
}

// sameHints reports whether two ranges have the same hints.
func (h *hints) sameHints(o *hints) bool {
	return h.readMostly == o.readMostly && h.preferred == o.preferred && h.prefetched == o.prefetched && slices.Equal(h.accessedBy, o.accessedBy)
}

// managed returns the region that contains a range of managed memory, and the range as offsets in the region. The range
// is extended to whole pages, which count from the start of the region. The last page may be shorter. The caller must
// hold d.mu.
func (d *Driver) managed(addr, size uint64) (r *region, from, to uint64, err error) {
	r = d.regions.find(addr)
	if r == nil || r.kind != managedRegion || size == 0 || size > r.size-(addr-r.addr) {
		return nil, 0, 0, fail(InvalidValue, "%d bytes at %#x are not managed memory", size, addr)
	}
	const page = 4096
	from, to = addr-r.addr, addr-r.addr+size
	return r, from &^ (page - 1), min((to+page-1)&^(page-1), r.size), nil
}

// hintRanges returns ranges with their hints, in order of addresses, which together cover the region.
func (r *region) hintRanges() []hints {
	if r.hints == nil {
		return []hints{{to: r.size, preferred: noPlace, prefetched: noPlace}}
	}
	return r.hints
}

// advise changes the hints of a range of the region. It splits the region's ranges at from and to, calls change for each
// range between, and merges neighbours with the same hints. The caller must hold d.mu.
func (r *region) advise(from, to uint64, change func(*hints)) {
	var list []hints
	// add adds the part of h between from and to, after a change.
	add := func(h hints, from, to uint64, change func(*hints)) {
		if h.from, h.to = max(h.from, from), min(h.to, to); h.from >= h.to {
			return
		}
		h.accessedBy = slices.Clone(h.accessedBy)
		change(&h)
		if n := len(list); n > 0 && list[n-1].sameHints(&h) {
			list[n-1].to = h.to
			return
		}
		list = append(list, h)
	}
	for _, h := range r.hintRanges() {
		add(h, 0, from, func(*hints) {})
		add(h, from, to, change)
		add(h, to, r.size, func(*hints) {})
	}
	r.hints = list
}

// checkOrdinal checks the ordinal of a device, or -1 for the host. The caller must hold d.mu.
func (d *Driver) checkOrdinal(place int32) error {
	if place == hostOrdinal {
		return nil
	}
	_, err := d.device(int(place))
	return err
}

// MemAdvise is cuMemAdvise; place is the ordinal of a device, or -1 for the host.
func (t *Thread) MemAdvise(addr, size uint64, a Advice, place int32) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	switch a {
	case SetPreferredLocation, SetAccessedBy, UnsetAccessedBy:
		if err := t.d.checkOrdinal(place); err != nil {
			return err
		}
	case SetReadMostly, UnsetReadMostly, UnsetPreferredLocation:
	default:
		return fail(InvalidValue, "advice %d, want a CUmem_advise from %d to %d", a, SetReadMostly, UnsetAccessedBy)
	}
	r, from, to, err := t.d.managed(addr, size)
	if err != nil {
		return err
	}
	r.advise(from, to, func(h *hints) {
		index, known := slices.BinarySearch(h.accessedBy, place)
		switch {
		case a == SetReadMostly || a == UnsetReadMostly:
			h.readMostly = a == SetReadMostly
		case a == SetPreferredLocation:
			h.preferred = place
		case a == UnsetPreferredLocation:
			h.preferred = noPlace
		case a == SetAccessedBy && !known:
			h.accessedBy = slices.Insert(h.accessedBy, index, place)
		case a == UnsetAccessedBy && known:
			h.accessedBy = slices.Delete(h.accessedBy, index, index+1)
		}
	})
	return nil
}

// MemPrefetch is cuMemPrefetchAsync; place is the ordinal of a device, or -1 for the host. The call only stores the place.
func (t *Thread) MemPrefetch(addr, size uint64, place int32, stream Handle) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := errors.Join(s.forbidCapture(), t.d.checkOrdinal(place)); err != nil {
		return err
	}
	r, from, to, err := t.d.managed(addr, size)
	if err == nil {
		r.advise(from, to, func(h *hints) { h.prefetched = place })
	}
	return err
}

// StreamAttachMem is cuStreamAttachMemAsync. It only checks its arguments.
func (t *Thread) StreamAttachMem(stream Handle, addr, size uint64) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	if err := s.forbidCapture(); err != nil {
		return err
	}
	_, _, _, err = t.d.managed(addr, max(size, 1))
	return err
}

// MemRangeGetAttribute is cuMemRangeGetAttribute. It returns a list for RangeAccessedBy, and a single number for the other
// attributes. A preferred location or last prefetch is noPlace (-2) if it is not the same in the whole range.
func (t *Thread) MemRangeGetAttribute(a RangeAttribute, addr, size uint64) ([]int32, error) {
	if _, err := t.enter(); err != nil {
		return nil, err
	}
	defer t.d.mu.Unlock()
	r, from, to, err := t.d.managed(addr, size)
	if err != nil {
		return nil, err
	}
	var list []hints
	for _, h := range r.hintRanges() {
		if h.from < to && from < h.to {
			list = append(list, h)
		}
	}
	common := func(get func(*hints) int32) int32 {
		for i := range list {
			if get(&list[i]) != get(&list[0]) {
				return noPlace
			}
		}
		return get(&list[0])
	}
	preferred := common(func(h *hints) int32 { return h.preferred })
	prefetched := common(func(h *hints) int32 { return h.prefetched })
	switch a {
	case RangeReadMostly:
		if slices.ContainsFunc(list, func(h hints) bool { return !h.readMostly }) {
			return []int32{0}, nil
		}
		return []int32{1}, nil
	case RangeAccessedBy:
		all := slices.Clone(list[0].accessedBy)
		for _, h := range list[1:] {
			all = slices.DeleteFunc(all, func(p int32) bool { return !slices.Contains(h.accessedBy, p) })
		}
		return all, nil
	case RangePreferredLocation:
		return []int32{preferred}, nil
	case RangeLastPrefetch:
		return []int32{prefetched}, nil
	case RangePreferredLocationType:
		return []int32{locationType(preferred)}, nil
	case RangeLastPrefetchType:
		return []int32{locationType(prefetched)}, nil
	case RangePreferredLocationID:
		return []int32{max(preferred, 0)}, nil
	case RangeLastPrefetchID:
		return []int32{max(prefetched, 0)}, nil
	}
	return nil, fail(InvalidValue, "attribute %d of a range of memory, want a CUmem_range_attribute from %d to %d", a, RangeReadMostly, RangeLastPrefetchID)
}

// locationType returns the Location.Type of a place.
func locationType(place int32) int32 {
	switch place {
	case noPlace:
		return locationUnspecified
	case hostOrdinal:
		return locationHost
	}
	return OnDevice
}
