package main

// This file describes failed calls with their place: gemu_get_error.

/*
#include <stdlib.h>
#include <string.h>
#define GEMU_TYPES_ONLY
#include "gemu.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
	"gemu/probe"
	"gemu/ptx"
)

// describe returns the complete description of an error: in several lines, without the name of its result.
func describe(err error) string {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Detail
	}
	return err.Error()
}

// ownedTexts holds the C copies of texts that stay valid until their owner gets others, or ends.
type ownedTexts struct {
	memory  arena
	cleanup runtime.Cleanup
}

// add returns a C copy of a text.
func (o *ownedTexts) add(s string) *C.char {
	p := C.CString(s)
	o.memory = append(o.memory, unsafe.Pointer(p))
	return p
}

// replace frees the texts of the client's last gemu_error, and makes o the texts of the next.
func (c *client) replace(o *ownedTexts) {
	if c.place != nil {
		c.place.cleanup.Stop()
		c.place.memory.free()
	}
	c.place = o
	o.cleanup = runtime.AddCleanup(c, func(a arena) { a.free() }, o.memory)
}

// errorBytes is the size of gemu_error in ABI version 1, the smallest that a caller can have. largestError is far above the
// size in any version: a larger one is not the size of a gemu_error.
const (
	errorBytes   = C.sizeof_gemu_error
	largestError = 1 << 12
)

// notStarted is a client with the error for which the driver cannot start. All threads share it.
var notStarted = sync.OnceValue(func() *client {
	c := new(client)
	_, err := process.Driver()
	c.failed(err)
	return c
})

// notStartedError describes the error of notStarted. Its texts are never freed.
var notStartedError = sync.OnceValue(func() C.gemu_error { return notStarted().lastError() })

//export gemu_get_error
func gemu_get_error(to *C.gemu_error) C.int {
	if to == nil || to.size < errorBytes || to.size > largestError {
		return C.int(driver.InvalidValue)
	}
	size := to.size
	C.memset(unsafe.Pointer(to), 0, size)
	if c, err := thisClient(); err != nil {
		*to = notStartedError()
	} else {
		*to = c.lastError()
	}
	to.size = size
	return 0
}

// lastError describes the last error of the client.
func (c *client) lastError() C.gemu_error {
	var o ownedTexts
	e := C.gemu_error{warp: -1}
	none := o.add("")
	for _, text := range []**C.char{&e.message, &e.reason, &e.fault, &e.file, &e.text, &e.source, &e.kernel, &e.function, &e.instruction} {
		*text = none
	}
	if c.err != nil {
		e.number, e.kind = C.uint32_t(driver.ResultOf(c.err)), C.uint32_t(kindOf(c.err))
		message := describe(c.err)
		first, _, _ := strings.Cut(message, "\n")
		e.message, e.reason = o.add(message), o.add(first)
		o.locate(&e, c.err)
	}
	c.replace(&o)
	return e
}

// kindOf returns the enum gemu_error_kind of an error.
func kindOf(err error) int {
	var trap *probe.Trap
	var unsupported *ptx.Unsupported
	switch r := driver.ResultOf(err); {
	case errors.Is(err, probe.ErrMismatch):
		return C.GEMU_ERROR_INTERNAL
	case errors.As(err, &trap):
		return C.GEMU_ERROR_FAULT
	case errors.As(err, &unsupported) || r == driver.NotSupported:
		return C.GEMU_ERROR_UNSUPPORTED
	case r == driver.InvalidPTX || r == driver.InvalidImage || r == driver.NoBinaryForGPU:
		return C.GEMU_ERROR_PTX
	}
	return C.GEMU_ERROR_CALL
}

// locate stores the place of an error, if it has one, and its reason without the place.
func (o *ownedTexts) locate(e *C.gemu_error, err error) {
	var trap *probe.Trap
	var unsupported *ptx.Unsupported
	var invalid ptx.ErrorList
	at := func(file string, pos ptx.Pos, line string) {
		e.file, e.line, e.column, e.text = o.add(file), C.uint32_t(pos.Line), C.uint32_t(pos.Col), o.add(line)
	}
	switch {
	case errors.As(err, &trap):
		at(trap.File, trap.Pos, trap.Line)
		e.reason, e.fault, e.source = o.add(trap.Msg), o.add(trap.Kind.Error()), o.add(trap.Source)
		e.kernel, e.function, e.instruction = o.add(trap.Kernel), o.add(trap.Func), o.add(trap.Instr)
		e.cta, e.thread = indices(trap.CTA), indices(trap.Thread)
		e.warp, e.lanes, e.active = C.int32_t(trap.Warp), C.uint64_t(trap.Lanes), C.uint64_t(trap.Active)
		if trap.Bytes > 0 {
			e.address, e.bytes = C.uint64_t(trap.Addr), C.uint32_t(trap.Bytes)
		}
	case errors.As(err, &unsupported):
		at(unsupported.File, unsupported.Pos, unsupported.Line)
		reason := unsupported.Feature + " is legal PTX that gemu does not run"
		if unsupported.Why != "" {
			reason += ": " + unsupported.Why
		}
		e.reason, e.kernel = o.add(reason), o.add(unsupported.Kernel)
	case errors.As(err, &invalid) && len(invalid) > 0:
		first := invalid[0]
		at(first.File, first.Pos, first.Line)
		reason := first.Msg
		if first.Hint != "" {
			reason += " (did you mean " + first.Hint + "?)"
		}
		e.reason, e.n_problems = o.add(reason), C.uint32_t(len(invalid))
	}
}

// indices converts the index of a block or thread.
func indices(d ptx.Dim3) [3]C.uint32_t {
	return [3]C.uint32_t{C.uint32_t(d.X), C.uint32_t(d.Y), C.uint32_t(d.Z)}
}
