package main

// This file exports modules, libraries and the linker.

/*
#include "cuda_types.h"
*/
import "C"

import (
	"errors"
	"math"
	"sync"
	"time"
	"unsafe"

	"gemu/driver"
)

// jit holds the compilation options that have an effect here: the time and the logs.
type jit struct {
	wallTime     *unsafe.Pointer // the client's option value
	info, errors jitLog
	begun        time.Time
}

// jitLog is a buffer of the client for messages.
type jitLog struct {
	buffer unsafe.Pointer
	size   *unsafe.Pointer // the client's option value: before the call the size of the buffer, then the length of the text
	room   uint32          // size of the buffer in bytes
}

// Numbers of CUjit_option.
const (
	jitWallTime     = 2
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	maxJITOptions   = 64 // CUDA has fewer options
)

func newJIT(n C.uint, options *C.int, values *unsafe.Pointer) (*jit, error) {
	j := &jit{begun: time.Now()}
	if n == 0 {
		return j, nil
	}
	if options == nil || values == nil || n > maxJITOptions {
		return nil, driver.InvalidValue
	}
	slots := unsafe.Slice(values, int(n))
	for i, o := range unsafe.Slice(options, int(n)) {
		switch o {
		case jitWallTime:
			j.wallTime = &slots[i]
		case jitInfoLog:
			j.info.buffer = slots[i]
		case jitInfoLogSize:
			j.info.setSize(&slots[i])
		case jitErrorLog:
			j.errors.buffer = slots[i]
		case jitErrorLogSize:
			j.errors.setSize(&slots[i])
		}
	}
	return j, nil
}

// newLibraryJIT is newJIT for a library. The library's own options have no effect here.
func newLibraryJIT(n C.uint, options *C.int, values *unsafe.Pointer, libraryN C.uint, libraryOptions *C.int, libraryValues *unsafe.Pointer) (*jit, error) {
	if libraryN > 0 && libraryOptions == nil || libraryN > maxJITOptions {
		return nil, driver.InvalidValue
	}
	return newJIT(n, options, values)
}

// setSlot stores a number in an option value, which has a pointer type in C.
func setSlot(slot *unsafe.Pointer, bits uint64) {
	if slot != nil {
		*(*uint64)(unsafe.Pointer(slot)) = bits
	}
}

func (l *jitLog) setSize(slot *unsafe.Pointer) {
	l.size, l.room = slot, *(*uint32)(unsafe.Pointer(slot)) // C passes a number as a pointer
}

// fill fills the log and stores its length.
func (l *jitLog) fill(text string) {
	if l.buffer == nil || l.room == 0 {
		return
	}
	to := unsafe.Slice((*byte)(l.buffer), l.room)
	n := copy(to[:l.room-1], text)
	to[n] = 0
	setSlot(l.size, uint64(n))
}

// finish fills the logs and returns err.
func (j *jit) finish(err error) error {
	setSlot(j.wallTime, uint64(math.Float32bits(float32(time.Since(j.begun).Seconds()*1e3))))
	text := ""
	var e *driver.Error
	switch {
	case errors.As(err, &e):
		text = e.Detail
	case err != nil:
		text = err.Error()
	}
	j.errors.fill(text)
	j.info.fill("")
	return err
}

//export cuModuleLoad
func cuModuleLoad(module *C.CUmodule, file *C.char) C.CUresult {
	return storeThreadValue("cuModuleLoad", module, func(t *driver.Thread) (driver.Handle, error) { return t.ModuleLoad(C.GoString(file)) })
}

//export cuModuleLoadData
func cuModuleLoadData(module *C.CUmodule, image unsafe.Pointer) C.CUresult {
	return storeThreadValue("cuModuleLoadData", module, func(t *driver.Thread) (driver.Handle, error) { return t.ModuleLoadData(image, 0) })
}

//export cuModuleLoadFatBinary
func cuModuleLoadFatBinary(module *C.CUmodule, image unsafe.Pointer) C.CUresult {
	return storeThreadValue("cuModuleLoadFatBinary", module, func(t *driver.Thread) (driver.Handle, error) { return t.ModuleLoadData(image, 0) })
}

//export cuModuleLoadDataEx
func cuModuleLoadDataEx(module *C.CUmodule, image unsafe.Pointer, n C.uint, options *C.int, values *unsafe.Pointer) C.CUresult {
	return storeThreadValue("cuModuleLoadDataEx", module, func(t *driver.Thread) (driver.Handle, error) {
		j, err := newJIT(n, options, values)
		if err != nil {
			return 0, err
		}
		h, err := t.ModuleLoadData(image, 0)
		return h, j.finish(err)
	})
}

