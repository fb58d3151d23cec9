package driver

// This file implements device memory and host memory known to the driver: allocations, copies, fills and pointer
// queries.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"

	"gemu/internal/hostfault"
	"gemu/interp"
)

// regionKind is the origin of a region.
type regionKind uint8

const (
	deviceRegion     regionKind = iota // cuMemAlloc
	variableRegion                     // a variable of a module
	managedRegion                      // cuMemAllocManaged, or a variable with .managed
	hostRegion                         // cuMemHostAlloc
	registeredRegion                   // cuMemHostRegister
	mappedRegion                       // cuMemMap
	openedRegion                       // cuIpcOpenMemHandle
)

// region is a range of memory that kernels can access.
type region struct {
	addr       uint64
	size       uint64
	data       []byte
	kind       regionKind
	ctx        *Context       // nil of mapped memory, which belongs to no context
	module     *Module        // of a variable; nil otherwise
	flags      uint32         // of host memory
	pool       *Pool          // of stream-ordered memory; nil otherwise
	fileOffset uint64         // offset in the file of the pool, if it has one
	mapping    *mapping       // of mapped memory; nil otherwise
	graph      *allocWork     // of memory that a graph allocates; nil otherwise
	opened     *openedMemory  // of memory of another process; nil otherwise
	charge     uint64         // bytes counted as used on the device
	buf        *interp.Buffer // nil of a variable, which belongs to its module, and until a stream-ordered allocation has executed
	pages      func()         // releases host memory; may be nil
	allocTask  *task          // the allocation of stream-ordered memory or of a graph's memory; nil otherwise
	id         uint64
	hints      []hints // of managed memory, in order of addresses; nil: no advice was given
}

// free releases the region's memory. order is the place of the free in the order of tasks; nil if no work can still use
// the memory.
func (r *region) free(order *interp.HostOrder) {
	if r.buf != nil {
		r.buf.FreeOrdered(order)
	}
	if r.pages != nil {
		r.pages()
	}
	if r.graph != nil {
		r.graph.noteFreed(r.ctx.dev.d)
	}
}

// discharge subtracts the region from the used bytes of its device and pool. The caller must hold d.mu.
func (r *region) discharge() {
	if r.pool == nil {
		r.ctx.dev.used -= r.charge
		if r.graph != nil {
			r.graph.setFree(r.ctx.dev.d)
		}
		return
	}
	r.pool.device().used -= r.charge
	r.pool.used -= r.size
}

// onHost reports whether the region is host memory.
func (r *region) onHost() bool { return r.kind == hostRegion || r.kind == registeredRegion }

// freeable reports whether cuMemFree may free the region.
func (r *region) freeable() bool {
	return r.kind == deviceRegion || r.pool != nil || r.kind == managedRegion && r.module == nil
}

// device returns the device that owns the region's memory. The caller must hold d.mu.
func (r *region) device(d *Driver) *Device {
	if r.mapping != nil {
		return d.devices[r.mapping.memory.properties.Location.ID]
	}
	return r.ctx.dev
}

// extent returns the allocation or reservation that contains the region.
func (r *region) extent() (addr, size uint64) {
	if r.mapping != nil {
		return r.mapping.reservation.addr, r.mapping.reservation.size
	}
	return r.addr, r.size
}

// regions holds the memory that kernels can access, in order of addresses.
type regions []*region

func (l regions) after(addr uint64) int {
	return sort.Search(len(l), func(i int) bool { return l[i].addr > addr })
}

// find returns the region that contains addr, or nil.
func (l regions) find(addr uint64) *region {
	if i := l.after(addr); i > 0 && addr-l[i-1].addr < l[i-1].size {
		return l[i-1]
	}
	return nil
}

// joined returns a region that spans r and the mappings that follow it without a gap in the same reservation.
func (l regions) joined(r *region) *region {
	in, end := r.mapping.reservation, r.addr+r.size
	for _, next := range l[l.after(r.addr):] {
		if next.addr != end || next.mapping == nil || next.mapping.reservation != in {
			break
		}
		end += next.size
	}
	return &region{addr: r.addr, size: end - r.addr, data: in.mem[r.addr-in.addr : end-in.addr]}
}

func (l *regions) insert(r *region) { *l = slices.Insert(*l, l.after(r.addr), r) }

// take removes the regions for which a condition holds, and returns them.
func (l *regions) take(which func(*region) bool) []*region {
	var taken []*region
	*l = slices.DeleteFunc(*l, func(r *region) bool {
		if which(r) {
			taken = append(taken, r)
			return true
		}
		return false
	})
	return taken
}

// remove removes a region.
func (l *regions) remove(r *region) {
	i := l.after(r.addr) - 1
	*l = slices.Delete(*l, i, i+1)
}

