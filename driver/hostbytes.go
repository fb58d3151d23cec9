package driver

// This file accesses memory of the client by address.

import (
	"unsafe"

	"gemu/internal/hostfault"
)

// address returns the address of a host pointer.
func address(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }

// pointer returns the host pointer with an address. It must not be the address of a Go object.
func pointer(addr uint64) unsafe.Pointer {
	p := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// noMemoryBelow is the lowest address of host memory. Go treats faults below it as nil dereferences.
const noMemoryBelow = 4096

// noMemory is the panic value of an access below noMemoryBelow; see safely.
type noMemory uintptr

// Addr returns the address of the access.
func (a noMemory) Addr() uintptr { return uintptr(a) }

// hostBytes returns n bytes of host memory at p. It must be called within safely, or with a valid address.
func hostBytes(p unsafe.Pointer, n uint64) []byte {
	if addr := address(p); addr < noMemoryBelow {
		panic(noMemory(addr))
	}
	return unsafe.Slice((*byte)(p), n)
}

// safely runs f, which accesses memory of the client, and returns a fault as an error.
func safely(f func()) error {
	if addr, faulted := hostfault.Catch(f); faulted {
		return fail(InvalidValue, "the host has no memory at %#x", addr)
	}
	return nil
}
