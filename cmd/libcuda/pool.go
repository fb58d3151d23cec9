package main

// This file exports stream-ordered memory and its pools.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

//export cuMemAllocAsync
func cuMemAllocAsync(addr *C.CUdeviceptr, size C.size_t, stream C.CUstream) C.CUresult {
	return storeThreadValue("cuMemAllocAsync", addr, func(t *driver.Thread) (uint64, error) {
		return t.MemAllocAsync(uint64(size), 0, driver.Handle(stream))
	})
}

//export cuMemAllocFromPoolAsync
func cuMemAllocFromPoolAsync(addr *C.CUdeviceptr, size C.size_t, pool C.CUmemoryPool, stream C.CUstream) C.CUresult {
	return storeThreadValue("cuMemAllocFromPoolAsync", addr, func(t *driver.Thread) (uint64, error) {
		if pool == 0 {
			return 0, driver.InvalidValue
		}
		return t.MemAllocAsync(uint64(size), driver.Handle(pool), driver.Handle(stream))
	})
}

//export cuMemFreeAsync
func cuMemFreeAsync(addr C.CUdeviceptr, stream C.CUstream) C.CUresult {
	return callThread("cuMemFreeAsync", func(t *driver.Thread) error {
		if addr == 0 {
			return t.Check()
		}
		return t.MemFreeAsync(uint64(addr), driver.Handle(stream))
	})
}

// onDevice returns the location of a device's memory.
func onDevice(dev C.CUdevice) driver.Location {
	return driver.Location{Type: driver.OnDevice, ID: int32(dev)}
}

//export cuDeviceGetDefaultMemPool
func cuDeviceGetDefaultMemPool(pool *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceGetDefaultMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		return d.MemGetDefaultMemPool(onDevice(dev), driver.PinnedMemory)
	})
}

//export cuDeviceGetMemPool
func cuDeviceGetMemPool(pool *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceGetMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		return d.MemGetMemPool(onDevice(dev), driver.PinnedMemory)
	})
}

//export cuDeviceSetMemPool
func cuDeviceSetMemPool(dev C.CUdevice, pool C.CUmemoryPool) C.CUresult {
	return callDriver("cuDeviceSetMemPool", func(d *driver.Driver) error {
		return d.MemSetMemPool(onDevice(dev), driver.PinnedMemory, driver.Handle(pool))
	})
}

//export cuMemGetDefaultMemPool
func cuMemGetDefaultMemPool(pool *C.CUmemoryPool, memLocation *C.CUmemLocation, kind C.int) C.CUresult {
	return storeDriverValue("cuMemGetDefaultMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		if memLocation == nil {
			return 0, driver.InvalidValue
		}
		return d.MemGetDefaultMemPool(convertLocation(memLocation), driver.MemoryType(kind))
	})
}

//export cuMemGetMemPool
func cuMemGetMemPool(pool *C.CUmemoryPool, memLocation *C.CUmemLocation, kind C.int) C.CUresult {
	return storeDriverValue("cuMemGetMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		if memLocation == nil {
			return 0, driver.InvalidValue
		}
		return d.MemGetMemPool(convertLocation(memLocation), driver.MemoryType(kind))
	})
}

//export cuMemSetMemPool
func cuMemSetMemPool(memLocation *C.CUmemLocation, kind C.int, pool C.CUmemoryPool) C.CUresult {
	return callDriver("cuMemSetMemPool", func(d *driver.Driver) error {
		if memLocation == nil {
			return driver.InvalidValue
		}
		return d.MemSetMemPool(convertLocation(memLocation), driver.MemoryType(kind), driver.Handle(pool))
	})
}

//export cuMemPoolCreate
func cuMemPoolCreate(pool *C.CUmemoryPool, props *C.CUmemPoolProps) C.CUresult {
	return storeDriverValue("cuMemPoolCreate", pool, func(d *driver.Driver) (driver.Handle, error) {
		if props == nil {
			return 0, driver.InvalidValue
		}
		return d.MemPoolCreate(convertLocation(&props.location), driver.MemoryType(props.allocType), driver.HandleTypes(props.handleTypes), uint64(props.maxSize))
	})
}

//export cuMemPoolDestroy
func cuMemPoolDestroy(pool C.CUmemoryPool) C.CUresult {
	return callDriver("cuMemPoolDestroy", func(d *driver.Driver) error { return d.MemPoolDestroy(driver.Handle(pool)) })
}

//export cuMemPoolTrimTo
func cuMemPoolTrimTo(pool C.CUmemoryPool, keep C.size_t) C.CUresult {
	return callDriver("cuMemPoolTrimTo", func(d *driver.Driver) error { return d.MemPoolTrimTo(driver.Handle(pool), uint64(keep)) })
}

// poolInt reports whether an attribute of a pool is an int; all further attributes have 64 bits.
func poolInt(a C.int) bool {
	switch driver.PoolAttribute(a) {
	case driver.PoolReleaseThreshold, driver.PoolReserved, driver.PoolReservedHigh, driver.PoolUsed, driver.PoolUsedHigh, driver.PoolLimit:
		return false
	}
	return true
}

//export cuMemPoolGetAttribute
func cuMemPoolGetAttribute(pool C.CUmemoryPool, attribute C.int, value unsafe.Pointer) C.CUresult {
	return callDriver("cuMemPoolGetAttribute", func(d *driver.Driver) error {
		if value == nil {
			return driver.InvalidValue
		}
		v, err := d.MemPoolGetAttribute(driver.Handle(pool), driver.PoolAttribute(attribute))
		switch {
		case err != nil:
			return err
		case poolInt(attribute):
			*(*C.int)(value) = C.int(v)
		default:
			*(*C.uint64_t)(value) = C.uint64_t(v)
		}
		return nil
	})
}

//export cuMemPoolSetAttribute
func cuMemPoolSetAttribute(pool C.CUmemoryPool, attribute C.int, value unsafe.Pointer) C.CUresult {
	return callDriver("cuMemPoolSetAttribute", func(d *driver.Driver) error {
		if value == nil {
			return driver.InvalidValue
		}
		var v uint64
		if poolInt(attribute) {
			v = uint64(*(*C.uint)(value))
		} else {
			v = uint64(*(*C.uint64_t)(value))
		}
		return d.MemPoolSetAttribute(driver.Handle(pool), driver.PoolAttribute(attribute), v)
	})
}

//export cuMemPoolSetAccess
func cuMemPoolSetAccess(pool C.CUmemoryPool, list *C.CUmemAccessDesc, n C.size_t) C.CUresult {
	return callDriver("cuMemPoolSetAccess", func(d *driver.Driver) error {
		all, err := items(list, n, maxItems)
		if err != nil {
			return err
		}
		for _, a := range all {
			if err := d.MemPoolSetAccess(driver.Handle(pool), convertLocation(&a.location), driver.MemoryAccess(a.flags)); err != nil {
				return err
			}
		}
		return nil
	})
}

//export cuMemPoolGetAccess
func cuMemPoolGetAccess(flags *C.int, pool C.CUmemoryPool, memLocation *C.CUmemLocation) C.CUresult {
	return storeDriverValue("cuMemPoolGetAccess", flags, func(d *driver.Driver) (driver.MemoryAccess, error) {
		if memLocation == nil {
			return 0, driver.InvalidValue
		}
		return d.MemPoolGetAccess(driver.Handle(pool), convertLocation(memLocation))
	})
}
