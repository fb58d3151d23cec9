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
	"math"
	"math/bits"
	hostatomic "sync/atomic"
	"unsafe"

	"gemu/affinetrack"
	"gemu/interp/internal/alu"
	"gemu/interp/internal/fp"
	"gemu/interp/internal/mem"
	"gemu/ptx"
	"gemu/regfile"
)

// rowOf is the row of a register window as elements of its slot width.
func rowOf[D mem.Slot](f *regfile.File, i int32) *[regfile.Lanes]D {
	if unsafe.Sizeof(*new(D)) == 8 {
		return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src64(i)))
	}
	return (*[regfile.Lanes]D)(unsafe.Pointer(f.Src32(i)))
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
		m = w.cta.sharedMem
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

// loadOne executes a load of one element from per-lane addresses.
func loadOne[E mem.Elem, A, D mem.Slot](w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	for {
		if p, base, last, ok := w.reach(a, int(unsafe.Sizeof(*new(E)))); ok {
			m = mem.Gather[E](rowOf[D](f, in.D), rowOf[A](f, in.A), a.off-base, p, last, m)
		}
		if m == 0 {
			return
		}
		// The first lane is in other memory; perhaps the rest are there too.
		m = w.oneLane(h, f, in, m)
	}
}

// storeOne executes a store of one element to per-lane addresses.
func storeOne[E mem.Elem, A, D mem.Slot](w *warp, h int, f *regfile.File, in *inst, m uint32) {
	a := in.mem
	w.cta.changed = true
	for {
		if p, base, last, ok := w.reach(a, int(unsafe.Sizeof(*new(E)))); ok {
			m = mem.Scatter[E](rowOf[D](f, in.D), rowOf[A](f, in.A), a.off-base, p, last, m)
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

func loadKind[A, D mem.Slot](a *access) lane {
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

func storeKind[A, D mem.Slot](a *access) lane {
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

// at is the address of a lane whose register has the value v: it wraps in the
// register's width.
func (a *access) at(v uint64) uint64 {
	if v += a.off; a.addr == alu.R {
		v = uint64(uint32(v))
	}
	return v
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
			into[i] = uint64(src[i] + uint32(a.off))
		}
	default:
		for i := range into {
			into[i] = a.off
		}
	}
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
		good, m = mem.Reach(&addr, base, last, a.bytes, m)
		all := ^uint64(0)
		for i, e := range a.elems {
			off := uint64(i*a.size) - base
			switch {
			case e.slot == alu.NoSlot:
			case e.slot == alu.R && a.size == 4:
				mem.Gather[uint32](&f.R[e.row], &addr, off, p, all, good)
			case e.slot == alu.Q && a.size == 8:
				mem.Gather[uint64](&f.Q[e.row], &addr, off, p, all, good)
			default:
				for n := good; n != 0; n &= n - 1 {
					lane := bits.TrailingZeros32(n) & 31
					a.put(f, e, lane, mem.LoadBits(unsafe.Add(p, addr[lane]+off), a.size))
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
		good, m = mem.Reach(&addr, base, last, a.bytes, m)
		for n := good; n != 0; n &= n - 1 {
			lane := bits.TrailingZeros32(n) & 31
			q := unsafe.Add(p, addr[lane]-base)
			for i, e := range a.elems {
				if e.slot != alu.NoSlot {
					mem.StoreBits(unsafe.Add(q, i*a.size), a.size, a.get(f, e, lane))
				}
			}
		}
		if m == 0 {
			return
		}
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
		p = a.within(w.cta.sharedMem, a.off)
	} else {
		p = a.atFixed()
	}
	if p == nil {
		w.eachLane(h, f, in, m, m)
		return
	}
	for i, e := range a.elems {
		v := a.extend(mem.LoadBits(unsafe.Add(p, i*a.size), a.size))
		switch e.slot {
		case alu.R:
			mem.FillRow(&f.R[e.row], uint32(v), m)
		case alu.Q:
			mem.FillRow(&f.Q[e.row], v, m)
		}
	}
}

// atFixed is what an access to a fixed address in device memory goes to; nil if it
// is at fault, or of elements that are no element of a row.
func (a *access) atFixed() unsafe.Pointer {
	if a.fixed == nil {
		return nil
	}
	return a.within(a.fixed, a.off-a.fixed.Base)
}

// within is offset off of the memory, if the access may go there.
func (a *access) within(m *mem.Allocation, off uint64) unsafe.Pointer {
	n, request := uint64(a.bytes), a.request()
	if off > m.Size || n > m.Size-off || off%n != 0 || a.size > 8 || !request.Allowed(m) { // freed memory has no size
		return nil
	}
	return unsafe.Add(m.Ptr, off)
}

// request is the access in the words of package mem.
func (a *access) request() mem.Access {
	kind := mem.Load
	switch {
	case a.atom != nil:
		kind = mem.Atomic
	case a.store:
		kind = mem.Store
	}
	return mem.Access{Space: a.space, Bytes: a.bytes, Kind: kind}
}

// writes reports whether the access changes memory.
func (a *access) writes() bool { return a.store || a.atom != nil }

// frameAccess loads or stores a variable of the running function's local frame.
func frameAccess(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	off := int64(in.mem.off)
	if off < 0 || !w.localRow(h, f, in.mem, uint64(4*w.frame.local)+uint64(off), m) {
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

func accessLocal[A mem.Slot](w *warp, h int, f *regfile.File, in *inst, addr *[regfile.Lanes]A, m uint32) {
	a := in.mem
	first := addr[bits.TrailingZeros32(m)&31]
	same := true
	for n := m; n != 0 && same; n &= n - 1 {
		same = addr[bits.TrailingZeros32(n)&31] == first
	}
	if same && w.localRow(h, f, a, uint64(first+A(a.off)), m) {
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
		at := uint64(addr[lane] + A(a.off))
		if at < from || at > to || size > to-at || at&(size-1) != 0 {
			w.eachLane(h, f, in, n, n)
			return
		}
		if a.store {
			words.Store(int(at), lane, a.size, a.get(f, e, lane))
		} else {
			a.put(f, e, lane, words.Load(int(at), lane, a.size))
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
			mem.CopyRow(&f.R[e.row], &words[0], m)
		case a.size == 4 && e.slot == alu.R:
			mem.CopyRow(&words[0], f.Src32(e.row), m)
		case a.size == 8 && !a.store:
			words.LoadRow64(&f.Q[e.row], 0, m)
		case a.size == 8:
			words.StoreRow64(f.Src64(e.row), 0, m)
		default:
			for n := m; n != 0; n &= n - 1 {
				lane := bits.TrailingZeros32(n) & 31
				if a.store {
					words.Store(at&3, lane, a.size, a.get(f, e, lane))
				} else {
					a.put(f, e, lane, words.Load(at&3, lane, a.size))
				}
			}
		}
	}
	return true
}

// accessEach executes a load or store lane by lane.
func accessEach(w *warp, h int, f *regfile.File, in *inst, m uint32) { w.eachLane(h, f, in, m, m) }

// eachLane resolves the address of each lane of m and executes the access there.
// A trap names those lanes of all that fault.
func (w *warp) eachLane(h int, f *regfile.File, in *inst, m, all uint32) {
	a := in.mem
	var addr regfile.Row64
	w.addresses(h, a, &addr)
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
					w.local[h].Store(int(local)+at, lane, n, a.get(f, reg, lane))
				case p == nil:
					a.put(f, reg, lane, w.local[h].Load(int(local)+at, lane, n))
				case a.store:
					mem.StoreBits(unsafe.Add(p, at), n, a.get(f, reg, lane))
				default:
					a.put(f, reg, lane, mem.LoadBits(unsafe.Add(p, at), n))
				}
			}
		}
	}
}

// view is the memory that the warp's lanes can reach.
func (w *warp) view() mem.View {
	from, top := w.localRange()
	return mem.View{Map: w.cta.grid.dev.mem, Shared: w.cta.sharedMem, LocalFrom: from, LocalTop: top}
}

// resolve finds the memory of one lane's access: a pointer, or for local memory
// nil and the byte offset. It traps if there is none; the trap names all lanes of m
// that fail too.
func (w *warp) resolve(in *inst, h, lane int, addr uint64, m uint32) (p unsafe.Pointer, local uint64) {
	a := in.mem
	view, request := w.view(), a.request()
	place, fault := view.Resolve(&request, addr)
	if fault != nil {
		t := w.fail(in.src, 1<<(32*h+lane), fault.Kind, "%s", fault.Msg)
		t.Addr, t.Bytes, t.Near = addr, a.bytes, fault.Near
		var all regfile.Row64
		w.addresses(h, a, &all)
		for ; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m) & 31
			if _, fault := view.Resolve(&request, all[lane]); fault != nil {
				t.Lanes |= 1 << (32*h + lane)
			}
		}
		return nil, 0
	}
	if place.Alloc == nil {
		return nil, place.Off
	}
	// Who looks there again adds offsets in 64 bits, so all of it must be out of
	// reach for 32-bit addresses that wrap.
	wraps := a.addr == alu.R && place.Alloc.Base+place.Alloc.Span > 1<<32
	if place.Alloc.Base%hitAlign == 0 && a.space != ptx.Shared && !wraps {
		w.cta.hits[a.hit] = place.Alloc
	}
	return unsafe.Add(place.Alloc.Ptr, place.Off), 0
}

// addresses gives the addresses of the lanes of half h.
func (w *warp) addresses(h int, a *access, into *regfile.Row64) {
	a.addresses(&w.files[h], into)
	if a.frame {
		for i := range into {
			into[i] += 4 * uint64(w.frame.local)
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
			case a.space == ptx.Generic && mem.InWindow(addr[lane], ptx.Shared):
				old = mem.LoadBits(r, a.size)
				now = onShared.apply(old, bv, cv)
				mem.StoreBits(r, a.size, now)
			case host:
				old, now = t.host(r, a.size, bv, cv)
			default:
				old = mem.LoadBits(r, a.size)
				now = t.apply(old, bv, cv)
				mem.StoreBits(r, a.size, now)
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
		space, _ := mem.Window(a[i])
		if space == ptx.Generic {
			space = ptx.Global
			if al := w.cta.grid.dev.mem.Find(a[i]); al != nil {
				space = al.Space()
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
	mem.FillRow(&f.R[in.D], uint32(4*uint64(w.frame.local)+in.Imm), m)
}

func frameAddress64(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	mem.FillRow(&f.Q[in.D], 4*uint64(w.frame.local)+in.Imm, m)
}

func frameSource(w *warp, h int, in *inst, m uint32) (affinetrack.Value, bool) {
	return affinetrack.Value{Base: 4*uint64(w.frame.local) + in.Imm}, true
}

// stacksave, stackrestore and alloca (manual 9.7.17) move a lane's stack above
// the static frame.
func stacksave(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.frame.local + w.frame.fn.local))
	for ; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		v := base
		if w.frame.fn.allocates {
			v += uint64(f.R[w.frame.fn.taken][i])
		}
		if in.Imm&1 != 0 {
			f.Q[in.D][i] = v
		} else {
			f.R[in.D][i] = uint32(v)
		}
	}
}

func stackrestore(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.frame.local + w.frame.fn.local))
	taken := &f.R[w.frame.fn.taken]
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		v := uint64(0)
		if in.Imm&1 != 0 {
			v = f.Src64(in.A)[i]
		} else {
			v = uint64(f.Src32(in.A)[i])
		}
		if v < base || v-base > uint64(taken[i]) {
			w.fail(in.src, 1<<(32*h+i), ErrStackOverflow, "stackrestore of %s, which no stacksave has given", hexAddr(v))
			return
		}
		taken[i] = uint32(v - base)
	}
}

func alloca(w *warp, h int, f *regfile.File, in *inst, m uint32) {
	base := uint64(4 * (w.frame.local + w.frame.fn.local))
	align := in.Imm >> 1
	taken := &f.R[w.frame.fn.taken]
	limit := 4 * uint64(w.cta.grid.stackWords)
	for n := m; n != 0; n &= n - 1 {
		i := bits.TrailingZeros32(n) & 31
		size := uint64(0)
		if in.Imm&1 != 0 {
			size = f.Src64(in.A)[i]
		} else {
			size = uint64(f.Src32(in.A)[i])
		}
		at := (base + uint64(taken[i]) + align - 1) / align * align
		if size > limit || at+size > limit {
			w.fail(in.src, 1<<(32*h+i), ErrStackOverflow, "%v: alloca of %d bytes, with %d of %d in use", ErrStackOverflow, size, at, limit)
			return
		}
		taken[i] = uint32(at + (size+3)/4*4 - base)
		if in.Imm&1 != 0 {
			f.Q[in.D][i] = at
		} else {
			f.R[in.D][i] = uint32(at)
		}
	}
	w.growLocal(w.localTop())
}
