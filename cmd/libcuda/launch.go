package main

// This file exports functions, launches and occupancy.

/*
#include "cuda_types.h"

static inline size_t gemu_call_occupancy(CUoccupancyB2DSize f, int block) { return f(block); }
*/
import "C"

import (
	"encoding/json"
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
	"gemu/ptx"
)

func extent(x, y, z C.uint) ptx.Dim3 { return ptx.Dim3{X: int(x), Y: int(y), Z: int(z)} }

func launch(call string, p *driver.LaunchParams, stream C.CUstream) C.CUresult {
	return callThread(call, func(t *driver.Thread) error { return t.LaunchKernel(p, driver.Handle(stream)) })
}

//export cuLaunchKernel
func cuLaunchKernel(function C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, stream C.CUstream, params, extra *unsafe.Pointer) C.CUresult {
	return launch("cuLaunchKernel", &driver.LaunchParams{
		Func: driver.Handle(function), Grid: extent(gx, gy, gz), Block: extent(bx, by, bz), Shared: uint32(shared),
		Params: unsafe.Pointer(params), Extra: unsafe.Pointer(extra),
	}, stream)
}

//export cuLaunchCooperativeKernel
func cuLaunchCooperativeKernel(function C.CUfunction, gx, gy, gz, bx, by, bz, shared C.uint, stream C.CUstream, params *unsafe.Pointer) C.CUresult {
	return launch("cuLaunchCooperativeKernel", &driver.LaunchParams{
		Func: driver.Handle(function), Grid: extent(gx, gy, gz), Block: extent(bx, by, bz), Shared: uint32(shared), Params: unsafe.Pointer(params),
		Cooperative: true,
	}, stream)
}

// gemu_launch_refused reports a launch that gemu's runtime library has refused, so that sanitizers do not call the
// program clean. It is not a function of the API.
//
//export gemu_launch_refused
func gemu_launch_refused(kernel, reason *C.char) {
	if t, err := process.Thread(); err == nil {
		t.LaunchRefused(C.GoString(kernel), C.GoString(reason))
	}
}

// gemu_process_report returns the report of the process (driver.ProcessReport) as JSON, after all launches have ended. The caller
// must free it. It is NULL in a child of fork, and if an environment variable has an invalid value. It is not a function of the API.
//
//export gemu_process_report
func gemu_process_report() *C.char {
	d, err := process.Driver()
	if err != nil {
		return nil
	}
	b, err := json.Marshal(d.ReportEnded())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return C.CString(string(b))
}

// Numbers of the CUlaunchAttributeID values that change the results of a launch.
const (
	attributeCooperative = 2
	attributeCluster     = 4
)

// maxLaunchAttributes is the maximum number of attributes of a launch. CUDA has fewer attributes.
const maxLaunchAttributes = 64

// convertLaunchConfig converts a launch configuration. It ignores attributes that do not change results.
func convertLaunchConfig(config *C.CUlaunchConfig, function C.CUfunction) (*driver.LaunchParams, error) {
	if config == nil {
		return nil, driver.InvalidValue
	}
	attributes, err := items(config.attrs, config.numAttrs, maxLaunchAttributes)
	if err != nil {
		return nil, err
	}
	p := &driver.LaunchParams{
		Func: driver.Handle(function), Shared: uint32(config.sharedMemBytes),
		Grid:  extent(config.gridDimX, config.gridDimY, config.gridDimZ),
		Block: extent(config.blockDimX, config.blockDimY, config.blockDimZ),
	}
	for _, a := range attributes {
		switch a.id {
		case attributeCooperative:
			p.Cooperative = *(*C.int)(unsafe.Pointer(&a.value)) != 0
		case attributeCluster:
			dim := (*[3]C.uint)(unsafe.Pointer(&a.value))
			p.Cluster = extent(dim[0], dim[1], dim[2])
		}
	}
	return p, nil
}