// address returns the address of a host pointer.
func address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }

// pointer returns the host pointer with an address. It must not be the address of a Go object.
func pointer(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// noMemoryBelow is the lowest address of host memory. Go treats faults below it as nil dereferences.
const noMemoryBelow = 4096

// noMemory is the panic value of an access below noMemoryBelow; see safely.
type noMemory uintptr

// Addr returns the address of the access.
func (a noMemory) Addr() uintptr { return uintptr(a) }

// hostBytes returns n bytes of host memory at p. It must be called within safely, or with a valid address.
func hostBytes(p unsafe.Pointer, n uint64) []byte {
	if addr := address(p); addr < noMemoryBelow {
		panic(noMemory(addr))
	}
	return unsafe.Slice((*byte)(p), n)
}

// MemGetInfo is cuMemGetInfo.
func (t *Thread) MemGetInfo() (free, total uint64, err error) {
	c, err := t.enter()
	if err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	total = t.d.settings.Memory
	return total - c.dev.used, total, nil
}

// reserve counts size bytes as used on the device. The caller must hold d.mu.
func (v *Device) reserve(size uint64) error {
	total := v.d.settings.Memory
	if size > total-v.used {
		return fail(OutOfMemory, "%d bytes wanted, %d of %d in use", size, v.used, total)
	}
	v.used += size
	return nil
}

// reserve begins an allocation of size bytes that uses charge bytes of the device. It locks the driver unless it
// returns an error.
func (t *Thread) reserve(size, charge uint64) (*Context, error) {
	c, err := t.enter()
	if err != nil {
		return nil, err
	}
	if size == 0 {
		err = fail(InvalidValue, "0 bytes")
	} else {
		err = c.dev.reserve(charge)
	}
	if err != nil {
		t.d.mu.Unlock()
	}
	return c, err
}

// MemAlloc is cuMemAlloc. The memory is zero.
func (t *Thread) MemAlloc(size uint64) (uint64, error) {
	c, err := t.reserve(size, size)
	if err != nil {
		return 0, err
	}
	d := t.d
	d.buffers++
	name := fmt.Sprintf("#%d", d.buffers)
	d.mu.Unlock()

	buf, err := d.gpu.AllocNamed(name, int(size)) // waits for a running launch

	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		c.dev.used -= size
		return 0, fail(OutOfMemory, "%v", err)
	}
	r := &region{addr: buf.Addr(), size: size, data: buf.Bytes(), kind: deviceRegion, ctx: c, charge: size, buf: buf}
	d.addRegion(r)
	return r.addr, nil
}

// addRegion makes a region accessible. The caller must hold d.mu.
func (d *Driver) addRegion(r *region) {
	d.lastHandle += 16
	r.id = uint64(d.lastHandle)
	d.regions.insert(r)
}

// MemAllocPitch is cuMemAllocPitch: it allocates height rows of width bytes. Each row starts at a multiple of the
// pitch.
func (t *Thread) MemAllocPitch(width, height uint64, elementSize uint32) (addr, pitch uint64, err error) {
	if elementSize != 4 && elementSize != 8 && elementSize != 16 {
		return 0, 0, fail(InvalidValue, "elements of %d bytes, want 4, 8 or 16", elementSize)
	}
	if width == 0 || height == 0 || width > 1<<40 || height > 1<<40 {
		return 0, 0, fail(InvalidValue, "%d rows of %d bytes", height, width)
	}
	pitch = (width + pitchAlignment - 1) / pitchAlignment * pitchAlignment
	if height > 1<<46/pitch {
		return 0, 0, fail(OutOfMemory, "%d rows of %d bytes", height, pitch)
	}
	addr, err = t.MemAlloc(pitch * height)
	return addr, pitch, err
}

