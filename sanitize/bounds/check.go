package bounds

// This file compares accesses with the bounds of the variables that their addresses derive from.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// allInside reports whether all accesses of a plain instruction are in bounds, as nearly all are.
func (c *cta) allInside(e *probe.Event, a *action) bool {
	for i := range e.Accesses {
		x := &e.Accesses[i]
		base, size, mask, ok := c.extent(origin{id: a.addr[0].baseID}, x.Space)
		n := wanted(x)
		if !ok || n == 0 || size < n || !allWithin(x, x.Addr, e.Lanes&x.Lanes, base, size-n, mask) {
			return false
		}
	}
	return true
}

// FilterLoads returns the bounds of the buffer or variable: a load inside needs no event.
func (c *cta) FilterLoads(e *probe.Event, x *probe.Access) (l probe.AccessCondition, ok bool) {
	a := &c.plan.actions[e.Index]
	if !a.plain {
		return l, false
	}
	base, size, _, ok := c.extent(origin{id: a.addr[0].baseID}, x.Space)
	return probe.AccessCondition{Begin: base, End: base + size, Lasting: true}, ok
}

// FilterStores is FilterLoads for stores.
func (c *cta) FilterStores(e *probe.Event, x *probe.Access) (l probe.AccessCondition, ok bool) {
	return c.FilterLoads(e, x)
}

// wanted returns the number of bytes of each lane that must be in bounds. Bytes that are never read need not
// be.
func wanted(x *probe.Access) uint64 { return uint64(x.Bytes - x.SpareBytes) }

// allWithin reports whether the masked addresses of lanes lie from base to base+last. If the access has
// addresses, addr must be the same.
func allWithin(x *probe.Access, addr []uint64, lanes, base, last, mask uint64) bool {
	if x.Addr != nil && spanned(x.Runs(lanes), base, last, mask) {
		return true
	}
	// An address is out of bounds if its offset, or last minus its offset, is negative.
	any := uint64(0)
	if lanes == 1<<32-1 && len(addr) >= 32 {
		for _, address := range addr[:32] {
			offset := (address - base) & mask
			any |= offset | (last - offset)
		}
	} else {
		for ; lanes != 0; lanes &= lanes - 1 {
			offset := (addr[bits.TrailingZeros64(lanes)] - base) & mask
			any |= offset | (last - offset)
		}
	}
	return any>>63 == 0
}

// spanned reports whether there are runs and all of them are in bounds.
func spanned(runs []probe.AddressRun, base, last, mask uint64) bool {
	for i := range runs {
		low, width, ok := runs[i].Span()
		if low = (low - base) & mask; !ok || low > last || width > last-low {
			return false
		}
	}
	return len(runs) > 0
}

// check checks the accesses of an instruction through an address operand.
func (c *cta) check(e *probe.Event, w *warp, rows []row, a *address) {
	var from *row
	m := e.Lanes
	if a.row >= 0 {
		from = &rows[a.row]
		if a.baseID == notPointer {
			m &= from.lanes
		}
	}
	if m == 0 {
		return
	}
	if a.hasEvent {
		for i := range e.Accesses {
			x := &e.Accesses[i]
			if lanes := m & x.Lanes; a.reg == ptx.NoReg && c.bases[a.baseID] == 0 && lanes != 0 {
				c.bases[a.baseID] = x.Addr[bits.TrailingZeros64(lanes)] - uint64(a.off)
			}
			c.compare(e, w, a, from, x.Addr, m&x.Lanes, x.Space, x)
		}
		return
	}
	c.issued(e, w, a, from, m)
}

// issued is check for an instruction without access events: the addresses are in its registers.
func (c *cta) issued(e *probe.Event, w *warp, a *address, from *row, m uint64) {
	var addr [64]uint64
	if a.reg != ptx.NoReg {
		if !e.ReadTo(&c.value, a.reg) {
			return
		}
		copy(addr[:], c.value.Low)
	} else if v := &c.plan.vars[a.baseID]; v.Space == ptx.Shared {
		for i := range addr {
			addr[i] = v.off
		}
	} else {
		return
	}
	if a.index != nil && (a.array == notPointer || c.plan.vars[a.array].Space != ptx.Shared) {
		return // the address depends on the launch
	}
	for i := range addr {
		if a.index != nil {
			addr[i] = c.plan.vars[a.array].off + a.index.Indexed(addr[i])
		} else {
			addr[i] += uint64(a.off)
		}
	}
	x := probe.Access{}
	x.Space, x.Kind, x.Bytes = a.space, a.kind, int(a.bytes)
	if a.length == nil {
		c.compare(e, w, a, from, addr[:], m, a.space, &x)
		return
	}
	switch a.length.Kind {
	case ptx.ImmOperand:
		x.Bytes = int(a.length.Imm.Bits)
		c.compare(e, w, a, from, addr[:], m, a.space, &x)
	case ptx.RegOperand:
		if !e.ReadTo(&c.value, a.length.Reg) {
			return
		}
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			x.Bytes = int(c.value.Low[lane] & 0xffff_ffff)
			c.compare(e, w, a, from, addr[:], 1<<lane, a.space, &x)
		}
	}
}

