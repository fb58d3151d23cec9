package driver

// This file implements allocations of device memory, managed memory and host memory.

import (
	"fmt"
	"unsafe"

	"gemu/interp"
)

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
		return fail(OutOfMemory, "%d bytes requested, %d of %d are in use: GEMU_MEMORY sets the memory of the device", size, v.used, total)
	}
	v.used += size
	return nil
}

// beginAllocation begins an allocation of size bytes in the current context, and counts charge bytes as used on the
// device. It locks the driver unless it returns an error.
func (t *Thread) beginAllocation(size, charge uint64) (*Context, error) {
	c, err := t.enter()
	if err != nil {
		return nil, err
	}
	if size == 0 {
		err = fail(InvalidValue, "an allocation of 0 bytes")
	} else {
		err = c.dev.reserve(charge)
	}
	if err != nil {
		t.d.mu.Unlock()
	}
	return c, err
}

// allocateRegion makes a region of size bytes, in the memory that alloc returns. Messages call it name, or a number if name is "".
func (t *Thread) allocateRegion(size uint64, kind regionKind, name string, alloc func(name string) (*interp.Buffer, error)) (uint64, error) {
	c, err := t.beginAllocation(size, size)
	if err != nil {
		return 0, err
	}
	d := t.d
	if name == "" {
		d.buffers++
		name = fmt.Sprintf("#%d", d.buffers)
	}
	d.mu.Unlock()

	buf, err := alloc(name) // waits for a running launch

	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		c.dev.used -= size
		return 0, fail(OutOfMemory, "%v", err)
	}
	r := &region{addr: buf.Addr(), size: size, data: buf.Bytes(), kind: kind, ctx: c, charge: size, buf: buf}
	d.addRegion(r)
	return r.addr, nil
}

// MemAlloc is cuMemAlloc. The memory is zero.
func (t *Thread) MemAlloc(size uint64) (uint64, error) {
	return t.allocateRegion(size, deviceRegion, "", func(name string) (*interp.Buffer, error) { return t.d.gpu.AllocNamed(name, int(size)) })
}

// MemShare makes size bytes of the client's memory device memory, at an address of its own: kernels and the client share the
// bytes. p must be a multiple of 16, and the memory must stay accessible until MemFree. Kernels cannot write to it if readOnly
// is set. Messages call the memory by name; "" is a number, as for MemAlloc.
func (t *Thread) MemShare(p unsafe.Pointer, size uint64, readOnly bool, name string) (uint64, error) {
	if addr := address(p); addr < noMemoryBelow || addr+size < addr || addr+size > hostEnd() || addr%16 != 0 {
		return 0, fail(InvalidValue, "%d bytes at %#x: want memory of the host that begins at a multiple of 16", size, addr)
	}
	mapping := interp.Mapping(0)
	if readOnly {
		mapping = interp.ReadOnly
	}
	return t.allocateRegion(size, sharedRegion, name, func(name string) (*interp.Buffer, error) {
		return t.d.gpu.AllocOver(hostBytes(p, size), name, mapping)
	})
}

// MemAllocPitch is cuMemAllocPitch: it allocates height rows of width bytes. pitch is the distance of rows in bytes.
func (t *Thread) MemAllocPitch(width, height uint64, elementSize uint32) (addr, pitch uint64, err error) {
	if elementSize != 4 && elementSize != 8 && elementSize != 16 {
		return 0, 0, fail(InvalidValue, "elements of %d bytes, want 4, 8 or 16", elementSize)
	}
	if width == 0 || height == 0 || width > 1<<40 || height > 1<<40 {
		return 0, 0, fail(InvalidValue, "%d rows of %d bytes: want 1 to 2^40 of both", height, width)
	}
	pitch = (width + pitchAlignment - 1) / pitchAlignment * pitchAlignment
	if height > 1<<46/pitch {
		return 0, 0, fail(OutOfMemory, "%d rows of %d bytes, with their padding, are too large", height, pitch)
	}
	addr, err = t.MemAlloc(pitch * height)
	return addr, pitch, err
}