// hostPages allocates host memory that kernels can access at its host address.
func (t *Thread) hostPages(size uint64, kind regionKind, flags uint32, charge uint64) (uint64, error) {
	c, err := t.reserve(size, charge)
	if err != nil {
		return 0, err
	}
	d := t.d
	d.mu.Unlock()
	r := &region{size: size, kind: kind, ctx: c, flags: flags, charge: charge}
	r.data, r.pages, err = d.pages.allocate(size)
	if err == nil {
		r.addr = address(unsafe.Pointer(unsafe.SliceData(r.data)))
		if r.buf, err = d.gpu.Map(r.addr, r.data, kindNames[kind], interp.Permanent); err != nil {
			r.pages()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		c.dev.used -= charge
		return 0, fail(OutOfMemory, "%v", err)
	}
	d.addRegion(r)
	return r.addr, nil
}

var kindNames = map[regionKind]string{managedRegion: "managed memory", hostRegion: "page-locked host memory", registeredRegion: "registered host memory"}

// MemAllocManaged is cuMemAllocManaged.
func (t *Thread) MemAllocManaged(size uint64, flags uint32) (uint64, error) {
	if flags != 1 && flags != 2 { // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
		return 0, fail(InvalidValue, "flags %#x", flags)
	}
	return t.hostPages(size, managedRegion, 0, size)
}

// MemHostAlloc is cuMemHostAlloc, and cuMemAllocHost with flags of 0.
func (t *Thread) MemHostAlloc(size uint64, flags uint32) (unsafe.Pointer, error) {
	if flags&^7 != 0 {
		return nil, fail(InvalidValue, "flags %#x", flags)
	}
	addr, err := t.hostPages(size, hostRegion, flags, 0)
	return pointer(addr), err
}

// release frees a region after all work that may still use it. It works in the region's context, even if another
// context is current. wrong is the result if no region for which the condition holds starts at addr.
func (t *Thread) release(addr uint64, wrong Result, which func(*region) bool) error {
	d := t.d
	d.mu.Lock()
	if !d.ready {
		d.mu.Unlock()
		return fail(NotInitialized, "cuInit was not called")
	}
	r := d.regions.find(addr)
	err := error(nil)
	switch {
	case r == nil || r.addr != addr || !which(r):
		if _, err = t.current(); err == nil {
			err = fail(wrong, "%#x is not the beginning of such memory", addr)
		}
	case r.ctx.err != nil:
		err = r.ctx.err
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	if r.opened != nil && r.opened.times > 1 {
		r.opened.times--
		d.mu.Unlock()
		return nil
	}
	d.regions.remove(r)
	r.discharge()
	tasks := d.pending()
	d.mu.Unlock()
	wait(tasks)
	if r.pool == nil { // freeing stream-ordered memory does not synchronise
		d.mu.Lock()
		d.ordering.learn(tasks)
		d.mu.Unlock()
	}
	r.free(nil)
	return nil
}

// MemFree is cuMemFree.
func (t *Thread) MemFree(addr uint64) error {
	return t.release(addr, InvalidValue, (*region).freeable)
}

// MemFreeHost is cuMemFreeHost.
func (t *Thread) MemFreeHost(p unsafe.Pointer) error {
	return t.release(address(p), InvalidValue, func(r *region) bool { return r.kind == hostRegion && r.pool == nil })
}

// MemHostRegister is cuMemHostRegister: kernels can access the memory at its host address.
func (t *Thread) MemHostRegister(p unsafe.Pointer, size uint64, flags uint32) error {
	c, err := t.enter()
	if err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	addr := address(p)
	switch {
	case addr < noMemoryBelow || size == 0 || addr+size < addr || addr+size > hostEnd():
		return fail(InvalidValue, "%d bytes at %#x", size, addr)
	case flags&^15 != 0:
		return fail(InvalidValue, "flags %#x", flags)
	case flags&4 != 0:
		return fail(NotSupported, "memory of devices (CU_MEMHOSTREGISTER_IOMEMORY)")
	}
	l := t.d.regions
	if i := l.after(addr); i > 0 && addr-l[i-1].addr < l[i-1].size || i < len(l) && l[i].addr < addr+size {
		return fail(HostMemoryAlreadyRegistered, "%d bytes at %#x", size, addr)
	}
	r := &region{addr: addr, size: size, data: hostBytes(p, size), kind: registeredRegion, ctx: c, flags: flags}
	mappingKind := interp.Mapping(0) // the client may unmap it
	if flags&8 != 0 {
		mappingKind = interp.ReadOnly
	}
	if r.buf, err = t.d.gpu.Map(addr, r.data, kindNames[registeredRegion], mappingKind); err != nil {
		return fail(InvalidValue, "%v", err)
	}
	t.d.addRegion(r)
	return nil
}

// MemHostUnregister is cuMemHostUnregister.
func (t *Thread) MemHostUnregister(p unsafe.Pointer) error {
	return t.release(address(p), HostMemoryNotRegistered, func(r *region) bool { return r.kind == registeredRegion })
}

// MemHostGetDevicePointer is cuMemHostGetDevicePointer: host memory has the same address on the device.
func (t *Thread) MemHostGetDevicePointer(p unsafe.Pointer, flags uint32) (uint64, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if r := t.d.regions.find(address(p)); flags != 0 || r == nil || !r.onHost() {
		return 0, fail(InvalidValue, "%#x is no page-locked host memory", address(p))
	}
	return address(p), nil
}

// MemHostGetFlags is cuMemHostGetFlags.
func (t *Thread) MemHostGetFlags(p unsafe.Pointer) (uint32, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	r := t.d.regions.find(address(p))
	if r == nil || !r.onHost() {
		return 0, fail(InvalidValue, "%#x is no page-locked host memory", address(p))
	}
	return r.flags | 2, nil // all host memory is mapped
}

// MemGetAddressRange is cuMemGetAddressRange: it returns the allocation that contains an address.
func (t *Thread) MemGetAddressRange(addr uint64) (base, size uint64, err error) {
	if _, err := t.enter(); err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	r := t.d.regions.find(addr)
	if r == nil {
		return 0, 0, fail(NotFound, "%#x is in no allocation", addr)
	}
	base, size = r.extent()
	return base, size, nil
}

// deviceBytes returns n bytes of memory that kernels can access: in one allocation, or in mapped memory without a gap.
// The caller must hold d.mu.
func (d *Driver) deviceBytes(addr, n uint64) ([]byte, error) {
	r := d.regions.find(addr)
	if r != nil && r.mapping != nil {
		r = d.regions.joined(r)
	}
	if r == nil || n > r.size-(addr-r.addr) {
		detail := ""
		if r != nil {
			detail = fmt.Sprintf(": it is in memory of %d bytes at %#x", r.size, r.addr)
		}
		return nil, fail(InvalidValue, "%d bytes at %#x do not lie in an allocation%s", n, addr, detail)
	}
	return r.data[addr-r.addr:][:n:n], nil
}

// Place is the source or destination of a copy.
type Place struct {
	Kind   PlaceKind
	Device uint64         // address of a DevicePlace; offset of an ArrayPlace in bytes
	Host   unsafe.Pointer // pointer of a HostPlace
	Array  Handle         // handle of an ArrayPlace
}

// PlaceKind is a kind of memory; the numbers are those of CUmemorytype.
type PlaceKind uint32

// The kinds of place.
const (
	HostPlace    PlaceKind = 1
	DevicePlace  PlaceKind = 2
	ArrayPlace   PlaceKind = 3
	UnifiedPlace PlaceKind = 4 // Device is an address on the host or on a device
)

// bytes returns n bytes at a place. asynchronous reports whether they are page-locked or on the device: the driver may
// use such memory after the call. The caller must hold d.mu.
func (d *Driver) bytes(p Place, n uint64) (b []byte, asynchronous bool, err error) {
	switch p.Kind {
	case UnifiedPlace:
		if d.regions.find(p.Device) != nil || p.Device >= firstAddress {
			return d.bytes(Place{Kind: DevicePlace, Device: p.Device}, n)
		}
		return d.bytes(Place{Kind: HostPlace, Host: pointer(p.Device)}, n)
	case DevicePlace:
		b, err = d.deviceBytes(p.Device, n)
		return b, true, err
	case ArrayPlace:
		a, err := object[*array](d, p.Array)
		if err != nil {
			return nil, false, err
		}
		all := a.bytes()
		if offset := p.Device - a.addr(); offset <= uint64(len(all)) && n <= uint64(len(all))-offset {
			return all[offset:][:n:n], true, nil
		}
		return nil, false, fail(InvalidValue, "%d bytes from %d on in an array of %d", n, p.Device-a.addr(), len(all))
	case HostPlace:
		addr := address(p.Host)
		if addr < noMemoryBelow || addr+n < addr || addr+n > firstAddress {
			return nil, false, fail(InvalidValue, "%#x is no address of the host", addr)
		}
		r := d.regions.find(addr)
		return hostBytes(p.Host, n), r != nil && n <= r.size-(addr-r.addr), nil
	}
	return nil, false, fail(InvalidValue, "memory of kind %d", p.Kind)
}

// locate replaces the offset of an ArrayPlace by an address. The caller must hold d.mu.
func (d *Driver) locate(p *Place) error {
	if p.Kind != ArrayPlace {
		return nil
	}
	a, err := object[*array](d, p.Array)
	if err == nil {
		p.Device += a.addr()
	}
	return err
}

// reportHostAccess reports to the device's probes that the host reads, or has written, n bytes at an offset from a
// place, if kernels can access it.
func (d *Driver) reportHostAccess(o *interp.HostOrder, p *Place, offset, n uint64, written bool) {
	addr := p.Device
	if p.Kind == HostPlace {
		addr = address(p.Host)
	}
	if written {
		d.gpu.HostWrite(addr+offset, int(n), o)
	} else {
		d.gpu.HostRead(addr+offset, int(n), o)
	}
}

// copyKnowledge is the knowledge of the host when a call returns that copies memory.
type copyKnowledge uint8

const (
	knowsNothing copyKnowledge = iota // nothing about the copy
	knowsBefore                       // all work before the copy has ended
	knowsCopied                       // the copy has ended
)

// knownAfter returns the knowledge of the host after a copy (driver API, "API synchronization behavior"). Host memory
// has been written, or read if it is page-locked and the call is synchronous. Pageable memory has been read, but the
// data may not have reached the device. The caller must hold d.mu.
func (d *Driver) knownAfter(dst, src *Place, async Async) copyKnowledge {
	onHost := func(p *Place) (host, locked bool) {
		addr := p.Device
		switch p.Kind {
		case ArrayPlace:
			return false, false
		case HostPlace:
			addr = address(p.Host)
		}
		r := d.regions.find(addr)
		locked = r != nil && (r.onHost() || r.kind == managedRegion)
		return locked || p.Kind == HostPlace || p.Kind == UnifiedPlace && addr < firstAddress, locked
	}
	to, toLocked := onHost(dst)
	from, fromLocked := onHost(src)
	switch {
	case to && !(bool(async) && toLocked), from && fromLocked && !bool(async):
		return knowsCopied
	case from && !bool(async):
		return knowsBefore
	}
	return knowsNothing
}

// safely runs f, which accesses memory of the client, and returns a fault as an error.
func safely(f func()) error {
	if addr, faulted := hostfault.Catch(f); faulted {
		return fail(InvalidValue, "no memory of the host at %#x", addr)
	}
	return nil
}

// deviceOf returns the device that owns the memory at a place; nil for host memory and managed memory. The caller must
// hold d.mu.
func (d *Driver) deviceOf(p *Place) *Device {
	switch p.Kind {
	case ArrayPlace:
		if a, err := object[*array](d, p.Array); err == nil {
			return a.ctx.dev
		}
	case DevicePlace, UnifiedPlace:
		if r := d.regions.find(p.Device); r != nil && !r.onHost() && r.kind != managedRegion {
			return r.device(d)
		}
	}
	return nil
}

// contextsBetween lists the contexts of both devices, except the stream's own, for a copy between two devices on a
// default stream. Such a copy comes after all earlier work on either device and before all later work (CUDA C++
// Programming Guide, "Peer-to-Peer Memory Copy"). Otherwise the list is empty. The caller must hold d.mu.
func (s *Stream) contextsBetween(to, from *Place) (list []*Context) {
	d := s.ctx.dev.d
	a, b := d.deviceOf(to), d.deviceOf(from)
	if s != s.ctx.legacy || a == nil || b == nil || a == b {
		return nil
	}
	for _, o := range d.objects {
		if c, ok := o.(*Context); ok && !c.dead && c != s.ctx && (c.dev == a || c.dev == b) {
			list = append(list, c)
		}
	}
	return list
}

// Async reports whether a call may return before its work has ended.
type Async bool

// Memcpy implements the cuMemcpy functions for linear memory: it copies n bytes on a stream. It waits without Async,
// and for pageable host memory.
func (t *Thread) Memcpy(dst, src Place, n uint64, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if n == 0 {
		t.d.mu.Unlock()
		return nil
	}
	if s.capture != nil {
		return s.recordTransfer(MemcpyNode, &copyWork{Copy3D{Src: Side{Place: src}, Dst: Side{Place: dst}, Width: n, Height: 1, Depth: 1}}, async)
	}
	var to, from []byte
	var stays1, stays2 bool
	if err = errors.Join(t.d.locate(&dst), t.d.locate(&src)); err == nil {
		to, stays1, err = t.d.bytes(dst, n)
	}
	if err == nil {
		from, stays2, err = t.d.bytes(src, n)
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", s.contextsBetween(&dst, &src), bool(async) && stays1 && stays2, t.d.knownAfter(&dst, &src, async), func(o *interp.HostOrder) {
		t.d.reportHostAccess(o, &src, 0, n, false)
		copy(to, from)
		t.d.reportHostAccess(o, &dst, 0, n, true)
	})
}

// MemcpyEager copies n bytes between unified addresses. The source has been read when it returns
// (CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL); pageable host memory is read without waiting for earlier work on the
// stream. It cannot be captured.
func (t *Thread) MemcpyEager(dst, src, n uint64, stream Handle) error {
	to, from := Place{Kind: UnifiedPlace, Device: dst}, Place{Kind: UnifiedPlace, Device: src}
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if err := s.uncaptured(); err != nil {
		t.d.mu.Unlock()
		return err
	}
	if n == 0 || src >= firstAddress || t.d.regions.find(src) != nil {
		t.d.mu.Unlock()
		return t.Memcpy(to, from, n, stream, false)
	}
	data, _, err := t.d.bytes(from, n)
	read := make([]byte, len(data))
	if err == nil {
		err = safely(func() { copy(read, data) })
	}
	var into []byte
	var asynchronous bool
	if err == nil {
		into, asynchronous, err = t.d.bytes(to, n)
	}
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", nil, asynchronous, t.d.knownAfter(&to, &from, true), func(o *interp.HostOrder) {
		copy(into, read)
		t.d.reportHostAccess(o, &to, 0, n, true)
	})
}

