package barriers

// This file checks accesses to shared memory: pending copies, mbarriers, shared memory of other CTAs.

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"gemu/interp"
	"gemu/probe"
	"gemu/ptx"
	"gemu/sanitize/finding"
)

// pendingCopy is a cp.async copy that has not been waited for.
type pendingCopy struct {
	lanes  uint64
	bytes  uint64
	offset [64]uint32 // in shared memory, by lane
	group  [64]int32  // the number of groups that its lane had committed before
	index  int
}

// offset returns the offset of an address in shared memory, and the rank of the CTA. ok is false for addresses
// outside it.
func offset(addr uint64, space ptx.Space) (offset uint64, rank int, ok bool) {
	if space == ptx.Generic {
		addr -= probe.SharedWindow
	} else if space != ptx.Shared {
		return 0, 0, false
	}
	offset = addr & (1<<probe.RankShift - 1)
	return offset, int(addr >> probe.RankShift), offset < probe.WindowSize && addr>>probe.RankShift < interp.MaxCluster
}

// address returns the addresses of an operand by lane. It may use c.values[0], which must stay unchanged while
// the result is in use.
func (c *cta) address(e *probe.Event, o *ptx.Operand) func(lane int) uint64 {
	var variableOffset uint64
	if v, ok := o.Sym().(*ptx.Var); ok {
		for _, n := range c.plan.shared {
			if n.Var == v {
				variableOffset = uint64(n.Offset)
			}
		}
	}
	offset := uint64(o.Offset())
	switch {
	case o.Reg == ptx.NoReg || !e.ReadTo(&c.values[0], o.Reg):
		return func(int) uint64 { return variableOffset + offset }
	case o.IndexSize() > 0:
		return func(lane int) uint64 { return variableOffset + o.Indexed(c.values[0].Low[lane]) }
	}
	return func(lane int) uint64 { return c.values[0].Low[lane] + variableOffset + offset }
}

// copies notes the start of copies by lanes.
func (c *cta) copies(e *probe.Event, a *action, w *warp) {
	if n := len(w.pending); n < cap(w.pending) {
		w.pending = w.pending[:n+1]
	} else {
		w.pending = append(w.pending, pendingCopy{})
	}
	p := &w.pending[len(w.pending)-1]
	p.lanes, p.bytes, p.index = e.Lanes, a.bytes, e.Index
	addrOf := c.address(e, a.addr)
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		off, _, _ := offset(addrOf(lane), a.space)
		p.offset[lane], p.group[lane] = uint32(off), int32(w.groups[lane])
		if len(c.objects) > 0 {
			c.object(e, off, p.bytes, lane, "copied to")
		}
	}
}

// completeGroups drops the copies of lanes in all groups except the last few. A negative last means wait_all:
// it drops copies without a group, too.
func (w *warp) completeGroups(lanes uint64, last int) {
	for i := range w.pending {
		p := &w.pending[i]
		for m := p.lanes & lanes; m != 0; m &= m - 1 {
			if lane := bits.TrailingZeros64(m); last < 0 || int(p.group[lane]) < w.groups[lane]-last {
				p.lanes &^= 1 << lane
			}
		}
	}
	w.tidy()
}

// drop drops all copies of lanes.
func (w *warp) drop(lanes uint64) {
	for i := range w.pending {
		w.pending[i].lanes &^= lanes
	}
	w.tidy()
}

func (w *warp) tidy() {
	n := 0
	for i := range w.pending {
		if w.pending[i].lanes != 0 {
			if n != i {
				w.pending[n] = w.pending[i]
			}
			n++
		}
	}
	w.pending = w.pending[:n]
}

// laneExits reports lanes that exit without waiting for their copies.
func (c *cta) laneExits(e *probe.Event, w *warp) {
	for i := range w.pending {
		p := &w.pending[i]
		m := p.lanes & e.Lanes
		if m == 0 {
			continue
		}
		lane := bits.TrailingZeros64(m)
		f := finding.Finding{
			Tool: Name, Kind: Wait, Severity: finding.Notice, Place: c.place(e, spot{p.index, e.Warp, lane}, "copy"),
			Message: fmt.Sprintf("the thread exits without waiting for its copy of %d bytes to shared memory", p.bytes),
		}
		f.Place.Lanes = finding.Lanes(m)
		c.log.Add(e, f)
	}
	w.drop(e.Lanes)
}

