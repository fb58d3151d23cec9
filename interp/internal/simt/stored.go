package simt

// This file is what check mode does about compact stores: what they have left in memory is
// compared with what the lanes of the reference would have, and with what was there before.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// beforeStore notes what is in memory where lanes would store that do not, for a store for
// too many lanes goes there.
func (w *warp) beforeStore(p *pair, h int, m, idle uint32) {
	k, a := w.check, w.access(p.in)
	for n := idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		k.before[lane] = w.appendMemory(k.before[lane][:0], a, h, lane, w.storesTo(p, h, m, lane))
	}
}

// storesTo is where a lane stores, or would: at a compact address if those of m do, else at
// its own.
func (w *warp) storesTo(p *pair, h int, m uint32, lane int) uint64 {
	a, f := w.access(p.in), &w.files[h]
	if a.Addr == code.NoSlot {
		return a.Off
	}
	if c := shadowAt(f, a.Addr, p.in.A); m != 0 && c.Holds(m) {
		return a.At(c.At(lane))
	}
	return a.At(laneOf(f, code.Row{Slot: a.Addr, Row: p.in.A}, lane))
}

// appendMemory appends what a lane's access at an address goes to. It looks where the
// engine can store without resolving addresses: in local memory, and where the instruction
// accessed memory the last time.
//
//go:norace
func (w *warp) appendMemory(b []byte, a *code.Access, h, lane int, addr uint64) []byte {
	if a.Space != ptx.Local {
		if p := w.near(a, addr); p != nil {
			b = append(b, unsafe.Slice((*byte)(p), a.Bytes)...)
		}
		return b
	}
	view, request := w.view(), a.Request()
	if place, fault := view.Find(&request, addr); fault == nil {
		for i := 0; i < a.Bytes; i += 4 {
			b = binary.LittleEndian.AppendUint32(b, uint32(w.local[h].Load(int(place.Off)+i, lane, 4)))
		}
	}
	return b
}

// near is the memory of an access at an address, if that is where the instruction accessed
// memory the last time; else nil.
func (w *warp) near(a *code.Access, addr uint64) unsafe.Pointer {
	p, base, last, ok := w.reach(a, a.Bytes)
	off := addr - base
	if !ok || bits.RotateLeft64(off, -bits.TrailingZeros(uint(a.Bytes))) > last {
		return nil
	}
	return unsafe.Add(p, off)
}

// afterStore compares what a compact store has left in memory with what the reference's
// lanes would have, and with what was there. What differs may be what another CTA has
// stored in between, a race of the guest's; a store happens once, so it is then repeated
// in a copy of the memory.
func (w *warp) afterStore(p *pair, h int, m, idle uint32) {
	a := w.access(p.in)
	if m != 0 && a.Space != ptx.Local && !w.cta.changed {
		w.mismatch(p, h, m, "it stores, and does not say so to those who wait for memory to change")
		return
	}
	w.compareMemory(p, h, m, idle)
	if w.err == nil || !w.cta.grid.atomics || a.Space == ptx.Shared || a.Space == ptx.Local {
		return
	}
	w.err = nil
	if part := w.partOf(p, h, m, idle); part != nil {
		hit, counted := w.cta.hits[a.Hit], w.count.ThreadInstructions
		w.cta.hits[a.Hit] = part
		w.beforeStore(p, h, m, idle)
		if w.engine(); w.err == nil {
			w.compareMemory(p, h, m, idle)
		}
		w.cta.hits[a.Hit], w.count.ThreadInstructions = hit, counted
	}
}

// partOf is a copy of the memory that the lanes of m store to, and idle ones would; nil if
// the engine would not look there, but resolve the addresses.
func (w *warp) partOf(p *pair, h int, m, idle uint32) *mem.Allocation {
	a := w.access(p.in)
	if a.Addr == code.NoSlot {
		return nil
	}
	from, to := ^uint64(0), uint64(0)
	for n := m | idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr := w.storesTo(p, h, m, lane)
		switch {
		case w.near(a, addr) != nil:
			from, to = min(from, addr), max(to, addr+uint64(a.Bytes))
		case m>>lane&1 != 0:
			return nil
		}
	}
	if to == 0 {
		return nil
	}
	return w.cta.hits[a.Hit].Part(from&^(hitAlign-1), to)
}

// compareMemory compares what is in memory after a store.
func (w *warp) compareMemory(p *pair, h int, m, idle uint32) {
	if m != 0 && !w.storedRows(p, h, m) {
		w.compareStored(p, h, m)
	}
	if w.err == nil && idle != 0 {
		w.compareUnstored(p, h, m, idle)
	}
}

