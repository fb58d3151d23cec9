package bounds

// This file compares accesses with the variables that their addresses were derived from.

import (
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// inside reports whether all accesses of a plain instruction are inside what they are to access, as nearly
// all are.
func (c *cta) inside(e *interp.Event, a *action) bool {
	for i := range e.Accesses {
		x := &e.Accesses[i]
		base, size, mask, ok := c.extent(origin{id: a.addr[0].sym}, x.Space)
		n := wanted(x)
		if !ok || n == 0 || size < n || !within(x, x.Addr, e.Lanes&x.Lanes, base, size-n, mask) {
			return false
		}
	}
	return true
}

// wanted is how many bytes of a lane have to be inside: not those that nobody reads.
func wanted(x *interp.Access) uint64 { return uint64(x.Bytes - x.Spare) }

// within reports whether addresses of lanes, masked, are from base on and at most last behind it. They are
// those of the access, if it has any.
func within(x *interp.Access, addr []uint64, lanes, base, last, mask uint64) bool {
	if x.Addr != nil && spanned(x.Runs(lanes), base, last, mask) {
		return true
	}
	// One is outside if its offset is negative, or its distance to the last that is inside.
	any := uint64(0)
	if lanes == 1<<32-1 && len(addr) >= 32 {
		for _, at := range addr[:32] {
			off := (at - base) & mask
			any |= off | (last - off)
		}
	} else {
		for ; lanes != 0; lanes &= lanes - 1 {
			off := (addr[bits.TrailingZeros64(lanes)] - base) & mask
			any |= off | (last - off)
		}
	}
	return any>>63 == 0
}

// spanned reports whether there are runs, and all are inside.
func spanned(runs []interp.Run, base, last, mask uint64) bool {
	for i := range runs {
		low, width, ok := runs[i].Span()
		if low = (low - base) & mask; !ok || low > last || width > last-low {
			return false
		}
	}
	return len(runs) > 0
}

// check looks at what an instruction accesses by an address.
func (c *cta) check(e *interp.Event, w *warp, rows []row, a *address) {
	var from *row
	m := e.Lanes
	if a.row >= 0 {
		from = &rows[a.row]
		if a.sym == nothing {
			m &= from.lanes
		}
	}
	if m == 0 {
		return
	}
	if a.told {
		for i := range e.Accesses {
			x := &e.Accesses[i]
			if lanes := m & x.Lanes; a.reg == ptx.NoReg && c.bases[a.sym] == 0 && lanes != 0 {
				c.bases[a.sym] = x.Addr[bits.TrailingZeros64(lanes)] - uint64(a.off)
			}
			c.compare(e, w, a, from, x.Addr, m&x.Lanes, x.Space, x)
		}
		return
	}
	c.issued(e, w, a, from, m)
}

// issued is check for an instruction that tells of no accesses: where it goes is in its
// registers.
func (c *cta) issued(e *interp.Event, w *warp, a *address, from *row, m uint64) {
	var addr [64]uint64
	if a.reg != ptx.NoReg {
		if !e.ReadTo(&c.value, a.reg) {
			return
		}
		copy(addr[:], c.value.Low)
	} else if v := &c.plan.vars[a.sym]; v.Space == ptx.Shared {
		for i := range addr {
			addr[i] = v.off
		}
	} else {
		return
	}
	if a.index != nil && (a.array == nothing || c.plan.vars[a.array].Space != ptx.Shared) {
		return // where it is, a launch says
	}
	for i := range addr {
		if a.index != nil {
			addr[i] = c.plan.vars[a.array].off + a.index.Indexed(addr[i])
		} else {
			addr[i] += uint64(a.off)
		}
	}
	x := interp.Access{}
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

// extent is what an origin's variable takes, in addresses of a space; ok is false if nobody
// knows. Addresses are to be masked.
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
		mask = 1<<interp.RankShift - 1
		if space == ptx.Generic {
			base += interp.SharedWindow
		}
	case o.base != 0: // it is in a frame
		base += uint64(o.base)
		if space == ptx.Generic {
			base += interp.LocalWindow
		}
	default:
		if base = c.bases[o.id]; base == 0 {
			return 0, 0, 0, false
		}
	}
	return base, size, mask, true
}

// compare looks at an access of lanes whose addresses are derived from what a row says, or from
// the variable that the instruction names.
func (c *cta) compare(e *interp.Event, w *warp, a *address, from *row, addr []uint64, m uint64, space ptx.Space, x *interp.Access) {
	if m == 0 || addr == nil {
		return
	}
	named := origin{}
	if a.sym != nothing {
		named = c.origin(e, a.sym)
	}
	of := func(lane int) origin {
		if from == nil {
			return named
		}
		return c.plan.either(named, from.at(lane))
	}
	first := bits.TrailingZeros64(m)
	o := of(first)
	if from == nil || named.id == nothing && !from.apart {
		// One variable: are all inside?
		base, size, mask, ok := c.extent(o, space)
		if !ok {
			return
		}
		if n := wanted(x); n > 0 && size >= n && (o.base == 0 || o.depth == uint32(e.Depth)) {
			if within(x, addr, m, base, size-n, mask) && (o.base == 0 || w.current(o, m)) {
				return
			}
		}
	}
	var outside, stale uint64
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros64(n)
		o := of(lane)
		base, size, mask, ok := c.extent(o, space)
		if !ok {
			continue
		}
		bytes := wanted(x)
		if bytes == 0 {
			bytes = uint64(x.Length(lane))
		}
		off := (addr[lane] - base) & mask
		switch {
		case o.base != 0 && (o.depth > uint32(e.Depth) || !w.current(o, 1<<lane)):
			stale |= 1 << lane
		case off > size || bytes > size-off:
			outside |= 1 << lane
		}
	}
	if outside|stale != 0 && e.Kind == interp.OnAccess && traps(x) {
		return
	}
	if outside != 0 {
		c.tell(e, Outside, of(bits.TrailingZeros64(outside)), outside, addr, space, x)
	}
	if stale != 0 {
		c.tell(e, Stale, of(bits.TrailingZeros64(stale)), stale, addr, space, x)
	}
}

