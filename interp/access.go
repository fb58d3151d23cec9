package interp

// This file executes memory instructions.
//
// An access in the plain case is one pass over the lanes: add, compare against
// the bounds of the allocation this instruction hit last time, load or store.
// The comparison also checks alignment: rotating the offset moves the bits that
// must be zero to the top. Lanes that fail it are resolved one by one, which
// finds the right allocation or the fault.
//
// Functions that touch the guest's memory are marked go:norace: races between
// CTAs are the guest's own, and not what a race detector of Go is asked for.

import (
	"fmt"
	"math"
	"math/bits"
	hostatomic "sync/atomic"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/fp"
	"gemu/ptx"
	"gemu/regfile"
)

type memElem interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64
}

type slotElem interface{ uint32 | uint64 }

// rowOf is the row of a register window as elements of its slot width.
func rowOf[D slotElem](f *regfile.File, i int32) *[regfile.Lanes]D {
	if unsafe.Sizeof(*new(D)) == 8 {
		return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src64(i)))
	}
	return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src32(i)))
}

// loadRow loads an element per lane of m from p + a[i] + off, where the
// difference must lie in [0, last*size] and be a multiple of size. It returns
// the lanes from the first that does not on.
//
//go:norace
func loadRow[E memElem, A, D slotElem](d *[regfile.Lanes]D, a *[regfile.Lanes]A, off uint64, p unsafe.Pointer, last uint64, m uint32) uint32 {
	shift := -log2(int(unsafe.Sizeof(*new(E))))
	_, _ = *d, *a // checked here, not in every turn of the loop
	if m == regfile.Full {
		for i := range d {
			o := uint64(a[i]) + off
			if bits.RotateLeft64(o, shift) > last {
				return m << i
			}
			d[i] = D(*(*E)(unsafe.Add(p, o)))
		}
		return 0
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		o := uint64(a[i]) + off
		if bits.RotateLeft64(o, shift) > last {
			return m
		}
		d[i] = D(*(*E)(unsafe.Add(p, o)))
	}
	return 0
}

// storeRow is loadRow's counterpart.
//
//go:norace
func storeRow[E memElem, A, D slotElem](d *[regfile.Lanes]D, a *[regfile.Lanes]A, off uint64, p unsafe.Pointer, last uint64, m uint32) uint32 {
	shift := -log2(int(unsafe.Sizeof(*new(E))))
	_, _ = *d, *a // checked here, not in every turn of the loop
	if m == regfile.Full {
		for i := range d {
			o := uint64(a[i]) + off
			if bits.RotateLeft64(o, shift) > last {
				return m << i
			}
			*(*E)(unsafe.Add(p, o)) = E(d[i])
		}
		return 0
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		o := uint64(a[i]) + off
		if bits.RotateLeft64(o, shift) > last {
			return m
		}
		*(*E)(unsafe.Add(p, o)) = E(d[i])
	}
	return 0
}

// hitAlign is what the base of an allocation is a multiple of if it can be
// remembered as the one hit last time: then an offset is as aligned as the address.
// Only memory of the host may have another base.
const hitAlign = 32

// reach is the memory an access may go to without being resolved: p + offset
// for offsets from the base address. last is the highest offset of an element,
// in elements.
func (w *warp) reach(a *access, size int) (p unsafe.Pointer, base, last uint64, ok bool) {
	m := w.cta.hits[a.hit]
	if a.space == ptx.Shared {
		m = &w.cta.sharedMem
	} else if m == nil {
		return nil, 0, 0, false
	} else {
		base = m.base
	}
	if m.size < uint64(size) {
		return nil, 0, 0, false
	}
	return m.ptr, base, (m.size - uint64(size)) / uint64(size), true
}

// loadOne executes a load of one element from per-lane addresses.
func loadOne[E memElem, A, D slotElem](w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	for {
		if p, base, last, ok := w.reach(a, int(unsafe.Sizeof(*new(E)))); ok {
			m = loadRow[E](rowOf[D](f, in.D), rowOf[A](f, in.A), a.off-base, p, last, m)
		}
		if m == 0 {
			return
		}
		// The first lane is in other memory; perhaps the rest are there too.
		m = w.oneLane(h, f, in, m)
	}
}

