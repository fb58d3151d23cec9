package interp

// This file is device memory: the address map, allocations and their lookup.
//
// Global and constant variables, buffers, the device heap and the parameter
// block of a launch are allocations in one address map; an address in .global or
// .const space is the same number as the generic address. Memory of the host can
// be mapped at an address of the caller's choice. Shared and local memory are
// windows of the generic address space: the generic address of shared offset x is
// sharedWindow + x.

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"unsafe"

	"gemu/ptx"
)

// The generic windows of shared and local memory. They fit in 32 bits so that
// modules of either address size see the same map, and lie below 4 MiB, where no
// host maps memory of a 64-bit process, so that they do not collide with memory of
// the host that is mapped at its own address. Device allocations begin above them.
const (
	sharedWindow = 0x0010_0000
	localWindow  = 0x0020_0000
	windowSize   = 0x0010_0000
	windowsEnd   = localWindow + windowSize
	firstAddress = 0x1000_0000

	// codeBase is where function addresses begin: a function is 16 bytes long.
	codeBase = 0x0400_0000

	// allocations keep this distance, so that running past the end of one does
	// not enter the next.
	allocGap   = 256
	allocAlign = 256

	// The last keepDead allocations that were freed are kept, so that their use can
	// be named.
	keepDead = 1 << 16
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
	mappedAlloc                    // memory of the host
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

	fixed   bool   // kernels may not change it
	release func() // gives data back; may be nil
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
	case mappedAlloc:
		if name == "" {
			name = "host memory"
		}
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
// that a stale pointer is always found out; but those of mapped memory are the
// caller's.
type memory struct {
	allocs   []*allocation // by base, dead ones included
	next     uint64
	used     uint64 // bytes alive, mapped ones left out
	limit    uint64
	dead     int // of allocs
	mapped   int // likewise
	allocate func(size uint64) (data []byte, release func(), err error)
}

func newMemory(cfg *Config) *memory {
	m := &memory{next: cfg.Base, limit: cfg.Memory, allocate: cfg.Allocate}
	if m.allocate == nil {
		m.allocate = func(size uint64) ([]byte, func(), error) { return alignedBytes(size), nil, nil }
	}
	return m
}

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
	data, release, err := m.allocate(size)
	if err != nil {
		return nil, fmt.Errorf("%w: %d bytes wanted: %w", ErrOutOfMemory, size, err)
	}
	m.skipMapped(size)
	a := &allocation{base: m.next, size: size, span: size, data: data, kind: kind, name: name, release: release}
	a.setPointer()
	m.next += reserved(size)
	m.used += size
	m.insert(a)
	return a, nil
}

// reserved is the length of the address range that an allocation uses up.
func reserved(size uint64) uint64 {
	return (size+allocGap+allocAlign-1)/allocAlign*allocAlign + allocGap
}

// skipMapped moves the next address behind mapped memory that is in the way of an
// allocation.
func (m *memory) skipMapped(size uint64) {
	for {
		i := m.after(m.next + reserved(size))
		if i == 0 || m.allocs[i-1].base+m.allocs[i-1].span <= m.next {
			return
		}
		m.next = (m.allocs[i-1].base+m.allocs[i-1].span+allocAlign-1)/allocAlign*allocAlign + allocGap
	}
}

// mapAt makes memory of the host device memory at an address.
func (m *memory) mapAt(addr uint64, data []byte, name string, fixed bool) (*allocation, error) {
	size := uint64(len(data))
	if addr < windowsEnd || addr+size < addr {
		return nil, fmt.Errorf("memory of %d bytes at %#x: addresses below %#x are windows of shared and local memory", size, addr, windowsEnd)
	}
	i := m.after(addr)
	if i > 0 && addr-m.allocs[i-1].base < m.allocs[i-1].span {
		i--
	}
	j := i // allocs[i:j] overlap
	for ; j < len(m.allocs) && m.allocs[j].base < addr+size; j++ {
		if !m.allocs[j].dead {
			return nil, fmt.Errorf("memory of %d bytes at %#x overlaps %s", size, addr, m.allocs[j].describe())
		}
	}
	m.dead -= j - i
	m.allocs = slices.Delete(m.allocs, i, j)
	a := &allocation{base: addr, size: size, span: size, data: data, kind: mappedAlloc, name: name, fixed: fixed}
	a.setPointer()
	m.mapped++
	m.insert(a)
	return a, nil
}

// insert adds an allocation to the map.
func (m *memory) insert(a *allocation) { m.allocs = slices.Insert(m.allocs, m.after(a.base), a) }

// free releases the memory but keeps the address range known as dead.
func (m *memory) free(a *allocation) {
	a.dead = true
	a.size, a.data, a.ptr = 0, nil, nil
	if a.release != nil {
		a.release()
	}
	if a.kind == mappedAlloc {
		m.mapped--
		i := m.after(a.base) - 1
		m.allocs = slices.Delete(m.allocs, i, i+1)
		return
	}
	m.used -= a.span
	if m.dead++; m.dead >= 2*keepDead {
		m.forget()
	}
}

// forget drops dead allocations but for the keepDead at the highest addresses,
// the latest.
func (m *memory) forget() {
	m.allocs = slices.DeleteFunc(m.allocs, func(a *allocation) bool {
		drop := a.dead && m.dead > keepDead
		if drop {
			m.dead--
		}
		return drop
	})
}

// after is the index of the first allocation whose base lies behind the address.
func (m *memory) after(addr uint64) int {
	return sort.Search(len(m.allocs), func(i int) bool { return m.allocs[i].base > addr })
}

// find returns the allocation that covers the address, dead or alive.
func (m *memory) find(addr uint64) *allocation {
	i := m.after(addr)
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
	i := m.after(addr)
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