// traps reports whether an access that is about to be executed will trap: the machine tells of it.
func traps(x *interp.Access) bool {
	for m := x.Lanes; m != 0; m &= m - 1 {
		if _, _, _, ok := x.Place(bits.TrailingZeros64(m)); !ok {
			return true
		}
	}
	return false
}

// current reports whether lanes are in the call still whose frame an origin is in.
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

// tell adds a finding about lanes.
func (c *cta) tell(e *interp.Event, kind string, o origin, m uint64, addr []uint64, space ptx.Space, x *interp.Access) {
	lane := bits.TrailingZeros64(m)
	base, size, mask, _ := c.extent(o, space)
	bytes := x.Bytes
	if bytes == 0 {
		bytes = x.Length(lane)
	}
	off := (addr[lane] - base) & mask
	where := ""
	switch sign := mask>>1 + 1; {
	case off&sign != 0 && -off&mask >= uint64(bytes):
		where = fmt.Sprintf("%s before the beginning", counted(-off&mask))
	case off == size:
		where = "right behind the end"
	case off&sign != 0:
		where = fmt.Sprintf("beginning %s before the beginning", counted(-off&mask))
	case off >= size:
		where = fmt.Sprintf("%s behind the end", counted(off-size))
	default:
		where = fmt.Sprintf("ending %s behind the end", counted(off+uint64(bytes)-size))
	}
	if c.plan.buffer(o.id) {
		c.beyond(e, o, m, addr[lane], bytes, where, x)
		return
	}
	v := &c.plan.vars[o.id]
	name := finding.Name(v.Name)
	memory := &finding.Memory{Space: v.Space.String(), Address: addr[lane], Bytes: bytes}
	in := ""
	if n, at := c.neighbour(e, addr[lane], space); n != nil {
		memory.Name, memory.Offset, memory.Variable = n.Name, at, true
		if n != v.Var {
			in = ", in " + finding.Name(n.Name)
		}
	}
	message := fmt.Sprintf("%s of %s %s of %s, a %s variable of %s%s", x.Kind, counted(uint64(bytes)), where, name, v.Space, counted(size), in)
	if v.open {
		message = fmt.Sprintf("%s of %s %s of %s, a %s variable%s", x.Kind, counted(uint64(bytes)), where, name, v.Space, in)
	}
	if kind == Stale {
		message = fmt.Sprintf("%s of %s by a pointer to %s, a variable of a call that has returned", x.Kind, counted(uint64(bytes)), name)
	}
	f := finding.Finding{
		Tool: Name, Kind: kind, Message: message, At: finding.At(e, x.Kind.String(), lane),
		Memory: memory,
	}
	f.At.Lanes = finding.Lanes(m)
	c.log.Add(e, f)
}

// beyond is tell for the buffer of an argument.
func (c *cta) beyond(e *interp.Event, o origin, m uint64, addr uint64, bytes int, where string, x *interp.Access) {
	b := c.buffers[o.id-c.plan.buffers]
	memory := &finding.Memory{Space: x.Space.String(), Address: addr, Bytes: bytes}
	in := ""
	if x.Addr != nil {
		if space, a, off, ok := x.At(addr); ok {
			if memory.Space = space.String(); a != nil {
				memory.Name, memory.Offset = a.Label(), off
				in = ", in " + memory.Name
			}
		}
	}
	argument := slices.IndexFunc(c.plan.params, func(v interp.Variable) bool { return b.Off >= v.Off && b.Off < v.Off+v.Var.Size() })
	f := finding.Finding{
		Tool: Name, Kind: Beyond, At: finding.At(e, x.Kind.String(), bits.TrailingZeros64(m)), Memory: memory,
		Message: fmt.Sprintf("%s of %s %s of %s, %s that argument %d points into%s", x.Kind, counted(uint64(bytes)), where, b.Memory.Label(), counted(b.End-b.Begin), argument, in),
	}
	f.At.Lanes = finding.Lanes(m)
	c.log.Add(e, f)
}

func counted(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// neighbour is the variable that is at an address, and the offset there; nil if it is none's.
func (c *cta) neighbour(e *interp.Event, addr uint64, space ptx.Space) (v *ptx.Var, at uint64) {
	list, off := c.plan.shared, addr&(1<<interp.RankShift-1)
	switch {
	case space == ptx.Shared:
	case space == ptx.Generic && off-interp.SharedWindow < interp.WindowSize:
		off -= interp.SharedWindow
	case space == ptx.Local || space == ptx.Generic && addr-interp.LocalWindow < interp.WindowSize:
		if space == ptx.Generic {
			addr -= interp.LocalWindow
		}
		list, off = e.Launch.Program.Locals(e.Func), addr-uint64(e.Local)
	default:
		return nil, 0
	}
	for _, n := range list {
		if at := off - uint64(n.Off); off >= uint64(n.Off) && (at < uint64(n.Var.Size()) || n.Var.Size() == 0) {
			return n.Var, at
		}
	}
	return nil, 0
}
