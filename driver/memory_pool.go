package driver

// This file implements stream-ordered memory (driver API, "Stream Ordered Memory Allocator"). The allocation and the
// free of such memory are operations of a stream. The client gets the address immediately; kernels can access the memory
// between the two operations. A pool does not keep freed memory, because that would save nothing here: it only counts
// the bytes in use.

import (
	"fmt"
	"unsafe"

	"gemu/interp"
	"gemu/probe"
)

// poolAddress is the start of the addresses of stream-ordered device memory, and of memory opened from other processes.
// The range is separate so that these addresses do not depend on concurrent allocations by kernels. Pools of host memory
// and of managed memory use host addresses.
const poolAddress = 1 << 52

// Pool is a memory pool.
type Pool struct {
	handle Handle
	d      *Driver
	place  poolPlace
	limit  uint64                   // limit on used, in bytes; 0: the device's memory
	used   uint64                   // bytes in use
	memory *poolMemory              // memory of a pool shared between processes; nil otherwise
	values map[PoolAttribute]uint64 // values set by the client; maxima of used since their last reset
	access map[int]MemoryAccess     // access of a device, by ordinal; unused for devices that always have access
}

// poolPlace is the memory from which a pool allocates.
type poolPlace struct {
	kind regionKind // deviceRegion, hostRegion or managedRegion
	dev  *Device    // nil for host memory, and for managed memory without a preferred location
}

// pools holds the default pool and the current pool of a place. MemAllocAsync uses the current pool.
type pools struct{ standard, current *Pool }

// poolsOf returns the pools of a place. The caller must hold d.mu.
func (d *Driver) poolsOf(place poolPlace) *pools {
	p := d.pools[place]
	if p == nil {
		p = &pools{standard: d.newPool(place, 0)}
		p.current = p.standard
		d.pools[place] = p
	}
	return p
}

// poolPlace returns the place for pools with a type of memory at a location. The caller must hold d.mu.
func (d *Driver) poolPlace(location Location, kind MemoryType) (poolPlace, error) {
	switch {
	case !d.ready:
		return poolPlace{}, fail(NotInitialized, "cuInit was not called")
	case kind != PinnedMemory && kind != ManagedMemory:
		return poolPlace{}, fail(InvalidValue, "memory of type %d, want 1 (pinned) or 2 (managed)", kind)
	case location.Type == OnDevice:
		v, err := d.device(int(location.ID))
		if kind == ManagedMemory {
			return poolPlace{managedRegion, v}, err
		}
		return poolPlace{deviceRegion, v}, err
	case kind == ManagedMemory && location.Type >= locationUnspecified && location.Type <= locationHostThisNode:
		return poolPlace{managedRegion, nil}, nil
	case kind == PinnedMemory && location.Type >= locationHost && location.Type <= locationHostThisNode:
		return poolPlace{hostRegion, nil}, nil
	}
	return poolPlace{}, fail(NotSupported, "gemu does not support a pool for memory of type %d at a location of type %d", kind, location.Type)
}

// device returns the device on which the pool's memory counts as used. The caller must hold d.mu.
func (p *Pool) device() *Device {
	if p.place.dev != nil {
		return p.place.dev
	}
	return p.d.devices[0]
}

// PoolAttribute is a CUmemPool_attribute.
type PoolAttribute int32

// The attributes of a pool.
const (
	PoolReuseFollowEvents  PoolAttribute = iota + 1 // permission to reuse freed memory, 1 by default; only stored
	PoolReuseOpportunistic                          // as PoolReuseFollowEvents
	PoolReuseInternal                               // as PoolReuseFollowEvents
	PoolReleaseThreshold                            // bytes that a pool may keep after a free; only stored
	PoolReserved                                    // bytes that the pool occupies on the device; equal to PoolUsed
	PoolReservedHigh                                // maximum of PoolReserved since its last reset; can be set to 0
	PoolUsed                                        // bytes allocated from the pool
	PoolUsedHigh                                    // maximum of PoolUsed since its last reset; can be set to 0
	PoolMemoryType                                  // MemoryType of the pool
	PoolHandleTypes                                 // HandleTypes that MemPoolExport may make for other processes
	PoolLocationID                                  // ID of the pool's Location
	PoolLocationType                                // type of the pool's Location
	PoolLimit                                       // maximum number of bytes in use; 0: no limit
	PoolDecompression                               // always 0
	PoolLocality                                    // locality domain; always -1: none
)

