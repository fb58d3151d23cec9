package driver

// This file implements queries about pointers.

import (
	"errors"

	"gemu/driver/internal/sharedmem"
)

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

// errNoPointer is the error for an address unknown to the driver.
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

// pointerAttribute returns the value of an attribute. The caller must hold d.mu.
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
		return truth(sharedmem.Supported && r.isPlain())
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