// storeOne executes a store of one element to per-lane addresses.
func storeOne[E memElem, A, D slotElem](w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	w.cta.changed = true
	for {
		if p, base, last, ok := w.reach(a, int(unsafe.Sizeof(*new(E)))); ok {
			m = storeRow[E](rowOf[D](f, in.D), rowOf[A](f, in.A), a.off-base, p, last, m)
		}
		if m == 0 {
			return
		}
		m = w.oneLane(h, f, in, m)
	}
}

// oneLane resolves and executes the access of the first lane of m, and returns
// the others; none after a trap.
func (w *warp) oneLane(h int, f *regfile.File, in *inst, m uint32) uint32 {
	first := m & -m
	w.eachLane(h, f, in, first, m)
	if w.err != nil {
		return 0
	}
	return m &^ first
}

// loadLane chooses how a load executes.
func loadLane(a *access) lane {
	plain := a.space != ptx.Local
	switch {
	case a.frame:
		return frameAccess
	case a.addr == alu.NoSlot && a.space != ptx.Local:
		return loadFixed
	case plain && len(a.elems) == 1 && a.elems[0].slot != alu.NoSlot && a.size <= 8:
		switch {
		case a.addr == alu.Q && a.elems[0].slot == alu.R:
			return loadKind[uint64, uint32](a)
		case a.addr == alu.Q:
			return loadKind[uint64, uint64](a)
		case a.elems[0].slot == alu.R:
			return loadKind[uint32, uint32](a)
		default:
			return loadKind[uint32, uint64](a)
		}
	case plain && len(a.elems) > 1 && a.size <= 8:
		return loadVector
	case a.space == ptx.Local && a.addr != alu.NoSlot:
		return localAccess
	}
	return accessEach
}

func loadKind[A, D slotElem](a *access) lane {
	switch {
	case a.size == 1 && a.signed:
		return loadOne[int8, A, D]
	case a.size == 1:
		return loadOne[uint8, A, D]
	case a.size == 2 && a.signed:
		return loadOne[int16, A, D]
	case a.size == 2:
		return loadOne[uint16, A, D]
	case a.size == 4 && a.signed:
		return loadOne[int32, A, D]
	case a.size == 4:
		return loadOne[uint32, A, D]
	}
	return loadOne[uint64, A, D]
}

// storeLane chooses how a store executes.
func storeLane(a *access) lane {
	plain := a.space != ptx.Local && a.addr != alu.NoSlot
	switch {
	case a.frame:
		return frameAccess
	case plain && len(a.elems) == 1 && a.elems[0].slot != alu.NoSlot && a.size <= 8:
		switch {
		case a.addr == alu.Q && a.elems[0].slot == alu.R:
			return storeKind[uint64, uint32](a)
		case a.addr == alu.Q:
			return storeKind[uint64, uint64](a)
		case a.elems[0].slot == alu.R:
			return storeKind[uint32, uint32](a)
		default:
			return storeKind[uint32, uint64](a)
		}
	case plain && len(a.elems) > 1 && a.size <= 8:
		return storeVector
	case a.space == ptx.Local && a.addr != alu.NoSlot:
		return localAccess
	}
	return accessEach
}

func storeKind[A, D slotElem](a *access) lane {
	switch a.size {
	case 1:
		return storeOne[uint8, A, D]
	case 2:
		return storeOne[uint16, A, D]
	case 4:
		return storeOne[uint32, A, D]
	}
	return storeOne[uint64, A, D]
}

// addresses gives the lanes' addresses, in a row of their own that destinations
// cannot overwrite.
func (a *access) addresses(f *regfile.File, into *regfile.Row64) {
	switch a.addr {
	case alu.Q:
		src := f.Src64(a.row)
		for i := range into {
			into[i] = src[i] + a.off
		}
	case alu.R:
		src := f.Src32(a.row)
		for i := range into {
			into[i] = uint64(src[i]) + a.off
		}
	default:
		for i := range into {
			into[i] = a.off
		}
	}
}

