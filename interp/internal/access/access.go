package access

// This file executes loads and stores.
//
// In the simple case an access is a single pass over the lanes: compute the address, compare it with the bounds of the last
// hit (the allocation that this instruction accessed last), load or store. The comparison also checks alignment: a rotation
// of the offset moves the bits that must be zero to the top. Lanes outside the last hit are resolved separately, which
// finds their allocation or the fault.
//
// Functions that access the guest program's memory are marked go:norace: races between CTAs belong to the guest program,
// and Go's race detector must not report them.

import (
	"math/bits"
	"unsafe"

	"gemu/interp/internal/code"
	"gemu/interp/internal/machine"
	"gemu/interp/internal/mem"
	"gemu/probe"
	"gemu/ptx"
	"gemu/regfile"
)

// rowOf returns row i of the register window, as elements of its slot width.
func rowOf[D mem.Slot](f *regfile.File, i int32) *[regfile.Lanes]D {
	if unsafe.Sizeof(*new(D)) == 8 {
		return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src64(i)))
	}
	return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src32(i)))
}

// HitAlign is the required alignment in bytes of the base of an allocation that becomes a last hit: then an offset has the
// alignment of its address. Only memory of the host can have a base with less alignment.
const HitAlign = 32

// LastHit returns the memory that an access can reach without resolution: the byte at address base + offset is at p +
// offset. last is the highest valid offset of an access, in units of size bytes. ok is false if there is no such memory.
func LastHit(w *machine.Warp, a *code.Access, size int) (p unsafe.Pointer, base, last uint64, ok bool) {
	m := w.CTA.LastHits[a.HitIndex].Memory()
	if a.Space == ptx.Shared {
		m = w.CTA.SharedMem
		base = m.Base - probe.SharedWindow
	} else if m == nil {
		return nil, 0, 0, false
	} else {
		base = m.Base
	}
	if m.Size < uint64(size) {
		return nil, 0, 0, false
	}
	return m.Ptr, base, (m.Size - uint64(size)) / uint64(size), true
}

// AccessOne executes a load or store of one element per lane. E is the element in memory, A the type of the address row,
// and D the type of the data row.
func AccessOne[E mem.Elem, A, D mem.Slot](w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	if a.Pattern != code.AnyPattern && w.CTA.Grid.VerifyProofs {
		if comparePattern(w, h, f, instr, a, m); w.Err != nil {
			return
		}
	}
	for {
		if p, base, last, ok := LastHit(w, a, int(unsafe.Sizeof(*new(E)))); ok {
			data, addr := rowOf[D](f, a.Elems[0].Row), rowOf[A](f, instr.A)
			if a.Store {
				rest := mem.Scatter[E](data, addr, a.Offset-base, p, last, m)
				w.CTA.Changed = w.CTA.Changed || rest != m
				m = rest
			} else {
				m = mem.Gather[E](data, addr, a.Offset-base, p, last, m)
			}
		}
		if m == 0 {
			return
		}
		// The first lane accesses a different allocation; the remaining lanes may access the same allocation.
		m = uniformAccess(w, h, f, instr, m)
	}
}

// uniformAccess resolves and executes the access of the first lane of m. It returns the remaining lanes, or 0 after a trap.
// If the first lanes have generic addresses of local memory, it executes all lanes up to the first with another address.
func uniformAccess(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) uint32 {
	a, done := w.AccessOf(instr), m&-m
	local := a.Space == ptx.Generic && !a.Cluster && mem.InWindow(address(f, instr, a, bits.TrailingZeros32(m)), ptx.Local)
	switch {
	case local && a.Addr == code.Q:
		done = intoLocal(a, f.Src64(instr.A), m)
		accessLocal(w, h, f, instr, f.Src64(instr.A), probe.LocalWindow, done)
	case local && a.Addr == code.R:
		done = intoLocal(a, f.Src32(instr.A), m)
		accessLocal(w, h, f, instr, f.Src32(instr.A), probe.LocalWindow, done)
	default:
		accessEachLane(w, h, f, instr, done, m)
	}
	if w.Err != nil {
		return 0
	}
	return m &^ done
}