// Peek reads device memory immediately, without waiting for running work. The caller must know that a launch is
// waiting.
func (t *Thread) Peek(to []byte, from uint64) error {
	if _, err := t.enter(); err != nil {
		return err
	}
	defer t.d.mu.Unlock()
	b, err := t.d.deviceBytes(from, uint64(len(to)))
	if err != nil {
		return err
	}
	copy(to, b)
	return nil
}

// transfer submits work on memory of the client. The caller must hold d.mu; transfer unlocks it. A fault is the error
// of the call, or the error of the context if the call does not wait. knowledge is independent of waiting: it says how
// much the client may rely on afterwards. Default streams of the listed contexts order the work, too.
func (t *Thread) transfer(s *Stream, name string, contexts []*Context, async bool, knowledge copyKnowledge, work func(*interp.HostOrder)) error {
	if async {
		return s.finish(s.submitToAll(contexts, name, func(o *interp.HostOrder) error { return safely(func() { work(o) }) }), false)
	}
	var bad error
	previousTask := s.submitToAll(contexts, name, func(o *interp.HostOrder) error {
		bad = safely(func() { work(o) })
		return nil
	})
	t.d.mu.Unlock()
	wait([]*task{previousTask})
	t.d.stderr.flush()
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	switch knowledge {
	case knowsCopied:
		t.d.ordering.learn([]*task{previousTask})
	case knowsBefore:
		t.d.ordering.learnBefore(previousTask.order)
	}
	if err := s.ctx.outcome(); err != nil {
		return err
	}
	return bad
}

