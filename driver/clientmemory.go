package driver

import (
	"runtime"
	"sync"
	"unsafe"
)

// ClientMemory is C memory readable by a client as long as some object of the driver exists. The object keeps the
// ClientMemory.
type ClientMemory struct {
	once    sync.Once
	pointer unsafe.Pointer
}

// Allocate returns the memory. The first call makes it with create; free releases it some time after the object has
// become unreachable.
func (l *ClientMemory) Allocate(create func() unsafe.Pointer, free func(unsafe.Pointer)) unsafe.Pointer {
	l.once.Do(func() {
		l.pointer = create()
		runtime.AddCleanup(l, free, l.pointer)
	})
	return l.pointer
}
