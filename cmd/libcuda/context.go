package main

// This file exports contexts.

/*
#include "cuda_types.h"
*/
import "C"

import "gemu/driver"

//export cuCtxCreate_v2
func cuCtxCreate_v2(ctx *C.CUcontext, flags C.uint, dev C.CUdevice) C.CUresult {
	return storeThreadValue("cuCtxCreate_v2", ctx, func(t *driver.Thread) (driver.Handle, error) { return t.CtxCreate(uint32(flags), int(dev)) })
}

// cuCtxCreate_v3 has further parameters for affinity, and cuCtxCreate_v4 for creation. They are supported only if they
// are empty, as most clients pass them.

//export cuCtxCreate_v3
func cuCtxCreate_v3(ctx *C.CUcontext, affinity *C.char, n C.int, flags C.uint, dev C.CUdevice) C.CUresult {
	return storeThreadValue("cuCtxCreate_v3", ctx, func(t *driver.Thread) (driver.Handle, error) {
		if n != 0 {
			return 0, driver.NotSupported
		}
		return t.CtxCreate(uint32(flags), int(dev))
	})
}

//export cuCtxCreate_v4
func cuCtxCreate_v4(ctx *C.CUcontext, params *C.char, flags C.uint, dev C.CUdevice) C.CUresult {
	return storeThreadValue("cuCtxCreate_v4", ctx, func(t *driver.Thread) (driver.Handle, error) {
		if params != nil {
			return 0, driver.NotSupported
		}
		return t.CtxCreate(uint32(flags), int(dev))
	})
}

//export cuCtxDestroy_v2
func cuCtxDestroy_v2(ctx C.CUcontext) C.CUresult {
	return callThread("cuCtxDestroy_v2", func(t *driver.Thread) error { return t.CtxDestroy(driver.Handle(ctx)) })
}

//export cuCtxAttach
func cuCtxAttach(ctx *C.CUcontext, flags C.uint) C.CUresult {
	return storeThreadValue("cuCtxAttach", ctx, func(t *driver.Thread) (driver.Handle, error) { return t.CtxAttach(uint32(flags)) })
}

//export cuCtxDetach
func cuCtxDetach(ctx C.CUcontext) C.CUresult {
	return callThread("cuCtxDetach", func(t *driver.Thread) error { return t.CtxDetach(driver.Handle(ctx)) })
}

//export cuCtxPushCurrent_v2
func cuCtxPushCurrent_v2(ctx C.CUcontext) C.CUresult {
	return callThread("cuCtxPushCurrent_v2", func(t *driver.Thread) error { return t.CtxPushCurrent(driver.Handle(ctx)) })
}

//export cuCtxPopCurrent_v2
func cuCtxPopCurrent_v2(ctx *C.CUcontext) C.CUresult {
	return callThread("cuCtxPopCurrent_v2", func(t *driver.Thread) error {
		h, err := t.CtxPopCurrent()
		if err == nil && ctx != nil {
			*ctx = C.CUcontext(h)
		}
		return err
	})
}

//export cuCtxSetCurrent
func cuCtxSetCurrent(ctx C.CUcontext) C.CUresult {
	return callThread("cuCtxSetCurrent", func(t *driver.Thread) error { return t.CtxSetCurrent(driver.Handle(ctx)) })
}

//export cuCtxGetCurrent
func cuCtxGetCurrent(ctx *C.CUcontext) C.CUresult {
	return storeThreadValue("cuCtxGetCurrent", ctx, (*driver.Thread).CtxGetCurrent)
}

//export cuCtxGetDevice
func cuCtxGetDevice(dev *C.CUdevice) C.CUresult {
	return cuCtxGetDevice_v2(dev, 0)
}

// Since CUDA 13 these functions take the context as a parameter.

//export cuCtxGetDevice_v2
func cuCtxGetDevice_v2(dev *C.CUdevice, ctx C.CUcontext) C.CUresult {
	return storeThreadValue("cuCtxGetDevice_v2", dev, func(t *driver.Thread) (int, error) { return t.CtxGetDevice(driver.Handle(ctx)) })
}

//export cuCtxSynchronize_v2
func cuCtxSynchronize_v2(ctx C.CUcontext) C.CUresult {
	return callThread("cuCtxSynchronize_v2", func(t *driver.Thread) error { return t.CtxSynchronize(driver.Handle(ctx)) })
}