// Copy3D is a copy of Depth slices of Height rows of Width bytes, as in CUDA_MEMCPY3D. Pitches are in bytes, heights in
// rows; 0 means no gaps.
type Copy3D struct {
	Src, Dst      Side
	Width         uint64 // in bytes
	Height, Depth uint64
}

// Side is one side of a Copy3D: its start in a block of memory with a pitch.
type Side struct {
	Place
	X, Y, Z       uint64 // X in bytes, Y in rows, Z in slices
	Pitch, Height uint64
}

// layout is a side with resolved gaps: row y of slice z is at start + y·pitch + z·slice.
type layout struct {
	start, pitch, slice uint64
	bytes               uint64 // from the place to the end of the last row
}

func (s *Side) layout(c *Copy3D) (l layout, err error) {
	const most = 1 << 46
	l.pitch = s.Pitch
	if l.pitch == 0 {
		l.pitch = s.X + c.Width
	}
	rows := s.Height
	if rows == 0 {
		rows = s.Y + c.Height
	}
	for _, v := range []uint64{s.X, s.Y, s.Z, c.Width, c.Height, c.Depth, l.pitch, rows} {
		if v > most {
			return l, fail(InvalidValue, "a copy of %d×%d×%d bytes with a pitch of %d", c.Width, c.Height, c.Depth, s.Pitch)
		}
	}
	if s.X+c.Width > l.pitch && c.Height*c.Depth > 1 {
		return l, fail(InvalidValue, "rows of %d bytes from %d on do not fit a pitch of %d", c.Width, s.X, l.pitch)
	}
	if c.Depth > 1 && s.Y+c.Height > rows {
		return l, fail(InvalidValue, "%d rows from %d on do not fit a height of %d", c.Height, s.Y, rows)
	}
	if l.pitch > 0 && rows > most/l.pitch {
		return l, fail(InvalidValue, "%d rows with a pitch of %d", rows, l.pitch)
	}
	l.slice = l.pitch * rows
	if l.slice > 0 && s.Z+c.Depth > most/l.slice {
		return l, fail(InvalidValue, "%d slices of %d bytes", s.Z+c.Depth, l.slice)
	}
	l.start = s.X + s.Y*l.pitch + s.Z*l.slice
	l.bytes = l.start + (c.Height-1)*l.pitch + (c.Depth-1)*l.slice + c.Width
	return l, nil
}

