package access

// This file executes memory instructions.
//
// An access in the plain case is a single pass over the lanes: add, compare against the bounds of the allocation this
// instruction hit last time, load or store. The comparison also checks alignment: rotating the offset moves the bits that
// must be zero to the top. Lanes outside these bounds are resolved separately, which finds the right allocation or the
// fault.
//
// Functions that touch the guest's memory are marked go:norace: races between
// CTAs belong to the guest program, and Go's race detector must not report them.

import (
	"math"
	"math/bits"
	hostatomic "sync/atomic"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/code"
	"gemu/interp/internal/fp"
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

// HitAlign is the alignment in bytes that the base of an allocation must have to be remembered as the last hit: then an
// offset has the alignment of its address. Only memory of the host may have another base.
const HitAlign = 32

// LastHit returns the memory that an access may reach without resolution: p + offset for offsets from the base address.
// last is the highest offset of an element, in elements.
func LastHit(w *machine.Warp, a *code.Access, size int) (p unsafe.Pointer, base, last uint64, ok bool) {
	m := w.CTA.LastHits[a.HitIndex]
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

// AccessOne executes a load or store of an element at per-lane addresses.
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

// uniformAccess resolves and executes the access of the first lane of m, and returns the remaining lanes; none after a
// trap. If the first lanes have generic addresses of local memory, it executes all lanes up to the first with another
// address.
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

// intoLocal returns the lanes of m up to the first whose generic address is not in local memory.
func intoLocal[A mem.Slot](a *code.Access, addr *[regfile.Lanes]A, m uint32) (local uint32) {
	for n := m; n != 0; n &= n - 1 {
		if at := uint64(addr[bits.TrailingZeros32(n)&31] + A(a.Offset)); at-probe.LocalWindow >= probe.WindowSize {
			break
		}
		local |= n & -n
	}
	return local
}

// Addresses writes the addresses of the lanes to dst, a separate row that results cannot overwrite.
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

// LoadVector loads several elements from per-lane addresses.
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

// StoreVector stores several elements to per-lane addresses, lane by lane.
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

// writeElem writes a loaded element to a lane's register, extended to its slot.
func writeElem(a *code.Access, f *regfile.File, e code.Elem, lane int, v uint64) {
	v = a.Extend(v)
	switch e.Slot {
	case code.R:
		f.Row32(e.Row)[lane] = uint32(v)
	case code.Q:
		f.Row64(e.Row)[lane] = v
	}
}

// ReadElem reads an element to store from a lane's register.
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

// FrameAccess loads or stores a variable of the running function's local frame.
func FrameAccess(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	offset := int64(w.AccessOf(instr).Offset)
	if offset < 0 || !LocalRow(w, h, f, w.AccessOf(instr), uint64(4*w.Frame.Local)+uint64(offset), m) {
		accessEachLane(w, h, f, instr, m, m)
	}
}

// LocalAccess loads or stores local memory at per-lane addresses, which are often the same in all lanes.
func LocalAccess(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	if a.Addr == code.Q {
		accessLocal(w, h, f, instr, f.Src64(instr.A), 0, m)
	} else {
		accessLocal(w, h, f, instr, f.Src32(instr.A), 0, m)
	}
}

// accessLocal is LocalAccess for addresses in a row; local memory begins at address base.
func accessLocal[A mem.Slot](w *machine.Warp, h int, f *regfile.File, instr *code.Instr, addr *[regfile.Lanes]A, base uint64, m uint32) {
	a := w.AccessOf(instr)
	first := addr[bits.TrailingZeros32(m)&31]
	same := true
	for n := m; n != 0 && same; n &= n - 1 {
		same = addr[bits.TrailingZeros32(n)&31] == first
	}
	if same && LocalRow(w, h, f, a, uint64(first+A(a.Offset))-base, m) {
		return
	}
	if len(a.Elems) != 1 || a.Elems[0].Slot == code.NoSlot || a.Size > 8 {
		accessEachLane(w, h, f, instr, m, m)
		return
	}
	e, size, words := a.Elems[0], uint64(a.Size), w.Local[h]
	from, to := LocalRange(w)
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		at := uint64(addr[lane]+A(a.Offset)) - base
		if at < from || at > to || size > to-at || at&(size-1) != 0 {
			accessEachLane(w, h, f, instr, n, n)
			return
		}
		if a.Store {
			words.Store(int(at), lane, a.Size, ReadElem(f, e, lane))
		} else {
			writeElem(a, f, e, lane, words.Load(int(at), lane, a.Size))
		}
	}
}

// LocalRange returns the beginning and the end of a thread's local memory, in bytes.
func LocalRange(w *machine.Warp) (from, to uint64) {
	return 4 * machine.KernelFrame, 4 * uint64(w.LocalTop())
}

// LocalRow executes an access to local memory at an address, in bytes, that is the same in all lanes: word i of all lanes
// is a row, so nothing is computed per lane. It reports whether it has executed the access.
func LocalRow(w *machine.Warp, h int, f *regfile.File, a *code.Access, addr uint64, m uint32) bool {
	from, to := LocalRange(w)
	if addr < from || addr > to || uint64(a.Bytes) > to-addr || addr%uint64(a.Bytes) != 0 || a.Size > 8 {
		return false
	}
	for i, e := range a.Elems {
		if e.Slot == code.NoSlot {
			continue
		}
		at := int(addr) + i*a.Size
		words := w.Local[h][at/4:]
		switch {
		case a.Size == 4 && e.Slot == code.R && !a.Store:
			mem.CopyRow(f.Row32(e.Row), &words[0], m)
		case a.Size == 4 && e.Slot == code.R:
			mem.CopyRow(&words[0], f.Src32(e.Row), m)
		case a.Size == 8 && !a.Store:
			words.LoadRow64(f.Row64(e.Row), 0, m)
		case a.Size == 8:
			words.StoreRow64(f.Src64(e.Row), 0, m)
		default:
			for n := m; n != 0; n &= n - 1 {
				lane := bits.TrailingZeros32(n) & 31
				if a.Store {
					words.Store(at&3, lane, a.Size, ReadElem(f, e, lane))
				} else {
					writeElem(a, f, e, lane, words.Load(at&3, lane, a.Size))
				}
			}
		}
	}
	return true
}

// AccessEach executes a load or store lane by lane.
func AccessEach(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	accessEachLane(w, h, f, instr, m, m)
}

// accessEachLane resolves the address of each lane of m and executes the access there.
// A trap names all faulting lanes of all.
func accessEachLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m, all uint32) {
	a := w.AccessOf(instr)
	var addr regfile.Row64
	LaneAddresses(w, h, instr, a, &addr)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, offset, room := ResolveLane(w, instr, h, lane, addr[lane], all)
		if w.Err != nil {
			return
		}
		w.CTA.Changed = w.CTA.Changed || a.Store && p != nil
		for i, e := range a.Elems {
			if e.Slot == code.NoSlot {
				continue
			}
			exited := uint64((i+1)*a.Size) > room // beyond the readable bytes
			for part := 0; part < a.Size; part += 8 {
				n := min(a.Size, 8)
				at := i*a.Size + part
				reg := e
				if part > 0 {
					reg.Row = e.High
				}
				switch {
				case exited:
					writeElem(a, f, reg, lane, 0)
				case p == nil && a.Store:
					w.Local[h].Store(int(offset)+at, lane, n, ReadElem(f, reg, lane))
				case p == nil:
					writeElem(a, f, reg, lane, w.Local[h].Load(int(offset)+at, lane, n))
				case a.Store:
					mem.StoreBits(unsafe.Add(p, at), n, ReadElem(f, reg, lane))
				default:
					writeElem(a, f, reg, lane, mem.LoadBits(unsafe.Add(p, at), n))
				}
			}
		}
	}
}

