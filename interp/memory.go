package interp

// This file is device memory: the address map, allocations and their lookup.
//
// Global and constant variables, buffers, the device heap and the parameter
// block of a launch are allocations in one address map; an address in .global or
// .const space is the same number as the generic address. Shared and local
// memory are windows of the generic address space: the generic address of shared
// offset x is sharedWindow + x.

import (
	"errors"
	"fmt"
	"sort"
	"unsafe"

	"gemu/ptx"
)

// The generic windows of shared and local memory. They fit in 32 bits so that
// modules of either address size see the same map; device allocations begin
// above them.
const (
	sharedWindow = 0x0100_0000
	localWindow  = 0x0200_0000
	windowSize   = 0x0100_0000
	firstAddress = 0x1000_0000

	// codeBase is where function addresses begin: a function is 16 bytes long.
	codeBase = 0x0400_0000

	// allocations keep this distance, so that running past the end of one does
	// not enter the next.
	allocGap   = 256
	allocAlign = 256
)

// allocKind says what an allocation is.
type allocKind uint8

const (
	bufferAlloc   allocKind = iota // the caller's
	variableAlloc                  // a .global variable
	constAlloc                     // a .const variable
	paramAlloc                     // the parameter block of a launch
	heapAlloc                      // device-side malloc
	sharedAlloc                    // the shared memory of a CTA, at its window
)

// allocation is a piece of device memory.
type allocation struct {
	base uint64
	size uint64 // bytes that may be accessed: 0 once it is dead
	span uint64 // bytes of the address range
	data []byte // size bytes, 8-byte aligned
	ptr  unsafe.Pointer
	kind allocKind
	name string
	dead bool // freed; kept so that its use can be named
}

// setPointer makes ptr follow data.
func (a *allocation) setPointer() { a.ptr = unsafe.Pointer(unsafe.SliceData(a.data)) }

// describe names the allocation in messages.
func (a *allocation) describe() string {
	name := a.name
	switch a.kind {
	case bufferAlloc:
		if name == "" {
			name = "buffer"
		} else {
			name = "buffer " + name
		}
	case variableAlloc:
		name = "variable " + name
	case constAlloc:
		name = ".const variable " + name
	case paramAlloc:
		name = "kernel parameters"
	case heapAlloc:
		name = "heap block"
	case sharedAlloc:
		name = "shared memory"
	}
	return fmt.Sprintf("%s [%#x, %#x) of %d bytes", name, a.base, a.base+a.span, a.span)
}

// space is the state space the allocation belongs to.
func (a *allocation) space() ptx.Space {
	switch a.kind {
	case constAlloc:
		return ptx.Const
	case paramAlloc:
		return ptx.Param
	case sharedAlloc:
		return ptx.Shared
	}
	return ptx.Global
}

// memory is the address map of a device. Addresses are never used twice, so
// that a stale pointer is always found out.
type memory struct {
	allocs []*allocation // by base, dead ones included
	next   uint64
	used   uint64 // bytes alive
	limit  uint64
}

func newMemory(limit uint64) *memory { return &memory{next: firstAddress, limit: limit} }

// ErrOutOfMemory is the error of an allocation beyond the device's memory.
var ErrOutOfMemory = errors.New("out of device memory")

// alignedBytes makes n zero bytes that begin at a multiple of 8.
func alignedBytes(n uint64) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

func (m *memory) alloc(size uint64, kind allocKind, name string) (*allocation, error) {
	if size > m.limit || m.used+size > m.limit {
		return nil, fmt.Errorf("%w: %d bytes wanted, %d of %d in use", ErrOutOfMemory, size, m.used, m.limit)
	}
	a := &allocation{base: m.next, size: size, span: size, data: alignedBytes(size), kind: kind, name: name}
	a.setPointer()
	m.next += (size+allocGap+allocAlign-1)/allocAlign*allocAlign + allocGap
	m.used += size
	m.allocs = append(m.allocs, a)
	return a, nil
}

// free releases the memory but keeps the address range known as dead.
func (m *memory) free(a *allocation) {
	m.used -= a.span
	a.dead = true
	a.size, a.data, a.ptr = 0, nil, nil
}

// find returns the allocation that covers the address, dead or alive.
func (m *memory) find(addr uint64) *allocation {
	i := sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].base > addr })
	if i == 0 {
		return nil
	}
	if a := m.allocs[i-1]; addr-a.base < a.span {
		return a
	}
	return nil
}

// nearest returns the allocation whose range is closest to the address, nil if
// there is none.
func (m *memory) nearest(addr uint64) *allocation {
	i := sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].base > addr })
	var best *allocation
	for _, j := range []int{i - 1, i} {
		if j < 0 || j >= len(m.allocs) {
			continue
		}
		if a := m.allocs[j]; best == nil || distance(a, addr) < distance(best, addr) {
			best = a
		}
	}
	return best
}

func distance(a *allocation, addr uint64) uint64 {
	switch {
	case addr < a.base:
		return a.base - addr
	case addr >= a.base+a.span:
		return addr - (a.base + a.span) + 1
	}
	return 0
}
