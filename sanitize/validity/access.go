package validity

// This file handles accesses to memory.

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

func lowest(lanes uint64) int { return bits.TrailingZeros64(lanes) }

// each calls do for each lane of a set.
func each(lanes uint64, do func(lane int)) {
	for ; lanes != 0; lanes &= lanes - 1 {
		do(lowest(lanes))
	}
}

// place returns the memory and the offset of a lane's access. m is nil for local memory. ok is false if the
// access traps.
func (c *cta) place(index int, a *probe.Access, lane int) (m *memory, offset uint64, ok bool) {
	addr := a.Addr[lane]
	h := &c.touched[index]
	if h.m != nil && h.space == a.Space && addr-h.delta < h.size && uint64(a.Bytes) <= h.size-(addr-h.delta) && h.m.alloc.Size == h.size {
		return h.m, addr - h.delta, true
	}
	_, alloc, offset, ok := a.PlaceOf(lane)
	if !ok || alloc == nil {
		return nil, offset, ok
	}
	if m = c.shared; alloc != m.alloc {
		if m = c.last; m == nil || alloc != m.alloc {
			m = c.tool.memoryOf(alloc)
			c.last = m
		}
	}
	if uint64(a.Length(lane)) > alloc.Size-offset {
		return nil, 0, false
	}
	isShared := h.isShared || alloc.Space() == ptx.Shared // for the whole CTA, so that an instruction is listed once
	if isShared && !h.isShared {
		c.touchedShared = append(c.touchedShared, index)
	}
	*h = touchedMemory{m, a.Space, addr - offset, alloc.Size, isShared}
	return m, offset, true
}

// FilterLoads returns the memory of the load: a load from valid memory needs no event if all registers of the warp are valid.
func (c *cta) FilterLoads(e *probe.Event, a *probe.Access) (l probe.AccessCondition, ok bool) {
	h, ok := c.filtered(e, a)
	if !ok {
		return l, false
	}
	l = probe.AccessCondition{Begin: h.delta, End: h.delta + h.size, Unless: &h.m.dirty, Lasting: true}
	if uint64(len(h.m.bits)) >= h.size {
		l.Marks, l.Mark = h.m.bits[:h.size], byte(h.m.flip)
	}
	return l, true
}

// FilterStores returns the memory of the store. The stored values are valid, so only bytes become valid, which loads in machine code
// may see late: it leaves a load of invalid bytes to this sink, which has received all stores of the CTA by then.
func (c *cta) FilterStores(e *probe.Event, a *probe.Access) (l probe.AccessCondition, ok bool) {
	h, ok := c.filtered(e, a)
	return probe.AccessCondition{Begin: h.delta, End: h.delta + h.size, Late: true, Lasting: true}, ok
}

// filtered returns the memory of an access for which there is a condition: all registers of the warp are valid.
func (c *cta) filtered(e *probe.Event, a *probe.Access) (h *touchedMemory, ok bool) {
	h = &c.touched[e.Index]
	// Heap memory may be freed while the CTA runs.
	return h, c.warps[e.Warp].eased && c.plan.steps[e.Index].singleAccess && h.m != nil && h.space == a.Space && h.m.alloc.Kind != probe.HeapMemory && h.m.alloc.Size == h.size
}

// holds reports whether the memory has all bytes of an access of a list.
func (h *touchedMemory) holds(x *probe.ListedAccess) bool {
	n := uint64(x.Request.Bytes)
	if h.m == nil || h.space != x.Request.Space || n > h.size {
		return false
	}
	lanes, last := x.Lanes, h.size-n
	if x.Strided { // the outermost lanes suffice
		lanes = lanes&-lanes | 1<<(63-bits.LeadingZeros64(lanes))
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		if x.Addr[lowest(lanes)]-h.delta > last {
			return false
		}
	}
	return true
}

