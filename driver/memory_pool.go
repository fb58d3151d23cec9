package driver

// This file implements stream-ordered memory (driver API, "Stream Ordered Memory Allocator"). The client gets the
// address immediately. Kernels can access the memory after the allocation and before the free, in the order of the
// stream. Pools only count bytes: keeping freed memory would save nothing here.

import (
	"fmt"
	"unsafe"

	"gemu/interp"
	"gemu/probe"
)

// poolAddress is the start of the addresses of stream-ordered device memory and of memory of other processes. Separate
// addresses keep them independent of concurrent allocations by kernels. Other pools use host addresses.
const poolAddress = 1 << 52

// Pool is a memory pool.
type Pool struct {
	handle Handle
	d      *Driver
	place  poolPlace
	limit  uint64 // limit on used, in bytes; 0: the device's memory
	used   uint64
	memory *poolMemory              // memory of a pool shared between processes; nil otherwise
	values map[PoolAttribute]uint64 // set values; high water marks count since their last reset
	access map[int]MemoryAccess     // by ordinal, for devices without access by default
}

// poolPlace is the memory from which a pool allocates.
type poolPlace struct {
	kind regionKind // deviceRegion, hostRegion or managedRegion
	dev  *Device    // nil for host memory, and for managed memory without a preferred location
}

// pools are the default pool and the current pool of a place.
type pools struct{ standard, now *Pool }

// poolsOf returns the pools of a place. The caller must hold d.mu.
func (d *Driver) poolsOf(place poolPlace) *pools {
	p := d.pools[place]
	if p == nil {
		p = &pools{standard: d.newPool(place, 0)}
		p.now = p.standard
		d.pools[place] = p
	}
	return p
}

// poolPlace returns the place of memory of a type at a location. The caller must hold d.mu.
func (d *Driver) poolPlace(location Location, kind MemoryType) (poolPlace, error) {
	switch {
	case !d.ready:
		return poolPlace{}, fail(NotInitialized, "cuInit was not called")
	case kind != PinnedMemory && kind != ManagedMemory:
		return poolPlace{}, fail(InvalidValue, "memory of type %d", kind)
	case location.Type == OnDevice:
		v, err := d.device(int(location.ID))
		if kind == ManagedMemory {
			return poolPlace{managedRegion, v}, err
		}
		return poolPlace{deviceRegion, v}, err
	case kind == ManagedMemory && location.Type >= nowhere && location.Type <= onThisNode:
		return poolPlace{managedRegion, nil}, nil
	case kind == PinnedMemory && location.Type >= onAnyNode && location.Type <= onThisNode:
		return poolPlace{hostRegion, nil}, nil
	}
	return poolPlace{}, fail(NotSupported, "a memory pool at a location of type %d", location.Type)
}

// device returns the device for which the pool's memory is counted. The caller must hold d.mu.
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
	PoolReuseFollowEvents  PoolAttribute = iota + 1 // permissions to reuse freed memory, 1 by default; only stored
	PoolReuseOpportunistic                          // as PoolReuseFollowEvents
	PoolReuseInternal                               // as PoolReuseFollowEvents
	PoolReleaseThreshold                            // bytes that a pool may keep after a free; only stored
	PoolReserved                                    // bytes taken from the device: as PoolUsed
	PoolReservedHigh                                // maximum of PoolReserved since its last reset; can be set to 0
	PoolUsed                                        // bytes allocated from the pool
	PoolUsedHigh                                    // maximum of PoolUsed since its last reset; can be set to 0
	PoolMemoryType                                  // MemoryType of the pool
	PoolHandleTypes                                 // HandleTypes by which the pool can leave the process
	PoolLocationID                                  // ID of the pool's Location
	PoolLocationType                                // type of the pool's Location
	PoolLimit                                       // maximum number of bytes in use; 0: no limit
	PoolDecompression                               // always 0
	PoolLocality                                    // always -1: none
)

// MemoryAccess is a CUmemAccess_flags.
type MemoryAccess int32

// The access of a device to the memory of a pool or of a mapping.
const (
	NoAccess  MemoryAccess = 0 // neither read nor write
	Read      MemoryAccess = 1 // read, and no write
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

// MemGetMemPool is cuMemGetMemPool and cuDeviceGetMemPool: it returns the default pool of MemAllocAsync.
func (d *Driver) MemGetMemPool(location Location, kind MemoryType) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	place, err := d.poolPlace(location, kind)
	if err != nil {
		return 0, err
	}
	return d.poolsOf(place).now.handle, nil
}

// MemSetMemPool is cuMemSetMemPool and cuDeviceSetMemPool.
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
	if err := p.own(); err != nil {
		return err
	}
	d.poolsOf(place).now = p
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
	switch of := d.poolsOf(p.place); p {
	case of.standard:
		return fail(InvalidValue, "the default pool cannot be destroyed")
	case of.now:
		of.now = of.standard
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
		return 0, fail(InvalidValue, "pool attribute %d", a)
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
			return onAnyNode, nil
		}
		return nowhere, nil
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

// MemPoolSetAttribute is cuMemPoolSetAttribute. High water marks can be reset; all further attributes are only stored.
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

// reads reports whether a device can always read and write the pool's memory.
func (p *Pool) reads(dev int) bool {
	return p.place.kind == managedRegion || p.place.dev != nil && dev == p.place.dev.ordinal
}

// MemPoolSetAccess is cuMemPoolSetAccess for a single device. All memory is accessible anyway; the value is only
// stored.
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
		return fail(InvalidValue, "access %d", access)
	case p.reads(v.ordinal) && access != ReadWrite:
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
	case p.reads(v.ordinal):
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

// allocate takes a region from a pool. The caller must hold d.mu.
func (s *Stream) allocate(size uint64, pool Handle) (*region, error) {
	d := s.ctx.dev.d
	p := d.poolsOf(poolPlace{deviceRegion, s.ctx.dev}).now
	if pool != 0 {
		var err error
		if p, err = d.pool(pool); err != nil {
			return nil, err
		}
	}
	if err := p.own(); err != nil {
		return nil, err
	}
	switch {
	case size == 0:
		return nil, fail(InvalidValue, "0 bytes")
	case p.limit > 0 && size > p.limit-p.used:
		return nil, fail(OutOfMemory, "%d bytes requested, %d of the pool's %d are in use", size, p.used, p.limit)
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

// MemFreeAsync is cuMemFreeAsync, for any memory accepted by MemFree. The free comes after the allocation, even if
// they are on different streams.
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
		return fail(InvalidValue, "no such memory begins at %#x", addr)
	}
	d.regions.remove(r)
	r.discharge()
	return s.finish(s.submitAlways("a free", r.free, r.allocTask), false)
}