//export cuCtxGetFlags
func cuCtxGetFlags(flags *C.uint) C.CUresult {
	return storeThreadValue("cuCtxGetFlags", flags, (*driver.Thread).CtxGetFlags)
}

//export cuCtxSetFlags
func cuCtxSetFlags(flags C.uint) C.CUresult {
	return callThread("cuCtxSetFlags", func(t *driver.Thread) error { return t.CtxSetFlags(uint32(flags)) })
}

//export cuCtxGetId
func cuCtxGetId(ctx C.CUcontext, id *C.uint64_t) C.CUresult {
	return storeThreadValue("cuCtxGetId", id, func(t *driver.Thread) (uint64, error) { return t.CtxGetID(driver.Handle(ctx)) })
}

//export cuCtxGetApiVersion
func cuCtxGetApiVersion(ctx C.CUcontext, version *C.uint) C.CUresult {
	return storeThreadValue("cuCtxGetApiVersion", version, func(t *driver.Thread) (int, error) { return t.CtxGetAPIVersion(driver.Handle(ctx)) })
}

//export cuCtxSynchronize
func cuCtxSynchronize() C.CUresult {
	return cuCtxSynchronize_v2(0)
}

//export cuCtxGetLimit
func cuCtxGetLimit(value *C.size_t, limit C.int) C.CUresult {
	return storeThreadValue("cuCtxGetLimit", value, func(t *driver.Thread) (uint64, error) { return t.CtxGetLimit(int(limit)) })
}

//export cuCtxSetLimit
func cuCtxSetLimit(limit C.int, value C.size_t) C.CUresult {
	return callThread("cuCtxSetLimit", func(t *driver.Thread) error { return t.CtxSetLimit(int(limit), uint64(value)) })
}

//export cuCtxGetCacheConfig
func cuCtxGetCacheConfig(config *C.int) C.CUresult {
	return storeThreadValue("cuCtxGetCacheConfig", config, (*driver.Thread).CtxGetCacheConfig)
}

//export cuCtxSetCacheConfig
func cuCtxSetCacheConfig(config C.int) C.CUresult {
	return callThread("cuCtxSetCacheConfig", func(t *driver.Thread) error { return t.CtxSetCacheConfig(int(config)) })
}

//export cuCtxGetSharedMemConfig
func cuCtxGetSharedMemConfig(config *C.int) C.CUresult {
	return storeThreadValue("cuCtxGetSharedMemConfig", config, (*driver.Thread).CtxGetSharedMemConfig)
}

//export cuCtxSetSharedMemConfig
func cuCtxSetSharedMemConfig(config C.int) C.CUresult {
	return callThread("cuCtxSetSharedMemConfig", func(t *driver.Thread) error { return t.CtxSetSharedMemConfig(int(config)) })
}

//export cuCtxGetStreamPriorityRange
func cuCtxGetStreamPriorityRange(least, greatest *C.int) C.CUresult {
	return callThread("cuCtxGetStreamPriorityRange", func(t *driver.Thread) error {
		a, b, err := t.CtxGetStreamPriorityRange()
		if err == nil && least != nil {
			*least = C.int(a)
		}
		if err == nil && greatest != nil {
			*greatest = C.int(b)
		}
		return err
	})
}

//export cuCtxEnablePeerAccess
func cuCtxEnablePeerAccess(peer C.CUcontext, flags C.uint) C.CUresult {
	return callThread("cuCtxEnablePeerAccess", func(t *driver.Thread) error { return t.CtxEnablePeerAccess(driver.Handle(peer), uint32(flags)) })
}

//export cuCtxDisablePeerAccess
func cuCtxDisablePeerAccess(peer C.CUcontext) C.CUresult {
	return callThread("cuCtxDisablePeerAccess", func(t *driver.Thread) error { return t.CtxDisablePeerAccess(driver.Handle(peer)) })
}

//export cuCtxResetPersistingL2Cache
func cuCtxResetPersistingL2Cache() C.CUresult {
	return callThread("cuCtxResetPersistingL2Cache", (*driver.Thread).Check)
}

//export cuProfilerStart
func cuProfilerStart() C.CUresult { return callThread("cuProfilerStart", (*driver.Thread).Check) }

//export cuProfilerStop
func cuProfilerStop() C.CUresult { return callThread("cuProfilerStop", (*driver.Thread).Check) }
