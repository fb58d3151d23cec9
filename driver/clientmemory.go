package driver

// This file implements C memory that is freed with an object of the driver.

import (
	"runtime"
	"sync"
	"unsafe"
)

// ClientMemory is C memory that a client may read as long as an object of the driver exists. The object holds a pointer to
// the ClientMemory. When the garbage collector finds neither in use, the C memory is freed.
type ClientMemory struct {
	once    sync.Once
	pointer unsafe.Pointer
}

// Allocate returns the memory. The first call allocates it with create. free releases it some time after the
// ClientMemory has become unreachable.
func (m *ClientMemory) Allocate(create func() unsafe.Pointer, free func(unsafe.Pointer)) unsafe.Pointer {
	m.once.Do(func() {
		m.pointer = create()
		runtime.AddCleanup(m, free, m.pointer)
	})
	return m.pointer
}
