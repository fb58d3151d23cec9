package main

// This file exports virtual memory management.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

// location converts a location.
func location(memLocation *C.CUmemLocation) driver.Location {
	return driver.Location{Type: int32(memLocation._type), ID: int32(memLocation.id)}
}

// properties converts memory properties; the request for compressible memory is ignored.
func properties(p *C.CUmemAllocationProp) (driver.MemoryProperties, error) {
	if p == nil {
		return driver.MemoryProperties{}, driver.InvalidValue
	}
	return driver.MemoryProperties{
		Type: driver.MemoryType(p._type), HandleTypes: driver.HandleTypes(p.requestedHandleTypes), Location: location(&p.location),
		Usage: uint16(p.allocFlags.usage), RDMA: p.allocFlags.gpuDirectRDMACapable != 0,
	}, nil
}

//export cuMemAddressReserve
func cuMemAddressReserve(addr *C.CUdeviceptr, size, alignment C.size_t, hint C.CUdeviceptr, flags C.ulonglong) C.CUresult {
	return ask("cuMemAddressReserve", addr, func(d *driver.Driver) (uint64, error) {
		return d.MemAddressReserve(uint64(size), uint64(alignment), uint64(hint), uint64(flags))
	})
}

//export cuMemAddressFree
func cuMemAddressFree(addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return result("cuMemAddressFree", func(d *driver.Driver) error { return d.MemAddressFree(uint64(addr), uint64(size)) })
}

//export cuMemGetAllocationGranularity
func cuMemGetAllocationGranularity(granularity *C.size_t, p *C.CUmemAllocationProp, option C.int) C.CUresult {
	return ask("cuMemGetAllocationGranularity", granularity, func(d *driver.Driver) (uint64, error) {
		props, err := properties(p)
		switch {
		case err != nil:
			return 0, err
		case option != 0 && option != 1: // minimum and recommended granularity
			return 0, driver.InvalidValue
		}
		return d.MemGetAllocationGranularity(&props)
	})
}

//export cuMemCreate
func cuMemCreate(handle *C.CUmemGenericAllocationHandle, size C.size_t, p *C.CUmemAllocationProp, flags C.ulonglong) C.CUresult {
	return ask("cuMemCreate", handle, func(d *driver.Driver) (driver.Handle, error) {
		props, err := properties(p)
		if err != nil {
			return 0, err
		}
		return d.MemCreate(uint64(size), props, uint64(flags))
	})
}

//export cuMemRelease
func cuMemRelease(handle C.CUmemGenericAllocationHandle) C.CUresult {
	return result("cuMemRelease", func(d *driver.Driver) error { return d.MemRelease(driver.Handle(handle)) })
}

//export cuMemGetAllocationPropertiesFromHandle
func cuMemGetAllocationPropertiesFromHandle(p *C.CUmemAllocationProp, handle C.CUmemGenericAllocationHandle) C.CUresult {
	return result("cuMemGetAllocationPropertiesFromHandle", func(d *driver.Driver) error {
		if p == nil {
			return driver.InvalidValue
		}
		props, err := d.MemGetAllocationProperties(driver.Handle(handle))
		if err == nil {
			*p = C.CUmemAllocationProp{
				_type: C.int(props.Type), requestedHandleTypes: C.int(props.HandleTypes),
				location: C.CUmemLocation{_type: C.int(props.Location.Type), id: C.int(props.Location.ID)},
			}
		}
		return err
	})
}

//export cuMemRetainAllocationHandle
func cuMemRetainAllocationHandle(handle *C.CUmemGenericAllocationHandle, addr C.CUdeviceptr) C.CUresult {
	return ask("cuMemRetainAllocationHandle", handle, func(d *driver.Driver) (driver.Handle, error) { return d.MemRetainAllocationHandle(uint64(addr)) })
}

//export cuMemMap
func cuMemMap(addr C.CUdeviceptr, size, offset C.size_t, handle C.CUmemGenericAllocationHandle, flags C.ulonglong) C.CUresult {
	return result("cuMemMap", func(d *driver.Driver) error {
		return d.MemMap(uint64(addr), uint64(size), uint64(offset), driver.Handle(handle), uint64(flags))
	})
}

//export cuMemUnmap
func cuMemUnmap(addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return result("cuMemUnmap", func(d *driver.Driver) error { return d.MemUnmap(uint64(addr), uint64(size)) })
}

//export cuMemSetAccess
func cuMemSetAccess(addr C.CUdeviceptr, size C.size_t, list *C.CUmemAccessDesc, n C.size_t) C.CUresult {
	return result("cuMemSetAccess", func(d *driver.Driver) error {
		all, err := items(list, n, maxItems)
		if err != nil || n == 0 {
			return driver.InvalidValue
		}
		var access []driver.MemAccessDesc
		for _, a := range all {
			access = append(access, driver.MemAccessDesc{Location: location(&a.location), Access: driver.MemoryAccess(a.flags)})
		}
		return d.MemSetAccess(uint64(addr), uint64(size), access)
	})
}

//export cuMemGetAccess
func cuMemGetAccess(flags *C.ulonglong, memLocation *C.CUmemLocation, addr C.CUdeviceptr) C.CUresult {
	return ask("cuMemGetAccess", flags, func(d *driver.Driver) (driver.MemoryAccess, error) {
		if memLocation == nil {
			return 0, driver.InvalidValue
		}
		return d.MemGetAccess(location(memLocation), uint64(addr))
	})
}

// An exported handle is an int. The import receives it as a pointer.

//export cuMemExportToShareableHandle
func cuMemExportToShareableHandle(to unsafe.Pointer, handle C.CUmemGenericAllocationHandle, kind C.int, flags C.ulonglong) C.CUresult {
	return ask("cuMemExportToShareableHandle", (*C.int)(to), func(d *driver.Driver) (int, error) {
		return d.MemExport(driver.Handle(handle), driver.HandleTypes(kind), uint64(flags))
	})
}

//export cuMemImportFromShareableHandle
func cuMemImportFromShareableHandle(handle *C.CUmemGenericAllocationHandle, of C.uintptr_t, kind C.int) C.CUresult {
	return get("cuMemImportFromShareableHandle", handle, func(t *driver.Thread) (driver.Handle, error) {
		return t.MemImport(int(int32(of)), driver.HandleTypes(kind))
	})
}