// extent returns the bounds of an origin's variable, as addresses of a state space. Addresses must be masked
// before comparison. ok is false if the bounds are unknown.
func (c *cta) extent(o origin, space ptx.Space) (base, size, mask uint64, ok bool) {
	if o.id < firstID {
		return 0, 0, 0, false
	}
	if c.plan.buffer(o.id) {
		b := c.buffers[o.id-c.plan.buffers]
		return b.Begin, b.End - b.Begin, ^uint64(0), true
	}
	v := &c.plan.vars[o.id]
	base, size, mask = v.off, v.size, ^uint64(0)
	switch {
	case v.Space == ptx.Shared:
		mask = 1<<probe.RankShift - 1
		if space == ptx.Generic {
			base += probe.SharedWindow
		}
	case o.base != 0: // in a function's frame
		base += uint64(o.base)
		if space == ptx.Generic {
			base += probe.LocalWindow
		}
	default:
		if base = c.bases[o.id]; base == 0 {
			return 0, 0, 0, false
		}
	}
	return base, size, mask, true
}

// compare checks an access of lanes. The origins of the addresses are the origins of the row from, combined
// with the variable that the instruction names.
func (c *cta) compare(e *probe.Event, w *warp, a *address, from *row, addr []uint64, m uint64, space ptx.Space, x *probe.Access) {
	if m == 0 || addr == nil {
		return
	}
	named := origin{}
	if a.baseID != notPointer {
		named = c.origin(e, a.baseID)
	}
	originOf := func(lane int) origin {
		if from == nil {
			return named
		}
		return c.plan.either(named, from.originOf(lane))
	}
	first := bits.TrailingZeros64(m)
	o := originOf(first)
	if from == nil || named.id == notPointer && !from.perLane {
		// A single variable: mostly all lanes are in bounds.
		base, size, mask, ok := c.extent(o, space)
		if !ok {
			return
		}
		if n := wanted(x); n > 0 && size >= n && (o.base == 0 || o.depth == uint32(e.Depth)) {
			if allWithin(x, addr, m, base, size-n, mask) && (o.base == 0 || w.current(o, m)) {
				return
			}
		}
	}
	var outside, stale uint64
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros64(n)
		o := originOf(lane)
		base, size, mask, ok := c.extent(o, space)
		if !ok {
			continue
		}
		bytes := wanted(x)
		if bytes == 0 {
			bytes = uint64(x.Length(lane))
		}
		offset := (addr[lane] - base) & mask
		switch {
		case o.base != 0 && (o.depth > uint32(e.Depth) || !w.current(o, 1<<lane)):
			stale |= 1 << lane
		case offset > size || bytes > size-offset:
			outside |= 1 << lane
		}
	}
	if outside|stale != 0 && e.Kind == probe.OnAccess && traps(x) {
		return
	}
	if outside != 0 {
		c.report(e, Outside, originOf(bits.TrailingZeros64(outside)), outside, addr, space, x)
	}
	if stale != 0 {
		c.report(e, Stale, originOf(bits.TrailingZeros64(stale)), stale, addr, space, x)
	}
}

// traps reports whether an access before its execution will trap; then the trap is the report.
func traps(x *probe.Access) bool {
	for m := x.Lanes; m != 0; m &= m - 1 {
		if _, _, _, ok := x.PlaceOf(bits.TrailingZeros64(m)); !ok {
			return true
		}
	}
	return false
}

// current reports whether the lanes are still in the call whose frame holds the origin's variable.
func (w *warp) current(o origin, m uint64) bool {
	if o.depth == 0 {
		return true
	}
	fr := &w.frames[o.depth]
	for ; m != 0; m &= m - 1 {
		if fr.call[bits.TrailingZeros64(m)] != o.call {
			return false
		}
	}
	return true
}