// StoreBulk executes st.bulk (manual 9.7.9.13), which writes zeros to shared memory. It traps where the manual leaves the
// behaviour undefined: outside shared memory, and for a number of bytes that is not a multiple of 8.
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

// ResolveLane finds the memory of a lane's access: a pointer, or for local memory nil and the byte offset. It traps if
// there is none; the trap names all lanes of m that fail too.
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
		setLastHit(w.CTA, a, place.Alloc)
	}
	return unsafe.Add(place.Alloc.Ptr, place.Offset), 0, room
}

// setLastHit makes an allocation the last hit of an access.
func setLastHit(c *machine.CTA, a *code.Access, hit *mem.Allocation) {
	known := c.LastHits[a.HitIndex:][:code.HitsPerAccess]
	i := 0
	for i < len(known)-1 && known[i] != hit {
		i++
	}
	copy(known[1:], known[:i])
	known[0] = hit
}

// LaneAddresses writes the addresses of the lanes of half h to dst.
func LaneAddresses(w *machine.Warp, h int, instr *code.Instr, a *code.Access, dst *regfile.Row64) {
	Addresses(&w.Files[h], instr, a, dst)
	if a.Frame {
		for i := range dst {
			dst[i] += 4 * uint64(w.Frame.Local)
		}
	}
}

