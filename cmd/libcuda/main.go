package main

//go:generate go run ./_gen

/*
#cgo LDFLAGS: -ldl
#include "cuda_types.h"
*/
import "C"

import (
	"unsafe"

	"golang.org/x/exp/constraints"

	"gemu/cmd/internal/process"
	"gemu/driver"
)

func main() {}

// callDriver implements calls that need no state of the calling thread: it returns the result of f, and traces the call.
func callDriver(call string, f func(*driver.Driver) error) C.CUresult {
	d, err := process.Driver()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return C.CUresult(d.Trace(call, f(d)))
}

// callThread implements calls that need the state of the calling thread, such as its current context.
func callThread(call string, f func(*driver.Thread) error) C.CUresult {
	t, err := process.Thread()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return callDriver(call, func(*driver.Driver) error { return f(t.Thread) })
}

// number is satisfied by the number types of C and Go.
type number interface {
	constraints.Integer | constraints.Float
}

// store stores a result at a client's address. A null pointer is an error.
func store[C, G number](to *C, value G) error {
	if to == nil {
		return driver.InvalidValue
	}
	*to = C(value)
	return nil
}

// storeThreadValue is callThread for a function with a value, which it stores at to.
func storeThreadValue[C, G number](call string, to *C, f func(*driver.Thread) (G, error)) C_result {
	return callThread(call, func(t *driver.Thread) error {
		if to == nil {
			return driver.InvalidValue
		}
		v, err := f(t)
		if err != nil {
			return err
		}
		return store(to, v)
	})
}

// storeDriverValue is callDriver for a function with a value, which it stores at to.
func storeDriverValue[C, G number](call string, to *C, f func(*driver.Driver) (G, error)) C_result {
	return callDriver(call, func(d *driver.Driver) error {
		if to == nil {
			return driver.InvalidValue
		}
		v, err := f(d)
		if err != nil {
			return err
		}
		return store(to, v)
	})
}

// C_result is C.CUresult, which cannot be named where C is a type parameter.
type C_result = C.CUresult

// storeString copies text to a client's buffer of n bytes, truncated if necessary, with a terminating zero.
func storeString(to *C.char, n C.int, text string) error {
	if to == nil || n < 1 {
		return driver.InvalidValue
	}
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(to)), int(n))
	buffer[copy(buffer[:n-1], text)] = 0
	return nil
}

// maxItems is the maximum length of a client's array. No correct call needs more items. A longer array is an invalid
// value and is not read.
const maxItems = 1 << 20

// items views a client's array of n items. A null pointer to items, and more than limit items, are invalid values.
func items[T any, N constraints.Integer](p *T, n N, limit uint64) ([]T, error) {
	switch {
	case n == 0:
		return nil, nil
	case p == nil || n < 0 || uint64(n) > limit:
		return nil, driver.InvalidValue
	}
	return unsafe.Slice(p, int(n)), nil
}

// handles views an array of handles.
func handles(p *C.uint64_t, n C.size_t) []driver.Handle {
	if n == 0 || p == nil {
		return nil
	}
	return unsafe.Slice((*driver.Handle)(unsafe.Pointer(p)), int(n))
}

func boolValue(b bool, err error) (int, error) {
	if b {
		return 1, err
	}
	return 0, err
}

// gemu_unsupported returns the result of a function that the library does not have, and traces the call. The functions
// of zsymbols.c call it.
//
//export gemu_unsupported
func gemu_unsupported(name *C.char) C.int {
	d, err := process.Driver()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	return C.int(d.Unsupported(C.GoString(name)))
}

// gemu_export_table implements cuGetExportTable; caller is the path of the program or library that calls it.
//
//export gemu_export_table
func gemu_export_table(caller *C.char) C.CUresult {
	d, err := process.Driver()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return C.CUresult(d.ExportTable(C.GoString(caller)))
}