// Addresses writes the addresses of all lanes to dst. dst must not be a register, because a result could overwrite it.
func Addresses(f *regfile.File, instr *code.Instr, a *code.Access, dst *regfile.Row64) {
	switch a.Addr {
	case code.Q:
		src := f.Src64(instr.A)
		for i := range dst {
			dst[i] = src[i] + a.Offset
		}
	case code.R:
		src := f.Src32(instr.A)
		for i := range dst {
			dst[i] = uint64(src[i] + uint32(a.Offset))
		}
	default:
		for i := range dst {
			dst[i] = a.Offset
		}
	}
}

// address returns the address of a lane.
func address(f *regfile.File, instr *code.Instr, a *code.Access, lane int) uint64 {
	v := uint64(0)
	switch a.Addr {
	case code.Q:
		v = f.Src64(instr.A)[lane]
	case code.R:
		v = uint64(f.Src32(instr.A)[lane])
	}
	return a.AddressAt(v)
}

// LoadVector loads several neighbouring elements per lane.
func LoadVector(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	var addr regfile.Row64
	Addresses(f, instr, a, &addr)
	for ; m != 0; m = uniformAccess(w, h, f, instr, m) {
		p, base, last, ok := LastHit(w, a, a.Bytes)
		if !ok {
			continue
		}
		var good uint32
		good, m = mem.LanesInRange(&addr, base, last, a.Bytes, m)
		all := ^uint64(0)
		for i, e := range a.Elems {
			offset := uint64(i*a.Size) - base
			switch {
			case e.Slot == code.NoSlot:
			case e.Slot == code.R && a.Size == 4:
				mem.Gather[uint32](f.Row32(e.Row), &addr, offset, p, all, good)
			case e.Slot == code.Q && a.Size == 8:
				mem.Gather[uint64](f.Row64(e.Row), &addr, offset, p, all, good)
			default:
				for n := good; n != 0; n &= n - 1 {
					lane := bits.TrailingZeros32(n) & 31
					writeElem(a, f, e, lane, mem.LoadBits(unsafe.Add(p, addr[lane]+offset), a.Size))
				}
			}
		}
		if m == 0 {
			return
		}
	}
}

// StoreVector stores several neighbouring elements per lane, lane by lane.
func StoreVector(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	var addr regfile.Row64
	Addresses(f, instr, a, &addr)
	for ; m != 0; m = uniformAccess(w, h, f, instr, m) {
		p, base, last, ok := LastHit(w, a, a.Bytes)
		if !ok {
			continue
		}
		var good uint32
		good, m = mem.LanesInRange(&addr, base, last, a.Bytes, m)
		w.CTA.Changed = w.CTA.Changed || good != 0
		for n := good; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			q := unsafe.Add(p, addr[lane]-base)
			for i, e := range a.Elems {
				if e.Slot != code.NoSlot {
					mem.StoreBits(unsafe.Add(q, i*a.Size), a.Size, ReadElem(f, e, lane))
				}
			}
		}
		if m == 0 {
			return
		}
	}
}

// writeElem writes a loaded element to a lane's register, extended to the width of the register.
func writeElem(a *code.Access, f *regfile.File, e code.Elem, lane int, v uint64) {
	v = a.Extend(v)
	switch e.Slot {
	case code.R:
		f.Row32(e.Row)[lane] = uint32(v)
	case code.Q:
		f.Row64(e.Row)[lane] = v
	}
}

// ReadElem reads the element that a lane stores from its register.
func ReadElem(f *regfile.File, e code.Elem, lane int) uint64 {
	if e.Slot == code.Q {
		return f.Src64(e.Row)[lane]
	}
	return uint64(f.Src32(e.Row)[lane])
}