// layout returns the layout of a side, which may be an array. The caller must hold d.mu.
func (d *Driver) layout(s *Side, c *Copy3D) (layout, error) {
	if s.Kind != ArrayPlace {
		return s.layout(c)
	}
	a, err := object[*array](d, s.Array)
	if err != nil {
		return layout{}, err
	}
	return a.layout(s, c)
}

// plan checks a copy and returns its work. asynchronous reports whether the work may run after the call. The caller
// must hold d.mu.
func (d *Driver) plan(c *Copy3D) (work func(*interp.HostOrder), asynchronous bool, err error) {
	if c.Width == 0 || c.Height == 0 || c.Depth == 0 {
		return func(*interp.HostOrder) {}, true, nil
	}
	target, source := c.Dst.Place, c.Src.Place
	if err := errors.Join(d.locate(&target), d.locate(&source)); err != nil {
		return nil, false, err
	}
	to, err := d.layout(&c.Dst, c)
	if err != nil {
		return nil, false, err
	}
	from, err := d.layout(&c.Src, c)
	if err != nil {
		return nil, false, err
	}
	dst, stays1, err := d.bytes(target, to.bytes)
	if err != nil {
		return nil, false, err
	}
	src, stays2, err := d.bytes(source, from.bytes)
	if err != nil {
		return nil, false, err
	}
	width, height, depth := c.Width, c.Height, c.Depth
	return func(o *interp.HostOrder) {
		for z := range depth {
			for y := range height {
				at, of := to.start+y*to.pitch+z*to.slice, from.start+y*from.pitch+z*from.slice
				d.reportHostAccess(o, &source, of, width, false)
				copy(dst[at:][:width], src[of:])
				d.reportHostAccess(o, &target, at, width, true)
			}
		}
	}, stays1 && stays2, nil
}