// OnAccesses handles the stores of FilterStores.
func (c *cta) OnAccesses(l *probe.AccessList) {
	for i := range l.List {
		x := &l.List[i]
		h := &c.touched[x.Index]
		if !h.holds(x) {
			c.OnEvent(l.Event(i))
			continue
		}
		if h.m.dirty.Load() == 0 {
			continue
		}
		c.written.Renew(x.Lanes)
		if c.written.Bytes, c.written.Addr = x.Request.Bytes, x.Addr; x.Strided {
			c.written.SetStride(x.Lanes, x.Stride)
		}
		h.m.write(&c.written, h.delta)
	}
}

// clean reports whether all bytes that the lanes access are valid and in the same allocation.
//
//go:norace
func (c *cta) clean(w *warp, index int, a *probe.Access, lanes uint64) bool {
	first := lowest(lanes)
	m, offset, ok := c.place(index, a, first)
	if !ok {
		return false
	}
	if m == nil {
		return a.Space != ptx.Generic && w.local.clean(a, lanes, a.Addr[first]-offset)
	}
	h := &c.touched[index]
	if h.m != m || uint64(a.Bytes) > h.size {
		return false
	}
	last, delta := h.size-uint64(a.Bytes), h.delta
	if runs := a.Runs(lanes); len(runs) > 0 {
		return m.cleanRuns(runs, a.Bytes, delta, last)
	}
	if m.dirty.Load() == 0 {
		for ; lanes != 0; lanes &= lanes - 1 {
			if a.Addr[lowest(lanes)]-delta > last {
				return false
			}
		}
		return true
	}
	any, n := uint64(0), a.Bytes
	for ; lanes != 0; lanes &= lanes - 1 {
		offset := a.Addr[lowest(lanes)] - delta
		if offset > last {
			return false
		}
		switch b := m.bits[offset:]; {
		case n == 4:
			any |= uint64(binary.LittleEndian.Uint32(b) ^ uint32(m.flip))
		case n < 4:
			for _, v := range b[:n] {
				any |= uint64(v ^ byte(m.flip))
			}
		default:
			for b = b[:n]; len(b) >= 8; b = b[8:] {
				any |= binary.LittleEndian.Uint64(b) ^ m.flip
			}
			for _, v := range b {
				any |= uint64(v ^ byte(m.flip))
			}
		}
	}
	return any == 0
}

// clean reports whether all bytes that the lanes access are valid. delta is the address of the first byte of
// local memory.
func (l *local) clean(a *probe.Access, lanes, delta uint64) bool {
	for ; lanes != 0; lanes &= lanes - 1 {
		lane := lowest(lanes)
		offset := a.Addr[lane] - delta
		for i := offset / 4; i <= (offset+uint64(a.Bytes)-1)/4; i++ {
			if i >= uint64(len(l.dirty)) || l.dirty[i]>>lane&1 != 0 {
				return false
			}
		}
	}
	return true
}

// accessed returns the access of the operation that executes next, or nil.
func accessed(e *probe.Event) *probe.Access {
	if len(e.Accesses) == 0 {
		return nil
	}
	return &e.Accesses[len(e.Accesses)-1]
}

// elements returns the size in bytes of an element of the access. rows holds a row for each element.
func elements(rows []int, a *probe.Access) (size int) {
	if len(rows) == 0 {
		return 0
	}
	return a.Bytes / len(rows)
}

// load handles a load.
func (c *cta) load(e *probe.Event, w *warp, f *frame, a *action) {
	acc := accessed(e)
	if e.Lanes == 0 {
		return
	}
	size := 0
	if acc != nil {
		size = elements(a.results, acc)
	}
	if acc == nil || size == 0 || size > 8 || c.clean(w, e.Index, acc, e.Lanes) {
		for _, r := range a.results {
			if r >= 0 {
				f.dirty[r] &^= e.Lanes
			}
		}
		return
	}
	signed := e.Instr.Type().IsSigned()
	for lanes := e.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := lowest(lanes)
		m, offset, ok := c.place(e.Index, acc, lane)
		n := acc.Length(lane)
		for i, r := range a.results {
			if r < 0 {
				continue
			}
			v, origin := uint64(0), uint32(0)
			if ok && (i+1)*size <= n {
				v, origin = c.read(w, m, offset+uint64(i*size), size, lane)
			}
			if v == 0 {
				f.dirty[r] &^= 1 << lane
				continue
			}
			if origin == 0 {
				origin = c.unwritten(e, m)
			}
			if signed && v>>(8*size-1)&1 != 0 {
				v |= ^lowBits(8 * size)
			}
			f.set(r, lane, v&lowBits(a.op.Results[i].Bits), origin)
		}
	}
}