//export cuLaunchKernelEx
func cuLaunchKernelEx(config *C.CUlaunchConfig, function C.CUfunction, params, extra *unsafe.Pointer) C.CUresult {
	return callThread("cuLaunchKernelEx", func(t *driver.Thread) error {
		p, err := convertLaunchConfig(config, function)
		if err != nil {
			return err
		}
		p.Params, p.Extra = unsafe.Pointer(params), unsafe.Pointer(extra)
		return t.LaunchKernel(p, driver.Handle(config.hStream))
	})
}

//export cuOccupancyMaxActiveClusters
func cuOccupancyMaxActiveClusters(n *C.int, function C.CUfunction, config *C.CUlaunchConfig) C.CUresult {
	return storeThreadValue("cuOccupancyMaxActiveClusters", n, func(t *driver.Thread) (int, error) {
		p, err := convertLaunchConfig(config, function)
		if err != nil {
			return 0, err
		}
		return t.OccupancyMaxActiveClusters(p)
	})
}

//export cuOccupancyMaxPotentialClusterSize
func cuOccupancyMaxPotentialClusterSize(n *C.int, function C.CUfunction, config *C.CUlaunchConfig) C.CUresult {
	return storeThreadValue("cuOccupancyMaxPotentialClusterSize", n, func(t *driver.Thread) (int, error) {
		p, err := convertLaunchConfig(config, function)
		if err != nil {
			return 0, err
		}
		return t.OccupancyMaxPotentialClusterSize(p)
	})
}

//export cuFuncGetAttribute
func cuFuncGetAttribute(value *C.int, attribute C.int, function C.CUfunction) C.CUresult {
	return storeThreadValue("cuFuncGetAttribute", value, func(t *driver.Thread) (int, error) {
		return t.FuncGetAttribute(driver.FunctionAttribute(attribute), driver.Handle(function))
	})
}

//export cuFuncSetAttribute
func cuFuncSetAttribute(function C.CUfunction, attribute, value C.int) C.CUresult {
	return callThread("cuFuncSetAttribute", func(t *driver.Thread) error {
		return t.FuncSetAttribute(driver.FunctionAttribute(attribute), int(value), driver.Handle(function))
	})
}

// A kernel has the same attributes on all devices.

//export cuKernelGetAttribute
func cuKernelGetAttribute(value *C.int, attribute C.int, kernel C.CUkernel, dev C.CUdevice) C.CUresult {
	return storeThreadValue("cuKernelGetAttribute", value, func(t *driver.Thread) (int, error) {
		return t.FuncGetAttribute(driver.FunctionAttribute(attribute), driver.Handle(kernel))
	})
}

//export cuKernelSetAttribute
func cuKernelSetAttribute(attribute, value C.int, kernel C.CUkernel, dev C.CUdevice) C.CUresult {
	return callThread("cuKernelSetAttribute", func(t *driver.Thread) error {
		return t.FuncSetAttribute(driver.FunctionAttribute(attribute), int(value), driver.Handle(kernel))
	})
}

//export cuFuncSetCacheConfig
func cuFuncSetCacheConfig(function C.CUfunction, config C.int) C.CUresult {
	return callThread("cuFuncSetCacheConfig", func(t *driver.Thread) error { return t.FuncSetCacheConfig(driver.Handle(function), int(config)) })
}

//export cuKernelSetCacheConfig
func cuKernelSetCacheConfig(kernel C.CUkernel, config C.int, dev C.CUdevice) C.CUresult {
	return callThread("cuKernelSetCacheConfig", func(t *driver.Thread) error { return t.FuncSetCacheConfig(driver.Handle(kernel), int(config)) })
}

// Shared memory has no banks to configure.

//export cuFuncSetSharedMemConfig
func cuFuncSetSharedMemConfig(function C.CUfunction, config C.int) C.CUresult {
	return callThread("cuFuncSetSharedMemConfig", func(t *driver.Thread) error {
		if config < 0 || config > 2 {
			return driver.InvalidValue
		}
		_, err := t.FuncGetName(driver.Handle(function))
		return err
	})
}

