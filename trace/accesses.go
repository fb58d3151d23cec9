package trace

// This file converts the memory accesses of probe events to log entries.

import (
	"gemu/probe"
	"gemu/ptx"
)

// Accesses collects the memory accesses of an instruction. Note reads the values to store before the instruction executes;
// Append reads the accesses after it has executed.
type Accesses struct {
	stored []storedValues // by index in Event.Accesses
	buffer probe.Stored   // operands of a lane: scratch space
	lanes  []uint64       // stored elements: element i of lane n is at 64·i + n; compared elements come after the stored elements
}

// storedValues holds the elements that an instruction stores, in memory order.
type storedValues struct{ store, compare []Value }

// Note collects the stored values of an event OnAccess. The event must have addresses.
func (s *Accesses) Note(e *probe.Event) {
	a := &e.Accesses[len(e.Accesses)-1]
	for len(s.stored) < len(e.Accesses) {
		s.stored = append(s.stored, storedValues{})
	}
	noted := &s.stored[len(e.Accesses)-1]
	if noted.store != nil || noted.compare != nil {
		*noted = storedValues{}
	}
	if a.Kind == probe.AccessLoad {
		return
	}
	lanes := a.Lanes & e.Lanes
	if a.Bulk() {
		v := Value{Bits: 64}
		s.lanes = s.lanes[:0]
		for lane := range 64 {
			n := 0
			if lanes>>lane&1 != 0 {
				n = a.Length(lane)
			}
			s.lanes = append(s.lanes, uint64(n))
		}
		v.Describe(lanes, s.lanes, nil)
		noted.store = []Value{v}
		return
	}
	g := &s.buffer
	for lane := range 64 {
		if lanes>>lane&1 == 0 {
			continue
		}
		if !a.StoredBy(g, lane) || len(g.Data) != a.Bytes {
			*noted = storedValues{}
			return
		}
		noted.store = s.collectLane(noted.store, 0, g.Data, g.Size, lane)
		noted.compare = s.collectLane(noted.compare, len(g.Data), g.Compare, g.Size, lane)
	}
	s.finish(noted.store, 0, lanes)
	s.finish(noted.compare, a.Bytes, lanes)
	if g.Left != 0 {
		elements := max(g.Size/8, 1) // entries of noted.store per element of the vector
		for i := range noted.store {
			if g.Left>>(i/elements)&1 != 0 {
				noted.store[i] = Value{Bits: noted.store[i].Bits, Structure: NoValue}
			}
		}
	}
}

// Append appends the accesses of an executed instruction. The event must be of kind OnAfter. It reuses the memory of accesses
// after the end of list, which the caller must not use any more.
func (s *Accesses) Append(list []Access, e *probe.Event) []Access {
	for i := range e.Accesses {
		a := &e.Accesses[i]
		if a.Lanes&e.Lanes == 0 { // all lanes have coordinates outside a surface
			continue
		}
		var stored storedValues
		if i < len(s.stored) {
			stored = s.stored[i]
		}
		var room Value // the address of an earlier access, whose list is reused
		if n := len(list); n < cap(list) {
			room = list[:n+1][n].Addr
		}
		list = append(list, accessOf(e, a, stored, room.List))
	}
	return list
}

// AppendEffectAccesses appends the accesses of a stage of an asynchronous operation to a list: for each segment a load, a store or
// atomic, or both.
func AppendEffectAccesses(list []Access, x *probe.Effect) []Access {
	add := func(kind AccessKind, alloc *probe.Allocation, offset uint64, bytes int, data []byte) {
		addr := alloc.Base + offset
		if alloc.Space() == ptx.Shared { // addr becomes an offset, which includes the rank of the CTA in its cluster
			addr -= probe.SharedWindow
		}
		list = append(list, Access{Kind: kind, Space: alloc.Space().String(), Bytes: uint64(bytes), Addr: Value{Bits: 64, Base: addr}, Data: data})
	}
	for _, p := range x.Segments {
		if x.Reads && p.From != nil {
			add(Load, p.From, p.FromOffset, p.Read, nil)
		}
		if x.Writes && p.To != nil { // To is nil for the segments of matrix operands, which are only read
			kind, data := Store, p.Data
			if x.Reduces {
				kind = Atomic
			}
			if p.Zeros && data == nil {
				data = make([]byte, p.Bytes)
			}
			add(kind, p.To, p.ToOffset, p.Bytes, data)
		}
	}
	return list
}

// collectLane adds the bytes that a lane stores to s.lanes, as elements of at most 8 bytes. first is the index of the first
// element there. list gets an entry for each element.
func (s *Accesses) collectLane(list []Value, first int, b []byte, size, lane int) []Value {
	size = min(size, 8)
	for i := 0; i*size < len(b); i++ {
		if i == len(list) {
			list = append(list, Value{Bits: uint64(8 * size)})
		}
		position := 64*(first+i) + lane
		if position >= len(s.lanes) {
			s.lanes = append(s.lanes, make([]uint64, position+64-len(s.lanes))...)
		}
		v := uint64(0)
		for k := range size {
			v |= uint64(b[i*size+k]) << (8 * k)
		}
		s.lanes[position] = v
	}
	return list
}

// finish sets list to the descriptions of the collected elements. first is the index of the first element in s.lanes.
func (s *Accesses) finish(list []Value, first int, lanes uint64) {
	for i := range list {
		list[i].Describe(lanes, s.lanes[64*(first+i):][:64], nil)
	}
}

var kindOf = [...]AccessKind{probe.AccessLoad: Load, probe.AccessStore: Store, probe.AccessAtomic: Atomic}

// accessOf converts an access of an instruction to a log entry's access. The list of its addresses may use room.
func accessOf(e *probe.Event, a *probe.Access, stored storedValues, room []uint64) Access {
	x := Access{Kind: kindOf[a.Kind], Space: a.Space.String(), Bytes: uint64(a.Bytes), Addr: Value{Bits: 64, List: room}, Store: stored.store, Compare: stored.compare}
	lanes := a.Lanes & e.Lanes
	if lanes != e.Lanes {
		x.Lanes = lanes
	}
	if a.Bulk() {
		x.Kind, x.Bytes = Zero, 0
	}
	x.Addr.Describe(lanes, a.Addr, nil)
	return x
}
