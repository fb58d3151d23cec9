package main

// This file is stream-ordered memory and its pools.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

// Numbers that describe the memory of a pool: CU_MEM_LOCATION_TYPE_DEVICE and
// CU_MEM_ALLOCATION_TYPE_PINNED.
const (
	onDevice = 1
	pinned   = 1
)

//export cuMemAllocAsync
func cuMemAllocAsync(addr *C.CUdeviceptr, size C.size_t, stream C.CUstream) C.CUresult {
	return get("cuMemAllocAsync", addr, func(t *driver.Thread) (uint64, error) {
		return t.MemAllocAsync(uint64(size), 0, driver.Handle(stream))
	})
}

//export cuMemAllocFromPoolAsync
func cuMemAllocFromPoolAsync(addr *C.CUdeviceptr, size C.size_t, pool C.CUmemoryPool, stream C.CUstream) C.CUresult {
	return get("cuMemAllocFromPoolAsync", addr, func(t *driver.Thread) (uint64, error) {
		if pool == 0 {
			return 0, driver.InvalidValue
		}
		return t.MemAllocAsync(uint64(size), driver.Handle(pool), driver.Handle(stream))
	})
}

//export cuMemFreeAsync
func cuMemFreeAsync(addr C.CUdeviceptr, stream C.CUstream) C.CUresult {
	return do("cuMemFreeAsync", func(t *driver.Thread) error {
		if addr == 0 {
			return t.Check()
		}
		return t.MemFreeAsync(uint64(addr), driver.Handle(stream))
	})
}

//export cuDeviceGetDefaultMemPool
func cuDeviceGetDefaultMemPool(pool *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return ask("cuDeviceGetDefaultMemPool", pool, func(d *driver.Driver) (driver.Handle, error) { return d.DeviceGetDefaultMemPool(int(dev)) })
}

//export cuDeviceGetMemPool
func cuDeviceGetMemPool(pool *C.CUmemoryPool, dev C.CUdevice) C.CUresult {
	return ask("cuDeviceGetMemPool", pool, func(d *driver.Driver) (driver.Handle, error) { return d.DeviceGetMemPool(int(dev)) })
}

//export cuDeviceSetMemPool
func cuDeviceSetMemPool(dev C.CUdevice, pool C.CUmemoryPool) C.CUresult {
	return result("cuDeviceSetMemPool", func(d *driver.Driver) error { return d.DeviceSetMemPool(int(dev), driver.Handle(pool)) })
}

// located is the device that a location names.
func located(where *C.CUmemLocation) (int, error) {
	switch {
	case where == nil:
		return 0, driver.InvalidValue
	case where._type != onDevice:
		return 0, &driver.Error{Result: driver.NotSupported, Detail: "pools of memory that is not a device's"}
	}
	return int(where.id), nil
}

// Since CUDA 13 a location stands for a device, and with it goes a type of memory, of
// which a device has one.

func located13(where *C.CUmemLocation, kind C.int) (int, error) {
	if kind != pinned {
		return 0, driver.InvalidValue
	}
	return located(where)
}

//export cuMemGetDefaultMemPool
func cuMemGetDefaultMemPool(pool *C.CUmemoryPool, where *C.CUmemLocation, kind C.int) C.CUresult {
	return ask("cuMemGetDefaultMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		dev, err := located13(where, kind)
		if err != nil {
			return 0, err
		}
		return d.DeviceGetDefaultMemPool(dev)
	})
}

//export cuMemGetMemPool
func cuMemGetMemPool(pool *C.CUmemoryPool, where *C.CUmemLocation, kind C.int) C.CUresult {
	return ask("cuMemGetMemPool", pool, func(d *driver.Driver) (driver.Handle, error) {
		dev, err := located13(where, kind)
		if err != nil {
			return 0, err
		}
		return d.DeviceGetMemPool(dev)
	})
}

//export cuMemSetMemPool
func cuMemSetMemPool(where *C.CUmemLocation, kind C.int, pool C.CUmemoryPool) C.CUresult {
	return result("cuMemSetMemPool", func(d *driver.Driver) error {
		dev, err := located13(where, kind)
		if err != nil {
			return err
		}
		return d.DeviceSetMemPool(dev, driver.Handle(pool))
	})
}

//export cuMemPoolCreate
func cuMemPoolCreate(pool *C.CUmemoryPool, props *C.CUmemPoolProps) C.CUresult {
	return ask("cuMemPoolCreate", pool, func(d *driver.Driver) (driver.Handle, error) {
		switch {
		case props == nil || props.allocType != pinned:
			return 0, driver.InvalidValue
		case props.handleTypes != 0:
			return 0, &driver.Error{Result: driver.NotSupported, Detail: "pools that are shared between processes"}
		}
		dev, err := located(&props.location)
		if err != nil {
			return 0, err
		}
		return d.MemPoolCreate(dev, uint64(props.maxSize))
	})
}

//export cuMemPoolDestroy
func cuMemPoolDestroy(pool C.CUmemoryPool) C.CUresult {
	return result("cuMemPoolDestroy", func(d *driver.Driver) error { return d.MemPoolDestroy(driver.Handle(pool)) })
}

//export cuMemPoolTrimTo
func cuMemPoolTrimTo(pool C.CUmemoryPool, keep C.size_t) C.CUresult {
	return result("cuMemPoolTrimTo", func(d *driver.Driver) error { return d.MemPoolTrimTo(driver.Handle(pool), uint64(keep)) })
}

// The first attributes of a pool are ints, the others 64-bit numbers.

func poolInt(a C.int) bool { return driver.PoolAttribute(a) <= driver.PoolReuseInternal }

//export cuMemPoolGetAttribute
func cuMemPoolGetAttribute(pool C.CUmemoryPool, attribute C.int, value unsafe.Pointer) C.CUresult {
	return result("cuMemPoolGetAttribute", func(d *driver.Driver) error {
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
	return result("cuMemPoolSetAttribute", func(d *driver.Driver) error {
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
	return result("cuMemPoolSetAccess", func(d *driver.Driver) error {
		if n > 0 && list == nil {
			return driver.InvalidValue
		}
		for _, a := range unsafe.Slice(list, int(n)) {
			dev, err := located(&a.location)
			if err == nil {
				err = d.MemPoolSetAccess(driver.Handle(pool), dev, driver.MemoryAccess(a.flags))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

//export cuMemPoolGetAccess
func cuMemPoolGetAccess(flags *C.int, pool C.CUmemoryPool, where *C.CUmemLocation) C.CUresult {
	return ask("cuMemPoolGetAccess", flags, func(d *driver.Driver) (driver.MemoryAccess, error) {
		dev, err := located(where)
		if err != nil {
			return 0, err
		}
		return d.MemPoolGetAccess(driver.Handle(pool), dev)
	})
}
