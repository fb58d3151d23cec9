package main

// This file implements modules with names, CUDA C++, descriptions of modules, shared memory of the host, and interrupts.

/*
#define GEMU_TYPES_ONLY
#include "gemu.h"

enum { keep_branches = 1, read_only = 1 };
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"unsafe"

	"gemu/cmd/internal/process"
	"gemu/driver"
	"gemu/internal/compile"
)

// maxName is the maximum length in bytes of a name that a caller gives to a module or to memory.
const maxName = 4096

// nameOf returns the name that a caller gives; NULL is "".
func nameOf(name *C.char) (string, error) {
	if name == nil {
		return "", nil
	}
	s := C.GoString(name)
	if len(s) > maxName {
		return "", &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("a name of %d bytes: at most %d are allowed", len(s), maxName)}
	}
	return s, nil
}

//export gemu_load_named
func gemu_load_named(name *C.char, ptx unsafe.Pointer, size C.size_t, module *C.gemu_module) C.int {
	return call(func(c *client) error {
		s, err := nameOf(name)
		if err != nil {
			return err
		}
		h, err := c.ModuleLoadNamed(s, ptx, uint64(size))
		return store(module, C.gemu_module(h), err)
	})
}

// storeText stores a C copy of a text, which the caller of the library frees.
func storeText(to **C.char, text string) {
	if to != nil {
		*to = C.CString(text)
	}
}

// storeJSON stores the document of a value.
func storeJSON(to **C.char, value any) {
	b, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	storeText(to, string(b)+"\n")
}

//export gemu_describe
func gemu_describe(module C.gemu_module, text **C.char) C.int {
	if text != nil {
		*text = nil
	}
	return call(func(c *client) error {
		if text == nil {
			return errNull
		}
		d, err := c.ModuleDescribe(driver.Handle(module))
		if err == nil {
			storeJSON(text, d)
		}
		return err
	})
}

//export gemu_compile
func gemu_compile(file *C.char, arguments **C.char, flags C.uint32_t, text, messages **C.char) C.int {
	for _, to := range []**C.char{text, messages} {
		if to != nil {
			*to = nil
		}
	}
	return callAnytime(func() error {
		if file == nil || text == nil {
			return errNull
		}
		if flags&^C.keep_branches != 0 {
			return &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("flags %#x of gemu_compile: want 0 or GEMU_KEEP_BRANCHES (1)", flags)}
		}
		var further []string
		for p := arguments; p != nil && *p != nil; p = (**C.char)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) {
			further = append(further, C.GoString(*p))
		}
		ptx, output, err := compile.File(context.Background(), C.GoString(file), flags&C.keep_branches != 0, further...)
		storeText(messages, output)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &driver.Error{Result: driver.FileNotFound, Detail: err.Error()}
		case err != nil && output != "":
			return &driver.Error{Result: driver.InvalidSource, Detail: err.Error() + "\n" + output}
		case err != nil:
			return &driver.Error{Result: driver.InvalidSource, Detail: err.Error()}
		}
		storeText(text, ptx)
		return nil
	})
}

//export gemu_share
func gemu_share(host unsafe.Pointer, size C.size_t, flags C.uint32_t, name *C.char, address *C.gemu_address) C.int {
	return call(func(c *client) error {
		s, err := nameOf(name)
		if err != nil {
			return err
		}
		switch {
		case address == nil:
			return errNull
		case flags&^C.read_only != 0:
			return &driver.Error{Result: driver.InvalidValue, Detail: fmt.Sprintf("flags %#x of gemu_share: want 0 or GEMU_READ_ONLY (1)", flags)}
		}
		a, err := c.MemShare(host, uint64(size), flags&C.read_only != 0, s)
		return store(address, C.gemu_address(a), err)
	})
}

//export gemu_interrupt
func gemu_interrupt(id C.uint64_t) C.int {
	return callAnytime(func() error {
		d, err := process.Driver()
		if err != nil {
			return err
		}
		return d.Interrupt(uint64(id))
	})
}
