package main

// This file exports memory, events and pools that processes share by handles.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"gemu/driver"
)

//export cuIpcGetMemHandle
func cuIpcGetMemHandle(handle *C.CUipcMemHandle, addr C.CUdeviceptr) C.CUresult {
	return callThread("cuIpcGetMemHandle", func(t *driver.Thread) error {
		if handle == nil {
			return driver.InvalidValue
		}
		h, err := t.IPCGetMemHandle(uint64(addr))
		if err == nil {
			*(*driver.IPCHandle)(unsafe.Pointer(handle)) = h
		}
		return err
	})
}

//export cuIpcOpenMemHandle_v2
func cuIpcOpenMemHandle_v2(addr *C.CUdeviceptr, handle C.CUipcMemHandle, flags C.uint) C.CUresult {
	return storeThreadValue("cuIpcOpenMemHandle_v2", addr, func(t *driver.Thread) (uint64, error) {
		return t.IPCOpenMemHandle(*(*driver.IPCHandle)(unsafe.Pointer(&handle)), uint32(flags))
	})
}

//export cuIpcCloseMemHandle
func cuIpcCloseMemHandle(addr C.CUdeviceptr) C.CUresult {
	return callThread("cuIpcCloseMemHandle", func(t *driver.Thread) error { return t.IPCCloseMemHandle(uint64(addr)) })
}

//export cuIpcGetEventHandle
func cuIpcGetEventHandle(handle *C.CUipcEventHandle, event C.CUevent) C.CUresult {
	return callThread("cuIpcGetEventHandle", func(t *driver.Thread) error {
		if handle == nil {
			return driver.InvalidValue
		}
		h, err := t.IPCGetEventHandle(driver.Handle(event))
		if err == nil {
			*(*driver.IPCHandle)(unsafe.Pointer(handle)) = h
		}
		return err
	})
}

//export cuIpcOpenEventHandle
func cuIpcOpenEventHandle(event *C.CUevent, handle C.CUipcEventHandle) C.CUresult {
	return storeThreadValue("cuIpcOpenEventHandle", event, func(t *driver.Thread) (driver.Handle, error) {
		return t.IPCOpenEventHandle(*(*driver.IPCHandle)(unsafe.Pointer(&handle)))
	})
}

// The shareable handle of a pool is a file descriptor, as for memory. The export stores it as an int, and the import
// receives it as a pointer.

//export cuMemPoolExportToShareableHandle
func cuMemPoolExportToShareableHandle(to unsafe.Pointer, pool C.CUmemoryPool, kind C.int, flags C.ulonglong) C.CUresult {
	return storeDriverValue("cuMemPoolExportToShareableHandle", (*C.int)(to), func(d *driver.Driver) (int, error) {
		return d.MemPoolExport(driver.Handle(pool), driver.HandleTypes(kind), uint64(flags))
	})
}

//export cuMemPoolImportFromShareableHandle
func cuMemPoolImportFromShareableHandle(pool *C.CUmemoryPool, fd C.uintptr_t, kind C.int, flags C.ulonglong) C.CUresult {
	return storeThreadValue("cuMemPoolImportFromShareableHandle", pool, func(t *driver.Thread) (driver.Handle, error) {
		return t.MemPoolImport(int(int32(fd)), driver.HandleTypes(kind), uint64(flags))
	})
}

//export cuMemPoolExportPointer
func cuMemPoolExportPointer(data *C.CUmemPoolPtrExportData, addr C.CUdeviceptr) C.CUresult {
	return callDriver("cuMemPoolExportPointer", func(d *driver.Driver) error {
		if data == nil {
			return driver.InvalidValue
		}
		p, err := d.MemPoolExportPointer(uint64(addr))
		if err == nil {
			*(*driver.PoolPointer)(unsafe.Pointer(data)) = p
		}
		return err
	})
}

//export cuMemPoolImportPointer
func cuMemPoolImportPointer(addr *C.CUdeviceptr, pool C.CUmemoryPool, data *C.CUmemPoolPtrExportData) C.CUresult {
	return storeThreadValue("cuMemPoolImportPointer", addr, func(t *driver.Thread) (uint64, error) {
		if data == nil {
			return 0, driver.InvalidValue
		}
		return t.MemPoolImportPointer(driver.Handle(pool), *(*driver.PoolPointer)(unsafe.Pointer(data)))
	})
}
