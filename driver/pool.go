package driver

// This file is stream-ordered memory (driver API, "Stream Ordered Memory Allocator"). The
// client has the address at once; kernels reach the memory from the allocation's turn in
// its stream to that of the free. Nothing would be gained by keeping what was freed, so
// pools only count.

import (
	"fmt"

	"gemu/interp"
)

// poolAddress is where stream-ordered memory begins. It has addresses of its own, so that
// what kernels allocate meanwhile does not move it.
const poolAddress = 1 << 52

// Pool is a memory pool of a device.
type Pool struct {
	handle Handle
	dev    *Device
	limit  uint64 // bytes in use at once; 0: what the device has
	used   uint64
	values map[PoolAttribute]uint64 // that were set; high water marks: since they were reset
	access map[int]MemoryAccess     // of other devices, by ordinal
}

// PoolAttribute is a CUmemPool_attribute.
type PoolAttribute int32

// The attributes of a pool.
const (
	PoolReuseFollowEvents PoolAttribute = iota + 1
	PoolReuseOpportunistic
	PoolReuseInternal
	PoolReleaseThreshold
	PoolReserved
	PoolReservedHigh
	PoolUsed
	PoolUsedHigh
)

// MemoryAccess is a CUmemAccess_flags.
type MemoryAccess int32

// What a device may do with the memory of a pool, or with what is mapped.
const (
	NoAccess  MemoryAccess = 0
	Read      MemoryAccess = 1
	ReadWrite MemoryAccess = 3
)

// newPool makes a pool. d.mu is held.
func (v *Device) newPool(limit uint64) *Pool {
	p := &Pool{dev: v, limit: limit, access: map[int]MemoryAccess{}}
	p.values = map[PoolAttribute]uint64{PoolReuseFollowEvents: 1, PoolReuseOpportunistic: 1, PoolReuseInternal: 1}
	p.handle = v.d.add(p)
	return p
}

// pool is the pool with a handle. d.mu is held.
func (d *Driver) pool(h Handle) (*Pool, error) {
	if !d.ready {
		return nil, fail(NotInitialized, "cuInit was not called")
	}
	p, ok := d.objects[h].(*Pool)
	if !ok {
		return nil, fail(InvalidValue, "%#x is no memory pool", uint64(h))
	}
	return p, nil
}

// DeviceGetDefaultMemPool is cuDeviceGetDefaultMemPool.
func (d *Driver) DeviceGetDefaultMemPool(dev int) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, err
	}
	return v.defaultPool.handle, nil
}

// DeviceGetMemPool is cuDeviceGetMemPool: the pool that MemAllocAsync takes.
func (d *Driver) DeviceGetMemPool(dev int) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, err
	}
	return v.pool.handle, nil
}

// DeviceSetMemPool is cuDeviceSetMemPool.
func (d *Driver) DeviceSetMemPool(dev int, h Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return err
	}
	p, err := d.pool(h)
	switch {
	case err != nil:
		return err
	case p.dev != v:
		return fail(InvalidValue, "the pool is of device %d", p.dev.ordinal)
	}
	v.pool = p
	return nil
}

// MemPoolCreate is cuMemPoolCreate for memory of a device that stays in this process, at
// most limit bytes of it if that is not 0.
func (d *Driver) MemPoolCreate(dev int, limit uint64) (Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, err := d.device(dev)
	if err != nil {
		return 0, err
	}
	return v.newPool(limit).handle, nil
}

// MemPoolDestroy is cuMemPoolDestroy. What was allocated from the pool stays.
func (d *Driver) MemPoolDestroy(h Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	switch {
	case err != nil:
		return err
	case p == p.dev.defaultPool:
		return fail(InvalidValue, "the default pool cannot be destroyed")
	case p == p.dev.pool:
		p.dev.pool = p.dev.defaultPool
	}
	delete(d.objects, h)
	return nil
}

// MemPoolTrimTo is cuMemPoolTrimTo. A pool holds nothing but what is in use.
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
	case a < PoolReuseFollowEvents || a > PoolUsedHigh:
		return 0, fail(InvalidValue, "pool attribute %d", a)
	case a == PoolReserved || a == PoolUsed:
		return p.used, nil
	case a == PoolReservedHigh || a == PoolUsedHigh:
		return max(p.values[a], p.used), nil
	}
	return p.values[a], nil
}

