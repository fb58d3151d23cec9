package check

// This file checks compact stores. After a store it compares memory with the values of the reference's lanes and, at the
// addresses of idle lanes, with memory before the store.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"

	"gemu/interp/internal/access"
	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// beforeStore saves the memory at the addresses of idle lanes, which a store for too many lanes would change.
//
//go:norace
func beforeStore(w *machine.Warp, p *machine.InstrPair) {
	k, t := w.Check, targetOfStore(w, p)
	for n := k.Idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		k.MemoryBefore[lane] = append(k.MemoryBefore[lane][:0], t.memory(lane, t.address(lane))...)
	}
}

// storeTarget is the memory to which the lanes of a store write.
type storeTarget struct {
	w          *machine.Warp
	access     *code.Access
	compact    *regfile.Compact // the compact address of the executing lanes; nil if there is none
	f          *regfile.File
	addressRow code.Row // the address register

	// pointer, base and last describe the allocation of the instruction's last access: see access.LastHit. The engine
	// stores there without resolving the address. For local memory pointer is nil.
	pointer    unsafe.Pointer
	base, last uint64
}

func targetOfStore(w *machine.Warp, p *machine.InstrPair) storeTarget {
	k, a := w.Check, w.AccessOf(p.Instr)
	t := storeTarget{w: w, access: a, f: k.EngineFile, addressRow: code.Row{Slot: a.Addr, Row: p.Instr.A}}
	if a.Addr != code.NoSlot {
		if c := machine.ShadowAt(k.EngineFile, a.Addr, p.Instr.A); k.Lanes != 0 && c.Holds(k.Lanes) {
			t.compact = c
		}
	}
	if a.Space != ptx.Local {
		t.pointer, t.base, t.last, _ = access.LastHit(w, a, a.Bytes)
	}
	return t
}

// address returns the address to which a lane stores: from the compact address if the executing lanes have one, otherwise
// from the lane's own address register.
func (t *storeTarget) address(lane int) uint64 {
	switch {
	case t.compact != nil:
		return t.access.AddressAt(t.compact.At(lane))
	case t.access.Addr == code.NoSlot:
		return t.access.Offset
	}
	return t.access.AddressAt(machine.LaneValue(t.f, t.addressRow, lane))
}

// resolved returns the memory at an address, if the engine can store there without resolving the address. It returns nil
// otherwise, and for local memory.
func (t *storeTarget) resolved(addr uint64) unsafe.Pointer {
	offset := addr - t.base
	if t.pointer == nil || bits.RotateLeft64(offset, -bits.TrailingZeros(uint(t.access.Bytes))) > t.last {
		return nil
	}
	return unsafe.Add(t.pointer, offset)
}

// memory returns the bytes at a lane's address, or nil if the engine must resolve the address. For local memory it returns
// a copy. Otherwise it returns the memory itself, which another CTA may write at the same time: only functions without race
// detection may use it.
func (t *storeTarget) memory(lane int, addr uint64) (b []byte) {
	if t.access.Space != ptx.Local {
		if p := t.resolved(addr); p != nil {
			return unsafe.Slice((*byte)(p), t.access.Bytes)
		}
		return nil
	}
	view, request := access.View(t.w), t.w.RequestOf(t.access)
	if place, fault := view.Find(&request, addr); fault == nil {
		n := min(4, t.access.Bytes)
		for i := 0; i < t.access.Bytes; i += n {
			b = binary.LittleEndian.AppendUint32(b, uint32(t.w.Local[t.w.Check.Half].Load(int(place.Offset)+i, lane, n)))
		}
	}
	return b
}

// AfterStore compares memory after a compact store with the values of the reference and, at the addresses of idle lanes,
// with memory before the store. If they differ, another CTA may have stored in between, which is a race of the guest
// program. So AfterStore then repeats the store on a copy of the memory, and compares the copy.
func AfterStore(w *machine.Warp, p *machine.InstrPair) {
	a, m := w.AccessOf(p.Instr), w.Check.Lanes
	if !w.CTA.Changed && storesToSharedMemory(w, p, m) {
		FailMismatch(w, p, m, "it stores without marking memory as changed")
		return
	}
	compareMemory(w, p)
	if w.Err == nil || !w.CTA.Grid.HostAtomics || a.Space == ptx.Shared || a.Space == ptx.Local {
		return
	}
	w.Err = nil
	if part := copyOfTarget(w, p); part != nil {
		hit, counted := w.CTA.LastHits[a.HitIndex], w.Count.ThreadInstructions
		w.CTA.LastHits[a.HitIndex] = part
		beforeStore(w, p)
		if runEngine(w); w.Err == nil {
			compareMemory(w, p)
		}
		w.CTA.LastHits[a.HitIndex], w.Count.ThreadInstructions = hit, counted
	}
}

// storesToSharedMemory reports whether a store for the lanes of m writes memory that other threads can read (any state
// space except .local).
func storesToSharedMemory(w *machine.Warp, p *machine.InstrPair, m uint32) bool {
	a, t := w.AccessOf(p.Instr), targetOfStore(w, p)
	if a.Space != ptx.Generic {
		return m != 0 && a.Space != ptx.Local
	}
	view, request := access.View(w), w.RequestOf(a)
	for ; m != 0; m &= m - 1 {
		if place, fault := view.Find(&request, t.address(bits.TrailingZeros32(m)&31)); fault == nil && place.Alloc != nil {
			return true
		}
	}
	return false
}

