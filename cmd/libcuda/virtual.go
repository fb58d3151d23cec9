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

// convertLocation converts the location of memory.
func convertLocation(memLocation *C.CUmemLocation) driver.Location {
	return driver.Location{Type: int32(memLocation._type), ID: int32(memLocation.id)}
}

// convertProperties converts the properties of memory. It ignores the request for compressible memory.
func convertProperties(p *C.CUmemAllocationProp) (driver.MemoryProperties, error) {
	if p == nil {
		return driver.MemoryProperties{}, driver.InvalidValue
	}
	return driver.MemoryProperties{
		Type: driver.MemoryType(p._type), HandleTypes: driver.HandleTypes(p.requestedHandleTypes), Location: convertLocation(&p.location),
		Usage: uint16(p.allocFlags.usage), RDMA: p.allocFlags.gpuDirectRDMACapable != 0,
	}, nil
}

//export cuMemAddressReserve
func cuMemAddressReserve(addr *C.CUdeviceptr, size, alignment C.size_t, hint C.CUdeviceptr, flags C.ulonglong) C.CUresult {
	return storeDriverValue("cuMemAddressReserve", addr, func(d *driver.Driver) (uint64, error) {
		return d.MemAddressReserve(uint64(size), uint64(alignment), uint64(hint), uint64(flags))
	})
}

//export cuMemAddressFree
func cuMemAddressFree(addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return callDriver("cuMemAddressFree", func(d *driver.Driver) error { return d.MemAddressFree(uint64(addr), uint64(size)) })
}

//export cuMemGetAllocationGranularity
func cuMemGetAllocationGranularity(granularity *C.size_t, p *C.CUmemAllocationProp, option C.int) C.CUresult {
	return storeDriverValue("cuMemGetAllocationGranularity", granularity, func(d *driver.Driver) (uint64, error) {
		props, err := convertProperties(p)
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
	return storeDriverValue("cuMemCreate", handle, func(d *driver.Driver) (driver.Handle, error) {
		props, err := convertProperties(p)
		if err != nil {
			return 0, err
		}
		return d.MemCreate(uint64(size), props, uint64(flags))
	})
}

//export cuMemRelease
func cuMemRelease(handle C.CUmemGenericAllocationHandle) C.CUresult {
	return callDriver("cuMemRelease", func(d *driver.Driver) error { return d.MemRelease(driver.Handle(handle)) })
}

//export cuMemGetAllocationPropertiesFromHandle
func cuMemGetAllocationPropertiesFromHandle(p *C.CUmemAllocationProp, handle C.CUmemGenericAllocationHandle) C.CUresult {
	return callDriver("cuMemGetAllocationPropertiesFromHandle", func(d *driver.Driver) error {
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
	return storeDriverValue("cuMemRetainAllocationHandle", handle, func(d *driver.Driver) (driver.Handle, error) { return d.MemRetainAllocationHandle(uint64(addr)) })
}

//export cuMemMap
func cuMemMap(addr C.CUdeviceptr, size, offset C.size_t, handle C.CUmemGenericAllocationHandle, flags C.ulonglong) C.CUresult {
	return callDriver("cuMemMap", func(d *driver.Driver) error {
		return d.MemMap(uint64(addr), uint64(size), uint64(offset), driver.Handle(handle), uint64(flags))
	})
}

//export cuMemUnmap
func cuMemUnmap(addr C.CUdeviceptr, size C.size_t) C.CUresult {
	return callDriver("cuMemUnmap", func(d *driver.Driver) error { return d.MemUnmap(uint64(addr), uint64(size)) })
}

//export cuMemSetAccess
func cuMemSetAccess(addr C.CUdeviceptr, size C.size_t, list *C.CUmemAccessDesc, n C.size_t) C.CUresult {
	return callDriver("cuMemSetAccess", func(d *driver.Driver) error {
		all, err := items(list, n, maxItems)
		if err != nil || n == 0 {
			return driver.InvalidValue
		}
		var access []driver.MemAccessDesc
		for _, a := range all {
			access = append(access, driver.MemAccessDesc{Location: convertLocation(&a.location), Access: driver.MemoryAccess(a.flags)})
		}
		return d.MemSetAccess(uint64(addr), uint64(size), access)
	})
}

//export cuMemGetAccess
func cuMemGetAccess(flags *C.ulonglong, memLocation *C.CUmemLocation, addr C.CUdeviceptr) C.CUresult {
	return storeDriverValue("cuMemGetAccess", flags, func(d *driver.Driver) (driver.MemoryAccess, error) {
		if memLocation == nil {
			return 0, driver.InvalidValue
		}
		return d.MemGetAccess(convertLocation(memLocation), uint64(addr))
	})
}

// A shareable handle is a file descriptor. The export stores it as an int, and the import receives it as a pointer.

//export cuMemExportToShareableHandle
func cuMemExportToShareableHandle(to unsafe.Pointer, handle C.CUmemGenericAllocationHandle, kind C.int, flags C.ulonglong) C.CUresult {
	return storeDriverValue("cuMemExportToShareableHandle", (*C.int)(to), func(d *driver.Driver) (int, error) {
		return d.MemExport(driver.Handle(handle), driver.HandleTypes(kind), uint64(flags))
	})
}

//export cuMemImportFromShareableHandle
func cuMemImportFromShareableHandle(handle *C.CUmemGenericAllocationHandle, fd C.uintptr_t, kind C.int) C.CUresult {
	return storeThreadValue("cuMemImportFromShareableHandle", handle, func(t *driver.Thread) (driver.Handle, error) {
		return t.MemImport(int(int32(fd)), driver.HandleTypes(kind))
	})
}