// read returns the invalid bits of up to 8 bytes of memory and their origin; 0 for unwritten memory.
func (c *cta) read(w *warp, m *memory, offset uint64, n, lane int) (v uint64, origin uint32) {
	if m == nil {
		return w.local.load(int(offset), n, lane)
	}
	if m.dirty.Load() == 0 {
		return 0, 0
	}
	if v = m.load(offset, n); v != 0 {
		for i := offset / 4; i <= (offset+uint64(n)-1)/4 && origin == 0; i++ {
			origin = m.origin[i].Load()
		}
	}
	return v, origin
}

// unwritten returns the origin for a read of unwritten memory.
func (c *cta) unwritten(e *probe.Event, m *memory) uint32 {
	s := &c.plan.steps[e.Index]
	noun := "local memory"
	if m != nil {
		if noun = m.alloc.Space().String() + " memory"; m.alloc.Name != "" {
			noun += " (" + finding.Name(m.alloc.Name) + ")"
		}
	}
	if n := s.load.Load(); n != 0 && m == nil {
		return n
	}
	n := c.tool.origin("the value was read from uninitialised " + noun + " at " + c.plan.place(e.Index))
	if m == nil {
		s.load.Store(n)
	}
	return n
}

// store handles a store.
func (c *cta) store(e *probe.Event, w *warp, f *frame, a *action) {
	acc := accessed(e)
	if e.Lanes == 0 || acc == nil {
		return
	}
	rows := a.sources[1:]
	any := uint64(0)
	for _, r := range rows {
		if r >= 0 {
			any |= f.dirty[r]
		}
	}
	size := elements(rows, acc)
	bulk := acc.Bulk()
	var invalidBits uint64 // lanes that store an invalid value to global memory
	var from uint32
	var in *memory
	if any&e.Lanes == 0 && !bulk && c.clean(w, e.Index, acc, e.Lanes) {
		return
	}
	for lanes := e.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := lowest(lanes)
		m, offset, ok := c.place(e.Index, acc, lane)
		if !ok {
			continue
		}
		if bulk {
			c.wipe(w, m, offset, acc.Length(lane), lane)
			continue
		}
		for i, r := range rows {
			v, origin := f.invalid(r, lane)
			if v != 0 {
				origin = c.origin(e.Index, origin, a.op.Sources[1+i].Reg)
			}
			at := offset + uint64(i*size)
			v &= lowBits(8 * size)
			if m == nil {
				w.local.store(int(at), size, lane, v, origin)
			} else if v != 0 || m.dirty.Load() != 0 && !m.clean(at, size) {
				m.store(at, size, v, origin)
				if v != 0 && deservesNotice(m, origin) {
					if invalidBits == 0 {
						from, in = origin, m
					}
					invalidBits |= 1 << lane
				}
			}
		}
	}
	if invalidBits != 0 {
		c.found(e, unsetStore, invalidBits, from, in)
	}
	c.settle(e, acc)
}

// deservesNotice reports whether a store of an invalid value deserves a notice: the memory is global, and the value
// is no plain copy of memory, which may be padding.
func deservesNotice(m *memory, origin uint32) bool {
	return origin&(computed|ofRegister) != 0 && m.alloc.Space() == ptx.Global
}

// wipe makes bytes valid.
func (c *cta) wipe(w *warp, m *memory, offset uint64, n, lane int) {
	if m != nil {
		m.set(offset, n, false, 0)
		return
	}
	for i := 0; i < n; i += 8 {
		w.local.store(int(offset)+i, min(8, n-i), lane, 0, 0)
	}
}