// inReach splits lanes into those whose whole access lies at an aligned offset
// of the memory that reach gives, and the others.
func inReach(addr *regfile.Row64, base, last uint64, bytes int, m uint32) (good, bad uint32) {
	shift := -log2(bytes)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		if bits.RotateLeft64(addr[i]-base, shift) <= last {
			good |= 1 << i
		}
	}
	return good, m &^ good
}

// loadVector loads several elements from per-lane addresses.
func loadVector(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	var addr regfile.Row64
	a.addresses(f, &addr)
	for ; m != 0; m = w.oneLane(h, f, in, m) {
		p, base, last, ok := w.reach(a, a.bytes)
		if !ok {
			continue
		}
		var good uint32
		good, m = inReach(&addr, base, last, a.bytes, m)
		all := ^uint64(0)
		for i, e := range a.elems {
			off := uint64(i*a.size) - base
			switch {
			case e.slot == alu.NoSlot:
			case e.slot == alu.R && a.size == 4:
				loadRow[uint32](&f.R[e.row], &addr, off, p, all, good)
			case e.slot == alu.Q && a.size == 8:
				loadRow[uint64](&f.Q[e.row], &addr, off, p, all, good)
			default:
				for n := good; n != 0; n &= n - 1 {
					lane := bits.TrailingZeros32(n) & 31
					a.put(f, e, lane, loadBits(unsafe.Add(p, addr[lane]+off), a.size))
				}
			}
		}
		if m == 0 {
			return
		}
	}
}

// storeVector stores several elements to per-lane addresses, lane by lane.
func storeVector(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	w.cta.changed = true
	var addr regfile.Row64
	a.addresses(f, &addr)
	for ; m != 0; m = w.oneLane(h, f, in, m) {
		p, base, last, ok := w.reach(a, a.bytes)
		if !ok {
			continue
		}
		var good uint32
		good, m = inReach(&addr, base, last, a.bytes, m)
		for n := good; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			q := unsafe.Add(p, addr[lane]-base)
			for i, e := range a.elems {
				if e.slot != alu.NoSlot {
					storeBits(unsafe.Add(q, i*a.size), a.size, a.get(f, e, lane))
				}
			}
		}
		if m == 0 {
			return
		}
	}
}

//go:norace
func loadBits(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

//go:norace
func storeBits(p unsafe.Pointer, size int, v uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
}

// put writes a loaded element to a lane's register, extended to its slot.
func (a *access) put(f *regfile.File, e elem, lane int, v uint64) {
	v = a.extend(v)
	switch e.slot {
	case alu.R:
		f.R[e.row][lane] = uint32(v)
	case alu.Q:
		f.Q[e.row][lane] = v
	}
}

// get reads an element to store from a lane's register.
func (a *access) get(f *regfile.File, e elem, lane int) uint64 {
	if e.slot == alu.Q {
		return f.Src64(e.row)[lane]
	}
	return uint64(f.Src32(e.row)[lane])
}

// loadFixed loads from an address that is the same in every lane.
func loadFixed(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	var p unsafe.Pointer
	if a.space == ptx.Shared {
		p = a.within(&w.cta.sharedMem, a.off)
	} else {
		p = a.atFixed()
	}
	if p == nil {
		w.eachLane(h, f, in, m, m)
		return
	}
	for i, e := range a.elems {
		v := a.extend(loadBits(unsafe.Add(p, i*a.size), a.size))
		switch e.slot {
		case alu.R:
			fill(&f.R[e.row], uint32(v), m)
		case alu.Q:
			fill(&f.Q[e.row], v, m)
		}
	}
}

// atFixed is what an access to a fixed address in device memory goes to; nil if it
// is at fault, or of elements that are no element of a row.
func (a *access) atFixed() unsafe.Pointer {
	if a.fixed == nil {
		return nil
	}
	return a.within(a.fixed, a.off-a.fixed.base)
}

// within is offset off of the memory, if the access may go there.
func (a *access) within(mem *allocation, off uint64) unsafe.Pointer {
	n := uint64(a.bytes)
	if off > mem.size || n > mem.size-off || off%n != 0 || a.size > 8 || !a.allowed(mem) { // freed memory has no size
		return nil
	}
	return unsafe.Add(mem.ptr, off)
}

// fill writes one value to the lanes of m.
func fill[T slotElem](d *[regfile.Lanes]T, v T, m uint32) {
	if m == regfile.Full {
		for i := range d {
			d[i] = v
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)&31] = v
	}
}

