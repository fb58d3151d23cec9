package main

// This file exports initialisation, errors and devices.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"gemu/driver"
)

//export cuInit
func cuInit(flags C.uint) C.CUresult {
	return callDriver("cuInit", func(d *driver.Driver) error { return d.Init(uint32(flags)) })
}

//export cuDriverGetVersion
func cuDriverGetVersion(version *C.int) C.CUresult {
	return storeDriverValue("cuDriverGetVersion", version, func(d *driver.Driver) (int, error) { return d.Version(), nil })
}

// texts holds the C copies of strings that were returned to clients. They are never freed, because clients may keep them.
var texts sync.Map

// cString returns the C copy of a string, always the same one for equal strings.
func cString(s string) *C.char {
	if p, ok := texts.Load(s); ok {
		return p.(*C.char)
	}
	p, _ := texts.LoadOrStore(s, C.CString(s))
	return p.(*C.char)
}

//export cuDeviceGet
func cuDeviceGet(dev *C.CUdevice, ordinal C.int) C.CUresult {
	return storeDriverValue("cuDeviceGet", dev, func(d *driver.Driver) (int, error) { return d.DeviceGet(int(ordinal)) })
}

//export cuDeviceGetCount
func cuDeviceGetCount(n *C.int) C.CUresult {
	return storeDriverValue("cuDeviceGetCount", n, (*driver.Driver).DeviceGetCount)
}

//export cuDeviceGetName
func cuDeviceGetName(name *C.char, n C.int, dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceGetName", func(d *driver.Driver) error {
		s, err := d.DeviceGetName(int(dev))
		if err != nil {
			return err
		}
		return storeString(name, n, s)
	})
}

//export cuDeviceGetUuid
func cuDeviceGetUuid(uuid *C.CUuuid, dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceGetUuid", func(d *driver.Driver) error {
		if uuid == nil {
			return driver.InvalidValue
		}
		v, err := d.DeviceGetUUID(int(dev))
		if err == nil {
			*(*[16]byte)(unsafe.Pointer(uuid)) = v
		}
		return err
	})
}

//export cuDeviceTotalMem_v2
func cuDeviceTotalMem_v2(size *C.size_t, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceTotalMem_v2", size, func(d *driver.Driver) (uint64, error) { return d.DeviceTotalMem(int(dev)) })
}

//export cuDeviceGetAttribute
func cuDeviceGetAttribute(value *C.int, attribute C.int, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceGetAttribute", value, func(d *driver.Driver) (int, error) {
		return d.DeviceGetAttribute(driver.DeviceAttribute(attribute), int(dev))
	})
}

//export cuDeviceGetProperties
func cuDeviceGetProperties(p *C.CUdevprop, dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceGetProperties", func(d *driver.Driver) error {
		if p == nil {
			return driver.InvalidValue
		}
		for attribute, to := range map[driver.DeviceAttribute]*C.int{
			1: &p.maxThreadsPerBlock, 2: &p.maxThreadsDim[0], 3: &p.maxThreadsDim[1], 4: &p.maxThreadsDim[2],
			5: &p.maxGridSize[0], 6: &p.maxGridSize[1], 7: &p.maxGridSize[2], 8: &p.sharedMemPerBlock, 9: &p.totalConstantMemory,
			10: &p.SIMDWidth, 11: &p.memPitch, 12: &p.regsPerBlock, 13: &p.clockRate, 14: &p.textureAlign,
		} {
			v, err := d.DeviceGetAttribute(attribute, int(dev))
			if err != nil {
				return err
			}
			*to = C.int(v)
		}
		return nil
	})
}

//export cuDeviceComputeCapability
func cuDeviceComputeCapability(major, minor *C.int, dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceComputeCapability", func(d *driver.Driver) error {
		a, b, err := d.DeviceComputeCapability(int(dev))
		if err == nil {
			err = store(major, a)
		}
		if err == nil {
			err = store(minor, b)
		}
		return err
	})
}

//export cuDeviceGetPCIBusId
func cuDeviceGetPCIBusId(id *C.char, n C.int, dev C.CUdevice) C.CUresult {
	return callDriver("cuDeviceGetPCIBusId", func(d *driver.Driver) error {
		s, err := d.DeviceGetPCIBusID(int(dev))
		if err != nil {
			return err
		}
		return storeString(id, n, s)
	})
}

//export cuDeviceGetByPCIBusId
func cuDeviceGetByPCIBusId(dev *C.CUdevice, id *C.char) C.CUresult {
	return storeDriverValue("cuDeviceGetByPCIBusId", dev, func(d *driver.Driver) (int, error) { return d.DeviceGetByPCIBusID(C.GoString(id)) })
}

//export cuDeviceCanAccessPeer
func cuDeviceCanAccessPeer(can *C.int, dev, peer C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceCanAccessPeer", can, func(d *driver.Driver) (int, error) {
		return boolValue(d.DeviceCanAccessPeer(int(dev), int(peer)))
	})
}

//export cuDeviceGetP2PAttribute
func cuDeviceGetP2PAttribute(value *C.int, attribute C.int, src, dst C.CUdevice) C.CUresult {
	return storeDriverValue("cuDeviceGetP2PAttribute", value, func(d *driver.Driver) (int, error) {
		return d.DeviceGetP2PAttribute(int(attribute), int(src), int(dst))
	})
}

//export cuDevicePrimaryCtxRetain
func cuDevicePrimaryCtxRetain(ctx *C.CUcontext, dev C.CUdevice) C.CUresult {
	return storeDriverValue("cuDevicePrimaryCtxRetain", ctx, func(d *driver.Driver) (driver.Handle, error) { return d.PrimaryCtxRetain(int(dev)) })
}

//export cuDevicePrimaryCtxRelease_v2
func cuDevicePrimaryCtxRelease_v2(dev C.CUdevice) C.CUresult {
	return callDriver("cuDevicePrimaryCtxRelease_v2", func(d *driver.Driver) error { return d.PrimaryCtxRelease(int(dev)) })
}

//export cuDevicePrimaryCtxReset_v2
func cuDevicePrimaryCtxReset_v2(dev C.CUdevice) C.CUresult {
	return callDriver("cuDevicePrimaryCtxReset_v2", func(d *driver.Driver) error { return d.PrimaryCtxReset(int(dev)) })
}

//export cuDevicePrimaryCtxSetFlags_v2
func cuDevicePrimaryCtxSetFlags_v2(dev C.CUdevice, flags C.uint) C.CUresult {
	return callDriver("cuDevicePrimaryCtxSetFlags_v2", func(d *driver.Driver) error { return d.PrimaryCtxSetFlags(int(dev), uint32(flags)) })
}

//export cuDevicePrimaryCtxGetState
func cuDevicePrimaryCtxGetState(dev C.CUdevice, flags *C.uint, active *C.int) C.CUresult {
	return callDriver("cuDevicePrimaryCtxGetState", func(d *driver.Driver) error {
		f, on, err := d.PrimaryCtxGetState(int(dev))
		if err == nil {
			err = store(flags, f)
		}
		if err == nil {
			n, _ := boolValue(on, nil)
			err = store(active, n)
		}
		return err
	})
}