// settle clears the flags of blocks that the lanes have made completely valid.
func (c *cta) settle(e *probe.Event, acc *probe.Access) {
	done := ^uint64(0)
	for lanes := e.Lanes; lanes != 0; lanes &= lanes - 1 {
		m, offset, ok := c.place(e.Index, acc, lowest(lanes))
		if !ok || m == nil || offset>>blockShift == done {
			continue
		}
		done = offset >> blockShift
		m.settle(offset, acc.Bytes)
	}
}

// atomic handles atomic operations. Their register operands were checked before; their memory operand is
// checked here, unless it is only exchanged.
func (c *cta) atomic(e *probe.Event, w *warp, f *frame, a *action) {
	acc := accessed(e)
	if acc == nil || e.Lanes == 0 {
		return
	}
	for _, r := range a.results {
		if r >= 0 {
			f.dirty[r] &^= e.Lanes
		}
	}
	if c.clean(w, e.Index, acc, e.Lanes) {
		return
	}
	exchange := e.Instr.Has("exch")
	size := elements(a.results, acc)
	invalidBits, from := uint64(0), uint32(0)
	var in *memory
	for lanes := e.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := lowest(lanes)
		m, offset, ok := c.place(e.Index, acc, lane)
		if !ok {
			continue
		}
		for bit := 0; bit < acc.Bytes; bit += 8 {
			n := min(8, acc.Bytes-bit)
			v, origin := c.read(w, m, offset+uint64(bit), n, lane)
			if v == 0 {
				continue
			}
			if origin == 0 {
				origin = c.unwritten(e, m)
			}
			if exchange {
				for i, r := range a.results {
					if first := i * size; r >= 0 && first < bit+n && bit < first+size {
						f.set(r, lane, v>>(8*max(0, first-bit))&lowBits(8*min(8, size)), origin)
					}
				}
			} else if invalidBits |= 1 << lane; from == 0 {
				from, in = origin, m
			}
			c.wipe(w, m, offset+uint64(bit), n, lane)
		}
	}
	if invalidBits != 0 {
		c.found(e, unsetAtomic, invalidBits, from, in)
	}
}

// tile handles loads and stores of matrices. The assignment of rows to lanes is not modelled: an invalid row
// makes the result invalid in all lanes.
func (c *cta) tile(e *probe.Event, w *warp, f *frame, a *action) {
	acc := accessed(e)
	if acc == nil || e.Lanes == 0 {
		return
	}
	lanes := acc.Lanes
	if acc.Kind == probe.AccessLoad {
		invalid, origin := false, uint32(0)
		if lanes != 0 && !c.clean(w, e.Index, acc, lanes) {
			for remaining := lanes; remaining != 0; remaining &= remaining - 1 {
				lane := lowest(remaining)
				m, offset, ok := c.place(e.Index, acc, lane)
				for bit := 0; ok && bit < acc.Bytes; bit += 8 {
					if v, from := c.read(w, m, offset+uint64(bit), min(8, acc.Bytes-bit), lane); v != 0 && !invalid {
						if invalid, origin = true, from; origin == 0 {
							origin = c.unwritten(e, m)
						}
					}
				}
			}
		}
		for i, r := range a.results {
			if r < 0 {
				continue
			}
			if f.dirty[r] &^= e.Lanes; invalid {
				each(e.Lanes, func(lane int) { f.set(r, lane, lowBits(a.op.Results[i].Bits), origin) })
			}
		}
		return
	}
	origin, invalid := c.anyInvalid(e, f, a, e.Lanes)
	if !invalid && c.clean(w, e.Index, acc, lanes) {
		return
	}
	var invalidBits uint64
	var in *memory
	each(lanes, func(lane int) {
		if m, offset, ok := c.place(e.Index, acc, lane); ok && m != nil {
			m.set(offset, acc.Bytes, invalid, origin)
			if invalid && deservesNotice(m, origin) {
				invalidBits, in = invalidBits|1<<lane, m
			}
		}
	})
	if invalidBits != 0 {
		c.found(e, unsetStore, invalidBits, origin, in)
	}
}