// allowed reports whether the instruction's state space is that of the memory.
func (a *access) allowed(m *allocation) bool {
	if a.writes() && m.readOnly() {
		return false
	}
	switch a.space {
	case ptx.Param:
		return m.kind == paramAlloc
	case ptx.Const:
		return m.kind == constAlloc
	case ptx.Global:
		// The parameter window is part of the global one (manual 9.7.9.19).
		return m.kind != constAlloc
	}
	return true
}

// writes reports whether the access changes memory.
func (a *access) writes() bool { return a.store || a.atom != nil }

func (m *allocation) readOnly() bool { return m.kind == constAlloc || m.kind == paramAlloc || m.fixed }

// frameAccess loads or stores a variable of the running function's local frame.
func frameAccess(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	off := int64(in.mem.off)
	if off < 0 || !w.localRow(h, f, in.mem, uint64(4*w.lbase)+uint64(off), m) {
		w.eachLane(h, f, in, m, m)
	}
}

// localAccess loads or stores local memory at per-lane addresses, that are often the
// same.
func localAccess(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	if a.addr == alu.Q {
		accessLocal(w, h, f, in, f.Src64(a.row), m)
	} else {
		accessLocal(w, h, f, in, f.Src32(a.row), m)
	}
}

func accessLocal[A slotElem](w *warp, h int, f *regfile.File, in *inst, addr *[regfile.Lanes]A, m uint32) {
	a := in.mem
	first := addr[bits.TrailingZeros32(m)&31]
	same := true
	for n := m; n != 0 && same; n &= n - 1 {
		same = addr[bits.TrailingZeros32(n)&31] == first
	}
	if same && w.localRow(h, f, a, uint64(first)+a.off, m) {
		return
	}
	if len(a.elems) != 1 || a.elems[0].slot == alu.NoSlot || a.size > 8 {
		w.eachLane(h, f, in, m, m)
		return
	}
	e, size, words := a.elems[0], uint64(a.size), w.local[h]
	from, to := w.localRange()
	for n := m; n != 0; n &= n - 1 {
		lane := bits.TrailingZeros32(n) & 31
		at := uint64(addr[lane]) + a.off
		if at < from || at > to || size > to-at || at&(size-1) != 0 {
			w.eachLane(h, f, in, n, n)
			return
		}
		if a.store {
			localStore(words, int(at), lane, a.size, a.get(f, e, lane))
		} else {
			a.put(f, e, lane, localLoad(words, int(at), lane, a.size))
		}
	}
}

// localRange is where a thread's local memory begins and ends, in bytes.
func (w *warp) localRange() (from, to uint64) { return 4 * kernelFrame, 4 * uint64(w.localTop()) }

// localRow executes an access to local memory at an address, in bytes, that is the
// same in all lanes: word i of all lanes is one row, so nothing is computed per lane.
// It reports whether the access is one that it can execute.
func (w *warp) localRow(h int, f *regfile.File, a *access, addr uint64, m uint32) bool {
	from, to := w.localRange()
	if addr < from || addr > to || uint64(a.bytes) > to-addr || addr%uint64(a.bytes) != 0 || a.size > 8 {
		return false
	}
	for i, e := range a.elems {
		if e.slot == alu.NoSlot {
			continue
		}
		at := int(addr) + i*a.size
		words := w.local[h][at/4:]
		switch {
		case a.size == 4 && e.slot == alu.R && !a.store:
			copyRow(&f.R[e.row], &words[0], m)
		case a.size == 4 && e.slot == alu.R:
			copyRow(&words[0], f.Src32(e.row), m)
		case a.size == 8 && !a.store:
			d, lo, hi := &f.Q[e.row], &words[0], &words[1]
			for n := m; n != 0; n &= n - 1 {
				i := bits.TrailingZeros32(n) & 31
				d[i] = uint64(lo[i]) | uint64(hi[i])<<32
			}
		case a.size == 8:
			s, lo, hi := f.Src64(e.row), &words[0], &words[1]
			for n := m; n != 0; n &= n - 1 {
				i := bits.TrailingZeros32(n) & 31
				lo[i], hi[i] = uint32(s[i]), uint32(s[i]>>32)
			}
		default:
			for n := m; n != 0; n &= n - 1 {
				lane := bits.TrailingZeros32(n) & 31
				if a.store {
					localStore(words, at&3, lane, a.size, a.get(f, e, lane))
				} else {
					a.put(f, e, lane, localLoad(words, at&3, lane, a.size))
				}
			}
		}
	}
	return true
}