// accesses checks an access to memory.
func (c *cta) accesses(e *probe.Event, w *warp, x *probe.Access) {
	if len(w.pending) == 0 && len(c.objects) == 0 && c.cluster == nil || x.Addr == nil || x.Space != ptx.Shared && x.Space != ptx.Generic {
		return
	}
	for m := x.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		off, rank, ok := offset(x.Addr[lane], x.Space)
		if !ok {
			continue
		}
		if c.cluster != nil && rank != c.rank {
			c.cluster.accessed(c, e, rank, w.arrived, c.spot(e, 1<<lane))
			continue
		}
		n := uint64(x.Length(lane))
		if len(c.objects) > 0 {
			how := "read"
			if x.Writes() {
				how = "written"
			}
			c.object(e, off, n, lane, how)
		}
		if x.Kind == probe.AccessStore {
			continue
		}
		for i := range w.pending {
			p := &w.pending[i]
			if to := uint64(p.offset[lane]); p.lanes>>lane&1 != 0 && off < to+p.bytes && to < off+n {
				other := c.place(e, spot{p.index, e.Warp, lane}, "copy")
				c.log.Add(e, finding.Finding{
					Tool: Name, Kind: Wait, Place: finding.PlaceOf(e, "read", lane), OtherPlace: &other, Memory: c.memory(x.Addr[lane], off, int(n)),
					Message: fmt.Sprintf("the thread reads %d bytes that its own copy writes, without waiting for the copy", n),
				})
				return
			}
		}
	}
}

// memory describes bytes of shared memory.
func (c *cta) memory(addr, offset uint64, bytes int) *finding.Memory {
	m := &finding.Memory{Space: ptx.Shared.String(), Address: addr, Bytes: bytes}
	for _, v := range c.plan.shared {
		if within := offset - uint64(v.Offset); offset >= uint64(v.Offset) && (within < uint64(v.Var.Size()) || v.Var.Size() == 0) {
			m.Name, m.Offset, m.Variable = v.Var.Name, within, true
			break
		}
	}
	return m
}

// mbarrierObject is an initialised mbarrier and the place of its initialisation.
type mbarrierObject struct {
	addr uint64
	init spot
}

// initMbarrier handles mbarrier.init and mbarrier.inval.
func (c *cta) initMbarrier(e *probe.Event, a *action) {
	addrOf := c.address(e, a.addr)
	for m := e.Lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		off, _, _ := offset(addrOf(lane), a.space)
		i := slices.IndexFunc(c.objects, func(o mbarrierObject) bool { return o.addr == off })
		switch {
		case a.inval && i >= 0:
			c.objects = slices.Delete(c.objects, i, i+1)
		case a.inval:
		case i >= 0:
			other := c.place(e, c.objects[i].init, "made")
			c.log.Add(e, finding.Finding{
				Tool: Name, Kind: Mbarrier, Place: finding.PlaceOf(e, "made", lane), OtherPlace: &other, Memory: c.memory(addrOf(lane), off, 8),
				Message: "mbarrier.init on an mbarrier in use: call mbarrier.inval first",
			})
			c.objects[i].init = c.spot(e, 1<<lane)
		default:
			c.objects = append(c.objects, mbarrierObject{off, c.spot(e, 1<<lane)})
		}
	}
	c.lowAddr, c.endAddr = ^uint64(0), 0
	for _, o := range c.objects {
		c.lowAddr, c.endAddr = min(c.lowAddr, o.addr), max(c.endAddr, o.addr+8)
	}
}

// object reports an access to bytes of an mbarrier by an instruction that is not for mbarriers.
func (c *cta) object(e *probe.Event, offset, n uint64, lane int, how string) {
	if offset >= c.endAddr || offset+n <= c.lowAddr {
		return
	}
	for _, o := range c.objects {
		if offset < o.addr+8 && o.addr < offset+n {
			other := c.place(e, o.init, "made")
			c.log.Add(e, finding.Finding{
				Tool: Name, Kind: Mbarrier, Place: finding.PlaceOf(e, how, lane), OtherPlace: &other, Memory: c.memory(offset, offset, int(n)),
				Message: "an mbarrier in use is " + how + " by an instruction that is not for mbarriers",
			})
			return
		}
	}
}

// unfinished checks the mbarriers at the end of the CTA: an incomplete phase has lost an arrival, or has an
// arrival too many.
func (c *cta) unfinished(e *probe.Event) {
	shared := e.Shared()
	for _, o := range c.objects {
		if shared == nil || o.addr+8 > uint64(len(shared.Data)) {
			continue
		}
		b := binary.LittleEndian.Uint64(shared.Data[o.addr:])
		pending, expected, tx := interp.MbarrierCounts(b)
		if pending == expected && tx == 0 {
			continue
		}
		message := fmt.Sprintf("an mbarrier is left in the middle of a phase: %d of %d arrivals are missing", pending, expected)
		if tx != 0 {
			message += fmt.Sprintf(", and its tx-count is %d", tx)
		}
		c.log.Add(e, finding.Finding{
			Tool: Name, Kind: Mbarrier, Severity: finding.Notice, Place: c.place(e, o.init, "made"), Memory: c.memory(o.addr, o.addr, 8), Message: message,
		})
	}
}