// anyInvalid reports whether a source has invalid bits in any of the lanes, and the first origin.
func (c *cta) anyInvalid(e *probe.Event, f *frame, a *action, lanes uint64) (origin uint32, any bool) {
	return c.invalidBut(e, f, a, lanes, nil)
}

// invalidBut is anyInvalid without the sources in except.
func (c *cta) invalidBut(e *probe.Event, f *frame, a *action, lanes uint64, except []int) (origin uint32, any bool) {
	for i, r := range a.sources {
		if slices.Contains(except, i) {
			continue
		}
		if r < 0 || f.dirty[r]&lanes == 0 {
			continue
		}
		return c.origin(e.Index, f.rows[r].origin[lowest(f.dirty[r]&lanes)], a.op.Sources[i].Reg) | computed, true
	}
	return 0, false
}

// print checks an argument of vprintf.
func (c *cta) print(e *probe.Event) {
	if e.Warp < 0 || e.Index < 0 {
		return
	}
	w, lane := &c.warps[e.Warp], lowest(e.Lanes)
	var m *memory
	if e.Memory != nil {
		if m = c.shared; e.Memory != m.alloc {
			m = c.tool.memoryOf(e.Memory)
		}
	}
	v, origin := c.read(w, m, e.Offset, e.Bytes, lane)
	if v == 0 {
		return
	}
	if origin == 0 {
		origin = c.unwritten(e, m)
	}
	c.found(e, unsetPrint, e.Lanes, origin, m)
	c.wipe(w, m, e.Offset, e.Bytes, lane)
}

// effect holds the validity of the data of an issued asynchronous operation until its effect.
type effect struct {
	segments []heldBits
}

// heldBits holds the invalid bits of a segment's data.
type heldBits struct {
	bits   []byte
	origin uint32
}

// effect handles asynchronous operations: written bytes get the validity of the read bytes.
func (c *cta) effect(e *probe.Event) {
	f := e.Effect
	if f.Arrives {
		return
	}
	if f.TensorCore {
		c.matrices(e)
		return
	}
	if f.Issued {
		if e.Instr.Form.Family == ptx.FamilyAsyncStore {
			c.issueStore(e)
		}
		return
	}
	brought := c.held[f.Number]
	if f.Reads && !f.Writes {
		brought = &effect{}
		for i := range f.Segments {
			brought.segments = append(brought.segments, c.source(&f.Segments[i]))
		}
		if c.held == nil {
			c.held = map[int64]*effect{}
		}
		c.held[f.Number] = brought
		return
	}
	for i := range f.Segments {
		p := &f.Segments[i]
		var h heldBits
		if f.Reads {
			h = c.source(p)
		} else if brought != nil && i < len(brought.segments) {
			h = brought.segments[i]
		}
		c.arrive(f, p, h)
	}
	delete(c.held, f.Number)
}

// OnCopies handles the copies of a warp's lanes as effect does.
func (c *cta) OnCopies(x *probe.Copies) {
	if x.Issued {
		return
	}
	to, valid := c.memoryOf(x.To), x.From == nil || c.memoryOf(x.From).dirty.Load() == 0
	if valid && to.dirty.Load() == 0 {
		return
	}
	each(x.Event.Lanes, func(lane int) {
		p := probe.Segment{To: x.To, ToOffset: x.ToOffset[lane], From: x.From, FromOffset: x.FromOffset[lane], Bytes: int(x.Read[lane]), Read: int(x.Read[lane])}
		if valid || p.Read == 0 {
			to.set(p.ToOffset, x.Bytes, false, 0)
			return
		}
		c.arrive(&probe.Effect{}, &p, c.source(&p))
		if fill := x.Bytes - p.Bytes; fill > 0 {
			to.set(p.ToOffset+uint64(p.Bytes), fill, false, 0)
		}
	})
}