// MemoryAccess is a CUmemAccess_flags.
type MemoryAccess int32

// The access of a device to the memory of a pool or of a mapping.
const (
	NoAccess  MemoryAccess = 0 // neither read nor write
	Read      MemoryAccess = 1 // read, but not write
	ReadWrite MemoryAccess = 3 // read and write
)

// newPool makes a pool. The caller must hold d.mu.
func (d *Driver) newPool(place poolPlace, limit uint64) *Pool {
	p := &Pool{d: d, place: place, limit: limit, access: map[int]MemoryAccess{}}
	p.values = map[PoolAttribute]uint64{PoolReuseFollowEvents: 1, PoolReuseOpportunistic: 1, PoolReuseInternal: 1}
	p.handle = d.add(p)
	return p
}

// pool returns the pool with a handle. The caller must hold d.mu.
func (d *Driver) pool(h Handle) (*Pool, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	p, ok := d.objects[h].(*Pool)
	if !ok {
		return nil, fail(InvalidValue, "%#x is not the handle of a memory pool", uint64(h))
	}
	return p, nil
}

// MemGetDefaultMemPool is cuMemGetDefaultMemPool; cuDeviceGetDefaultMemPool is this function for pinned memory on a
// device.
func (d *Driver) MemGetDefaultMemPool(location Location, kind MemoryType) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, err := d.poolPlace(location, kind)
	if err != nil {
		return 0, err
	}
	return d.poolsOf(place).standard.handle, nil
}

// MemGetMemPool is cuMemGetMemPool and cuDeviceGetMemPool: it returns the current pool.
func (d *Driver) MemGetMemPool(location Location, kind MemoryType) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, err := d.poolPlace(location, kind)
	if err != nil {
		return 0, err
	}
	return d.poolsOf(place).current.handle, nil
}

// MemSetMemPool is cuMemSetMemPool and cuDeviceSetMemPool: it sets the current pool.
func (d *Driver) MemSetMemPool(location Location, kind MemoryType, h Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, err := d.poolPlace(location, kind)
	if err != nil {
		return err
	}
	p, err := d.pool(h)
	switch {
	case err != nil:
		return err
	case p.place != place:
		return fail(InvalidValue, "the pool belongs to a different kind of memory or device")
	}
	if err := p.checkOwned(); err != nil {
		return err
	}
	d.poolsOf(place).current = p
	return nil
}

// MemPoolCreate is cuMemPoolCreate. limit is the maximum number of bytes in use; 0: no limit. If types is not 0, the
// pool can be shared between processes.
func (d *Driver) MemPoolCreate(location Location, kind MemoryType, types HandleTypes, limit uint64) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, err := d.poolPlace(location, kind)
	if err != nil {
		return 0, err
	}
	p := d.newPool(place, limit)
	if types != 0 {
		if err := p.share(types); err != nil {
			delete(d.objects, p.handle)
			return 0, err
		}
	}
	return p.handle, nil
}

// MemPoolDestroy is cuMemPoolDestroy. Allocations from the pool stay valid.
func (d *Driver) MemPoolDestroy(h Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err != nil {
		return err
	}
	switch pools := d.poolsOf(p.place); p {
	case pools.standard:
		return fail(InvalidValue, "the default pool cannot be destroyed")
	case pools.current:
		pools.current = pools.standard
	}
	delete(d.objects, h)
	if p.memory != nil {
		p.memory.drop()
	}
	return nil
}