// MemPoolSetAttribute is cuMemPoolSetAttribute. But for the high water marks, which can be
// reset, attributes are only remembered.
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

// MemPoolSetAccess is cuMemPoolSetAccess for one device. All memory is within reach anyway;
// what is set is remembered.
func (d *Driver) MemPoolSetAccess(h Handle, dev int, access MemoryAccess) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err != nil {
		return err
	}
	switch _, err = d.device(dev); {
	case err != nil:
		return err
	case access != NoAccess && access != Read && access != ReadWrite:
		return fail(InvalidValue, "access %d", access)
	case dev == p.dev.ordinal && access != ReadWrite:
		return fail(InvalidValue, "a pool's own device reads and writes it")
	}
	p.access[dev] = access
	return nil
}

// MemPoolGetAccess is cuMemPoolGetAccess.
func (d *Driver) MemPoolGetAccess(h Handle, dev int) (MemoryAccess, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p, err := d.pool(h)
	if err == nil {
		_, err = d.device(dev)
	}
	switch {
	case err != nil:
		return 0, err
	case dev == p.dev.ordinal:
		return ReadWrite, nil
	}
	return p.access[dev], nil
}

// MemAllocAsync is cuMemAllocFromPoolAsync; pool 0 is the current one of the stream's
// device, as cuMemAllocAsync takes it. The memory is zero at first.
func (t *Thread) MemAllocAsync(size uint64, pool, stream Handle) (uint64, error) {
	s, err := t.enterWork(stream)
	if err != nil {
		return 0, err
	}
	var r *region
	if err = s.noMemoryNodes(); err == nil {
		r, err = s.allocate(size, pool)
	}
	if err != nil {
		t.d.mu.Unlock()
		return 0, err
	}
	name := fmt.Sprintf("stream-ordered memory #%d", t.d.buffers)
	task := s.submit("an allocation", func(o *interp.Order) (err error) {
		if r.buf, err = t.d.gpu.MapOrdered(r.addr, r.data, name, false, o); err != nil {
			return fail(OutOfMemory, "%v", err)
		}
		return nil
	})
	return r.addr, s.finish(task, false)
}

// allocate takes a region from a pool. d.mu is held.
func (s *Stream) allocate(size uint64, pool Handle) (*region, error) {
	d := s.ctx.dev.d
	p := s.ctx.dev.pool
	if pool != 0 {
		var err error
		if p, err = d.pool(pool); err != nil {
			return nil, err
		}
	}
	switch {
	case size == 0:
		return nil, fail(InvalidValue, "0 bytes")
	case p.limit > 0 && size > p.limit-p.used:
		return nil, fail(OutOfMemory, "%d bytes wanted, %d of the pool's %d in use", size, p.used, p.limit)
	}
	if err := p.dev.reserve(size); err != nil {
		return nil, err
	}
	data, release, err := d.pages.allocate(size)
	if err != nil {
		p.dev.used -= size
		return nil, fail(OutOfMemory, "%v", err)
	}
	p.used += size
	for _, a := range []PoolAttribute{PoolReservedHigh, PoolUsedHigh} {
		p.values[a] = max(p.values[a], p.used)
	}
	d.buffers++
	align := interp.Alignment(size)
	addr := (d.nextPool + align - 1) / align * align
	d.nextPool = addr + size + align
	r := &region{addr: addr, size: size, data: data, kind: deviceRegion, ctx: s.ctx, pool: p, charge: size, pages: release}
	d.addRegion(r)
	return r, nil
}

// MemFreeAsync is cuMemFreeAsync, of any memory that MemFree frees.
func (t *Thread) MemFreeAsync(addr uint64, stream Handle) error {
	s, err := t.enterWork(stream)
	if err != nil {
		return err
	}
	d := t.d
	if err := s.noMemoryNodes(); err != nil {
		d.mu.Unlock()
		return err
	}
	r := d.regions.find(addr)
	if r == nil || r.addr != addr || !r.freeable() {
		d.mu.Unlock()
		return fail(InvalidValue, "%#x is not the beginning of such memory", addr)
	}
	d.regions.remove(r)
	r.discharge()
	return s.finish(s.always("a free", r.free), false)
}
