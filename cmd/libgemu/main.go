package main

/*
#include <stdlib.h>
#include <string.h>
#define GEMU_TYPES_ONLY
#include "gemu.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
	"gemu/interp"
	"gemu/ptx"
)

func main() {}

func init() { process.SuppressErrors = true }

// messageSize is the size of the buffer for the last error of a thread, in bytes.
const messageSize = 1 << 14

// client is the state of a C thread.
type client struct {
	*driver.Thread
	entered bool        // the device's context is current in the thread
	message *C.char     // description of the last error; nil before the first
	err     error       // the last error; nil before the first
	place   *ownedTexts // texts of the last gemu_error; nil before the first
}

func thisClient() (*client, error) {
	t, err := process.Thread()
	if err != nil {
		return nil, err
	}
	if t.Local == nil {
		t.Local = &client{Thread: t.Thread}
	}
	return t.Local.(*client), nil
}

// failed keeps the description of an error for gemu_last_error, and returns the number of the error, 0 for nil.
func (c *client) failed(err error) C.int {
	if err == nil {
		return 0
	}
	c.err = err
	text := describe(err)
	if c.message == nil {
		c.message = (*C.char)(C.malloc(messageSize))
		runtime.AddCleanup(c, func(p *C.char) { C.free(unsafe.Pointer(p)) }, c.message)
	}
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(c.message)), messageSize)
	buffer[copy(buffer[:messageSize-1], text)] = 0
	return C.int(driver.ResultOf(err))
}

// enter makes the device's context current in the thread.
func (c *client) enter() error {
	if c.entered {
		return nil
	}
	d, err := process.Driver()
	if err == nil {
		err = d.Init(0)
	}
	if err != nil {
		return err
	}
	ctx, err := d.PrimaryCtxRetain(0)
	if err == nil {
		err = c.CtxSetCurrent(ctx)
	}
	c.entered = err == nil
	return err
}

// call implements the functions of gemu.h that use the device: it runs f in the device's context. The device is busy in
// an observer, and between gemu_start and gemu_stop.
func call(f func(*client) error) C.int {
	c, err := thisClient()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	if observing() {
		err = &driver.Error{Result: driver.NotPermitted, Detail: "the call of an observer, during a launch"}
	} else if activeStepper.Load() != nil {
		err = &driver.Error{Result: driver.NotPermitted, Detail: "a launch by gemu_start is in progress: end it with gemu_stop"}
	} else if err = c.enter(); err == nil {
		err = f(c)
	}
	return c.failed(err)
}

// maxArguments is the maximum number of arguments of a kernel: each has at least a byte of parameters (PTX ISA,
// "Kernel Function Parameters").
const maxArguments = 32764

//export ptx_run
func ptx_run(source *C.char, n C.int, args *unsafe.Pointer, bx, by, bz, gx, gy, gz, shared C.int) C.int {
	c, err := thisClient()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	if source == nil || n < 0 || n > maxArguments || n > 0 && args == nil {
		err = &driver.Error{Result: driver.InvalidValue, Detail: "ptx_run without a module, or without its arguments"}
	} else {
		d, _ := process.Driver()
		err = d.RunHost(&driver.HostLaunch{
			PTX:   C.GoBytes(unsafe.Pointer(source), C.int(C.strlen(source))),
			Args:  unsafe.Slice((*uint64)(unsafe.Pointer(args)), int(n)),
			Block: ptx.Dim3{X: int(bx), Y: int(by), Z: int(bz)}, Grid: ptx.Dim3{X: int(gx), Y: int(gy), Z: int(gz)},
			Shared: int(shared),
		})
	}
	if err != nil {
		fmt.Fprintf(process.Messages, "gemu: ptx_run: %v\n", err)
	}
	return c.failed(err)
}

// last_error implements gemu_last_error. A child of fork does not call it.
//
//export last_error
func last_error(to **C.char) C.int {
	c, err := thisClient()
	if err != nil {
		c = notStarted()
	}
	if *to = c.message; c.message == nil {
		*to = noMessage
	}
	return 0
}

var noMessage = C.CString("")

//export gemu_load
func gemu_load(ptx unsafe.Pointer, size C.size_t, module *C.gemu_module) C.int {
	return call(func(c *client) error {
		h, err := c.ModuleLoadData(ptx, uint64(size))
		return store(module, C.gemu_module(h), err)
	})
}

// store stores a result at the caller's address, unless there is an error.
func store[T any](to *T, value T, err error) error {
	switch {
	case err != nil:
		return err
	case to == nil:
		return errNull
	}
	*to = value
	return nil
}

//export gemu_unload
func gemu_unload(module C.gemu_module) C.int {
	return call(func(c *client) error { return c.ModuleUnload(driver.Handle(module)) })
}

//export gemu_get_kernel
func gemu_get_kernel(module C.gemu_module, name *C.char, kernel *C.gemu_kernel) C.int {
	return call(func(c *client) error {
		if name == nil {
			list, err := c.ModuleEnumerateFunctions(driver.Handle(module))
			if err == nil && len(list) == 0 {
				err = &driver.Error{Result: driver.NotFound, Detail: "the module has no kernel"}
			}
			if err != nil {
				return err
			}
			return store(kernel, C.gemu_kernel(list[0]), nil)
		}
		h, err := c.ModuleGetFunction(driver.Handle(module), C.GoString(name))
		return store(kernel, C.gemu_kernel(h), err)
	})
}

//export gemu_get_variable
func gemu_get_variable(module C.gemu_module, name *C.char, address *C.gemu_address, size *C.size_t) C.int {
	return call(func(c *client) error {
		a, n, err := c.ModuleGetGlobal(driver.Handle(module), C.GoString(name))
		if err == nil && size != nil {
			*size = C.size_t(n)
		}
		return store(address, C.gemu_address(a), err)
	})
}

//export gemu_alloc
func gemu_alloc(size C.size_t, address *C.gemu_address) C.int {
	return call(func(c *client) error {
		a, err := c.MemAlloc(uint64(size))
		return store(address, C.gemu_address(a), err)
	})
}

//export gemu_free
func gemu_free(address C.gemu_address) C.int {
	return call(func(c *client) error { return c.MemFree(uint64(address)) })
}

func devicePlace(a C.gemu_address) driver.Place {
	return driver.Place{Kind: driver.DevicePlace, Device: uint64(a)}
}

func hostPlace(p unsafe.Pointer) driver.Place { return driver.Place{Kind: driver.HostPlace, Host: p} }

//export gemu_copy_in
func gemu_copy_in(to C.gemu_address, from unsafe.Pointer, size C.size_t) C.int {
	return call(func(c *client) error { return c.Memcpy(devicePlace(to), hostPlace(from), uint64(size), 0, false) })
}

//export gemu_copy_out
func gemu_copy_out(to unsafe.Pointer, from C.gemu_address, size C.size_t) C.int {
	return call(func(c *client) error { return c.Memcpy(hostPlace(to), devicePlace(from), uint64(size), 0, false) })
}

// extent converts an extent; 0 counts as 1.
func extent(e *[3]C.uint32_t) ptx.Dim3 {
	return ptx.Dim3{X: max(int(e[0]), 1), Y: max(int(e[1]), 1), Z: max(int(e[2]), 1)}
}

//export gemu_launch
func gemu_launch(p *C.gemu_launch_params, counts *C.gemu_counts) C.int {
	return gemu_launch_with(p, nil, counts, nil)
}

// launchParams converts the parameters of a launch, without its observer.
func launchParams(p *C.gemu_launch_params) driver.LaunchParams {
	return driver.LaunchParams{
		Func: driver.Handle(p.kernel), Grid: extent(&p.grid), Block: extent(&p.block), Shared: uint32(p.shared_bytes),
		Params: unsafe.Pointer(p.args), LargestShared: true,
	}
}

// countsOf converts the counts of a launch.
func countsOf(r *interp.Result) C.gemu_counts {
	return C.gemu_counts{
		seconds: C.double(r.Duration.Seconds()), thread_instructions: C.int64_t(r.ThreadInstructions),
		warp_instructions: C.int64_t(r.WarpInstructions), lane_slots: C.int64_t(r.LaneSlots),
		branches: C.int64_t(r.Branches), divergent_branches: C.int64_t(r.DivergentBranches),
	}
}

//export gemu_descriptors
func gemu_descriptors(text *C.char) C.int {
	return call(func(*client) error {
		d, err := process.Driver()
		if err != nil {
			return err
		}
		json := ""
		if text != nil {
			json = C.GoString(text)
		}
		return d.SetDescriptors(json)
	})
}

// statistics implements gemu_statistics. A child of fork does not call it.
//
//export statistics
func statistics(to **C.char) C.int {
	*to = C.CString("{}")
	d, err := process.Driver()
	if err != nil {
		return 0
	}
	C.free(unsafe.Pointer(*to))
	storeJSON(to, d.Statistics())
	return 0
}