//export cuFuncGetModule
func cuFuncGetModule(module *C.CUmodule, function C.CUfunction) C.CUresult {
	return storeThreadValue("cuFuncGetModule", module, func(t *driver.Thread) (driver.Handle, error) { return t.FuncGetModule(driver.Handle(function)) })
}

func storeFunctionName(call string, name **C.char, function driver.Handle) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		if name == nil {
			return driver.InvalidValue
		}
		s, err := t.FuncGetName(function)
		if err == nil {
			*name = cString(s)
		}
		return err
	})
}

//export cuFuncGetName
func cuFuncGetName(name **C.char, function C.CUfunction) C.CUresult {
	return storeFunctionName("cuFuncGetName", name, driver.Handle(function))
}

//export cuKernelGetName
func cuKernelGetName(name **C.char, kernel C.CUkernel) C.CUresult {
	return storeFunctionName("cuKernelGetName", name, driver.Handle(kernel))
}

func storeParamInfo(call string, function driver.Handle, i C.size_t, offset, size *C.size_t) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		index, n, err := t.FuncGetParamInfo(function, uint64(i))
		if err == nil {
			err = store(offset, index)
		}
		if err == nil && size != nil {
			*size = C.size_t(n)
		}
		return err
	})
}

//export cuFuncGetParamInfo
func cuFuncGetParamInfo(function C.CUfunction, i C.size_t, offset, size *C.size_t) C.CUresult {
	return storeParamInfo("cuFuncGetParamInfo", driver.Handle(function), i, offset, size)
}

//export cuKernelGetParamInfo
func cuKernelGetParamInfo(kernel C.CUkernel, i C.size_t, offset, size *C.size_t) C.CUresult {
	return storeParamInfo("cuKernelGetParamInfo", driver.Handle(kernel), i, offset, size)
}

//export cuFuncGetParamCount
func cuFuncGetParamCount(function C.CUfunction, n *C.size_t) C.CUresult {
	return storeThreadValue("cuFuncGetParamCount", n, func(t *driver.Thread) (int, error) { return t.FuncGetParamCount(driver.Handle(function)) })
}

//export cuKernelGetParamCount
func cuKernelGetParamCount(kernel C.CUkernel, n *C.size_t) C.CUresult {
	return storeThreadValue("cuKernelGetParamCount", n, func(t *driver.Thread) (int, error) { return t.FuncGetParamCount(driver.Handle(kernel)) })
}

// Functions are loaded with their module.

//export cuFuncLoad
func cuFuncLoad(function C.CUfunction) C.CUresult {
	return callThread("cuFuncLoad", func(t *driver.Thread) error {
		_, err := t.FuncGetName(driver.Handle(function))
		return err
	})
}

//export cuFuncIsLoaded
func cuFuncIsLoaded(state *C.int, function C.CUfunction) C.CUresult {
	return storeThreadValue("cuFuncIsLoaded", state, func(t *driver.Thread) (int, error) {
		_, err := t.FuncGetName(driver.Handle(function))
		return 1, err
	})
}

func storeMaxBlocks(call string, n *C.int, function C.CUfunction, threads C.int, dynamic C.size_t) C.CUresult {
	return storeThreadValue(call, n, func(t *driver.Thread) (int, error) {
		return t.OccupancyMaxActiveBlocks(driver.Handle(function), int(threads), uint64(dynamic))
	})
}

//export cuOccupancyMaxActiveBlocksPerMultiprocessor
func cuOccupancyMaxActiveBlocksPerMultiprocessor(n *C.int, function C.CUfunction, threads C.int, dynamic C.size_t) C.CUresult {
	return storeMaxBlocks("cuOccupancyMaxActiveBlocksPerMultiprocessor", n, function, threads, dynamic)
}

//export cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
func cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n *C.int, function C.CUfunction, threads C.int, dynamic C.size_t, flags C.uint) C.CUresult {
	return storeMaxBlocks("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", n, function, threads, dynamic)
}