// copyOfTarget returns a copy of the memory at the addresses of executing and idle lanes; nil if the engine must resolve
// the address of an executing lane.
func copyOfTarget(w *machine.Warp, p *machine.InstrPair) *mem.Allocation {
	a, k := w.AccessOf(p.Instr), w.Check
	if a.Addr == code.NoSlot {
		return nil
	}
	from, to, t := ^uint64(0), uint64(0), targetOfStore(w, p)
	for n := k.Lanes | k.Idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr := t.address(lane)
		switch {
		case t.resolved(addr) != nil:
			from, to = min(from, addr), max(to, addr+uint64(a.Bytes))
		case k.Lanes>>lane&1 != 0:
			return nil
		}
	}
	if to == 0 {
		return nil
	}
	return w.CTA.LastHits[a.HitIndex].Memory().Slice(from&^(access.HitAlign-1), to)
}

// compareMemory compares memory after a store, for executing and for idle lanes.
func compareMemory(w *machine.Warp, p *machine.InstrPair) {
	if w.Check.Lanes != 0 && !holdsStoredRows(w, p) {
		compareStored(w, p)
	}
	if w.Err == nil && w.Check.Idle != 0 {
		compareUnstored(w, p)
	}
}

// holdsStoredRows reports whether memory at the compact addresses of the executing lanes holds their values. If it does
// not, lanes may have stored to the same place: compareStored decides.
func holdsStoredRows(w *machine.Warp, p *machine.InstrPair) bool {
	k, m := w.Check, w.Check.Lanes
	g, a := k.ReferenceFile, &k.Access[p.Reference.Side]
	step := 0
	if a.Space == ptx.Local {
		return false
	}
	if a.Addr != code.NoSlot {
		c := machine.ShadowAt(k.EngineFile, a.Addr, p.Instr.A)
		if !c.Holds(m) {
			return false
		}
		if step = int(c.Stride); a.Addr == code.R {
			step = int(int32(step))
		}
	}
	first, last := bits.TrailingZeros32(m), 31-bits.LeadingZeros32(m)
	t := targetOfStore(w, p)
	from, to := t.address(first), t.address(last)
	ptr := t.resolved(from)
	if ptr == nil || t.resolved(to) == nil || to-from != uint64((last-first)*step) || last > first && step%a.Bytes != 0 {
		return false
	}
	for i, e := range a.Elems {
		if e.Slot != code.NoSlot && !storedRow(g, e, a.Size, unsafe.Add(ptr, i*a.Size), first, step, m) {
			return false
		}
	}
	return true
}

// storedRow reports whether memory holds element e of the lanes of m: size bytes of each lane at p + (lane − first)·step.
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

// compareStored compares memory with the values of the reference, lane by lane, at the addresses of the reference.
func compareStored(w *machine.Warp, p *machine.InstrPair) {
	k, m := w.Check, w.Check.Lanes
	g, a := k.ReferenceFile, &k.Access[p.Reference.Side]
	referenceAddresses(w, p)
	t := targetOfStore(w, p)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		b := t.bytesAt(lane, k.AddressRow[lane])
		if b == nil {
			FailMismatch(w, p, 1<<lane, "it stores, but in the reference the access of lane %d traps", lane)
			return
		}
		for i, e := range a.Elems {
			if e.Slot == code.NoSlot {
				continue
			}
			want := access.ReadElem(g, e, lane)
			for j := range a.Size {
				addr := k.AddressRow[lane] + uint64(i*a.Size+j)
				if v := byte(want >> (8 * j)); b[i*a.Size+j] != v && !storesByte(k, addr, m&^(1<<lane), a) {
					FailMismatch(w, p, 1<<lane, "lane %d stores %#x at %s, but memory now has %#x there", lane, want, machine.HexAddr(k.AddressRow[lane]+uint64(i*a.Size)), b[i*a.Size:][:a.Size])
					return
				}
			}
		}
	}
}

// compareUnstored compares memory at the addresses of idle lanes with memory before the store.
//
//go:norace
func compareUnstored(w *machine.Warp, p *machine.InstrPair) {
	k, a := w.Check, w.AccessOf(p.Instr)
	m, addressed, t := k.Lanes, false, targetOfStore(w, p)
	for n := k.Idle; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		addr := t.address(lane)
		now := t.memory(lane, addr)
		if bytes.Equal(now, k.MemoryBefore[lane]) {
			continue
		}
		if !addressed {
			referenceAddresses(w, p)
			addressed = true
		}
		for i, v := range now {
			if i < len(k.MemoryBefore[lane]) && v != k.MemoryBefore[lane][i] && !storesByte(k, addr+uint64(i), m, a) {
				FailMismatch(w, p, 1<<lane, "lane %d does not execute it, but memory changed at its address %s", lane, machine.HexAddr(addr+uint64(i)))
				return
			}
		}
	}
}

// storesByte reports whether a lane of m stores the byte at an address. For local memory it returns false, because lanes do
// not share it.
func storesByte(k *machine.WarpCheck, addr uint64, m uint32, a *code.Access) bool {
	if a.Space == ptx.Local {
		return false
	}
	for n := m; n != 0; n &= n - 1 {
		if addr-k.AddressRow[bits.TrailingZeros32(n)&31] < uint64(a.Bytes) {
			return true
		}
	}
	return false
}

// bytesAt returns the bytes at a lane's address; nil if the access traps.
//
//go:norace
func (t *storeTarget) bytesAt(lane int, addr uint64) (b []byte) {
	if b = t.memory(lane, addr); b != nil {
		return b
	}
	view, request := access.View(t.w), t.w.RequestOf(t.access)
	if place, fault := view.Find(&request, addr); fault == nil {
		for i := range t.access.Bytes {
			if place.Alloc != nil {
				b = append(b, *(*byte)(unsafe.Add(place.Alloc.Ptr, place.Offset+uint64(i))))
			} else {
				b = append(b, byte(t.w.Local[t.w.Check.Half].Load(int(place.Offset)+i, lane, 1)))
			}
		}
	}
	return b
}
