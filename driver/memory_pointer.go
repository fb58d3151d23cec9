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
	PointerContext       PointerAttribute = 1  // handle of the context of the allocation; 0: none
	PointerMemoryType    PointerAttribute = 2  // HostPlace or DevicePlace
	PointerDevicePointer PointerAttribute = 3  // address for kernels
	PointerHostPointer   PointerAttribute = 4  // address for the host; an error for device memory
	PointerSyncMemops    PointerAttribute = 6  // always 0
	PointerBufferID      PointerAttribute = 7  // number of the allocation, unique in the process
	PointerIsManaged     PointerAttribute = 8  // 1 for managed memory, else 0
	PointerDeviceOrdinal PointerAttribute = 9  // ordinal of the device
	PointerIPCCapable    PointerAttribute = 10 // 1 if other processes can open the memory, else 0
	PointerRangeStart    PointerAttribute = 11 // first address of the allocation or reservation
	PointerRangeSize     PointerAttribute = 12 // size of the allocation or reservation in bytes
	PointerMapped        PointerAttribute = 13 // always 1: kernels can access the memory
	PointerHandleTypes   PointerAttribute = 14 // HandleTypes that exports to other processes may make
	PointerRDMACapable   PointerAttribute = 15 // always 0
	PointerAccessFlags   PointerAttribute = 16 // MemoryAccess of devices
	PointerMemPool       PointerAttribute = 17 // handle of the pool; 0: none
	PointerMappingSize   PointerAttribute = 18 // size of the mapping in bytes
	PointerMappingStart  PointerAttribute = 19 // first address of the mapping
	PointerMemoryBlockID PointerAttribute = 20 // number of the created memory or of the allocation
)

// errNoPointer is pointerAttribute's error for an address unknown to the driver.
var errNoPointer = errors.New("unknown pointer")

// PointerGetAttribute is cuPointerGetAttribute. The value has the width of the attribute's C type; its upper bits are 0.
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

// PointerGetAttributes is cuPointerGetAttributes. Unlike PointerGetAttribute, it is no error if the pointer is unknown:
// the value of each attribute is then 0, and that of PointerDeviceOrdinal -2.
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
		return 0, fail(InvalidValue, "pointer attribute %d, want a CUpointer_attribute from %d to %d except 5", a, PointerContext, PointerMemoryBlockID)
	}
	r := d.regions.find(addr)
	if r == nil {
		return 0, errNoPointer
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
		return uint64(number(r.kind == managedRegion)), nil
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
		return uint64(number(sharedmem.Supported && r.isPlain())), nil
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
