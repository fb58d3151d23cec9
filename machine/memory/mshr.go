package memory

import "math/bits"

// MSHRs are the miss status holding registers of a cache (Kroft, ISCA 1981): an entry for each line with sectors in flight, with the
// accesses that wait for them. W is what the cache keeps of an access. The zero value has no limits.
//
// An access to a line whose sectors are all in flight is an in-flight hit: it waits, and fetches nothing.
type MSHRs[W any] struct {
	Entries int // lines in flight at a time; 0: no limit
	Merges  int // accesses that wait for a line; 0: no limit

	used    int         // number of entries
	table   []mshr      // hash table of a power of two entries, with linear probing; at most half full
	waiters []waiter[W] // of all entries, linked
	free    int32       // first free waiter, plus 1; 0: none
}

// mshr is an entry.
type mshr struct {
	line        uint64
	first, last int32 // waiters, plus 1, the oldest first; 0: the place in the table is free
	waiting     int32 // number of waiters
	inFlight    uint8 // sectors, a bit each
}

// waiter is an access that waits.
type waiter[W any] struct {
	access  W
	next    int32 // plus 1
	missing uint8 // sectors, a bit each
}

// Len returns the number of lines in flight.
func (m *MSHRs[W]) Len() int { return m.used }

// home returns the place of a line in the table, if it has no collision.
func (m *MSHRs[W]) home(line uint64) int {
	return int(line * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(m.table)-1))))
}

// find returns the place of a line, or the free place where it would be. The table must not be empty.
func (m *MSHRs[W]) find(line uint64) int {
	for i := m.home(line); ; i = (i + 1) & (len(m.table) - 1) {
		if e := &m.table[i]; e.first == 0 || e.line == line {
			return i
		}
	}
}

// All reports whether a condition is true for all accesses that wait for a line. It asks for the oldest first, until one is not.
func (m *MSHRs[W]) All(line uint64, condition func(access W) bool) bool {
	if m.used == 0 {
		return true
	}
	for i := m.table[m.find(line)].first; i != 0; i = m.waiters[i-1].next {
		if !condition(m.waiters[i-1].access) {
			return false
		}
	}
	return true
}

// Look returns the sectors of a line that are in flight, a bit each, and whether Add would take an access to the line.
func (m *MSHRs[W]) Look(line uint64) (inFlight uint8, room bool) {
	if m.used > 0 {
		if e := &m.table[m.find(line)]; e.first != 0 {
			return e.inFlight, m.Merges == 0 || int(e.waiting) < m.Merges
		}
	}
	return 0, m.Entries == 0 || m.used < m.Entries
}

// Add has an access wait for missing sectors of a line, at least one. It returns the sectors to fetch: those that are not in flight yet. If
// ok is false, there is no free entry or no place in the entry of the line, and nothing has changed.
func (m *MSHRs[W]) Add(line uint64, missing uint8, access W) (fetch uint8, ok bool) {
	if _, room := m.Look(line); !room {
		return 0, false
	}
	if 2*(m.used+1) > len(m.table) {
		m.grow()
	}
	e := &m.table[m.find(line)]
	w := m.newWaiter(waiter[W]{access: access, missing: missing})
	if e.first == 0 {
		*e = mshr{line: line, first: w}
		m.used++
	} else {
		m.waiters[e.last-1].next = w
	}
	e.last = w
	e.waiting++
	fetch = missing &^ e.inFlight
	e.inFlight |= missing
	return fetch, true
}

// Fill notes that sectors of a line have arrived, and calls wake with each access that waits for no further sectors, the oldest first. wake
// must not change m. Sectors of a line that are not in flight have no effect.
func (m *MSHRs[W]) Fill(line uint64, sectors uint8, wake func(access *W)) {
	if m.used == 0 {
		return
	}
	at := m.find(line)
	e := &m.table[at]
	if e.first == 0 {
		return
	}
	e.inFlight &^= sectors
	before := int32(0) // last waiter that stays
	for i := e.first; i != 0; {
		w := &m.waiters[i-1]
		next := w.next
		if w.missing &^= sectors; w.missing != 0 {
			before = i
			i = next
			continue
		}
		wake(&w.access)
		e.waiting--
		if before == 0 {
			e.first = next
		} else {
			m.waiters[before-1].next = next
		}
		*w = waiter[W]{next: m.free}
		m.free = i
		i = next
	}
	e.last = before
	if e.first == 0 {
		m.remove(at)
	}
}

// newWaiter returns the index of a new waiter, plus 1.
func (m *MSHRs[W]) newWaiter(w waiter[W]) int32 {
	if i := m.free; i != 0 {
		m.free = m.waiters[i-1].next
		m.waiters[i-1] = w
		return i
	}
	m.waiters = append(m.waiters, w)
	return int32(len(m.waiters))
}

// grow doubles the table.
func (m *MSHRs[W]) grow() {
	old := m.table
	m.table = make([]mshr, max(8, 2*len(old)))
	for i := range old {
		if old[i].first != 0 {
			m.table[m.find(old[i].line)] = old[i]
		}
	}
}

// remove frees a place in the table, and moves the entries after it that are no longer reachable.
func (m *MSHRs[W]) remove(at int) {
	m.used--
	mask := len(m.table) - 1
	for i := at; ; {
		i = (i + 1) & mask
		if m.table[i].first == 0 {
			break
		}
		if home := m.home(m.table[i].line); (i-home)&mask >= (i-at)&mask { // at is between its home and its place
			m.table[at] = m.table[i]
			at = i
		}
	}
	m.table[at] = mshr{}
}