func copyRow(d, s *regfile.Row32, m uint32) {
	if m == regfile.Full {
		*d = *s
		return
	}
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		d[i] = s[i]
	}
}

// localLoad reads size bytes at byte offset off of a lane's local words.
func localLoad(words []regfile.Row32, off, lane, size int) uint64 {
	i, shift := off/4, 8*(off%4)
	v := uint64(words[i][lane])
	if size == 8 {
		return v | uint64(words[i+1][lane])<<32
	}
	return v >> shift & (1<<(8*size) - 1)
}

// localStore is localLoad's counterpart.
func localStore(words []regfile.Row32, off, lane, size int, v uint64) {
	i, shift := off/4, 8*(off%4)
	if size == 8 {
		words[i][lane], words[i+1][lane] = uint32(v), uint32(v>>32)
		return
	}
	mask := uint32(1<<(8*size)-1) << shift
	words[i][lane] = words[i][lane]&^mask | uint32(v)<<shift&mask
}

// accessEach executes a load or store lane by lane.
func accessEach(w *warp, h int, f *regfile.File, in *inst, m uint32) { w.eachLane(h, f, in, m, m) }

// eachLane resolves the address of each lane of m and executes the access there.
// A trap names those lanes of all that fault.
func (w *warp) eachLane(h int, f *regfile.File, in *inst, m, all uint32) {
	a := in.mem
	var addr regfile.Row64
	a.addresses(f, &addr)
	if a.frame {
		for i := range addr {
			addr[i] += 4 * uint64(w.lbase)
		}
	}
	if a.store && a.space != ptx.Local {
		w.cta.changed = true
	}
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		p, local := w.resolve(in, h, lane, addr[lane], all)
		if w.err != nil {
			return
		}
		for i, e := range a.elems {
			if e.slot == alu.NoSlot {
				continue
			}
			for part := 0; part < a.size; part += 8 {
				n := min(a.size, 8)
				at := i*a.size + part
				reg := e
				if part > 0 {
					reg.row = e.row2
				}
				switch {
				case p == nil && a.store:
					localStore(w.local[h], int(local)+at, lane, n, a.get(f, reg, lane))
				case p == nil:
					a.put(f, reg, lane, localLoad(w.local[h], int(local)+at, lane, n))
				case a.store:
					storeBits(unsafe.Add(p, at), n, a.get(f, reg, lane))
				default:
					a.put(f, reg, lane, loadBits(unsafe.Add(p, at), n))
				}
			}
		}
	}
}

// String is the kind of access, as in "global load".
func (a *access) String() string {
	switch {
	case a.atom != nil:
		return a.space.String() + " atomic"
	case a.store:
		return a.space.String() + " store"
	}
	return a.space.String() + " load"
}