// LoadFixed loads from an address that is the same in every lane.
func LoadFixed(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	var p unsafe.Pointer
	if a.Space == ptx.Shared {
		m := w.CTA.SharedMem
		p = a.PointerIn(m, a.Offset-(m.Base-probe.SharedWindow))
	} else {
		p = a.FixedPointer()
	}
	if p == nil {
		accessEachLane(w, h, f, instr, m, m)
		return
	}
	for i, e := range a.Elems {
		v := a.Extend(mem.LoadBits(unsafe.Add(p, i*a.Size), a.Size))
		switch e.Slot {
		case code.R:
			mem.FillRow(f.Row32(e.Row), uint32(v), m)
		case code.Q:
			mem.FillRow(f.Row64(e.Row), v, m)
		}
	}
}

// AccessEach executes a load or store lane by lane.
func AccessEach(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	accessEachLane(w, h, f, instr, m, m)
}

// accessEachLane resolves the address of each lane of m and executes the access there. A trap names all lanes of candidates
// with a fault.
func accessEachLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m, candidates uint32) {
	a := w.AccessOf(instr)
	var addr regfile.Row64
	LaneAddresses(w, h, instr, a, &addr)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, offset, room := ResolveLane(w, instr, h, lane, addr[lane], candidates)
		if w.Err != nil {
			return
		}
		w.CTA.Changed = w.CTA.Changed || a.Store && p != nil
		for i, e := range a.Elems {
			if e.Slot == code.NoSlot {
				continue
			}
			unreadable := uint64((i+1)*a.Size) > room // a tolerated load beyond the end reads zeros
			for part := 0; part < a.Size; part += 8 {
				n := min(a.Size, 8)
				byteOffset := i*a.Size + part
				reg := e
				if part > 0 {
					reg.Row = e.High
				}
				switch {
				case unreadable:
					writeElem(a, f, reg, lane, 0)
				case p == nil && a.Store:
					w.Local[h].Store(int(offset)+byteOffset, lane, n, ReadElem(f, reg, lane))
				case p == nil:
					writeElem(a, f, reg, lane, w.Local[h].Load(int(offset)+byteOffset, lane, n))
				case a.Store:
					mem.StoreBits(unsafe.Add(p, byteOffset), n, ReadElem(f, reg, lane))
				default:
					writeElem(a, f, reg, lane, mem.LoadBits(unsafe.Add(p, byteOffset), n))
				}
			}
		}
	}
}

// StoreBulk executes st.bulk (manual 9.7.9.13), which writes zeros to shared memory. It traps where the manual does not
// define the behaviour: outside shared memory, and for a number of bytes that is not a multiple of 8.
func StoreBulk(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	w.CTA.Changed = true
	view, request := View(w), w.RequestOf(a)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr, n := address(f, instr, a, lane), ReadElem(f, a.Elems[0], lane)
		if n == 0 {
			continue
		}
		place, fault := view.Resolve(&request, addr)
		var kind error
		switch shared := w.CTA.SharedMem; {
		case fault != nil:
			ResolveLane(w, instr, h, lane, addr, m)
			return
		case place.Alloc != shared:
			kind = probe.ErrWrongSpace
		case n%8 != 0:
			kind = probe.ErrMisaligned
		case n > shared.Size-place.Offset:
			kind = probe.ErrOutOfBounds
		default:
			clear(unsafe.Slice((*byte)(unsafe.Add(shared.Ptr, place.Offset)), n))
			continue
		}
		t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), kind, "%v: st.bulk of %d bytes at %s, of %d bytes of shared memory", kind, n, machine.HexAddr(addr), w.CTA.SharedMem.Size)
		t.Addr, t.Bytes = addr, int(n)
		return
	}
}

// View returns the memory that the warp's lanes can reach.
func View(w *machine.Warp) mem.View {
	from, top := LocalRange(w)
	c := w.CTA
	return mem.View{Map: c.Grid.Device.Memory, Shared: c.SharedMem, Cluster: c.Cluster.Shared, LocalBegin: from, LocalEnd: top}
}