// MemPoolTrimTo is cuMemPoolTrimTo. It has no effect: a pool holds only memory in use.
func (d *Driver) MemPoolTrimTo(h Handle, keep uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.pool(h)
	return err
}

// MemPoolGetAttribute is cuMemPoolGetAttribute.
func (d *Driver) MemPoolGetAttribute(h Handle, a PoolAttribute) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	switch {
	case err != nil:
		return 0, err
	case a < PoolReuseFollowEvents || a > PoolLocality:
		return 0, fail(InvalidValue, "pool attribute %d, want %d to %d", a, PoolReuseFollowEvents, PoolLocality)
	case a == PoolReserved || a == PoolUsed:
		return p.used, nil
	case a == PoolReservedHigh || a == PoolUsedHigh:
		return max(p.values[a], p.used), nil
	}
	switch a {
	case PoolMemoryType:
		if p.place.kind == managedRegion {
			return uint64(ManagedMemory), nil
		}
		return uint64(PinnedMemory), nil
	case PoolLocationType:
		switch {
		case p.place.dev != nil:
			return OnDevice, nil
		case p.place.kind == hostRegion:
			return locationHost, nil
		}
		return locationUnspecified, nil
	case PoolLocationID:
		if p.place.dev != nil {
			return uint64(p.place.dev.ordinal), nil
		}
	case PoolHandleTypes:
		return uint64(p.handleTypes()), nil
	case PoolLimit:
		return p.limit, nil
	case PoolLocality:
		return 1<<64 - 1, nil // -1: none
	}
	return p.values[a], nil
}

// MemPoolSetAttribute is cuMemPoolSetAttribute. PoolReservedHigh and PoolUsedHigh can be reset to 0; the other attributes
// that can be set are only stored.
func (d *Driver) MemPoolSetAttribute(h Handle, a PoolAttribute, value uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	switch {
	case err != nil:
		return err
	case a < PoolReuseFollowEvents || a > PoolUsedHigh || a == PoolReserved || a == PoolUsed:
		return fail(InvalidValue, "pool attribute %d cannot be set", a)
	case a > PoolReleaseThreshold && value != 0:
		return fail(InvalidValue, "a high water mark can only be set to 0, not to %d", value)
	}
	p.values[a] = value
	return nil
}

// alwaysAccessible reports whether the device with an ordinal can always read and write the pool's memory.
func (p *Pool) alwaysAccessible(dev int) bool {
	return p.place.kind == managedRegion || p.place.dev != nil && dev == p.place.dev.ordinal
}

// MemPoolSetAccess is cuMemPoolSetAccess for a single device. The value is only stored: here every device can access the
// memory of every pool.
func (d *Driver) MemPoolSetAccess(h Handle, location Location, access MemoryAccess) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err != nil {
		return err
	}
	switch v, err := location.device(d); {
	case err != nil:
		return err
	case access != NoAccess && access != Read && access != ReadWrite:
		return badAccess(access)
	case p.alwaysAccessible(v.ordinal) && access != ReadWrite:
		return fail(InvalidValue, "device %d always has read and write access to this pool", v.ordinal)
	default:
		p.access[v.ordinal] = access
	}
	return nil
}

// MemPoolGetAccess is cuMemPoolGetAccess.
func (d *Driver) MemPoolGetAccess(h Handle, location Location) (MemoryAccess, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err != nil {
		return 0, err
	}
	v, err := location.device(d)
	switch {
	case err != nil:
		return 0, err
	case p.alwaysAccessible(v.ordinal):
		return ReadWrite, nil
	}
	return p.access[v.ordinal], nil
}