// storedRows reports whether memory holds what the lanes of m store at their compact
// addresses, which are those of the reference. Where it does not, lanes may store in the
// same place.
func (w *warp) storedRows(p *pair, h int, m uint32) bool {
	k := w.check
	g, a := &k.files[h], &k.Access[p.ref.Side]
	step := 0
	if a.Space == ptx.Local {
		return false
	}
	if a.Addr != code.NoSlot {
		c := shadowAt(&w.files[h], a.Addr, p.in.A)
		if !c.Holds(m) {
			return false
		}
		if step = int(c.Stride); a.Addr == code.R {
			step = int(int32(step))
		}
	}
	first, last := bits.TrailingZeros32(m), 31-bits.LeadingZeros32(m)
	from, to := w.storesTo(p, h, m, first), w.storesTo(p, h, m, last)
	at := w.near(a, from)
	if at == nil || w.near(a, to) == nil || to-from != uint64((last-first)*step) || last > first && step%a.Bytes != 0 {
		return false
	}
	for i, e := range a.Elems {
		if e.Slot != code.NoSlot && !storedRow(g, e, a.Size, unsafe.Add(at, i*a.Size), first, step, m) {
			return false
		}
	}
	return true
}

// storedRow reports whether elements of size bytes are at p + (lane − first)·step.
func storedRow(g *regfile.File, e code.Elem, size int, p unsafe.Pointer, first, step int, m uint32) bool {
	if e.Slot == code.Q {
		return storedAs(g.Src64(e.Row), size, p, first, step, m)
	}
	return storedAs(g.Src32(e.Row), size, p, first, step, m)
}

func storedAs[D mem.Slot](row *[regfile.Lanes]D, size int, p unsafe.Pointer, first, step int, m uint32) bool {
	switch size {
	case 1:
		return mem.HoldsRow[uint8](row, p, first, step, m)
	case 2:
		return mem.HoldsRow[uint16](row, p, first, step, m)
	case 4:
		return mem.HoldsRow[uint32](row, p, first, step, m)
	}
	return mem.HoldsRow[uint64](row, p, first, step, m)
}

// compareStored compares memory at the addresses of the reference's lanes, one by one.
func (w *warp) compareStored(p *pair, h int, m uint32) {
	k := w.check
	g, a := &k.files[h], &k.Access[p.ref.Side]
	w.referenceAddresses(p, h)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		b := w.bytesAt(p, h, lane)
		if b == nil {
			w.mismatch(p, h, 1<<lane, "it stores, but the access of lane %d traps", lane)
			return
		}
		for i, e := range a.Elems {
			if e.Slot == code.NoSlot {
				continue
			}
			want := get(g, e, lane)
			for j := range a.Size {
				at := k.address[lane] + uint64(i*a.Size+j)
				if v := byte(want >> (8 * j)); b[i*a.Size+j] != v && !k.stores(at, m&^(1<<lane), a) {
					w.mismatch(p, h, 1<<lane, "lane %d stores %#x at %s, where there is %#x now", lane, want, hexAddr(k.address[lane]+uint64(i*a.Size)), b[i*a.Size:][:a.Size])
					return
				}
			}
		}
	}
}

// compareUnstored compares what is where lanes would store that do not with what was
// there.
func (w *warp) compareUnstored(p *pair, h int, m, idle uint32) {
	k, a := w.check, w.access(p.in)
	addressed := false
	var now []byte
	for n := idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr := w.storesTo(p, h, m, lane)
		now = w.appendMemory(now[:0], a, h, lane, addr)
		if bytes.Equal(now, k.before[lane]) {
			continue
		}
		if !addressed {
			w.referenceAddresses(p, h)
			addressed = true
		}
		for i, v := range now {
			if i < len(k.before[lane]) && v != k.before[lane][i] && !k.stores(addr+uint64(i), m, a) {
				w.mismatch(p, h, 1<<lane, "lane %d, which does not execute it, has another byte at %s", lane, hexAddr(addr+uint64(i)))
				return
			}
		}
	}
}

// stores reports whether a lane of m stores the byte at an address. In local memory, lanes
// have their own.
func (k *check) stores(at uint64, m uint32, a *code.Access) bool {
	if a.Space == ptx.Local {
		return false
	}
	for n := m; n != 0; n &= n - 1 {
		if at-k.address[bits.TrailingZeros32(n)&31] < uint64(a.Bytes) {
			return true
		}
	}
	return false
}

// bytesAt is what is in memory where a lane's access goes to, nil if it traps.
//
//go:norace
func (w *warp) bytesAt(p *pair, h, lane int) (b []byte) {
	a, addr := &w.check.Access[p.ref.Side], w.check.address[lane]
	if b = w.appendMemory(nil, a, h, lane, addr); b != nil {
		return b
	}
	view, request := w.view(), a.Request()
	if place, fault := view.Find(&request, addr); fault == nil {
		for i := range a.Bytes {
			if place.Alloc != nil {
				b = append(b, *(*byte)(unsafe.Add(place.Alloc.Ptr, place.Off+uint64(i))))
			} else {
				b = append(b, byte(w.local[h].Load(int(place.Off)+i, lane, 1)))
			}
		}
	}
	return b
}