// matrices handles the reads of shared memory by wgmma: an invalid bit there makes its results invalid. Tensor
// memory is not tracked.
func (c *cta) matrices(e *probe.Event) {
	if !e.Effect.Reads || e.Instr.Form.Family != ptx.FamilyWgmma {
		return
	}
	for i := range e.Effect.Segments {
		h := c.source(&e.Effect.Segments[i])
		if h.bits == nil {
			continue
		}
		if h.origin == 0 {
			h.origin = c.unwritten(e, c.memoryOf(e.Effect.Segments[i].From))
		}
		w := &c.warps[e.Warp]
		f := &w.frames[e.Depth]
		for k := range c.plan.steps[e.Index].actions {
			a := &c.plan.steps[e.Index].actions[k]
			for n, r := range a.results {
				each(e.Active, func(lane int) { f.set(r, lane, c.bitsOf(a, n), h.origin|computed) })
			}
		}
		w.endEase(e)
		return
	}
}

// source returns the invalid bits of a segment's source.
//
//go:norace
func (c *cta) source(p *probe.Segment) heldBits {
	if p.From == nil {
		return heldBits{}
	}
	m := c.memoryOf(p.From)
	if m.dirty.Load() == 0 || p.Read == 0 || m.clean(p.FromOffset, p.Read) {
		return heldBits{}
	}
	h := heldBits{bits: append([]byte(nil), m.bits[p.FromOffset:p.FromOffset+uint64(p.Read)]...)}
	for i := range h.bits {
		h.bits[i] ^= byte(m.flip)
	}
	if p.To != nil && p.Read != p.Bytes { // packed elements
		any := byte(0)
		for _, v := range h.bits {
			any |= v
		}
		if h.bits = h.bits[:p.Bytes]; any != 0 {
			for i := range h.bits {
				h.bits[i] = 0xff
			}
		}
	}
	for i := range h.bits {
		if h.bits[i] != 0 {
			h.origin = m.origin[(p.FromOffset+uint64(i))/4].Load()
			return h
		}
	}
	return heldBits{}
}

func (c *cta) memoryOf(a *probe.Allocation) *memory {
	if a == c.shared.alloc {
		return c.shared
	}
	return c.tool.memoryOf(a)
}

// arrive writes the invalid bits of a segment to its destination.
//
//go:norace
func (c *cta) arrive(f *probe.Effect, p *probe.Segment, h heldBits) {
	m := c.memoryOf(p.To)
	if h.bits == nil {
		if !f.Reduces && m.dirty.Load() != 0 {
			m.set(p.ToOffset, p.Bytes, false, 0)
		}
		return
	}
	for i, v := range h.bits {
		at := &m.bits[p.ToOffset+uint64(i)]
		if !f.Reduces {
			*at = v ^ byte(m.flip)
		} else if v != 0 {
			*at = ^byte(m.flip)
		}
		if v != 0 {
			m.origin[(p.ToOffset+uint64(i))/4].Store(h.origin)
		}
	}
	m.soil(p.ToOffset, p.Bytes)
	m.settle(p.ToOffset, p.Bytes)
}

// issueStore keeps the validity of the register operands of st.async and red.async.
func (c *cta) issueStore(e *probe.Event) {
	w, s := &c.warps[e.Warp], &c.plan.steps[e.Index]
	f := &w.frames[e.Depth]
	lane := lowest(e.Lanes)
	a := &s.actions[max(w.next-1, 0)]
	// The sources are two addresses and two words of the value.
	if len(a.sources) < 4 || len(e.Effect.Segments) != 1 {
		return
	}
	n := e.Effect.Segments[0].Bytes
	var h heldBits
	for k, r := range a.sources[2:4] {
		v, origin := f.invalid(r, lane)
		if v != 0 && h.bits == nil {
			h.bits = make([]byte, 16)
			h.origin = c.origin(e.Index, origin, a.op.Sources[2+k].Reg)
		}
		for b := 0; v != 0; b++ {
			h.bits[8*k+b] = byte(v)
			v >>= 8
		}
	}
	if h.bits == nil {
		return
	}
	h.bits = h.bits[:n]
	if c.held == nil {
		c.held = map[int64]*effect{}
	}
	c.held[e.Effect.Number] = &effect{segments: []heldBits{h}}
}