// Memcpy3D is cuMemcpy3D, and cuMemcpy2D with one slice.
func (t *Thread) Memcpy3D(c *Copy3D, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if s.capture != nil {
		return s.recordTransfer(MemcpyNode, &copyWork{*c}, async)
	}
	work, asynchronous, err := t.d.plan(c)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	return t.transfer(s, "a copy", s.contextsBetween(&c.Dst.Place, &c.Src.Place), bool(async) && asynchronous, t.d.knownAfter(&c.Dst.Place, &c.Src.Place, async), work)
}

// Fill2D is a fill of Height rows of Width elements of Size bytes (1, 2 or 4) with one value. Pitch is in bytes.
type Fill2D struct {
	Dst           uint64
	Pitch         uint64
	Value         uint32
	Size          uint32
	Width, Height uint64
}

// fill checks a fill and returns its work. The caller must hold d.mu.
func (d *Driver) fill(f *Fill2D) (work func(*interp.HostOrder), err error) {
	size := uint64(f.Size)
	switch {
	case size != 1 && size != 2 && size != 4:
		return nil, fail(InvalidValue, "elements of %d bytes, want 1, 2 or 4", size)
	case f.Dst%size != 0 || f.Height > 1 && f.Pitch%size != 0:
		return nil, fail(InvalidValue, "%#x, with a pitch of %d, is not aligned to elements of %d bytes", f.Dst, f.Pitch, size)
	case f.Width > 1<<46 || f.Height > 1<<46 || f.Pitch > 1<<46 || f.Height > 0 && f.Pitch > 1<<46/f.Height:
		return nil, fail(InvalidValue, "%d rows of %d elements", f.Height, f.Width)
	case f.Height > 1 && f.Pitch < f.Width*size:
		return nil, fail(InvalidValue, "rows of %d bytes do not fit a pitch of %d", f.Width*size, f.Pitch)
	case f.Width == 0 || f.Height == 0:
		return func(*interp.HostOrder) {}, nil
	}
	n := f.Width * size
	dst, err := d.deviceBytes(f.Dst, (f.Height-1)*f.Pitch+n)
	if err != nil {
		return nil, err
	}
	pitch, height, value := f.Pitch, f.Height, f.Value
	target := Place{Kind: DevicePlace, Device: f.Dst}
	return func(o *interp.HostOrder) {
		for y := range height {
			fillRow(dst[y*pitch:][:n], value, int(size))
			d.reportHostAccess(o, &target, y*pitch, n, true)
		}
	}, nil
}

// fillRow fills a row with a value of size bytes.
func fillRow(row []byte, value uint32, size int) {
	var pattern [4]byte
	binary.LittleEndian.PutUint32(pattern[:], value)
	for done := copy(row, pattern[:size]); done < len(row); done *= 2 {
		copy(row[done:], row[:done])
	}
}

// Memset implements the cuMemset functions. Without Async it waits if the host can access the memory.
func (t *Thread) Memset(f *Fill2D, stream Handle, async Async) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	if s.capture != nil {
		return s.recordTransfer(MemsetNode, &fillWork{*f}, async)
	}
	work, err := t.d.fill(f)
	if err != nil {
		t.d.mu.Unlock()
		return err
	}
	r := t.d.regions.find(f.Dst)
	seen := r != nil && (r.onHost() || r.kind == managedRegion)
	return t.transfer(s, "a fill", nil, bool(async) || !seen, knowsCopied, work)
}

// PointerAttribute is a CUpointer_attribute.
type PointerAttribute int32