// resolve finds the memory of one lane's access: a pointer, or for local memory
// nil and the byte offset. It traps if there is none.
func (w *warp) resolve(in *inst, h, lane int, addr uint64, m uint32) (p unsafe.Pointer, local uint64) {
	a := in.mem
	n := uint64(a.bytes)
	// Lanes from this one on may fail the same way; which do is only worked out
	// for the report.
	fault := func(kind error, format string, args ...any) (unsafe.Pointer, uint64) {
		t := w.fail(in.src, 1<<(32*h+lane), kind, format, args...)
		t.Addr, t.Bytes = addr, a.bytes
		w.faultLanes(t, in, h, m)
		return nil, 0
	}
	space := a.space
	where := a // formats as "global load"
	if addr%n != 0 {
		return fault(ErrMisaligned, "misaligned %s of %d bytes at %s", where, n, hexAddr(addr))
	}
	if space == ptx.Generic {
		switch {
		case addr-sharedWindow < windowSize:
			space = ptx.Shared
			addr -= sharedWindow
		case addr-localWindow < windowSize:
			space = ptx.Local
			addr -= localWindow
		}
	}
	switch space {
	case ptx.Shared:
		s := &w.cta.sharedMem
		if addr > s.size || n > s.size-addr {
			return fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %s of %d bytes of shared memory", where, n, hexAddr(addr), s.size)
		}
		if a.space == ptx.Generic {
			w.cta.hits[a.hit] = s
		}
		return unsafe.Add(s.ptr, addr), 0
	case ptx.Local:
		if a.atom != nil {
			return fault(ErrWrongSpace, "%s of %d bytes at %s, which is local memory", where, n, hexAddr(addr))
		}
		from, top := w.localRange()
		if addr < from || addr > top || n > top-addr {
			return fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %s of %d bytes of the thread's local memory", where, n, hexAddr(addr), top)
		}
		return nil, addr
	}
	mem := &w.cta.grid.dev.mem
	al := (*mem).find(addr)
	if al == nil || n > al.span-(addr-al.base) {
		fault(ErrOutOfBounds, "out-of-bounds %s of %d bytes at %s", where, n, hexAddr(addr))
		if near := (*mem).nearest(addr); near != nil {
			t := w.err.(*Trap)
			switch d := distance(near, addr); {
			case addr < near.base:
				t.Near = fmt.Sprintf("%s, which begins %d bytes behind the address", near.describe(), d)
			case d == 0:
				t.Near = fmt.Sprintf("%s, whose last %d bytes the access begins in", near.describe(), near.base+near.span-addr)
			default:
				t.Near = fmt.Sprintf("%s, which ends %d bytes before the address", near.describe(), d-1)
			}
		}
		return nil, 0
	}
	if al.dead {
		fault(ErrUseAfterFree, "%s of %d bytes at %s, which has been freed", where, n, hexAddr(addr))
		w.err.(*Trap).Near = al.describe()
		return nil, 0
	}
	if !a.allowed(al) {
		kind := ErrWrongSpace
		if a.writes() && al.readOnly() {
			kind = ErrReadOnly
		}
		fault(kind, "%s of %d bytes at %s, which is in .%s space", where, n, hexAddr(addr), al.space())
		w.err.(*Trap).Near = al.describe()
		return nil, 0
	}
	if al.base%hitAlign == 0 {
		w.cta.hits[a.hit] = al
	}
	return unsafe.Add(al.ptr, addr-al.base), 0
}

// faultLanes adds to a trap the further lanes of m whose access faults too.
func (w *warp) faultLanes(t *Trap, in *inst, h int, m uint32) {
	a := in.mem
	var addr regfile.Row64
	a.addresses(&w.files[h], &addr)
	if a.frame {
		return
	}
	n := uint64(a.bytes)
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		x := addr[lane]
		bad := x%n != 0
		space := a.space
		if space == ptx.Generic {
			switch {
			case x-sharedWindow < windowSize:
				space, x = ptx.Shared, x-sharedWindow
			case x-localWindow < windowSize:
				space, x = ptx.Local, x-localWindow
			}
		}
		switch space {
		case ptx.Shared:
			s := &w.cta.sharedMem
			bad = bad || x > s.size || n > s.size-x
		case ptx.Local:
			from, top := w.localRange()
			bad = bad || x < from || x > top || n > top-x
		default:
			al := w.cta.grid.dev.mem.find(x)
			bad = bad || al == nil || n > al.span-(x-al.base) || al.dead || !a.allowed(al)
		}
		if bad {
			t.Lanes |= 1 << (32*h + lane)
		}
	}
}