// MemAllocAsync is cuMemAllocFromPoolAsync; pool 0 is the current pool of the stream's device, as in cuMemAllocAsync.
// The memory is zero.
func (t *Thread) MemAllocAsync(size uint64, pool, stream Handle) (uint64, error) {
	s, err := t.enterWork(stream)
	if err != nil {
		return 0, err
	}
	if s.capture != nil {
		defer t.d.mu.Unlock()
		return s.memAllocCaptured(size, pool)
	}
	r, err := s.allocate(size, pool)
	if err != nil {
		t.d.mu.Unlock()
		return 0, err
	}
	name := fmt.Sprintf("stream-ordered memory #%d", t.d.buffers)
	task := s.submit("an allocation", func(o *probe.HostOrder) (err error) {
		if r.buf, err = t.d.gpu.MapOrdered(r.addr, r.data, name, interp.Permanent, o); err != nil {
			return fail(OutOfMemory, "%v", err)
		}
		return nil
	})
	r.allocTask = task
	return r.addr, s.finish(task, false)
}

// allocate makes a region of a pool; pool 0 is the current pool of the stream's device. The region is not yet mapped for
// kernels. The caller must hold d.mu.
func (s *Stream) allocate(size uint64, pool Handle) (*region, error) {
	d := s.ctx.dev.d
	p := d.poolsOf(poolPlace{deviceRegion, s.ctx.dev}).current
	if pool != 0 {
		var err error
		if p, err = d.pool(pool); err != nil {
			return nil, err
		}
	}
	if err := p.checkOwned(); err != nil {
		return nil, err
	}
	switch {
	case size == 0:
		return nil, fail(InvalidValue, "an allocation of 0 bytes")
	case p.limit > 0 && size > p.limit-p.used:
		return nil, fail(OutOfMemory, "%d bytes requested, but %d of the pool's limit of %d bytes are in use", size, p.used, p.limit)
	}
	charge := size
	if p.place.kind == hostRegion {
		charge = 0
	}
	if err := p.device().reserve(charge); err != nil {
		return nil, err
	}
	r := &region{size: size, kind: p.place.kind, ctx: s.ctx, pool: p, charge: charge}
	var err error
	if p.memory != nil {
		r.data, r.pages, r.fileOffset, err = p.memory.allocate(size)
	} else {
		r.data, r.pages, err = d.pages.Allocate(size)
	}
	if err != nil {
		p.device().used -= charge
		return nil, fail(OutOfMemory, "%v", err)
	}
	p.count(size)
	d.buffers++
	r.addr = address(unsafe.Pointer(unsafe.SliceData(r.data)))
	if p.place.kind == deviceRegion {
		r.addr = d.poolAddress(size)
	}
	d.addRegion(r)
	return r, nil
}

// count adds an allocation of size bytes to the pool's counts. The caller must hold d.mu.
func (p *Pool) count(size uint64) {
	p.used += size
	for _, a := range []PoolAttribute{PoolReservedHigh, PoolUsedHigh} {
		p.values[a] = max(p.values[a], p.used)
	}
}

// poolAddress returns an address for size bytes of stream-ordered memory, or of memory of another process. The caller
// must hold d.mu.
func (d *Driver) poolAddress(size uint64) uint64 {
	align := interp.Alignment(size)
	addr := (d.nextPool + align - 1) / align * align
	d.nextPool = addr + size + align
	return addr
}

// MemFreeAsync is cuMemFreeAsync; it accepts the memory that MemFree accepts. The free comes after the allocation, even
// if they are on different streams.
func (t *Thread) MemFreeAsync(addr uint64, stream Handle) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	d := t.d
	if s.capture != nil {
		defer d.mu.Unlock()
		return s.memFreeCaptured(addr)
	}
	r := d.regions.find(addr)
	if r == nil || r.addr != addr || !r.freeable() {
		d.mu.Unlock()
		return fail(InvalidValue, "no %s begins at %#x", freeableMemory, addr)
	}
	d.regions.remove(r)
	r.discharge()
	return s.finish(s.submitAlways("a free", r.free, r.allocTask), false)
}