func storeBlockSize(call string, grid, block *C.int, function C.CUfunction, f C.CUoccupancyB2DSize, dynamic C.size_t, limit C.int) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		shared := func(threads int) uint64 {
			if f == nil {
				return uint64(dynamic)
			}
			return uint64(C.gemu_call_occupancy(f, C.int(threads)))
		}
		g, b, err := t.OccupancyMaxPotentialBlockSize(driver.Handle(function), shared, int(limit))
		if err == nil {
			err = store(grid, g)
		}
		if err == nil {
			err = store(block, b)
		}
		return err
	})
}

//export cuOccupancyMaxPotentialBlockSize
func cuOccupancyMaxPotentialBlockSize(grid, block *C.int, function C.CUfunction, f C.CUoccupancyB2DSize, dynamic C.size_t, limit C.int) C.CUresult {
	return storeBlockSize("cuOccupancyMaxPotentialBlockSize", grid, block, function, f, dynamic, limit)
}

//export cuOccupancyMaxPotentialBlockSizeWithFlags
func cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block *C.int, function C.CUfunction, f C.CUoccupancyB2DSize, dynamic C.size_t, limit C.int, flags C.uint) C.CUresult {
	return storeBlockSize("cuOccupancyMaxPotentialBlockSizeWithFlags", grid, block, function, f, dynamic, limit)
}

//export cuOccupancyAvailableDynamicSMemPerBlock
func cuOccupancyAvailableDynamicSMemPerBlock(dynamic *C.size_t, function C.CUfunction, blocks, threads C.int) C.CUresult {
	return storeThreadValue("cuOccupancyAvailableDynamicSMemPerBlock", dynamic, func(t *driver.Thread) (uint64, error) {
		return t.OccupancyAvailableDynamicShared(driver.Handle(function), int(blocks), int(threads))
	})
}

//export cuFuncSetBlockShape
func cuFuncSetBlockShape(function C.CUfunction, x, y, z C.int) C.CUresult {
	return callThread("cuFuncSetBlockShape", func(t *driver.Thread) error {
		return t.FuncSetBlockShape(driver.Handle(function), ptx.Dim3{X: int(x), Y: int(y), Z: int(z)})
	})
}

//export cuFuncSetSharedSize
func cuFuncSetSharedSize(function C.CUfunction, size C.uint) C.CUresult {
	return callThread("cuFuncSetSharedSize", func(t *driver.Thread) error { return t.FuncSetSharedSize(driver.Handle(function), uint32(size)) })
}

//export cuParamSetSize
func cuParamSetSize(function C.CUfunction, size C.uint) C.CUresult {
	return callThread("cuParamSetSize", func(t *driver.Thread) error { return t.ParamSetSize(driver.Handle(function), uint32(size)) })
}

//export cuParamSetv
func cuParamSetv(function C.CUfunction, offset C.int, value unsafe.Pointer, size C.uint) C.CUresult {
	return callThread("cuParamSetv", func(t *driver.Thread) error {
		bytes, err := items((*byte)(value), size, maxItems)
		if err != nil {
			return err
		}
		return t.ParamSet(driver.Handle(function), int(offset), bytes)
	})
}

//export cuParamSetTexRef
func cuParamSetTexRef(function C.CUfunction, unit C.int, reference C.CUtexref) C.CUresult {
	return callThread("cuParamSetTexRef", func(t *driver.Thread) error {
		return t.ParamSetTexRef(driver.Handle(function), int(unit), driver.Handle(reference))
	})
}

//export cuLaunchGridAsync
func cuLaunchGridAsync(function C.CUfunction, width, height C.int, stream C.CUstream) C.CUresult {
	return callThread("cuLaunchGridAsync", func(t *driver.Thread) error {
		return t.LaunchGrid(driver.Handle(function), int(width), int(height), driver.Handle(stream))
	})
}