// hostPages allocates memory that kernels can access at its host address: managed memory or page-locked memory. charge is
// the number of bytes that count as used on the device.
func (t *Thread) hostPages(size uint64, kind regionKind, flags uint32, charge uint64) (uint64, error) {
	c, err := t.beginAllocation(size, charge)
	if err != nil {
		return 0, err
	}
	d := t.d
	d.mu.Unlock()
	r := &region{size: size, kind: kind, ctx: c, flags: flags, charge: charge}
	r.data, r.pages, err = d.pages.Allocate(size)
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

// kindNames holds the names of memory in messages.
var kindNames = map[regionKind]string{managedRegion: "managed memory", hostRegion: "page-locked host memory", registeredRegion: "registered host memory"}

// MemAllocManaged is cuMemAllocManaged.
func (t *Thread) MemAllocManaged(size uint64, flags uint32) (uint64, error) {
	if flags != 1 && flags != 2 { // CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
		return 0, fail(InvalidValue, "flags %#x, want CU_MEM_ATTACH_GLOBAL (1) or CU_MEM_ATTACH_HOST (2)", flags)
	}
	return t.hostPages(size, managedRegion, 0, size)
}

// MemHostAlloc is cuMemHostAlloc, and cuMemAllocHost with flags of 0.
func (t *Thread) MemHostAlloc(size uint64, flags uint32) (unsafe.Pointer, error) {
	if unknown := flags &^ 7; unknown != 0 {
		return nil, fail(InvalidValue, "flags %#x: %#x is unknown", flags, unknown)
	}
	addr, err := t.hostPages(size, hostRegion, flags, 0)
	return pointer(addr), err
}

// release frees the region that begins at addr, after all work that may still use it. The region's context need not be
// current. accepted is the condition for regions that the call may free. If no such region begins at addr, the error has
// the result notFound and names the memory by noun.
func (t *Thread) release(addr uint64, notFound Result, noun string, accepted func(*region) bool) error {
	d := t.d
	d.mu.Lock()
	if !d.ready {
		d.mu.Unlock()
		return fail(NotInitialized, "cuInit was not called")
	}
	r := d.regions.find(addr)
	err := error(nil)
	switch {
	case r == nil || r.addr != addr || !accepted(r):
		if _, err = t.current(); err == nil {
			err = fail(notFound, "no %s begins at %#x", noun, addr)
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
	d.awaitTasks(tasks)
	if r.pool == nil { // freeing stream-ordered memory does not synchronise
		d.mu.Lock()
		d.ordering.learn(tasks)
		d.mu.Unlock()
	}
	r.free(nil)
	return nil
}

// freeableMemory names the memory that MemFree and MemFreeAsync accept, in messages.
const freeableMemory = "device or managed memory"

// MemFree is cuMemFree.
func (t *Thread) MemFree(addr uint64) error {
	return t.release(addr, InvalidValue, freeableMemory, (*region).freeable)
}

// MemFreeHost is cuMemFreeHost.
func (t *Thread) MemFreeHost(p unsafe.Pointer) error {
	return t.release(address(p), InvalidValue, "memory of cuMemHostAlloc or cuMemAllocHost", func(r *region) bool { return r.kind == hostRegion && r.pool == nil })
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
		return fail(InvalidValue, "%d bytes at %#x are not memory of the host", size, addr)
	case flags&^15 != 0:
		return fail(InvalidValue, "flags %#x: %#x is unknown", flags, flags&^15)
	case flags&4 != 0:
		return fail(NotSupported, "gemu cannot register memory of devices (CU_MEMHOSTREGISTER_IOMEMORY)")
	}
	l := t.d.regions
	if i := l.after(addr); i > 0 && addr-l[i-1].addr < l[i-1].size || i < len(l) && l[i].addr < addr+size {
		return fail(HostMemoryAlreadyRegistered, "%d bytes at %#x overlap memory that is already registered or allocated by the driver", size, addr)
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
	return t.release(address(p), HostMemoryNotRegistered, "registered host memory", func(r *region) bool { return r.kind == registeredRegion })
}

// MemHostGetDevicePointer is cuMemHostGetDevicePointer: host memory has the same address on the device.
func (t *Thread) MemHostGetDevicePointer(p unsafe.Pointer, flags uint32) (uint64, error) {
	if _, err := t.enter(); err != nil {
		return 0, err
	}
	defer t.d.mu.Unlock()
	if flags != 0 {
		return 0, fail(InvalidValue, "flags %#x, want 0", flags)
	}
	if r := t.d.regions.find(address(p)); r == nil || !r.onHost() {
		return 0, fail(InvalidValue, "%#x is not page-locked host memory", address(p))
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
		return 0, fail(InvalidValue, "%#x is not page-locked host memory", address(p))
	}
	return r.flags | 2, nil // CU_MEMHOSTALLOC_DEVICEMAP: all host memory of the driver is mapped
}

// MemGetAddressRange is cuMemGetAddressRange: it returns the allocation at an address.
func (t *Thread) MemGetAddressRange(addr uint64) (base, size uint64, err error) {
	if _, err := t.enter(); err != nil {
		return 0, 0, err
	}
	defer t.d.mu.Unlock()
	r := t.d.regions.find(addr)
	if r == nil {
		return 0, 0, fail(NotFound, "no allocation contains %#x", addr)
	}
	base, size = r.extent()
	return base, size, nil
}