// The attributes of a pointer.
const (
	PointerContext       PointerAttribute = 1
	PointerMemoryType    PointerAttribute = 2
	PointerDevicePointer PointerAttribute = 3
	PointerHostPointer   PointerAttribute = 4
	PointerSyncMemops    PointerAttribute = 6
	PointerBufferID      PointerAttribute = 7
	PointerIsManaged     PointerAttribute = 8
	PointerDeviceOrdinal PointerAttribute = 9
	PointerIPCCapable    PointerAttribute = 10
	PointerRangeStart    PointerAttribute = 11
	PointerRangeSize     PointerAttribute = 12
	PointerMapped        PointerAttribute = 13
	PointerHandleTypes   PointerAttribute = 14
	PointerRDMACapable   PointerAttribute = 15
	PointerAccessFlags   PointerAttribute = 16
	PointerMemPool       PointerAttribute = 17
	PointerMappingSize   PointerAttribute = 18
	PointerMappingStart  PointerAttribute = 19
	PointerMemoryBlockID PointerAttribute = 20
)

// errNoPointer is the error for an address that the driver does not know.
var errNoPointer = errors.New("unknown pointer")

// PointerGetAttribute is cuPointerGetAttribute. It returns the value as a number of the width of the attribute's C
// type.
func (t *Thread) PointerGetAttribute(a PointerAttribute, addr uint64) (uint64, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return 0, fail(NotInitialized, "cuInit was not called")
	}
	v, err := t.d.pointerAttribute(a, addr)
	if err == errNoPointer {
		return 0, fail(InvalidValue, "%#x is not a pointer from this driver, and is not registered", addr)
	}
	return v, err
}

// PointerGetAttributes is cuPointerGetAttributes. Unlike PointerGetAttribute, it returns 0 for unknown pointers.
func (t *Thread) PointerGetAttributes(list []PointerAttribute, addr uint64) ([]uint64, error) {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	if !t.d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	values := make([]uint64, len(list))
	for i, a := range list {
		v, err := t.d.pointerAttribute(a, addr)
		if err != nil && hasResult(err, InvalidValue) {
			return nil, err
		}
		if err == errNoPointer && a == PointerDeviceOrdinal {
			v = 0xffff_fffe // -2: no device
		}
		values[i] = v
	}
	return values, nil
}

// pointerAttribute returns the value of one attribute. The caller must hold d.mu.
func (d *Driver) pointerAttribute(a PointerAttribute, addr uint64) (uint64, error) {
	if a < PointerContext || a > PointerMemoryBlockID || a == 5 {
		return 0, fail(InvalidValue, "pointer attribute %d", a)
	}
	r := d.regions.find(addr)
	if r == nil {
		return 0, errNoPointer
	}
	truth := func(b bool) (uint64, error) {
		if b {
			return 1, nil
		}
		return 0, nil
	}
	switch a {
	case PointerContext:
		if r.ctx == nil {
			return 0, nil
		}
		return uint64(r.ctx.handle), nil
	case PointerMemoryType:
		if r.onHost() {
			return uint64(HostPlace), nil
		}
		return uint64(DevicePlace), nil
	case PointerDevicePointer:
		return addr, nil
	case PointerHostPointer:
		if !r.onHost() && r.kind != managedRegion {
			return 0, fail(InvalidValue, "%#x has no address on the host", addr)
		}
		return addr, nil
	case PointerBufferID:
		return r.id, nil
	case PointerIsManaged:
		return truth(r.kind == managedRegion)
	case PointerDeviceOrdinal:
		return uint64(r.device(d).ordinal), nil
	case PointerRangeStart:
		start, _ := r.extent()
		return start, nil
	case PointerRangeSize:
		_, size := r.extent()
		return size, nil
	case PointerMappingStart:
		return r.addr, nil
	case PointerMappingSize:
		return r.size, nil
	case PointerMapped:
		return 1, nil
	case PointerIPCCapable:
		return truth(haveVirtual && r.isPlain())
	case PointerHandleTypes:
		if r.mapping != nil {
			return uint64(r.mapping.memory.properties.HandleTypes), nil
		}
		if r.pool != nil {
			return uint64(r.pool.handleTypes()), nil
		}
	case PointerAccessFlags:
		if r.mapping != nil {
			return uint64(r.mapping.maxAccess), nil
		}
		return uint64(ReadWrite), nil
	case PointerMemoryBlockID:
		if r.mapping != nil {
			return uint64(r.mapping.memory.handle), nil
		}
		return r.id, nil
	case PointerMemPool:
		if r.pool != nil {
			return uint64(r.pool.handle), nil
		}
	}
	return 0, nil // the remaining attributes are 0 for all memory of this driver
}