// atomLane executes atom and red, one lane after the other.
func atomLane(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	t := a.atom
	var addr regfile.Row64
	a.addresses(f, &addr)
	p, base, last, ok := w.reach(a, a.bytes)
	shift := -log2(a.bytes)
	host := w.cta.grid.atomics && !w.cta.turn && !t.shared
	onShared := *t // the same, on shared memory
	onShared.flush = false
	for ; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		o := addr[lane] - base
		var q unsafe.Pointer
		if ok && bits.RotateLeft64(o, shift) <= last {
			q = unsafe.Add(p, o)
		} else {
			if q, _ = w.resolve(in, h, lane, addr[lane], m); w.err != nil {
				return
			}
			p, base, last, ok = w.reach(a, a.bytes)
		}
		for i, e := range a.elems {
			b, c := t.b[i], elem{}
			if t.c != nil {
				c = t.c[i]
			}
			if a.size == 16 {
				w.atom128(f, q, lane, t, e, b, c)
				continue
			}
			r := unsafe.Add(q, i*a.size)
			bv, cv := a.get(f, b, lane), uint64(0)
			if t.c != nil {
				cv = a.get(f, c, lane)
			}
			var old, now uint64
			switch {
			case a.space == ptx.Generic && addr[lane]-sharedWindow < windowSize:
				old = loadBits(r, a.size)
				now = onShared.apply(old, bv, cv)
				storeBits(r, a.size, now)
			case host:
				old, now = t.host(r, a.size, bv, cv)
			default:
				old = loadBits(r, a.size)
				now = t.apply(old, bv, cv)
				storeBits(r, a.size, now)
			}
			if old != now {
				w.cta.changed = true
			}
			switch e.slot {
			case alu.R:
				f.R[e.row][lane] = uint32(old)
			case alu.Q:
				f.Q[e.row][lane] = old
			}
		}
	}
}

// atom128 is exch and cas of 128 bits.
func (w *warp) atom128(f *regfile.File, p unsafe.Pointer, lane int, t *rmw, d, b, c elem) {
	lo, hi := (*uint64)(p), (*uint64)(unsafe.Add(p, 8))
	oldLo, oldHi := *lo, *hi
	newLo, newHi := f.Src64(b.row)[lane], f.Src64(b.row2)[lane]
	if t.op == atomCas {
		if oldLo == newLo && oldHi == newHi {
			newLo, newHi = f.Src64(c.row)[lane], f.Src64(c.row2)[lane]
		} else {
			newLo, newHi = oldLo, oldHi
		}
	}
	*lo, *hi = newLo, newHi
	if oldLo != newLo || oldHi != newHi {
		w.cta.changed = true
	}
	if d.slot == alu.Q {
		f.Q[d.row][lane], f.Q[d.row2][lane] = oldLo, oldHi
	}
}

// host applies the operation with the host's atomics, for CTAs that run at the
// same time.
func (t *rmw) host(p unsafe.Pointer, size int, b, c uint64) (old, now uint64) {
	if size == 8 {
		q := (*uint64)(p)
		for {
			old = hostatomic.LoadUint64(q)
			now = t.apply(old, b, c)
			if old == now || hostatomic.CompareAndSwapUint64(q, old, now) {
				return old, now
			}
		}
	}
	q := (*uint32)(p)
	for {
		v := hostatomic.LoadUint32(q)
		old = uint64(v)
		now = t.apply(old, b, c)
		if old == now || hostatomic.CompareAndSwapUint32(q, v, uint32(now)) {
			return old, now
		}
	}
}