// AtomLane executes atom and red, lane by lane.
func AtomLane(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	a := w.AccessOf(instr)
	t := a.Atom
	elems, bs, cs, size := a.Elems, t.B[:len(a.Elems)], t.C, a.Size // local copies: the compiler must assume that the stores of lanes change the fields
	p, base, last, ok := LastHit(w, a, a.Bytes)
	shift := -bits.TrailingZeros(uint(a.Bytes))
	generic := a.Space == ptx.Generic
	parallel := UsesHostAtomics(w.CTA) && !t.Shared
	onShared := t.Reduction // the same operation on shared memory, without host atomics
	onShared.Global = false
	mask := WidthMask(t.Type)
	var ats regfile.Row64
	if bits.OnesCount32(m) > machine.MaxLaneByLane {
		Addresses(f, instr, a, &ats)
	} else {
		for n := m; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			ats[lane] = address(f, instr, a, lane)
		}
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := ats[lane]
		o := addr - base
		var q unsafe.Pointer
		if ok && bits.RotateLeft64(o, shift) <= last {
			q = unsafe.Add(p, o)
		} else {
			if q, _, _ = ResolveLane(w, instr, h, lane, addr, m); w.Err != nil {
				return
			}
			p, base, last, ok = LastHit(w, a, a.Bytes)
		}
		if size == 16 {
			atom128(w, f, q, lane, a)
			continue
		}
		for i := range elems {
			e := &elems[i]
			r := unsafe.Add(q, i*size)
			bv, cv := ReadElem(f, bs[i], lane), uint64(0)
			if cs != nil {
				cv = ReadElem(f, cs[i], lane)
			}
			var old, now uint64
			switch {
			case generic && mem.InShared(addr, w.CTA.Grid.ClusterSize):
				old = mem.LoadBits(r, size)
				now = ApplyReduction(onShared, mask, old, bv, cv)
				mem.StoreBits(r, size, now)
			case parallel:
				old, now = applyHostReduction(t.Reduction, mask, r, size, bv, cv)
			default:
				old = mem.LoadBits(r, size)
				now = ApplyReduction(t.Reduction, mask, old, bv, cv)
				mem.StoreBits(r, size, now)
			}
			if old != now {
				w.CTA.Changed = true
			}
			switch e.Slot {
			case code.R:
				f.Row32(e.Row)[lane] = uint32(old)
			case code.Q:
				f.Row64(e.Row)[lane] = old
			}
		}
	}
}