// report adds a finding for lanes.
func (c *cta) report(e *probe.Event, kind string, o origin, m uint64, addr []uint64, space ptx.Space, x *probe.Access) {
	lane := bits.TrailingZeros64(m)
	base, size, mask, _ := c.extent(o, space)
	bytes := x.Bytes
	if bytes == 0 {
		bytes = x.Length(lane)
	}
	offset := (addr[lane] - base) & mask
	position := ""
	switch sign := mask>>1 + 1; {
	case offset&sign != 0 && -offset&mask >= uint64(bytes):
		position = fmt.Sprintf("%s before the beginning", byteCount(-offset&mask))
	case offset == size:
		position = "right after the end"
	case offset&sign != 0:
		position = fmt.Sprintf("starting %s before the beginning", byteCount(-offset&mask))
	case offset >= size:
		position = fmt.Sprintf("%s after the end", byteCount(offset-size))
	default:
		position = fmt.Sprintf("ending %s after the end", byteCount(offset+uint64(bytes)-size))
	}
	if c.plan.buffer(o.id) {
		c.reportBuffer(e, o, m, addr[lane], bytes, position, x)
		return
	}
	v := &c.plan.vars[o.id]
	name := finding.Name(v.Name)
	memory := &finding.Memory{Space: v.Space.String(), Address: addr[lane], Bytes: bytes}
	location := ""
	if n, byteOffset := c.neighbour(e, addr[lane], space); n != nil {
		memory.Name, memory.Offset, memory.Variable = n.Name, byteOffset, true
		if n != v.Var {
			location = ", in " + finding.Name(n.Name)
		}
	}
	message := fmt.Sprintf("%s of %s %s of %s, a %s variable of %s%s", x.Kind, byteCount(uint64(bytes)), position, name, v.Space, byteCount(size), location)
	if v.open {
		message = fmt.Sprintf("%s of %s %s of %s, a %s variable%s", x.Kind, byteCount(uint64(bytes)), position, name, v.Space, location)
	}
	if kind == Stale {
		message = fmt.Sprintf("%s of %s by a pointer to %s, a variable of a call that has returned", x.Kind, byteCount(uint64(bytes)), name)
	}
	f := finding.Finding{
		Tool: Name, Kind: kind, Message: message, Place: finding.PlaceOf(e, x.Kind.String(), lane),
		Memory: memory,
	}
	f.Place.Lanes = finding.Lanes(m)
	c.log.Add(e, f)
}

// reportBuffer is report for the buffer of an argument.
func (c *cta) reportBuffer(e *probe.Event, o origin, m uint64, addr uint64, bytes int, position string, x *probe.Access) {
	b := c.buffers[o.id-c.plan.buffers]
	memory := &finding.Memory{Space: x.Space.String(), Address: addr, Bytes: bytes}
	location := ""
	if x.Addr != nil {
		if space, a, offset, ok := x.AllocationAt(addr); ok {
			if memory.Space = space.String(); a != nil {
				memory.Name, memory.Offset = a.Label(), offset
				location = ", in " + memory.Name
			}
		}
	}
	argument := slices.IndexFunc(c.plan.params, func(v probe.Variable) bool { return b.Offset >= v.Offset && b.Offset < v.Offset+v.Var.Size() })
	f := finding.Finding{
		Tool: Name, Kind: Beyond, Place: finding.PlaceOf(e, x.Kind.String(), bits.TrailingZeros64(m)), Memory: memory,
		Message: fmt.Sprintf("%s of %s %s of %s, %s that argument %d points into%s", x.Kind, byteCount(uint64(bytes)), position, b.Memory.Label(), byteCount(b.End-b.Begin), argument, location),
	}
	f.Place.Lanes = finding.Lanes(m)
	c.log.Add(e, f)
}

func byteCount(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// neighbour returns the variable at an address, and the offset in it; nil if there is none.
func (c *cta) neighbour(e *probe.Event, addr uint64, space ptx.Space) (v *ptx.Var, byteOffset uint64) {
	list, offset := c.plan.shared, addr&(1<<probe.RankShift-1)
	switch {
	case space == ptx.Shared:
	case space == ptx.Generic && offset-probe.SharedWindow < probe.WindowSize:
		offset -= probe.SharedWindow
	case space == ptx.Local || space == ptx.Generic && addr-probe.LocalWindow < probe.WindowSize:
		if space == ptx.Generic {
			addr -= probe.LocalWindow
		}
		list, offset = e.Launch.Program.Locals(e.Func), addr-uint64(e.Local)
	default:
		return nil, 0
	}
	for _, n := range list {
		if byteOffset := offset - uint64(n.Offset); offset >= uint64(n.Offset) && (byteOffset < uint64(n.Var.Size()) || n.Var.Size() == 0) {
			return n.Var, byteOffset
		}
	}
	return nil, 0
}