// apply is the operation on values (manual 9.7.13.5).
func (t *rmw) apply(a, b, c uint64) uint64 {
	bits := t.typ.Bits()
	mask := ^uint64(0) >> (64 - bits)
	switch t.op {
	case atomAdd:
		switch t.typ {
		case ptx.F32:
			x, y := math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b))
			if t.flush {
				x, y = fp.FTZ32(x), fp.FTZ32(y)
				return uint64(math.Float32bits(fp.FTZ32(fp.Canon32(x + y))))
			}
			return uint64(math.Float32bits(fp.Canon32(x + y)))
		case ptx.F64:
			return math.Float64bits(fp.Canon64(math.Float64frombits(a) + math.Float64frombits(b)))
		}
		return (a + b) & mask
	case atomAnd:
		return a & b
	case atomOr:
		return a | b
	case atomXor:
		return a ^ b
	case atomExch:
		return b & mask
	case atomCas:
		if a == b&mask {
			return c & mask
		}
		return a
	case atomInc:
		if a >= b {
			return 0
		}
		return a + 1
	case atomDec:
		if a == 0 || a > b {
			return b
		}
		return a - 1
	}
	less := a < b&mask
	if t.typ.IsSigned() {
		n := 64 - bits
		less = int64(a<<n) < int64(b<<n)
	}
	if less == (t.op == atomMin) {
		return a
	}
	return b & mask
}

// isspacep tells in which window generic addresses lie.
func isspacep(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	if in.D == noRow {
		return
	}
	a := f.Src64(in.A)
	t := uint32(0)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		space := ptx.Global
		switch x := a[i]; {
		case x-sharedWindow < windowSize:
			space = ptx.Shared
		case x-localWindow < windowSize:
			space = ptx.Local
		default:
			if al := w.cta.grid.dev.mem.find(x); al != nil {
				space = al.space()
			}
		}
		want := ptx.Space(in.Imm)
		// The parameter window is part of the global one.
		if space == want || space == ptx.Param && want == ptx.Global {
			t |= 1 << i
		}
	}
	f.SetP(in.D, m, t)
}

// noRow in place of a destination stands for none.
const noRow = alu.NoPred

// frameAddress32 and frameAddress64 give the address of a variable of the
// running function's local frame.
func frameAddress32(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	fill(&f.R[in.D], uint32(4*uint64(w.lbase)+in.Imm), m)
}

func frameAddress64(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	fill(&f.Q[in.D], 4*uint64(w.lbase)+in.Imm, m)
}

func frameSource(w *warp, h int, in *inst, m uint32) (affinetrack.Value, bool) {
	return affinetrack.Value{Base: 4*uint64(w.lbase) + in.Imm}, true
}

// stacksave, stackrestore and alloca (manual 9.7.17) move a lane's stack above
// the static frame.
func stacksave(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.lbase + w.fn.local))
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := base
		if w.hasDyn {
			v += uint64(w.dyn[h][i])
		}
		if in.Imm&1 != 0 {
			f.Q[in.D][i] = v
		} else {
			f.R[in.D][i] = uint32(v)
		}
	}
}

func stackrestore(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.lbase + w.fn.local))
	w.startDyn()
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		v := uint64(0)
		if in.Imm&1 != 0 {
			v = f.Src64(in.A)[i]
		} else {
			v = uint64(f.Src32(in.A)[i])
		}
		if v < base || v-base > uint64(w.dyn[h][i]) {
			w.fail(in.src, 1<<(32*h+i), ErrStackOverflow, "stackrestore of %s, which no stacksave has given", hexAddr(v))
			return
		}
		w.dyn[h][i] = uint32(v - base)
	}
}

func (w *warp) startDyn() {
	if !w.hasDyn {
		w.hasDyn = true
		w.dyn = [2]regfile.Row32{}
	}
}

func alloca(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.lbase + w.fn.local))
	align := in.Imm >> 1
	w.startDyn()
	limit := 4 * uint64(w.cta.grid.stackWords)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		size := uint64(0)
		if in.Imm&1 != 0 {
			size = f.Src64(in.A)[i]
		} else {
			size = uint64(f.Src32(in.A)[i])
		}
		at := (base + uint64(w.dyn[h][i]) + align - 1) / align * align
		if size > limit || at+size > limit {
			w.fail(in.src, 1<<(32*h+i), ErrStackOverflow, "%v: alloca of %d bytes, with %d of %d in use", ErrStackOverflow, size, at, limit)
			return
		}
		w.dyn[h][i] = uint32(at + (size+3)/4*4 - base)
		if in.Imm&1 != 0 {
			f.Q[in.D][i] = at
		} else {
			f.R[in.D][i] = uint32(at)
		}
	}
	w.growLocal(w.localTop())
}