//export cuModuleUnload
func cuModuleUnload(module C.CUmodule) C.CUresult {
	return callThread("cuModuleUnload", func(t *driver.Thread) error { return t.ModuleUnload(driver.Handle(module)) })
}

// Modules are loaded at the call.

//export cuModuleGetLoadingMode
func cuModuleGetLoadingMode(mode *C.int) C.CUresult {
	return storeDriverValue("cuModuleGetLoadingMode", mode, func(*driver.Driver) (int, error) { return 1, nil })
}

//export cuModuleGetFunction
func cuModuleGetFunction(function *C.CUfunction, module C.CUmodule, name *C.char) C.CUresult {
	return storeThreadValue("cuModuleGetFunction", function, func(t *driver.Thread) (driver.Handle, error) {
		return t.ModuleGetFunction(driver.Handle(module), C.GoString(name))
	})
}

//export cuModuleGetFunctionCount
func cuModuleGetFunctionCount(n *C.uint, module C.CUmodule) C.CUresult {
	return storeThreadValue("cuModuleGetFunctionCount", n, func(t *driver.Thread) (int, error) { return t.ModuleGetFunctionCount(driver.Handle(module)) })
}

//export cuModuleEnumerateFunctions
func cuModuleEnumerateFunctions(functions *C.CUfunction, n C.uint, module C.CUmodule) C.CUresult {
	return callThread("cuModuleEnumerateFunctions", func(t *driver.Thread) error {
		list, err := t.ModuleEnumerateFunctions(driver.Handle(module))
		copy(handles((*C.uint64_t)(functions), C.size_t(n)), list)
		return err
	})
}

// storeVariable stores the address and size of a variable, unless there is an error; either pointer may be null.
func storeVariable(addr *C.CUdeviceptr, size *C.size_t, a, n uint64, err error) error {
	if err == nil && addr != nil {
		*addr = C.CUdeviceptr(a)
	}
	if err == nil && size != nil {
		*size = C.size_t(n)
	}
	return err
}

//export cuModuleGetGlobal_v2
func cuModuleGetGlobal_v2(addr *C.CUdeviceptr, size *C.size_t, module C.CUmodule, name *C.char) C.CUresult {
	return callThread("cuModuleGetGlobal_v2", func(t *driver.Thread) error {
		a, n, err := t.ModuleGetGlobal(driver.Handle(module), C.GoString(name))
		return storeVariable(addr, size, a, n, err)
	})
}

//export cuLibraryLoadData
func cuLibraryLoadData(library *C.CUlibrary, image unsafe.Pointer, options *C.int, values *unsafe.Pointer, n C.uint, libraryOptions *C.int, libraryValues *unsafe.Pointer, libraryN C.uint) C.CUresult {
	return storeThreadValue("cuLibraryLoadData", library, func(t *driver.Thread) (driver.Handle, error) {
		j, err := newLibraryJIT(n, options, values, libraryN, libraryOptions, libraryValues)
		if err != nil {
			return 0, err
		}
		h, err := t.LibraryLoadData(image)
		return h, j.finish(err)
	})
}

//export cuLibraryLoadFromFile
func cuLibraryLoadFromFile(library *C.CUlibrary, file *C.char, options *C.int, values *unsafe.Pointer, n C.uint, libraryOptions *C.int, libraryValues *unsafe.Pointer, libraryN C.uint) C.CUresult {
	return storeThreadValue("cuLibraryLoadFromFile", library, func(t *driver.Thread) (driver.Handle, error) {
		j, err := newLibraryJIT(n, options, values, libraryN, libraryOptions, libraryValues)
		if err != nil {
			return 0, err
		}
		h, err := t.LibraryLoadFromFile(C.GoString(file))
		return h, j.finish(err)
	})
}

//export cuLibraryUnload
func cuLibraryUnload(library C.CUlibrary) C.CUresult {
	return callThread("cuLibraryUnload", func(t *driver.Thread) error { return t.LibraryUnload(driver.Handle(library)) })
}

//export cuLibraryGetKernel
func cuLibraryGetKernel(kernel *C.CUkernel, library C.CUlibrary, name *C.char) C.CUresult {
	return storeThreadValue("cuLibraryGetKernel", kernel, func(t *driver.Thread) (driver.Handle, error) {
		return t.LibraryGetKernel(driver.Handle(library), C.GoString(name))
	})
}

//export cuLibraryGetKernelCount
func cuLibraryGetKernelCount(n *C.uint, library C.CUlibrary) C.CUresult {
	return storeThreadValue("cuLibraryGetKernelCount", n, func(t *driver.Thread) (int, error) {
		list, err := t.LibraryEnumerateKernels(driver.Handle(library))
		return len(list), err
	})
}

