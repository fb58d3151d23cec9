// Command libcuda is libcuda.so.1: the CUDA driver API, by package driver. Build it
// with
//
//	go build -buildmode=c-shared -o libcuda.so.1 ./cmd/libcuda
//
// Each file has the functions of a part of the API. They are thin: they turn C types
// into Go's and say which results go where. A function that the API has and this
// library does not is in zsymbols.c; that file is generated from the list of all names
// (see _gen). docs/libraries.md is for users.
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

// result is the result of a call that works on the driver as a whole.
func result(call string, f func(*driver.Driver) error) C.CUresult {
	d, err := process.Driver()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return C.CUresult(d.Trace(call, f(d)))
}

// do is a call of a thread.
func do(call string, f func(*driver.Thread) error) C.CUresult {
	t, err := process.Thread()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return result(call, func(*driver.Driver) error { return f(t.Thread) })
}

// number is any of C's and Go's numbers.
type number interface {
	constraints.Integer | constraints.Float
}

// store stores a result where the client wants it. A null pointer is an error.
func store[C, G number](to *C, value G) error {
	if to == nil {
		return driver.InvalidValue
	}
	*to = C(value)
	return nil
}

// get is a call of a thread with one result.
func get[C, G number](call string, to *C, f func(*driver.Thread) (G, error)) C_result {
	return do(call, func(t *driver.Thread) error {
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

// ask is a call of the driver with one result.
func ask[C, G number](call string, to *C, f func(*driver.Driver) (G, error)) C_result {
	return result(call, func(d *driver.Driver) error {
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

// C_result is C.CUresult where C is a type parameter.
type C_result = C.CUresult

// storeString copies text into a client's buffer of n bytes, cut to fit, with a zero.
func storeString(to *C.char, n C.int, text string) error {
	if to == nil || n < 1 {
		return driver.InvalidValue
	}
	buffer := unsafe.Slice((*byte)(unsafe.Pointer(to)), int(n))
	buffer[copy(buffer[:n-1], text)] = 0
	return nil
}

// maxItems is how many items an array of a client's may have: more than any call needs, and far fewer than memory has
// room for. What is said to be longer is an invalid value, and is not looked at.
const maxItems = 1 << 20

// items views an array of n items of a client's, which must be there and have at most as many as a call takes.
func items[T any, N constraints.Integer](p *T, n N, most uint64) ([]T, error) {
	switch {
	case n == 0:
		return nil, nil
	case p == nil || n < 0 || uint64(n) > most:
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

// gemu_unsupported is what a function of zsymbols.c does.
//
//export gemu_unsupported
func gemu_unsupported(name *C.char) C.int {
	d, err := process.Driver()
	if err != nil {
		return C.int(driver.ResultOf(err))
	}
	return C.int(d.Unsupported(C.GoString(name)))
}

// gemu_export_table is cuGetExportTable, called from a file.
//
//export gemu_export_table
func gemu_export_table(caller *C.char) C.CUresult {
	d, err := process.Driver()
	if err != nil {
		return C.CUresult(driver.ResultOf(err))
	}
	return C.CUresult(d.ExportTable(C.GoString(caller)))
}