// ResolveLane finds the memory of a lane's access. In local memory p is nil and local the offset in bytes; otherwise p is
// the address on the host. room is the number of bytes from there to the end of the memory. If there is no memory,
// ResolveLane traps; the trap names all lanes of m with a fault.
func ResolveLane(w *machine.Warp, instr *code.Instr, h, lane int, addr uint64, m uint32) (p unsafe.Pointer, local, room uint64) {
	a := w.AccessOf(instr)
	view, request := View(w), w.RequestOf(a)
	place, fault := view.Resolve(&request, addr)
	if fault != nil {
		t := w.Fail(w.SourceOf(instr), 1<<(32*h+lane), fault.Kind, "%s", fault.Msg)
		t.Addr, t.Bytes, t.Nearby = addr, a.Bytes, fault.Near
		t.Tolerable = view.CouldTolerate(&request, addr)
		var all regfile.Row64
		LaneAddresses(w, h, instr, a, &all)
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			if _, fault := view.Find(&request, all[lane]); fault != nil {
				t.Lanes |= 1 << (32*h + lane)
				if more := view.CouldTolerate(&request, all[lane]); more == 0 {
					t.Tolerable = 0
				} else if t.Tolerable != 0 {
					t.Tolerable |= more
				}
			}
		}
		return nil, 0, 0
	}
	if place.Tolerated != 0 {
		tolerateFault(w, instr, h, lane, addr, m, place.Tolerated)
	}
	room = view.BytesLeft(&request, place)
	if place.Alloc == nil {
		return nil, place.Offset, room
	}
	// The check of the last hit adds offsets in 64 bits, so 32-bit addresses that wrap must not reach the allocation.
	wraps := a.Addr == code.R && place.Alloc.Base+place.Alloc.Span > 1<<32
	if place.Alloc.Base%HitAlign == 0 && a.Space != ptx.Shared && !wraps {
		hit := place.Alloc
		if !w.CTA.Grid.CatchesFaults || a.Atom != nil { // machine code must not make the access
			hit = hit.Hit()
		}
		setLastHit(w.CTA, a, hit)
	}
	return unsafe.Add(place.Alloc.Ptr, place.Offset), 0, room
}

// setLastHit makes an allocation the last hit of an access, and keeps earlier hits after it.
func setLastHit(c *machine.CTA, a *code.Access, hit *mem.Allocation) {
	known := c.LastHits[a.HitIndex:][:code.HitsPerAccess]
	i := 0
	for i < len(known)-1 && known[i] != hit {
		i++
	}
	copy(known[1:], known[:i])
	known[0] = hit
}

// LaneAddresses writes the addresses of all lanes of half h to dst, including the offset of the function's local frame.
func LaneAddresses(w *machine.Warp, h int, instr *code.Instr, a *code.Access, dst *regfile.Row64) {
	Addresses(&w.Files[h], instr, a, dst)
	if a.Frame {
		for i := range dst {
			dst[i] += 4 * uint64(w.Frame.Local)
		}
	}
}

// Isspacep executes isspacep, which tests whether an address is in the window of a state space. The window of shared memory
// is that of the CTA or, with ::cluster, of the cluster.
func Isspacep(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	if instr.D == code.NoRow {
		return
	}
	a := f.Src64(instr.A)
	t, view, want := uint32(0), View(w), ptx.Space(instr.Imm&0xff)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		space := view.SpaceOf(a[i], instr.Imm>>8 != 0)
		// The parameter window is part of the global window.
		if space == want || space == ptx.Param && want == ptx.Global {
			t |= 1 << i
		}
	}
	f.SetP(instr.D, m, t)
}

// SharedAddress32 writes the address of a variable in the CTA's shared memory.
func SharedAddress32(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row32(instr.D), uint32(w.CTA.AddressOf(instr.Imm)), m)
}

// SharedAddress64 is SharedAddress32 for 64-bit registers.
func SharedAddress64(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row64(instr.D), w.CTA.AddressOf(instr.Imm), m)
}