// atom128 executes exch and cas of 128 bits.
func atom128(w *machine.Warp, f *regfile.File, p unsafe.Pointer, lane int, a *code.Access) {
	t, d, b := a.Atom, a.Elems[0], a.Atom.B[0]
	lo, hi := (*uint64)(p), (*uint64)(unsafe.Add(p, 8))
	oldLo, oldHi := *lo, *hi
	newLo, newHi := f.Src64(b.Row)[lane], f.Src64(b.High)[lane]
	if t.Op == code.AtomCas {
		if oldLo == newLo && oldHi == newHi {
			c := t.C[0]
			newLo, newHi = f.Src64(c.Row)[lane], f.Src64(c.High)[lane]
		} else {
			newLo, newHi = oldLo, oldHi
		}
	}
	*lo, *hi = newLo, newHi
	if oldLo != newLo || oldHi != newHi {
		w.CTA.Changed = true
	}
	if d.Slot == code.Q {
		f.Row64(d.Row)[lane], f.Row64(d.High)[lane] = oldLo, oldHi
	}
}

// WidthMask returns the mask of all bits of a type of at most 64 bits.
func WidthMask(t ptx.Type) uint64 { return ^uint64(0) >> max(0, 64-t.Bits()) }

// UsesHostAtomics reports whether the CTA's atomics on global memory must be host atomics. Atomics of 128 bits never are: Go
// has at most 64 bits.
func UsesHostAtomics(c *machine.CTA) bool {
	return c.Grid.HostAtomics && (!c.Ordered || c.Grid.Device.HostGrace > 0)
}

// applyHostReduction applies the operation with host atomics. A value of less than 4 bytes is changed as part of an aligned
// word of 4 bytes, which lies within a page and an allocation.
func applyHostReduction(t code.Reduction, mask uint64, p unsafe.Pointer, size int, b, c uint64) (old, now uint64) {
	if size == 8 {
		q := (*uint64)(p)
		for {
			old = hostatomic.LoadUint64(q)
			now = ApplyReduction(t, mask, old, b, c)
			if old == now || hostatomic.CompareAndSwapUint64(q, old, now) {
				return old, now
			}
		}
	}
	in := uintptr(p) % 4 // offset of the value in the word, in bytes
	q := (*uint32)(unsafe.Add(p, -int(in)))
	for {
		v := hostatomic.LoadUint32(q)
		old = uint64(v) >> (8 * in) & mask
		now = ApplyReduction(t, mask, old, b, c)
		if old == now || hostatomic.CompareAndSwapUint32(q, v, uint32(uint64(v)&^(mask<<(8*in))|now<<(8*in))) {
			return old, now
		}
	}
}

// ApplyReduction returns the result of a reduction of values (manual 9.7.13.5). mask has all bits of the type.
func ApplyReduction(t code.Reduction, mask, a, b, c uint64) uint64 {
	switch t.Op {
	case code.AtomAdd:
		switch t.Type {
		case ptx.F32:
			x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
			if t.Global {
				x, y = fp.FTZ32(x), fp.FTZ32(y)
				return uint64(math.Float32bits(fp.FTZ32(fp.Canon32(x + y))))
			}
			return uint64(math.Float32bits(fp.Canon32(x + y)))
		case ptx.F64:
			x, y := math.Float64frombits(a), math.Float64frombits(b)
			switch {
			case !t.Global:
				x, y = y, x // keeps the NaN in memory
			case y != y:
				return b // unchanged, not made quiet
			case x != x:
				return a
			}
			return math.Float64bits(fp.Result64(x+y, y, x))
		}
		return (a + b) & mask
	case code.AtomFloat:
		v, _ := alu.Single[t.Float](a, b, 0, 0, 0)
		return v
	case code.AtomAnd:
		return a & b
	case code.AtomOr:
		return a | b
	case code.AtomXor:
		return a ^ b
	case code.AtomExch:
		return b & mask
	case code.AtomCas:
		if a == b&mask {
			return c & mask
		}
		return a
	case code.AtomInc:
		if a >= b {
			return 0
		}
		return a + 1
	case code.AtomDec:
		if a == 0 || a > b {
			return b
		}
		return a - 1
	}
	reduce := a < b&mask
	if t.Type.IsSigned() {
		n := bits.LeadingZeros64(mask)
		reduce = int64(a<<n) < int64(b<<n)
	}
	if reduce == (t.Op == code.AtomMin) {
		return a
	}
	return b & mask
}