//export cuLibraryEnumerateKernels
func cuLibraryEnumerateKernels(kernels *C.CUkernel, n C.uint, library C.CUlibrary) C.CUresult {
	return callThread("cuLibraryEnumerateKernels", func(t *driver.Thread) error {
		list, err := t.LibraryEnumerateKernels(driver.Handle(library))
		copy(handles((*C.uint64_t)(kernels), C.size_t(n)), list)
		return err
	})
}

//export cuLibraryGetModule
func cuLibraryGetModule(module *C.CUmodule, library C.CUlibrary) C.CUresult {
	return storeThreadValue("cuLibraryGetModule", module, func(t *driver.Thread) (driver.Handle, error) { return t.LibraryGetModule(driver.Handle(library)) })
}

//export cuLibraryGetGlobal
func cuLibraryGetGlobal(addr *C.CUdeviceptr, size *C.size_t, library C.CUlibrary, name *C.char) C.CUresult {
	return callThread("cuLibraryGetGlobal", func(t *driver.Thread) error {
		a, n, err := t.LibraryGetGlobal(driver.Handle(library), C.GoString(name))
		return storeVariable(addr, size, a, n, err)
	})
}

//export cuKernelGetFunction
func cuKernelGetFunction(function *C.CUfunction, kernel C.CUkernel) C.CUresult {
	return storeThreadValue("cuKernelGetFunction", function, func(t *driver.Thread) (driver.Handle, error) { return t.KernelGetFunction(driver.Handle(kernel)) })
}

//export cuKernelGetLibrary
func cuKernelGetLibrary(library *C.CUlibrary, kernel C.CUkernel) C.CUresult {
	return storeThreadValue("cuKernelGetLibrary", library, func(t *driver.Thread) (driver.Handle, error) { return t.KernelGetLibrary(driver.Handle(kernel)) })
}

// links holds the options of linkers by handle. Each call on a linker fills its logs.
var links sync.Map

// callLinker implements calls on a linker: it fills the linker's logs after the call.
func callLinker(call string, link C.CUlinkState, f func(*driver.Thread) error) C.CUresult {
	return callThread(call, func(t *driver.Thread) error {
		err := f(t)
		if j, ok := links.Load(link); ok {
			return j.(*jit).finish(err)
		}
		return err
	})
}

//export cuLinkCreate_v2
func cuLinkCreate_v2(n C.uint, options *C.int, values *unsafe.Pointer, link *C.CUlinkState) C.CUresult {
	return storeThreadValue("cuLinkCreate_v2", link, func(t *driver.Thread) (driver.Handle, error) {
		j, err := newJIT(n, options, values)
		if err != nil {
			return 0, err
		}
		h, err := t.LinkCreate()
		if err == nil {
			links.Store(C.CUlinkState(h), j)
		}
		return h, err
	})
}

//export cuLinkAddData_v2
func cuLinkAddData_v2(link C.CUlinkState, kind C.int, data unsafe.Pointer, size C.size_t, name *C.char, n C.uint, options *C.int, values *unsafe.Pointer) C.CUresult {
	return callLinker("cuLinkAddData_v2", link, func(t *driver.Thread) error {
		if _, err := newJIT(n, options, values); err != nil {
			return err
		}
		return t.LinkAddData(driver.Handle(link), driver.LinkInput(kind), data, uint64(size), C.GoString(name))
	})
}

//export cuLinkAddFile_v2
func cuLinkAddFile_v2(link C.CUlinkState, kind C.int, file *C.char, n C.uint, options *C.int, values *unsafe.Pointer) C.CUresult {
	return callLinker("cuLinkAddFile_v2", link, func(t *driver.Thread) error {
		if _, err := newJIT(n, options, values); err != nil {
			return err
		}
		return t.LinkAddFile(driver.Handle(link), driver.LinkInput(kind), C.GoString(file))
	})
}

//export cuLinkComplete
func cuLinkComplete(link C.CUlinkState, image *unsafe.Pointer, size *C.size_t) C.CUresult {
	return callLinker("cuLinkComplete", link, func(t *driver.Thread) error {
		if image == nil {
			return driver.InvalidValue
		}
		b, err := t.LinkComplete(driver.Handle(link))
		if err != nil {
			return err
		}
		*image = unsafe.Pointer(unsafe.SliceData(b))
		if size != nil {
			*size = C.size_t(len(b))
		}
		return nil
	})
}

//export cuLinkDestroy
func cuLinkDestroy(link C.CUlinkState) C.CUresult {
	links.Delete(link)
	return callThread("cuLinkDestroy", func(t *driver.Thread) error { return t.LinkDestroy(driver.Handle(link)) })
}