// Isspacep executes isspacep, which tests the window of generic addresses. The window of shared memory is the CTA's or the
// cluster's.
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

// FrameAddress32 and FrameAddress64 give the address of a variable of the
// running function's local frame.
func FrameAddress32(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row32(instr.D), uint32(4*uint64(w.Frame.Local)+instr.Imm), m)
}

func FrameAddress64(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row64(instr.D), 4*uint64(w.Frame.Local)+instr.Imm, m)
}

// SharedAddress32 and SharedAddress64 give the address of a variable in the CTA's shared memory.
func SharedAddress32(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row32(instr.D), uint32(w.CTA.AddressOf(instr.Imm)), m)
}

func SharedAddress64(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	mem.FillRow(f.Row64(instr.D), w.CTA.AddressOf(instr.Imm), m)
}

func FrameSource(w *machine.Warp, h int, instr *code.Instr, m uint32) affinetrack.Value {
	return affinetrack.Value{Base: 4*uint64(w.Frame.Local) + instr.Imm}
}

// Stacksave, stackrestore and alloca (manual 9.7.17) move a lane's stack above
// the static frame.
func Stacksave(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := base
		if w.Frame.Func.Allocates {
			v += uint64(f.Row32(w.Frame.Func.AddressTaken)[i])
		}
		if instr.Op == code.Stacksave64 {
			f.Row64(instr.D)[i] = v
		} else {
			f.Row32(instr.D)[i] = uint32(v)
		}
	}
}

func Stackrestore(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	taken := f.Row32(w.Frame.Func.AddressTaken)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		v := uint64(0)
		if instr.Op == code.Stackrestore64 {
			v = f.Src64(instr.A)[i]
		} else {
			v = uint64(f.Src32(instr.A)[i])
		}
		if v < base || v-base > uint64(taken[i]) {
			w.Fail(w.SourceOf(instr), 1<<(32*h+i), probe.ErrStackOverflow, "stackrestore of %s, which is not the result of a stacksave", machine.HexAddr(v))
			return
		}
		taken[i] = uint32(v - base)
	}
}

func Alloca(w *machine.Warp, h int, f *regfile.File, instr *code.Instr, m uint32) {
	base := uint64(4 * (w.Frame.Local + w.Frame.Func.Local))
	align := instr.Imm
	taken := f.Row32(w.Frame.Func.AddressTaken)
	limit := 4 * uint64(w.CTA.Grid.StackWords)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		size := uint64(0)
		if instr.Op == code.Alloca64 {
			size = f.Src64(instr.A)[i]
		} else {
			size = uint64(f.Src32(instr.A)[i])
		}
		addr := (base + uint64(taken[i]) + align - 1) / align * align
		if size > limit || addr+size > limit {
			w.Fail(w.SourceOf(instr), 1<<(32*h+i), probe.ErrStackOverflow, "%v: alloca of %d bytes, with %d of %d bytes in use", probe.ErrStackOverflow, size, addr, limit)
			return
		}
		taken[i] = uint32(addr + (size+3)/4*4 - base)
		if instr.Op == code.Alloca64 {
			f.Row64(instr.D)[i] = addr
		} else {
			f.Row32(instr.D)[i] = uint32(addr)
		}
	}
	GrowLocal(w, w.LocalTop())
}
